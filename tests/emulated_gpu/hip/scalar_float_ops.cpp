// Floating-point arithmetic of the scalar unit, which RDNA4 has (RDNA4 ISA, "SOP1", "SOP2" and "SOPC" instructions).

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/emulated_gpu/hip/float_math.h"
#include "tests/emulated_gpu/hip/lane_math.h"
#include "tests/emulated_gpu/hip/scalarwise.h"

namespace emulated_gpu::hip {
namespace {

/// How a scalar register holds the value; the upper half of one with f16 is 0.
struct Single {
    static constexpr const char* name = "f32";
    static constexpr ValueType type = ValueType::F32;
    static double get(uint64_t bits) { return double{std::bit_cast<float>(static_cast<uint32_t>(bits))}; }
    static uint32_t put(double value) { return std::bit_cast<uint32_t>(static_cast<float>(value)); }
};
struct Half {
    static constexpr const char* name = "f16";
    static constexpr ValueType type = ValueType::F16;
    static double get(uint64_t bits) { return double{half_to_float(static_cast<uint32_t>(bits))}; }
    static uint32_t put(double value) { return double_to_half(value); }
};
struct Integer {
    static constexpr ValueType type = ValueType::B32;
    static double get(uint64_t bits) { return static_cast<double>(static_cast<int32_t>(bits)); }
    static uint32_t put(double value) { return static_cast<uint32_t>(saturate<int32_t>(value)); }
};
struct Natural {
    static constexpr ValueType type = ValueType::B32;
    static double get(uint64_t bits) { return static_cast<double>(static_cast<uint32_t>(bits)); }
    static uint32_t put(double value) { return saturate<uint32_t>(value); }
};
struct UpperHalf {
    static constexpr ValueType type = ValueType::B32;
    static double get(uint64_t bits) { return Half::get(bits >> 16); }
};

/// Subnormal sources (bit 1) or results (bit 2) are flushed where MODE wants it.
uint32_t by_mode(const Step& step, ValueType type, uint64_t bits, uint8_t which) {
    const auto word = static_cast<uint32_t>(bits);
    const FloatMode& mode = step.wave.mode;
    if (type == ValueType::F32 && (mode.denormals_32 & which) == 0) return flush_f32(word);
    if (type == ValueType::F16 && (mode.denormals_16_64 & which) == 0) return flush_f16(word);
    return word;
}

template <class A>
double source_value(const Step& step, size_t source) {
    return A::get(by_mode(step, A::type, step.scalar(source), 1));
}

void require_nearest(const Step& step) {
    if (step.wave.mode.round_32 == 0 && step.wave.mode.round_16_64 == 0) return;
    throw Fault{FaultKind::Trap, "scalar arithmetic that does not round to nearest even is not modelled"};
}

/// Sources and results in double, rounded once.
template <class R, class A, class F, size_t... I>
void run_scalar_float(Step& step, std::index_sequence<I...>) {
    require_nearest(step);
    const bool known = all_scalars_known(step);
    put_scalar(step, by_mode(step, R::type, R::put(F{}(source_value<A>(step, I)...)), 2), known);
}

template <class R, class A, size_t kSources, class F>
void scalar_float(DecoderTable& table, const std::string& name, F /*f*/, bool accumulates = false) {
    table["s_" + name] = [accumulates](Decode& decode) {
        const size_t operands = kSources - (accumulates ? 1 : 0);
        decode.expect_operands(operands + 1, operands + 1);
        decode.op().klass = InstructionClass::Scalar;
        decode.scalar_result(0, ValueType::B32);
        for (size_t i = 1; i <= operands; ++i) {
            decode.source(i, std::is_same_v<A, Half> ? ValueType::F16 : ValueType::F32);
        }
        if (accumulates) decode.register_source(Source::Kind::Scalar, decode.operand(0).index, ValueType::F32, 1);
        decode.op().run = [](Step& step) { run_scalar_float<R, A, F>(step, std::make_index_sequence<kSources>{}); };
    };
}

template <class L>
void add_scalar_arithmetic(DecoderTable& table) {
    const std::string type = std::string("_") + L::name;
    scalar_float<L, L, 2>(table, "add" + type, [](double a, double b) { return a + b; });
    scalar_float<L, L, 2>(table, "sub" + type, [](double a, double b) { return a - b; });
    scalar_float<L, L, 2>(table, "mul" + type, [](double a, double b) { return a * b; });
    scalar_float<L, L, 2>(table, "min_num" + type, [](double a, double b) { return smaller_number(a, b); });
    scalar_float<L, L, 2>(table, "max_num" + type, [](double a, double b) { return larger_number(a, b); });
    scalar_float<L, L, 2>(table, "minimum" + type, [](double a, double b) { return minimum(a, b); });
    scalar_float<L, L, 2>(table, "maximum" + type, [](double a, double b) { return maximum(a, b); });
    scalar_float<L, L, 1>(table, "ceil" + type, [](double a) { return std::ceil(a); });
    scalar_float<L, L, 1>(table, "floor" + type, [](double a) { return std::floor(a); });
    scalar_float<L, L, 1>(table, "trunc" + type, [](double a) { return std::trunc(a); });
    scalar_float<L, L, 1>(table, "rndne" + type, [](double a) { return std::nearbyint(a); });
    const auto fused = [](double a, double b, double c) { return add_to_odd(a * b, c); };
    scalar_float<L, L, 3>(table, "fmac" + type, fused, true);
}

template <class L, class F>
void scalar_float_compare(DecoderTable& table, const std::string& condition, F /*f*/) {
    table["s_cmp_" + condition + "_" + L::name] = [](Decode& decode) {
        decode.expect_operands(2, 2);
        decode.op().klass = InstructionClass::Scalar;
        for (size_t i = 0; i < 2; ++i) {
            decode.source(i, std::is_same_v<L, Half> ? ValueType::F16 : ValueType::F32);
        }
        decode.op().run = [](Step& step) {
            put_scc(step, F{}(source_value<L>(step, 0), source_value<L>(step, 1)), all_scalars_known(step));
        };
    };
}

template <class L>
void add_scalar_compares(DecoderTable& table) {
    using d = double;
    scalar_float_compare<L>(table, "lt", [](d a, d b) { return a < b; });
    scalar_float_compare<L>(table, "eq", [](d a, d b) { return a == b; });
    scalar_float_compare<L>(table, "le", [](d a, d b) { return a <= b; });
    scalar_float_compare<L>(table, "gt", [](d a, d b) { return a > b; });
    scalar_float_compare<L>(table, "lg", [](d a, d b) { return a < b || a > b; });
    scalar_float_compare<L>(table, "ge", [](d a, d b) { return a >= b; });
    scalar_float_compare<L>(table, "o", [](d a, d b) { return !std::isnan(a) && !std::isnan(b); });
    scalar_float_compare<L>(table, "u", [](d a, d b) { return std::isnan(a) || std::isnan(b); });
    scalar_float_compare<L>(table, "nge", [](d a, d b) { return !(a >= b); });
    scalar_float_compare<L>(table, "nlg", [](d a, d b) { return !(a < b || a > b); });
    scalar_float_compare<L>(table, "ngt", [](d a, d b) { return !(a > b); });
    scalar_float_compare<L>(table, "nle", [](d a, d b) { return !(a <= b); });
    scalar_float_compare<L>(table, "neq", [](d a, d b) { return !(a == b); });
    scalar_float_compare<L>(table, "nlt", [](d a, d b) { return !(a < b); });
}

void run_pack_towards_zero(Step& step) {
    const auto narrow = [](double value) { return encode_float(value, kF16, Rounding::Zero); };
    const uint32_t low = narrow(source_value<Single>(step, 0));
    put_scalar(step, low | narrow(source_value<Single>(step, 1)) << 16, all_scalars_known(step));
}

}  // namespace

void add_scalar_float_ops(DecoderTable& table) {
    add_scalar_arithmetic<Single>(table);
    add_scalar_arithmetic<Half>(table);
    add_scalar_compares<Single>(table);
    add_scalar_compares<Half>(table);
    const auto fused = [](double a, double b, double c) { return add_to_odd(a * b, c); };
    scalar_float<Single, Single, 3>(table, "fmamk_f32", fused);
    scalar_float<Single, Single, 3>(table, "fmaak_f32", fused);
    const auto same = [](double a) { return a; };
    scalar_float<Single, Integer, 1>(table, "cvt_f32_i32", same);
    scalar_float<Single, Natural, 1>(table, "cvt_f32_u32", same);
    scalar_float<Integer, Single, 1>(table, "cvt_i32_f32", same);
    scalar_float<Natural, Single, 1>(table, "cvt_u32_f32", same);
    scalar_float<Half, Single, 1>(table, "cvt_f16_f32", same);
    scalar_float<Single, Half, 1>(table, "cvt_f32_f16", same);
    scalar_float<Single, UpperHalf, 1>(table, "cvt_hi_f32_f16", same);
    table["s_cvt_pk_rtz_f16_f32"] = [](Decode& decode) {
        decode_scalar(decode, ValueType::B32, {ValueType::F32, ValueType::F32}, run_pack_towards_zero);
    };
}

}  // namespace emulated_gpu::hip
