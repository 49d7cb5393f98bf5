// Integer arithmetic, logic and moves of vector registers (CDNA ISA, "VOP1", "VOP2", "VOP3" instructions).

#include <algorithm>

#include "tests/emulated_gpu/hip/lanewise.h"

namespace emulated_gpu::hip {
namespace {

constexpr auto kInteger = InstructionClass::VectorInteger;

uint32_t bit_field(uint32_t value, uint32_t offset, uint32_t width) {
    return (width & 31) == 0 ? 0 : (value >> (offset & 31)) & ((1U << (width & 31)) - 1);
}

int32_t signed_bit_field(int32_t value, uint32_t offset, uint32_t width) {
    offset &= 31;
    width &= 31;
    if (width == 0) return 0;
    const int32_t shifted = value >> offset;
    if (offset + width >= 32) return shifted;
    return static_cast<int32_t>(static_cast<uint32_t>(shifted) << (32 - width)) >> (32 - width);
}

int32_t signed_24(int32_t value) {
    return static_cast<int32_t>(static_cast<uint32_t>(value) << 8) >> 8;
}

uint32_t permute_bytes(uint32_t a, uint32_t b, uint32_t selector) {
    const uint64_t bytes = b | uint64_t{a} << 32;
    uint32_t result = 0;
    for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t select = (selector >> (8 * i)) & 0xff;
        uint32_t byte = 0xff;
        if (select < 8) byte = static_cast<uint32_t>(bytes >> (8 * select)) & 0xff;
        if (select >= 8 && select < 12) byte = ((bytes >> (16 * (select - 8) + 15)) & 1) != 0 ? 0xff : 0;
        if (select == 12) byte = 0;
        result |= byte << (8 * i);
    }
    return result;
}

uint32_t sum_of_differences(uint32_t a, uint32_t b, uint32_t sum) {
    for (uint32_t i = 0; i < 32; i += 8) {
        const auto x = static_cast<int32_t>((a >> i) & 0xff);
        const auto y = static_cast<int32_t>((b >> i) & 0xff);
        sum += static_cast<uint32_t>(x > y ? x - y : y - x);
    }
    return sum;
}

template <class T>
T median(T a, T b, T c) {
    return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

int32_t first_bit_signed(int32_t value) {
    const auto bits = static_cast<uint32_t>(value < 0 ? ~value : value);
    return bits == 0 ? -1 : std::countl_zero(bits);
}

/// v_add_co_u32 and its kin: a sum or difference, and its carry as a mask. `kFrom` tells which source is subtracted
/// from which: 0: a + b, 1: a - b, 2: b - a.
template <int kKind, bool kCarryIn, bool kWritesMask>
void run_carry(Step& step) {
    Lanes32 room_a;
    Lanes32 room_b;
    const uint32_t* a = step.words(0, room_a);
    const uint32_t* b = step.words(1, room_b);
    if (kKind == 2) std::swap(a, b);
    const uint64_t carry_in = kCarryIn ? step.scalar(2) : 0;
    Lanes32 out;
    uint64_t carries = 0;
    for (uint32_t i = 0; i < kLanes; ++i) {
        const uint64_t in = (carry_in >> i) & 1;
        const uint64_t sum = kKind == 0 ? uint64_t{a[i]} + b[i] + in : uint64_t{a[i]} - b[i] - in;
        out.at[i] = static_cast<uint32_t>(sum);
        carries |= ((sum >> 32) & 1) << i;
        if (!kWritesMask && step.op.clamp && ((sum >> 32) & 1) != 0) out.at[i] = kKind == 0 ? ~0U : 0;
    }
    uint64_t known = step.known(0) & step.known(1);
    if (kCarryIn) known &= step.scalar_known(2);
    step.put(out, known);
    if (kWritesMask) step.put_mask(step.op.scalar_result, carries, known);
}

void add_carry_ops(DecoderTable& table) {
    const auto with = [&](const std::string& name, Handler handler, bool carry_in, bool writes_mask) {
        table[name] = [=](Decode& decode) {
            const size_t first = writes_mask ? 2 : 1;
            decode.expect_operands(first + (carry_in ? 3 : 2), first + (carry_in ? 3 : 2));
            decode.op().klass = kInteger;
            decode.op().run = handler;
            decode.op().needs_lanes = !writes_mask;
            decode.result(0, ValueType::B32);
            if (writes_mask) decode.scalar_result(1, decode.mask_type());
            decode.source(first, ValueType::B32);
            decode.source(first + 1, ValueType::B32);
            if (carry_in) decode.source(first + 2, decode.mask_type());
            decode.take_vector_modifiers();
        };
    };
    with("v_add_co_u32", run_carry<0, false, true>, false, true);
    with("v_sub_co_u32", run_carry<1, false, true>, false, true);
    with("v_subrev_co_u32", run_carry<2, false, true>, false, true);
    with("v_addc_co_u32", run_carry<0, true, true>, true, true);
    with("v_subb_co_u32", run_carry<1, true, true>, true, true);
    with("v_subbrev_co_u32", run_carry<2, true, true>, true, true);
    with("v_add_u32", run_carry<0, false, false>, false, false);
    with("v_sub_u32", run_carry<1, false, false>, false, false);
    with("v_subrev_u32", run_carry<2, false, false>, false, false);
}

void run_select(Step& step) {
    Lanes32 room_a;
    Lanes32 room_b;
    const uint32_t* a = step.words(0, room_a);
    const uint32_t* b = step.words(1, room_b);
    const uint64_t mask = step.scalar(2);
    Lanes32 out;
    for (uint32_t i = 0; i < kLanes; ++i) out.at[i] = ((mask >> i) & 1) != 0 ? b[i] : a[i];
    const uint64_t known = (mask & step.known(1)) | (~mask & step.known(0));
    step.put(out, known & step.scalar_known(2));
}

/// Half of a dual instruction leaves VCC unsaid.
void decode_select(Decode& decode, ValueType type) {
    const ValueType mask = decode.mask_type();
    if (decode.operand_count() == 3) {
        decode_vector(decode, InstructionClass::Move, type, {type, type});
        decode.register_source(Source::Kind::Scalar, kVcc, mask, registers_of(mask));
    } else {
        decode_vector(decode, InstructionClass::Move, type, {type, type, mask});
    }
    decode.op().run = run_select;
}

/// v_mad_u64_u32 and v_mad_i64_i32: a 64-bit result and a carry.
template <bool kSigned>
void run_wide_multiply_add(Step& step) {
    Lanes32 room_a;
    Lanes32 room_b;
    Lanes64 room_c;
    const uint32_t* a = step.words(0, room_a);
    const uint32_t* b = step.words(1, room_b);
    const uint64_t* c = step.double_words(2, room_c);
    Lanes64 out;
    uint64_t carries = 0;
    for (uint32_t i = 0; i < kLanes; ++i) {
        const uint64_t product =
            kSigned ? static_cast<uint64_t>(int64_t{static_cast<int32_t>(a[i])} * static_cast<int32_t>(b[i]))
                    : uint64_t{a[i]} * b[i];
        out.at[i] = product + c[i];
        const bool overflow = kSigned ? ((~(product ^ c[i]) & (product ^ out.at[i])) >> 63) != 0 : out.at[i] < product;
        carries |= uint64_t{overflow} << i;
    }
    const uint64_t known = step.all_known();
    step.put_double(out, step.low_words_known(), known);
    step.put_mask(step.op.scalar_result, carries, known);
}

void add_wide_multiplies(DecoderTable& table) {
    const auto with = [&](const std::string& name, Handler handler) {
        table[name] = [handler](Decode& decode) {
            decode.expect_operands(5, 5);
            decode.op().klass = kInteger;
            decode.op().run = handler;
            decode.result(0, ValueType::B64);
            decode.scalar_result(1, decode.mask_type());
            decode.source(2, ValueType::B32);
            decode.source(3, ValueType::B32);
            decode.source(4, ValueType::B64);
            decode.take_vector_modifiers();
        };
    };
    with("v_mad_u64_u32", run_wide_multiply_add<false>);
    with("v_mad_i64_i32", run_wide_multiply_add<true>);
}

/// v_mov_b64: each word is known if its own source is. Compilers copy two registers that have nothing in common with
/// it, one of them still unset.
void run_move_pair(Step& step) {
    Lanes64 out;
    step.double_words(0, out);
    step.put_double(out, step.known(0, 1, 0), step.known(0, 1, 1));
}

void add_moves(DecoderTable& table) {
    lanewise<U32, U32>(table, "v_mov_b32", InstructionClass::Move, [](uint32_t a) { return a; });
    for (const char* name : {"v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32"}) {
        lanewise<U32, U32>(table, name, InstructionClass::Move, [](uint32_t a) { return a; });
    }
    table["v_mov_b64"] = [](Decode& decode) {
        decode_vector(decode, InstructionClass::Move, ValueType::B64, {ValueType::B64});
        decode.op().run = run_move_pair;
    };
    table["v_cndmask_b32"] = [](Decode& decode) { decode_select(decode, ValueType::B32); };
    table["v_cndmask_b16"] = [](Decode& decode) { decode_select(decode, ValueType::B16); };
}

void add_logic(DecoderTable& table) {
    using u = uint32_t;
    lanewise<U32, U32>(table, "v_not_b32", kInteger, [](u a) { return ~a; });
    lanewise<U32, U32, U32>(table, "v_and_b32", kInteger, [](u a, u b) { return a & b; });
    lanewise<U32, U32, U32>(table, "v_or_b32", kInteger, [](u a, u b) { return a | b; });
    lanewise<U32, U32, U32>(table, "v_xor_b32", kInteger, [](u a, u b) { return a ^ b; });
    lanewise<U32, U32, U32>(table, "v_xnor_b32", kInteger, [](u a, u b) { return ~(a ^ b); });
    lanewise<U32, U32, U32, U32>(table, "v_and_or_b32", kInteger, [](u a, u b, u c) { return (a & b) | c; });
    lanewise<U32, U32, U32, U32>(table, "v_or3_b32", kInteger, [](u a, u b, u c) { return a | b | c; });
    lanewise<U32, U32, U32, U32>(table, "v_xad_u32", kInteger, [](u a, u b, u c) { return (a ^ b) + c; });
    lanewise<U32, U32, U32, U32>(table, "v_bfi_b32", kInteger, [](u a, u b, u c) { return (a & b) | (~a & c); });
    lanewise<U32, U32, U32, U32>(table, "v_bfe_u32", kInteger, [](u a, u b, u c) { return bit_field(a, b, c); });
    lanewise<I32, I32, U32, U32>(table, "v_bfe_i32", kInteger,
                                 [](int32_t a, u b, u c) { return signed_bit_field(a, b, c); });
    lanewise<U32, U32, U32>(table, "v_bfm_b32", kInteger, [](u a, u b) { return ((1U << (a & 31)) - 1) << (b & 31); });
    lanewise<U32, U32>(table, "v_bfrev_b32", kInteger, [](u a) {
        u reversed = 0;
        for (u i = 0; i < 32; ++i) reversed |= ((a >> i) & 1) << (31 - i);
        return reversed;
    });
    lanewise<I32, U32>(table, "v_ffbh_u32", kInteger, [](u a) { return a == 0 ? -1 : std::countl_zero(a); });
    lanewise<I32, I32>(table, "v_ffbh_i32", kInteger, [](int32_t a) { return first_bit_signed(a); });
    lanewise<I32, U32>(table, "v_ffbl_b32", kInteger, [](u a) { return a == 0 ? -1 : std::countr_zero(a); });
    lanewise<U32, U32, U32>(table, "v_bcnt_u32_b32", kInteger,
                            [](u a, u b) { return static_cast<u>(std::popcount(a)) + b; });
    lanewise<U32, U32, U32, U32>(table, "v_perm_b32", kInteger, [](u a, u b, u c) { return permute_bytes(a, b, c); });
    lanewise<U32, U32, U32, U32>(table, "v_alignbit_b32", kInteger,
                                 [](u a, u b, u c) { return static_cast<u>(((uint64_t{a} << 32) | b) >> (c & 31)); });
    lanewise<U32, U32, U32, U32>(table, "v_alignbyte_b32", kInteger, [](u a, u b, u c) {
        return static_cast<u>(((uint64_t{a} << 32) | b) >> (8 * (c & 3)));
    });
    lanewise<U32, U32, U32, U32>(table, "v_sad_u8", kInteger,
                                 [](u a, u b, u c) { return sum_of_differences(a, b, c); });
}

void add_shifts(DecoderTable& table) {
    using u = uint32_t;
    lanewise<U32, U32, U32>(table, "v_lshlrev_b32", kInteger, [](u a, u b) { return b << (a & 31); });
    lanewise<U32, U32, U32>(table, "v_lshrrev_b32", kInteger, [](u a, u b) { return b >> (a & 31); });
    lanewise<I32, U32, I32>(table, "v_ashrrev_i32", kInteger, [](u a, int32_t b) { return b >> (a & 31); });
    lanewise_upward<U64, U32, U64>(table, "v_lshlrev_b64", kInteger, [](u a, uint64_t b) { return b << (a & 63); });
    lanewise<U64, U32, U64>(table, "v_lshrrev_b64", kInteger, [](u a, uint64_t b) { return b >> (a & 63); });
    lanewise<I64, U32, I64>(table, "v_ashrrev_i64", kInteger, [](u a, int64_t b) { return b >> (a & 63); });
    lanewise<U32, U32, U32, U32>(table, "v_lshl_add_u32", kInteger, [](u a, u b, u c) { return (a << (b & 31)) + c; });
    lanewise<U32, U32, U32, U32>(table, "v_add_lshl_u32", kInteger, [](u a, u b, u c) { return (a + b) << (c & 31); });
    lanewise<U32, U32, U32, U32>(table, "v_lshl_or_b32", kInteger, [](u a, u b, u c) { return (a << (b & 31)) | c; });
    lanewise_upward<U64, U64, U32, U64>(table, "v_lshl_add_u64", kInteger,
                                        [](uint64_t a, u b, uint64_t c) { return (a << (b & 7)) + c; });
}

void add_sums(DecoderTable& table) {
    using u = uint32_t;
    using i = int32_t;
    lanewise<U32, U32, U32, U32>(table, "v_add3_u32", kInteger, [](u a, u b, u c) { return a + b + c; });
    lanewise<U32, U32, U32>(table, "v_add_i32", kInteger, [](u a, u b) { return a + b; });
    lanewise<U32, U32, U32>(table, "v_sub_i32", kInteger, [](u a, u b) { return a - b; });
    lanewise<U32, U32, U32>(table, "v_mul_lo_u32", kInteger, [](u a, u b) { return a * b; });
    lanewise<U32, U32, U32>(table, "v_mul_hi_u32", kInteger,
                            [](u a, u b) { return static_cast<u>((uint64_t{a} * b) >> 32); });
    lanewise<I32, I32, I32>(table, "v_mul_hi_i32", kInteger,
                            [](i a, i b) { return static_cast<i>((int64_t{a} * b) >> 32); });
    lanewise<U32, U32, U32>(table, "v_mul_u32_u24", kInteger, [](u a, u b) { return (a & 0xffffff) * (b & 0xffffff); });
    lanewise<U32, I32, I32>(table, "v_mul_i32_i24", kInteger,
                            [](i a, i b) { return static_cast<u>(int64_t{signed_24(a)} * signed_24(b)); });
    lanewise<U32, U32, U32>(table, "v_mul_hi_u32_u24", kInteger,
                            [](u a, u b) { return static_cast<u>((uint64_t{a & 0xffffff} * (b & 0xffffff)) >> 32); });
    lanewise<U32, I32, I32>(table, "v_mul_hi_i32_i24", kInteger,
                            [](i a, i b) { return static_cast<u>((int64_t{signed_24(a)} * signed_24(b)) >> 32); });
    lanewise<U32, U32, U32, U32>(table, "v_mad_u32_u24", kInteger,
                                 [](u a, u b, u c) { return (a & 0xffffff) * (b & 0xffffff) + c; });
    lanewise<U32, I32, I32, U32>(table, "v_mad_i32_i24", kInteger, [](i a, i b, u c) {
        return static_cast<u>(int64_t{signed_24(a)} * signed_24(b)) + c;
    });
    lanewise<U32, U16, U16, U32>(table, "v_mad_u32_u16", kInteger,
                                 [](uint16_t a, uint16_t b, u c) { return u{a} * b + c; });
    lanewise<U32, I16, I16, U32>(table, "v_mad_i32_i16", kInteger,
                                 [](int16_t a, int16_t b, u c) { return static_cast<u>(i{a} * b) + c; });
}

void add_extremes(DecoderTable& table) {
    using u = uint32_t;
    using i = int32_t;
    lanewise<U32, U32, U32>(table, "v_min_u32", kInteger, [](u a, u b) { return std::min(a, b); });
    lanewise<U32, U32, U32>(table, "v_max_u32", kInteger, [](u a, u b) { return std::max(a, b); });
    lanewise<I32, I32, I32>(table, "v_min_i32", kInteger, [](i a, i b) { return std::min(a, b); });
    lanewise<I32, I32, I32>(table, "v_max_i32", kInteger, [](i a, i b) { return std::max(a, b); });
    lanewise<U32, U32, U32, U32>(table, "v_min3_u32", kInteger, [](u a, u b, u c) { return std::min({a, b, c}); });
    lanewise<U32, U32, U32, U32>(table, "v_max3_u32", kInteger, [](u a, u b, u c) { return std::max({a, b, c}); });
    lanewise<U32, U32, U32, U32>(table, "v_med3_u32", kInteger, [](u a, u b, u c) { return median(a, b, c); });
    lanewise<I32, I32, I32, I32>(table, "v_min3_i32", kInteger, [](i a, i b, i c) { return std::min({a, b, c}); });
    lanewise<I32, I32, I32, I32>(table, "v_max3_i32", kInteger, [](i a, i b, i c) { return std::max({a, b, c}); });
    lanewise<I32, I32, I32, I32>(table, "v_med3_i32", kInteger, [](i a, i b, i c) { return median(a, b, c); });
}

void add_short_ops(DecoderTable& table) {
    using u = uint16_t;
    using i = int16_t;
    lanewise<U16, U16, U16>(table, "v_add_u16", kInteger, [](u a, u b) { return static_cast<u>(a + b); });
    lanewise<U16, U16, U16>(table, "v_sub_u16", kInteger, [](u a, u b) { return static_cast<u>(a - b); });
    lanewise<U16, U16, U16>(table, "v_subrev_u16", kInteger, [](u a, u b) { return static_cast<u>(b - a); });
    lanewise<U16, U16, U16>(table, "v_mul_lo_u16", kInteger, [](u a, u b) { return static_cast<u>(uint32_t{a} * b); });
    lanewise<U16, U16, U16>(table, "v_lshlrev_b16", kInteger, [](u a, u b) { return static_cast<u>(b << (a & 15)); });
    lanewise<U16, U16, U16>(table, "v_lshrrev_b16", kInteger, [](u a, u b) { return static_cast<u>(b >> (a & 15)); });
    lanewise<I16, U16, I16>(table, "v_ashrrev_i16", kInteger, [](u a, i b) { return static_cast<i>(b >> (a & 15)); });
    lanewise<U16, U16, U16>(table, "v_min_u16", kInteger, [](u a, u b) { return std::min(a, b); });
    lanewise<U16, U16, U16>(table, "v_max_u16", kInteger, [](u a, u b) { return std::max(a, b); });
    lanewise<I16, I16, I16>(table, "v_min_i16", kInteger, [](i a, i b) { return std::min(a, b); });
    lanewise<I16, I16, I16>(table, "v_max_i16", kInteger, [](i a, i b) { return std::max(a, b); });
    lanewise_in_half<U16, U16, U16>(table, "v_add_i16", kInteger, [](u a, u b) { return static_cast<u>(a + b); });
    lanewise_in_half<U16, U16, U16>(table, "v_sub_i16", kInteger, [](u a, u b) { return static_cast<u>(a - b); });
    const auto multiply_add = [](u a, u b, u c) { return static_cast<u>(uint32_t{a} * b + c); };
    for (const char* name : {"v_mad_legacy_u16", "v_mad_legacy_i16"}) {
        lanewise<U16, U16, U16, U16>(table, name, kInteger, multiply_add);
    }
    for (const char* name : {"v_mad_u16", "v_mad_i16"}) {
        lanewise_in_half<U16, U16, U16, U16>(table, name, kInteger, multiply_add);
    }
    lanewise_in_half<U16, U16, U16, U16>(table, "v_min3_u16", kInteger, [](u a, u b, u c) {
        return std::min({a, b, c});
    });
    lanewise_in_half<U16, U16, U16, U16>(table, "v_max3_u16", kInteger, [](u a, u b, u c) {
        return std::max({a, b, c});
    });
    lanewise_in_half<U16, U16, U16, U16>(table, "v_med3_u16", kInteger, [](u a, u b, u c) { return median(a, b, c); });
    lanewise_in_half<I16, I16, I16, I16>(table, "v_min3_i16", kInteger, [](i a, i b, i c) {
        return std::min({a, b, c});
    });
    lanewise_in_half<I16, I16, I16, I16>(table, "v_max3_i16", kInteger, [](i a, i b, i c) {
        return std::max({a, b, c});
    });
    lanewise_in_half<I16, I16, I16, I16>(table, "v_med3_i16", kInteger, [](i a, i b, i c) { return median(a, b, c); });
    lanewise<U32, U16, U16>(table, "v_pack_b32_f16", kInteger, [](u a, u b) { return a | uint32_t{b} << 16; });
    lanewise<U16, U32>(table, "v_sat_pk_u8_i16", kInteger, [](uint32_t a) {
        const auto limited = [](uint32_t half) { return std::clamp<int>(static_cast<i>(half), 0, 255); };
        return static_cast<u>(limited(a & 0xffff) | limited(a >> 16) << 8);
    });
}

/// v_bitop3: the truth table of three inputs.
void run_truth_table(Step& step) {
    Lanes32 rooms[3];
    const uint32_t* a = step.words(0, rooms[0]);
    const uint32_t* b = step.words(1, rooms[1]);
    const uint32_t* c = step.words(2, rooms[2]);
    Lanes32 out{};
    for (uint32_t row = 0; row < 8; ++row) {
        if (((step.op.detail >> row) & 1) == 0) continue;
        for (uint32_t i = 0; i < kLanes; ++i) {
            out.at[i] |=
                ((row & 4) != 0 ? a[i] : ~a[i]) & ((row & 2) != 0 ? b[i] : ~b[i]) & ((row & 1) != 0 ? c[i] : ~c[i]);
        }
    }
    step.put(out, step.all_known());
}

void decode_truth_table(Decode& decode, ValueType type) {
    decode.op().detail = static_cast<uint64_t>(decode.take_number("bitop3").value_or(0));
    decode.op().preserves_high = type == ValueType::B16;
    decode_vector(decode, kInteger, type, {type, type, type});
    decode.op().run = run_truth_table;
}

}  // namespace

void add_vector_integer_ops(DecoderTable& table) {
    add_moves(table);
    add_logic(table);
    add_shifts(table);
    add_sums(table);
    add_extremes(table);
    add_short_ops(table);
    add_carry_ops(table);
    add_wide_multiplies(table);
    table["v_bitop3_b32"] = [](Decode& decode) { decode_truth_table(decode, ValueType::B32); };
    table["v_bitop3_b16"] = [](Decode& decode) { decode_truth_table(decode, ValueType::B16); };
}

}  // namespace emulated_gpu::hip
