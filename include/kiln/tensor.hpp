// What a launch is given: element types, views of tensors, and numbers.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

#include "kiln/error.hpp"
#include "kiln/export.hpp"

namespace kiln {

/// Element types by the names of the language. `i4`, `u4` and `f4e2m1` pack along the last axis, low bits first.
enum class DType : std::uint8_t {
    boolean, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64,
    i4, u4, f4e2m1, f8e4m3, f8e5m2, f8e8m0,
};
inline constexpr DType boolean = DType::boolean, i8 = DType::i8, i16 = DType::i16, i32 = DType::i32, i64 = DType::i64,
                       u8 = DType::u8, u16 = DType::u16, u32 = DType::u32, u64 = DType::u64, f16 = DType::f16,
                       bf16 = DType::bf16, f32 = DType::f32, f64 = DType::f64, i4 = DType::i4, u4 = DType::u4,
                       f4e2m1 = DType::f4e2m1, f8e4m3 = DType::f8e4m3, f8e5m2 = DType::f8e5m2,
                       f8e8m0 = DType::f8e8m0;

/// "bf16", as the language spells it.
KILN_API std::string_view name(DType dtype);

/// Sizes or strides, outermost first; at most 8 axes.
class Extents {
public:
    Extents() = default;
    Extents(std::initializer_list<std::int64_t> values) {
        for (const std::int64_t value : values) push_back(value);
    }
    std::size_t size() const { return size_; }
    std::int64_t operator[](std::size_t axis) const { return values_[axis]; }
    std::int64_t& operator[](std::size_t axis) { return values_[axis]; }
    const std::int64_t* begin() const { return values_.data(); }
    const std::int64_t* end() const { return values_.data() + size_; }
    /// Throws Error(user) for a ninth axis.
    void push_back(std::int64_t value) {
        if (size_ == values_.size()) throw Error(ErrorKind::user, "a tensor has at most 8 axes");
        values_[size_++] = value;
    }

private:
    std::array<std::int64_t, 8> values_{};
    std::uint8_t size_ = 0;
};

/// A view of memory the caller owns. Sizes and strides count elements; strides may be zero or negative.
struct Tensor {
    void* data = nullptr;  ///< element [0, 0, ...]
    DType dtype = DType::f32;
    Extents sizes;
    Extents strides;
};

/// A row-major view without gaps.
inline Tensor tensor(DType dtype, void* data, Extents sizes) {
    Extents strides = sizes;
    std::int64_t stride = 1;
    for (std::size_t axis = sizes.size(); axis-- > 0;) {
        strides[axis] = stride;
        stride *= sizes[axis];
    }
    return {data, dtype, sizes, strides};
}
inline Tensor tensor(const float* data, Extents sizes) { return tensor(f32, const_cast<float*>(data), sizes); }
inline Tensor tensor(const double* data, Extents sizes) { return tensor(f64, const_cast<double*>(data), sizes); }
inline Tensor tensor(const std::int32_t* data, Extents sizes) {
    return tensor(i32, const_cast<std::int32_t*>(data), sizes);
}
inline Tensor tensor(const std::int64_t* data, Extents sizes) {
    return tensor(i64, const_cast<std::int64_t*>(data), sizes);
}

/// The element type of a DLPack type: `code` and `bits` as in DLDataType. Throws Error(user) for one Kiln lacks.
KILN_API DType dtype_from_dlpack(int code, int bits, int lanes);

/// A view of any DLPack tensor (`DLTensor` of any version of dlpack.h), which must outlive the launch.
template <class DlTensor>
Tensor from_dlpack(const DlTensor& source) {
    Tensor result;
    result.dtype = dtype_from_dlpack(source.dtype.code, source.dtype.bits, source.dtype.lanes);
    result.data = static_cast<char*>(source.data) + source.byte_offset;
    for (int axis = 0; axis < source.ndim; ++axis) result.sizes.push_back(source.shape[axis]);
    if (source.strides == nullptr) return tensor(result.dtype, result.data, result.sizes);
    for (int axis = 0; axis < source.ndim; ++axis) result.strides.push_back(source.strides[axis]);
    return result;
}

/// In place of an optional tensor that is left out.
struct None {};
inline constexpr None none{};

/// One argument of a launch: a tensor, a number, or none; by position, or by name through kiln::arg.
struct Argument {
    std::string_view name;  ///< empty: by position
    std::variant<None, Tensor, bool, std::int64_t, double> value;

    Argument(None) {}
    Argument(const Tensor& tensor) : value(tensor) {}
    Argument(bool number) : value(number) {}
    Argument(int number) : value(std::int64_t{number}) {}
    Argument(std::int64_t number) : value(number) {}
    Argument(float number) : value(double{number}) {}
    Argument(double number) : value(number) {}
};

/// An argument for the parameter of that name. `name` must outlive the call it is used in.
inline Argument arg(std::string_view name, Argument value) {
    value.name = name;
    return value;
}

}  // namespace kiln
