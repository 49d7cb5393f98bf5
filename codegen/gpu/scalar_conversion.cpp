// Convert, Saturate and Bitcast as C: the table of conversions of docs/language.md, section 3.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "codegen/gpu/scalar_text.h"
#include "ir/support/internal_error.h"

namespace kiln::codegen::gpu {
namespace {

using ir::OpKind;
using ir::ScalarType;

[[noreturn]] void no_conversion(ScalarType from, ScalarType to) {
    throw support::InternalError("codegen::gpu::scalar_text",
                                 fmt::format("{} does not convert to {}", ir::name(from), ir::name(to)));
}

bool is_real(ScalarType type) {
    switch (type) {
        case ScalarType::F16:
        case ScalarType::BF16:
        case ScalarType::F32:
        case ScalarType::F64:
        case ScalarType::F4E2M1:
        case ScalarType::F8E4M3:
        case ScalarType::F8E5M2:
        case ScalarType::F8E8M0:
            return true;
        case ScalarType::Bool:
        case ScalarType::I8:
        case ScalarType::I16:
        case ScalarType::I32:
        case ScalarType::I64:
        case ScalarType::U8:
        case ScalarType::U16:
        case ScalarType::U32:
        case ScalarType::U64:
        case ScalarType::I4:
        case ScalarType::U4:
            return false;
    }
    return false;
}

bool has_sign(ScalarType type) {
    return ir::is_signed(type) || type == ScalarType::I4;
}

/// Bits of an integer's value.
int value_bits(ScalarType type) {
    return type == ScalarType::Bool ? 1 : ir::bit_width(type);
}

/// Range of an integer type; the highest of u64 stands for all from 2^63 on.
std::int64_t lowest(ScalarType type) {
    return has_sign(type) ? std::numeric_limits<std::int64_t>::min() >> (64 - value_bits(type)) : 0;
}
std::int64_t highest(ScalarType type) {
    const int bits = value_bits(type) - (has_sign(type) ? 1 : 0);
    return std::numeric_limits<std::int64_t>::max() >> std::max(0, 63 - bits);
}

std::string long_literal(std::int64_t value) {
    return literal({ScalarType::I64, static_cast<std::uint64_t>(value)});
}

/// A value as a number of C.
std::string whole_value(ScalarType from, const std::string& operand) {
    return from == ScalarType::I4 ? fmt::format("kiln_int_of_i4({})", operand) : operand;
}

std::string as_type(ScalarType to, const std::string& value) {
    if (ir::bit_width(to) == 4) return fmt::format("({})({} & 15)", c_type(to), value);
    return fmt::format("({}){}", c_type(to), value);
}

std::string clamp_whole(ScalarType from, ScalarType to, const std::string& value) {
    const bool fits_below = lowest(from) >= lowest(to);
    const bool fits_above = to == ScalarType::U64 || (from != ScalarType::U64 && highest(from) <= highest(to));
    if (fits_below && fits_above) return value;
    if (from == ScalarType::U64) return fmt::format("kiln_clamp_u64({}, {}ull)", value, highest(to));
    const std::int64_t low = std::max(lowest(from), lowest(to)), high = std::min(highest(from), highest(to));
    const bool short_enough = lowest(from) >= std::numeric_limits<std::int32_t>::min() &&
                              highest(from) <= std::numeric_limits<std::int32_t>::max();
    if (!short_enough) return fmt::format("kiln_clamp_i64({}, {}, {})", value, long_literal(low), long_literal(high));
    const auto short_literal = [](std::int64_t bound) { return literal(ir::Scalar::integer(ScalarType::I32, bound)); };
    return fmt::format("kiln_clamp_i32({}, {}, {})", value, short_literal(low), short_literal(high));
}

std::string whole_to_whole(OpKind kind, ScalarType from, ScalarType to, const std::string& operand) {
    const std::string value = whole_value(from, operand);
    return as_type(to, kind == OpKind::Saturate ? clamp_whole(from, to, value) : value);
}

/// The exact value as f32, or f64 as it is.
std::string real_value(ScalarType from, const std::string& operand) {
    if (from == ScalarType::F32 || from == ScalarType::F64) return operand;
    return fmt::format("kiln_f32_of_{}({})", ir::name(from), operand);
}

std::string real_to_whole(ScalarType from, ScalarType to, const std::string& operand) {
    const std::string_view source = from == ScalarType::F64 ? "f64" : "f32";
    const std::string value = real_value(from, operand);
    if (ir::bit_width(to) >= 32) return fmt::format("kiln_{}_of_{}({})", ir::name(to), source, value);
    const std::string whole = fmt::format("kiln_i32_of_{}({})", source, value);
    return as_type(to, clamp_whole(ScalarType::I32, to, whole));
}

/// The largest finite value, as text of f32 or, of f64, of that type.
std::string_view largest(ScalarType type) {
    switch (type) {
        case ScalarType::F16:
            return "65504.0f";
        case ScalarType::BF16:
            return "3.3895314e38f";
        case ScalarType::F32:
            return "3.4028235e38f";
        case ScalarType::F64:
            return "1.7976931348623157e308";
        case ScalarType::F4E2M1:
            return "6.0f";
        case ScalarType::F8E4M3:
            return "448.0f";
        case ScalarType::F8E5M2:
            return "57344.0f";
        case ScalarType::F8E8M0:
            return "1.7014118e38f";
        case ScalarType::Bool:
        case ScalarType::I8:
        case ScalarType::I16:
        case ScalarType::I32:
        case ScalarType::I64:
        case ScalarType::U8:
        case ScalarType::U16:
        case ScalarType::U32:
        case ScalarType::U64:
        case ScalarType::I4:
        case ScalarType::U4:
            break;
    }
    throw support::InternalError("codegen::gpu::scalar_text", "no real type");
}

/// A value of f32 that rounds to the type as the original would.
std::string narrowed(OpKind kind, ScalarType to, const std::string& value) {
    const std::string inside =
        kind == OpKind::Saturate ? fmt::format("kiln_limit_f32({}, {})", value, largest(to)) : value;
    return to == ScalarType::F32 ? inside : fmt::format("kiln_{}_of_f32({})", ir::name(to), inside);
}

std::string whole_to_real(OpKind kind, ScalarType from, ScalarType to, const std::string& operand) {
    const std::string value = whole_value(from, operand);
    if (to == ScalarType::F64 || to == ScalarType::F32) return fmt::format("({}){}", c_type(to), value);
    if (value_bits(from) <= 16) return narrowed(kind, to, fmt::format("(float){}", value));
    return narrowed(kind, to, fmt::format("kiln_odd_f32_of_{}({})", has_sign(from) ? "i64" : "u64", value));
}

std::string real_to_real(OpKind kind, ScalarType from, ScalarType to, const std::string& operand) {
    const bool saturates = kind == OpKind::Saturate;
    if (to == ScalarType::F64) {
        const std::string wide = fmt::format("(double){}", real_value(from, operand));
        return saturates ? fmt::format("kiln_limit_f64({}, {})", wide, largest(to)) : wide;
    }
    if (from != ScalarType::F64) return narrowed(kind, to, real_value(from, operand));
    if (to != ScalarType::F32) return narrowed(kind, to, fmt::format("kiln_odd_f32_of_f64({})", operand));
    return saturates ? fmt::format("(float)kiln_limit_f64({}, {})", operand, largest(to)) : "(float)" + operand;
}

std::string bitcast(ScalarType from, ScalarType to, const std::string& operand) {
    if (ir::bit_width(from) != ir::bit_width(to)) no_conversion(from, to);
    if (from == to) return operand;
    if (to == ScalarType::Bool) return fmt::format("({} != 0)", operand);
    if (from == ScalarType::F32) return fmt::format("({})kiln_bits_of_f32({})", c_type(to), operand);
    if (from == ScalarType::F64) return fmt::format("({})kiln_bits_of_f64({})", c_type(to), operand);
    if (to == ScalarType::F32) return fmt::format("kiln_f32_of_bits((unsigned){})", operand);
    if (to == ScalarType::F64) return fmt::format("kiln_f64_of_bits((unsigned long long){})", operand);
    return fmt::format("({}){}", c_type(to), operand);
}

}  // namespace

std::string conversion(OpKind kind, ScalarType from, ScalarType to, const std::string& operand) {
    if (kind == OpKind::Bitcast) return "(" + bitcast(from, to, operand) + ")";
    if (kind == OpKind::Convert && from == to) return operand;
    if (to == ScalarType::Bool) no_conversion(from, to);
    const bool to_real = is_real(to);
    if (is_real(from)) {
        return "(" + (to_real ? real_to_real(kind, from, to, operand) : real_to_whole(from, to, operand)) + ")";
    }
    return "(" + (to_real ? whole_to_real(kind, from, to, operand) : whole_to_whole(kind, from, to, operand)) + ")";
}

}  // namespace kiln::codegen::gpu
