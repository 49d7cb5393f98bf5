// Transcendental functions of f64. Where codegen/cpu/vector_math.cpp has them they are the same operations; sine,
// cosine, erf and pow carry a second double where one is too short.

KILN_DEVICE double kiln_scale_f64(double value, int n) {
    int first = n >> 1;
    return value * kiln_f64_of_bits((unsigned long long)(first + 1023) << 52) *
           kiln_f64_of_bits((unsigned long long)(n - first + 1023) << 52);
}

// 2^r on |r| <= 0.5
KILN_DEVICE double kiln_exp2_reduced_f64(double r) {
    double curve = kiln_fma_f64(2.573788821850814251e-11, r, 4.4558200254165224807e-10);
    curve = kiln_fma_f64(curve, r, 7.0548914165187983269e-9);
    curve = kiln_fma_f64(curve, r, 1.0178057075772005361e-7);
    curve = kiln_fma_f64(curve, r, 1.3215486823422820243e-6);
    curve = kiln_fma_f64(curve, r, 0.000015252733841580183972);
    curve = kiln_fma_f64(curve, r, 0.00015403530393354641622);
    curve = kiln_fma_f64(curve, r, 0.001333355814640645223);
    curve = kiln_fma_f64(curve, r, 0.0096181291076284866713);
    curve = kiln_fma_f64(curve, r, 0.05550410866482162709);
    curve = kiln_fma_f64(curve, r, 0.24022650695910071224);
    curve = kiln_fma_f64(curve, r, 0.69314718055994530925);
    return kiln_fma_f64(r, curve, 1.0);
}

KILN_DEVICE double kiln_exp2_f64(double x) {
    double inside = x > 1024.0 ? 1024.0 : x < -1075.0 ? -1075.0 : x;
    double n = kiln_round_f64(inside);
    return kiln_scale_f64(kiln_exp2_reduced_f64(inside - n), x != x ? 0 : (int)n);
}

// e^(x - n * ln(2))
KILN_DEVICE double kiln_exp_reduced_f64(double x, double n) {
    double r = kiln_fma_f64(n, -0.6931467056274414, x);
    r = kiln_fma_f64(n, -4.7493250390316726e-07, r);
    double curve = kiln_fma_f64(2.092156367495148543e-9, r, 2.5105217508571736591e-8);
    curve = kiln_fma_f64(curve, r, 2.7557252991002839769e-7);
    curve = kiln_fma_f64(curve, r, 2.7557255398926736741e-6);
    curve = kiln_fma_f64(curve, r, 0.000024801587347255814024);
    curve = kiln_fma_f64(curve, r, 0.00019841269874821688799);
    curve = kiln_fma_f64(curve, r, 0.0013888888888874434539);
    curve = kiln_fma_f64(curve, r, 0.0083333333333261348046);
    curve = kiln_fma_f64(curve, r, 0.041666666666666683742);
    curve = kiln_fma_f64(curve, r, 0.16666666666666670991);
    curve = kiln_fma_f64(curve, r, 0.49999999999999999997);
    return 1.0 + kiln_fma_f64(r * r, curve, r);
}

KILN_DEVICE double kiln_exp_f64(double x) {
    double inside = x > 710.0 ? 710.0 : x < -746.0 ? -746.0 : x;
    double n = kiln_round_f64(inside * 1.4426950408889634);
    return kiln_scale_f64(kiln_exp_reduced_f64(inside, n), x != x ? 0 : (int)n);
}

// x = (1 + fraction) * 2^exponent, the fraction counted from sqrt(1/2), for x > 0.
struct kiln_parts_f64 {
    double fraction, exponent;
};

KILN_DEVICE kiln_parts_f64 kiln_take_apart_f64(double x) {
    bool small = x < 2.2250738585072014e-308;
    unsigned long long offset = kiln_bits_of_f64(small ? x * 18014398509481984.0 : x) - 0x3fe6a09e667f3bcdull;
    double significand = kiln_f64_of_bits((offset & 0xfffffffffffffull) + 0x3fe6a09e667f3bcdull);
    return {significand - 1.0, (double)((int)((long long)offset >> 52) - (small ? 54 : 0))};
}

