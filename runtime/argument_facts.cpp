#include "runtime/argument_facts.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "ir/limits.h"
#include "runtime/arguments.h"

namespace kiln::runtime {

namespace {

constexpr std::uint32_t kVectorBytes = 16;
/// The longest side of most tiles, the usual one, the longest vector.
constexpr std::int64_t kDivisors[] = {256, 64, 16, 1};

std::int64_t proven_divisor(std::int64_t size) {
    return *std::find_if(std::begin(kDivisors), std::end(kDivisors),
                         [&](std::int64_t divisor) { return size % divisor == 0; });
}

/// Of the sizes that the declaration names and a launch gives; 1 for the others.
ir::Shape proven_divisors(const frontend::KernelSignature& signature, const frontend::ParameterSignature& parameter,
                          const Tensor& tensor) {
    ir::Shape divisors;
    for (std::size_t axis = 0; axis < tensor.sizes.size(); ++axis) {
        const std::string& name = parameter.sizes[axis].name;
        const bool is_generic = std::any_of(signature.generics.begin(), signature.generics.end(),
                                            [&](const auto& generic) { return generic.name == name; });
        divisors.push_back(name.empty() || is_generic ? 1 : proven_divisor(tensor.sizes[axis]));
    }
    return divisors;
}

/// Calls `action` with each tensor that was given and its declaration.
template <class Action>
void for_tensors(const frontend::KernelSignature& signature, std::span<const Argument* const> matched,
                 const Action& action) {
    for (std::size_t i = 0; i < matched.size(); ++i) {
        if (!signature.parameters[i].is_tensor || matched[i] == nullptr) continue;
        action(signature.parameters[i], std::get<Tensor>(matched[i]->value));
    }
}

}  // namespace

std::uint32_t proven_alignment(const Tensor& tensor) {
    const int unit = unit_axis(tensor), bits = ir::bit_width(to_scalar_type(tensor.dtype));
    if (unit < 0 || bits < 8) return 1;
    auto all = reinterpret_cast<std::uintptr_t>(tensor.data);
    for (std::size_t axis = 0; axis < tensor.sizes.size(); ++axis) {
        // No element lies a stride away along an axis of one.
        if (static_cast<int>(axis) == unit || tensor.sizes[axis] <= 1) continue;
        all |= static_cast<std::uintptr_t>(tensor.strides[axis]) * static_cast<unsigned>(bits / 8);
    }
    return all % kVectorBytes == 0 ? kVectorBytes : 1;
}

bool fits_32_bits(const Tensor& tensor) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    const std::int64_t bytes = std::max(1, ir::bit_width(to_scalar_type(tensor.dtype)) / 8);
    std::int64_t reach = bytes;
    for (std::size_t axis = 0; axis < tensor.sizes.size(); ++axis) {
        const std::int64_t size = tensor.sizes[axis], stride = tensor.strides[axis];
        if (size > ir::kLargestNarrowExtent || stride < -kMost / bytes || stride > kMost / bytes) return false;
        if (size == 0) continue;
        // Both factors are below 2^31, so their product is no overflow, and neither is a sum that is compared each
        // time.
        reach += (size - 1) * std::abs(stride) * bytes;
        if (reach > kMost) return false;
    }
    return true;
}

bool all_fit_32_bits(std::span<const Argument* const> matched) {
    return std::all_of(matched.begin(), matched.end(), [](const Argument* argument) {
        const Tensor* tensor = argument == nullptr ? nullptr : std::get_if<Tensor>(&argument->value);
        return tensor == nullptr || fits_32_bits(*tensor);
    });
}

void add_facts(frontend::Request& request, const frontend::KernelSignature& signature,
               std::span<const Argument* const> matched) {
    for_tensors(signature, matched, [&](const frontend::ParameterSignature& parameter, const Tensor& tensor) {
        frontend::ParameterRequest& known = request.parameters[parameter.name];
        known.facts.alignment = proven_alignment(tensor);
        known.divisors = proven_divisors(signature, parameter, tensor);
    });
}

std::string fact_key(const frontend::KernelSignature& signature, std::span<const Argument* const> matched) {
    std::string key;
    for_tensors(signature, matched, [&](const frontend::ParameterSignature& parameter, const Tensor& tensor) {
        key += '/' + std::to_string(proven_alignment(tensor));
        for (const std::int64_t divisor : proven_divisors(signature, parameter, tensor))
            key += ',' + std::to_string(divisor);
    });
    return key;
}

}  // namespace kiln::runtime
