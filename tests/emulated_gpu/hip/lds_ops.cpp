// DS instructions: LDS, and what passes through its crossbar (CDNA ISA, "Data Share Operations").

#include <algorithm>

#include "tests/emulated_gpu/hip/vector_access.h"

namespace emulated_gpu::hip {
namespace {

constexpr uint64_t kCompares = uint64_t{1} << 9;        // there is a compared value besides the new one,
constexpr uint64_t kComparesFirst = uint64_t{1} << 10;  // and it comes first

void issue_lds(Step& step, std::vector<LdsRange> ranges, uint32_t registers) {
    Pending pending;
    pending.kind = Pending::Kind::Lds;
    pending.first = step.op.result.index;
    pending.count = static_cast<uint16_t>(registers);
    pending.ranges = std::move(ranges);
    issue(step, std::move(pending));
}

/// Lane addresses plus an offset.
LaneAddresses addresses_of(Step& step, uint64_t offset, uint32_t bytes) {
    LaneAddresses access;
    access.mask = step.exec;
    access.bytes = bytes;
    if (step.exec == 0) return access;
    step.require_known(step.known(0), "an address");
    const uint32_t* base = vector_words(step, 0);
    // Modulo 2^32: a base below 0 with an offset is in order.
    for (uint32_t i = 0; i < kLanes; ++i) access.address[i] = static_cast<uint32_t>(base[i] + offset);
    return access;
}

/// Neighbouring lanes' ranges are united where they touch.
void add_range(std::vector<LdsRange>& ranges, uint32_t offset, uint32_t bytes, bool write) {
    if (!ranges.empty() && ranges.back().write == write && ranges.back().offset + ranges.back().bytes == offset)
        ranges.back().bytes += bytes;
    else
        ranges.push_back({offset, bytes, write});
}

/// Lanes of one store that write different values to the same byte race with each other.
void check_lanes_agree(Step& step, const LaneAddresses& access, const uint8_t (*data)[16]) {
    if (step.group.shadow == nullptr) return;
    std::array<std::pair<uint64_t, uint32_t>, kLanes> order;
    size_t count = 0;
    for_lanes(access.mask, [&](uint32_t lane) { order[count++] = {access.address[lane], lane}; });
    if (!std::is_sorted(order.begin(), order.begin() + static_cast<ptrdiff_t>(count))) {
        std::sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(count));
    }
    for (size_t i = 1; i < count; ++i) {
        const auto [before, lane_before] = order[i - 1];
        const auto [at, lane] = order[i];
        if (at >= before + access.bytes) continue;
        const uint64_t shift = at - before;
        if (std::memcmp(data[lane_before] + shift, data[lane], access.bytes - shift) == 0) continue;
        throw Fault{FaultKind::SharedRace,
                    "lanes " + std::to_string(lane_before) + " and " + std::to_string(lane) +
                        " write different values to the " + std::to_string(access.bytes) + " bytes of LDS at " +
                        std::to_string(at),
                    static_cast<int>(lane)};
    }
}

/// Calls `touch(lane, offset, bytes)` for stretches of LDS that neighbouring lanes touch one behind the other, or lane
/// by lane where a stretch is not aligned as a whole or has a fault, which is to name its lane.
template <class Touch>
void for_stretches(const LaneAddresses& access, Touch touch) {
    for (uint64_t left = access.mask; left != 0;) {
        const auto first = static_cast<uint32_t>(std::countr_zero(left));
        uint32_t last = first;
        const auto continues = [&](uint32_t lane) {
            return lane < kLanes && ((left >> lane) & 1) != 0 &&
                   access.address[lane] == access.address[lane - 1] + access.bytes;
        };
        while (continues(last + 1)) ++last;
        left = last == kLanes - 1 ? 0 : left >> (last + 1) << (last + 1);
        const uint32_t lanes = last - first + 1;
        bool is_done = false;
        try {
            const bool is_aligned = access.address[first] % 4 == 0;
            if (is_aligned) touch(first, access.address[first], lanes * access.bytes);
            is_done = is_aligned;
        } catch (const Fault&) {
        }
        if (is_done) continue;
        for (uint32_t lane = first; lane <= last; ++lane) touch(lane, access.address[lane], access.bytes);
    }
}

/// Checks the access to LDS and takes note of it.
void touch_lds(Step& step, const LaneAddresses& access, std::vector<LdsRange>& ranges, Access kind) {
    for_stretches(access, [&](uint32_t lane, uint64_t offset, uint32_t bytes) {
        lds_bytes(step, static_cast<int>(lane), offset, bytes, kind);
        note_lds(step, lane, static_cast<uint32_t>(offset), bytes, kind);
        add_range(ranges, static_cast<uint32_t>(offset), bytes, kind == Access::Store);
    });
    count_lds(step.launch.counters, access, kind == Access::Store);
}

void read_into(Step& step, const LaneAddresses& access, std::vector<LdsRange>& ranges, uint8_t (*data)[16]) {
    touch_lds(step, access, ranges, Access::Load);
    const uint8_t* lds = step.group.lds.data();
    for_lanes(access.mask, [&](uint32_t lane) { std::memcpy(data[lane], lds + access.address[lane], access.bytes); });
}

void write_from(Step& step, const LaneAddresses& access, std::vector<LdsRange>& ranges, const uint8_t (*data)[16]) {
    check_lanes_agree(step, access, data);
    touch_lds(step, access, ranges, Access::Store);
    uint8_t* lds = step.group.lds.data();
    for_lanes(access.mask, [&](uint32_t lane) { std::memcpy(lds + access.address[lane], data[lane], access.bytes); });
}

void run_read(Step& step) {
    alignas(64) uint8_t data[kLanes][16] = {};
    std::vector<LdsRange> ranges;
    const LaneAddresses access = addresses_of(step, static_cast<uint64_t>(step.op.immediate), step.op.bytes);
    read_into(step, access, ranges, data);
    put_loaded(step, format_of(step.op), step.op.bytes, data);
    issue_lds(step, std::move(ranges), registers_for(step.op.bytes));
}

void run_write(Step& step) {
    alignas(64) uint8_t data[kLanes][16];
    std::vector<LdsRange> ranges;
    const LaneAddresses access = addresses_of(step, static_cast<uint64_t>(step.op.immediate), step.op.bytes);
    step.require_known(step.known(1, registers_for(step.op.bytes)), "stored");
    for_lanes(step.exec,
              [&](uint32_t lane) { gather_bytes(step, 1, format_of(step.op), step.op.bytes, lane, data[lane]); });
    write_from(step, access, ranges, data);
    issue_lds(step, std::move(ranges), 0);
}

/// CDNA4's ds_read_b64_tr_b16 and its kin: 16 lanes read rows of 16 elements, as many rows as an element goes into 64
/// bits, and lane i of them gets column i (CDNA4 ISA, "MFMA Transpose Load from LDS"). Op::detail: bits of an element.
void run_read_transposed(Step& step) {
    if (step.exec != kAllLanes) {
        throw Fault{FaultKind::Trap, "a transposing load of LDS needs all lanes, but some are inactive"};
    }
    alignas(64) uint8_t data[kLanes][16] = {};
    alignas(64) uint8_t columns[kLanes][16] = {};
    std::vector<LdsRange> ranges;
    const LaneAddresses access = addresses_of(step, static_cast<uint64_t>(step.op.immediate), 8);
    read_into(step, access, ranges, data);
    const auto bits = static_cast<uint32_t>(step.op.detail);
    const uint32_t rows = 64 / bits;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const uint32_t column = lane % 16;
        uint64_t packed = 0;
        for (uint32_t row = 0; row < rows; ++row) {
            uint64_t words = 0;
            std::memcpy(&words, data[lane - column + row * 16 / rows + column / rows], sizeof words);
            const uint64_t element = words >> (column % rows * bits) & ((uint64_t{1} << bits) - 1);
            packed |= element << (row * bits);
        }
        std::memcpy(columns[lane], &packed, sizeof packed);
    }
    put_loaded(step, Format::Words, 8, columns);
    issue_lds(step, std::move(ranges), 2);
}

