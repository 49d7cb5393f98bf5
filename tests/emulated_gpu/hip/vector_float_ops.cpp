// Floating-point arithmetic of vector registers.

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/emulated_gpu/hip/float_math.h"
#include "tests/emulated_gpu/hip/lanewise.h"

namespace emulated_gpu::hip {
namespace {

constexpr auto kFloat = InstructionClass::VectorFloat;
constexpr auto kTranscendental = InstructionClass::Transcendental;
constexpr double kTurn = 6.283185307179586476925286766559;

/// a * b + c rounded to f16 once: the product is exact in double, the sum is rounded to odd.
double half_fma(double a, double b, double c) {
    return add_to_odd(a * b, c);
}

/// Transcendental f32 instructions take and give no subnormal numbers.
template <class F>
float without_subnormals(float value, F f) {
    return flush_subnormal(f(flush_subnormal(value)));
}

float fraction(float value) {
    const float part = value - std::floor(value);
    return part >= 1.0F ? 0x1.fffffep-1F : part;
}

double fraction(double value) {
    const double part = value - std::floor(value);
    return part >= 1.0 ? 0x1.fffffffffffffp-1 : part;
}

int exponent_of(double value) {
    if (!std::isfinite(value) || value == 0) return 0;
    int exponent = 0;
    std::frexp(value, &exponent);
    return exponent;
}

double mantissa_of(double value) {
    if (!std::isfinite(value)) return value;
    int exponent = 0;
    return std::frexp(value, &exponent);
}

template <class L>
void add_basic(DecoderTable& table, const std::string& type) {
    using T = typename L::Value;
    lanewise<L, L, L>(table, "v_add_" + type, kFloat, [](T a, T b) { return a + b; });
    lanewise<L, L, L>(table, "v_sub_" + type, kFloat, [](T a, T b) { return a - b; });
    lanewise<L, L, L>(table, "v_subrev_" + type, kFloat, [](T a, T b) { return b - a; });
    lanewise<L, L, L>(table, "v_mul_" + type, kFloat, [](T a, T b) { return a * b; });
    lanewise<L, L, L>(table, "v_min_" + type, kFloat, [](T a, T b) { return smaller_number(a, b); });
    lanewise<L, L, L>(table, "v_max_" + type, kFloat, [](T a, T b) { return larger_number(a, b); });
    lanewise<L, L>(table, "v_floor_" + type, kFloat, [](T a) { return std::floor(a); });
    lanewise<L, L>(table, "v_ceil_" + type, kFloat, [](T a) { return std::ceil(a); });
    lanewise<L, L>(table, "v_trunc_" + type, kFloat, [](T a) { return std::trunc(a); });
    lanewise<L, L>(table, "v_rndne_" + type, kFloat, [](T a) { return std::nearbyint(a); });
    lanewise<L, L>(table, "v_fract_" + type, kFloat, [](T a) { return fraction(a); });
    lanewise<L, L>(table, "v_frexp_mant_" + type, kFloat,
                   [](T a) { return static_cast<T>(mantissa_of(static_cast<double>(a))); });
}

template <class L>
void add_ternary(DecoderTable& table, const std::string& type) {
    using T = typename L::Value;
    lanewise<L, L, L, L>(table, "v_min3_" + type, kFloat,
                         [](T a, T b, T c) { return smaller_number(smaller_number(a, b), c); });
    lanewise<L, L, L, L>(table, "v_max3_" + type, kFloat,
                         [](T a, T b, T c) { return larger_number(larger_number(a, b), c); });
    lanewise<L, L, L, L>(table, "v_med3_" + type, kFloat, [](T a, T b, T c) { return median_number(a, b, c); });
}

template <class Room>
void run_fma(Step& step) {
    Room rooms[3];
    Room out;
    if constexpr (std::is_same_v<Room, Lanes64>)
        fma_lanes(step.double_words(0, rooms[0]), step.double_words(1, rooms[1]), step.double_words(2, rooms[2]),
                  out.at);
    else
        fma_lanes(step.words(0, rooms[0]), step.words(1, rooms[1]), step.words(2, rooms[2]), out.at);
    store_lanes(step, out, step.all_known());
}

void add_fma(DecoderTable& table, const std::string& name, ValueType type, Handler handler) {
    table[name] = [=](Decode& decode) {
        decode_vector(decode, kFloat, type, {type, type, type});
        decode.op().run = handler;
    };
}

/// v_fmac and v_mac: the result is the third source too.
void add_accumulating(DecoderTable& table, const std::string& name, ValueType type, Handler handler) {
    table[name] = [=](Decode& decode) {
        decode.expect_operands(3, 3);
        decode.op().klass = kFloat;
        decode.op().needs_lanes = true;
        decode.result(0, type);
        decode.source(1, type);
        decode.source(2, type);
        decode.register_source(Source::Kind::Vector, decode.operand(0).index, type, registers_of(type));
        decode.take_vector_modifiers();
        decode.op().run = handler;
    };
}

/// v_madmk: a * constant + b; v_madak: a * b + constant.
void add_fused(DecoderTable& table) {
    add_fma(table, "v_fma_f32", ValueType::F32, run_fma<Lanes32>);
    add_fma(table, "v_fma_f64", ValueType::F64, run_fma<Lanes64>);
    add_accumulating(table, "v_fmac_f32", ValueType::F32, run_fma<Lanes32>);
    add_accumulating(table, "v_fmac_f64", ValueType::F64, run_fma<Lanes64>);
    for (const char* name : {"v_fmamk_f32", "v_fmaak_f32"}) add_fma(table, name, ValueType::F32, run_fma<Lanes32>);
    const auto half = [](double a, double b, double c) { return half_fma(a, b, c); };
    lanewise_in_half<F16, F16, F16, F16>(table, "v_fma_f16", kFloat, half);
    lanewise<F16, F16, F16, F16>(table, "v_fma_legacy_f16", kFloat, half);
    for (const char* name : {"v_fmamk_f16", "v_fmaak_f16"}) lanewise<F16, F16, F16, F16>(table, name, kFloat, half);
    add_accumulating(table, "v_fmac_f16", ValueType::F16, run_lanewise<decltype(half), F16, F16, F16, F16>);
    // Zero times anything is zero.
    const auto zero_rule = [](float a, float b, float c) { return a == 0 || b == 0 ? c : std::fma(a, b, c); };
    lanewise<F32, F32, F32, F32>(table, "v_fma_dx9_zero_f32", kFloat, zero_rule);
    add_accumulating(table, "v_fmac_dx9_zero_f32", ValueType::F32,
                     run_lanewise<decltype(zero_rule), F32, F32, F32, F32>);
    // v_mad rounds and flushes between multiplication and addition.
    const auto mad = [](float a, float b, float c) {
        return flush_subnormal(flush_subnormal(flush_subnormal(a) * flush_subnormal(b)) + flush_subnormal(c));
    };
    for (const char* name : {"v_mad_f32", "v_madmk_f32", "v_madak_f32"}) {
        lanewise<F32, F32, F32, F32>(table, name, kFloat, mad);
    }
    add_accumulating(table, "v_mac_f32", ValueType::F32, run_lanewise<decltype(mad), F32, F32, F32, F32>);
}

void add_scaling(DecoderTable& table) {
    lanewise<F32, F32, I32>(table, "v_ldexp_f32", kFloat, [](float a, int32_t b) {
        return static_cast<float>(std::ldexp(static_cast<double>(a), std::clamp(b, -1000, 1000)));
    });
    lanewise<F64, F64, I32>(table, "v_ldexp_f64", kFloat,
                            [](double a, int32_t b) { return std::ldexp(a, std::clamp(b, -5000, 5000)); });
    lanewise<F16, F16, I16>(table, "v_ldexp_f16", kFloat,
                            [](double a, int16_t b) { return std::ldexp(a, std::clamp<int>(b, -100, 100)); });
    lanewise<I32, F32>(table, "v_frexp_exp_i32_f32", kFloat,
                       [](float a) { return exponent_of(static_cast<double>(a)); });
    lanewise<I32, F64>(table, "v_frexp_exp_i32_f64", kFloat, [](double a) { return exponent_of(a); });
    lanewise<I16, F16>(table, "v_frexp_exp_i16_f16", kFloat,
                       [](double a) { return static_cast<int16_t>(exponent_of(a)); });
    lanewise<F32, F32, F32>(table, "v_mul_legacy_f32", kFloat,
                            [](float a, float b) { return a == 0 || b == 0 ? 0.0F : a * b; });
}

void add_transcendental(DecoderTable& table) {
    const auto single = [&](const std::string& name, auto f) { lanewise<F32, F32>(table, name, kTranscendental, f); };
    for (const char* name : {"v_rcp_f32", "v_rcp_iflag_f32"}) {
        single(name, [](float a) { return without_subnormals(a, [](float x) { return 1.0F / x; }); });
    }
    single("v_rsq_f32", [](float a) {
        return without_subnormals(a, [](float x) { return static_cast<float>(1.0 / std::sqrt(double{x})); });
    });
    single("v_sqrt_f32", [](float a) { return without_subnormals(a, [](float x) { return std::sqrt(x); }); });
    single("v_exp_f32", [](float a) { return without_subnormals(a, [](float x) { return std::exp2(x); }); });
    single("v_log_f32", [](float a) { return without_subnormals(a, [](float x) { return std::log2(x); }); });
    single("v_sin_f32", [](float a) { return static_cast<float>(std::sin(kTurn * double{a})); });
    single("v_cos_f32", [](float a) { return static_cast<float>(std::cos(kTurn * double{a})); });
    // Approximations of 2^-29 at least (CDNA ISA, V_RCP_F64): what refines them has to do so here too.
    const auto rough = [](double value) {
        return static_cast<double>(std::bit_cast<double>(std::bit_cast<uint64_t>(value) & ~uint64_t{0x3f'ffff}));
    };
    static_assert(std::is_empty_v<decltype(rough)>);
    lanewise<F64, F64>(table, "v_rcp_f64", kTranscendental, [](double a) { return decltype(rough){}(1.0 / a); });
    lanewise<F64, F64>(table, "v_rsq_f64", kTranscendental,
                       [](double a) { return decltype(rough){}(1.0 / std::sqrt(a)); });
    lanewise<F64, F64>(table, "v_sqrt_f64", kTranscendental, [](double a) { return decltype(rough){}(std::sqrt(a)); });
    lanewise<F16, F16>(table, "v_rcp_f16", kTranscendental, [](double a) { return divide_to_odd(1.0, a); });
    lanewise<F16, F16>(table, "v_rsq_f16", kTranscendental, [](double a) { return 1.0 / std::sqrt(a); });
    lanewise<F16, F16>(table, "v_sqrt_f16", kTranscendental, [](double a) { return std::sqrt(a); });
    lanewise<F16, F16>(table, "v_exp_f16", kTranscendental, [](double a) { return std::exp2(a); });
    lanewise<F16, F16>(table, "v_log_f16", kTranscendental, [](double a) { return std::log2(a); });
    lanewise<F16, F16>(table, "v_sin_f16", kTranscendental, [](double a) { return std::sin(kTurn * a); });
    lanewise<F16, F16>(table, "v_cos_f16", kTranscendental, [](double a) { return std::cos(kTurn * a); });
}

}  // namespace

void add_vector_float_ops(DecoderTable& table) {
    add_basic<F32>(table, "f32");
    add_basic<F64>(table, "f64");
    add_basic<F16>(table, "f16");
    add_ternary<F32>(table, "f32");
    add_ternary<F16>(table, "f16");
    add_fused(table);
    add_scaling(table);
    add_transcendental(table);
}

}  // namespace emulated_gpu::hip
