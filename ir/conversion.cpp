// Convert, Saturate and Bitcast: the table of conversions of docs/language.md, section 3.
#include <bit>
#include <cmath>

#include "ir/element_function.h"
#include "ir/semantics.h"
#include "ir/small_float.h"
#include "ir/support/internal_error.h"

namespace kiln::ir {

namespace {

/// What counts for a conversion: i4 and u4 are integers, the other storage types are reals.
enum class ValueKind : std::uint8_t { Bool, Signed, Unsigned, Real };

ValueKind value_kind(ScalarType type) {
    switch (scalar_class(type)) {
        case ScalarClass::Bool:
            return ValueKind::Bool;
        case ScalarClass::Signed:
            return ValueKind::Signed;
        case ScalarClass::Unsigned:
            return ValueKind::Unsigned;
        case ScalarClass::Float:
            return ValueKind::Real;
        case ScalarClass::Storage:
            break;
    }
    if (type == ScalarType::I4) return ValueKind::Signed;
    return type == ScalarType::U4 ? ValueKind::Unsigned : ValueKind::Real;
}

std::uint64_t width_mask(ScalarType type) {
    return ~std::uint64_t{0} >> (64 - bit_width(type));
}

/// Smallest value of an integer type as a magnitude, and its largest value.
std::uint64_t lowest_magnitude(ScalarType type) {
    return value_kind(type) == ValueKind::Signed ? (width_mask(type) >> 1) + 1 : 0;
}
std::uint64_t highest(ScalarType type) {
    return value_kind(type) == ValueKind::Signed ? width_mask(type) >> 1 : width_mask(type);
}

struct Whole {
    bool negative;
    std::uint64_t magnitude;
};

std::uint64_t clamped_integer(Whole value, ScalarType to) {
    const std::uint64_t limit = value.negative ? lowest_magnitude(to) : highest(to);
    const std::uint64_t magnitude = value.magnitude < limit ? value.magnitude : limit;
    return (value.negative ? 0 - magnitude : magnitude) & width_mask(to);
}

std::uint64_t convert_whole(Whole value, ScalarType to, Overflow rule) {
    if (value_kind(to) != ValueKind::Real) {
        if (rule == Overflow::Clamp) return clamped_integer(value, to);
        return (value.negative ? 0 - value.magnitude : value.magnitude) & width_mask(to);
    }
    if (to == ScalarType::F8E8M0) {
        if (value.negative || value.magnitude == 0) return encode_power(0, rule);
        return encode_power(power_of_two(std::bit_width(value.magnitude - 1)), rule);
    }
    const FloatFormat format = float_format(to);
    return (value.negative ? format.sign_bit() : 0) | round_magnitude(format, {value.magnitude, 0}, rule);
}

std::uint64_t truncated_integer(double value, ScalarType to) {
    if (std::isnan(value)) return 0;
    const double magnitude = std::fabs(value);
    const bool huge = magnitude >= power_of_two(64);
    return clamped_integer({value < 0, huge ? ~std::uint64_t{0} : static_cast<std::uint64_t>(magnitude)}, to);
}

std::uint64_t bitcast_bits(std::uint64_t bits, ScalarType from, ScalarType to) {
    if (bit_width(from) != bit_width(to)) {
        throw support::InternalError("ir::convert", "bitcast of " + std::string(name(from)) + " to " +
                                                        std::string(name(to)) + ", which has another width");
    }
    return to == ScalarType::Bool ? std::uint64_t{bits != 0} : bits;
}

}  // namespace

std::int64_t integer_value(ScalarType type, std::uint64_t bits) {
    if (value_kind(type) == ValueKind::Real) {
        throw support::InternalError("ir::integer_value", std::string(name(type)) + " is no integer type");
    }
    if (value_kind(type) != ValueKind::Signed) return static_cast<std::int64_t>(bits);
    const int unused = 64 - bit_width(type);
    return static_cast<std::int64_t>(bits << unused) >> unused;
}

std::uint64_t convert_bits(OpKind kind, std::uint64_t bits, ScalarType from, ScalarType to) {
    if (kind == OpKind::Bitcast) return bitcast_bits(bits, from, to);
    if (kind != OpKind::Convert && kind != OpKind::Saturate) {
        throw support::InternalError("ir::convert", "`" + std::string(info(kind).mnemonic) + "` is no conversion");
    }
    if (kind == OpKind::Convert && from == to) return bits;
    if (to == ScalarType::Bool) {
        throw support::InternalError("ir::convert", std::string(name(from)) + " does not convert to bool");
    }
    const Overflow rule = kind == OpKind::Saturate ? Overflow::Clamp : Overflow::Format;
    if (value_kind(from) == ValueKind::Real) {
        const double value = decode_real(from, bits);
        return value_kind(to) == ValueKind::Real ? encode_real(to, value, rule) : truncated_integer(value, to);
    }
    const std::int64_t value = integer_value(from, bits);
    const bool negative = value_kind(from) == ValueKind::Signed && value < 0;
    const auto pattern = static_cast<std::uint64_t>(value);
    return convert_whole({negative, negative ? 0 - pattern : pattern}, to, rule);
}

Scalar convert(OpKind kind, Scalar value, ScalarType target) {
    return {target, convert_bits(kind, value.bits, value.type, target)};
}

Scalar round_to(ScalarType type, double value) {
    if (!is_float(type)) {
        throw support::InternalError("ir::round_to", std::string(name(type)) + " is no arithmetic float type");
    }
    return {type, encode_real(type, value, Overflow::Format)};
}

}  // namespace kiln::ir
