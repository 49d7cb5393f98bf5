// Transcendental functions of f32, the same operations in the same order as codegen/cpu/vector_math.cpp with fused
// multiply-adds, where the coefficients are explained.

// value * 2^n in two factors, so that a denormal result is rounded once and infinity is reached by overflow.
KILN_DEVICE float kiln_scale_f32(float value, int n) {
    int first = n >> 1;
    return value * kiln_f32_of_bits((unsigned)(first + 127) << 23) *
           kiln_f32_of_bits((unsigned)(n - first + 127) << 23);
}

// (e^r - 1 - r) / r^2 on |r| <= ln(2) / 2
KILN_DEVICE float kiln_exp_curve_f32(float r) {
    float curve = kiln_fma_f32(0.000199077422f, r, 0.00139337333f);
    curve = kiln_fma_f32(curve, r, 0.00833328578f);
    curve = kiln_fma_f32(curve, r, 0.0416664642f);
    curve = kiln_fma_f32(curve, r, 0.166666668f);
    return kiln_fma_f32(curve, r, 0.500000001f);
}

// e^(x - n * ln(2))
KILN_DEVICE float kiln_exp_reduced_f32(float x, float n) {
    float r = kiln_fma_f32(n, -0.693359375f, x);
    r = kiln_fma_f32(n, 0.00021219444005469057f, r);
    return 1.0f + kiln_fma_f32(r * r, kiln_exp_curve_f32(r), r);
}

KILN_DEVICE float kiln_exp_f32(float x) {
    float inside = x > 89.0f ? 89.0f : x < -104.0f ? -104.0f : x;
    float n = kiln_round_f32(inside * 1.4426950408889634f);
    return kiln_scale_f32(kiln_exp_reduced_f32(inside, n), x != x ? 0 : (int)n);
}

KILN_DEVICE float kiln_exp2_f32(float x) {
    float inside = x > 128.0f ? 128.0f : x < -150.0f ? -150.0f : x;
    float n = kiln_round_f32(inside), r = inside - n;
    float curve = kiln_fma_f32(0.000154699026f, r, 0.00133909816f);
    curve = kiln_fma_f32(curve, r, 0.00961803027f);
    curve = kiln_fma_f32(curve, r, 0.0555035689f);
    curve = kiln_fma_f32(curve, r, 0.240226511f);
    curve = kiln_fma_f32(curve, r, 0.693147188f);
    return kiln_scale_f32(kiln_fma_f32(r, curve, 1.0f), x != x ? 0 : (int)n);
}

// With `approximate` or `flush`: within 2^-21 relative, 0 below 2^-126. What rounding x * log2(e) loses counts for
// large x and is put back.
KILN_DEVICE float kiln_fast_exp_f32(float x) {
    float inside = x > 89.0f ? 89.0f : x < -104.0f ? -104.0f : x;
    float power = inside * 1.4426950408889634f;
    float rest = kiln_fma_f32(inside, 1.925963033500e-8f, kiln_fma_f32(inside, 1.4426950408889634f, -power));
    return kiln_approximate_exp2_f32(power) * kiln_fma_f32(rest, 0.69314718f, 1.0f);
}

// x = (1 + fraction) * 2^exponent, the fraction counted from sqrt(1/2), for x > 0.
struct kiln_parts_f32 {
    float fraction, exponent;
};

KILN_DEVICE kiln_parts_f32 kiln_take_apart_f32(float x) {
    bool small = x < 1.1754943508222875e-38f;
    unsigned offset = kiln_bits_of_f32(small ? x * 16777216.0f : x) - 0x3f3504f3u;
    float significand = kiln_f32_of_bits((offset & 0x7fffffu) + 0x3f3504f3u);
    return {significand - 1.0f, (float)(((int)offset >> 23) - (small ? 24 : 0))};
}

// What logarithms give for 0, infinity and what has none.
KILN_DEVICE float kiln_log_edges_f32(float x, float value) {
    if (!(x >= 0.0f)) return kiln_f32_of_bits(0x7fc00000u);
    if (x == 0.0f) return kiln_f32_of_bits(0xff800000u);
    return kiln_isinf_f32(x) ? x : value;
}

KILN_DEVICE float kiln_log_f32(float x) {
    kiln_parts_f32 parts = kiln_take_apart_f32(x);
    float f = parts.fraction, low = parts.exponent * -0.00021219444005469057f;
    float curve = kiln_fma_f32(-0.0762070915f, f, 0.129079069f);
    curve = kiln_fma_f32(curve, f, -0.132451096f);
    curve = kiln_fma_f32(curve, f, 0.141814648f);
    curve = kiln_fma_f32(curve, f, -0.166088067f);
    curve = kiln_fma_f32(curve, f, 0.200019822f);
    curve = kiln_fma_f32(curve, f, -0.250015935f);
    curve = kiln_fma_f32(curve, f, 0.333333257f);
    curve = kiln_fma_f32(curve, f, -0.499999882f);
    float sum = f + kiln_fma_f32(f * f, curve, low);
    return kiln_log_edges_f32(x, kiln_fma_f32(parts.exponent, 0.693359375f, sum));
}