KILN_DEVICE double kiln_log_edges_f64(double x, double value) {
    if (!(x >= 0.0)) return kiln_f64_of_bits(0x7ff8000000000000ull);
    if (x == 0.0) return kiln_f64_of_bits(0xfff0000000000000ull);
    return kiln_isinf_f64(x) ? x : value;
}

// log(1 + f) = f - half_square + s * inner, s = f / (2 + f)
struct kiln_log_f64_parts {
    double half_square, s, inner;
};

KILN_DEVICE kiln_log_f64_parts kiln_log_reduced_f64(double f) {
    double s = f / (f + 2.0), z = s * s;
    double curve = kiln_fma_f64(0.14617996479849945105, z, 0.15331587046631030031);
    curve = kiln_fma_f64(curve, z, 0.18182893513701061718);
    curve = kiln_fma_f64(curve, z, 0.22222211068837020622);
    curve = kiln_fma_f64(curve, z, 0.28571428626423518385);
    curve = kiln_fma_f64(curve, z, 0.39999999999898391844);
    curve = kiln_fma_f64(curve, z, 0.66666666666666697309);
    double half_square = 0.5 * (f * f);
    return {half_square, s, kiln_fma_f64(z, curve, half_square)};
}

KILN_DEVICE double kiln_log_f64(double x) {
    kiln_parts_f64 parts = kiln_take_apart_f64(x);
    kiln_log_f64_parts part = kiln_log_reduced_f64(parts.fraction);
    double tail = part.s * part.inner + parts.exponent * 4.7493250390316726e-07;
    double sum = parts.fraction - (part.half_square - tail);
    return kiln_log_edges_f64(x, kiln_fma_f64(parts.exponent, 0.6931467056274414, sum));
}

// The leading part of the logarithm is cut to 21 bits, so that its product with that of log2(e) is exact.
KILN_DEVICE double kiln_log2_f64(double x) {
    kiln_parts_f64 parts = kiln_take_apart_f64(x);
    kiln_log_f64_parts part = kiln_log_reduced_f64(parts.fraction);
    double head = parts.fraction - part.half_square;
    head = kiln_f64_of_bits(kiln_bits_of_f64(head) & 0xffffffff00000000ull);
    double rest = parts.fraction - head - part.half_square;
    rest = rest + part.s * part.inner;
    double high = head * 1.4426946640014648;
    double low = (rest + head) * 3.768874985636099e-07 + rest * 1.4426946640014648;
    double sum = parts.exponent + high;
    low = low + (parts.exponent - sum + high);
    return kiln_log_edges_f64(x, low + sum);
}

KILN_DEVICE double kiln_rsqrt_f64(double x) {
    return 1.0 / kiln_sqrt_f64(x);
}

KILN_DEVICE double kiln_tanh_f64(double x) {
    double a = kiln_abs_f64(x), square = a * a;
    double curve = kiln_fma_f64(-2.4453689218555043563e-6, square, 0.000012225245626947998309);
    curve = kiln_fma_f64(curve, square, -0.000037096784312677523698);
    curve = kiln_fma_f64(curve, square, 0.000096050349621990030523);
    curve = kiln_fma_f64(curve, square, -0.00023889290500846263865);
    curve = kiln_fma_f64(curve, square, 0.00058998266920502182372);
    curve = kiln_fma_f64(curve, square, -0.0014558285402738584431);
    curve = kiln_fma_f64(curve, square, 0.0035921275228119203838);
    curve = kiln_fma_f64(curve, square, -0.0088632355008463408468);
    curve = kiln_fma_f64(curve, square, 0.021869488535175509192);
    curve = kiln_fma_f64(curve, square, -0.053968253968236785767);
    curve = kiln_fma_f64(curve, square, 0.13333333333333321486);
    curve = kiln_fma_f64(curve, square, -0.3333333333333333332);
    double near = kiln_fma_f64(a * square, curve, a);
    double doubled = a + a > 40.0 ? 40.0 : a + a;
    double far = 1.0 - 2.0 / (kiln_exp_f64(doubled) + 1.0);
    return x != x ? x : kiln_with_sign_of_f64(a < 0.625 ? near : far, x);
}

