#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace emulated_gpu {

/// The lowest `bits` of a value, 1 to 64.
inline uint64_t low_bits(uint64_t value, int bits) {
    return bits >= 64 ? value : value & ((uint64_t{1} << bits) - 1);
}

enum class Rounding : uint8_t { NearestEven, Zero, Down, Up, NearestAway };

/// A binary floating-point format of at most 32 bits with a sign bit above the exponent.
struct FloatFormat {
    int exponent_bits;
    int mantissa_bits;
    bool has_infinity;  // false: all-ones exponents are numbers, and only all-ones mantissas there are NaN (E4M3)
};
inline constexpr FloatFormat kF16{5, 10, true};
inline constexpr FloatFormat kBF16{8, 7, true};
inline constexpr FloatFormat kTF32{8, 10, true};
inline constexpr FloatFormat kF32{8, 23, true};
inline constexpr FloatFormat kE4M3{4, 3, false};
inline constexpr FloatFormat kE5M2{5, 2, true};

/// The bits of `value` in `format`, rounded once. NaN becomes the canonical NaN of the PTX ISA (all bits but the sign
/// set). With `finite`, what is too large becomes the largest finite value, infinities included.
uint32_t encode_float(double value, const FloatFormat& format, Rounding rounding, bool finite = false);
/// The exact value of `bits`.
double decode_float(uint32_t bits, const FloatFormat& format);

/// a + b, a / b and sqrt(a) rounded to odd: rounding the result once more to a format with at least two bits less is
/// the same as rounding the exact result.
double add_to_odd(double a, double b);
double divide_to_odd(double a, double b);
double square_root_to_odd(double a);

/// f64 operations in one of the four IEEE directions.
double add_f64(double a, double b, Rounding rounding);
double multiply_f64(double a, double b, Rounding rounding);
double fma_f64(double a, double b, double c, Rounding rounding);
double divide_f64(double a, double b, Rounding rounding);
double square_root_f64(double a, Rounding rounding);

/// `value` rounded to an integer in the given direction.
double round_to_integer(double value, Rounding rounding);

inline float as_f32(uint64_t bits) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
}
inline double as_f64(uint64_t bits) {
    return std::bit_cast<double>(bits);
}

/// Subnormal f32 values become zeros of the same sign.
inline float flush_subnormal(float value) {
    return std::fabs(value) < 0x1p-126F ? std::copysign(0.0F, value) : value;
}

}  // namespace emulated_gpu
