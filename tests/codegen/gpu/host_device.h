// The device functions as host C++: in a class they may be defined in any order, as the prelude orders them by use.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "ir/small_float.h"

#define KILN_DEVICE static inline
#define KILN_DEVICE_OUTLINE static inline
#define KILN_TABLE static constexpr

namespace kiln::test {

struct Device {
#include "codegen/gpu/device/types.h"

    // What device/cuda.h and device/hip.h say in their dialects.
    static unsigned kiln_bits_of_f32(float x) {
        return std::bit_cast<unsigned>(x);
    }
    static float kiln_f32_of_bits(unsigned x) {
        return std::bit_cast<float>(x);
    }
    static unsigned long long kiln_bits_of_f64(double x) {
        return std::bit_cast<unsigned long long>(x);
    }
    static double kiln_f64_of_bits(unsigned long long x) {
        return std::bit_cast<double>(x);
    }
    static int kiln_clz_u64(unsigned long long x) {
        return std::countl_zero(x);
    }
    static unsigned long long kiln_high_product_u64(unsigned long long a, unsigned long long b) {
        return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
    }
    static float kiln_fma_f32(float a, float b, float c) {
        return std::fma(a, b, c);
    }
    static double kiln_fma_f64(double a, double b, double c) {
        return std::fma(a, b, c);
    }
    static float kiln_sqrt_f32(float x) {
        return std::sqrt(x);
    }
    static double kiln_sqrt_f64(double x) {
        return std::sqrt(x);
    }
    static float kiln_round_f32(float x) {
        return std::nearbyint(x);
    }
    static double kiln_round_f64(double x) {
        return std::nearbyint(x);
    }
    static double kiln_trunc_f64(double x) {
        return std::trunc(x);
    }
    static float kiln_f32_of_f16(kiln_f16 x) {
        return static_cast<float>(ir::decode_float(ir::float_format(ir::ScalarType::F16), x));
    }
    static kiln_bf16 kiln_bf16_of_f32(float x) {
        const auto format = ir::float_format(ir::ScalarType::BF16);
        return static_cast<kiln_bf16>(ir::encode_float(format, x, ir::Overflow::Format));
    }
    /// Two ulp off at times, as hardware may be.
    static float kiln_approximate_exp2_f32(float x) {
        return std::exp2(x) * (1 + 0x1p-23f);
    }

#include "codegen/gpu/device/math.h"
#include "codegen/gpu/device/math_f64.h"
#include "codegen/gpu/device/numbers.h"
};

}  // namespace kiln::test
