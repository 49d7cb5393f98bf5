// The scalar ALU (CDNA ISA, "SOP1", "SOP2", "SOPC", "SOPK" instructions).

#include <algorithm>
#include <cstdlib>

#include "tests/emulated_gpu/hip/scalarwise.h"

namespace emulated_gpu::hip {
namespace {

// Logic, which follows what is initialised bit by bit: masks of lanes are often known only where they matter.
enum class Logic : uint8_t { And, Or, Xor, AndNot, OrNot, Nand, Nor, Xnor };

struct Bits {
    uint64_t value;
    uint64_t known;
};

Bits negated(Bits a) {
    return {~a.value, a.known};
}
Bits both(Bits a, Bits b) {
    return {a.value & b.value, (a.known & b.known) | (a.known & ~a.value) | (b.known & ~b.value)};
}
Bits either(Bits a, Bits b) {
    return {a.value | b.value, (a.known & b.known) | (a.known & a.value) | (b.known & b.value)};
}

Bits combine(Logic logic, Bits a, Bits b) {
    switch (logic) {
        case Logic::And:
            return both(a, b);
        case Logic::Or:
            return either(a, b);
        case Logic::Xor:
            return {a.value ^ b.value, a.known & b.known};
        case Logic::AndNot:
            return both(a, negated(b));
        case Logic::OrNot:
            return either(a, negated(b));
        case Logic::Nand:
            return negated(both(a, b));
        case Logic::Nor:
            return negated(either(a, b));
        case Logic::Xnor:
            return {~(a.value ^ b.value), a.known & b.known};
    }
    return a;
}

/// Writes `bits`; SCC is known if a bit known to be set settles it, or if all are known.
void put_bits(Step& step, Bits bits) {
    const Result& to = step.op.scalar_result;
    const uint64_t width = to.registers == 2 ? kAllLanes : 0xffff'ffff;
    bits.value &= width;
    bits.known |= ~width;
    if (to.index == kExec && bits.known != kAllLanes) return put_scalar(step, bits.value, false);
    if (to.registers == 2)
        step.wave.set_pair(to.index, bits.value, bits.known);
    else
        step.wave.set_scalar(to.index, static_cast<uint32_t>(bits.value), static_cast<uint32_t>(bits.known));
    put_scc(step, bits.value != 0, bits.known == kAllLanes || (bits.value & bits.known) != 0);
}

template <Logic kLogic>
void run_logic(Step& step) {
    put_bits(step, combine(kLogic, {step.scalar(0), step.scalar_known(0)}, {step.scalar(1), step.scalar_known(1)}));
}

/// s_and_saveexec_b64 and its kin: the result is the old EXEC, EXEC becomes the source combined with it. Of
/// s_andn1_wrexec_b64 and its kin the result is the new one.
template <Logic kLogic, bool kExecFirst, bool kGivesNew>
void run_save_exec(Step& step) {
    const Result& to = step.op.scalar_result;
    const uint64_t width = to.registers == 2 ? kAllLanes : 0xffff'ffff;
    const Bits exec{step.wave.exec(), kAllLanes};
    const Bits source{step.scalar(0), step.scalar_known(0)};
    Bits combined = kExecFirst ? combine(kLogic, exec, source) : combine(kLogic, source, exec);
    combined.value &= width;
    combined.known |= ~width;
    if (combined.known != kAllLanes && step.launch.options.check_registers) {
        throw Fault{FaultKind::UninitialisedRegister, "a branch depends on a value that was never written",
                    std::countr_zero(~combined.known)};
    }
    put_scalar(step, kGivesNew ? combined.value : exec.value, true);
    step.wave.set_pair(kExec, combined.value);
    put_scc(step, combined.value != 0, true);
}

/// "and_saveexec" for masks of 64 and of 32 lanes.
template <Logic kLogic, bool kExecFirst, bool kGivesNew = false>
void add_save_exec(DecoderTable& table, const std::string& name) {
    for (const auto& [width, type] : {std::pair{"_b64", ValueType::B64}, {"_b32", ValueType::B32}}) {
        table["s_" + name + width] = [type = type](Decode& decode) {
            decode_scalar(decode, type, {type}, run_save_exec<kLogic, kExecFirst, kGivesNew>);
        };
    }
}

template <Logic kLogic>
void add_logic_op(DecoderTable& table, const std::string& name) {
    table["s_" + name + "_b32"] = [](Decode& decode) {
        decode_scalar(decode, ValueType::B32, {ValueType::B32, ValueType::B32}, run_logic<kLogic>);
    };
    table["s_" + name + "_b64"] = [](Decode& decode) {
        decode_scalar(decode, ValueType::B64, {ValueType::B64, ValueType::B64}, run_logic<kLogic>);
    };
    // s_andn2_saveexec negates EXEC, s_andn1_saveexec the source.
    add_save_exec<kLogic, false>(table, name + "_saveexec");
}

void add_scalar_logic(DecoderTable& table) {
    add_logic_op<Logic::And>(table, "and");
    add_logic_op<Logic::Or>(table, "or");
    add_logic_op<Logic::Xor>(table, "xor");
    add_logic_op<Logic::AndNot>(table, "andn2");
    add_logic_op<Logic::OrNot>(table, "orn2");
    add_logic_op<Logic::Nand>(table, "nand");
    add_logic_op<Logic::Nor>(table, "nor");
    add_logic_op<Logic::Xnor>(table, "xnor");
    add_save_exec<Logic::AndNot, true>(table, "andn1_saveexec");
    add_save_exec<Logic::OrNot, true>(table, "orn1_saveexec");
    add_save_exec<Logic::AndNot, true, true>(table, "andn1_wrexec");
    add_save_exec<Logic::AndNot, false, true>(table, "andn2_wrexec");
}

using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

bool add_overflows(i32 a, i32 b) {
    i32 sum = 0;
    return __builtin_add_overflow(a, b, &sum);
}
bool subtract_overflows(i32 a, i32 b) {
    i32 difference = 0;
    return __builtin_sub_overflow(a, b, &difference);
}
u32 shifted_sum(u32 a, u32 b, u32 shift, bool& scc) {
    const u64 sum = (u64{a} << shift) + b;
    scc = (sum >> 32) != 0;
    return static_cast<u32>(sum);
}

void add_scalar_sums(DecoderTable& table) {
    binary<u32, u32, u32, Scc::Computed>(table, "s_add_u32", [](u32 a, u32 b, bool& scc) {
        scc = u64{a} + b > 0xffff'ffff;
        return a + b;
    });
    binary<u32, u32, u32, Scc::Computed>(table, "s_sub_u32", [](u32 a, u32 b, bool& scc) {
        scc = b > a;
        return a - b;
    });
    binary<u32, u32, u32, Scc::Computed>(table, "s_add_i32", [](u32 a, u32 b, bool& scc) {
        scc = add_overflows(static_cast<i32>(a), static_cast<i32>(b));
        return a + b;
    });
    binary<u32, u32, u32, Scc::Computed>(table, "s_sub_i32", [](u32 a, u32 b, bool& scc) {
        scc = subtract_overflows(static_cast<i32>(a), static_cast<i32>(b));
        return a - b;
    });
    binary<u32, u32, u32, Scc::Computed>(table, "s_addc_u32", [](u32 a, u32 b, bool& scc) {
        const u64 sum = u64{a} + b + (scc ? 1 : 0);
        scc = (sum >> 32) != 0;
        return static_cast<u32>(sum);
    });
    binary<u32, u32, u32, Scc::Computed>(table, "s_subb_u32", [](u32 a, u32 b, bool& scc) {
        const u64 difference = u64{a} - b - (scc ? 1 : 0);
        scc = (difference >> 32) != 0;
        return static_cast<u32>(difference);
    });
    binary<u32, u32, u32, Scc::Computed>(table, "s_lshl1_add_u32",
                                         [](u32 a, u32 b, bool& scc) { return shifted_sum(a, b, 1, scc); });
    binary<u32, u32, u32, Scc::Computed>(table, "s_lshl2_add_u32",
                                         [](u32 a, u32 b, bool& scc) { return shifted_sum(a, b, 2, scc); });
    binary<u32, u32, u32, Scc::Computed>(table, "s_lshl3_add_u32",
                                         [](u32 a, u32 b, bool& scc) { return shifted_sum(a, b, 3, scc); });
    binary<u32, u32, u32, Scc::Computed>(table, "s_lshl4_add_u32",
                                         [](u32 a, u32 b, bool& scc) { return shifted_sum(a, b, 4, scc); });
    binary<u32, u32, u32, Scc::Stays>(table, "s_mul_i32", [](u32 a, u32 b, bool&) { return a * b; });
    binary<u32, u32, u32, Scc::Stays>(table, "s_mul_hi_u32",
                                      [](u32 a, u32 b, bool&) { return static_cast<u32>((u64{a} * b) >> 32); });
    binary<i32, i32, i32, Scc::Stays>(table, "s_mul_hi_i32",
                                      [](i32 a, i32 b, bool&) { return static_cast<i32>((i64{a} * b) >> 32); });
    binary<u64, u64, u64, Scc::Stays>(table, "s_add_nc_u64", [](u64 a, u64 b, bool&) { return a + b; });
    binary<u64, u64, u64, Scc::Stays>(table, "s_sub_nc_u64", [](u64 a, u64 b, bool&) { return a - b; });
    binary<u64, u64, u64, Scc::Stays>(table, "s_mul_u64", [](u64 a, u64 b, bool&) { return a * b; });
    binary<u32, i32, i32, Scc::NotZero>(table, "s_absdiff_i32", [](i32 a, i32 b, bool&) {
        const i64 difference = i64{a} - b;
        return static_cast<u32>(difference < 0 ? -difference : difference);
    });
}

void add_scalar_extremes(DecoderTable& table) {
    binary<u32, u32, u32, Scc::Computed>(table, "s_min_u32", [](u32 a, u32 b, bool& scc) {
        scc = a < b;
        return std::min(a, b);
    });
    binary<u32, u32, u32, Scc::Computed>(table, "s_max_u32", [](u32 a, u32 b, bool& scc) {
        scc = a > b;
        return std::max(a, b);
    });
    binary<i32, i32, i32, Scc::Computed>(table, "s_min_i32", [](i32 a, i32 b, bool& scc) {
        scc = a < b;
        return std::min(a, b);
    });
    binary<i32, i32, i32, Scc::Computed>(table, "s_max_i32", [](i32 a, i32 b, bool& scc) {
        scc = a > b;
        return std::max(a, b);
    });
    const auto abs = [](i32 a, bool&) { return static_cast<u32>(a < 0 ? -i64{a} : i64{a}); };
    unary<u32, i32, Scc::NotZero>(table, "s_abs_i32", abs);
}

void add_scalar_shifts(DecoderTable& table) {
    binary<u32, u32, u32, Scc::NotZero>(table, "s_lshl_b32", [](u32 a, u32 b, bool&) { return a << (b & 31); });
    binary<u32, u32, u32, Scc::NotZero>(table, "s_lshr_b32", [](u32 a, u32 b, bool&) { return a >> (b & 31); });
    binary<i32, i32, u32, Scc::NotZero>(table, "s_ashr_i32", [](i32 a, u32 b, bool&) { return a >> (b & 31); });
    binary<u64, u64, u32, Scc::NotZero>(table, "s_lshl_b64", [](u64 a, u32 b, bool&) { return a << (b & 63); });
    binary<u64, u64, u32, Scc::NotZero>(table, "s_lshr_b64", [](u64 a, u32 b, bool&) { return a >> (b & 63); });
    binary<i64, i64, u32, Scc::NotZero>(table, "s_ashr_i64", [](i64 a, u32 b, bool&) { return a >> (b & 63); });
    binary<u32, u32, u32, Scc::Stays>(table, "s_bfm_b32",
                                      [](u32 a, u32 b, bool&) { return ((1U << (a & 31)) - 1) << (b & 31); });
    binary<u64, u32, u32, Scc::Stays>(table, "s_bfm_b64",
                                      [](u32 a, u32 b, bool&) { return ((u64{1} << (a & 63)) - 1) << (b & 63); });
    // The field: offset in bits 4:0 (5:0), width in bits 22:16.
    binary<u32, u32, u32, Scc::NotZero>(table, "s_bfe_u32", [](u32 a, u32 b, bool&) {
        const u32 width = (b >> 16) & 127;
        return static_cast<u32>((u64{a} >> (b & 31)) & (width >= 32 ? 0xffff'ffff : (u64{1} << width) - 1));
    });
    binary<i32, i32, u32, Scc::NotZero>(table, "s_bfe_i32", [](i32 a, u32 b, bool&) {
        const u32 width = std::min((b >> 16) & 127, 32U);
        if (width == 0) return 0;
        const auto shifted = static_cast<u64>(i64{a} >> (b & 31));
        return static_cast<i32>(static_cast<i64>(shifted << (64 - width)) >> (64 - width));
    });
    binary<u64, u64, u32, Scc::NotZero>(table, "s_bfe_u64", [](u64 a, u32 b, bool&) {
        const u32 width = (b >> 16) & 127;
        return (a >> (b & 63)) & (width >= 64 ? ~u64{0} : (u64{1} << width) - 1);
    });
    binary<i64, i64, u32, Scc::NotZero>(table, "s_bfe_i64", [](i64 a, u32 b, bool&) {
        const u32 width = std::min((b >> 16) & 127, 64U);
        if (width == 0) return i64{0};
        return static_cast<i64>(static_cast<u64>(a >> (b & 63)) << (64 - width)) >> (64 - width);
    });
    binary<u32, u32, u32, Scc::Stays>(table, "s_pack_ll_b32_b16",
                                      [](u32 a, u32 b, bool&) { return (a & 0xffff) | b << 16; });
    binary<u32, u32, u32, Scc::Stays>(table, "s_pack_lh_b32_b16",
                                      [](u32 a, u32 b, bool&) { return (a & 0xffff) | (b & 0xffff0000); });
    binary<u32, u32, u32, Scc::Stays>(table, "s_pack_hh_b32_b16",
                                      [](u32 a, u32 b, bool&) { return a >> 16 | (b & 0xffff0000); });
    binary<u32, u32, u32, Scc::Stays>(table, "s_pack_hl_b32_b16",
                                      [](u32 a, u32 b, bool&) { return a >> 16 | b << 16; });
}

template <class T>
T reversed_bits(T a) {
    T reversed = 0;
    for (size_t i = 0; i < 8 * sizeof(T); ++i) reversed |= static_cast<T>((a >> i) & 1) << (8 * sizeof(T) - 1 - i);
    return reversed;
}

void add_bit_ops(DecoderTable& table) {
    unary<u32, u32, Scc::Stays>(table, "s_brev_b32", [](u32 a, bool&) { return reversed_bits(a); });
    unary<u64, u64, Scc::Stays>(table, "s_brev_b64", [](u64 a, bool&) { return reversed_bits(a); });
    unary<i32, u32, Scc::NotZero>(table, "s_bcnt0_i32_b32", [](u32 a, bool&) { return std::popcount(~a); });
    unary<i32, u64, Scc::NotZero>(table, "s_bcnt0_i32_b64", [](u64 a, bool&) { return std::popcount(~a); });
    unary<i32, u32, Scc::NotZero>(table, "s_bcnt1_i32_b32", [](u32 a, bool&) { return std::popcount(a); });
    unary<i32, u64, Scc::NotZero>(table, "s_bcnt1_i32_b64", [](u64 a, bool&) { return std::popcount(a); });
    unary<i32, u32, Scc::Stays>(table, "s_ff0_i32_b32", [](u32 a, bool&) { return ~a == 0 ? -1 : std::countr_one(a); });
    unary<i32, u64, Scc::Stays>(table, "s_ff0_i32_b64", [](u64 a, bool&) { return ~a == 0 ? -1 : std::countr_one(a); });
    unary<i32, u32, Scc::Stays>(table, "s_ff1_i32_b32", [](u32 a, bool&) { return a == 0 ? -1 : std::countr_zero(a); });
    unary<i32, u64, Scc::Stays>(table, "s_ff1_i32_b64", [](u64 a, bool&) { return a == 0 ? -1 : std::countr_zero(a); });
    unary<i32, u32, Scc::Stays>(table, "s_flbit_i32_b32",
                                [](u32 a, bool&) { return a == 0 ? -1 : std::countl_zero(a); });
    unary<i32, u64, Scc::Stays>(table, "s_flbit_i32_b64",
                                [](u64 a, bool&) { return a == 0 ? -1 : std::countl_zero(a); });
    unary<i32, i32, Scc::Stays>(table, "s_flbit_i32", [](i32 a, bool&) {
        const auto bits = static_cast<u32>(a < 0 ? ~a : a);
        return bits == 0 ? -1 : std::countl_zero(bits);
    });
    unary<i32, i64, Scc::Stays>(table, "s_flbit_i32_i64", [](i64 a, bool&) {
        const auto bits = static_cast<u64>(a < 0 ? ~a : a);
        return bits == 0 ? -1 : std::countl_zero(bits);
    });
    unary<i32, u32, Scc::Stays>(table, "s_sext_i32_i8", [](u32 a, bool&) { return i32{static_cast<int8_t>(a)}; });
    unary<i32, u32, Scc::Stays>(table, "s_sext_i32_i16", [](u32 a, bool&) { return i32{static_cast<int16_t>(a)}; });
    unary<u32, u32, Scc::NotZero>(table, "s_not_b32", [](u32 a, bool&) { return ~a; });
    unary<u64, u64, Scc::NotZero>(table, "s_not_b64", [](u64 a, bool&) { return ~a; });
    unary<u64, u32, Scc::Stays>(table, "s_bitreplicate_b64_b32", [](u32 a, bool&) {
        u64 twice = 0;
        for (u32 i = 0; i < 32; ++i) twice |= u64{3 * ((a >> i) & 1)} << (2 * i);
        return twice;
    });
    const auto whole_quads = [](u64 a, bool&) {
        u64 quads = (a | a >> 1 | a >> 2 | a >> 3) & 0x1111'1111'1111'1111;
        return quads * 15;
    };
    unary<u64, u64, Scc::NotZero>(table, "s_wqm_b64", whole_quads);
    const auto quad_mask = [](u64 a, bool&) {
        u64 quads = 0;
        for (u32 i = 0; i < 16; ++i) quads |= u64{((a >> (4 * i)) & 15) != 0} << i;
        return quads;
    };
    unary<u64, u64, Scc::NotZero>(table, "s_quadmask_b64", quad_mask);
    unary<u32, u32, Scc::NotZero>(table, "s_quadmask_b32",
                                  [](u32 a, bool& scc) { return static_cast<u32>(decltype(quad_mask){}(a, scc)); });
    unary<u32, u32, Scc::NotZero>(table, "s_wqm_b32",
                                  [](u32 a, bool&) { return ((a | a >> 1 | a >> 2 | a >> 3) & 0x1111'1111) * 15; });
}

/// s_bitset0 and s_bitset1: one bit of the result changes.
template <class T, bool kSet>
void run_bit_set(Step& step) {
    const T bit = T{1} << (step.scalar(0) & (8 * sizeof(T) - 1));
    const T old = static_cast<T>(step.scalar(1));
    put_scalar(step, kSet ? old | bit : old & static_cast<T>(~bit), all_scalars_known(step));
}
template <class T, bool kSet>
void add_bit_set(DecoderTable& table, const std::string& name) {
    table[name] = [](Decode& decode) {
        decode_scalar(decode, kTypeOf<T>, {ValueType::B32}, run_bit_set<T, kSet>);
        decode.register_source(Source::Kind::Scalar, decode.operand(0).index, kTypeOf<T>, sizeof(T) / 4);
    };
}

// Moves keep what is known bit by bit.
void run_move(Step& step) {
    const Result& to = step.op.scalar_result;
    const uint64_t known = step.scalar_known(0);
    if (to.index == kExec && known != kAllLanes) return put_scalar(step, step.scalar(0), false);
    if (to.registers == 2)
        step.wave.set_pair(to.index, step.scalar(0), known);
    else
        step.wave.set_scalar(to.index, static_cast<uint32_t>(step.scalar(0)), static_cast<uint32_t>(known));
}

void run_conditional_move(Step& step) {
    if (step.wave.scc) run_move(step);
}

void run_scalar_select(Step& step) {
    const size_t chosen = step.wave.scc ? 0 : 1;
    const bool known = step.wave.scc_known && step.scalar_known(chosen) == kAllLanes;
    put_scalar(step, step.scalar(chosen), known);
}

void add_scalar_moves(DecoderTable& table) {
    const auto move = [&](const std::string& name, ValueType type, Handler handler) {
        table[name] = [=](Decode& decode) { decode_scalar(decode, type, {type}, handler); };
    };
    move("s_mov_b32", ValueType::B32, run_move);
    move("s_mov_b64", ValueType::B64, run_move);
    move("s_cmov_b32", ValueType::B32, run_conditional_move);
    move("s_cmov_b64", ValueType::B64, run_conditional_move);
    for (const auto& [name, type] : {std::pair{"s_cselect_b32", ValueType::B32}, {"s_cselect_b64", ValueType::B64}}) {
        table[name] = [type = type](Decode& decode) { decode_scalar(decode, type, {type, type}, run_scalar_select); };
    }
}

/// s_movrels and s_movreld: M0 is added to the number of the source's or of the result's register.
template <bool kMovesSource>
void run_relative_move(Step& step) {
    Result to = step.op.scalar_result;
    uint32_t from = step.op.sources[0].index;
    if (step.launch.options.check_registers && step.wave.scalar_known[kM0] != ~0U) {
        throw Fault{FaultKind::UninitialisedRegister, "M0, a distance between registers, was never written"};
    }
    const uint64_t moved = uint64_t{kMovesSource ? from : to.index} + step.wave.scalar[kM0];
    if (moved + to.registers > kVcc) {
        throw Fault{FaultKind::IllegalAddress,
                    "M0 leads to scalar register " + std::to_string(moved) + ", which there is not"};
    }
    if (kMovesSource)
        from = static_cast<uint32_t>(moved);
    else
        to.index = static_cast<uint16_t>(moved);
    for (uint32_t i = 0; i < to.registers; ++i) {
        step.wave.set_scalar(to.index + i, step.wave.scalar[from + i], step.wave.scalar_known[from + i]);
    }
}

void add_relative_moves(DecoderTable& table) {
    for (const auto& [width, type] : {std::pair{"_b32", ValueType::B32}, {"_b64", ValueType::B64}}) {
        for (const bool moves_source : {true, false}) {
            table[std::string(moves_source ? "s_movrels" : "s_movreld") + width] = [=, type = type](Decode& decode) {
                decode_scalar(decode, type, {type}, moves_source ? run_relative_move<true> : run_relative_move<false>);
                if (decode.op().sources[0].kind != Source::Kind::Scalar) decode.refuse("the source");
            };
        }
    }
}

/// The 16-bit constant of SOPK, sign-extended.
int64_t short_constant(const Decode& decode, size_t index) {
    return static_cast<int16_t>(decode.operand(index).integer);
}

template <class F>
void add_short_constant_op(DecoderTable& table, const std::string& name, bool reads, F run) {
    table[name] = [reads, run](Decode& decode) {
        decode.expect_operands(2, 2);
        decode.op().klass = InstructionClass::Scalar;
        decode.scalar_result(0, ValueType::B32);
        if (reads) decode.register_source(Source::Kind::Scalar, decode.operand(0).index, ValueType::B32, 1);
        decode.op().immediate = short_constant(decode, 1);
        decode.op().run = run;
    };
}

void add_short_constant_ops(DecoderTable& table) {
    add_short_constant_op(table, "s_movk_i32", false,
                          [](Step& step) { put_scalar(step, static_cast<uint32_t>(step.op.immediate), true); });
    add_short_constant_op(table, "s_cmovk_i32", false, [](Step& step) {
        if (step.wave.scc) put_scalar(step, static_cast<uint32_t>(step.op.immediate), true);
    });
    add_short_constant_op(table, "s_addk_i32", true, [](Step& step) {
        const auto a = static_cast<i32>(step.scalar(0));
        const auto b = static_cast<i32>(step.op.immediate);
        const bool known = all_scalars_known(step);
        put_scalar(step, static_cast<u32>(a) + static_cast<u32>(b), known);
        put_scc(step, add_overflows(a, b), known);
    });
    add_short_constant_op(table, "s_mulk_i32", true, [](Step& step) {
        put_scalar(step, static_cast<u32>(step.scalar(0)) * static_cast<u32>(step.op.immediate),
                   all_scalars_known(step));
    });
}

template <class T, class F>
void run_scalar_compare(Step& step) {
    put_scc(step, F{}(static_cast<T>(step.scalar(0)), static_cast<T>(step.scalar(1))), all_scalars_known(step));
}
template <class T, class F>
void scalar_compare(DecoderTable& table, const std::string& name, F /*f*/, ValueType type = kTypeOf<T>) {
    table["s_cmp_" + name] = [type](Decode& decode) {
        decode.expect_operands(2, 2);
        decode.op().klass = InstructionClass::Scalar;
        decode.source(0, type);
        decode.source(1, type);
        decode.op().run = run_scalar_compare<T, F>;
    };
    table["s_cmpk_" + name] = [type](Decode& decode) {
        decode.expect_operands(2, 2);
        decode.op().klass = InstructionClass::Scalar;
        decode.source(0, type);
        decode.source(1, type);
        Source& constant = decode.op().sources[1];
        if (std::is_signed_v<T>) constant.constant = static_cast<uint32_t>(short_constant(decode, 1));
        constant.constant &= std::is_signed_v<T> ? 0xffff'ffff : 0xffff;
        decode.op().run = run_scalar_compare<T, F>;
    };
}
template <class T>
void add_compares(DecoderTable& table, const std::string& type) {
    scalar_compare<T>(table, "eq_" + type, [](T a, T b) { return a == b; });
    scalar_compare<T>(table, "lg_" + type, [](T a, T b) { return a != b; });
    scalar_compare<T>(table, "gt_" + type, [](T a, T b) { return a > b; });
    scalar_compare<T>(table, "ge_" + type, [](T a, T b) { return a >= b; });
    scalar_compare<T>(table, "lt_" + type, [](T a, T b) { return a < b; });
    scalar_compare<T>(table, "le_" + type, [](T a, T b) { return a <= b; });
}

template <class T, bool kWanted>
void add_bit_compare(DecoderTable& table, const std::string& name) {
    table[name] = [](Decode& decode) {
        decode.expect_operands(2, 2);
        decode.op().klass = InstructionClass::Scalar;
        decode.source(0, kTypeOf<T>);
        decode.source(1, ValueType::B32);
        decode.op().run = [](Step& step) {
            const uint64_t at = step.scalar(1) & (8 * sizeof(T) - 1);
            put_scc(step, (((step.scalar(0) >> at) & 1) != 0) == kWanted, all_scalars_known(step));
        };
    };
}

}  // namespace

void add_scalar_ops(DecoderTable& table) {
    add_scalar_logic(table);
    add_scalar_sums(table);
    add_scalar_extremes(table);
    add_scalar_shifts(table);
    add_bit_ops(table);
    add_scalar_moves(table);
    add_short_constant_ops(table);
    add_relative_moves(table);
    add_bit_set<u32, false>(table, "s_bitset0_b32");
    add_bit_set<u64, false>(table, "s_bitset0_b64");
    add_bit_set<u32, true>(table, "s_bitset1_b32");
    add_bit_set<u64, true>(table, "s_bitset1_b64");
    add_compares<i32>(table, "i32");
    add_compares<u32>(table, "u32");
    scalar_compare<u64>(table, "eq_u64", [](u64 a, u64 b) { return a == b; });
    scalar_compare<u64>(table, "lg_u64", [](u64 a, u64 b) { return a != b; });
    add_bit_compare<u32, false>(table, "s_bitcmp0_b32");
    add_bit_compare<u32, true>(table, "s_bitcmp1_b32");
    add_bit_compare<u64, false>(table, "s_bitcmp0_b64");
    add_bit_compare<u64, true>(table, "s_bitcmp1_b64");
}

}  // namespace emulated_gpu::hip
