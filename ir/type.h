// The types of IR values: scalars, tiles and tensors. Tuples of the language are several values here.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kiln::ir {

enum class ScalarType : std::uint8_t {
#define KILN_SCALAR(Kind, ...) Kind,
#include "ir/scalar_types.def"
};

enum class ScalarClass : std::uint8_t { Bool, Signed, Unsigned, Float, Storage };

/// `int` of the language.
inline constexpr ScalarType kInt = ScalarType::I64;

/// One row of scalar_types.def; its header explains the columns.
struct ScalarInfo {
    std::string_view name;
    int bits;
    ScalarClass scalar_class;
};
inline constexpr auto kScalars = std::to_array<ScalarInfo>({
#define KILN_SCALAR(Kind, name, bits, scalar_class) {name, bits, ScalarClass::scalar_class},
#include "ir/scalar_types.def"
});
constexpr const ScalarInfo& info(ScalarType type) { return kScalars[static_cast<std::size_t>(type)]; }

constexpr std::string_view name(ScalarType type) { return info(type).name; }
constexpr int bit_width(ScalarType type) { return info(type).bits; }
constexpr ScalarClass scalar_class(ScalarType type) { return info(type).scalar_class; }
/// The type of that name; "int" is I64.
std::optional<ScalarType> scalar_type_named(std::string_view name);

constexpr bool is_float(ScalarType type) { return scalar_class(type) == ScalarClass::Float; }
constexpr bool is_signed(ScalarType type) { return scalar_class(type) == ScalarClass::Signed; }
constexpr bool is_integer(ScalarType type) {
    return scalar_class(type) == ScalarClass::Signed || scalar_class(type) == ScalarClass::Unsigned;
}
/// Bytes of one element in memory; only for types of whole bytes.
constexpr int byte_width(ScalarType type) { return bit_width(type) / 8; }

/// Extents of a tile or sizes of a tensor, outermost first. At most kMaxRank axes.
inline constexpr std::size_t kMaxRank = 8;
class Shape {
public:
    Shape() = default;
    Shape(std::initializer_list<std::int64_t> extents);
    explicit Shape(std::span<const std::int64_t> extents);

    std::size_t rank() const { return rank_; }
    bool empty() const { return rank_ == 0; }
    std::int64_t operator[](std::size_t axis) const { return extents_[axis]; }
    std::int64_t& operator[](std::size_t axis) { return extents_[axis]; }
    std::int64_t back() const { return extents_[rank_ - 1]; }
    const std::int64_t* begin() const { return extents_.data(); }
    const std::int64_t* end() const { return extents_.data() + rank_; }
    void push_back(std::int64_t extent);
    void erase(std::size_t axis);
    void insert(std::size_t axis, std::int64_t extent);
    /// Product of the extents; 1 for rank 0.
    std::int64_t count() const;

    friend bool operator==(const Shape& a, const Shape& b);

private:
    std::array<std::int64_t, kMaxRank> extents_{};
    std::uint8_t rank_ = 0;
};

/// A tensor size that is known only at launch.
inline constexpr std::int64_t kDynamic = -1;

enum class Access : std::uint8_t { In, Out, InOut };
std::string_view name(Access access);

enum class TypeKind : std::uint8_t { Scalar, Tile, Tensor };

/// A value's type. Text form: `f32`, `f32[64, 128]` (tile), `in f32<?, 128>` (tensor; `?` is a run-time size).
/// A tile has rank >= 1 and extents >= 1. A tensor of rank 0 does not exist: a view that drops every axis is a load.
struct Type {
    TypeKind kind = TypeKind::Scalar;
    ScalarType element = ScalarType::F32;
    Access access = Access::In;  ///< tensors only
    Shape shape;                 ///< tiles and tensors

    static Type scalar(ScalarType element) { return {TypeKind::Scalar, element, Access::In, {}}; }
    /// A tile, or a scalar if the shape has no axes.
    static Type tile(ScalarType element, const Shape& shape) {
        return {shape.empty() ? TypeKind::Scalar : TypeKind::Tile, element, Access::In, shape};
    }
    static Type tensor(Access access, ScalarType element, const Shape& shape) {
        return {TypeKind::Tensor, element, access, shape};
    }
    bool is_scalar() const { return kind == TypeKind::Scalar; }
    bool is_tile() const { return kind == TypeKind::Tile; }
    bool is_tensor() const { return kind == TypeKind::Tensor; }
    /// The same shape with another element type.
    Type with_element(ScalarType other) const {
        Type result = *this;
        result.element = other;
        return result;
    }

    friend bool operator==(const Type&, const Type&) = default;
};

/// The text form above.
std::string to_string(const Type& type);
std::string to_string(const Shape& shape);  ///< "[64, 128]"

}  // namespace kiln::ir
