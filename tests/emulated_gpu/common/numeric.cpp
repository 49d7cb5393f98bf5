#include "tests/emulated_gpu/common/numeric.h"

#include <cfenv>
#include <limits>

namespace emulated_gpu {
namespace {

/// Whether a magnitude whose lowest kept bit is `odd` and whose lost part is compared with one half by `lost`
/// (negative: less, 0: equal, positive: more) goes up. `any` tells whether anything was lost.
bool goes_up(Rounding rounding, bool negative, bool odd, int lost, bool any) {
    switch (rounding) {
        case Rounding::NearestEven:
            return lost > 0 || (lost == 0 && odd);
        case Rounding::NearestAway:
            return lost >= 0 && any;
        case Rounding::Zero:
            return false;
        case Rounding::Down:
            return any && negative;
        case Rounding::Up:
            return any && !negative;
    }
    return false;
}

uint32_t largest_finite(const FloatFormat& format) {
    const uint32_t all = (1U << (format.exponent_bits + format.mantissa_bits)) - 1;
    return format.has_infinity ? all - (1U << format.mantissa_bits) : all - 1;
}

uint32_t overflowed(const FloatFormat& format, Rounding rounding, bool negative, bool finite) {
    const bool towards_infinity = rounding == Rounding::NearestEven || rounding == Rounding::NearestAway ||
                                  (rounding == Rounding::Up && !negative) || (rounding == Rounding::Down && negative);
    if (finite || !towards_infinity) return largest_finite(format);
    const uint32_t all = (1U << (format.exponent_bits + format.mantissa_bits)) - 1;
    return format.has_infinity ? largest_finite(format) + 1 : all;
}

/// One ulp towards the exact result if the last bit of `rounded` is even; `error` is exact minus rounded.
double to_odd(double rounded, double error) {
    if (error == 0 || !std::isfinite(rounded)) return rounded;
    auto bits = std::bit_cast<uint64_t>(rounded);
    if (bits & 1) return rounded;
    const bool away = (error > 0) == (rounded > 0);
    return std::bit_cast<double>(away ? bits + 1 : bits - 1);
}

int fenv_direction(Rounding rounding) {
    switch (rounding) {
        case Rounding::Zero:
            return FE_TOWARDZERO;
        case Rounding::Down:
            return FE_DOWNWARD;
        case Rounding::Up:
            return FE_UPWARD;
        case Rounding::NearestEven:
        case Rounding::NearestAway:
            return FE_TONEAREST;
    }
    return FE_TONEAREST;
}

/// Computes under a rounding direction; the operands pass through volatile variables, so that nothing is folded.
template <class Compute>
double directed(Rounding rounding, Compute compute) {
    if (rounding == Rounding::NearestEven) return compute();
    std::fesetround(fenv_direction(rounding));
    volatile double result = compute();
    std::fesetround(FE_TONEAREST);
    return result;
}

}  // namespace

uint32_t encode_float(double value, const FloatFormat& format, Rounding rounding, bool finite) {
    const int bits = format.exponent_bits + format.mantissa_bits;
    const auto raw = std::bit_cast<uint64_t>(value);
    const bool negative = raw >> 63;
    const uint32_t sign = negative ? 1U << bits : 0;
    if (std::isnan(value)) return (1U << bits) - 1;
    if (std::isinf(value))
        return sign | (finite ? largest_finite(format) : overflowed(format, Rounding::NearestEven, negative, false));
    if (value == 0) return sign;
    const int bias = (1 << (format.exponent_bits - 1)) - 1;
    int exponent = 0;
    std::frexp(value, &exponent);
    exponent -= 1;                                                           // value = 1.m * 2^exponent
    const int lowest = std::max(exponent, 1 - bias) - format.mantissa_bits;  // weight of the last kept bit
    const double scaled = std::ldexp(std::fabs(value), -lowest);
    double kept = std::floor(scaled);
    const double lost = scaled - kept;
    const bool odd = std::fmod(kept, 2) != 0;
    const int half = lost > 0.5 ? 1 : lost == 0.5 ? 0 : -1;
    if (goes_up(rounding, negative, odd, half, lost != 0)) kept += 1;
    const auto integer = static_cast<uint64_t>(kept);
    if (exponent < 1 - bias)
        return sign | static_cast<uint32_t>(integer);  // subnormal, or carried into the first normal
    const uint64_t magnitude = (static_cast<uint64_t>(exponent + bias - 1) << format.mantissa_bits) + integer;
    if (magnitude > largest_finite(format)) return sign | overflowed(format, rounding, negative, finite);
    return sign | static_cast<uint32_t>(magnitude);
}

double decode_float(uint32_t bits, const FloatFormat& format) {
    const int width = format.exponent_bits + format.mantissa_bits;
    const bool negative = (bits >> width) & 1;
    const uint32_t magnitude = bits & ((1U << width) - 1);
    const uint32_t exponent = magnitude >> format.mantissa_bits;
    const uint32_t mantissa = magnitude & ((1U << format.mantissa_bits) - 1);
    const uint32_t top = (1U << format.exponent_bits) - 1;
    const int bias = (1 << (format.exponent_bits - 1)) - 1;
    double value = 0;
    if (format.has_infinity && exponent == top) {
        value = mantissa == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    } else if (!format.has_infinity && magnitude == (1U << width) - 1) {
        value = std::numeric_limits<double>::quiet_NaN();
    } else if (exponent == 0) {
        value = std::ldexp(mantissa, 1 - bias - format.mantissa_bits);
    } else {
        value = std::ldexp(mantissa + (1U << format.mantissa_bits),
                           static_cast<int>(exponent) - bias - format.mantissa_bits);
    }
    return negative ? -value : value;
}

double add_to_odd(double a, double b) {
    const double sum = a + b;
    if (!std::isfinite(sum)) return sum;
    const double b_part = sum - a;
    const double a_part = sum - b_part;
    return to_odd(sum, (a - a_part) + (b - b_part));
}

double divide_to_odd(double a, double b) {
    const double quotient = a / b;
    if (!std::isfinite(quotient) || quotient == 0 || std::isinf(b)) return quotient;
    const double remainder = std::fma(-quotient, b, a);
    return to_odd(quotient,
                  (b > 0) == (remainder > 0) || remainder == 0 ? std::fabs(remainder) : -std::fabs(remainder));
}

double square_root_to_odd(double a) {
    const double root = std::sqrt(a);
    if (!std::isfinite(root) || root == 0) return root;
    return to_odd(root, -std::fma(root, root, -a));
}

double add_f64(double a, double b, Rounding rounding) {
    return directed(rounding, [&] {
        volatile double x = a, y = b;
        return x + y;
    });
}
double multiply_f64(double a, double b, Rounding rounding) {
    return directed(rounding, [&] {
        volatile double x = a, y = b;
        return x * y;
    });
}
double fma_f64(double a, double b, double c, Rounding rounding) {
    return directed(rounding, [&] {
        volatile double x = a, y = b, z = c;
        return std::fma(x, y, z);
    });
}
double divide_f64(double a, double b, Rounding rounding) {
    return directed(rounding, [&] {
        volatile double x = a, y = b;
        return x / y;
    });
}
double square_root_f64(double a, Rounding rounding) {
    return directed(rounding, [&] {
        volatile double x = a;
        return std::sqrt(x);
    });
}

double round_to_integer(double value, Rounding rounding) {
    switch (rounding) {
        case Rounding::NearestEven:
            return std::nearbyint(value);
        case Rounding::Zero:
            return std::trunc(value);
        case Rounding::Down:
            return std::floor(value);
        case Rounding::Up:
            return std::ceil(value);
        case Rounding::NearestAway:
            return std::round(value);
    }
    return value;
}

}  // namespace emulated_gpu