KILN_DEVICE float kiln_log2_f32(float x) {
    kiln_parts_f32 parts = kiln_take_apart_f32(x);
    float f = parts.fraction;
    float curve = kiln_fma_f32(-0.112873632f, f, 0.187683879f);
    curve = kiln_fma_f32(curve, f, -0.190589649f);
    curve = kiln_fma_f32(curve, f, 0.204327599f);
    curve = kiln_fma_f32(curve, f, -0.239644428f);
    curve = kiln_fma_f32(curve, f, 0.288582814f);
    curve = kiln_fma_f32(curve, f, -0.360695867f);
    curve = kiln_fma_f32(curve, f, 0.480897982f);
    curve = kiln_fma_f32(curve, f, -0.721347363f);
    return kiln_log_edges_f32(x, parts.exponent + kiln_fma_f32(f, 1.4426950408889634f, f * f * curve));
}

KILN_DEVICE float kiln_rsqrt_f32(float x) {
    return 1.0f / kiln_sqrt_f32(x);
}

// e^x for results that are normal; a NaN gives anything.
KILN_DEVICE float kiln_exp_normal_f32(float x) {
    float n = kiln_round_f32(x * 1.4426950408889634f);
    unsigned whole = (unsigned)(x != x ? 0 : (int)n);
    return kiln_f32_of_bits(kiln_bits_of_f32(kiln_exp_reduced_f32(x, n)) + (whole << 23));
}

KILN_DEVICE float kiln_tanh_f32(float x) {
    float a = kiln_abs_f32(x), square = a * a;
    float curve = kiln_fma_f32(0.00229895329f, square, -0.00835001845f);
    curve = kiln_fma_f32(curve, square, 0.0217709988f);
    curve = kiln_fma_f32(curve, square, -0.0539595506f);
    curve = kiln_fma_f32(curve, square, 0.13333305f);
    curve = kiln_fma_f32(curve, square, -0.333333332f);
    float near = kiln_fma_f32(a * square, curve, a);
    float doubled = a + a > 20.0f ? 20.0f : a + a;
    float far = 1.0f - 2.0f / (kiln_exp_normal_f32(doubled) + 1.0f);
    return x != x ? x : kiln_with_sign_of_f32(a < 0.625f ? near : far, x);
}

KILN_DEVICE float kiln_erf_f32(float x) {
    float a = kiln_abs_f32(x), square = a * a;
    float curve = kiln_fma_f32(8.39777338e-5f, square, -0.000814979981f);
    curve = kiln_fma_f32(curve, square, 0.00520171542f);
    curve = kiln_fma_f32(curve, square, -0.0268597019f);
    curve = kiln_fma_f32(curve, square, 0.112837016f);
    curve = kiln_fma_f32(curve, square, -0.376126342f);
    curve = kiln_fma_f32(curve, square, 0.1283791671f);
    float near = kiln_fma_f32(a, curve, a);
    float inside = a > 4.0f ? 4.0f : a;
    float tail = kiln_fma_f32(-4.3576457e-7f, inside, -1.55030011e-5f);
    tail = kiln_fma_f32(tail, inside, 0.000403755678f);
    tail = kiln_fma_f32(tail, inside, -0.00407678237f);
    tail = kiln_fma_f32(tail, inside, 0.0249423006f);
    tail = kiln_fma_f32(tail, inside, -0.108071448f);
    tail = kiln_fma_f32(tail, inside, -0.633497494f);
    tail = kiln_fma_f32(tail, inside, -1.12945399f);
    tail = kiln_fma_f32(tail, inside, 0.000164091051f);
    float far = 1.0f - kiln_exp_normal_f32(tail);
    return x != x ? x : kiln_with_sign_of_f32(a < 0.921875f ? near : far, x);
}

KILN_TABLE unsigned kiln_two_over_pi[] = {
    0u,          0u,          0u,          0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u,
    0xfe5163abu, 0xdebbc561u, 0xb7246e3au, 0x424dd2e0u, 0x06492eeau, 0x09d1921cu, 0xfe1deb1cu, 0xb129a73eu, 0xe88235f5u,
    0x2ebb4484u, 0xe99c7026u, 0xb45f7e41u, 0x3991d639u, 0x835339f4u, 0x9c845f8bu, 0xbdf9283bu, 0x1ff897ffu, 0xde05980fu,
    0xef2f118bu, 0x5a0a6d1fu, 0x6d367ecfu, 0x27cb09b7u, 0x4f463f66u, 0x9e5fea2du, 0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u,
    0x8a5292eau, 0x6bfb5fb1u, 0x1f8d5d08u, 0x56033046u, 0xfc7b6babu, 0xf0cfbc20u, 0x9af4361du};

