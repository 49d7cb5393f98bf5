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

double decode_fnuz(uint32_t bits, const FnuzFormat& format);
/// To the nearest, ties to even; what is too large becomes the largest number (the default, FP16_OVFL unset: NaN is
/// only NaN's).
uint32_t encode_fnuz(double value, const FnuzFormat& format);

}  // namespace emulated_gpu::hip
