// A scalar constant: an element type and its bit pattern.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ir/type.h"

namespace kiln::ir {

/// `bits` holds the pattern of the type in its low bits; the rest is zero (also for negative integers). bool is 0 or 1.
/// Examples: i8 -1 is {I8, 0xff}; f32 1.0 is {F32, 0x3f800000}; bf16 1.0 is {BF16, 0x3f80}.
struct Scalar {
    ScalarType type = ScalarType::I64;
    std::uint64_t bits = 0;

    static Scalar integer(ScalarType type, std::int64_t value);  ///< wraps at the type's width
    static Scalar int64(std::int64_t value) { return {ScalarType::I64, static_cast<std::uint64_t>(value)}; }
    static Scalar boolean(bool value) { return {ScalarType::Bool, value ? 1u : 0u}; }
    static Scalar f32(float value) { return {ScalarType::F32, std::bit_cast<std::uint32_t>(value)}; }
    static Scalar f64(double value) { return {ScalarType::F64, std::bit_cast<std::uint64_t>(value)}; }

    /// The value of a bool or integer, sign-extended (u64 above 2^63 wraps to negative).
    std::int64_t as_int64() const;
    /// The exact value of any type but 64-bit integers, which round to nearest.
    double as_double() const;
    bool as_bool() const { return bits != 0; }

    friend bool operator==(const Scalar&, const Scalar&) = default;
};

/// Text that reads back to the same bits: `3`, `-1`, `true`, `0.5`, `inf`, `nan` (a NaN of other bits: `nan:0x7fc00001`).
std::string to_string(Scalar scalar);

/// Reads the text of a scalar of a known type: what `to_string` writes, and any decimal number, rounded once from its
/// text. None if the text has another form, or the value does not fit: integers must be exact, finite text must not
/// overflow.
std::optional<Scalar> parse_scalar(ScalarType type, std::string_view text);

}  // namespace kiln::ir
