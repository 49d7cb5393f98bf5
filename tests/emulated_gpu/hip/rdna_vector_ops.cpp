// Instructions of vector registers that CDNA2 and CDNA3 lack: those of RDNA3 and RDNA4, of which CDNA4 has a few.

#include <algorithm>
#include <cmath>

#include "tests/emulated_gpu/hip/float_math.h"
#include "tests/emulated_gpu/hip/lanewise.h"

namespace emulated_gpu::hip {
namespace {

constexpr auto kRdnaFloat = InstructionClass::VectorFloat;
constexpr auto kRdnaInteger = InstructionClass::VectorInteger;

void add_half_logic(DecoderTable& table) {
    using u = uint16_t;
    lanewise<U16, U16>(table, "v_mov_b16", InstructionClass::Move, [](u a) { return a; });
    lanewise<U16, U16>(table, "v_not_b16", kRdnaInteger, [](u a) { return static_cast<u>(~a); });
    lanewise<U16, U16, U16>(table, "v_and_b16", kRdnaInteger, [](u a, u b) { return static_cast<u>(a & b); });
    lanewise<U16, U16, U16>(table, "v_or_b16", kRdnaInteger, [](u a, u b) { return static_cast<u>(a | b); });
    lanewise<U16, U16, U16>(table, "v_xor_b16", kRdnaInteger, [](u a, u b) { return static_cast<u>(a ^ b); });
    using w = uint32_t;
    lanewise<U32, U32, U32, U32>(table, "v_xor3_b32", kRdnaInteger, [](w a, w b, w c) { return a ^ b ^ c; });
}

/// Of three values: the larger of the third and the smaller of two, and so on.
template <class L, class Smaller, class Larger>
void add_bounded(DecoderTable& table, const std::string& inner_smaller, const std::string& inner_larger,
                 InstructionClass klass, Smaller /*smaller*/, Larger /*larger*/) {
    using T = typename L::Value;
    lanewise<L, L, L, L>(table, inner_smaller, klass, [](T a, T b, T c) { return Larger{}(Smaller{}(a, b), c); });
    lanewise<L, L, L, L>(table, inner_larger, klass, [](T a, T b, T c) { return Smaller{}(Larger{}(a, b), c); });
}

template <class L>
void add_float_extremes(DecoderTable& table, const std::string& type) {
    using T = typename L::Value;
    const auto smaller = [](T a, T b) { return smaller_number(a, b); };
    const auto larger = [](T a, T b) { return larger_number(a, b); };
    const auto low = [](T a, T b) { return minimum(a, b); };
    const auto high = [](T a, T b) { return maximum(a, b); };
    add_bounded<L>(table, "v_minmax_" + type, "v_maxmin_" + type, kRdnaFloat, smaller, larger);
    add_bounded<L>(table, "v_minmax_num_" + type, "v_maxmin_num_" + type, kRdnaFloat, smaller, larger);
    add_bounded<L>(table, "v_minimummaximum_" + type, "v_maximumminimum_" + type, kRdnaFloat, low, high);
    lanewise<L, L, L>(table, "v_minimum_" + type, kRdnaFloat, low);
    lanewise<L, L, L>(table, "v_maximum_" + type, kRdnaFloat, high);
    lanewise<L, L, L, L>(table, "v_minimum3_" + type, kRdnaFloat,
                         [](T a, T b, T c) { return minimum(minimum(a, b), c); });
    lanewise<L, L, L, L>(table, "v_maximum3_" + type, kRdnaFloat,
                         [](T a, T b, T c) { return maximum(maximum(a, b), c); });
}

template <class L>
void add_integer_bounds(DecoderTable& table, const std::string& type) {
    using T = typename L::Value;
    const auto smaller = [](T a, T b) { return std::min(a, b); };
    const auto larger = [](T a, T b) { return std::max(a, b); };
    add_bounded<L>(table, "v_minmax_" + type, "v_maxmin_" + type, kRdnaInteger, smaller, larger);
}

/// Each lane reads a lane of its row of 16, or of the row beside it: four bits for each lane of a row in two scalars.
template <bool kOtherRow>
uint32_t selected_lane(uint32_t lane, uint64_t select) {
    const uint32_t row = (lane & ~15U) ^ (kOtherRow ? 16 : 0);
    return row + (static_cast<uint32_t>(select >> (4 * (lane & 15))) & 15);
}

/// op_sel says whether inactive lanes are read; otherwise they give 0 (the second bit), or the result stays.
void put_permuted(Step& step, const uint8_t* from) {
    Lanes32 room;
    const uint32_t* data = step.words(0, room);
    const uint64_t data_known = step.known(0);
    const bool reads_inactive = (step.op.detail & 1) != 0;
    const bool zero_outside = (step.op.detail & 2) != 0;
    const uint32_t* old = step.wave.vector[step.op.result.index].at;
    const uint64_t old_known = step.wave.vector_known[step.op.result.index];
    Lanes32 out;
    uint64_t known = 0;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const bool is_read = reads_inactive || ((step.exec >> from[lane]) & 1) != 0;
        out.at[lane] = is_read ? data[from[lane]] : zero_outside ? 0 : old[lane];
        const uint64_t bit = is_read ? data_known >> from[lane] : zero_outside ? 1 : old_known >> lane;
        known |= (bit & 1) << lane;
    }
    step.put_raw(step.op.result.index, out.at, known);
}

template <bool kOtherRow>
void run_row_permute(Step& step) {
    const uint64_t select = (step.strict_scalar(1, "the number of a lane") & 0xffff'ffff) |
                            step.strict_scalar(2, "the number of a lane") << 32;
    uint8_t from[kLanes];
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
        from[lane] = static_cast<uint8_t>(selected_lane<kOtherRow>(lane, select));
    }
    put_permuted(step, from);
}

/// RDNA4: the lane is named by a vector register.
template <bool kOtherRow>
void run_variable_row_permute(Step& step) {
    step.require_known(step.known(1), "the number of a lane");
    Lanes32 room;
    const uint32_t* select = step.words(1, room);
    uint8_t from[kLanes];
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
        from[lane] = static_cast<uint8_t>(((lane & ~15U) ^ (kOtherRow ? 16 : 0)) + (select[lane] & 15));
    }
    put_permuted(step, from);
}

