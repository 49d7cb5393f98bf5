#include "ir/semantics.h"

#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>

#include "ir/element_function.h"
#include "ir/small_float.h"
#include "ir/support/internal_error.h"

namespace kiln::ir {

namespace {

// The native type in which elements of a type are computed. f16 and bf16 compute in double: it has more than twice
// their precision plus two bits, so that + - * / sqrt, rounded to double and then to the type, are rounded as if once.
template <ScalarType kType>
struct Native;
template <>
struct Native<ScalarType::Bool> {
    using Type = bool;
};
template <>
struct Native<ScalarType::I8> {
    using Type = std::int8_t;
};
template <>
struct Native<ScalarType::I16> {
    using Type = std::int16_t;
};
template <>
struct Native<ScalarType::I32> {
    using Type = std::int32_t;
};
template <>
struct Native<ScalarType::I64> {
    using Type = std::int64_t;
};
template <>
struct Native<ScalarType::U8> {
    using Type = std::uint8_t;
};
template <>
struct Native<ScalarType::U16> {
    using Type = std::uint16_t;
};
template <>
struct Native<ScalarType::U32> {
    using Type = std::uint32_t;
};
template <>
struct Native<ScalarType::U64> {
    using Type = std::uint64_t;
};
template <>
struct Native<ScalarType::F16> {
    using Type = double;
};
template <>
struct Native<ScalarType::BF16> {
    using Type = double;
};
template <>
struct Native<ScalarType::F32> {
    using Type = float;
};
template <>
struct Native<ScalarType::F64> {
    using Type = double;
};

template <ScalarType kType>
constexpr bool kNarrow = kType == ScalarType::F16 || kType == ScalarType::BF16;

template <ScalarType kType>
typename Native<kType>::Type load(std::uint64_t bits) {
    using T = typename Native<kType>::Type;
    if constexpr (kNarrow<kType>) {
        return decode_float(float_format(kType), bits);
    } else if constexpr (kType == ScalarType::F32) {
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    } else if constexpr (kType == ScalarType::F64) {
        return std::bit_cast<double>(bits);
    } else {
        return static_cast<T>(bits);
    }
}

/// Rounds where the native type is wider. NaNs take one pattern, whatever the processor computes.
template <ScalarType kType>
std::uint64_t store(typename Native<kType>::Type value) {
    using T = typename Native<kType>::Type;
    if constexpr (kNarrow<kType>) {
        return encode_float(float_format(kType), value, Overflow::Format);
    } else if constexpr (kType == ScalarType::F32) {
        return value != value ? float_format(kType).nan() : std::bit_cast<std::uint32_t>(value);
    } else if constexpr (kType == ScalarType::F64) {
        return value != value ? float_format(kType).nan() : std::bit_cast<std::uint64_t>(value);
    } else if constexpr (kType == ScalarType::Bool) {
        return value ? 1 : 0;
    } else {
        return static_cast<std::make_unsigned_t<T>>(value);
    }
}

// How an operation on native values becomes a function of patterns.

template <class Operation>
struct Unary {
    template <ScalarType kType>
    static std::uint64_t run(std::uint64_t a, std::uint64_t, std::uint64_t) {
        return store<kType>(Operation{}(load<kType>(a)));
    }
};

template <class Operation>
struct Binary {
    template <ScalarType kType>
    static std::uint64_t run(std::uint64_t a, std::uint64_t b, std::uint64_t) {
        return store<kType>(Operation{}(load<kType>(a), load<kType>(b)));
    }
};

template <class Operation>
struct Test {
    template <ScalarType kType>
    static std::uint64_t run(std::uint64_t a, std::uint64_t, std::uint64_t) {
        return Operation{}(load<kType>(a)) ? 1 : 0;
    }
};

template <class Operation>
struct Compare {
    template <ScalarType kType>
    static std::uint64_t run(std::uint64_t a, std::uint64_t b, std::uint64_t) {
        return Operation{}(load<kType>(a), load<kType>(b)) ? 1 : 0;
    }
};

/// A function of the mathematics library: computed in a wider type, then rounded once.
template <class Operation>
struct Wide {
    template <ScalarType kType>
    static std::uint64_t run(std::uint64_t a, std::uint64_t b, std::uint64_t) {
        using T = typename Native<kType>::Type;
        using W = std::conditional_t<kType == ScalarType::F64, long double, double>;
        const auto wide = Operation{}(static_cast<W>(load<kType>(a)), static_cast<W>(load<kType>(b)));
        return store<kType>(static_cast<T>(wide));
    }
};

// Integers are computed in 64 unsigned bits, where nothing overflows, and cut to their width.

template <std::integral T>
std::uint64_t wide(T value) {
    return static_cast<std::uint64_t>(value);
}

template <std::integral T>
bool is_minus_one(T value) {
    return std::is_signed_v<T> && value == static_cast<T>(-1);
}

/// The quotient towards zero, of a divisor that is not 0, and what is left.
template <std::integral T>
struct Division {
    T quotient;
    T rest;
};
template <std::integral T>
Division<T> divide(T a, T b) {
    if (is_minus_one(b)) return {static_cast<T>(0 - wide(a)), 0};
    return {static_cast<T>(a / b), static_cast<T>(a % b)};
}

template <std::integral T>
unsigned shift_count(T count) {
    return static_cast<unsigned>(wide(count) % (8 * sizeof(T)));
}

struct AddOf {
    template <std::integral T>
    T operator()(T a, T b) const {
        return static_cast<T>(wide(a) + wide(b));
    }
    template <std::floating_point T>
    T operator()(T a, T b) const {
        return a + b;
    }
};
struct SubOf {
    template <std::integral T>
    T operator()(T a, T b) const {
        return static_cast<T>(wide(a) - wide(b));
    }
    template <std::floating_point T>
    T operator()(T a, T b) const {
        return a - b;
    }
};
struct MulOf {
    template <std::integral T>
    T operator()(T a, T b) const {
        return static_cast<T>(wide(a) * wide(b));
    }
    template <std::floating_point T>
    T operator()(T a, T b) const {
        return a * b;
    }
};
struct DivOf {
    template <std::integral T>
    T operator()(T a, T b) const {
        return b == 0 ? T{0} : divide(a, b).quotient;
    }
    template <std::floating_point T>
    T operator()(T a, T b) const {
        return a / b;
    }
};
struct RemOf {
    template <std::integral T>
    T operator()(T a, T b) const {
        return b == 0 ? a : divide(a, b).rest;
    }
};
struct CeilDivOf {
    template <std::integral T>
    T operator()(T a, T b) const {
        if (b == 0) return 0;
        const auto [quotient, rest] = divide(a, b);
        return static_cast<T>(wide(quotient) + (rest != 0 && (rest < 0) == (b < 0) ? 1u : 0u));
    }
};
struct FloorDivOf {
    template <std::integral T>
    T operator()(T a, T b) const {
        if (b == 0) return 0;
        const auto [quotient, rest] = divide(a, b);
        return static_cast<T>(wide(quotient) - (rest != 0 && (rest < 0) != (b < 0) ? 1u : 0u));
    }
};
struct ModOf {
    template <std::integral T>
    T operator()(T a, T b) const {
        if (b == 0) return a;
        const T rest = divide(a, b).rest;
        return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
    }
};
struct AndOf {
    template <std::integral T>
    T operator()(T a, T b) const {
        return static_cast<T>(a & b);
    }
};
struct OrOf {
    template <std::integral T>
    T operator()(T a, T b) const {
        return static_cast<T>(a | b);
    }
};
struct XorOf {
    template <std::integral T>
    T operator()(T a, T b) const {
        return static_cast<T>(a ^ b);
    }
};
struct NotOf {
    template <std::integral T>
    T operator()(T a) const {
        return static_cast<T>(~wide(a));
    }
};
struct ShlOf {
    template <std::integral T>
    T operator()(T a, T b) const {
        return static_cast<T>(wide(a) << shift_count(b));
    }
};
struct ShrOf {
    template <std::integral T>
    T operator()(T a, T b) const {
        return static_cast<T>(a >> shift_count(b));
    }
};
struct LogicalNotOf {
    bool operator()(bool a) const { return !a; }
};
struct PopcountOf {
    template <std::integral T>
    T operator()(T a) const {
        return static_cast<T>(std::popcount(static_cast<std::make_unsigned_t<T>>(a)));
    }
};
struct ClzOf {
    template <std::integral T>
    T operator()(T a) const {
        return static_cast<T>(std::countl_zero(static_cast<std::make_unsigned_t<T>>(a)));
    }
};
struct Ilog2Of {
    template <std::integral T>
    T operator()(T a) const {
        if (a <= 0) return static_cast<T>(-1);
        return static_cast<T>(std::bit_width(static_cast<std::make_unsigned_t<T>>(a)) - 1);
    }
};

struct EqualOf {
    template <class T>
    bool operator()(T a, T b) const {
        return a == b;
    }
};
struct NotEqualOf {
    template <class T>
    bool operator()(T a, T b) const {
        return a != b;
    }
};
struct LessOf {
    template <class T>
    bool operator()(T a, T b) const {
        return a < b;
    }
};
struct LessEqualOf {
    template <class T>
    bool operator()(T a, T b) const {
        return a <= b;
    }
};
struct GreaterOf {
    template <class T>
    bool operator()(T a, T b) const {
        return a > b;
    }
};
struct GreaterEqualOf {
    template <class T>
    bool operator()(T a, T b) const {
        return a >= b;
    }
};
struct IsNanOf {
    template <class T>
    bool operator()(T a) const {
        return a != a;
    }
};
struct IsInfOf {
    template <std::integral T>
    bool operator()(T) const {
        return false;
    }
    template <std::floating_point T>
    bool operator()(T a) const {
        return std::isinf(a);
    }
};

struct MinOf {
    template <std::integral T>
    T operator()(T a, T b) const {
        return b < a ? b : a;
    }
    template <std::floating_point T>
    T operator()(T a, T b) const {
        if (std::isnan(a)) return b;
        if (std::isnan(b)) return a;
        if (a == b) return std::signbit(a) ? a : b;
        return a < b ? a : b;
    }
};
struct MaxOf {
    template <std::integral T>
    T operator()(T a, T b) const {
        return a < b ? b : a;
    }
    template <std::floating_point T>
    T operator()(T a, T b) const {
        if (std::isnan(a)) return b;
        if (std::isnan(b)) return a;
        if (a == b) return std::signbit(a) ? b : a;
        return a < b ? b : a;
    }
};
struct MinimumOf {
    template <std::floating_point T>
    T operator()(T a, T b) const {
        return std::isnan(a) || std::isnan(b) ? std::numeric_limits<T>::quiet_NaN() : MinOf{}(a, b);
    }
};
struct MaximumOf {
    template <std::floating_point T>
    T operator()(T a, T b) const {
        return std::isnan(a) || std::isnan(b) ? std::numeric_limits<T>::quiet_NaN() : MaxOf{}(a, b);
    }
};

/// Integers: -a and |a| wrap. Reals: only the sign bit changes, also of a NaN.
struct Neg {
    template <ScalarType kType>
    static std::uint64_t run(std::uint64_t a, std::uint64_t, std::uint64_t) {
        using T = typename Native<kType>::Type;
        if constexpr (std::floating_point<T>) {
            return a ^ float_format(kType).sign_bit();
        } else {
            return store<kType>(static_cast<T>(0 - wide(load<kType>(a))));
        }
    }
};
struct Abs {
    template <ScalarType kType>
    static std::uint64_t run(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
        using T = typename Native<kType>::Type;
        if constexpr (std::floating_point<T>) {
            return a & (float_format(kType).sign_bit() - 1);
        } else {
            return load<kType>(a) < 0 ? Neg::run<kType>(a, b, c) : a;
        }
    }
};

/// a * b + c for f16 and bf16 values: their product is exact in double, and the sum is rounded to odd, after which
/// rounding to the narrow type is as if done once (Boldo and Melquiond, "Emulation of a FMA and correctly rounded
/// sums"). The error of the sum is Knuth's two-sum.
double narrow_fma(double a, double b, double c) {
    const double product = a * b;
    const double sum = product + c;
    if (!std::isfinite(sum)) return sum;
    const double part = sum - product;
    const double product_error = product - (sum - part);
    const double error = product_error + (c - part);
    const auto bits = std::bit_cast<std::uint64_t>(sum);
    if (error == 0 || (bits & 1) != 0) return sum;
    return std::bit_cast<double>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

struct Fma {
    template <ScalarType kType>
    static std::uint64_t run(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
        if constexpr (kNarrow<kType>) {
            return store<kType>(narrow_fma(load<kType>(a), load<kType>(b), load<kType>(c)));
        } else {
            return store<kType>(std::fma(load<kType>(a), load<kType>(b), load<kType>(c)));
        }
    }
};

struct SqrtOf {
    template <class T>
    T operator()(T a) const {
        return std::sqrt(a);
    }
};
struct FloorOf {
    template <class T>
    T operator()(T a) const {
        return std::floor(a);
    }
};
struct CeilOf {
    template <class T>
    T operator()(T a) const {
        return std::ceil(a);
    }
};
struct TruncOf {
    template <class T>
    T operator()(T a) const {
        return std::trunc(a);
    }
};
struct RoundOf {
    template <class T>
    T operator()(T a) const {
        return std::nearbyint(a);
    }
};

struct ExpOf {
    template <class W>
    W operator()(W a, W) const {
        return std::exp(a);
    }
};
struct Exp2Of {
    template <class W>
    W operator()(W a, W) const {
        return std::exp2(a);
    }
};
struct LogOf {
    template <class W>
    W operator()(W a, W) const {
        return std::log(a);
    }
};
struct Log2Of {
    template <class W>
    W operator()(W a, W) const {
        return std::log2(a);
    }
};
struct RsqrtOf {
    template <class W>
    W operator()(W a, W) const {
        return 1 / std::sqrt(a);
    }
};
struct SinOf {
    template <class W>
    W operator()(W a, W) const {
        return std::sin(a);
    }
};
struct CosOf {
    template <class W>
    W operator()(W a, W) const {
        return std::cos(a);
    }
};
struct TanhOf {
    template <class W>
    W operator()(W a, W) const {
        return std::tanh(a);
    }
};
struct ErfOf {
    template <class W>
    W operator()(W a, W) const {
        return std::erf(a);
    }
};
struct PowOf {
    template <class W>
    W operator()(W a, W b) const {
        return std::pow(a, b);
    }
};

std::uint64_t select_bits(std::uint64_t condition, std::uint64_t a, std::uint64_t b) {
    return condition != 0 ? a : b;
}

// The function for a type; null where the operation does not take it.

template <class Operation>
ElementFunction of_bool(ScalarType type) {
    return type == ScalarType::Bool ? &Operation::template run<ScalarType::Bool> : nullptr;
}

template <class Operation>
ElementFunction of_integer(ScalarType type) {
    switch (type) {
        case ScalarType::I8:
            return &Operation::template run<ScalarType::I8>;
        case ScalarType::I16:
            return &Operation::template run<ScalarType::I16>;
        case ScalarType::I32:
            return &Operation::template run<ScalarType::I32>;
        case ScalarType::I64:
            return &Operation::template run<ScalarType::I64>;
        case ScalarType::U8:
            return &Operation::template run<ScalarType::U8>;
        case ScalarType::U16:
            return &Operation::template run<ScalarType::U16>;
        case ScalarType::U32:
            return &Operation::template run<ScalarType::U32>;
        case ScalarType::U64:
            return &Operation::template run<ScalarType::U64>;
        case ScalarType::Bool:
        case ScalarType::F16:
        case ScalarType::BF16:
        case ScalarType::F32:
        case ScalarType::F64:
        case ScalarType::I4:
        case ScalarType::U4:
        case ScalarType::F4E2M1:
        case ScalarType::F8E4M3:
        case ScalarType::F8E5M2:
        case ScalarType::F8E8M0:
            break;
    }
    return nullptr;
}

template <class Operation>
ElementFunction of_real(ScalarType type) {
    if (type == ScalarType::F16) return &Operation::template run<ScalarType::F16>;
    if (type == ScalarType::BF16) return &Operation::template run<ScalarType::BF16>;
    if (type == ScalarType::F32) return &Operation::template run<ScalarType::F32>;
    if (type == ScalarType::F64) return &Operation::template run<ScalarType::F64>;
    return nullptr;
}

template <class Operation>
ElementFunction of_number(ScalarType type) {
    const ElementFunction function = of_integer<Operation>(type);
    return function != nullptr ? function : of_real<Operation>(type);
}

template <class Operation>
ElementFunction of_number_or_bool(ScalarType type) {
    const ElementFunction function = of_number<Operation>(type);
    return function != nullptr ? function : of_bool<Operation>(type);
}

ElementFunction find_function(OpKind kind, ScalarType type) {
    switch (kind) {
        case OpKind::Add:
            return of_number<Binary<AddOf>>(type);
        case OpKind::Sub:
            return of_number<Binary<SubOf>>(type);
        case OpKind::Mul:
            return of_number<Binary<MulOf>>(type);
        case OpKind::Div:
            return of_number<Binary<DivOf>>(type);
        case OpKind::Rem:
            return of_integer<Binary<RemOf>>(type);
        case OpKind::Neg:
            return of_number<Neg>(type);
        case OpKind::And:
            return of_integer<Binary<AndOf>>(type);
        case OpKind::Or:
            return of_integer<Binary<OrOf>>(type);
        case OpKind::Xor:
            return of_integer<Binary<XorOf>>(type);
        case OpKind::Not:
            return of_integer<Unary<NotOf>>(type);
        case OpKind::Shl:
            return of_integer<Binary<ShlOf>>(type);
        case OpKind::Shr:
            return of_integer<Binary<ShrOf>>(type);
        case OpKind::LogicalAnd:
            return of_bool<Binary<AndOf>>(type);
        case OpKind::LogicalOr:
            return of_bool<Binary<OrOf>>(type);
        case OpKind::LogicalNot:
            return of_bool<Unary<LogicalNotOf>>(type);
        case OpKind::Equal:
            return of_number_or_bool<Compare<EqualOf>>(type);
        case OpKind::NotEqual:
            return of_number_or_bool<Compare<NotEqualOf>>(type);
        case OpKind::Less:
            return of_number<Compare<LessOf>>(type);
        case OpKind::LessEqual:
            return of_number<Compare<LessEqualOf>>(type);
        case OpKind::Greater:
            return of_number<Compare<GreaterOf>>(type);
        case OpKind::GreaterEqual:
            return of_number<Compare<GreaterEqualOf>>(type);
        case OpKind::Abs:
            return of_number<Abs>(type);
        case OpKind::Min:
            return of_number<Binary<MinOf>>(type);
        case OpKind::Max:
            return of_number<Binary<MaxOf>>(type);
        case OpKind::Minimum:
            return of_real<Binary<MinimumOf>>(type);
        case OpKind::Maximum:
            return of_real<Binary<MaximumOf>>(type);
        case OpKind::Fma:
            return of_real<Fma>(type);
        case OpKind::Sqrt:
            return of_real<Unary<SqrtOf>>(type);
        case OpKind::Exp:
            return of_real<Wide<ExpOf>>(type);
        case OpKind::Exp2:
            return of_real<Wide<Exp2Of>>(type);
        case OpKind::Log:
            return of_real<Wide<LogOf>>(type);
        case OpKind::Log2:
            return of_real<Wide<Log2Of>>(type);
        case OpKind::Rsqrt:
            return of_real<Wide<RsqrtOf>>(type);
        case OpKind::Sin:
            return of_real<Wide<SinOf>>(type);
        case OpKind::Cos:
            return of_real<Wide<CosOf>>(type);
        case OpKind::Tanh:
            return of_real<Wide<TanhOf>>(type);
        case OpKind::Erf:
            return of_real<Wide<ErfOf>>(type);
        case OpKind::Pow:
            return of_real<Wide<PowOf>>(type);
        case OpKind::Floor:
            return of_real<Unary<FloorOf>>(type);
        case OpKind::Ceil:
            return of_real<Unary<CeilOf>>(type);
        case OpKind::Trunc:
            return of_real<Unary<TruncOf>>(type);
        case OpKind::Round:
            return of_real<Unary<RoundOf>>(type);
        case OpKind::IsNan:
            return of_number<Test<IsNanOf>>(type);
        case OpKind::IsInf:
            return of_number<Test<IsInfOf>>(type);
        case OpKind::Select:
            return &select_bits;
        case OpKind::CeilDiv:
            return of_integer<Binary<CeilDivOf>>(type);
        case OpKind::FloorDiv:
            return of_integer<Binary<FloorDivOf>>(type);
        case OpKind::Mod:
            return of_integer<Binary<ModOf>>(type);
        case OpKind::Ilog2:
            return of_integer<Unary<Ilog2Of>>(type);
        case OpKind::Popcount:
            return of_integer<Unary<PopcountOf>>(type);
        case OpKind::Clz:
            return of_integer<Unary<ClzOf>>(type);
        case OpKind::Convert:
        case OpKind::Saturate:
        case OpKind::Bitcast:
#include "ir/structural_cases.def"
            break;
    }
    return nullptr;
}

OpKind combining_op(ReduceKind kind) {
    switch (kind) {
        case ReduceKind::Sum:
            return OpKind::Add;
        case ReduceKind::Min:
            return OpKind::Min;
        case ReduceKind::Max:
            return OpKind::Max;
        case ReduceKind::Minimum:
            return OpKind::Minimum;
        case ReduceKind::Maximum:
            return OpKind::Maximum;
        case ReduceKind::Any:
            return OpKind::LogicalOr;
        case ReduceKind::All:
            return OpKind::LogicalAnd;
    }
    throw support::InternalError("ir::combine", "unknown reduction");
}

Scalar float_identity(ReduceKind kind, ScalarType type) {
    const FloatFormat format = float_format(type);
    if (kind == ReduceKind::Sum) return {type, format.sign_bit()};
    if (kind == ReduceKind::Minimum) return {type, format.top_exponent()};
    if (kind == ReduceKind::Maximum) return {type, format.sign_bit() | format.top_exponent()};
    return {type, format.nan()};
}

Scalar integer_identity(ReduceKind kind, ScalarType type) {
    if (kind == ReduceKind::Sum) return {type, 0};
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - bit_width(type));
    const std::uint64_t highest = is_signed(type) ? all >> 1 : all;
    return {type, kind == ReduceKind::Min ? highest : all - highest};
}

}  // namespace

ElementFunction element_function(OpKind kind, ScalarType element) {
    const ElementFunction function = find_function(kind, element);
    if (function != nullptr) return function;
    throw support::InternalError("ir::evaluate", "`" + std::string(info(kind).mnemonic) +
                                                     "` has no elementwise value of " + std::string(name(element)));
}

Scalar evaluate(OpKind kind, std::span<const Scalar> operands) {
    const OpInfo& row = info(kind);
    if (row.group != OpGroup::Elementwise || row.result == ResultRule::Own || operands.size() != row.operands.size()) {
        throw support::InternalError("ir::evaluate", "`" + std::string(row.mnemonic) + "` with " +
                                                         std::to_string(operands.size()) +
                                                         " operands has no elementwise value");
    }
    const std::size_t typed = kind == OpKind::Select ? 1 : 0;
    std::array<std::uint64_t, 3> bits{};
    for (std::size_t i = 0; i < operands.size(); ++i) {
        bits[i] = operands[i].bits;
        if (i >= typed && operands[i].type != operands[typed].type) {
            throw support::InternalError("ir::evaluate", "`" + std::string(row.mnemonic) + "` of two types");
        }
    }
    const ScalarType type = operands[typed].type;
    const std::uint64_t value = element_function(kind, type)(bits[0], bits[1], bits[2]);
    return {row.result == ResultRule::Flag ? ScalarType::Bool : type, value};
}

ScalarType reduce_carrier(ReduceKind kind, ScalarType element) {
    const bool narrow = element == ScalarType::F16 || element == ScalarType::BF16;
    return kind == ReduceKind::Sum && narrow ? ScalarType::F32 : element;
}

ElementFunction combine_function(ReduceKind kind, ScalarType carrier) {
    return element_function(combining_op(kind), carrier);
}

Scalar reduce_identity(ReduceKind kind, ScalarType element) {
    const ScalarType carrier = reduce_carrier(kind, element);
    combine_function(kind, carrier);  // refuses a reduction that has no meaning for the type
    if (kind == ReduceKind::Any) return Scalar::boolean(false);
    if (kind == ReduceKind::All) return Scalar::boolean(true);
    return is_float(carrier) ? float_identity(kind, carrier) : integer_identity(kind, carrier);
}

Scalar combine(ReduceKind kind, Scalar accumulated, Scalar next) {
    if (accumulated.type != next.type) throw support::InternalError("ir::combine", "operands of two types");
    return {accumulated.type, combine_function(kind, accumulated.type)(accumulated.bits, next.bits, 0)};
}

}  // namespace kiln::ir