// 64 bits of 2 / pi, from the given number of bits behind the binary point on; before it stand zeros.
KILN_DEVICE unsigned long long kiln_two_over_pi_bits(int first) {
    int word = (first + 96) >> 5, shift = (first + 96) & 31;
    unsigned long long high = (unsigned long long)kiln_two_over_pi[word] << 32 | kiln_two_over_pi[word + 1];
    unsigned low = kiln_two_over_pi[word + 2];
    return shift == 0 ? high : high << shift | low >> (32 - shift);
}

// x = angle + quarter * pi / 2, |angle| <= pi / 4; the quarter counts modulo 4. Exact to 2^-53 of the angle and more.
struct kiln_turn {
    double angle, rest;
    int quarter;
};

// Angles beyond 2^20, by the bits of 2 / pi (Payne and Hanek, "Radian reduction for trigonometric functions").
KILN_DEVICE_OUTLINE kiln_turn kiln_large_turn_f32(float x) {
    unsigned bits = kiln_bits_of_f32(x);
    unsigned long long significand = (bits & 0x7fffffu) | 0x800000u;
    // The product modulo 4 needs the bits of 2 / pi from here on; those before give whole turns.
    int skipped = (int)(bits >> 23 & 0xffu) - 150 - 2;
    unsigned long long head = kiln_two_over_pi_bits(skipped), tail = kiln_two_over_pi_bits(skipped + 64);
    unsigned long long product = significand * head + kiln_high_product_u64(significand, tail);
    int quarter = (int)((product + 0x2000000000000000ull) >> 62);
    double fraction = (double)(long long)(product - ((unsigned long long)quarter << 62));
    double angle = fraction * 3.40612158008655459e-19;
    return (bits >> 31) != 0 ? kiln_turn{-angle, 0.0, -quarter & 3} : kiln_turn{angle, 0.0, quarter & 3};
}

// In double, whose products with a 33-bit part of pi / 2 are exact.
KILN_DEVICE kiln_turn kiln_turn_of_f32(float x) {
    if (kiln_abs_f32(x) > 1048576.0f) return kiln_large_turn_f32(x);
    double wide = (double)x, number = kiln_round_f64(wide * 0.6366197723675814);
    double angle = wide - number * 1.5707963267341256;
    angle = angle - number * 6.077100506506192e-11;
    return {angle, 0.0, (x != x ? 0 : (int)number) & 3};
}

// Sine of the angle and that many quarter turns.
KILN_DEVICE float kiln_sine_f32(float r, int quarter) {
    float square = r * r;
    float curve = kiln_fma_f32(2.72493912e-6f, square, -0.000198400827f);
    curve = kiln_fma_f32(curve, square, 0.00833333187f);
    curve = kiln_fma_f32(curve, square, -0.166666667f);
    float sine = kiln_fma_f32(r * square, curve, r);
    curve = kiln_fma_f32(2.45475361e-5f, square, -0.00138883013f);
    curve = kiln_fma_f32(curve, square, 0.0416666647f);
    float cosine = kiln_fma_f32(square * square, curve, kiln_fma_f32(square, -0.5f, 1.0f));
    float value = (quarter & 1) != 0 ? cosine : sine;
    return (quarter & 2) != 0 ? -value : value;
}

KILN_DEVICE float kiln_sin_f32(float x) {
    if (x == 0.0f) return x;
    if (!(kiln_abs_f32(x) < kiln_f32_of_bits(0x7f800000u))) return kiln_f32_of_bits(0x7fc00000u);
    kiln_turn turn = kiln_turn_of_f32(x);
    return kiln_sine_f32((float)turn.angle, turn.quarter);
}

KILN_DEVICE float kiln_cos_f32(float x) {
    if (!(kiln_abs_f32(x) < kiln_f32_of_bits(0x7f800000u))) return kiln_f32_of_bits(0x7fc00000u);
    kiln_turn turn = kiln_turn_of_f32(x);
    return kiln_sine_f32((float)turn.angle, turn.quarter + 1);
}

// What a power is, given that of the magnitude of a. A negative number has no real power but a whole one; -0 and -inf
// count as the limits of numbers.
KILN_DEVICE double kiln_pow_edges(double a, double b, double power) {
    double infinity = kiln_f64_of_bits(0x7ff0000000000000ull);
    bool whole = kiln_trunc_f64(b) == b, odd = whole && kiln_trunc_f64(b * 0.5) != b * 0.5;
    if (a == 1.0 || b == 0.0 || (kiln_abs_f64(b) == infinity && kiln_abs_f64(a) == 1.0)) return 1.0;
    if (a < 0.0 && a > -infinity && !whole) return kiln_f64_of_bits(0x7ff8000000000000ull);
    bool negative = (kiln_bits_of_f64(a) >> 63) != 0;
    return negative && odd ? -power : power;
}

KILN_DEVICE float kiln_pow_f32(float a, float b) {
    double power = kiln_exp2_f64((double)b * kiln_log2_f64((double)kiln_abs_f32(a)));
    return (float)kiln_pow_edges((double)a, (double)b, (double)(float)power);
}
