#include "autotune/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "ir/semantics.h"
#include "runtime/arguments.h"

namespace kiln::autotune {

namespace {

/// The elements that a tensor reaches, from its first in memory to its last.
struct Reach {
    std::int64_t first = 0, last = -1;  ///< relative to element [0, 0, ...]
};

Reach reach_of(const runtime::CapturedTensor& tensor) {
    Reach reach{0, 0};
    for (std::size_t axis = 0; axis < tensor.sizes.size(); ++axis) {
        if (tensor.sizes[axis] == 0) return {};
        std::int64_t far = 0;
        std::int64_t& end = tensor.strides[axis] < 0 ? reach.first : reach.last;
        if (__builtin_mul_overflow(tensor.sizes[axis] - 1, tensor.strides[axis], &far) ||
            __builtin_add_overflow(end, far, &end)) {
            throw Error(ErrorKind::user, fmt::format("the sizes of `{}` overflow", tensor.name));
        }
    }
    return reach;
}

std::int64_t bits_of(const runtime::CapturedTensor& tensor) {
    return ir::bit_width(runtime::to_scalar_type(tensor.dtype));
}

std::uint64_t bytes_of(const runtime::CapturedTensor& tensor) {
    const Reach reach = reach_of(tensor);
    return (static_cast<std::uint64_t>(reach.last - reach.first + 1) * static_cast<std::uint64_t>(bits_of(tensor)) +
            7) /
           8;
}

ir::Scalar random_scalar(ir::ScalarType type, std::mt19937_64& random) {
    switch (ir::scalar_class(type)) {
        case ir::ScalarClass::Bool:
            return ir::Scalar::boolean(random() % 2 != 0);
        case ir::ScalarClass::Signed:
            return ir::Scalar::integer(type, static_cast<std::int64_t>(random() % 17) - 8);
        case ir::ScalarClass::Unsigned:
            return ir::Scalar::integer(type, static_cast<std::int64_t>(random() % 9));
        case ir::ScalarClass::Float:
        case ir::ScalarClass::Storage:
            break;
    }
    std::normal_distribution<double> normal;
    return ir::convert(ir::OpKind::Convert, ir::Scalar::f64(normal(random)), type);
}

/// Random elements repeat after this many: drawing is slower than copying, and no kernel can tell.
constexpr std::size_t kPeriod = 65521;  // a prime, so that rows do not repeat

std::vector<char> random_bytes(const runtime::CapturedTensor& tensor, std::uint64_t seed) {
    std::vector<char> bytes(bytes_of(tensor));
    const ir::ScalarType type = runtime::to_scalar_type(tensor.dtype);
    std::mt19937_64 random(seed);
    const std::size_t width = static_cast<std::size_t>(std::max<std::int64_t>(bits_of(tensor) / 8, 1));
    const std::size_t period = std::min(bytes.size(), kPeriod * width);
    for (std::size_t at = 0; at < period; at += width) {
        const std::uint64_t bits = bits_of(tensor) < 8 ? random() : random_scalar(type, random).bits;
        std::memcpy(bytes.data() + at, &bits, width);
    }
    for (std::size_t at = period; at < bytes.size(); at += period) {
        std::memcpy(bytes.data() + at, bytes.data(), std::min(period, bytes.size() - at));
    }
    return bytes;
}

Tensor view_of(const runtime::CapturedTensor& tensor, char* memory) {
    Tensor view{memory - reach_of(tensor).first * bits_of(tensor) / 8, tensor.dtype, {}, {}};
    for (const std::int64_t size : tensor.sizes) view.sizes.push_back(size);
    for (const std::int64_t stride : tensor.strides) view.strides.push_back(stride);
    return view;
}

}  // namespace

LaunchArguments::LaunchArguments(const runtime::CapturedLaunch& launch)
    : launch_(std::make_shared<const runtime::CapturedLaunch>(launch)) {
    for (const auto& [name, number] : launch_->numbers) {
        arguments_.push_back(std::visit([&](auto value) { return arg(name, value); }, number));
    }
}

LaunchArguments LaunchArguments::shapes(const runtime::CapturedLaunch& launch) {
    LaunchArguments result(launch);
    // Addresses of memory that nobody has: tensors must not seem to overlap.
    std::uintptr_t address = std::uintptr_t{1} << 44;
    for (const runtime::CapturedTensor& tensor : result.launch_->tensors) {
        result.arguments_.push_back(arg(tensor.name, view_of(tensor, reinterpret_cast<char*>(address))));
        address += (bytes_of(tensor) + (std::uintptr_t{1} << 21)) & ~std::uintptr_t{0xfff};
    }
    return result;
}

LaunchArguments LaunchArguments::filled(const runtime::CapturedLaunch& launch, std::uint64_t seed,
                                        const runtime::DeviceBackend& backend) {
    LaunchArguments result(launch);
    result.backend_ = &backend;
    try {
        for (const runtime::CapturedTensor& tensor : result.launch_->tensors) {
            Memory memory{tensor.name, {}, random_bytes(tensor, seed++), nullptr};
            if (backend.has_own_memory()) {
                memory.on_device = backend.allocate(memory.pristine.size());
            } else {
                memory.bytes.resize(memory.pristine.size());
            }
            result.memory_.push_back(std::move(memory));
        }
    } catch (const std::bad_alloc&) {
        throw Error(ErrorKind::user,
                    fmt::format("there is not enough memory for the arguments of `{}`", launch.kernel));
    }
    for (std::size_t i = 0; i < result.memory_.size(); ++i) {
        const runtime::CapturedTensor& tensor = result.launch_->tensors[i];
        Memory& memory = result.memory_[i];
        char* first = memory.on_device ? static_cast<char*>(memory.on_device.get()) : memory.bytes.data();
        result.arguments_.push_back(arg(tensor.name, view_of(tensor, first)));
    }
    result.restore();
    return result;
}

void LaunchArguments::restore(Memory& memory) {
    if (memory.on_device) {
        backend_->copy_to_device(memory.on_device.get(), memory.pristine.data(), memory.pristine.size(),
                                 *backend_->default_stream());
    } else {
        std::memcpy(memory.bytes.data(), memory.pristine.data(), memory.bytes.size());
    }
}

void LaunchArguments::restore() {
    for (Memory& memory : memory_) restore(memory);
}

void LaunchArguments::restore(const std::string& parameter) {
    for (Memory& memory : memory_) {
        if (memory.parameter == parameter) restore(memory);
    }
}

std::uint64_t LaunchArguments::bytes() const {
    std::uint64_t sum = 0;
    for (const runtime::CapturedTensor& tensor : launch_->tensors) sum += bytes_of(tensor);
    return sum;
}

}  // namespace kiln::autotune
