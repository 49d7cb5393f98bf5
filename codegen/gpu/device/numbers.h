// Integer arithmetic and conversions. The meaning is that of ir/semantics.h and of the table of conversions.
//
// All reals but f64 are exact in f32, through which they convert; 64-bit numbers take a step that rounds to odd first,
// after which rounding once more is as if done once (Boldo and Melquiond, "Emulation of a FMA and correctly rounded
// sums").

KILN_DEVICE int kiln_div_i32(int a, int b) {
    return b == 0 ? 0 : b == -1 ? (int)(0u - (unsigned)a) : a / b;
}

KILN_DEVICE long long kiln_div_i64(long long a, long long b) {
    return b == 0 ? 0 : b == -1 ? (long long)(0ull - (unsigned long long)a) : a / b;
}

KILN_DEVICE unsigned kiln_div_u32(unsigned a, unsigned b) {
    return b == 0 ? 0 : a / b;
}

KILN_DEVICE unsigned long long kiln_div_u64(unsigned long long a, unsigned long long b) {
    return b == 0 ? 0 : a / b;
}

KILN_DEVICE int kiln_rem_i32(int a, int b) {
    return b == 0 ? a : b == -1 ? 0 : a % b;
}

KILN_DEVICE long long kiln_rem_i64(long long a, long long b) {
    return b == 0 ? a : b == -1 ? 0 : a % b;
}

KILN_DEVICE unsigned kiln_rem_u32(unsigned a, unsigned b) {
    return b == 0 ? a : a % b;
}

KILN_DEVICE unsigned long long kiln_rem_u64(unsigned long long a, unsigned long long b) {
    return b == 0 ? a : a % b;
}

KILN_DEVICE int kiln_cdiv_i32(int a, int b) {
    int rest = b == 0 ? 0 : kiln_rem_i32(a, b);
    return (int)((unsigned)kiln_div_i32(a, b) + (rest != 0 && (rest < 0) == (b < 0) ? 1u : 0u));
}

KILN_DEVICE long long kiln_cdiv_i64(long long a, long long b) {
    long long rest = b == 0 ? 0 : kiln_rem_i64(a, b);
    return (long long)((unsigned long long)kiln_div_i64(a, b) + (rest != 0 && (rest < 0) == (b < 0) ? 1u : 0u));
}

KILN_DEVICE unsigned kiln_cdiv_u32(unsigned a, unsigned b) {
    return b == 0 ? 0 : a / b + (a % b != 0 ? 1u : 0u);
}

KILN_DEVICE unsigned long long kiln_cdiv_u64(unsigned long long a, unsigned long long b) {
    return b == 0 ? 0 : a / b + (a % b != 0 ? 1u : 0u);
}

KILN_DEVICE int kiln_floordiv_i32(int a, int b) {
    int rest = b == 0 ? 0 : kiln_rem_i32(a, b);
    return (int)((unsigned)kiln_div_i32(a, b) - (rest != 0 && (rest < 0) != (b < 0) ? 1u : 0u));
}

KILN_DEVICE long long kiln_floordiv_i64(long long a, long long b) {
    long long rest = b == 0 ? 0 : kiln_rem_i64(a, b);
    return (long long)((unsigned long long)kiln_div_i64(a, b) - (rest != 0 && (rest < 0) != (b < 0) ? 1u : 0u));
}

