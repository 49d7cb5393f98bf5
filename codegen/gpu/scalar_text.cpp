#include "codegen/gpu/scalar_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ir/element_function.h"
#include "ir/semantics.h"
#include "ir/support/internal_error.h"

namespace kiln::codegen::gpu {
namespace {

using ir::OpKind;
using ir::ScalarType;

[[noreturn]] void no_text(OpKind kind, ScalarType type) {
    throw support::InternalError("codegen::gpu::scalar_text", fmt::format("`{}` has no elementwise value of {}",
                                                                          ir::info(kind).mnemonic, ir::name(type)));
}

bool is_narrow(ScalarType type) {
    return type == ScalarType::F16 || type == ScalarType::BF16;
}

/// The unsigned type in which an integer type wraps.
std::string_view wrapping_type(ScalarType type) {
    return ir::bit_width(type) == 64 ? "unsigned long long" : "unsigned";
}

/// Suffix of the functions that serve an integer type: that of at least 32 bits with its sign.
std::string_view function_suffix(ScalarType type) {
    if (ir::bit_width(type) == 64) return ir::is_signed(type) ? "i64" : "u64";
    return ir::is_signed(type) ? "i32" : "u32";
}

/// One elementwise op on operands of one type.
class OpText {
public:
    OpText(OpKind kind, ScalarType type, std::span<const std::string> operands, const ir::Freedoms& freedoms)
        : kind_(kind), type_(type), operands_(operands), freedoms_(freedoms) {}

    std::string text() const;

private:
    const std::string& operand(std::size_t i) const { return operands_[i]; }
    bool is_integer() const { return ir::is_integer(type_); }
    /// 32- and 64-bit integers as they are, narrower ones cut to their width.
    std::string cut(const std::string& value) const { return fmt::format("({}){}", c_type(type_), value); }

    /// a op b, wrapping.
    std::string arithmetic(char symbol) const {
        const std::string &a = operand(0), &b = operand(1);
        if (!is_integer())
            return reals(
                [&](const std::string& x, const std::string& y) { return fmt::format("({} {} {})", x, symbol, y); });
        if (!ir::is_signed(type_) && ir::bit_width(type_) >= 32) return fmt::format("({} {} {})", a, symbol, b);
        return cut(fmt::format("(({0}){1} {2} ({0}){3})", wrapping_type(type_), a, symbol, b));
    }

    std::string bits(char symbol) const {
        const std::string value = fmt::format("({} {} {})", operand(0), symbol, operand(1));
        return ir::bit_width(type_) < 32 ? cut(value) : value;
    }

    std::string shift(bool left) const {
        const std::string count = fmt::format("({} & {})", operand(1), ir::bit_width(type_) - 1);
        if (!left) {
            const std::string value = fmt::format("({} >> {})", operand(0), count);
            return ir::bit_width(type_) < 32 ? cut(value) : value;
        }
        return cut(fmt::format("(({}){} << {})", wrapping_type(type_), operand(0), count));
    }

    std::string compare(std::string_view symbol) const {
        const bool real = is_narrow(type_);
        return fmt::format("({} {} {})", real ? widened(0) : operand(0), symbol, real ? widened(1) : operand(1));
    }

    std::string lesser(bool wanted) const {
        return fmt::format("({0} {2} {1} ? {0} : {1})", operand(0), operand(1), wanted ? "<" : ">");
    }

    /// Call of a function of integers, `name` without its suffix.
    std::string integer_call(std::string_view name) const {
        std::string arguments = operand(0);
        for (std::size_t i = 1; i < operands_.size(); ++i) arguments += ", " + operand(i);
        const std::string call = fmt::format("kiln_{}_{}({})", name, function_suffix(type_), arguments);
        return ir::bit_width(type_) < 32 ? cut(call) : call;
    }

    std::string negated() const {
        if (is_integer()) return cut(fmt::format("(0 - ({}){})", wrapping_type(type_), operand(0)));
        if (is_narrow(type_)) return cut(fmt::format("({} ^ 0x8000)", operand(0)));
        return fmt::format("(-{})", operand(0));
    }