/// The two halves of a wave of 64 change places.
void run_half_exchange(Step& step) {
    Lanes32 room;
    const uint32_t* data = step.words(0, room);
    const uint64_t known = step.known(0);
    Lanes32 out;
    for (uint32_t lane = 0; lane < kLanes; ++lane) out.at[lane] = data[lane ^ 32];
    step.put_raw(step.op.result.index, out.at, known >> 32 | known << 32);
}

void add_permutes(DecoderTable& table) {
    const auto permute = [&](const std::string& name, size_t scalars, Handler handler) {
        table[name] = [=](Decode& decode) {
            decode.expect_operands(2 + scalars, 2 + scalars);
            decode.op().klass = InstructionClass::CrossLane;
            decode.op().needs_lanes = true;
            decode.op().detail = decode.take_bits("op_sel", 0);
            decode.result(0, ValueType::B32);
            for (size_t i = 1; i < 2 + scalars; ++i) decode.source(i, ValueType::B32);
            if (scalars == 2 && (decode.has_vector(2) || decode.has_vector(3))) decode.refuse("a vector of lanes");
            decode.op().run = handler;
        };
    };
    permute("v_permlane16_b32", 2, run_row_permute<false>);
    permute("v_permlanex16_b32", 2, run_row_permute<true>);
    permute("v_permlane16_var_b32", 1, run_variable_row_permute<false>);
    permute("v_permlanex16_var_b32", 1, run_variable_row_permute<true>);
    table["v_permlane64_b32"] = [](Decode& decode) {
        decode_vector(decode, InstructionClass::CrossLane, ValueType::B32, {ValueType::B32});
        if (decode.architecture().wave_lanes == 64)
            decode.op().run = run_half_exchange;
        else
            decode.op().run = [](Step&) {};  // RDNA3 ISA: does nothing in waves of 32
    };
}

