// Kernels of the library launched as a host would launch them, and oracles in plain C++ to measure them against.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "ir/semantics.h"
#include "kiln/kiln.hpp"
#include "runtime/arguments.h"

namespace kiln::test {

/// The value nearest to `value` in a type.
inline double rounded(DType type, double value) {
    return ir::round_to(runtime::to_scalar_type(type), value).as_double();
}

/// A tensor of f16, bf16, f32 or f64 between NaNs, row-major; the last axis may be padded, with NaN in the gap.
class LibraryTensor {
public:
    LibraryTensor() = default;
    LibraryTensor(DType type, Extents sizes, std::int64_t padding = 0)
        : width_(static_cast<std::size_t>(ir::byte_width(runtime::to_scalar_type(type)))) {
        view_.dtype = type;
        view_.sizes = sizes;
        std::int64_t stride = 1;
        for (std::size_t axis = sizes.size(); axis-- > 0;) {
            view_.strides.push_back(0);
            count_ *= sizes[axis];
        }
        for (std::size_t axis = sizes.size(); axis-- > 0;) {
            view_.strides[axis] = stride;
            stride *= sizes[axis] + (axis + 1 == sizes.size() ? padding : 0);
        }
        bytes_.assign((static_cast<std::size_t>(stride) + 2 * kMargin) * width_, std::byte{0xff});
    }
    /// Values in [-scale, scale) that look random, rounded to the type.
    static LibraryTensor noise(DType type, Extents sizes, std::uint64_t seed, double scale = 1,
                               std::int64_t padding = 0) {
        LibraryTensor tensor(type, sizes, padding);
        for (std::int64_t i = 0; i < tensor.count_; ++i) {
            std::uint64_t x = (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15u + seed * 0xbf58476d1ce4e5b9u;
            x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
            x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
            tensor.set(i, static_cast<double>(static_cast<std::int64_t>(x ^ (x >> 31))) * 0x1p-63 * scale);
        }
        return tensor;
    }
    static LibraryTensor filled(DType type, Extents sizes, double value) {
        LibraryTensor tensor(type, sizes);
        for (std::int64_t i = 0; i < tensor.count_; ++i) tensor.set(i, value);
        return tensor;
    }

    std::int64_t count() const { return count_; }
    DType type() const { return view_.dtype; }
    /// A view for a launch.
    Tensor view() {
        Tensor result = view_;
        result.data = bytes_.data() + kMargin * width_;
        return result;
    }
    /// Elements by their place in row-major order.
    double operator[](std::int64_t index) const {
        ir::Scalar scalar{runtime::to_scalar_type(view_.dtype), 0};
        std::memcpy(&scalar.bits, bytes_.data() + place(index), width_);
        return scalar.as_double();
    }
    void set(std::int64_t index, double value) {
        const ir::Scalar scalar = ir::round_to(runtime::to_scalar_type(view_.dtype), value);
        std::memcpy(bytes_.data() + place(index), &scalar.bits, width_);
    }

private:
    static constexpr std::size_t kMargin = 64;  // elements before and behind

    std::size_t place(std::int64_t index) const {
        std::int64_t offset = 0;
        for (std::size_t axis = view_.sizes.size(); axis-- > 0; index /= view_.sizes[axis]) {
            offset += index % view_.sizes[axis] * view_.strides[axis];
        }
        return (static_cast<std::size_t>(offset) + kMargin) * width_;
    }

    Tensor view_;
    std::size_t width_ = 4;
    std::int64_t count_ = 1;
    std::vector<std::byte> bytes_;
};

/// A module of the library, loaded once a process.
Module library_module(const std::string& file);

/// Launches a kernel of the library on the CPU.
void launch(const std::string& file, const std::string& kernel, const std::vector<Generic>& generics,
            const std::vector<Argument>& arguments);

/// Fails the running test if the kernel's own reference disagrees on these arguments.
void check_reference(const std::string& file, const std::string& kernel, const std::vector<Generic>& generics,
                     const std::vector<Argument>& arguments);

/// The greatest error against the kernel's own reference, as a part of what its bound allows.
double error_over_bound(const std::string& file, const std::string& kernel, const std::vector<Generic>& generics,
                        const std::vector<Argument>& arguments);

/// Every configuration of a kernel that the schedules of this CPU list for these arguments, the default first.
std::vector<std::vector<Generic>> configurations(const std::string& file, const std::string& kernel,
                                                 const std::vector<Generic>& generics,
                                                 const std::vector<Argument>& arguments);

/// The LLVM IR that the default configuration becomes, for a target named as in codegen/cpu/target.h.
std::string llvm_text(const std::string& file, const std::string& kernel, const std::vector<Generic>& generics,
                      const std::vector<Argument>& arguments, const std::string& target);

/// Root mean square and greatest difference from exact values.
struct ErrorSize {
    double mean = 0, greatest = 0;
};
ErrorSize error_size(const std::function<double(std::int64_t)>& values, const std::vector<double>& exact);

/// Fails the running test unless `result` is as near to `exact` as twice the plain version is, by root mean square and
/// at worst. The worst of few elements is a matter of luck, and of one key or one term the plain version makes no error
/// at all, hence two roundings of the greatest element beside it. `exact` of -inf or inf must be met; NaN fails.
void check_accuracy(const LibraryTensor& result, const std::vector<double>& exact, const std::vector<double>& plain);

}  // namespace kiln::test