    std::string magnitude() const {
        if (is_narrow(type_)) return cut(fmt::format("({} & 0x7fff)", operand(0)));
        if (!is_integer()) return fmt::format("kiln_abs_{}({})", ir::name(type_), operand(0));
        return ir::is_signed(type_) ? fmt::format("({0} < 0 ? {1} : {0})", operand(0), negated()) : operand(0);
    }

    /// The pattern without its sign in the low bits of an unsigned number.
    std::string counted(std::string_view name) const {
        const int width = ir::bit_width(type_);
        const std::string pattern = width < 32 ? fmt::format("({} & {}u)", operand(0), (1 << width) - 1)
                                               : fmt::format("({}){}", wrapping_type(type_), operand(0));
        return fmt::format("kiln_{}_{}({})", name, width == 64 ? "u64" : "u32", pattern);
    }

    std::string leading_zeros() const {
        const int unused = std::max(0, 32 - ir::bit_width(type_));
        return cut(unused == 0 ? counted("clz") : fmt::format("({} - {})", counted("clz"), unused));
    }

    std::string highest_bit() const {
        const int last = std::max(32, ir::bit_width(type_)) - 1;
        return cut(fmt::format("({} <= 0 ? -1 : {} - {})", operand(0), last, counted("clz")));
    }

    std::string widened(std::size_t i) const { return fmt::format("kiln_f32_of_{}({})", ir::name(type_), operand(i)); }
    std::string narrowed(const std::string& value) const {
        return fmt::format("kiln_{}_of_f32({})", ir::name(type_), value);
    }

    /// A function of one or two reals, in f32 for narrow types.
    template <class Text>
    std::string reals(Text text) const {
        if (!ir::is_float(type_)) no_text(kind_, type_);
        const std::string second = operands_.size() > 1 ? operand(1) : std::string();
        if (!is_narrow(type_)) return text(operand(0), second);
        return narrowed(text(widened(0), second.empty() ? second : widened(1)));
    }

    std::string real_call(std::string_view name) const {
        const std::string_view suffix = type_ == ScalarType::F64 ? "f64" : "f32";
        return reals([&](const std::string& x, const std::string& y) {
            return y.empty() ? fmt::format("kiln_{}_{}({})", name, suffix, x)
                             : fmt::format("kiln_{}_{}({}, {})", name, suffix, x, y);
        });
    }

    std::string exponential(std::string_view name, std::string_view fast_name) const {
        const bool fast = (freedoms_.flush || freedoms_.approximate) && type_ != ScalarType::F64;
        return real_call(fast ? fast_name : name);
    }

    std::string product_or_quotient(std::string_view name, char symbol) const {
        if (type_ != ScalarType::BF16) return arithmetic(symbol);
        return fmt::format("kiln_{}_bf16({}, {})", name, operand(0), operand(1));
    }

    std::string fused() const {
        if (!ir::is_float(type_)) no_text(kind_, type_);
        return fmt::format("kiln_fma_{}({}, {}, {})", ir::name(type_), operand(0), operand(1), operand(2));
    }

    /// Whether the pattern without sign lies above that of infinity, or is it.
    std::string is_special(std::string_view symbol) const {
        return fmt::format("(({} & 0x7fff) {} {})", operand(0), symbol, type_ == ScalarType::F16 ? "0x7c00" : "0x7f80");
    }

    std::string is_nan() const {
        if (is_integer()) return "false";
        return is_narrow(type_) ? is_special(">") : fmt::format("({0} != {0})", operand(0));
    }

    std::string is_infinite() const {
        if (is_integer()) return "false";
        return is_narrow(type_) ? is_special("==") : fmt::format("kiln_isinf_{}({})", ir::name(type_), operand(0));
    }

