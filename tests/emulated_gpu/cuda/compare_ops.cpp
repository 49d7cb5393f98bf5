// Comparison and selection: PTX ISA, chapters "Comparison and Selection Instructions" and "Half Precision Comparison
// Instructions", and testp and copysign of "Floating Point Instructions".

#include <cmath>

#include "tests/emulated_gpu/cuda/lanewise.h"

namespace emulated_gpu {
namespace {

const std::map<std::string, Compare> kCompares = {
    {"eq", Compare::Eq},   {"ne", Compare::Ne},   {"lt", Compare::Lt},   {"le", Compare::Le},   {"gt", Compare::Gt},
    {"ge", Compare::Ge},   {"lo", Compare::Lt},   {"ls", Compare::Le},   {"hi", Compare::Gt},   {"hs", Compare::Ge},
    {"equ", Compare::Equ}, {"neu", Compare::Neu}, {"ltu", Compare::Ltu}, {"leu", Compare::Leu}, {"gtu", Compare::Gtu},
    {"geu", Compare::Geu}, {"num", Compare::Num}, {"nan", Compare::Nan}};

/// The ordered comparisons are false, the unordered ones true, if an operand is NaN.
template <class T>
bool compare(Compare how, T a, T b) {
    const bool unordered = a != a || b != b;
    switch (how) {
        case Compare::Eq:
            return !unordered && a == b;
        case Compare::Ne:
            return !unordered && a != b;
        case Compare::Lt:
            return a < b;
        case Compare::Le:
            return a <= b;
        case Compare::Gt:
            return a > b;
        case Compare::Ge:
            return a >= b;
        case Compare::Equ:
            return unordered || a == b;
        case Compare::Neu:
            return unordered || a != b;
        case Compare::Ltu:
            return unordered || a < b;
        case Compare::Leu:
            return unordered || a <= b;
        case Compare::Gtu:
            return unordered || a > b;
        case Compare::Geu:
            return unordered || a >= b;
        case Compare::Num:
            return !unordered;
        case Compare::Nan:
            return unordered;
    }
    return false;
}

uint64_t combine(const Step& step, uint64_t compared, int lane) {
    if (step.op.combine == Combine::None) return compared;
    const size_t last = step.op.source_count - 1U;
    const uint64_t other = (step.source(last)[lane] & 1) ^ ((step.op.negated >> last) & 1);
    switch (step.op.combine) {
        case Combine::None:
            break;
        case Combine::And:
            return compared & other;
        case Combine::Or:
            return compared | other;
        case Combine::Xor:
            return compared ^ other;
    }
    return compared;
}

/// Reads lane values of the compared type.
template <class T>
struct Plain {
    static T read(uint64_t bits, bool) { return from_bits<T>(bits); }
};
struct FlushingF32 {
    static float read(uint64_t bits, bool flush) { return flush ? flush_subnormal(as_f32(bits)) : as_f32(bits); }
};
template <const FloatFormat& kFormat>
struct Small {
    static double read(uint64_t bits, bool flush) {
        const double value = decode_float(static_cast<uint32_t>(bits & 0xffff), kFormat);
        return flush && std::fabs(value) < 0x1p-14 ? std::copysign(0.0, value) : value;
    }
};

uint64_t set_value(Type type, uint64_t holds) {
    if (holds == 0) return 0;
    if (type == Type::F32) return 0x3f800000;
    if (type == Type::F16) return 0x3c00;
    if (type == Type::BF16) return 0x3f80;
    if (type_bits(type) == 16) return 0xffff;
    return 0xffffffffU;
}

/// setp and set of one value a lane; op.type is the result's type, Predicate for setp, which may have two results.
template <class Reader>
Flow compare_lanes(Step& step) {
    const uint64_t* a = step.source(0);
    const uint64_t* b = step.source(1);
    const Op& op = step.op;
    for_lanes(step.mask, [&](int i) {
        const bool holds = compare(op.compare, Reader::read(a[i], op.mode.flush), Reader::read(b[i], op.mode.flush));
        const uint64_t first = combine(step, holds, i);
        const uint64_t second = op.result_count > 1 ? combine(step, !holds, i) : 0;
        step.result(0)[i] = op.type == Type::Predicate ? first : set_value(op.type, first);
        if (op.result_count > 1) step.result(1)[i] = second;
    });
    return Flow::Next;
}

/// f16x2 and bf16x2: setp gives one predicate for each half, set packs two values.
template <class Reader>
Flow compare_halves(Step& step) {
    const uint64_t* a = step.source(0);
    const uint64_t* b = step.source(1);
    const Op& op = step.op;
    const Type element = op.type == Type::F16x2 ? Type::F16 : op.type == Type::BF16x2 ? Type::BF16 : Type::B16;
    for_lanes(step.mask, [&](int i) {
        uint64_t holds[2];
        for (int half = 0; half < 2; ++half) {
            holds[half] = combine(step,
                                  compare(op.compare, Reader::read(a[i] >> (16 * half), op.mode.flush),
                                          Reader::read(b[i] >> (16 * half), op.mode.flush)),
                                  i);
        }
        if (op.type == Type::Predicate) {
            step.result(0)[i] = holds[0];
            step.result(1)[i] = holds[1];
        } else {
            step.result(0)[i] = set_value(element, holds[0]) | (set_value(element, holds[1]) << 16);
        }
    });
    return Flow::Next;
}

struct PickCompare {
    template <class T>
    Handler operator()() const {
        return &compare_lanes<Plain<T>>;
    }
};

Handler comparison_of(Decode& decode, Type type) {
    if (type == Type::F32) return &compare_lanes<FlushingF32>;
    if (type == Type::F64) return &compare_lanes<Plain<double>>;
    if (type == Type::F16) return &compare_lanes<Small<kF16>>;
    if (type == Type::BF16) return &compare_lanes<Small<kBF16>>;
    if (type == Type::F16x2) return &compare_halves<Small<kF16>>;
    if (type == Type::BF16x2) return &compare_halves<Small<kBF16>>;
    return for_integer(decode, type, PickCompare{});
}

void decode_compare(Decode& decode) {
    Op& op = decode.op();
    op.klass = InstructionClass::Compare;
    bool found = false;
    for (const auto& [name, how] : kCompares) {
        if (found || !decode.accept(name)) continue;
        op.compare = how;
        found = true;
    }
    if (!found) decode.fail("'" + decode.instruction().text + "' lacks a comparison");
    if (decode.accept("and"))
        op.combine = Combine::And;
    else if (decode.accept("or"))
        op.combine = Combine::Or;
    else if (decode.accept("xor"))
        op.combine = Combine::Xor;
    op.mode.flush = decode.accept("ftz");
    op.type = decode.instruction().opcode == "set" ? decode.type() : Type::Predicate;
    op.other = decode.type();
    const size_t operands = op.combine == Combine::None ? 3 : 4;
    decode.expect_operands(operands, operands);
    const Operand& to = decode.operand(0);
    if (to.kind == Operand::Kind::Paired) {
        for (const Operand& part : to.parts) decode.result(part);
    } else {
        decode.result(to);
        const bool halves = op.other == Type::F16x2 || op.other == Type::BF16x2;
        if (halves && op.type == Type::Predicate) decode.fail("two predicates expected");
    }
    decode.source(decode.operand(1), op.other);
    decode.source(decode.operand(2), op.other);
    if (operands == 4) decode.source(decode.operand(3), Type::Predicate);
    op.run = comparison_of(decode, op.other);
}

/// selp and slct: the result is as initialised as the chosen source.
template <class Choose>
Flow choose(Step& step) {
    const uint64_t* a = step.source(0);
    const uint64_t* b = step.source(1);
    const uint64_t* c = step.source(2);
    uint64_t* out = step.result();
    uint32_t first = 0;
    for_lanes(step.mask, [&](int i) {
        const bool chosen = Choose::first(step, c[i]);
        first |= static_cast<uint32_t>(chosen) << i;
        out[i] = chosen ? a[i] : b[i];
    });
    step.mark(0, ((step.ready(0) & first) | (step.ready(1) & ~first)) & step.ready(2));
    return Flow::Next;
}
struct ByPredicate {
    static bool first(const Step& step, uint64_t c) { return ((c & 1) ^ ((step.op.negated >> 2) & 1)) != 0; }
};
struct BySign {
    static bool first(const Step&, uint64_t c) { return static_cast<int32_t>(c) >= 0; }
};
struct ByFloatSign {
    static bool first(const Step& step, uint64_t c) {
        const float value = step.op.mode.flush ? flush_subnormal(as_f32(c)) : as_f32(c);
        return value >= 0;
    }
};

void decode_selp(Decode& decode) {
    Op& op = decode.op();
    op.klass = InstructionClass::Compare;
    op.keeps_track = false;
    const Type type = decode.type();
    decode.expect_operands(4, 4);
    decode.result(decode.operand(0));
    decode.source(decode.operand(1), type);
    decode.source(decode.operand(2), type);
    decode.source(decode.operand(3), Type::Predicate);
    op.run = &choose<ByPredicate>;
}

void decode_slct(Decode& decode) {
    Op& op = decode.op();
    op.klass = InstructionClass::Compare;
    op.keeps_track = false;
    op.mode.flush = decode.accept("ftz");
    const Type type = decode.type();
    const Type by = decode.type();
    decode.expect_operands(4, 4);
    decode.result(decode.operand(0));
    decode.source(decode.operand(1), type);
    decode.source(decode.operand(2), type);
    decode.source(decode.operand(3), by);
    op.run = by == Type::F32 ? &choose<ByFloatSign> : &choose<BySign>;
}

enum class Property : uint64_t { Finite, Infinite, Number, NotANumber, Normal, Subnormal };
template <class T>
bool has_property(Property property, T value) {
    switch (property) {
        case Property::Finite:
            return std::isfinite(value);
        case Property::Infinite:
            return std::isinf(value);
        case Property::Number:
            return !std::isnan(value);
        case Property::NotANumber:
            return std::isnan(value);
        case Property::Normal:
            return std::isnormal(value) || value == 0;
        case Property::Subnormal:
            return std::fpclassify(value) == FP_SUBNORMAL;
    }
    return false;
}
template <class T>
Flow test_property(Step& step) {
    const uint64_t* a = step.source(0);
    uint64_t* out = step.result();
    for_lanes(step.mask,
              [&](int i) { out[i] = has_property(static_cast<Property>(step.op.detail), from_bits<T>(a[i])); });
    return Flow::Next;
}
void decode_testp(Decode& decode) {
    Op& op = decode.op();
    op.klass = InstructionClass::Compare;
    static const char* const kNames[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};
    for (uint64_t i = 0; i < 6; ++i) {
        if (decode.accept(kNames[i])) op.detail = i;
    }
    const Type type = decode.type();
    plain_operands(decode, type, 1);
    op.run = type == Type::F64 ? &test_property<double> : &test_property<float>;
}

/// copysign d, a, b: the magnitude of b with the sign of a.
template <uint64_t kSign>
Flow copy_sign(Step& step) {
    const uint64_t* a = step.source(0);
    const uint64_t* b = step.source(1);
    uint64_t* out = step.result();
    for_lanes(step.mask, [&](int i) { out[i] = (b[i] & (kSign - 1)) | (a[i] & kSign); });
    return Flow::Next;
}
void decode_copysign(Decode& decode) {
    decode.op().klass = InstructionClass::Float;
    const Type type = decode.type();
    plain_operands(decode, type, 2);
    decode.op().run = type == Type::F64 ? &copy_sign<uint64_t{1} << 63> : &copy_sign<uint64_t{1} << 31>;
}

}  // namespace

void add_compare_decoders(std::map<std::string, Decoder>& decoders) {
    decoders["setp"] = &decode_compare;
    decoders["set"] = &decode_compare;
    decoders["selp"] = &decode_selp;
    decoders["slct"] = &decode_slct;
    decoders["testp"] = &decode_testp;
    decoders["copysign"] = &decode_copysign;
}

}  // namespace emulated_gpu