// erf(x) / x - 1 in x^2 on |x| <= 1, 2^-68.7.
KILN_DEVICE double kiln_erf_curve_f64(double square) {
    double curve = kiln_fma_f64(-4.2309458242953378173e-12, square, 8.7090451290531066896e-11);
    curve = kiln_fma_f64(curve, square, -1.2164560057283450081e-9);
    curve = kiln_fma_f64(curve, square, 1.4792401209404813002e-8);
    curve = kiln_fma_f64(curve, square, -1.6364642158167615302e-7);
    curve = kiln_fma_f64(curve, square, 1.6462045441468418937e-6);
    curve = kiln_fma_f64(curve, square, -0.000014925647567519332125);
    curve = kiln_fma_f64(curve, square, 0.0001205533290288873541);
    curve = kiln_fma_f64(curve, square, -0.00085483270219348295955);
    curve = kiln_fma_f64(curve, square, 0.0052239776254232983087);
    curve = kiln_fma_f64(curve, square, -0.026866170645129840806);
    curve = kiln_fma_f64(curve, square, 0.11283791670955120236);
    curve = kiln_fma_f64(curve, square, -0.37612638903183752379);
    return kiln_fma_f64(curve, square, 0.12837916709551257389);
}

// e^(x^2) * erfc(x), around the middle of 1 ... 2, 2 ... 3.5 and 3.5 ... 6: 2^-57, 2^-54.8, 2^-45.4 absolute, by which
// e^(-x^2) is multiplied.
KILN_TABLE double kiln_erfc_curves[3][16] = {
    {0.32158541645431749621, -0.16362291773256006523, 0.076151039855480545684, -0.03293090529956346485,
     0.013377340952802834717, -0.0051459575479159882185, 0.0018861348854630825149, -0.0006619300686179932735,
     0.00022330981211640023662, -0.000072658887595578820308, 0.000022865436588746029744, -6.9752858549045046822e-6,
     2.0616890651298810022e-6, -5.9469983739505153684e-7, 1.8038197652346405562e-7, -4.9328442020002608618e-8},
    {0.19366209627906865176, -0.063237637560634835832, 0.019758592987328970939, -0.005934337896999284732,
     0.0017195818850614619943, -0.00048219508493226542881, 0.0001311818037632168961, -0.000034698610270387152452,
     8.9401335439173375808e-6, -2.2473686108831610196e-6, 5.5206070703455558926e-7, -1.3264363071840676071e-7,
     3.103266553704028081e-8, -7.1621105545635781372e-9, 1.8193719942100449723e-9, -4.0299892437854227287e-10},
    {0.11630270721026410862, -0.023503448598165916201, 0.0046613263679190340808, -0.00090809889685633441949,
     0.00017392831480289403204, -0.000032775782905994041536, 6.0810734034142637244e-6, -1.1115609470604206917e-6,
     2.0036663468155426907e-7, -3.5608039480012834684e-8, 6.1733155089324387046e-9, -1.0693784384105536623e-9,
     2.1605238078652919203e-10, -3.6371683227863338815e-11, 0.0, 0.0}};

KILN_DEVICE_OUTLINE double kiln_erf_f64(double x) {
    double a = kiln_abs_f64(x);
    if (x != x) return x;
    if (a < 1.0) return kiln_fma_f64(x, kiln_erf_curve_f64(x * x), x);
    if (a >= 6.0) return x < 0.0 ? -1.0 : 1.0;
    int piece = a < 2.0 ? 0 : a < 3.5 ? 1 : 2;
    double offset = a - (piece == 0 ? 1.5 : piece == 1 ? 2.75 : 4.75), curve = kiln_erfc_curves[piece][15];
    for (int i = 14; i >= 0; --i) curve = kiln_fma_f64(curve, offset, kiln_erfc_curves[piece][i]);
    return kiln_with_sign_of_f64(1.0 - kiln_exp_f64(-a * a) * curve, x);
}

