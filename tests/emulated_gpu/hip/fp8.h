#pragma once

#include <cstdint>

namespace emulated_gpu::hip {

/// The fp8 formats of gfx942 (MI300 ISA, "FP8"): no infinity, no negative zero, 0x80 is NaN, and a bias one above that
/// of the OCP formats.
struct FnuzFormat {
    int exponent_bits;
    int mantissa_bits;
    int bias;
};
inline constexpr FnuzFormat kE4M3Fnuz{4, 3, 8};
inline constexpr FnuzFormat kE5M2Fnuz{5, 2, 16};

/// All fp8 formats: those of the OCP (gfx950 and RDNA4), and those of gfx942.
enum class Fp8 : uint8_t { E4M3, E5M2, E4M3Fnuz, E5M2Fnuz };
/// The exact value of the eight bits.
double decode_fp8(uint32_t bits, Fp8 format);
/// To the nearest, ties to even. What is too large becomes NaN or, in E5M2, infinity (RDNA4 ISA, FP16_OVFL unset).
uint32_t encode_fp8(double value, Fp8 format);

double decode_fnuz(uint32_t bits, const FnuzFormat& format);
/// To the nearest, ties to even; what is too large becomes the largest number (the default, FP16_OVFL unset: NaN is
/// only NaN's).
uint32_t encode_fnuz(double value, const FnuzFormat& format);

}  // namespace emulated_gpu::hip
