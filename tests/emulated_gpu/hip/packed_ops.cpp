// VOP3P: two values in one instruction, mixed precision, and dot products.

#include <algorithm>
#include <cmath>

#include "tests/emulated_gpu/hip/float_math.h"
#include "tests/emulated_gpu/hip/fp8.h"
#include "tests/emulated_gpu/hip/lanewise.h"

namespace emulated_gpu::hip {
namespace {

constexpr auto kPackedFloat = InstructionClass::VectorFloat;
constexpr auto kPackedInteger = InstructionClass::VectorInteger;

/// op_sel, op_sel_hi, neg_lo and neg_hi, one bit for each source.
void take_packed_modifiers(Decode& decode, size_t sources) {
    const uint32_t low = decode.take_bits("op_sel", 0);
    const uint32_t high = decode.take_bits("op_sel_hi", 7);
    const uint32_t negate_low = decode.take_bits("neg_lo", 0);
    const uint32_t negate_high = decode.take_bits("neg_hi", 0);
    for (size_t i = 0; i < sources; ++i) {
        Source& source = decode.op().sources[i];
        source.low_from_high = ((low >> i) & 1) != 0;
        source.high_from_high = ((high >> i) & 1) != 0;
        source.negate_low = ((negate_low >> i) & 1) != 0;
        source.negate_high = ((negate_high >> i) & 1) != 0;
    }
    decode.op().clamp = decode.take_flag("clamp");
}

void decode_packed(Decode& decode, InstructionClass klass, ValueType type, size_t sources, Handler handler) {
    decode.expect_operands(sources + 1, sources + 1);
    decode.op().klass = klass;
    decode.op().needs_lanes = true;
    decode.result(0, type);
    for (size_t i = 1; i <= sources; ++i) decode.source(i, type);
    take_packed_modifiers(decode, sources);
    decode.op().run = handler;
}

/// The 16 bits that one half of the result reads; floats may be negated there.
template <bool kFloats>
uint32_t half_of(const Source& source, uint32_t word, bool high) {
    const bool upper = high ? source.high_from_high : source.low_from_high;
    uint32_t bits = upper ? word >> 16 : word & 0xffff;
    if (kFloats && (high ? source.negate_high : source.negate_low)) bits ^= 0x8000;
    return bits;
}

double clamp_unit(double value) {
    return std::isnan(value) ? 0 : std::clamp(value, 0.0, 1.0);
}

template <class F, bool kFloats, size_t... I>
void run_packed_halves(Step& step, std::index_sequence<I...>) {
    Lanes32 rooms[sizeof...(I)];
    const uint32_t* in[] = {step.raw_words(step.op.sources[I], rooms[I])...};
    Lanes32 out;
    for (uint32_t i = 0; i < kLanes; ++i) {
        uint32_t halves[2];
        for (const bool high : {false, true}) {
            if constexpr (kFloats) {
                double value = F{}(double{half_to_float(half_of<true>(step.op.sources[I], in[I][i], high))}...);
                if (step.op.clamp) value = clamp_unit(value);
                halves[high] = double_to_half(value);
            } else {
                halves[high] = F{}(static_cast<uint16_t>(half_of<false>(step.op.sources[I], in[I][i], high))...);
            }
        }
        out.at[i] = (halves[0] & 0xffff) | halves[1] << 16;
    }
    step.put_raw(step.op.result.index, out.at, step.all_known());
}

template <class F, bool kFloats, size_t kSources>
void run_packed(Step& step) {
    run_packed_halves<F, kFloats>(step, std::make_index_sequence<kSources>{});
}

template <size_t kSources, class F>
void packed_half(DecoderTable& table, const std::string& name, F /*f*/) {
    table[name] = [](Decode& decode) {
        decode_packed(decode, kPackedFloat, ValueType::PackedF16, kSources, run_packed<F, true, kSources>);
    };
}
template <size_t kSources, class F>
void packed_short(DecoderTable& table, const std::string& name, F /*f*/) {
    table[name] = [](Decode& decode) {
        decode_packed(decode, kPackedInteger, ValueType::PackedB16, kSources, run_packed<F, false, kSources>);
    };
}

/// One half of a packed f32 source: a register of its pair.
void packed_f32_words(const Step& step, size_t source, bool high, Lanes32& out) {
    const Source& from = step.op.sources[source];
    Lanes32 room;
    const bool upper = high ? from.high_from_high : from.low_from_high;
    const uint32_t* raw = step.raw_words(from, room, upper ? 1 : 0);
    const uint32_t sign = (high ? from.negate_high : from.negate_low) ? 0x8000'0000 : 0;
    const bool flush = step.wave.special_mode && (step.wave.mode.denormals_32 & 1) == 0;
    for (uint32_t i = 0; i < kLanes; ++i) out.at[i] = (flush ? flush_f32(raw[i]) : raw[i]) ^ sign;
}

/// Lanes in which the registers are initialised that one half of the result reads. v_pk_mov_b32 reads its first source
/// for the low half only and its second for the high half only.
uint64_t half_known(const Step& step, bool high) {
    uint64_t known = kAllLanes;
    const bool moves = step.op.klass == InstructionClass::Move;
    for (size_t i = 0; i < step.op.source_count; ++i) {
        const Source& from = step.op.sources[i];
        if (from.kind == Source::Kind::Constant || (moves && high != (i == 1))) continue;
        const uint32_t index = from.index + ((high ? from.high_from_high : from.low_from_high) ? 1U : 0U);
        if (from.kind == Source::Kind::Vector)
            known &= step.wave.vector_known[index];
        else if (step.wave.scalar_known[index] != ~0U)
            known = 0;
    }
    return known;
}

enum class PairOperation : uint8_t { Fma, Multiply, Add, Move };

/// v_pk_mov_b32 takes its low half from the first source and its high half from the second.
void move_pair(const Step& step, Lanes32* results) {
    Lanes32 room;
    const Source& low = step.op.sources[0];
    const Source& high = step.op.sources[1];
    std::memcpy(results[0].at, step.raw_words(low, room, low.low_from_high ? 1 : 0), sizeof room.at);
    std::memcpy(results[1].at, step.raw_words(high, room, high.high_from_high ? 1 : 0), sizeof room.at);
}

template <PairOperation kOperation>
void run_pair(Step& step) {
    Lanes32 results[2];
    if constexpr (kOperation == PairOperation::Move) {
        move_pair(step, results);
    } else {
        for (const bool high : {false, true}) {
            Lanes32 a;
            Lanes32 b;
            Lanes32& out = results[high];
            packed_f32_words(step, 0, high, a);
            packed_f32_words(step, 1, high, b);
            if constexpr (kOperation == PairOperation::Fma) {
                Lanes32 c;
                packed_f32_words(step, 2, high, c);
                fma_lanes(a.at, b.at, c.at, out.at);
            }
            for (uint32_t i = 0; i < kLanes; ++i) {
                const float x = std::bit_cast<float>(a.at[i]);
                const float y = std::bit_cast<float>(b.at[i]);
                if constexpr (kOperation == PairOperation::Multiply) out.at[i] = std::bit_cast<uint32_t>(x * y);
                if constexpr (kOperation == PairOperation::Add) out.at[i] = std::bit_cast<uint32_t>(x + y);
                if (step.op.clamp) {
                    const double limited = clamp_unit(double{std::bit_cast<float>(out.at[i])});
                    out.at[i] = std::bit_cast<uint32_t>(static_cast<float>(limited));
                }
            }
        }
    }
    const uint64_t known[] = {half_known(step, false), half_known(step, true)};
    for (uint32_t half = 0; half < 2; ++half) step.put_raw(step.op.result.index + half, results[half].at, known[half]);
}

void add_pairs(DecoderTable& table) {
    const auto pair = [&](const std::string& name, size_t sources, InstructionClass klass, Handler handler) {
        table[name] = [=](Decode& decode) { decode_packed(decode, klass, ValueType::PackedF32, sources, handler); };
    };
    pair("v_pk_fma_f32", 3, kPackedFloat, run_pair<PairOperation::Fma>);
    pair("v_pk_mul_f32", 2, kPackedFloat, run_pair<PairOperation::Multiply>);
    pair("v_pk_add_f32", 2, kPackedFloat, run_pair<PairOperation::Add>);
    pair("v_pk_mov_b32", 2, InstructionClass::Move, run_pair<PairOperation::Move>);
}

/// v_pk_fmac_f16: the result is the third source too.
void add_packed_accumulation(DecoderTable& table) {
    table["v_pk_fmac_f16"] = [](Decode& decode) {
        decode.expect_operands(3, 3);
        decode.op().klass = kPackedFloat;
        decode.op().needs_lanes = true;
        decode.result(0, ValueType::PackedF16);
        decode.source(1, ValueType::PackedF16);
        decode.source(2, ValueType::PackedF16);
        decode.register_source(Source::Kind::Vector, decode.operand(0).index, ValueType::PackedF16, 1);
        const auto fused = [](double a, double b, double c) { return add_to_odd(a * b, c); };
        decode.op().run = run_packed<decltype(fused), true, 3>;
    };
}

void add_packed_halves(DecoderTable& table) {
    using d = double;
    const auto smaller = [](d a, d b) { return std::fmin(a, b); };
    const auto larger = [](d a, d b) { return std::fmax(a, b); };
    packed_half<2>(table, "v_pk_add_f16", [](d a, d b) { return a + b; });
    packed_half<2>(table, "v_pk_mul_f16", [](d a, d b) { return a * b; });
    packed_half<3>(table, "v_pk_fma_f16", [](d a, d b, d c) { return add_to_odd(a * b, c); });
    packed_half<2>(table, "v_pk_min_f16", smaller);
    packed_half<2>(table, "v_pk_max_f16", larger);
    packed_half<2>(table, "v_pk_minimum_f16", [](d a, d b) { return minimum(a, b); });
    packed_half<2>(table, "v_pk_maximum_f16", [](d a, d b) { return maximum(a, b); });
    packed_half<3>(table, "v_pk_minimum3_f16", [](d a, d b, d c) { return minimum(minimum(a, b), c); });
    packed_half<3>(table, "v_pk_maximum3_f16", [](d a, d b, d c) { return maximum(maximum(a, b), c); });
    add_packed_accumulation(table);
}

void add_packed_shorts(DecoderTable& table) {
    using u = uint16_t;
    using i = int16_t;
    packed_short<2>(table, "v_pk_add_u16", [](u a, u b) { return static_cast<u>(a + b); });
    packed_short<2>(table, "v_pk_add_i16", [](u a, u b) { return static_cast<u>(a + b); });
    packed_short<2>(table, "v_pk_sub_u16", [](u a, u b) { return static_cast<u>(a - b); });
    packed_short<2>(table, "v_pk_sub_i16", [](u a, u b) { return static_cast<u>(a - b); });
    packed_short<2>(table, "v_pk_mul_lo_u16", [](u a, u b) { return static_cast<u>(uint32_t{a} * b); });
    packed_short<3>(table, "v_pk_mad_u16", [](u a, u b, u c) { return static_cast<u>(uint32_t{a} * b + c); });
    packed_short<3>(table, "v_pk_mad_i16", [](u a, u b, u c) { return static_cast<u>(uint32_t{a} * b + c); });
    packed_short<2>(table, "v_pk_lshlrev_b16", [](u a, u b) { return static_cast<u>(b << (a & 15)); });
    packed_short<2>(table, "v_pk_lshrrev_b16", [](u a, u b) { return static_cast<u>(b >> (a & 15)); });
    packed_short<2>(table, "v_pk_ashrrev_i16", [](u a, u b) { return static_cast<u>(static_cast<i>(b) >> (a & 15)); });
    packed_short<2>(table, "v_pk_min_u16", [](u a, u b) { return std::min(a, b); });
    packed_short<2>(table, "v_pk_max_u16", [](u a, u b) { return std::max(a, b); });
    packed_short<2>(table, "v_pk_min_i16",
                    [](u a, u b) { return static_cast<u>(std::min(static_cast<i>(a), static_cast<i>(b))); });
    packed_short<2>(table, "v_pk_max_i16",
                    [](u a, u b) { return static_cast<u>(std::max(static_cast<i>(a), static_cast<i>(b))); });
}

/// v_fma_mix: each source is f32, or the f16 in the half that op_sel names where op_sel_hi is set; neg_hi is |x|.
double mixed_source(const Source& source, uint32_t word) {
    double value = 0;
    if (!source.high_from_high)
        value = static_cast<double>(std::bit_cast<float>(word));
    else
        value = static_cast<double>(half_to_float(source.low_from_high ? word >> 16 : word));
    if (source.absolute) value = std::fabs(value);
    return source.negate ? -value : value;
}

enum class MixedResult : uint8_t { F32, LowHalf, HighHalf };

template <MixedResult kResult>
void run_mixed(Step& step) {
    Lanes32 rooms[3];
    const uint32_t* in[3];
    for (size_t i = 0; i < 3; ++i) in[i] = step.raw_words(step.op.sources[i], rooms[i]);
    const uint32_t* old = step.wave.vector[step.op.result.index].at;
    Lanes32 out;
    for (uint32_t i = 0; i < kLanes; ++i) {
        const double a = mixed_source(step.op.sources[0], in[0][i]);
        const double b = mixed_source(step.op.sources[1], in[1][i]);
        double value = add_to_odd(a * b, mixed_source(step.op.sources[2], in[2][i]));
        if (step.op.clamp) value = clamp_unit(value);
        if constexpr (kResult == MixedResult::F32) out.at[i] = std::bit_cast<uint32_t>(static_cast<float>(value));
        if constexpr (kResult == MixedResult::LowHalf) out.at[i] = (old[i] & 0xffff0000) | double_to_half(value);
        if constexpr (kResult == MixedResult::HighHalf) out.at[i] = (old[i] & 0xffff) | double_to_half(value) << 16;
    }
    step.put_raw(step.op.result.index, out.at, step.all_known());
}

void add_mixed(DecoderTable& table) {
    const auto mixed = [&](const std::string& name, Handler handler) {
        table[name] = [handler](Decode& decode) {
            decode.expect_operands(4, 4);
            decode.op().klass = kPackedFloat;
            decode.op().needs_lanes = true;
            decode.result(0, ValueType::B32);
            for (size_t i = 1; i < 4; ++i) decode.source(i, ValueType::B32);
            const uint32_t half = decode.take_bits("op_sel_hi", 0);
            const uint32_t upper = decode.take_bits("op_sel", 0);
            for (size_t i = 0; i < 3; ++i) {
                decode.op().sources[i].high_from_high = ((half >> i) & 1) != 0;
                decode.op().sources[i].low_from_high = ((upper >> i) & 1) != 0;
            }
            decode.op().clamp = decode.take_flag("clamp");
            decode.op().run = handler;
        };
    };
    for (const std::string kind : {"fma", "mad"}) {
        mixed("v_" + kind + "_mix_f32", run_mixed<MixedResult::F32>);
        mixed("v_" + kind + "_mixlo_f16", run_mixed<MixedResult::LowHalf>);
        mixed("v_" + kind + "_mixhi_f16", run_mixed<MixedResult::HighHalf>);
    }
}

/// Sums of products of the parts of two words.
template <uint32_t kBits, bool kSigned>
uint32_t dot(uint32_t a, uint32_t b, uint32_t c) {
    for (uint32_t at = 0; at < 32; at += kBits) {
        const uint32_t up = 32 - kBits - at;
        if constexpr (kSigned) {
            const int32_t x = static_cast<int32_t>(a << up) >> (32 - kBits);
            const int32_t y = static_cast<int32_t>(b << up) >> (32 - kBits);
            c += static_cast<uint32_t>(x * y);
        } else {
            c += ((a << up) >> (32 - kBits)) * ((b << up) >> (32 - kBits));
        }
    }
    return c;
}

float dot_halves(uint32_t a, uint32_t b, float c) {
    const double low = double{half_to_float(a)} * half_to_float(b);
    const double high = double{half_to_float(a >> 16)} * half_to_float(b >> 16);
    return static_cast<float>(low + high + double{c});
}

template <class R, class C, class F>
void add_dot(DecoderTable& table, const std::string& name, bool accumulates, F /*f*/) {
    table[name] = [accumulates](Decode& decode) {
        decode.expect_operands(accumulates ? 3 : 4, accumulates ? 3 : 4);
        decode.op().klass = kPackedInteger;
        decode.op().needs_lanes = true;
        decode.result(0, R::type);
        decode.source(1, ValueType::B32);
        decode.source(2, ValueType::B32);
        if (accumulates)
            decode.register_source(Source::Kind::Vector, decode.operand(0).index, R::type, 1);
        else
            decode.source(3, R::type);
        if (decode.take_bits("op_sel_hi", 7) != 7 || decode.take_bits("op_sel", 0) != 0) decode.refuse("op_sel");
        decode.take_vector_modifiers();
        if (decode.op().clamp) decode.refuse("clamp");
        decode.op().run = run_lanewise<F, R, U32, U32, C>;
    };
}

float dot_bf16(uint32_t a, uint32_t b, float c) {
    const double low = double{bf16_to_float(a & 0xffff)} * double{bf16_to_float(b & 0xffff)};
    const double high = double{bf16_to_float(a >> 16)} * double{bf16_to_float(b >> 16)};
    return static_cast<float>(low + high + double{c});
}

template <Fp8 kA, Fp8 kB>
float dot_fp8(uint32_t a, uint32_t b, float c) {
    double sum = double{c};
    for (uint32_t at = 0; at < 32; at += 8) sum += decode_fp8(a >> at & 0xff, kA) * decode_fp8(b >> at & 0xff, kB);
    return static_cast<float>(sum);
}

/// v_dot4_i32_iu8 and v_dot8_i32_iu4: neg_lo tells which operands are signed.
template <uint32_t kBits>
void run_mixed_dot(Step& step) {
    Lanes32 rooms[3];
    const uint32_t* a = step.words(0, rooms[0]);
    const uint32_t* b = step.words(1, rooms[1]);
    const uint32_t* c = step.words(2, rooms[2]);
    const auto part = [](uint32_t word, uint32_t at, bool is_signed) {
        const uint32_t up = word << (32 - kBits - at);
        return is_signed ? int64_t{static_cast<int32_t>(up) >> (32 - kBits)} : int64_t{up >> (32 - kBits)};
    };
    const bool a_signed = (step.op.detail & 1) != 0;
    const bool b_signed = (step.op.detail & 2) != 0;
    Lanes32 out;
    for (uint32_t i = 0; i < kLanes; ++i) {
        int64_t sum = static_cast<int32_t>(c[i]);
        for (uint32_t at = 0; at < 32; at += kBits) sum += part(a[i], at, a_signed) * part(b[i], at, b_signed);
        if (step.op.clamp) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
        out.at[i] = static_cast<uint32_t>(sum);
    }
    step.put_raw(step.op.result.index, out.at, step.all_known());
}

void add_mixed_dot(DecoderTable& table, const std::string& name, Handler handler) {
    table[name] = [handler](Decode& decode) {
        decode.expect_operands(4, 4);
        decode.op().klass = kPackedInteger;
        decode.op().needs_lanes = true;
        decode.op().detail = decode.take_bits("neg_lo", 0);
        decode.op().clamp = decode.take_flag("clamp");
        decode.result(0, ValueType::B32);
        for (size_t i = 1; i < 4; ++i) decode.source(i, ValueType::B32);
        decode.op().run = handler;
    };
}

/// RDNA's sums of two products of halves, in the halves' own type.
void add_half_dots(DecoderTable& table) {
    lanewise<F16, U32, U32, F16>(table, "v_dot2_f16_f16", kPackedFloat, [](uint32_t a, uint32_t b, double c) {
        return double{half_to_float(a)} * double{half_to_float(b)} +
               double{half_to_float(a >> 16)} * double{half_to_float(b >> 16)} + c;
    });
    lanewise<U16, U32, U32, U16>(table, "v_dot2_bf16_bf16", kPackedFloat, [](uint32_t a, uint32_t b, uint16_t c) {
        return static_cast<uint16_t>(float_to_bf16(dot_bf16(a, b, bf16_to_float(c))));
    });
}

void add_dots(DecoderTable& table) {
    using u = uint32_t;
    add_mixed_dot(table, "v_dot4_i32_iu8", run_mixed_dot<8>);
    add_mixed_dot(table, "v_dot8_i32_iu4", run_mixed_dot<4>);
    add_half_dots(table);
    add_dot<F32, F32>(table, "v_dot2_f32_bf16", false, [](u a, u b, float c) { return dot_bf16(a, b, c); });
    for (const char* name : {"v_dot2c_f32_bf16", "v_dot2acc_f32_bf16"}) {
        add_dot<F32, F32>(table, name, true, [](u a, u b, float c) { return dot_bf16(a, b, c); });
    }
    constexpr Fp8 kFp8 = Fp8::E4M3;
    constexpr Fp8 kBf8 = Fp8::E5M2;
    add_dot<F32, F32>(table, "v_dot4_f32_fp8_fp8", false,
                      [](u a, u b, float c) { return dot_fp8<kFp8, kFp8>(a, b, c); });
    add_dot<F32, F32>(table, "v_dot4_f32_fp8_bf8", false,
                      [](u a, u b, float c) { return dot_fp8<kFp8, kBf8>(a, b, c); });
    add_dot<F32, F32>(table, "v_dot4_f32_bf8_fp8", false,
                      [](u a, u b, float c) { return dot_fp8<kBf8, kFp8>(a, b, c); });
    add_dot<F32, F32>(table, "v_dot4_f32_bf8_bf8", false,
                      [](u a, u b, float c) { return dot_fp8<kBf8, kBf8>(a, b, c); });
    add_dot<U32, U32>(table, "v_dot4_i32_i8", false, [](u a, u b, u c) { return dot<8, true>(a, b, c); });
    add_dot<U32, U32>(table, "v_dot4_u32_u8", false, [](u a, u b, u c) { return dot<8, false>(a, b, c); });
    add_dot<U32, U32>(table, "v_dot8_i32_i4", false, [](u a, u b, u c) { return dot<4, true>(a, b, c); });
    add_dot<U32, U32>(table, "v_dot8_u32_u4", false, [](u a, u b, u c) { return dot<4, false>(a, b, c); });
    add_dot<U32, U32>(table, "v_dot2_i32_i16", false, [](u a, u b, u c) { return dot<16, true>(a, b, c); });
    add_dot<U32, U32>(table, "v_dot2_u32_u16", false, [](u a, u b, u c) { return dot<16, false>(a, b, c); });
    add_dot<U32, U32>(table, "v_dot4c_i32_i8", true, [](u a, u b, u c) { return dot<8, true>(a, b, c); });
    add_dot<U32, U32>(table, "v_dot8c_i32_i4", true, [](u a, u b, u c) { return dot<4, true>(a, b, c); });
    add_dot<F32, F32>(table, "v_dot2_f32_f16", false, [](u a, u b, float c) { return dot_halves(a, b, c); });
    add_dot<F32, F32>(table, "v_dot2c_f32_f16", true, [](u a, u b, float c) { return dot_halves(a, b, c); });
}

}  // namespace

void add_packed_ops(DecoderTable& table) {
    add_pairs(table);
    add_packed_halves(table);
    add_packed_shorts(table);
    add_mixed(table);
    add_dots(table);
}

}  // namespace emulated_gpu::hip