/// M0 is added to the number of the source's register, of the result's, or of both.
template <bool kMovesSource, bool kMovesResult>
void run_relative_vector_move(Step& step) {
    if (step.launch.options.check_registers && step.wave.scalar_known[kM0] != ~0U) {
        throw Fault{FaultKind::UninitialisedRegister, "M0, a distance between registers, was never written"};
    }
    const uint64_t distance = step.wave.scalar[kM0];
    const uint64_t from = step.op.sources[0].index + (kMovesSource ? distance : 0);
    const uint64_t to = step.op.result.index + (kMovesResult ? distance : 0);
    const bool is_vector = step.op.sources[0].kind == Source::Kind::Vector;
    if (to >= kAccumulators || (is_vector && from >= kAccumulators)) {
        throw Fault{FaultKind::IllegalAddress,
                    "M0 leads to vector register " + std::to_string(std::max(from, to)) + ", which there is not"};
    }
    Lanes32 room;
    if (is_vector)
        room = step.wave.vector[from];
    else
        room = *reinterpret_cast<const Lanes32*>(step.words(0, room));
    step.put_raw(static_cast<uint32_t>(to), room.at, is_vector ? step.wave.vector_known[from] : step.known(0));
}

void add_relative_vector_moves(DecoderTable& table) {
    const auto move = [&](const std::string& name, bool moves_source, Handler handler) {
        table[name] = [=](Decode& decode) {
            decode_vector(decode, InstructionClass::Move, ValueType::B32, {ValueType::B32});
            if (moves_source && !decode.has_vector(1)) decode.refuse("the source");
            decode.op().run = handler;
        };
    };
    move("v_movrels_b32", true, run_relative_vector_move<true, false>);
    move("v_movreld_b32", false, run_relative_vector_move<false, true>);
    move("v_movrelsd_b32", true, run_relative_vector_move<true, true>);
}

/// RDNA4's v_s_exp_f32 and its kin: a transcendental function of one scalar.
template <class L, class F>
void scalar_transcendental(DecoderTable& table, const std::string& name, F /*f*/) {
    table["v_s_" + name] = [](Decode& decode) {
        decode.expect_operands(2, 2);
        decode.op().klass = InstructionClass::Transcendental;
        decode.scalar_result(0, ValueType::B32);
        decode.source(1, L::type);
        const Source& source = decode.op().sources[0];
        if (source.negate || source.absolute) decode.refuse("a changed sign");
        decode.op().run = [](Step& step) {
            const auto bits = static_cast<uint32_t>(step.scalar(0));
            step.wave.set_scalar(step.op.scalar_result.index, L::put(F{}(L::get(bits))),
                                 step.scalar_known(0) == kAllLanes ? ~0U : 0);
        };
    };
}

template <class L>
void add_scalar_transcendentals(DecoderTable& table, const std::string& type) {
    using T = typename L::Value;
    scalar_transcendental<L>(table, "exp_" + type, [](T a) { return std::exp2(a); });
    scalar_transcendental<L>(table, "log_" + type, [](T a) { return std::log2(a); });
    scalar_transcendental<L>(table, "rcp_" + type, [](T a) { return T(1) / a; });
    scalar_transcendental<L>(table, "rsq_" + type, [](T a) { return T(1) / std::sqrt(a); });
    scalar_transcendental<L>(table, "sqrt_" + type, [](T a) { return std::sqrt(a); });
}

/// CDNA4: two integers, shifted right and limited to eight bits.
template <int kLow, int kHigh>
void add_shift_pack(DecoderTable& table, const std::string& name) {
    lanewise_in_half<U16, I32, I32, U32>(table, name, kRdnaInteger, [](int32_t a, int32_t b, uint32_t by) {
        const auto limited = [by](int32_t value) {
            return static_cast<uint32_t>(std::clamp(value >> (by & 31), kLow, kHigh)) & 0xff;
        };
        return static_cast<uint16_t>(limited(a) | limited(b) << 8);
    });
}

}  // namespace

void add_rdna_vector_ops(DecoderTable& table) {
    add_half_logic(table);
    add_float_extremes<F32>(table, "f32");
    add_float_extremes<F16>(table, "f16");
    lanewise<F64, F64, F64>(table, "v_minimum_f64", kRdnaFloat, [](double a, double b) { return minimum(a, b); });
    lanewise<F64, F64, F64>(table, "v_maximum_f64", kRdnaFloat, [](double a, double b) { return maximum(a, b); });
    add_integer_bounds<I32>(table, "i32");
    add_integer_bounds<U32>(table, "u32");
    add_permutes(table);
    add_relative_vector_moves(table);
    add_scalar_transcendentals<F32>(table, "f32");
    add_scalar_transcendentals<F16>(table, "f16");
    add_shift_pack<-128, 127>(table, "v_ashr_pk_i8_i32");
    add_shift_pack<0, 255>(table, "v_ashr_pk_u8_i32");
}

}  // namespace emulated_gpu::hip