/// The two offsets of ds_read2 and ds_write2, in bytes.
struct TwoOffsets {
    uint64_t first;
    uint64_t second;
};
TwoOffsets two_offsets(const Op& op) {
    return {static_cast<uint64_t>(op.immediate) & 0xffff'ffff, static_cast<uint64_t>(op.immediate) >> 32};
}

void run_read2(Step& step) {
    alignas(64) uint8_t first[kLanes][16] = {};
    alignas(64) uint8_t second[kLanes][16] = {};
    std::vector<LdsRange> ranges;
    const TwoOffsets offsets = two_offsets(step.op);
    read_into(step, addresses_of(step, offsets.first, step.op.bytes), ranges, first);
    read_into(step, addresses_of(step, offsets.second, step.op.bytes), ranges, second);
    for_lanes(step.exec, [&](uint32_t lane) { std::memcpy(first[lane] + step.op.bytes, second[lane], step.op.bytes); });
    put_loaded(step, Format::Words, 2 * step.op.bytes, first);
    issue_lds(step, std::move(ranges), 2 * step.op.bytes / 4);
}

void run_write2(Step& step) {
    alignas(64) uint8_t data[kLanes][16];
    std::vector<LdsRange> ranges;
    const TwoOffsets offsets = two_offsets(step.op);
    for (const size_t source : {size_t{1}, size_t{2}}) {
        step.require_known(step.known(source, step.op.bytes / 4), "stored");
        for_lanes(step.exec,
                  [&](uint32_t lane) { gather_bytes(step, source, Format::Words, step.op.bytes, lane, data[lane]); });
        const uint64_t offset = source == 1 ? offsets.first : offsets.second;
        write_from(step, addresses_of(step, offset, step.op.bytes), ranges, data);
    }
    issue_lds(step, std::move(ranges), 0);
}

void run_atomic(Step& step) {
    const uint32_t bytes = step.op.bytes;
    const bool compares = (step.op.detail & kCompares) != 0;
    const bool compares_first = (step.op.detail & kComparesFirst) != 0;
    std::vector<LdsRange> ranges;
    const LaneAddresses access = addresses_of(step, static_cast<uint64_t>(step.op.immediate), bytes);
    for (size_t i = 1; i < step.op.source_count; ++i) step.require_known(step.known(i, bytes / 4), "used by an atomic");
    alignas(64) uint8_t old_values[kLanes][16] = {};
    for_lanes(access.mask, [&](uint32_t lane) {
        uint8_t bits[16] = {};
        uint64_t data = 0;
        uint64_t compare = 0;
        gather_bytes(step, compares_first ? 2 : 1, Format::Words, bytes, lane, bits);
        std::memcpy(&data, bits, bytes);
        if (compares) {
            gather_bytes(step, compares_first ? 1 : 2, Format::Words, bytes, lane, bits);
            std::memcpy(&compare, bits, bytes);
        }
        uint8_t* at = lds_bytes(step, static_cast<int>(lane), access.address[lane], bytes, Access::Atomic);
        note_lds(step, lane, static_cast<uint32_t>(access.address[lane]), bytes, Access::Atomic);
        uint64_t old = 0;
        std::memcpy(&old, at, bytes);
        std::memcpy(old_values[lane], &old, bytes);
        const uint64_t now = apply_atomic(atomic_of(step.op), bytes, old, data, compare);
        std::memcpy(at, &now, bytes);
    });
    count_lds(step.launch.counters, access, true);
    const bool returns = (step.op.detail & kReturnsOld) != 0;
    if (returns) put_loaded(step, Format::Words, bytes, old_values);
    issue_lds(step, {}, returns ? bytes / 4 : 0);
}

// ds_permute and its kin move values between lanes and touch no memory.

void put_moved(Step& step, Lanes32& moved, uint64_t known) {
    step.put_raw(step.op.result.index, moved.at, known);
    issue_lds(step, {}, 1);
}

/// Each lane reads the lane that its address, in bytes, names; inactive ones give 0, unless `detail` is set.
void run_backward_permute(Step& step) {
    step.require_known(step.known(0), "the number of a lane");
    const uint32_t* address = vector_words(step, 0);
    const uint32_t* data = vector_words(step, 1);
    const uint64_t known = step.known(1);
    const bool reads_inactive = step.op.detail != 0;
    Lanes32 moved{};
    uint64_t moved_known = 0;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const uint32_t from = (address[lane] + static_cast<uint32_t>(step.op.immediate)) / 4 % step.lanes();
        const bool active = reads_inactive || ((step.exec >> from) & 1) != 0;
        moved.at[lane] = active ? data[from] : 0;
        moved_known |= uint64_t{!active || ((known >> from) & 1) != 0} << lane;
    }
    put_moved(step, moved, moved_known);
}

