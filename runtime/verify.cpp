#include "runtime/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <set>

#include "ir/scalar.h"
#include "runtime/reference.h"

namespace kiln::runtime {

namespace {

// Fills `out` tensors before a run. As a float of any width it is a negative number near the end of its range, which no
// kernel computes: -65376 in f16, -2.6e36 in bf16 and f32. An integer may really be it; then only a missing write of
// just this value goes unseen.
constexpr unsigned char kPoison = 0xfb;

/// A tensor argument in memory of the host, with the layout of the original.
class TensorCopy {
public:
    /// `original` lies in memory of the device.
    TensorCopy(const Tensor& original, const DeviceBackend& backend)
        : span_(span_of(original)), tensor_(original), original_(original.data) {
        tensor_.home = MemoryHome::any;
        if (span_.bytes == 0) return;
        memory_.resize(span_.bytes);
        tensor_.data = memory_.data() + span_.before;
        download(backend);
    }

    const Tensor& tensor() const { return tensor_; }

    /// The elements of the original, and the bytes between them, become those of the copy, or the other way round.
    void upload(const DeviceBackend& backend) const {
        backend.copy_to_device(first_byte(), memory_.data(), span_.bytes, *backend.default_stream());
    }
    void download(const DeviceBackend& backend) {
        backend.copy_to_host(memory_.data(), first_byte(), span_.bytes, *backend.default_stream());
    }

private:
    char* first_byte() const { return static_cast<char*>(original_) - span_.before; }

    TensorSpan span_;
    std::vector<char> memory_;
    Tensor tensor_;
    void* original_;
};

/// The arguments of a launch as the host can read them: themselves on the CPU, else copies of the tensors.
class HostArguments {
public:
    HostArguments(const DeviceBackend& backend, std::span<const Argument* const> matched) : backend_(backend) {
        copies_.resize(matched.size());
        for (const Argument* argument : matched) {
            arguments_.push_back(argument == nullptr ? std::optional<Argument>() : *argument);
        }
        if (!backend.has_own_memory()) return;
        for (std::size_t i = 0; i < matched.size(); ++i) {
            if (!arguments_[i] || !std::holds_alternative<Tensor>(arguments_[i]->value)) continue;
            copies_[i] = std::make_unique<TensorCopy>(std::get<Tensor>(arguments_[i]->value), backend);
            arguments_[i]->value = copies_[i]->tensor();
        }
    }

    std::vector<const Argument*> matched() const {
        std::vector<const Argument*> pointers;
        for (const auto& argument : arguments_) pointers.push_back(argument ? &*argument : nullptr);
        return pointers;
    }

