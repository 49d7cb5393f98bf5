#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "tests/emulated_gpu/common/numeric.h"

namespace emulated_gpu::hip {

/// Subnormal numbers become zeros of the same sign.
inline uint32_t flush_f32(uint32_t bits) {
    return (bits & 0x7f80'0000) == 0 ? bits & 0x8000'0000 : bits;
}
inline uint32_t flush_f16(uint32_t bits) {
    return (bits & 0x7c00) == 0 ? bits & 0xffff'8000 : bits;
}
inline uint64_t flush_f64(uint64_t bits) {
    return (bits & 0x7ff0'0000'0000'0000) == 0 ? bits & 0x8000'0000'0000'0000 : bits;
}

/// Exact; reads the lower 16 bits.
inline float half_to_float(uint32_t bits) {
    const uint32_t sign = (bits & 0x8000) << 16;
    const uint32_t magnitude = bits & 0x7fff;
    if (magnitude >= 0x7c00) return std::bit_cast<float>(sign | 0x7f80'0000 | (magnitude & 0x3ff) << 13);
    // The exponent moves by 112; subnormals are normalised by a multiplication.
    const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(scaled) | sign);
}

/// Rounds to the nearest, ties to even, whatever the host's direction is.
inline uint32_t float_to_half(float value) {
    const auto bits = std::bit_cast<uint32_t>(value);
    const uint32_t sign = (bits >> 16) & 0x8000;
    const uint32_t magnitude = bits & 0x7fff'ffff;
    if (magnitude > 0x7f80'0000) return sign | 0x7e00 | ((magnitude >> 13) & 0x1ff);
    if (magnitude >= 0x4780'0000) return sign | 0x7c00;
    if (magnitude >= 0x3880'0000) {
        const uint32_t rounded = magnitude - 0x3800'0000 + 0xfff + ((magnitude >> 13) & 1);
        return sign | rounded >> 13;
    }
    if (magnitude < 0x3300'0000) return sign;
    const uint32_t shift = 126 - (magnitude >> 23);  // 14 to 24
    const uint32_t mantissa = (magnitude & 0x7f'ffff) | 0x80'0000;
    const uint32_t kept = mantissa >> shift;
    const uint32_t rest = mantissa & ((1U << shift) - 1);
    const uint32_t half = 1U << (shift - 1);
    return sign | (kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0));
}

inline float bf16_to_float(uint32_t bits) {
    return std::bit_cast<float>(bits << 16);
}
inline uint32_t float_to_bf16(float value) {
    const auto bits = std::bit_cast<uint32_t>(value);
    if ((bits & 0x7fff'ffff) > 0x7f80'0000) return (bits >> 16) | 0x40;
    return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

/// A double to f16, rounded once.
inline uint32_t double_to_half(double value) {
    // To odd, then to nearest: the same as one rounding.
    auto narrow = static_cast<float>(value);
    if (std::isfinite(narrow) && static_cast<double>(narrow) != value) {
        auto bits = std::bit_cast<uint32_t>(narrow);
        if ((bits & 1) == 0) {
            const bool too_large = std::fabs(static_cast<double>(narrow)) > std::fabs(value);
            bits = too_large ? bits - 1 : bits + 1;
        }
        narrow = std::bit_cast<float>(bits);
    }
    return float_to_half(narrow);
}

/// out = a * b + c with one rounding, for 64 lanes.
void fma_lanes(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* out);
void fma_lanes(const uint64_t* a, const uint64_t* b, const uint64_t* c, uint64_t* out);

}  // namespace emulated_gpu::hip
