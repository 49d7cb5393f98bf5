// The steps of an exact division: v_div_scale, v_div_fmas, v_div_fixup (CDNA ISA, "VOP3 Instructions").

#include <cmath>
#include <limits>

#include "tests/emulated_gpu/hip/lanewise.h"

namespace emulated_gpu::hip {
namespace {

template <class T>
struct FloatBits;
template <>
struct FloatBits<float> {
    using Bits = uint32_t;
    using Room = Lanes32;
    static constexpr int mantissa = 23;
    static constexpr int largest_exponent = 255;
    static constexpr int near_largest = 96;  // a quotient's exponent from here on may overflow
    static constexpr int scale = 64;
    static constexpr int tiny_numerator = 23;
    static constexpr int underflow = -150;
    static constexpr ValueType type = ValueType::F32;
    static const uint32_t* words(const Step& step, size_t i, Room& room) { return step.words(i, room); }
    static uint64_t known(const Step& step, size_t i) { return step.known(i); }
};
template <>
struct FloatBits<double> {
    using Bits = uint64_t;
    using Room = Lanes64;
    static constexpr int mantissa = 52;
    static constexpr int largest_exponent = 2047;
    static constexpr int near_largest = 768;
    static constexpr int scale = 128;
    static constexpr int tiny_numerator = 53;
    static constexpr int underflow = -1075;
    static constexpr ValueType type = ValueType::F64;
    static const uint64_t* words(const Step& step, size_t i, Room& room) { return step.double_words(i, room); }
    static uint64_t known(const Step& step, size_t i) { return step.known(i, 2); }
};

/// The biased exponent.
template <class T>
int exponent(T value) {
    const auto bits = std::bit_cast<typename FloatBits<T>::Bits>(value);
    return static_cast<int>(bits >> FloatBits<T>::mantissa) & FloatBits<T>::largest_exponent;
}
template <class T>
bool is_subnormal(T value) {
    return std::fpclassify(value) == FP_SUBNORMAL;
}

/// Scales `value`, which is the denominator or the numerator, so that no step of the division leaves the range;
/// `scaled` tells v_div_fmas to undo it. Where both 1/d and n/d are subnormal the denominator has to shrink: the
/// manual's positive scale would overflow it.
template <class T>
T scale_for_division(T value, T denominator, T numerator, bool& scaled) {
    using F = FloatBits<T>;
    if (numerator == 0 || denominator == 0) return std::numeric_limits<T>::quiet_NaN();
    const auto is = [](T a, T b) { return std::bit_cast<typename F::Bits>(a) == std::bit_cast<typename F::Bits>(b); };
    const bool is_denominator = is(value, denominator);
    if (exponent(numerator) - exponent(denominator) >= F::near_largest) {
        scaled = true;
        return is_denominator ? std::ldexp(value, F::scale) : value;
    }
    if (is_subnormal(denominator)) return std::ldexp(value, F::scale);
    const bool small_reciprocal = is_subnormal(T(1) / denominator);
    const bool small_quotient = is_subnormal(numerator / denominator);
    if (small_reciprocal && small_quotient) {
        scaled = true;
        return is_denominator ? std::ldexp(value, -F::scale) : value;
    }
    if (small_reciprocal) return std::ldexp(value, -F::scale);
    if (small_quotient) {
        scaled = true;
        return is(value, numerator) ? std::ldexp(value, F::scale) : value;
    }
    if (exponent(numerator) <= F::tiny_numerator) return std::ldexp(value, F::scale);
    return value;
}

template <class T>
T fix_quotient(T quotient, T denominator, T numerator) {
    using F = FloatBits<T>;
    const bool negative = std::signbit(denominator) != std::signbit(numerator);
    const auto with_sign = [&](T magnitude) { return negative ? -magnitude : magnitude; };
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    if (std::isnan(numerator)) return numerator + numerator;
    if (std::isnan(denominator)) return denominator + denominator;
    if (numerator == 0 && denominator == 0) return -std::numeric_limits<T>::quiet_NaN();
    if (std::isinf(numerator) && std::isinf(denominator)) return -std::numeric_limits<T>::quiet_NaN();
    if (denominator == 0 || std::isinf(numerator)) return with_sign(kInfinity);
    if (std::isinf(denominator) || numerator == 0) return with_sign(0);
    if (exponent(numerator) - exponent(denominator) < F::underflow) return with_sign(0);
    // Steps of a quotient that overflows end in infinity minus infinity.
    return with_sign(std::isnan(quotient) ? kInfinity : std::fabs(quotient));
}

template <class T>
void run_scale(Step& step) {
    using F = FloatBits<T>;
    typename F::Room rooms[3];
    const auto* value = F::words(step, 0, rooms[0]);
    const auto* denominator = F::words(step, 1, rooms[1]);
    const auto* numerator = F::words(step, 2, rooms[2]);
    typename F::Room out;
    uint64_t scaled_lanes = 0;
    for (uint32_t i = 0; i < kLanes; ++i) {
        bool scaled = false;
        out.at[i] = std::bit_cast<typename F::Bits>(scale_for_division(
            std::bit_cast<T>(value[i]), std::bit_cast<T>(denominator[i]), std::bit_cast<T>(numerator[i]), scaled));
        scaled_lanes |= uint64_t{scaled} << i;
    }
    const uint64_t known = F::known(step, 0) & F::known(step, 1) & F::known(step, 2);
    store_lanes(step, out, known);
    step.put_mask(step.op.scalar_result, scaled_lanes, known);
}

/// The last multiplication and addition; VCC tells where the scale is undone, up or down by the quotient's size.
template <class T>
void run_scaled_fma(Step& step) {
    using F = FloatBits<T>;
    typename F::Room rooms[3];
    const auto* a = F::words(step, 0, rooms[0]);
    const auto* b = F::words(step, 1, rooms[1]);
    const auto* c = F::words(step, 2, rooms[2]);
    const uint64_t scaled = step.scalar(3);
    typename F::Room out;
    fma_lanes(a, b, c, out.at);
    for_lanes(scaled, [&](uint32_t i) {
        const bool large = exponent(std::bit_cast<T>(c[i])) > F::largest_exponent / 2;
        // One rounding: fma of scaled operands would round twice where the result is subnormal.
        const long double sum = static_cast<long double>(std::bit_cast<T>(a[i])) * std::bit_cast<T>(b[i]) +
                                static_cast<long double>(std::bit_cast<T>(c[i]));
        const T result = std::is_same_v<T, float>
                             ? static_cast<T>(std::ldexp(sum, large ? F::scale : -F::scale))
                             : std::ldexp(std::bit_cast<T>(out.at[i]), large ? F::scale : -F::scale);
        out.at[i] = std::bit_cast<typename F::Bits>(result);
    });
    const uint64_t known = F::known(step, 0) & F::known(step, 1) & F::known(step, 2) & step.scalar_known(3);
    store_lanes(step, out, known);
}

template <class T>
void add_division(DecoderTable& table, const std::string& type) {
    constexpr ValueType kType = FloatBits<T>::type;
    table["v_div_scale_" + type] = [](Decode& decode) {
        decode.expect_operands(5, 5);
        decode.op().klass = InstructionClass::VectorFloat;
        decode.result(0, kType);
        decode.scalar_result(1, decode.mask_type());
        for (size_t i = 2; i < 5; ++i) decode.source(i, kType);
        decode.take_vector_modifiers();
        decode.op().run = run_scale<T>;
    };
    table["v_div_fmas_" + type] = [](Decode& decode) {
        decode_vector(decode, InstructionClass::VectorFloat, kType, {kType, kType, kType});
        decode.register_source(Source::Kind::Scalar, kVcc, decode.mask_type(), registers_of(decode.mask_type()));
        decode.op().run = run_scaled_fma<T>;
    };
}

}  // namespace

void add_division_ops(DecoderTable& table) {
    add_division<float>(table, "f32");
    add_division<double>(table, "f64");
    lanewise<F32, F32, F32, F32>(table, "v_div_fixup_f32", InstructionClass::VectorFloat,
                                 [](float a, float b, float c) { return fix_quotient(a, b, c); });
    lanewise<F64, F64, F64, F64>(table, "v_div_fixup_f64", InstructionClass::VectorFloat,
                                 [](double a, double b, double c) { return fix_quotient(a, b, c); });
    const auto half = [](double a, double b, double c) {
        return fix_quotient(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c));
    };
    lanewise_in_half<F16, F16, F16, F16>(table, "v_div_fixup_f16", InstructionClass::VectorFloat, half);
    lanewise<F16, F16, F16, F16>(table, "v_div_fixup_legacy_f16", InstructionClass::VectorFloat, half);
}

}  // namespace emulated_gpu::hip