    /// What the host wrote goes to the device; what the device wrote, to the host.
    void upload(std::size_t parameter) const {
        if (copies_[parameter] != nullptr) copies_[parameter]->upload(backend_);
    }
    void download(std::size_t parameter) {
        if (copies_[parameter] != nullptr) copies_[parameter]->download(backend_);
    }

private:
    const DeviceBackend& backend_;
    std::vector<std::optional<Argument>> arguments_;
    std::vector<std::unique_ptr<TensorCopy>> copies_;
};

/// Calls `visit` with every index of a tensor and the element's offset from its first.
template <class Visit>
void for_each_element(const Tensor& tensor, const Visit& visit) {
    const std::size_t rank = tensor.sizes.size();
    for (std::size_t axis = 0; axis < rank; ++axis) {
        if (tensor.sizes[axis] == 0) return;
    }
    std::vector<std::int64_t> index(rank, 0);
    while (true) {
        std::int64_t offset = 0;
        for (std::size_t axis = 0; axis < rank; ++axis) offset += index[axis] * tensor.strides[axis];
        visit(index, offset);
        std::size_t axis = rank;
        while (axis-- > 0 && ++index[axis] == tensor.sizes[axis]) index[axis] = 0;
        if (axis == static_cast<std::size_t>(-1)) return;
    }
}

/// The byte of a 4-bit element, and how far up in it the element stands.
std::pair<unsigned char*, int> nibble_at(const Tensor& tensor, std::int64_t offset) {
    return {static_cast<unsigned char*>(tensor.data) + offset / 2, static_cast<int>(offset % 2) * 4};
}

ir::Scalar element_at(const Tensor& tensor, std::int64_t offset) {
    const ir::ScalarType type = to_scalar_type(tensor.dtype);
    if (ir::bit_width(type) < 8) {
        const auto [byte, shift] = nibble_at(tensor, offset);
        return {type, static_cast<std::uint64_t>(*byte >> shift & 0xf)};
    }
    ir::Scalar scalar{type, 0};
    const int bytes = ir::byte_width(type);
    std::memcpy(&scalar.bits, static_cast<const char*>(tensor.data) + offset * bytes, static_cast<std::size_t>(bytes));
    if (type == ir::ScalarType::Bool) scalar.bits = scalar.bits != 0;
    return scalar;
}

bool is_poison(const Tensor& tensor, std::int64_t offset) {
    const ir::ScalarType type = to_scalar_type(tensor.dtype);
    if (ir::bit_width(type) < 8) {
        const auto [byte, shift] = nibble_at(tensor, offset);
        return (*byte >> shift & 0xf) == (kPoison >> shift & 0xf);
    }
    const int bytes = ir::byte_width(type);
    const auto* element = static_cast<const unsigned char*>(tensor.data) + offset * bytes;
    return std::all_of(element, element + bytes, [](unsigned char byte) { return byte == kPoison; });
}

void poison(const Tensor& tensor) {
    const ir::ScalarType type = to_scalar_type(tensor.dtype);
    for_each_element(tensor, [&](const auto&, std::int64_t offset) {
        if (ir::bit_width(type) < 8) {
            *nibble_at(tensor, offset).first = kPoison;  // rows are whole bytes
            return;
        }
        const int bytes = ir::byte_width(type);
        std::memset(static_cast<char*>(tensor.data) + offset * bytes, kPoison, static_cast<std::size_t>(bytes));
    });
}

/// The arguments of the reference: those of the kernel that it has by name, outputs in memory of their own.
struct ReferenceArguments {
    std::vector<std::unique_ptr<TensorCopy>> copies;
    std::vector<Argument> arguments;
    std::vector<std::pair<std::size_t, Tensor>> outputs;  ///< parameter of the kernel, and the reference's tensor
};

ReferenceArguments reference_arguments(const frontend::KernelSignature& kernel,
                                       const frontend::KernelSignature& reference,
                                       std::span<const Argument* const> matched) {
    ReferenceArguments result;
    for (std::size_t i = 0; i < matched.size(); ++i) {
        const frontend::ParameterSignature& parameter = kernel.parameters[i];
        const bool known = std::any_of(reference.parameters.begin(), reference.parameters.end(),
                                       [&](const auto& other) { return other.name == parameter.name; });
        if (!known || matched[i] == nullptr) continue;
        Argument argument = *matched[i];
        argument.name = parameter.name;
        if (parameter.is_tensor && parameter.access != ir::Access::In) {
            result.copies.push_back(
                std::make_unique<TensorCopy>(std::get<Tensor>(argument.value), *open_backend("cpu")));
            argument.value = result.copies.back()->tensor();
            result.outputs.emplace_back(i, result.copies.back()->tensor());
        }
        result.arguments.push_back(argument);
    }
    return result;
}

std::vector<Generic> reference_generics(const frontend::Specialisation& specialisation,
                                        const frontend::KernelSignature& reference) {
    std::vector<Generic> generics;
    for (const frontend::GenericSignature& generic : reference.generics) {
        const auto found = specialisation.generics.find(generic.name);
        if (found != specialisation.generics.end()) generics.push_back(to_generic(generic.name, found->second));
    }
    return generics;
}

/// Runs the reference, whole or on a sample, and says how many programs ran.
std::int64_t run_reference(const PreparedState& reference, std::uint64_t seed) {
    const ir::Kernel& kernel = reference.compiled().kernel();
    const double operations = estimated_operations(reference.compiled().facts, kernel, reference.launch());
    const std::int64_t programs = reference.launch().programs(0);
    if (kernel.phases.size() > 1 || operations <= kFullVerificationOperations || programs <= kSampledPrograms) {
        reference.bound().run();
        return programs;
    }
    const std::vector<std::int64_t> sample = sampled_programs(reference.launch().grids[0], kSampledPrograms, seed);
    for (const std::int64_t program : sample) reference.bound().run_programs(0, program, program + 1);
    return static_cast<std::int64_t>(sample.size());
}

double root_mean_square(const Tensor& reference) {
    double sum = 0;
    std::int64_t count = 0;
    for_each_element(reference, [&](const auto&, std::int64_t offset) {
        if (is_poison(reference, offset)) return;
        const double value = element_at(reference, offset).as_double();
        if (!std::isfinite(value)) return;
        sum += value * value;
        ++count;
    });
    return count == 0 ? 0 : std::sqrt(sum / static_cast<double>(count));
}

bool equal(ir::Scalar x, ir::Scalar r) {
    if (epsilon(x.type) == 0) return x == r;
    const double value = x.as_double(), reference = r.as_double();
    return value == reference || (std::isnan(value) && std::isnan(reference));
}

/// Notes one element that the kernel should have computed like the reference.
void compare_element(OutputReport& report, const std::vector<std::int64_t>& index, ir::Scalar x, ir::Scalar r,
                     double absolute, double relative) {
    ++report.compared;
    if (equal(x, r)) return;
    const double value = x.as_double(), expected = r.as_double();
    const double allowed = absolute + relative * std::abs(expected);
    const double error = std::abs(value - expected);
    // Where nothing is allowed, an error of 0 is one that only vanished in f64 (of 64-bit integers).
    const bool passes = std::isfinite(error) && allowed > 0 && error <= allowed;
    if (!passes) ++report.failed;
    if (std::isfinite(error) && error > report.largest_error) {
        report.largest_error = error;
        report.bound = allowed;
    }
    const double over = passes || (std::isfinite(error) && allowed > 0) ? error / allowed : HUGE_VAL;
    if (over > report.error_over_bound) {
        report.error_over_bound = over;
        if (!passes) report.worst = Mismatch{index, value, expected, allowed};
    }
}

/// Both tensors have one layout. `written_whole`: the reference ran on its whole grid, so that what it did not write
/// the kernel must not write either.
OutputReport compare(const std::string& name, const Tensor& result, const Tensor& reference, bool written_whole,
                     Tolerance tolerance) {
    OutputReport report;
    report.name = name;
    report.element = to_scalar_type(result.dtype);
    const double absolute = tolerance.absolute * (tolerance.scaled ? root_mean_square(reference) : 1);
    report.bound = absolute;
    for_each_element(reference, [&](const std::vector<std::int64_t>& index, std::int64_t offset) {
        if (is_poison(reference, offset) && !(written_whole && !is_poison(result, offset))) return;
        compare_element(report, index, element_at(result, offset), element_at(reference, offset), absolute,
                        tolerance.relative);
    });
    return report;
}

Tolerance tolerance_of(const PreparedState& prepared, ir::ScalarType output) {
    const frontend::Specialisation& specialisation = prepared.compiled().specialisation;
    if (!specialisation.relative_bound) {
        return default_tolerance(prepared.compiled().facts, specialisation.kernel, prepared.launch(), output);
    }
    return {*specialisation.relative_bound, specialisation.absolute_bound.value_or(0), false};
}

}  // namespace

std::vector<std::int64_t> sampled_programs(const std::vector<std::int64_t>& grid, std::int64_t count,
                                           std::uint64_t seed) {
    const auto total = std::accumulate(grid.begin(), grid.end(), std::int64_t{1}, std::multiplies<>());
    if (total == 0) return {};
    std::mt19937_64 random(seed);
    const auto below = [&](std::int64_t bound) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bound));
    };
    const auto number = [&](const std::vector<std::int64_t>& at) {
        std::int64_t index = 0;
        for (std::size_t axis = 0; axis < grid.size(); ++axis) index = index * grid[axis] + at[axis];
        return index;
    };
    std::set<std::int64_t> programs;
    // From every corner along every axis; an axis longer than its share of half the count is visited at random places.
    const std::size_t corners = std::size_t{1} << grid.size();
    const auto edges = static_cast<std::int64_t>(corners * std::max<std::size_t>(1, grid.size()));
    const std::int64_t share = std::max<std::int64_t>(1, count / 2 / edges);
    for (std::size_t corner = 0; corner < corners; ++corner) {
        std::vector<std::int64_t> at(grid.size());
        for (std::size_t axis = 0; axis < grid.size(); ++axis)
            at[axis] = (corner >> axis & 1) != 0 ? grid[axis] - 1 : 0;
        programs.insert(number(at));
        for (std::size_t axis = 0; axis < grid.size(); ++axis) {
            std::vector<std::int64_t> along = at;
            for (std::int64_t step = 0; step < std::min(grid[axis], share); ++step) {
                along[axis] = grid[axis] <= share ? step : below(grid[axis]);
                programs.insert(number(along));
            }
        }
    }
    while (static_cast<std::int64_t>(programs.size()) < std::min(count, total)) programs.insert(below(total));
    return {programs.begin(), programs.end()};
}