    OpKind kind_;
    ScalarType type_;
    std::span<const std::string> operands_;
    const ir::Freedoms& freedoms_;
};

std::string OpText::text() const {
    switch (kind_) {
        case OpKind::Add:
            return arithmetic('+');
        case OpKind::Sub:
            return arithmetic('-');
        case OpKind::Mul:
            return product_or_quotient("mul", '*');
        case OpKind::Div:
            return is_integer() ? integer_call("div") : product_or_quotient("div", '/');
        case OpKind::Rem:
            return integer_call("rem");
        case OpKind::Neg:
            return negated();
        case OpKind::And:
            return bits('&');
        case OpKind::Or:
            return bits('|');
        case OpKind::Xor:
            return bits('^');
        case OpKind::Not:
            return cut(fmt::format("(~{})", operand(0)));
        case OpKind::Shl:
            return shift(true);
        case OpKind::Shr:
            return shift(false);
        case OpKind::LogicalAnd:
            return fmt::format("({} && {})", operand(0), operand(1));
        case OpKind::LogicalOr:
            return fmt::format("({} || {})", operand(0), operand(1));
        case OpKind::LogicalNot:
            return fmt::format("(!{})", operand(0));
        case OpKind::Equal:
            return compare("==");
        case OpKind::NotEqual:
            return compare("!=");
        case OpKind::Less:
            return compare("<");
        case OpKind::LessEqual:
            return compare("<=");
        case OpKind::Greater:
            return compare(">");
        case OpKind::GreaterEqual:
            return compare(">=");
        case OpKind::Abs:
            return magnitude();
        case OpKind::Min:
            return is_integer() ? lesser(true) : real_call("min");
        case OpKind::Max:
            return is_integer() ? lesser(false) : real_call("max");
        case OpKind::Minimum:
            return real_call("minimum");
        case OpKind::Maximum:
            return real_call("maximum");
        case OpKind::Fma:
            return fused();
        case OpKind::Sqrt:
            return real_call("sqrt");
        case OpKind::Exp:
            return exponential("exp", "fast_exp");
        case OpKind::Exp2:
            return exponential("exp2", "approximate_exp2");
        case OpKind::Log:
            return real_call("log");
        case OpKind::Log2:
            return real_call("log2");
        case OpKind::Rsqrt:
            return real_call("rsqrt");
        case OpKind::Sin:
            return real_call("sin");
        case OpKind::Cos:
            return real_call("cos");
        case OpKind::Tanh:
            return real_call("tanh");
        case OpKind::Erf:
            return real_call("erf");
        case OpKind::Pow:
            return real_call("pow");
        case OpKind::Floor:
            return real_call("floor");
        case OpKind::Ceil:
            return real_call("ceil");
        case OpKind::Trunc:
            return real_call("trunc");
        case OpKind::Round:
            return real_call("round");
        case OpKind::IsNan:
            return is_nan();
        case OpKind::IsInf:
            return is_infinite();
        case OpKind::Select:
            return fmt::format("({} ? {} : {})", operand(0), operand(1), operand(2));
        case OpKind::CeilDiv:
            return integer_call("cdiv");
        case OpKind::FloorDiv:
            return integer_call(ir::is_signed(type_) ? "floordiv" : "div");
        case OpKind::Mod:
            return integer_call(ir::is_signed(type_) ? "mod" : "rem");
        case OpKind::Ilog2:
            return highest_bit();
        case OpKind::Popcount:
            return cut(counted("popcount"));
        case OpKind::Clz:
            return leading_zeros();
        case OpKind::Convert:
        case OpKind::Saturate:
        case OpKind::Bitcast:
#include "ir/structural_cases.def"
            break;
    }
    no_text(kind_, type_);
}

/// Shortest decimal digits that read back to the same number, in the form of a C literal.
template <class Real>
std::string real_literal(Real value, std::string_view suffix) {
    std::string digits = fmt::format("{}", value);
    if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
    digits += suffix;
    return std::signbit(value) ? "(" + digits + ")" : digits;
}

std::string integer_literal(ir::Scalar scalar) {
    const std::int64_t value = ir::integer_value(scalar.type, scalar.bits);
    switch (ir::bit_width(scalar.type) * (ir::is_signed(scalar.type) ? -1 : 1)) {
        case 32:
            return fmt::format("{}u", scalar.bits);
        case 64:
            return fmt::format("{}ull", scalar.bits);
        case -32:
            if (value == std::numeric_limits<std::int32_t>::min()) return "(-2147483647 - 1)";
            return value < 0 ? fmt::format("({})", value) : fmt::format("{}", value);
        case -64:
            if (value == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807ll - 1)";
            return value < 0 ? fmt::format("({}ll)", value) : fmt::format("{}ll", value);
        default:
            return fmt::format("(({})({}))", c_type(scalar.type), value);
    }
}

}  // namespace

std::string_view c_type(ScalarType type) {
    switch (type) {
        case ScalarType::Bool:
            return "bool";
        case ScalarType::I8:
            return "signed char";
        case ScalarType::I16:
            return "short";
        case ScalarType::I32:
            return "int";
        case ScalarType::I64:
            return "long long";
        case ScalarType::U8:
            return "unsigned char";
        case ScalarType::U16:
            return "unsigned short";
        case ScalarType::U32:
            return "unsigned";
        case ScalarType::U64:
            return "unsigned long long";
        case ScalarType::F16:
            return "kiln_f16";
        case ScalarType::BF16:
            return "kiln_bf16";
        case ScalarType::F32:
            return "float";
        case ScalarType::F64:
            return "double";
        case ScalarType::I4:
            return "kiln_i4";
        case ScalarType::U4:
            return "kiln_u4";
        case ScalarType::F4E2M1:
            return "kiln_f4e2m1";
        case ScalarType::F8E4M3:
            return "kiln_f8e4m3";
        case ScalarType::F8E5M2:
            return "kiln_f8e5m2";
        case ScalarType::F8E8M0:
            return "kiln_f8e8m0";
    }
    throw support::InternalError("codegen::gpu::scalar_text", "unknown element type");
}

std::string_view memory_type(ScalarType type) {
    return type == ScalarType::Bool || ir::bit_width(type) == 4 ? "unsigned char" : c_type(type);
}

std::string literal(ir::Scalar scalar) {
    if (scalar.type == ScalarType::Bool) return scalar.bits != 0 ? "true" : "false";
    if (ir::is_integer(scalar.type)) return integer_literal(scalar);
    if (scalar.type == ScalarType::F32) {
        const float value = std::bit_cast<float>(static_cast<std::uint32_t>(scalar.bits));
        return std::isfinite(value) ? real_literal(value, "f") : fmt::format("kiln_f32_of_bits(0x{:x}u)", scalar.bits);
    }
    if (scalar.type == ScalarType::F64) {
        const double value = std::bit_cast<double>(scalar.bits);
        return std::isfinite(value) ? real_literal(value, "") : fmt::format("kiln_f64_of_bits(0x{:x}ull)", scalar.bits);
    }
    return fmt::format("(({})0x{:x})", c_type(scalar.type), scalar.bits);
}

std::string expression(OpKind kind, ScalarType element, std::span<const std::string> operands,
                       const ir::Freedoms& freedoms) {
    if (operands.size() != ir::info(kind).operands.size()) no_text(kind, element);
    return OpText(kind, element, operands, freedoms).text();
}

std::string combine(ir::ReduceKind kind, ScalarType carrier, const std::string& accumulated, const std::string& next) {
    const std::string operands[] = {accumulated, next};
    switch (kind) {
        case ir::ReduceKind::Sum:
            return expression(OpKind::Add, carrier, operands);
        case ir::ReduceKind::Min:
            return expression(OpKind::Min, carrier, operands);
        case ir::ReduceKind::Max:
            return expression(OpKind::Max, carrier, operands);
        case ir::ReduceKind::Minimum:
            return expression(OpKind::Minimum, carrier, operands);
        case ir::ReduceKind::Maximum:
            return expression(OpKind::Maximum, carrier, operands);
        case ir::ReduceKind::Any:
            return expression(OpKind::LogicalOr, carrier, operands);
        case ir::ReduceKind::All:
            return expression(OpKind::LogicalAnd, carrier, operands);
    }
    throw support::InternalError("codegen::gpu::scalar_text", "unknown reduction");
}

std::string from_memory(ScalarType type, const std::string& value) {
    return type == ScalarType::Bool ? fmt::format("({} != 0)", value) : value;
}

std::string to_memory(ScalarType type, const std::string& value) {
    return type == ScalarType::Bool ? fmt::format("((unsigned char){})", value) : value;
}

std::string load_4_bits(const std::string& bytes, const std::string& index) {
    return fmt::format("kiln_load_4_bits({}, {})", bytes, index);
}

std::string store_4_bits(const std::string& bytes, const std::string& index, const std::string& value) {
    return fmt::format("kiln_store_4_bits({}, {}, {})", bytes, index, value);
}

}  // namespace kiln::codegen::gpu