/// Each lane writes to the lane that its address names; the highest lane wins.
void run_forward_permute(Step& step) {
    step.require_known(step.known(0), "the number of a lane");
    const uint32_t* address = vector_words(step, 0);
    const uint32_t* data = vector_words(step, 1);
    const uint64_t known = step.known(1);
    Lanes32 moved{};
    uint64_t moved_known = kAllLanes;
    for_lanes(step.exec, [&](uint32_t lane) {
        const uint32_t to = (address[lane] + static_cast<uint32_t>(step.op.immediate)) / 4 % step.lanes();
        moved.at[to] = data[lane];
        if (((known >> lane) & 1) == 0) moved_known &= ~(uint64_t{1} << to);
    });
    put_moved(step, moved, moved_known);
}

/// The lane that `lane` reads by ds_swizzle's pattern: four lanes at will, or and, or and xor of the lane's lower bits.
uint32_t swizzled_lane(uint32_t pattern, uint32_t lane) {
    if ((pattern & 0x8000) != 0) return (lane & ~3U) + ((pattern >> (2 * (lane & 3))) & 3);
    const uint32_t in_half = ((lane & 31 & pattern) | ((pattern >> 5) & 31)) ^ ((pattern >> 10) & 31);
    return (lane & ~31U) + in_half;
}

