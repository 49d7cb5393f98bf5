// Floating-point arithmetic: PTX ISA, chapters "Floating Point Instructions" and "Half Precision Floating Point
// Instructions". f16 and bf16 are computed in double, rounded to odd where that is not exact, and rounded once more;
// the approximate functions of f32 are the correctly rounded ones, which lie within every bound of the document.

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/emulated_gpu/cuda/lanewise.h"

namespace emulated_gpu {
namespace {

enum class Math : uint8_t {
    Add,
    Sub,
    Mul,
    Fma,
    Div,
    Min,
    Max,
    Neg,
    Abs,
    Rcp,
    Sqrt,
    Rsqrt,
    Exp2,
    Log2,
    Sin,
    Cos,
    Tanh,
};

double sign_bit(double value) {
    return std::signbit(value) ? -1.0 : 1.0;
}

/// min and max: a NaN loses against a number unless .NaN is given; -0 is less than +0.
double extremum(double a, double b, bool maximum, const FloatMode& mode) {
    const bool has_nan = std::isnan(a) || std::isnan(b);
    if (has_nan && (mode.propagate_nan || (std::isnan(a) && std::isnan(b)))) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    if (has_nan) return std::isnan(a) ? b : a;
    const double sign = sign_bit(a) * sign_bit(b);
    if (mode.xor_sign) {
        a = std::fabs(a);
        b = std::fabs(b);
    }
    double picked = a == b ? (std::signbit(a) == maximum ? b : a) : ((a < b) == maximum ? b : a);
    if (mode.xor_sign) picked = std::copysign(picked, sign);
    return picked;
}

/// The value of an operation in double, to be rounded once more to at most 24 bits.
double compute_odd(Math math, double a, double b, double c, const FloatMode& mode) {
    switch (math) {
        case Math::Add:
            return add_to_odd(a, b);
        case Math::Sub:
            return add_to_odd(a, -b);
        case Math::Mul:
            return a * b;  // exact: at most 48 bits
        case Math::Fma:
            return add_to_odd(a * b, c);
        case Math::Div:
            return divide_to_odd(a, b);
        case Math::Min:
            return extremum(a, b, false, mode);
        case Math::Max:
            return extremum(a, b, true, mode);
        case Math::Neg:
            return -a;
        case Math::Abs:
            return std::fabs(a);
        case Math::Rcp:
            return divide_to_odd(1.0, a);
        case Math::Sqrt:
            return square_root_to_odd(a);
        case Math::Rsqrt:
            return 1.0 / std::sqrt(a);
        case Math::Exp2:
            return std::exp2(a);
        case Math::Log2:
            return std::log2(a);
        case Math::Sin:
            return std::sin(a);
        case Math::Cos:
            return std::cos(a);
        case Math::Tanh:
            return std::tanh(a);
    }
    return 0;
}

double clamp_result(double value, const FloatMode& mode) {
    if (mode.saturate) return std::isnan(value) ? 0.0 : std::clamp(value, 0.0, 1.0) + 0.0;
    if (mode.relu && !std::isnan(value)) return value > 0 ? value : 0.0;
    return value;
}

template <const FloatFormat& kFormat>
struct Small {
    static double smallest_normal() { return std::ldexp(1.0, 2 - (1 << (kFormat.exponent_bits - 1))); }
    static double flush(double value, bool flushes) {
        return flushes && std::fabs(value) < smallest_normal() ? std::copysign(0.0, value) : value;
    }
    static uint64_t apply(Math math, uint64_t a, uint64_t b, uint64_t c, const FloatMode& mode) {
        const auto read = [&](uint64_t bits) {
            return flush(decode_float(static_cast<uint32_t>(bits), kFormat), mode.flush);
        };
        const double exact = clamp_result(compute_odd(math, read(a), read(b), read(c), mode), mode);
        const uint32_t bits = encode_float(exact, kFormat, mode.rounding);
        return mode.flush ? encode_float(flush(decode_float(bits, kFormat), true), kFormat, mode.rounding) : bits;
    }
};

template <Math kMath, const FloatFormat& kFormat, int kSources, bool kPacked>
Flow small_float(Step& step) {
    const uint64_t* a = step.source(0);
    const uint64_t* b = kSources > 1 ? step.source(1) : a;
    const uint64_t* c = kSources > 2 ? step.source(2) : a;
    uint64_t* out = step.result();
    for_lanes(step.mask, [&](int i) {
        const auto half = [&](int shift) {
            return Small<kFormat>::apply(kMath, (a[i] >> shift) & 0xffff, (b[i] >> shift) & 0xffff,
                                         (c[i] >> shift) & 0xffff, step.op.mode);
        };
        out[i] = kPacked ? half(0) | (half(16) << 16) : half(0);
    });
    return Flow::Next;
}

float canonical(float value) {
    return std::isnan(value) ? as_f32(0x7fffffff) : value;
}

/// f32 rounded to nearest, in the host's own arithmetic, which is exact in the same sense.
template <Math kMath>
float nearest_f32(float a, float b, float c, const FloatMode& mode) {
    if constexpr (kMath == Math::Add)
        return a + b;
    else if constexpr (kMath == Math::Sub)
        return a - b;
    else if constexpr (kMath == Math::Mul)
        return a * b;
    else if constexpr (kMath == Math::Fma)
        return std::fma(a, b, c);
    else if constexpr (kMath == Math::Div)
        return a / b;
    else if constexpr (kMath == Math::Rcp)
        return 1.0F / a;
    else if constexpr (kMath == Math::Sqrt)
        return std::sqrt(a);
    else if constexpr (kMath == Math::Exp2)
        return std::exp2(a);
    else
        return static_cast<float>(compute_odd(kMath, a, b, c, mode));
}

template <Math kMath, int kSources>
Flow float_f32(Step& step) {
    const uint64_t* a = step.source(0);
    const uint64_t* b = kSources > 1 ? step.source(1) : a;
    const uint64_t* c = kSources > 2 ? step.source(2) : a;
    uint64_t* out = step.result();
    const FloatMode& mode = step.op.mode;
    const auto read = [&](uint64_t bits) { return mode.flush ? flush_subnormal(as_f32(bits)) : as_f32(bits); };
    for_lanes(step.mask, [&](int i) {
        float value = 0;
        if (mode.rounding == Rounding::NearestEven) {
            value = nearest_f32<kMath>(read(a[i]), read(b[i]), read(c[i]), mode);
        } else {
            value =
                as_f32(encode_float(compute_odd(kMath, read(a[i]), read(b[i]), read(c[i]), mode), kF32, mode.rounding));
        }
        if (mode.flush) value = flush_subnormal(value);
        value = canonical(value);
        if (mode.saturate || mode.relu) value = static_cast<float>(clamp_result(value, mode));
        out[i] = std::bit_cast<uint32_t>(value);
    });
    return Flow::Next;
}

template <Math kMath>
double value_f64(double a, double b, double c, const FloatMode& mode) {
    if constexpr (kMath == Math::Add)
        return add_f64(a, b, mode.rounding);
    else if constexpr (kMath == Math::Sub)
        return add_f64(a, -b, mode.rounding);
    else if constexpr (kMath == Math::Mul)
        return multiply_f64(a, b, mode.rounding);
    else if constexpr (kMath == Math::Fma)
        return fma_f64(a, b, c, mode.rounding);
    else if constexpr (kMath == Math::Div)
        return divide_f64(a, b, mode.rounding);
    else if constexpr (kMath == Math::Rcp)
        return divide_f64(1.0, a, mode.rounding);
    else if constexpr (kMath == Math::Sqrt)
        return square_root_f64(a, mode.rounding);
    else
        return compute_odd(kMath, a, b, c, mode);
}
/// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 read and give the high word only.
double keep_high_word(double value) {
    return as_f64(std::bit_cast<uint64_t>(value) & 0xffffffff00000000ULL);
}
template <Math kMath, int kSources>
Flow float_f64(Step& step) {
    const uint64_t* a = step.source(0);
    const uint64_t* b = kSources > 1 ? step.source(1) : a;
    const uint64_t* c = kSources > 2 ? step.source(2) : a;
    uint64_t* out = step.result();
    const bool coarse = step.op.mode.flush;
    for_lanes(step.mask, [&](int i) {
        const double first = coarse ? keep_high_word(as_f64(a[i])) : as_f64(a[i]);
        const double value = value_f64<kMath>(first, as_f64(b[i]), as_f64(c[i]), step.op.mode);
        out[i] = std::bit_cast<uint64_t>(coarse ? keep_high_word(value) : value);
    });
    return Flow::Next;
}

template <Math kMath, int kSources>
Handler handler_of(Decode& decode, Type type) {
    if (type == Type::F32) return &float_f32<kMath, kSources>;
    if (type == Type::F64) return &float_f64<kMath, kSources>;
    if (type == Type::F16) return &small_float<kMath, kF16, kSources, false>;
    if (type == Type::F16x2) return &small_float<kMath, kF16, kSources, true>;
    if (type == Type::BF16) return &small_float<kMath, kBF16, kSources, false>;
    if (type == Type::BF16x2) return &small_float<kMath, kBF16, kSources, true>;
    decode.refuse("type ." + type_name(type));
}

void read_mode(Decode& decode) {
    Op& op = decode.op();
    op.klass = InstructionClass::Float;
    FloatMode& mode = op.mode;
    if (!decode.rounding(mode.rounding) && !decode.accept("approx")) decode.accept("full");
    mode.flush = decode.accept("ftz");
    mode.saturate = decode.accept("sat");
    mode.relu = decode.accept("relu");
    mode.propagate_nan = decode.accept("NaN");
    mode.xor_sign = decode.accept("xorsign");
    if (mode.xor_sign) decode.expect("abs");
}

template <Math kMath, int kSources>
void decode_float(Decode& decode) {
    read_mode(decode);
    const Type type = decode.type();
    if (decode.has_type()) decode.refuse("mixed precision");
    plain_operands(decode, type, kSources);
    decode.op().run = handler_of<kMath, kSources>(decode, type);
}

/// neg and abs change the sign bit alone, of NaN as well; .ftz flushes.
template <Math kMath>
void decode_sign(Decode& decode) {
    const Type type = [&] {
        read_mode(decode);
        return decode.type();
    }();
    plain_operands(decode, type, 1);
    if (type == Type::F16x2 || type == Type::BF16x2 || type == Type::F16 || type == Type::BF16) {
        const bool packed = type_bits(type) == 32;
        decode.op().detail = packed ? 0x80008000U : 0x8000U;
    } else {
        decode.op().detail = type == Type::F64 ? uint64_t{1} << 63 : uint64_t{1} << 31;
    }
    if (type == Type::F32 && decode.op().mode.flush) {
        decode.op().run = &float_f32<kMath, 1>;
        return;
    }
    decode.op().run = [](Step& step) {
        const uint64_t* a = step.source(0);
        uint64_t* out = step.result();
        const uint64_t sign = step.op.detail;
        for_lanes(step.mask, [&](int i) { out[i] = kMath == Math::Neg ? a[i] ^ sign : a[i] & ~sign; });
        return Flow::Next;
    };
}

}  // namespace

bool is_float_operation(const Decode& decode) {
    for (const std::string& modifier : decode.instruction().modifiers) {
        if (is_float(type_named(modifier))) return true;
    }
    return false;
}

Decoder float_decoder(const std::string& opcode) {
    static const std::map<std::string, Decoder> kDecoders = {
        {"add", &decode_float<Math::Add, 2>}, {"sub", &decode_float<Math::Sub, 2>},
        {"mul", &decode_float<Math::Mul, 2>}, {"fma", &decode_float<Math::Fma, 3>},
        {"div", &decode_float<Math::Div, 2>}, {"min", &decode_float<Math::Min, 2>},
        {"max", &decode_float<Math::Max, 2>}, {"neg", &decode_sign<Math::Neg>},
        {"abs", &decode_sign<Math::Abs>}};
    return kDecoders.at(opcode);
}

void add_float_decoders(std::map<std::string, Decoder>& decoders) {
    decoders["fma"] = &decode_float<Math::Fma, 3>;
    decoders["rcp"] = &decode_float<Math::Rcp, 1>;
    decoders["sqrt"] = &decode_float<Math::Sqrt, 1>;
    decoders["rsqrt"] = &decode_float<Math::Rsqrt, 1>;
    decoders["ex2"] = &decode_float<Math::Exp2, 1>;
    decoders["lg2"] = &decode_float<Math::Log2, 1>;
    decoders["sin"] = &decode_float<Math::Sin, 1>;
    decoders["cos"] = &decode_float<Math::Cos, 1>;
    decoders["tanh"] = &decode_float<Math::Tanh, 1>;
}

}  // namespace emulated_gpu
