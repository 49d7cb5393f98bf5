#include "ir/scalar.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "ir/element_function.h"
#include "ir/small_float.h"
#include "ir/support/internal_error.h"

namespace kiln::ir {

namespace {

bool is_real(ScalarType type) {
    return has_float_format(type) || type == ScalarType::F8E8M0;
}

bool is_unsigned(ScalarType type) {
    return scalar_class(type) == ScalarClass::Unsigned || type == ScalarType::U4;
}

std::uint64_t width_mask(ScalarType type) {
    return ~std::uint64_t{0} >> (64 - bit_width(type));
}

/// The NaN pattern that prints as plain `nan`; none in f4e2m1.
std::optional<std::uint64_t> plain_nan(ScalarType type) {
    if (type == ScalarType::F4E2M1) return std::nullopt;
    return type == ScalarType::F8E8M0 ? 0xff : float_format(type).nan();
}

std::string real_text(Scalar scalar) {
    if (scalar.bits == plain_nan(scalar.type)) return "nan";
    const double value = decode_real(scalar.type, scalar.bits);
    if (std::isnan(value)) return fmt::format("nan:{:#x}", scalar.bits);
    // Every other type is a subset of f32, so the shortest f32 text reads back to it. It may lie above the value, which
    // f8e8m0 would round up.
    if (scalar.type == ScalarType::F64 || scalar.type == ScalarType::F8E8M0) return fmt::format("{}", value);
    return fmt::format("{}", static_cast<float>(value));
}

template <class T>
std::optional<T> parse_whole(std::string_view text, int base = 10) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<Scalar> parse_integer(ScalarType type, std::string_view text) {
    if (is_unsigned(type)) {
        const auto value = parse_whole<std::uint64_t>(text);
        if (!value || *value > width_mask(type)) return std::nullopt;
        return Scalar{type, *value};
    }
    const auto value = parse_whole<std::int64_t>(text);
    if (!value) return std::nullopt;
    const Scalar scalar{type, static_cast<std::uint64_t>(*value) & width_mask(type)};
    return scalar.as_int64() == *value ? std::optional(scalar) : std::nullopt;
}

std::optional<Scalar> parse_nan(ScalarType type, std::string_view text) {
    const auto plain = plain_nan(type);
    if (!plain) return std::nullopt;
    if (text == "nan") return Scalar{type, *plain};
    constexpr std::string_view kPrefix = "nan:0x";
    if (!text.starts_with(kPrefix)) return std::nullopt;
    const auto bits = parse_whole<std::uint64_t>(text.substr(kPrefix.size()), 16);
    if (!bits || *bits > width_mask(type) || !std::isnan(decode_real(type, *bits))) return std::nullopt;
    return Scalar{type, *bits};
}

/// A number in decimal as digits without leading or trailing zeros: 0.d1 d2 d3 ... * 10^exponent.
struct Decimal {
    std::string digits;
    std::int64_t exponent = 0;
};

Decimal decimal_of(std::string_view text) {
    Decimal result;
    std::int64_t point = 0;
    bool after_point = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '.') {
            after_point = true;
        } else if (c == 'e' || c == 'E') {
            std::string_view rest = text.substr(i + 1);
            if (rest.starts_with('+')) rest.remove_prefix(1);
            point += parse_whole<std::int64_t>(rest).value_or(0);
            break;
        } else if (c >= '0' && c <= '9') {
            if (!after_point && !(result.digits.empty() && c == '0')) ++point;
            if (after_point && result.digits.empty() && c == '0') --point;
            if (!result.digits.empty() || c != '0') result.digits += c;
        }
    }
    while (result.digits.ends_with('0')) result.digits.pop_back();
    result.exponent = point;
    return result;
}

/// Moves a double that is the nearest to `text` one step towards it where that makes its last bit odd. A second
/// rounding to a narrower type then gives what one rounding of `text` would (rounding to odd).
double rounded_to_odd(double nearest, std::string_view text) {
    const auto bits = std::bit_cast<std::uint64_t>(nearest);
    if ((bits & 1) != 0 || nearest == 0) return nearest;
    const Decimal exact = decimal_of(fmt::format("{:.1100e}", nearest));  // a double has at most 767 digits
    const Decimal wanted = decimal_of(text);
    const bool same_exponent = exact.exponent == wanted.exponent;
    const int order = same_exponent ? wanted.digits.compare(exact.digits) : wanted.exponent > exact.exponent ? 1 : -1;
    if (order == 0) return nearest;
    return std::bit_cast<double>(order > 0 ? bits + 1 : bits - 1);
}

std::optional<double> parse_double(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

bool has_number_form(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

std::optional<Scalar> parse_real(ScalarType type, std::string_view text) {
    if (text.starts_with("nan")) return parse_nan(type, text);
    if (text == "inf" || text == "-inf") {
        const double value = text == "inf" ? HUGE_VAL : -HUGE_VAL;
        const Scalar scalar{type, encode_real(type, value, Overflow::Format)};
        return decode_real(type, scalar.bits) == value ? std::optional(scalar) : std::nullopt;
    }
    if (!has_number_form(text)) return std::nullopt;
    const auto nearest = parse_double(text);
    if (!nearest) return std::nullopt;
    const bool exact = type == ScalarType::F64 || type == ScalarType::F8E8M0;
    const double value = exact ? *nearest : rounded_to_odd(*nearest, text);
    const Scalar scalar{type, encode_real(type, value, Overflow::Format)};
    return std::isfinite(decode_real(type, scalar.bits)) ? std::optional(scalar) : std::nullopt;
}

}  // namespace

Scalar Scalar::integer(ScalarType type, std::int64_t value) {
    if (type == ScalarType::Bool) return boolean(value != 0);
    return {type, static_cast<std::uint64_t>(value) & width_mask(type)};
}

std::int64_t Scalar::as_int64() const {
    return integer_value(type, bits);
}

double Scalar::as_double() const {
    if (is_real(type)) return decode_real(type, bits);
    return is_unsigned(type) ? static_cast<double>(bits) : static_cast<double>(as_int64());
}

std::string to_string(Scalar scalar) {
    if (scalar.type == ScalarType::Bool) return scalar.as_bool() ? "true" : "false";
    if (is_real(scalar.type)) return real_text(scalar);
    return is_unsigned(scalar.type) ? std::to_string(scalar.bits) : std::to_string(scalar.as_int64());
}

std::optional<Scalar> parse_scalar(ScalarType type, std::string_view text) {
    if (type == ScalarType::Bool) {
        if (text != "true" && text != "false") return std::nullopt;
        return Scalar::boolean(text == "true");
    }
    return is_real(type) ? parse_real(type, text) : parse_integer(type, text);
}

}  // namespace kiln::ir