void run_swizzle(Step& step) {
    const uint32_t* data = vector_words(step, 0);
    const uint64_t known = step.known(0);
    Lanes32 moved{};
    uint64_t moved_known = 0;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const uint32_t from = swizzled_lane(static_cast<uint32_t>(step.op.immediate), lane);
        const bool active = ((step.exec >> from) & 1) != 0;
        moved.at[lane] = active ? data[from] : 0;
        moved_known |= uint64_t{!active || ((known >> from) & 1) != 0} << lane;
    }
    put_moved(step, moved, moved_known);
}

/// The pattern of "swizzle(SWAP,16)" and the like, as LLVM spells them.
int64_t swizzle_pattern(const Decode& decode, std::string text) {
    int64_t pattern = 0;
    if (parse_integer(text, pattern)) return pattern;
    if (!text.starts_with("swizzle(")) decode.refuse("pattern " + text);
    text = text.substr(8, text.size() - 9);
    std::erase(text, ' ');
    const std::string kind = text.substr(0, text.find(','));
    const std::string rest = text.substr(text.find(',') + 1);
    if (kind == "BITMASK_PERM") {  // "01pip": for each bit 0, 1, keep or invert
        const std::string bits = rest.substr(1, 5);
        for (size_t i = 0; i < 5; ++i) {
            const int64_t bit = 16 >> i;
            if (bits[i] == 'p' || bits[i] == 'i') pattern |= bit;
            if (bits[i] == '1') pattern |= bit << 5;
            if (bits[i] == 'i') pattern |= bit << 10;
        }
        return pattern;
    }
    const std::vector<int64_t> numbers = parse_list("[" + rest + "]");
    if (kind == "QUAD_PERM") {
        return 0x8000 | numbers.at(0) | numbers.at(1) << 2 | numbers.at(2) << 4 | numbers.at(3) << 6;
    }
    if (kind == "SWAP") return 31 | numbers.at(0) << 10;
    if (kind == "REVERSE") return 31 | (numbers.at(0) - 1) << 10;
    if (kind == "BROADCAST") return (31 & ~(numbers.at(0) - 1)) | numbers.at(1) << 5;
    decode.refuse("pattern " + kind);
}

