// Literals and compile-time values. Untyped constants are computed in i64 or f64 and adapt to the type they meet.
#include <charconv>
#include <cmath>

#include "frontend/lowering.h"
#include "ir/semantics.h"

namespace kiln::frontend {

namespace {

std::string without_underscores(std::string_view text) {
    std::string digits;
    for (const char c : text) {
        if (c != '_') digits += c;
    }
    return digits;
}

/// The value of an integer literal, or nothing if 64 bits do not hold it or it has a point or exponent.
std::optional<std::uint64_t> parse_integer(std::string_view text) {
    std::string digits = without_underscores(text);
    int base = 10;
    if (digits.starts_with("0x") || digits.starts_with("0X")) base = 16;
    if (digits.starts_with("0b") || digits.starts_with("0B")) base = 2;
    if (base != 10) digits.erase(0, 2);
    std::uint64_t value = 0;
    const char* end = digits.data() + digits.size();
    const auto [stop, status] = std::from_chars(digits.data(), end, value, base);
    if (status != std::errc{} || stop != end) return std::nullopt;
    return value;
}

bool is_real_literal(std::string_view text) {
    if (text.starts_with("0x") || text.starts_with("0X")) return false;
    return text.find_first_of(".eE") != std::string_view::npos;
}

template <class T>
T parse_real(std::string_view text) {
    const std::string digits = without_underscores(text);
    T value = 0;
    const auto [stop, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (status != std::errc::result_out_of_range) return value;
    const std::size_t exponent = digits.find_first_of("eE");
    const bool small = exponent != std::string::npos && digits[exponent + 1] == '-';
    return small ? T(0) : std::numeric_limits<T>::infinity();
}

/// The literal rounded once to the type: where rounding to f64 first would land on a midpoint of the type, the extended
/// value decides to which side of it the literal lies.
ir::Scalar round_literal(std::string_view text, ir::ScalarType type) {
    if (type == ir::ScalarType::F32) return ir::Scalar::f32(parse_real<float>(text));
    double value = parse_real<double>(text);
    if (type == ir::ScalarType::F64) return ir::Scalar::f64(value);
    const long double exact = parse_real<long double>(text);
    if (std::isfinite(value) && exact > value) value = std::nextafter(value, std::numeric_limits<double>::infinity());
    if (std::isfinite(value) && exact < value) value = std::nextafter(value, -std::numeric_limits<double>::infinity());
    return ir::convert(ir::OpKind::Convert, ir::Scalar::f64(value), type);
}

std::string constant_text(const Constant& constant) {
    if (!constant.literal.empty()) return (constant.negative ? "-" : "") + std::string(constant.literal);
    return ir::to_string(constant.scalar);
}

ir::Scalar negated(ir::Scalar scalar) {
    return ir::evaluate(ir::OpKind::Neg, std::span(&scalar, 1));
}

/// Whether the untyped integer survives a conversion to the type and back.
bool exact_in(std::int64_t value, ir::ScalarType type) {
    if (type == ir::ScalarType::U64) return value >= 0;
    const ir::Scalar there = ir::convert(ir::OpKind::Convert, ir::Scalar::int64(value), type);
    const ir::Scalar back = ir::convert(ir::OpKind::Convert, there, ir::ScalarType::I64);
    if (back.as_int64() != value) return false;
    // Conversions from float clamp, so that 2^63 would seem to be the greatest int.
    return !ir::is_float(type) || there.as_double() != 0x1p63;
}

}  // namespace

Value Lowerer::number(dsl::NodeId id) {
    const dsl::Node& literal = node(id);
    if (is_real_literal(literal.text)) {
        return Value::of(Constant{ir::Scalar::f64(parse_real<double>(literal.text)), false, literal.text, false});
    }
    const std::optional<std::uint64_t> value = parse_integer(literal.text);
    if (!value) {
        error(diagnostics::kNotExact, literal.span, literal.text, "64 bits");
        return {};
    }
    return Value::of(Constant{ir::Scalar::int64(static_cast<std::int64_t>(*value)), false, literal.text, false});
}

std::optional<ir::Scalar> Lowerer::adapt(const Constant& constant, ir::ScalarType type, support::Span span) {
    const ir::ScalarClass wanted = ir::scalar_class(type);
    if (wanted == ir::ScalarClass::Bool || wanted == ir::ScalarClass::Storage) {
        error(diagnostics::kLiteralType, span, constant_text(constant),
              type_text(SurfaceType::of(ir::Type::scalar(type))));
        return std::nullopt;
    }
    if (constant.scalar.type == ir::ScalarType::F64) {
        if (!ir::is_float(type)) {
            error(diagnostics::kNotExact, span, constant_text(constant),
                  type_text(SurfaceType::of(ir::Type::scalar(type))));
            return std::nullopt;
        }
        if (constant.literal.empty()) return ir::convert(ir::OpKind::Convert, constant.scalar, type);
        const ir::Scalar rounded = round_literal(constant.literal, type);
        return constant.negative ? negated(rounded) : rounded;
    }
    const std::optional<std::uint64_t> literal = parse_integer(constant.literal);
    const bool wide = literal && *literal > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (wide && type == ir::ScalarType::U64 && !constant.negative) return ir::Scalar{type, *literal};
    const bool least = wide && constant.negative && *literal == std::uint64_t{1} << 63;
    if ((wide && !least) || !exact_in(constant.scalar.as_int64(), type)) {
        error(diagnostics::kNotExact, span, constant_text(constant),
              type_text(SurfaceType::of(ir::Type::scalar(type))));
        return std::nullopt;
    }
    return ir::convert(ir::OpKind::Convert, constant.scalar, type);
}

Value Lowerer::materialise(const Value& value, support::Span span) {
    if (value.kind == ValueKind::Tuple) {
        std::vector<Value> parts;
        for (const Value& part : value.parts) parts.push_back(materialise(part, span));
        return Value::tuple(std::move(parts));
    }
    if (!value.is_constant()) return value;
    std::optional<ir::Scalar> scalar = value.constant.scalar;
    if (value.untyped()) {
        const bool real = scalar->type == ir::ScalarType::F64;
        scalar = adapt(value.constant, real ? ir::ScalarType::F32 : ir::kInt, span);
        if (!scalar) return {};
    }
    return Value::runtime(builder_.constant(*scalar));
}

std::optional<ir::Scalar> Lowerer::constant_scalar(const Value& value, support::Span span, std::string_view what) {
    if (value.poison()) return std::nullopt;
    if (value.is_constant()) return value.constant.scalar;
    error(diagnostics::kNotCompileTime, span, what);
    return std::nullopt;
}

std::optional<std::int64_t> Lowerer::constant_int(const Value& value, support::Span span, std::string_view what) {
    const std::optional<ir::Scalar> scalar = constant_scalar(value, span, what);
    if (!scalar) return std::nullopt;
    if (!ir::is_integer(scalar->type)) {
        error(diagnostics::kOperandClass, span, what, "an integer", type_text(value));
        return std::nullopt;
    }
    return scalar->as_int64();
}

std::optional<std::int64_t> Lowerer::constant_int(dsl::NodeId id, std::string_view what) {
    return constant_int(expression(id), span(id), what);
}

std::optional<bool> Lowerer::constant_bool(dsl::NodeId id, std::string_view what) {
    const Value value = expression(id);
    const std::optional<ir::Scalar> scalar = constant_scalar(value, span(id), what);
    if (!scalar) return std::nullopt;
    if (scalar->type != ir::ScalarType::Bool) {
        error(diagnostics::kConditionType, span(id), type_text(value));
        return std::nullopt;
    }
    return scalar->as_bool();
}

Value Lowerer::compile_time(dsl::NodeId id, dsl::NodeId type, std::string_view what) {
    Value value = expression(id);
    const auto is_fixed = [](const auto& self, const Value& part) -> bool {
        if (part.kind != ValueKind::Tuple) return part.is_constant() || part.kind == ValueKind::Function;
        for (const Value& inner : part.parts) {
            if (!self(self, inner)) return false;
        }
        return true;
    };
    if (value.poison()) return value;
    if (!is_fixed(is_fixed, value)) {
        error(diagnostics::kNotCompileTime, span(id), what);
        return {};
    }
    if (type == dsl::kNoNode) return value;
    return coerce(value, type_of(type), false, span(id), std::string(what));
}

}  // namespace kiln::frontend
