// Bits: PTX ISA, chapters "Logic and Shift Instructions", the bit instructions of "Integer Arithmetic Instructions",
// and the moves of "Data Movement and Conversion Instructions" that touch registers only.

#include <algorithm>

#include "tests/emulated_gpu/cuda/lanewise.h"
#include "tests/emulated_gpu/cuda/memory_access.h"

namespace emulated_gpu {
namespace {

/// The bits of a predicate source, inverted where it stands behind '!'.
uint64_t predicate(const Step& step, size_t source, int lane) {
    return (step.source(source)[lane] & 1) ^ ((step.op.negated >> source) & 1);
}

struct And {
    uint64_t operator()(uint64_t a, uint64_t b) const { return a & b; }
};
struct Or {
    uint64_t operator()(uint64_t a, uint64_t b) const { return a | b; }
};
struct Xor {
    uint64_t operator()(uint64_t a, uint64_t b) const { return a ^ b; }
};

template <class F>
Flow predicate_logic(Step& step) {
    uint64_t* out = step.result();
    for_lanes(step.mask, [&](int i) { out[i] = F{}(predicate(step, 0, i), predicate(step, 1, i)); });
    return Flow::Next;
}
template <class F>
void decode_logic(Decode& decode) {
    const Type type = decode.type();
    plain_operands(decode, type, 2);
    decode.op().run = type == Type::Predicate ? &predicate_logic<F> : &binary<uint64_t, F>;
}

template <uint64_t kMask>
Flow invert(Step& step) {
    const uint64_t* a = step.source(0);
    uint64_t* out = step.result();
    for_lanes(step.mask, [&](int i) { out[i] = ~a[i] & kMask; });
    return Flow::Next;
}
void decode_not(Decode& decode) {
    const Type type = decode.type();
    plain_operands(decode, type, 1);
    const int bits = type_bits(type);
    decode.op().run = bits == 1    ? &invert<1>
                      : bits == 16 ? &invert<0xffff>
                      : bits == 32 ? &invert<0xffffffff>
                                   : &invert<~0ULL>;
}

Flow logical_not(Step& step) {
    const uint64_t* a = step.source(0);
    uint64_t* out = step.result();
    for_lanes(step.mask, [&](int i) { out[i] = a[i] == 0; });
    return Flow::Next;
}
void decode_cnot(Decode& decode) {
    plain_operands(decode, decode.type(), 1);
    decode.op().run = &logical_not;
}

/// Any function of three bits; bit 4a + 2b + c of the table is its value.
Flow lookup_3(Step& step) {
    const uint64_t* a = step.source(0);
    const uint64_t* b = step.source(1);
    const uint64_t* c = step.source(2);
    uint64_t* out = step.result();
    for_lanes(step.mask, [&](int i) {
        uint64_t value = 0;
        for (int row = 0; row < 8; ++row) {
            if (((step.op.detail >> row) & 1) == 0) continue;
            value |= (row & 4 ? a[i] : ~a[i]) & (row & 2 ? b[i] : ~b[i]) & (row & 1 ? c[i] : ~c[i]);
        }
        out[i] = static_cast<uint32_t>(value);
    });
    return Flow::Next;
}
void decode_lop3(Decode& decode) {
    decode.expect("b32");
    decode.expect_operands(5, 5);
    decode.result(decode.operand(0));
    for (size_t i = 1; i <= 3; ++i) decode.source(decode.operand(i), Type::B32);
    decode.op().detail = static_cast<uint64_t>(decode.constant(decode.operand(4)));
    decode.op().run = &lookup_3;
}

/// Shifts clamp: amounts of the width or more shift everything out.
template <class T, bool kLeft>
Flow shift(Step& step) {
    const uint64_t* a = step.source(0);
    const uint64_t* b = step.source(1);
    uint64_t* out = step.result();
    constexpr uint32_t kBits = 8 * sizeof(T);
    for_lanes(step.mask, [&](int i) {
        const auto amount = static_cast<uint32_t>(b[i]);
        const T value = from_bits<T>(a[i]);
        if (kLeft)
            out[i] = amount >= kBits ? 0 : to_bits<T>(static_cast<T>(static_cast<uint64_t>(value) << amount));
        else
            out[i] = to_bits<T>(amount >= kBits ? static_cast<T>(std::is_signed_v<T> && value < T{0} ? -1 : 0)
                                                : static_cast<T>(value >> amount));
    });
    return Flow::Next;
}
template <bool kLeft>
struct Shift {
    template <class T>
    Handler operator()() const {
        return &shift<T, kLeft>;
    }
};
template <bool kLeft>
void decode_shift(Decode& decode) {
    const Type type = decode.type();
    decode.expect_operands(3, 3);
    decode.result(decode.operand(0));
    decode.source(decode.operand(1), type);
    decode.source(decode.operand(2), Type::B32);
    decode.op().run = for_integer(decode, type, Shift<kLeft>{});
}

/// shf: 32 bits out of the 64 bits b:a.
Flow funnel_shift(Step& step) {
    const uint64_t* a = step.source(0);
    const uint64_t* b = step.source(1);
    const uint64_t* c = step.source(2);
    uint64_t* out = step.result();
    const bool left = step.op.flag;
    const bool clamp = step.op.detail != 0;
    for_lanes(step.mask, [&](int i) {
        const uint32_t amount = clamp ? std::min<uint32_t>(static_cast<uint32_t>(c[i]), 32) : c[i] & 31;
        const uint64_t both = (b[i] << 32) | static_cast<uint32_t>(a[i]);
        out[i] = static_cast<uint32_t>(left ? both >> (32 - amount) : both >> amount);
    });
    return Flow::Next;
}
void decode_shf(Decode& decode) {
    decode.op().flag = decode.accept("l");
    if (!decode.op().flag) decode.expect("r");
    decode.op().detail = decode.accept("clamp");
    if (decode.op().detail == 0) decode.expect("wrap");
    decode.expect("b32");
    plain_operands(decode, Type::B32, 3);
    decode.op().run = &funnel_shift;
}

struct PopulationCount {
    template <class T>
    uint32_t operator()(T a) const {
        return static_cast<uint32_t>(std::popcount(a));
    }
};
struct LeadingZeros {
    template <class T>
    uint32_t operator()(T a) const {
        return static_cast<uint32_t>(std::countl_zero(a));
    }
};
template <class T, class F>
Flow count_bits(Step& step) {
    const uint64_t* a = step.source(0);
    uint64_t* out = step.result();
    for_lanes(step.mask, [&](int i) { out[i] = F{}(static_cast<T>(a[i])); });
    return Flow::Next;
}
template <class F>
void decode_count(Decode& decode) {
    const Type type = decode.type();
    plain_operands(decode, type, 1);
    decode.op().run = type_bits(type) == 64 ? &count_bits<uint64_t, F> : &count_bits<uint32_t, F>;
}

/// bfind: the highest bit that differs from the sign (for unsigned: the highest set bit), or all ones.
template <class T>
Flow find_highest(Step& step) {
    const uint64_t* a = step.source(0);
    uint64_t* out = step.result();
    constexpr int kBits = 8 * sizeof(T);
    for_lanes(step.mask, [&](int i) {
        auto value = from_bits<T>(a[i]);
        if (std::is_signed_v<T> && value < T{0}) value = static_cast<T>(~value);
        const int leading = std::countl_zero(static_cast<std::make_unsigned_t<T>>(value));
        const int position = kBits - 1 - leading;
        out[i] = leading == kBits ? 0xffffffffU : static_cast<uint32_t>(step.op.flag ? leading : position);
    });
    return Flow::Next;
}
struct FindHighest {
    template <class T>
    Handler operator()() const {
        return &find_highest<T>;
    }
};
void decode_bfind(Decode& decode) {
    decode.op().flag = decode.accept("shiftamt");
    const Type type = decode.type();
    plain_operands(decode, type, 1);
    decode.op().run = for_integer(decode, type, FindHighest{});
}

template <int kBits>
Flow reverse_bits(Step& step) {
    const uint64_t* a = step.source(0);
    uint64_t* out = step.result();
    for_lanes(step.mask, [&](int i) {
        uint64_t reversed = 0;
        for (int bit = 0; bit < kBits; ++bit) reversed |= ((a[i] >> bit) & 1) << (kBits - 1 - bit);
        out[i] = reversed;
    });
    return Flow::Next;
}
void decode_brev(Decode& decode) {
    const Type type = decode.type();
    plain_operands(decode, type, 1);
    decode.op().run = type_bits(type) == 64 ? &reverse_bits<64> : &reverse_bits<32>;
}

/// bfe: `length` bits from `position` up, sign-extended from the field's top bit (or the value's, beyond its end).
template <class T>
Flow extract_field(Step& step) {
    const uint64_t* a = step.source(0);
    const uint64_t* b = step.source(1);
    const uint64_t* c = step.source(2);
    uint64_t* out = step.result();
    constexpr int kBits = 8 * sizeof(T);
    for_lanes(step.mask, [&](int i) {
        const int position = static_cast<int>(b[i] & 0xff);
        const int length = static_cast<int>(c[i] & 0xff);
        const uint64_t value = a[i];
        const int top = std::min(position + length - 1, kBits - 1);
        const bool sign = std::is_signed_v<T> && length != 0 && ((value >> top) & 1);
        uint64_t field = 0;
        for (int bit = 0; bit < kBits; ++bit) {
            const bool inside = bit < length && position + bit < kBits;
            field |= static_cast<uint64_t>(inside ? (value >> (position + bit)) & 1 : sign) << bit;
        }
        out[i] = field;
    });
    return Flow::Next;
}
struct ExtractField {
    template <class T>
    Handler operator()() const {
        return &extract_field<T>;
    }
};
void decode_bfe(Decode& decode) {
    const Type type = decode.type();
    decode.expect_operands(4, 4);
    decode.result(decode.operand(0));
    decode.source(decode.operand(1), type);
    decode.source(decode.operand(2), Type::B32);
    decode.source(decode.operand(3), Type::B32);
    decode.op().run = for_integer(decode, type, ExtractField{});
}

/// bfi: the low `length` bits of a replace those of b from `position` up.
template <int kBits>
Flow insert_field(Step& step) {
    const uint64_t* a = step.source(0);
    const uint64_t* b = step.source(1);
    const uint64_t* c = step.source(2);
    const uint64_t* d = step.source(3);
    uint64_t* out = step.result();
    for_lanes(step.mask, [&](int i) {
        const int position = static_cast<int>(c[i] & 0xff);
        const int length = std::min(static_cast<int>(d[i] & 0xff), kBits - std::min(position, kBits));
        const uint64_t ones = length >= 64 ? ~uint64_t{0} : (uint64_t{1} << length) - 1;
        const uint64_t mask = position >= kBits ? 0 : ones << position;
        out[i] = position >= kBits ? b[i] : ((b[i] & ~mask) | ((a[i] << position) & mask));
    });
    return Flow::Next;
}
void decode_bfi(Decode& decode) {
    const Type type = decode.type();
    decode.expect_operands(5, 5);
    decode.result(decode.operand(0));
    decode.source(decode.operand(1), type);
    decode.source(decode.operand(2), type);
    decode.source(decode.operand(3), Type::B32);
    decode.source(decode.operand(4), Type::B32);
    decode.op().run = type_bits(type) == 64 ? &insert_field<64> : &insert_field<32>;
}

/// bmsk: ones from bit a on, b of them.
Flow bit_mask(Step& step) {
    const uint64_t* a = step.source(0);
    const uint64_t* b = step.source(1);
    uint64_t* out = step.result();
    const bool clamp = step.op.flag;
    for_lanes(step.mask, [&](int i) {
        const uint32_t from = clamp ? std::min<uint32_t>(static_cast<uint32_t>(a[i]), 32) : a[i] & 31;
        const uint32_t count = clamp ? std::min<uint32_t>(static_cast<uint32_t>(b[i]), 32) : b[i] & 31;
        out[i] = static_cast<uint32_t>(((uint64_t{1} << count) - 1) << from);
    });
    return Flow::Next;
}
void decode_bmsk(Decode& decode) {
    decode.op().flag = decode.accept("clamp");
    if (!decode.op().flag) decode.expect("wrap");
    decode.expect("b32");
    plain_operands(decode, Type::B32, 2);
    decode.op().run = &bit_mask;
}

/// The selector of prmt's modes other than the default: byte numbers by the two low bits of c.
uint32_t permute_selector(const std::string& mode, uint32_t c) {
    static const std::map<std::string, std::array<uint32_t, 4>> kModes = {
        {"f4e", {0x3210, 0x4321, 0x5432, 0x6543}}, {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}},
        {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}}, {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}},
        {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}}, {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}}};
    return kModes.at(mode)[c & 3];
}
Flow permute_bytes(Step& step) {
    const uint64_t* a = step.source(0);
    const uint64_t* b = step.source(1);
    const uint64_t* c = step.source(2);
    uint64_t* out = step.result();
    const std::string mode = step.op.detail == 0 ? "" : step.op.instruction->modifiers.back();
    for_lanes(step.mask, [&](int i) {
        const uint64_t bytes = (b[i] << 32) | static_cast<uint32_t>(a[i]);
        const auto selector =
            mode.empty() ? static_cast<uint32_t>(c[i]) : permute_selector(mode, static_cast<uint32_t>(c[i]));
        uint32_t value = 0;
        for (int byte = 0; byte < 4; ++byte) {
            const uint32_t choice = (selector >> (4 * byte)) & 0xf;
            auto picked = static_cast<uint8_t>(bytes >> (8 * (choice & 7)));
            if (mode.empty() && (choice & 8)) picked = picked & 0x80 ? 0xff : 0;
            value |= static_cast<uint32_t>(picked) << (8 * byte);
        }
        out[i] = value;
    });
    return Flow::Next;
}
void decode_prmt(Decode& decode) {
    decode.expect("b32");
    for (const char* mode : {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"}) {
        if (decode.accept(mode)) decode.op().detail = 1;
    }
    plain_operands(decode, Type::B32, 3);
    decode.op().run = &permute_bytes;
}

Flow move(Step& step) {
    const uint64_t* a = step.source(0);
    uint64_t* out = step.result();
    for_lanes(step.mask, [&](int i) { out[i] = a[i]; });
    return Flow::Next;
}
Flow pack(Step& step) {
    uint64_t* out = step.result();
    const int bits = static_cast<int>(step.op.detail);
    for_lanes(step.mask, [&](int i) {
        uint64_t value = 0;
        for (size_t part = 0; part < step.op.source_count; ++part) {
            value |= step.source(part)[i] << (static_cast<int>(part) * bits);
        }
        out[i] = value;
    });
    return Flow::Next;
}
Flow unpack(Step& step) {
    const uint64_t* a = step.source(0);
    const int bits = static_cast<int>(step.op.detail);
    for_lanes(step.mask, [&](int i) {
        const uint64_t value = a[i];
        for (size_t part = 0; part < step.op.result_count; ++part) {
            step.result(part)[i] = (value >> (static_cast<int>(part) * bits)) & ((uint64_t{1} << bits) - 1);
        }
    });
    return Flow::Next;
}
/// Reading a clock: the warp instructions executed so far.
Flow read_clock(Step& step) {
    uint64_t* out = step.result();
    for_lanes(step.mask, [&](int i) {
        out[i] = step.op.type == Type::U64 ? step.launch.executed : static_cast<uint32_t>(step.launch.executed);
    });
    return Flow::Next;
}
void decode_mov(Decode& decode) {
    const Type type = decode.type();
    Op& op = decode.op();
    op.klass = InstructionClass::Move;
    op.type = type;
    decode.expect_operands(2, 2);
    const Operand& from = decode.operand(1);
    const Operand& to = decode.operand(0);
    if (from.kind == Operand::Kind::Special &&
        (from.name.starts_with("%clock") || from.name.starts_with("%globaltimer"))) {
        decode.result(to);
        op.run = &read_clock;
        return;
    }
    decode.results_of(to);
    const size_t results = to.kind == Operand::Kind::Vector ? to.parts.size() : 1;
    const size_t sources = from.kind == Operand::Kind::Vector ? from.parts.size() : 1;
    const auto width = static_cast<uint64_t>(type_bits(type));
    if (results > 1 && sources > 1) decode.refuse("a move between vectors");
    if (results > 1 || sources > 1) {
        op.detail = width / std::max(results, sources);
        const Type part = op.detail == 8 ? Type::B8 : op.detail == 16 ? Type::B16 : Type::B32;
        decode.sources_of(from, sources > 1 ? part : type);
        op.run = sources > 1 ? &pack : &unpack;
        return;
    }
    decode.source(from, type);
    op.run = &move;
}

/// cvta: between a space's own addresses and generic ones.
Flow add_offset(Step& step) {
    const uint64_t* a = step.source(0);
    uint64_t* out = step.result();
    const auto offset = static_cast<uint64_t>(step.op.offset);
    for_lanes(step.mask, [&](int i) { out[i] = a[i] + offset; });
    return Flow::Next;
}
void decode_cvta(Decode& decode) {
    const bool to = decode.accept("to");
    int64_t window = 0;
    if (decode.accept("shared") || decode.accept("shared::cta") || decode.accept("shared::cluster"))
        window = static_cast<int64_t>(kSharedWindow);
    else if (decode.accept("local"))
        window = static_cast<int64_t>(kLocalWindow);
    else if (decode.accept("param"))
        window = static_cast<int64_t>(decode.function().source->is_entry ? kParameterWindow : kLocalWindow);
    else if (!decode.accept("global") && !decode.accept("const"))
        decode.fail("cvta lacks a state space");
    const Type type = decode.type();
    if (type != Type::U64) decode.refuse("type ." + type_name(type));
    plain_operands(decode, type, 1);
    decode.op().offset = to ? -window : window;
    decode.op().run = &add_offset;
    decode.op().klass = InstructionClass::Move;
}

Flow in_space(Step& step) {
    const uint64_t* a = step.source(0);
    uint64_t* out = step.result();
    const auto inside = [](uint64_t address, uint64_t window) { return address - window < kWindowBytes; };
    for_lanes(step.mask, [&](int i) {
        const bool shared = inside(a[i], kSharedWindow);
        const bool local = inside(a[i], kLocalWindow);
        const bool parameter = inside(a[i], kParameterWindow);
        const Space space = shared      ? Space::Shared
                            : local     ? Space::Local
                            : parameter ? Space::Parameter
                                        : Space::Global;
        out[i] = space == step.op.space;
        // op.flag: shared memory of this block, not of others of its cluster
        const uint64_t block = (a[i] - kSharedWindow) >> kRankShift;
        if (step.op.flag && shared && block != 0 && block != uint64_t{step.block.rank} + 1) out[i] = 0;
    });
    return Flow::Next;
}
void decode_isspacep(Decode& decode) {
    decode.op().flag = decode.accept("shared") || decode.accept("shared::cta");
    if (decode.op().flag || decode.accept("shared::cluster"))
        decode.op().space = Space::Shared;
    else if (decode.accept("local"))
        decode.op().space = Space::Local;
    else if (decode.accept("param"))
        decode.op().space = Space::Parameter;
    else if (decode.accept("global"))
        decode.op().space = Space::Global;
    else
        decode.refuse();
    plain_operands(decode, Type::B64, 1);
    decode.op().run = &in_space;
}

}  // namespace

void add_logic_decoders(std::map<std::string, Decoder>& decoders) {
    decoders["and"] = &decode_logic<And>;
    decoders["or"] = &decode_logic<Or>;
    decoders["xor"] = &decode_logic<Xor>;
    decoders["not"] = &decode_not;
    decoders["cnot"] = &decode_cnot;
    decoders["lop3"] = &decode_lop3;
    decoders["shl"] = &decode_shift<true>;
    decoders["shr"] = &decode_shift<false>;
    decoders["shf"] = &decode_shf;
    decoders["popc"] = &decode_count<PopulationCount>;
    decoders["clz"] = &decode_count<LeadingZeros>;
    decoders["bfind"] = &decode_bfind;
    decoders["brev"] = &decode_brev;
    decoders["bfe"] = &decode_bfe;
    decoders["bfi"] = &decode_bfi;
    decoders["bmsk"] = &decode_bmsk;
    decoders["prmt"] = &decode_prmt;
    decoders["mov"] = &decode_mov;
    decoders["cvta"] = &decode_cvta;
    decoders["isspacep"] = &decode_isspacep;
}

}  // namespace emulated_gpu