void decode_read(Decode& decode, const AccessForm& form) {
    decode.expect_operands(2, 2);
    decode.op().klass = InstructionClass::Lds;
    decode.op().detail = static_cast<uint64_t>(form.format);
    decode.op().bytes = form.bytes;
    decode.op().immediate = decode.take_number("offset").value_or(0);
    decode.vector_register(0, registers_for(form.bytes));
    decode.result(0, ValueType::Wide);
    decode.source(1, ValueType::B32);
    decode.op().run = run_read;
}

void decode_write(Decode& decode, const AccessForm& form) {
    decode.expect_operands(2, 2);
    decode.op().klass = InstructionClass::Lds;
    decode.op().detail = static_cast<uint64_t>(form.format);
    decode.op().bytes = form.bytes;
    decode.op().immediate = decode.take_number("offset").value_or(0);
    decode.source(0, ValueType::B32);
    decode.vector_register(1, registers_for(form.bytes));
    decode.source(1, ValueType::Wide);
    decode.op().run = run_write;
}

/// Offsets of two accesses count elements, or 64 elements where the name says st64.
void take_two_offsets(Decode& decode, uint32_t bytes, bool strided) {
    const int64_t unit = strided ? 64 * bytes : bytes;
    const int64_t first = decode.take_number("offset0").value_or(0) * unit;
    const int64_t second = decode.take_number("offset1").value_or(0) * unit;
    decode.op().immediate = first | second << 32;
    decode.op().bytes = bytes;
    decode.op().klass = InstructionClass::Lds;
}

void add_lds_pairs(DecoderTable& table, const std::string& width, uint32_t bytes) {
    for (const bool strided : {false, true}) {
        const std::string middle = strided ? "2st64_" : "2_";
        table["ds_read" + middle + width] = [=](Decode& decode) {
            decode.expect_operands(2, 2);
            take_two_offsets(decode, bytes, strided);
            decode.vector_register(0, 2 * bytes / 4);
            decode.result(0, ValueType::Wide);
            decode.source(1, ValueType::B32);
            decode.op().run = run_read2;
        };
        table["ds_write" + middle + width] = [=](Decode& decode) {
            decode.expect_operands(3, 3);
            take_two_offsets(decode, bytes, strided);
            decode.source(0, ValueType::B32);
            for (const size_t operand : {size_t{1}, size_t{2}}) {
                decode.vector_register(operand, bytes / 4);
                decode.source(operand, ValueType::Wide);
            }
            decode.op().run = run_write2;
        };
        const std::string rdna_middle = strided ? "2addr_stride64_" : "2addr_";
        table["ds_load_" + rdna_middle + width] = table["ds_read" + middle + width];
        table["ds_store_" + rdna_middle + width] = table["ds_write" + middle + width];
    }
}

void decode_atomic(Decode& decode, const AtomicForm& form, bool returns) {
    const bool compares = form.kind == AtomicKind::CompareSwap || form.kind == AtomicKind::CompareSwapF32 ||
                          form.kind == AtomicKind::MaskedOr;
    // RDNA's cmpstore has the new value first.
    const bool compares_first = compares && decode.instruction().mnemonic.find("cmpstore") == std::string::npos;
    const size_t first = returns ? 1 : 0;
    decode.expect_operands(first + (compares ? 3 : 2), first + (compares ? 3 : 2));
    Op& op = decode.op();
    op.klass = InstructionClass::Lds;
    op.detail = static_cast<uint64_t>(form.kind) | (returns ? kReturnsOld : 0) | (compares ? kCompares : 0) |
                (compares_first ? kComparesFirst : 0);
    op.bytes = form.bytes;
    op.immediate = decode.take_number("offset").value_or(0);
    if (returns) {
        decode.vector_register(0, form.bytes / 4);
        decode.result(0, ValueType::Wide);
    }
    decode.source(first, ValueType::B32);
    for (size_t i = first + 1; i < decode.operand_count(); ++i) {
        decode.vector_register(i, form.bytes / 4);
        decode.source(i, ValueType::Wide);
    }
    op.run = run_atomic;
}

