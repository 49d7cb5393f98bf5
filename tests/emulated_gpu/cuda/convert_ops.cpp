// Conversions: PTX ISA, chapter "Data Movement and Conversion Instructions", cvt, cvt.pack and szext.

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/emulated_gpu/cuda/lanewise.h"

namespace emulated_gpu {
namespace {

const FloatFormat* small_format(Type type) {
    if (type == Type::F16 || type == Type::F16x2) return &kF16;
    if (type == Type::BF16 || type == Type::BF16x2) return &kBF16;
    if (type == Type::TF32) return &kTF32;
    if (type == Type::E4M3 || type == Type::E4M3x2) return &kE4M3;
    if (type == Type::E5M2 || type == Type::E5M2x2) return &kE5M2;
    return nullptr;
}

int64_t sign_extend(uint64_t value, int bits) {
    const int shift = 64 - bits;
    return static_cast<int64_t>(value << shift) >> shift;
}

/// An integer as wide as its type allows, with its sign.
__int128 read_integer(uint64_t bits, Type type) {
    const int width = type_bits(type);
    if (is_signed(type)) return sign_extend(bits, width);
    return static_cast<__int128>(low_bits(bits, width));
}

__int128 lowest(Type type) {
    return is_signed(type) ? -(static_cast<__int128>(1) << (type_bits(type) - 1)) : 0;
}
__int128 highest(Type type) {
    return (static_cast<__int128>(1) << (type_bits(type) - (is_signed(type) ? 1 : 0))) - 1;
}

/// The destination may be wider than its type: signed values are sign-extended to it.
uint64_t write_integer(__int128 value, Type type, int register_bits) {
    if (is_signed(type)) {
        return low_bits(static_cast<uint64_t>(sign_extend(static_cast<uint64_t>(value), type_bits(type))),
                        register_bits);
    }
    return low_bits(static_cast<uint64_t>(value), type_bits(type));
}

double read_float(uint64_t bits, Type type, bool flush) {
    if (type == Type::F32) return flush ? flush_subnormal(as_f32(bits)) : as_f32(bits);
    if (type == Type::F64) return as_f64(bits);
    return decode_float(static_cast<uint32_t>(low_bits(bits, 16)), *small_format(type));
}

uint64_t write_float(double value, Type type, const FloatMode& mode) {
    if (mode.saturate) value = std::isnan(value) ? 0.0 : std::clamp(value, 0.0, 1.0) + 0.0;
    if (mode.relu && !std::isnan(value)) value = value > 0 ? value : 0.0;
    if (type == Type::F64) return std::bit_cast<uint64_t>(value);
    if (type == Type::F32) {
        const float rounded = as_f32(encode_float(value, kF32, mode.rounding));
        return std::bit_cast<uint32_t>(mode.flush ? flush_subnormal(rounded) : rounded);
    }
    const uint32_t bits = encode_float(value, *small_format(type), mode.rounding, mode.finite);
    return type == Type::TF32 ? bits << 13 : bits;
}

Flow integer_to_integer(Step& step) {
    const uint64_t* a = step.source(0);
    uint64_t* out = step.result();
    const Op& op = step.op;
    for_lanes(step.mask, [&](int i) {
        __int128 value = read_integer(a[i], op.other);
        if (op.mode.saturate) value = std::clamp(value, lowest(op.type), highest(op.type));
        out[i] = write_integer(value, op.type, op.result_bits);
    });
    return Flow::Next;
}

/// Rounded integers that do not fit become the nearest that fits; NaN becomes 0, or the highest bit alone where the
/// source is .f64 or the result has 64 bits.
Flow float_to_integer(Step& step) {
    const uint64_t* a = step.source(0);
    uint64_t* out = step.result();
    const Op& op = step.op;
    for_lanes(step.mask, [&](int i) {
        const double value = round_to_integer(read_float(a[i], op.other, op.mode.flush), op.mode.rounding);
        __int128 integer = 0;
        if (std::isnan(value)) {
            const bool wide = op.other == Type::F64 || type_bits(op.type) == 64;
            integer = wide ? static_cast<__int128>(uint64_t{1} << (type_bits(op.type) - 1)) : 0;
        } else if (value <= static_cast<double>(lowest(op.type))) {
            integer = lowest(op.type);
        } else if (value >= static_cast<double>(highest(op.type))) {
            integer = highest(op.type);
        } else {
            integer = static_cast<__int128>(value);
        }
        out[i] = write_integer(integer, op.type, op.result_bits);
    });
    return Flow::Next;
}

/// A double with the value of the integer, to odd where 64 bits do not fit.
double integer_to_odd(__int128 value) {
    const auto rounded = static_cast<double>(value);
    const __int128 error = value - static_cast<__int128>(rounded);
    if (error == 0 || (std::bit_cast<uint64_t>(rounded) & 1)) return rounded;
    const bool away = (error > 0) == (rounded > 0);
    return std::bit_cast<double>(std::bit_cast<uint64_t>(rounded) + (away ? 1 : uint64_t(-1)));
}
double integer_to_f64(__int128 value, Rounding rounding) {
    const auto high = static_cast<int64_t>(value >> 32);
    const auto low = static_cast<uint32_t>(value);
    return add_f64(static_cast<double>(high) * 0x1p32, low, rounding);
}

Flow integer_to_float(Step& step) {
    const uint64_t* a = step.source(0);
    uint64_t* out = step.result();
    const Op& op = step.op;
    for_lanes(step.mask, [&](int i) {
        const __int128 value = read_integer(a[i], op.other);
        const double exact = op.type == Type::F64 ? integer_to_f64(value, op.mode.rounding) : integer_to_odd(value);
        out[i] = write_float(exact, op.type, op.mode);
    });
    return Flow::Next;
}

/// op.flag: .rni and the like, which round to an integer within the format.
Flow float_to_float(Step& step) {
    const uint64_t* a = step.source(0);
    uint64_t* out = step.result();
    const Op& op = step.op;
    for_lanes(step.mask, [&](int i) {
        double value = read_float(a[i], op.other, op.mode.flush);
        if (op.flag) value = round_to_integer(value, op.mode.rounding);
        if (std::isnan(value) && op.type == Type::F64 && op.other == Type::F64) {
            out[i] = a[i];
            return;
        }
        out[i] = write_float(value, op.type, op.mode);
    });
    return Flow::Next;
}

/// Two f32 to a packed pair; the first source becomes the high half.
Flow pack_pair(Step& step) {
    const uint64_t* high = step.source(0);
    const uint64_t* low = step.source(1);
    uint64_t* out = step.result();
    const Op& op = step.op;
    const int bits = type_bits(op.type) / 2;
    for_lanes(step.mask, [&](int i) {
        const uint64_t upper = write_float(as_f32(high[i]), op.type, op.mode);
        out[i] = (upper << bits) | write_float(as_f32(low[i]), op.type, op.mode);
    });
    return Flow::Next;
}
/// A packed pair to another.
Flow convert_pair(Step& step) {
    const uint64_t* a = step.source(0);
    uint64_t* out = step.result();
    const Op& op = step.op;
    const int to = type_bits(op.type) / 2;
    const int from = type_bits(op.other) / 2;
    for_lanes(step.mask, [&](int i) {
        uint64_t packed = 0;
        for (int half = 0; half < 2; ++half) {
            const auto bits = static_cast<uint32_t>(low_bits(a[i] >> (from * half), from));
            packed |= write_float(decode_float(bits, *small_format(op.other)), op.type, op.mode) << (to * half);
        }
        out[i] = packed;
    });
    return Flow::Next;
}

bool is_pair(Type type) {
    return type == Type::F16x2 || type == Type::BF16x2 || type == Type::E4M3x2 || type == Type::E5M2x2;
}

void decode_cvt(Decode& decode) {
    Op& op = decode.op();
    op.klass = InstructionClass::Conversion;
    if (decode.accept("pack")) decode.refuse();
    for (const char* name : {"rni", "rzi", "rmi", "rpi"}) op.flag = op.flag || decode.has(name);
    const bool rounds = decode.rounding(op.mode.rounding);
    op.mode.flush = decode.accept("ftz");
    op.mode.saturate = decode.accept("sat");
    op.mode.finite = decode.accept("satfinite");
    op.mode.relu = decode.accept("relu");
    op.type = decode.type();
    op.other = decode.type();
    const bool two = is_pair(op.type) && op.other == Type::F32;
    decode.expect_operands(two ? 3 : 2, two ? 3 : 2);
    decode.result(decode.operand(0));
    decode.source(decode.operand(1), op.other);
    if (two) decode.source(decode.operand(2), op.other);
    const bool narrows = is_float(op.type) && is_float(op.other) && type_bits(op.type) < type_bits(op.other);
    if (!rounds && (narrows || is_float(op.type) != is_float(op.other)))
        decode.fail("'" + decode.instruction().text + "' lacks a rounding");
    if (two)
        op.run = &pack_pair;
    else if (is_pair(op.type) && is_pair(op.other))
        op.run = &convert_pair;
    else if (is_pair(op.type) || is_pair(op.other))
        decode.refuse();
    else if (is_float(op.type))
        op.run = is_float(op.other) ? &float_to_float : &integer_to_float;
    else
        op.run = is_float(op.other) ? &float_to_integer : &integer_to_integer;
}

/// szext: bits from b up become copies of the sign (or zero).
Flow extend(Step& step) {
    const uint64_t* a = step.source(0);
    const uint64_t* b = step.source(1);
    uint64_t* out = step.result();
    for_lanes(step.mask, [&](int i) {
        const uint32_t width = step.op.flag ? std::min<uint32_t>(static_cast<uint32_t>(b[i]), 32) : b[i] & 31;
        uint32_t value = static_cast<uint32_t>(low_bits(a[i], static_cast<int>(width)));
        if (is_signed(step.op.type) && width > 0)
            value = static_cast<uint32_t>(sign_extend(value, static_cast<int>(width)));
        out[i] = value;
    });
    return Flow::Next;
}
void decode_szext(Decode& decode) {
    decode.op().flag = decode.accept("clamp");
    if (!decode.op().flag) decode.expect("wrap");
    plain_operands(decode, decode.type(), 2);
    decode.op().run = &extend;
}

}  // namespace

void add_conversion_decoders(std::map<std::string, Decoder>& decoders) {
    decoders["cvt"] = &decode_cvt;
    decoders["szext"] = &decode_szext;
}

}  // namespace emulated_gpu
