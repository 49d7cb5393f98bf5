// What a launch is given: element types, views of tensors, and numbers.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "kiln/error.hpp"
#include "kiln/export.hpp"

namespace kiln {

/// Element types by the names of the language. `i4`, `u4` and `f4e2m1` pack along the last axis, low bits first.
// clang-format off
enum class DType : std::uint8_t {
    boolean, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64,
    i4, u4, f4e2m1, f8e4m3, f8e5m2, f8e8m0,
};
// clang-format on
inline constexpr DType boolean = DType::boolean, i8 = DType::i8, i16 = DType::i16, i32 = DType::i32, i64 = DType::i64,
                       u8 = DType::u8, u16 = DType::u16, u32 = DType::u32, u64 = DType::u64, f16 = DType::f16,
                       bf16 = DType::bf16, f32 = DType::f32, f64 = DType::f64, i4 = DType::i4, u4 = DType::u4,
                       f4e2m1 = DType::f4e2m1, f8e4m3 = DType::f8e4m3, f8e5m2 = DType::f8e5m2, f8e8m0 = DType::f8e8m0;

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

/// Whose memory a tensor lies in, where its maker said so. Pointers of GPUs are asked of the driver at the launch, too.
enum class MemoryHome : std::uint8_t { any, cuda, hip };

/// A view of memory the caller owns. Sizes and strides count elements; strides may be zero or negative.
struct Tensor {
    void* data = nullptr;  ///< element [0, 0, ...]
    DType dtype = DType::f32;
    Extents sizes;
    Extents strides;
    MemoryHome home = MemoryHome::any;
};

/// A row-major view without gaps.
inline Tensor tensor(DType dtype, void* data, Extents sizes) {
    Extents strides = sizes;
    std::uint64_t stride = 1;  // unsigned: sizes whose product overflows are refused at the launch, not here
    for (std::size_t axis = sizes.size(); axis-- > 0;) {
        strides[axis] = static_cast<std::int64_t>(stride);
        stride *= static_cast<std::uint64_t>(sizes[axis]);
    }
    return {data, dtype, sizes, strides, MemoryHome::any};
}

/// The element type that holds a C++ number of type T: bool, float, double, or an integer of 8 to 64 bits.
template <class T>
constexpr DType dtype_of() {
    static_assert(std::is_same_v<T, bool> || std::is_same_v<T, float> || std::is_same_v<T, double> ||
                      (std::is_integral_v<T> && sizeof(T) <= 8),
                  "Kiln has no element type for this C++ type: name one, kiln::tensor(dtype, data, sizes)");
    if constexpr (std::is_same_v<T, bool>)
        return boolean;
    else if constexpr (std::is_same_v<T, float>)
        return f32;
    else if constexpr (std::is_same_v<T, double>)
        return f64;
    else if constexpr (sizeof(T) == 1)
        return std::is_signed_v<T> ? i8 : u8;
    else if constexpr (sizeof(T) == 2)
        return std::is_signed_v<T> ? i16 : u16;
    else if constexpr (sizeof(T) == 4)
        return std::is_signed_v<T> ? i32 : u32;
    else
        return std::is_signed_v<T> ? i64 : u64;
}

/// The same for memory whose C++ type says what it holds. An input may be const; an output must not be.
template <class T>
Tensor tensor(const T* data, Extents sizes) {
    return tensor(dtype_of<T>(), const_cast<T*>(data), sizes);
}

/// The element type of a DLPack type: `code` and `bits` as in DLDataType. Throws Error(user) for one Kiln lacks.
KILN_API DType dtype_from_dlpack(int code, int bits, int lanes);

/// Whose memory a DLDevice of that type has. Throws Error(user) for one that no device of Kiln can reach.
KILN_API MemoryHome home_from_dlpack(int device_type);

/// A view of any DLPack tensor (`DLTensor` of any version of dlpack.h), which must outlive the launch.
template <class DlTensor>
Tensor from_dlpack(const DlTensor& source) {
    Tensor result;
    result.home = home_from_dlpack(static_cast<int>(source.device.device_type));
    result.dtype = dtype_from_dlpack(source.dtype.code, source.dtype.bits, source.dtype.lanes);
    result.data = static_cast<char*>(source.data) + source.byte_offset;
    for (int axis = 0; axis < source.ndim; ++axis) result.sizes.push_back(source.shape[axis]);
    if (source.strides == nullptr) {
        result.strides = tensor(result.dtype, result.data, result.sizes).strides;
        return result;
    }
    for (int axis = 0; axis < source.ndim; ++axis) result.strides.push_back(source.strides[axis]);
    return result;
}

/// In place of an optional tensor that is left out.
struct None {};
inline constexpr None none{};

/// One argument of a launch: a tensor, a number, or none; by position, or by name through kiln::arg.
struct Argument {
    std::string_view name;  ///< empty: by position
    std::variant<None, Tensor, bool, std::int64_t, std::uint64_t, double> value;

    Argument(None) {}
    Argument(const Tensor& tensor) : value(tensor) {}
    /// bool, any integer, float or double; not a pointer, which would silently become a bool.
    template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
    Argument(T number) : value(widest(number)) {}

private:
    template <class T>
    static auto widest(T number) {
        if constexpr (std::is_same_v<T, bool>)
            return number;
        else if constexpr (std::is_floating_point_v<T>)
            return static_cast<double>(number);
        else if constexpr (std::is_signed_v<T>)
            return static_cast<std::int64_t>(number);
        else
            return static_cast<std::uint64_t>(number);
    }
};

/// An argument for the parameter of that name. `name` must outlive the call it is used in.
inline Argument arg(std::string_view name, Argument value) {
    value.name = name;
    return value;
}

}  // namespace kiln