constexpr AccessForm kReads[] = {
    {"u8", Format::U8, 1},          {"i8", Format::I8, 1},
    {"u16", Format::U16, 2},        {"i16", Format::I16, 2},
    {"b32", Format::Words, 4},      {"b64", Format::Words, 8},
    {"b96", Format::Words, 12},     {"b128", Format::Words, 16},
    {"u8_d16", Format::U8Low, 1},   {"u8_d16_hi", Format::U8High, 1},
    {"i8_d16", Format::I8Low, 1},   {"i8_d16_hi", Format::I8High, 1},
    {"u16_d16", Format::U16Low, 2}, {"u16_d16_hi", Format::U16High, 2},
};
constexpr AccessForm kWrites[] = {
    {"b8", Format::U8, 1},
    {"b16", Format::U16, 2},
    {"b8_d16_hi", Format::U8High, 1},
    {"b16_d16_hi", Format::U16High, 2},
    {"b32", Format::Words, 4},
    {"b64", Format::Words, 8},
    {"b96", Format::Words, 12},
    {"b128", Format::Words, 16},
};
constexpr AtomicForm kAtomics[] = {
    {"add_u32", AtomicKind::Add, 4},
    {"sub_u32", AtomicKind::Subtract, 4},
    {"rsub_u32", AtomicKind::ReverseSubtract, 4},
    {"inc_u32", AtomicKind::Increment, 4},
    {"dec_u32", AtomicKind::Decrement, 4},
    {"min_i32", AtomicKind::SignedMin, 4},
    {"max_i32", AtomicKind::SignedMax, 4},
    {"min_u32", AtomicKind::UnsignedMin, 4},
    {"max_u32", AtomicKind::UnsignedMax, 4},
    {"and_b32", AtomicKind::And, 4},
    {"or_b32", AtomicKind::Or, 4},
    {"xor_b32", AtomicKind::Xor, 4},
    {"mskor_b32", AtomicKind::MaskedOr, 4},
    {"wrxchg_b32", AtomicKind::Swap, 4},
    {"cmpst_b32", AtomicKind::CompareSwap, 4},
    {"cmpst_f32", AtomicKind::CompareSwapF32, 4},
    {"add_f32", AtomicKind::AddF32, 4},
    {"min_f32", AtomicKind::MinF32, 4},
    {"max_f32", AtomicKind::MaxF32, 4},
    {"pk_add_f16", AtomicKind::PackedAddF16, 4},
    {"pk_add_bf16", AtomicKind::PackedAddBf16, 4},
    {"add_u64", AtomicKind::Add, 8},
    {"sub_u64", AtomicKind::Subtract, 8},
    {"inc_u64", AtomicKind::Increment, 8},
    {"dec_u64", AtomicKind::Decrement, 8},
    {"min_i64", AtomicKind::SignedMin, 8},
    {"max_i64", AtomicKind::SignedMax, 8},
    {"min_u64", AtomicKind::UnsignedMin, 8},
    {"max_u64", AtomicKind::UnsignedMax, 8},
    {"and_b64", AtomicKind::And, 8},
    {"or_b64", AtomicKind::Or, 8},
    {"xor_b64", AtomicKind::Xor, 8},
    {"wrxchg_b64", AtomicKind::Swap, 8},
    {"cmpst_b64", AtomicKind::CompareSwap, 8},
    {"add_f64", AtomicKind::AddF64, 8},
    {"min_f64", AtomicKind::MinF64, 8},
    {"max_f64", AtomicKind::MaxF64, 8},
    // As RDNA names them.
    {"storexchg_b32", AtomicKind::Swap, 4},
    {"storexchg_b64", AtomicKind::Swap, 8},
    {"cmpstore_b32", AtomicKind::CompareSwap, 4},
    {"cmpstore_b64", AtomicKind::CompareSwap, 8},
    {"cmpstore_f32", AtomicKind::CompareSwapF32, 4},
    {"min_num_f32", AtomicKind::MinF32, 4},
    {"max_num_f32", AtomicKind::MaxF32, 4},
    {"min_num_f64", AtomicKind::MinF64, 8},
    {"max_num_f64", AtomicKind::MaxF64, 8},
    {"cond_sub_u32", AtomicKind::ConditionalSubtract, 4},
    {"sub_clamp_u32", AtomicKind::SubtractToZero, 4},
};