// The angle is the bits of the product with 2 / pi behind the quarters, as a sum of two doubles.
KILN_DEVICE_OUTLINE kiln_turn kiln_turn_of_f64(double x) {
    unsigned long long bits = kiln_bits_of_f64(x);
    if (kiln_abs_f64(x) < 0.78539816339744828) return {x, 0.0, 0};
    unsigned long long significand = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
    int skipped = (int)(bits >> 52 & 0x7ffull) - 1075 - 2;
    unsigned long long first = kiln_two_over_pi_bits(skipped), second = kiln_two_over_pi_bits(skipped + 64);
    unsigned long long third = kiln_two_over_pi_bits(skipped + 128);
    unsigned long long low = significand * second + kiln_high_product_u64(significand, third);
    unsigned long long carry = low < significand * second ? 1ull : 0ull;
    unsigned long long high = significand * first + kiln_high_product_u64(significand, second) + carry;
    int quarter = (int)((high + 0x2000000000000000ull) >> 62);
    high -= (unsigned long long)quarter << 62;
    // The fraction's magnitude, moved up until its first bit leads.
    bool negative = (high >> 63) != 0;
    if (negative) {
        low = ~low;
        high = ~high;
    }
    int shift = high == 0 ? 64 + kiln_clz_u64(low) : kiln_clz_u64(high);
    if (shift >= 64) {
        high = low << (shift - 64);
        low = 0;
    } else if (shift > 0) {
        high = high << shift | low >> (64 - shift);
        low <<= shift;
    }
    double scale = kiln_f64_of_bits((unsigned long long)(1023 - 62 - shift) << 52);
    double head = (double)(high & 0xfffffffffffff800ull) * scale;
    double rest = ((double)(high & 0x7ffull) + (double)low * 5.421010862427522e-20) * scale;
    // Times pi / 2, the product's error kept.
    double angle = head * 1.5707963267948966;
    double error = kiln_fma_f64(head, 1.5707963267948966, -angle);
    error += head * 6.123233995736766e-17 + rest * 1.5707963267948966;
    if (negative != ((bits >> 63) != 0)) {
        angle = -angle;
        error = -error;
    }
    return {angle, error, (bits >> 63) != 0 ? -quarter & 3 : quarter & 3};
}

// Sine of the angle and that many quarter turns. (sin(x) - x) / x^3 and (cos(x) - 1 + x^2 / 2) / x^4 in x^2 on |x| <=
// pi / 4: 2^-66 and 2^-70.
KILN_DEVICE double kiln_sine_f64(double r, double rest, int quarter) {
    double z = r * r, value;
    if ((quarter & 1) == 0) {
        double curve = kiln_fma_f64(-7.5866368828251596492e-13, z, 1.6058530596645954712e-10);
        curve = kiln_fma_f64(curve, z, -2.5052106225994400694e-8);
        curve = kiln_fma_f64(curve, z, 2.755731921932057977e-6);
        curve = kiln_fma_f64(curve, z, -0.00019841269841265041047);
        curve = kiln_fma_f64(curve, z, 0.008333333333333331481);
        curve = kiln_fma_f64(curve, z, -0.16666666666666666665);
        value = r + kiln_fma_f64(r * z, curve, kiln_fma_f64(-0.5 * z, rest, rest));
    } else {
        double curve = kiln_fma_f64(4.7458384125310229648e-14, z, -1.1470460319209511842e-11);
        curve = kiln_fma_f64(curve, z, 2.0876755787492605948e-9);
        curve = kiln_fma_f64(curve, z, -2.7557319221392490652e-7);
        curve = kiln_fma_f64(curve, z, 0.000024801587301584633141);
        curve = kiln_fma_f64(curve, z, -0.0013888888888888887859);
        curve = kiln_fma_f64(curve, z, 0.041666666666666666666);
        double half = 0.5 * z, head = 1.0 - half;
        value = head + ((1.0 - head - half) + kiln_fma_f64(z * z, curve, -r * rest));
    }
    return (quarter & 2) != 0 ? -value : value;
}

KILN_DEVICE double kiln_sin_f64(double x) {
    if (x == 0.0) return x;
    if (!(kiln_abs_f64(x) < kiln_f64_of_bits(0x7ff0000000000000ull))) return kiln_f64_of_bits(0x7ff8000000000000ull);
    kiln_turn turn = kiln_turn_of_f64(x);
    return kiln_sine_f64(turn.angle, turn.rest, turn.quarter);
}