namespace {

/// Fills `out` tensors with the pattern.
void poison_outputs(const frontend::KernelSignature& signature, std::span<const Argument* const> matched,
                    const HostArguments& host) {
    for (std::size_t i = 0; i < matched.size(); ++i) {
        const frontend::ParameterSignature& parameter = signature.parameters[i];
        if (matched[i] == nullptr || !parameter.is_tensor || parameter.access == ir::Access::In) continue;
        if (parameter.access != ir::Access::Out) continue;
        poison(std::get<Tensor>(matched[i]->value));
        host.upload(i);
    }
}

}  // namespace

VerifyReport verify(KernelState& kernel, const DeviceBackend& backend, std::span<const Argument> arguments,
                    std::uint64_t seed) {
    const std::shared_ptr<PreparedState> prepared = kernel.prepare(backend, arguments);
    const frontend::Specialisation& specialisation = prepared->compiled().specialisation;
    if (specialisation.reference.empty()) {
        throw Error(ErrorKind::user, fmt::format("`{}` names no reference to verify against", kernel.name()));
    }
    const frontend::KernelSignature& signature = kernel.signature();
    HostArguments host(backend, match_arguments(signature, arguments));
    const std::vector<const Argument*> matched = host.matched();
    poison_outputs(signature, matched, host);
    const ReferenceKernel named = find_reference(kernel, specialisation.reference);
    const frontend::KernelSignature& reference_signature = *named.signature;
    // Copied before the kernel runs, since it may update `inout` tensors.
    const ReferenceArguments copies = reference_arguments(signature, reference_signature, matched);
    KernelState reference(named.module, reference_signature.name,
                          reference_generics(specialisation, reference_signature));
    const std::shared_ptr<PreparedState> prepared_reference = reference.prepare(*open_backend("cpu"), copies.arguments);

    prepared->bound().run();
    backend.default_stream()->synchronise();
    for (const auto& output : copies.outputs) host.download(output.first);
    VerifyReport report;
    report.reference = reference_signature.name;
    report.reference_programs = prepared_reference->launch().programs(0);
    report.programs = run_reference(*prepared_reference, seed);
    report.passed = true;
    const bool whole = report.programs == report.reference_programs;
    for (const auto& [parameter, tensor] : copies.outputs) {
        const Tensor& result = std::get<Tensor>(matched[parameter]->value);
        report.outputs.push_back(compare(signature.parameters[parameter].name, result, tensor, whole,
                                         tolerance_of(*prepared, to_scalar_type(result.dtype))));
        const OutputReport& output = report.outputs.back();
        const bool is_empty = std::count(result.sizes.begin(), result.sizes.end(), 0) > 0;
        // A sampled reference that wrote nothing here shows nothing.
        report.passed &= output.failed == 0 && (output.compared > 0 || is_empty || whole);
    }
    return report;
}

}  // namespace kiln::runtime
