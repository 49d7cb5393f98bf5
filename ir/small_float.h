// Binary floating-point formats taken apart and put together with integer arithmetic only, so that every conversion
// rounds exactly once. Formats: IEEE 754 (f16, f32, f64), bfloat16, and the OCP 8-bit (OFP8 1.0) and microscaling
// (MX 1.0) forms.
#pragma once

#include <bit>
#include <cstdint>

#include "ir/type.h"

namespace kiln::ir {

/// What the patterns with the largest exponent mean.
enum class Specials : std::uint8_t {
    Ieee,     ///< infinity and NaNs
    NanOnly,  ///< f8e4m3: numbers, but for all bits set, which is NaN
    None,     ///< f4e2m1: numbers
};

/// What a value above the largest finite one becomes: what the format has for it (infinity, f8e4m3 NaN, f4e2m1 the
/// largest), or always the largest.
enum class Overflow : std::uint8_t { Format, Clamp };

/// A sign, then exponent and fraction. All patterns are right-aligned; those below carry no sign.
struct FloatFormat {
    int exponent_bits;
    int fraction_bits;
    Specials specials;

    constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
    constexpr std::uint64_t sign_bit() const { return std::uint64_t{1} << (exponent_bits + fraction_bits); }
    constexpr std::uint64_t fraction_mask() const { return (std::uint64_t{1} << fraction_bits) - 1; }
    /// All exponent bits set: infinity where the format has one.
    constexpr std::uint64_t top_exponent() const { return sign_bit() - 1 - fraction_mask(); }
    constexpr std::uint64_t largest() const {
        switch (specials) {
            case Specials::Ieee:
                return top_exponent() - 1;
            case Specials::NanOnly:
                return sign_bit() - 2;
            case Specials::None:
                break;
        }
        return sign_bit() - 1;
    }
    /// The NaN that Kiln computes: quiet, positive, no payload. f4e2m1 has none and takes its largest value.
    constexpr std::uint64_t nan() const {
        return specials == Specials::Ieee ? top_exponent() | (std::uint64_t{1} << (fraction_bits - 1)) : sign_bit() - 1;
    }
    constexpr std::uint64_t overflow(Overflow rule) const {
        if (rule == Overflow::Clamp || specials == Specials::None) return largest();
        return specials == Specials::Ieee ? top_exponent() : nan();
    }
};

/// Whether a type is a signed floating-point format: f16 bf16 f32 f64 f4e2m1 f8e4m3 f8e5m2.
constexpr bool has_float_format(ScalarType type) {
    switch (type) {
        case ScalarType::F16:
        case ScalarType::BF16:
        case ScalarType::F32:
        case ScalarType::F64:
        case ScalarType::F4E2M1:
        case ScalarType::F8E4M3:
        case ScalarType::F8E5M2:
            return true;
        case ScalarType::Bool:
        case ScalarType::I8:
        case ScalarType::I16:
        case ScalarType::I32:
        case ScalarType::I64:
        case ScalarType::U8:
        case ScalarType::U16:
        case ScalarType::U32:
        case ScalarType::U64:
        case ScalarType::I4:
        case ScalarType::U4:
        case ScalarType::F8E8M0:
            return false;
    }
    return false;
}

/// The format of a type for which `has_float_format` holds.
constexpr FloatFormat float_format(ScalarType type) {
    if (type == ScalarType::F16) return {5, 10, Specials::Ieee};
    if (type == ScalarType::BF16) return {8, 7, Specials::Ieee};
    if (type == ScalarType::F32) return {8, 23, Specials::Ieee};
    if (type == ScalarType::F8E5M2) return {5, 2, Specials::Ieee};
    if (type == ScalarType::F8E4M3) return {4, 3, Specials::NanOnly};
    if (type == ScalarType::F4E2M1) return {2, 1, Specials::None};
    return {11, 52, Specials::Ieee};
}

/// significand * 2^exponent, exactly.
struct Magnitude {
    std::uint64_t significand = 0;
    int exponent = 0;
};

/// The pattern (without sign) nearest to a magnitude, ties to even.
constexpr std::uint64_t round_magnitude(const FloatFormat& format, Magnitude magnitude, Overflow rule) {
    if (magnitude.significand == 0) return 0;
    const int top = magnitude.exponent + 63 - std::countl_zero(magnitude.significand);
    const int smallest_normal = 1 - format.bias();
    const int exponent = top > smallest_normal ? top : smallest_normal;
    if (exponent > format.bias() + 1) return format.overflow(rule);  // else the pattern below could wrap

    const int dropped = exponent - format.fraction_bits - magnitude.exponent;
    std::uint64_t kept = 0;
    if (dropped <= 0) {
        kept = magnitude.significand << -dropped;
    } else if (dropped <= 64) {
        kept = dropped == 64 ? 0 : magnitude.significand >> dropped;
        const std::uint64_t rest = magnitude.significand << (64 - dropped);
        const std::uint64_t half = std::uint64_t{1} << 63;
        if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
    }
    // The leading bit of a normal number adds one to the exponent field, and so does a carry out of the fraction.
    const auto field = static_cast<std::uint64_t>(exponent + format.bias() - 1);
    const std::uint64_t pattern = (field << format.fraction_bits) + kept;
    return pattern > format.largest() ? format.overflow(rule) : pattern;
}

/// The pattern nearest to a double, ties to even; a NaN becomes the format's own, without sign.
constexpr std::uint64_t encode_float(const FloatFormat& format, double value, Overflow rule) {
    constexpr FloatFormat kDouble = float_format(ScalarType::F64);
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const std::uint64_t sign = (bits & kDouble.sign_bit()) != 0 ? format.sign_bit() : 0;
    const std::uint64_t pattern = bits & (kDouble.sign_bit() - 1);
    if (pattern > kDouble.top_exponent()) return format.nan();
    if (pattern == kDouble.top_exponent()) return sign | format.overflow(rule);

    const auto field = static_cast<int>(pattern >> kDouble.fraction_bits);
    const std::uint64_t fraction = pattern & kDouble.fraction_mask();
    const std::uint64_t leading = field == 0 ? 0 : kDouble.fraction_mask() + 1;
    const int exponent = (field == 0 ? 1 : field) - kDouble.bias() - kDouble.fraction_bits;
    return sign | round_magnitude(format, {leading | fraction, exponent}, rule);
}

/// 2^exponent for exponents of normal doubles.
constexpr double power_of_two(int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// The exact value of a pattern of any format but f64. NaNs become quiet, positive and without payload.
constexpr double decode_float(const FloatFormat& format, std::uint64_t bits) {
    constexpr FloatFormat kDouble = float_format(ScalarType::F64);
    const std::uint64_t sign = (bits & format.sign_bit()) != 0 ? kDouble.sign_bit() : 0;
    const std::uint64_t pattern = bits & (format.sign_bit() - 1);
    if (pattern > format.largest()) {
        const bool infinite = format.specials == Specials::Ieee && pattern == format.top_exponent();
        return std::bit_cast<double>(infinite ? sign | kDouble.top_exponent() : kDouble.nan());
    }
    const std::uint64_t fraction = pattern & format.fraction_mask();
    const auto field = static_cast<int>(pattern >> format.fraction_bits);
    if (field == 0) {
        const double value = static_cast<double>(fraction) * power_of_two(1 - format.bias() - format.fraction_bits);
        return std::bit_cast<double>(sign | std::bit_cast<std::uint64_t>(value));
    }
    const auto exponent = static_cast<std::uint64_t>(field - format.bias() + kDouble.bias());
    return std::bit_cast<double>(sign | (exponent << kDouble.fraction_bits) |
                                 (fraction << (kDouble.fraction_bits - format.fraction_bits)));
}

/// f8e8m0: pattern n is 2^(n - 127), 255 is NaN. `encode_power` rounds up to the next power of two: nothing above zero
/// gives 2^-127; NaN, +inf and all above 2^127 give NaN, where `rule` clamps the latter two to 2^127.
double decode_power(std::uint64_t bits);
std::uint64_t encode_power(double value, Overflow rule);

/// The exact value of a pattern of any float type, storage types included.
double decode_real(ScalarType type, std::uint64_t bits);
/// The pattern of any float type nearest to a double (f8e8m0: not below it), rounded once.
std::uint64_t encode_real(ScalarType type, double value, Overflow rule);

}  // namespace kiln::ir