KILN_DEVICE double kiln_cos_f64(double x) {
    if (!(kiln_abs_f64(x) < kiln_f64_of_bits(0x7ff0000000000000ull))) return kiln_f64_of_bits(0x7ff8000000000000ull);
    kiln_turn turn = kiln_turn_of_f64(x);
    return kiln_sine_f64(turn.angle, turn.rest, turn.quarter + 1);
}

// The sum of two doubles, the second a rounding error of the first.
struct kiln_double_double {
    double high, low;
};

KILN_DEVICE kiln_double_double kiln_product(kiln_double_double a, kiln_double_double b) {
    double high = a.high * b.high;
    double low = kiln_fma_f64(a.high, b.high, -high) + (a.high * b.low + a.low * b.high);
    double sum = high + low;
    return {sum, low - (sum - high)};
}

// log2(x) for x > 0 to some 64 bits: exponent + 2 / ln(2) * s * (1 + z * (1 / 3 + z * curve)) with s = f / (2 + f) and
// z = s^2; the curve has 2^-67.
KILN_DEVICE kiln_double_double kiln_long_log2(double x) {
    kiln_parts_f64 parts = kiln_take_apart_f64(x);
    double f = parts.fraction, divisor = f + 2.0, divisor_error = f - (divisor - 2.0);
    double quotient = f / divisor;
    double remainder = kiln_fma_f64(-quotient, divisor, f) - quotient * divisor_error;
    kiln_double_double s = {quotient, remainder / divisor}, square = kiln_product(s, s);
    double z = square.high;
    double curve = kiln_fma_f64(0.053818107575056299718, z, 0.052280975552007457771);
    curve = kiln_fma_f64(curve, z, 0.058834095108147770042);
    curve = kiln_fma_f64(curve, z, 0.066666481989819166745);
    curve = kiln_fma_f64(curve, z, 0.076923078814540747547);
    curve = kiln_fma_f64(curve, z, 0.090909090898224953034);
    curve = kiln_fma_f64(curve, z, 0.11111111111114234858);
    curve = kiln_fma_f64(curve, z, 0.1428571428571428226);
    curve = kiln_fma_f64(curve, z, 0.20000000000000000001);
    double third = 0.33333333333333331, tail = z * curve, inner = third + tail;
    kiln_double_double series = {inner, 1.850371707708594e-17 + (tail - (inner - third))};
    series = kiln_product(square, series);
    double one = 1.0 + series.high;
    series = {one, series.low + (series.high - (one - 1.0))};
    kiln_double_double log = kiln_product(kiln_product(s, series), {2.8853900817779268, 4.0710547481862066e-17});
    double sum = parts.exponent + log.high;
    double error = log.high - (sum - parts.exponent);
    if (parts.exponent == 0.0) return log;
    return {sum, error + log.low};
}

KILN_DEVICE_OUTLINE double kiln_pow_f64(double a, double b) {
    double base = kiln_abs_f64(a), infinity = kiln_f64_of_bits(0x7ff0000000000000ull);
    if (a != a || b != b) return kiln_pow_edges(a, b, a + b);
    bool grows = (base > 1.0) == (b > 0.0);
    if (base == 0.0 || base == infinity || kiln_abs_f64(b) == infinity) {
        return kiln_pow_edges(a, b, grows ? infinity : 0.0);
    }
    kiln_double_double log = kiln_long_log2(base);
    double product = log.high * b;
    // Far beyond the range nothing but the side counts, and the error below would not be finite.
    if (!(kiln_abs_f64(product) < 2000.0)) return kiln_pow_edges(a, b, grows ? infinity : 0.0);
    double error = kiln_fma_f64(log.high, b, -product) + log.low * b;
    double n = kiln_round_f64(product);
    double power = kiln_exp2_reduced_f64((product - n) + error);
    double inside = n > 1100.0 ? 1100.0 : n < -1200.0 ? -1200.0 : n;
    return kiln_pow_edges(a, b, kiln_scale_f64(power, (int)inside));
}
