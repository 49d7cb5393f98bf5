#include "tests/emulated_gpu/hip/fp8.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tests/emulated_gpu/common/numeric.h"

namespace emulated_gpu::hip {

namespace {

/// All values of a format, since decoding is slow.
std::array<double, 256> make_values(Fp8 format) {
    std::array<double, 256> values{};
    for (uint32_t bits = 0; bits < 256; ++bits) {
        values[bits] = format == Fp8::E4M3       ? decode_float(bits, kE4M3)
                       : format == Fp8::E5M2     ? decode_float(bits, kE5M2)
                       : format == Fp8::E4M3Fnuz ? decode_fnuz(bits, kE4M3Fnuz)
                                                 : decode_fnuz(bits, kE5M2Fnuz);
    }
    return values;
}

}  // namespace

double decode_fp8(uint32_t bits, Fp8 format) {
    static const std::array<std::array<double, 256>, 4> values{make_values(Fp8::E4M3), make_values(Fp8::E5M2),
                                                               make_values(Fp8::E4M3Fnuz), make_values(Fp8::E5M2Fnuz)};
    return values[static_cast<size_t>(format)][bits & 0xff];
}

uint32_t encode_fp8(double value, Fp8 format) {
    switch (format) {
        case Fp8::E4M3:
            return encode_float(value, kE4M3, Rounding::NearestEven);
        case Fp8::E5M2:
            return encode_float(value, kE5M2, Rounding::NearestEven);
        case Fp8::E4M3Fnuz:
            return encode_fnuz(value, kE4M3Fnuz);
        case Fp8::E5M2Fnuz:
            return encode_fnuz(value, kE5M2Fnuz);
    }
    return 0;
}

double decode_fnuz(uint32_t bits, const FnuzFormat& format) {
    if (bits == 0x80) return std::numeric_limits<double>::quiet_NaN();
    const uint32_t mantissa = bits & ((1U << format.mantissa_bits) - 1);
    const uint32_t exponent = (bits & 0x7f) >> format.mantissa_bits;
    const int hidden = exponent == 0 ? 0 : 1 << format.mantissa_bits;
    const int scale = std::max(static_cast<int>(exponent), 1) - format.bias - format.mantissa_bits;
    const double magnitude = std::ldexp(static_cast<double>(mantissa) + hidden, scale);
    return (bits & 0x80) != 0 ? -magnitude : magnitude;
}

uint32_t encode_fnuz(double value, const FnuzFormat& format) {
    if (std::isnan(value)) return 0x80;
    const uint32_t sign = std::signbit(value) ? 0x80 : 0;
    const double magnitude = std::fabs(value);
    if (magnitude > decode_fnuz(0x7f, format)) return sign | 0x7f;
    if (magnitude == 0) return 0;
    int exponent = 0;
    std::frexp(magnitude, &exponent);
    const int lowest = std::max(exponent - 1, 1 - format.bias) - format.mantissa_bits;
    const auto steps = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, -lowest)));
    const int biased = exponent - 1 + format.bias;
    const uint32_t bits = biased < 1 ? steps : (static_cast<uint32_t>(biased - 1) << format.mantissa_bits) + steps;
    if (bits == 0) return 0;  // there is no negative zero
    return sign | std::min(bits, 0x7fU);
}

}  // namespace emulated_gpu::hip