/// "add_u32" returning the old value is "add_rtn_u32".
std::string returning_name(const std::string& name) {
    const size_t last = name.rfind('_');
    return name.substr(0, last) + "_rtn" + name.substr(last);
}

void decode_permute(Decode& decode, Handler handler) {
    decode.expect_operands(3, 3);
    // The RDNA3 document takes numbers of lanes modulo 32 there and leaves open in which half.
    const Architecture& architecture = decode.architecture();
    if (architecture.family == Family::Rdna3 && architecture.wave_lanes == 64) decode.refuse("the wave of 64 lanes");
    decode.op().klass = InstructionClass::CrossLane;
    decode.op().immediate = decode.take_number("offset").value_or(0);
    decode.result(0, ValueType::B32);
    decode.source(1, ValueType::B32);
    decode.source(2, ValueType::B32);
    decode.op().run = handler;
}

}  // namespace

void add_lds_ops(DecoderTable& table) {
    for (const AccessForm& form : kReads) {
        for (const std::string verb : {"ds_read_", "ds_load_"}) {
            table[verb + form.name] = [&form](Decode& decode) { decode_read(decode, form); };
        }
    }
    for (const AccessForm& form : kWrites) {
        for (const std::string verb : {"ds_write_", "ds_store_"}) {
            table[verb + form.name] = [&form](Decode& decode) { decode_write(decode, form); };
        }
    }
    add_lds_pairs(table, "b32", 4);
    add_lds_pairs(table, "b64", 8);
    for (const AtomicForm& form : kAtomics) {
        table[std::string("ds_") + form.name] = [&form](Decode& decode) { decode_atomic(decode, form, false); };
        table["ds_" + returning_name(form.name)] = [&form](Decode& decode) { decode_atomic(decode, form, true); };
    }
    for (const auto& [name, bits] : {std::pair{"b16", 16U}, {"b8", 8U}, {"b4", 4U}}) {
        table[std::string("ds_read_b64_tr_") + name] = [bits = bits](Decode& decode) {
            decode_read(decode, {"", Format::Words, 8});
            decode.op().detail = bits;
            decode.op().run = run_read_transposed;
        };
    }
    table["ds_bpermute_b32"] = [](Decode& decode) { decode_permute(decode, run_backward_permute); };
    table["ds_bpermute_fi_b32"] = [](Decode& decode) {
        decode_permute(decode, run_backward_permute);
        decode.op().detail = 1;
    };
    table["ds_permute_b32"] = [](Decode& decode) { decode_permute(decode, run_forward_permute); };
    table["ds_swizzle_b32"] = [](Decode& decode) {
        decode.expect_operands(2, 2);
        decode.op().klass = InstructionClass::CrossLane;
        decode.op().immediate = swizzle_pattern(decode, decode.take_text("offset").value_or("0"));
        decode.result(0, ValueType::B32);
        decode.source(1, ValueType::B32);
        decode.op().run = run_swizzle;
    };
    table["ds_nop"] = [](Decode& decode) {
        decode.op().klass = InstructionClass::Lds;
        decode.op().run = [](Step&) {};
    };
}

}  // namespace emulated_gpu::hip