KILN_DEVICE int kiln_mod_i32(int a, int b) {
    int rest = kiln_rem_i32(a, b);
    return b != 0 && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

KILN_DEVICE long long kiln_mod_i64(long long a, long long b) {
    long long rest = kiln_rem_i64(a, b);
    return b != 0 && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

KILN_DEVICE int kiln_clamp_i32(int x, int low, int high) {
    return x < low ? low : x > high ? high : x;
}

KILN_DEVICE long long kiln_clamp_i64(long long x, long long low, long long high) {
    return x < low ? low : x > high ? high : x;
}

KILN_DEVICE unsigned long long kiln_clamp_u64(unsigned long long x, unsigned long long high) {
    return x > high ? high : x;
}

KILN_DEVICE int kiln_int_of_i4(kiln_i4 x) {
    return (x ^ 8) - 8;
}

// Two elements a byte, the first in the low bits. A store changes the byte of both.
KILN_DEVICE unsigned char kiln_load_4_bits(const unsigned char* elements, long long index) {
    return (unsigned char)(elements[index >> 1] >> (index & 1) * 4 & 15);
}

KILN_DEVICE void kiln_store_4_bits(unsigned char* elements, long long index, unsigned char value) {
    int shift = (int)(index & 1) * 4;
    unsigned char* place = elements + (index >> 1);
    *place = (unsigned char)((*place & ~(15 << shift)) | value << shift);
}

KILN_DEVICE float kiln_abs_f32(float x) {
    return kiln_f32_of_bits(kiln_bits_of_f32(x) & 0x7fffffffu);
}

KILN_DEVICE double kiln_abs_f64(double x) {
    return kiln_f64_of_bits(kiln_bits_of_f64(x) & 0x7fffffffffffffffull);
}

KILN_DEVICE float kiln_with_sign_of_f32(float x, float sign) {
    return kiln_f32_of_bits((kiln_bits_of_f32(x) & 0x7fffffffu) | (kiln_bits_of_f32(sign) & 0x80000000u));
}

KILN_DEVICE double kiln_with_sign_of_f64(double x, double sign) {
    return kiln_f64_of_bits((kiln_bits_of_f64(x) & 0x7fffffffffffffffull) |
                            (kiln_bits_of_f64(sign) & 0x8000000000000000ull));
}

KILN_DEVICE bool kiln_isinf_f32(float x) {
    return (kiln_bits_of_f32(x) & 0x7fffffffu) == 0x7f800000u;
}

KILN_DEVICE bool kiln_isinf_f64(double x) {
    return (kiln_bits_of_f64(x) & 0x7fffffffffffffffull) == 0x7ff0000000000000ull;
}

KILN_DEVICE double kiln_min_f64(double a, double b) {
    if (a != a) return b;
    if (b != b) return a;
    if (a == b) return (kiln_bits_of_f64(a) >> 63) != 0 ? a : b;
    return a < b ? a : b;
}

KILN_DEVICE double kiln_max_f64(double a, double b) {
    if (a != a) return b;
    if (b != b) return a;
    if (a == b) return (kiln_bits_of_f64(a) >> 63) != 0 ? b : a;
    return a < b ? b : a;
}

KILN_DEVICE double kiln_minimum_f64(double a, double b) {
    return a != a ? a : b != b ? b : kiln_min_f64(a, b);
}

KILN_DEVICE double kiln_maximum_f64(double a, double b) {
    return a != a ? a : b != b ? b : kiln_max_f64(a, b);
}

// Real to integer: towards zero, clamped at the range, 0 for NaN. The bounds are exact.

KILN_DEVICE int kiln_i32_of_f32(float x) {
    if (x != x) return 0;
    return x < -2147483648.0f ? -2147483647 - 1 : x >= 2147483648.0f ? 2147483647 : (int)x;
}

KILN_DEVICE unsigned kiln_u32_of_f32(float x) {
    return !(x > 0.0f) ? 0u : x >= 4294967296.0f ? 4294967295u : (unsigned)x;
}

KILN_DEVICE long long kiln_i64_of_f32(float x) {
    if (x != x) return 0;
    const long long highest = 9223372036854775807ll;
    return x < -9223372036854775808.0f ? -highest - 1 : x >= 9223372036854775808.0f ? highest : (long long)x;
}

KILN_DEVICE unsigned long long kiln_u64_of_f32(float x) {
    return !(x > 0.0f) ? 0ull : x >= 18446744073709551616.0f ? 18446744073709551615ull : (unsigned long long)x;
}

KILN_DEVICE int kiln_i32_of_f64(double x) {
    if (x != x) return 0;
    return x <= -2147483648.0 ? -2147483647 - 1 : x >= 2147483647.0 ? 2147483647 : (int)x;
}

KILN_DEVICE unsigned kiln_u32_of_f64(double x) {
    return !(x > 0.0) ? 0u : x >= 4294967295.0 ? 4294967295u : (unsigned)x;
}

KILN_DEVICE long long kiln_i64_of_f64(double x) {
    if (x != x) return 0;
    const long long highest = 9223372036854775807ll;
    return x < -9223372036854775808.0 ? -highest - 1 : x >= 9223372036854775808.0 ? highest : (long long)x;
}

KILN_DEVICE unsigned long long kiln_u64_of_f64(double x) {
    return !(x > 0.0) ? 0ull : x >= 18446744073709551616.0 ? 18446744073709551615ull : (unsigned long long)x;
}

// Rounding to odd: what is cut off sets the last bit that stays.

KILN_DEVICE float kiln_odd_f32_of_f64(double x) {
    float nearest = (float)x;
    unsigned bits = kiln_bits_of_f32(nearest);
    double error = x - (double)nearest;
    if (x != x || error == 0.0 || (bits & 1u) != 0) return nearest;
    if (kiln_isinf_f32(nearest)) return kiln_isinf_f64(x) ? nearest : kiln_f32_of_bits(bits - 1);
    // The neighbour on the side of x, which is odd. From zero on that is the least denormal of x's sign.
    if (nearest == 0.0f) return kiln_with_sign_of_f32(kiln_f32_of_bits(1u), x < 0.0 ? -1.0f : 1.0f);
    return kiln_f32_of_bits((error > 0.0) == (x > 0.0) ? bits + 1 : bits - 1);
}

KILN_DEVICE float kiln_odd_f32_of_u64(unsigned long long x) {
    int shift = 40 - kiln_clz_u64(x);
    if (shift <= 0) return (float)x;
    unsigned long long kept = x >> shift, cut = x & ((1ull << shift) - 1);
    return (float)((kept | (cut != 0 ? 1ull : 0ull)) << shift);
}

KILN_DEVICE float kiln_odd_f32_of_i64(long long x) {
    float size = kiln_odd_f32_of_u64(x < 0 ? 0ull - (unsigned long long)x : (unsigned long long)x);
    return x < 0 ? -size : size;
}

// Narrow floats.

KILN_DEVICE float kiln_f32_of_bf16(kiln_bf16 x) {
    return kiln_f32_of_bits((unsigned)x << 16);
}

KILN_DEVICE kiln_bf16 kiln_bf16_of_f64(double x) {
    return kiln_bf16_of_f32(kiln_odd_f32_of_f64(x));
}

// The product of two bf16 is exact in f32 unless it is very small: then f32 itself would round it.
KILN_DEVICE kiln_bf16 kiln_mul_bf16(kiln_bf16 a, kiln_bf16 b) {
    float x = kiln_f32_of_bf16(a), y = kiln_f32_of_bf16(b), product = x * y;
    if (kiln_abs_f32(product) < 7.8886091e-31f) return kiln_bf16_of_f64((double)x * (double)y);
    return kiln_bf16_of_f32(product);
}

KILN_DEVICE kiln_bf16 kiln_div_bf16(kiln_bf16 a, kiln_bf16 b) {
    float x = kiln_f32_of_bf16(a), y = kiln_f32_of_bf16(b), quotient = x / y;
    if (kiln_abs_f32(quotient) < 7.8886091e-31f) return kiln_bf16_of_f64((double)x / (double)y);
    return kiln_bf16_of_f32(quotient);
}

// The product is exact in f64, and the sum is rounded to odd; its error is Knuth's two-sum.
KILN_DEVICE kiln_bf16 kiln_wide_fma_bf16(kiln_bf16 a, kiln_bf16 b, kiln_bf16 c) {
    double product = (double)kiln_f32_of_bf16(a) * (double)kiln_f32_of_bf16(b), addend = (double)kiln_f32_of_bf16(c);
    double sum = product + addend, part = sum - product;
    double error = (product - (sum - part)) + (addend - part);
    unsigned long long bits = kiln_bits_of_f64(sum);
    bool exact = sum - sum != 0.0 || error == 0.0 || (bits & 1ull) != 0;
    return kiln_bf16_of_f64(exact ? sum : kiln_f64_of_bits((error > 0.0) == (sum > 0.0) ? bits + 1 : bits - 1));
}

// The pattern, without sign, nearest to a magnitude in a format with the given fraction bits and bias; ties to even.
// May lie above the format's largest.
KILN_DEVICE unsigned kiln_narrow(unsigned magnitude, int fraction_bits, int bias) {
    int exponent = (int)(magnitude >> 23) - 127;
    unsigned significand = exponent == -127 ? magnitude : (magnitude & 0x7fffffu) | 0x800000u;
    if (exponent == -127) exponent = -126;
    int least = 1 - bias, place = exponent > least ? exponent : least;
    int dropped = 23 - fraction_bits + (place - exponent);
    if (dropped > 25) dropped = 25;
    unsigned kept = significand >> dropped, rest = significand & ((1u << dropped) - 1), half = 1u << (dropped - 1);
    if (rest > half || (rest == half && (kept & 1u) != 0)) ++kept;
    return ((unsigned)(place + bias - 1) << fraction_bits) + kept;
}

// The value of such a pattern: as a fraction of f32's bits it is off by a power of two.
KILN_DEVICE float kiln_widen(unsigned pattern, int fraction_bits, int bias) {
    return kiln_f32_of_bits(pattern << (23 - fraction_bits)) * kiln_f32_of_bits((unsigned)(254 - bias) << 23);
}

KILN_DEVICE float kiln_f32_of_f8e5m2(kiln_f8e5m2 x) {
    return kiln_f32_of_f16((kiln_f16)(x << 8));
}

KILN_DEVICE kiln_f8e5m2 kiln_f8e5m2_of_f32(float x) {
    unsigned bits = kiln_bits_of_f32(x), sign = bits >> 24 & 0x80u;
    if (x != x) return 0x7e;
    unsigned pattern = kiln_narrow(bits & 0x7fffffffu, 2, 15);
    return (kiln_f8e5m2)(sign | (pattern > 0x7bu ? 0x7cu : pattern));
}

KILN_DEVICE float kiln_f32_of_f8e4m3(kiln_f8e4m3 x) {
    unsigned pattern = x & 0x7fu;
    float size = pattern == 0x7fu ? kiln_f32_of_bits(0x7fc00000u) : kiln_widen(pattern, 3, 7);
    return (x & 0x80) != 0 ? -size : size;
}

KILN_DEVICE kiln_f8e4m3 kiln_f8e4m3_of_f32(float x) {
    unsigned bits = kiln_bits_of_f32(x), sign = bits >> 24 & 0x80u;
    if (x != x) return 0x7f;
    unsigned pattern = kiln_narrow(bits & 0x7fffffffu, 3, 7);
    return (kiln_f8e4m3)(sign | (pattern > 0x7eu ? 0x7fu : pattern));
}

KILN_DEVICE float kiln_f32_of_f4e2m1(kiln_f4e2m1 x) {
    float size = kiln_widen(x & 7u, 1, 1);
    return (x & 8) != 0 ? -size : size;
}

KILN_DEVICE kiln_f4e2m1 kiln_f4e2m1_of_f32(float x) {
    unsigned bits = kiln_bits_of_f32(x), sign = bits >> 28 & 8u;
    if (x != x) return 7;
    unsigned pattern = kiln_narrow(bits & 0x7fffffffu, 1, 1);
    return (kiln_f4e2m1)(sign | (pattern > 7u ? 7u : pattern));
}

KILN_DEVICE float kiln_f32_of_f8e8m0(kiln_f8e8m0 x) {
    return kiln_f32_of_bits(x == 255 ? 0x7fc00000u : x == 0 ? 0x00400000u : (unsigned)x << 23);
}

// The next power of two not below x.
KILN_DEVICE kiln_f8e8m0 kiln_f8e8m0_of_f32(float x) {
    if (x != x) return 255;
    if (x <= 5.8774717541114375e-39f) return 0;
    unsigned power = (kiln_bits_of_f32(x) + 0x7fffffu) >> 23;
    return (kiln_f8e8m0)(power > 254u ? 255u : power);
}

// Everything but NaN to -limit ... limit.
KILN_DEVICE float kiln_limit_f32(float x, float limit) {
    return x > limit ? limit : x < -limit ? -limit : x;
}

KILN_DEVICE double kiln_limit_f64(double x, double limit) {
    return x > limit ? limit : x < -limit ? -limit : x;
}
