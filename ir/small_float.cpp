#include "ir/small_float.h"

#include <cmath>
#include <limits>

#include "ir/support/internal_error.h"

namespace kiln::ir {

namespace {

constexpr std::uint64_t kPowerNan = 0xff;
constexpr std::uint64_t kPowerLargest = 0xfe;
constexpr int kPowerBias = 127;

}  // namespace

double decode_power(std::uint64_t bits) {
    if (bits == kPowerNan) return std::numeric_limits<double>::quiet_NaN();
    return power_of_two(static_cast<int>(bits) - kPowerBias);
}

std::uint64_t encode_power(double value, Overflow rule) {
    if (std::isnan(value)) return kPowerNan;
    if (value <= power_of_two(-kPowerBias)) return 0;
    const std::uint64_t above = rule == Overflow::Clamp ? kPowerLargest : kPowerNan;
    if (value > power_of_two(kPowerBias)) return above;
    const int exponent = std::ilogb(value);
    const int rounded = power_of_two(exponent) < value ? exponent + 1 : exponent;
    return static_cast<std::uint64_t>(rounded + kPowerBias);
}

// A case a type, so that the compiler folds the format into the code.

double decode_real(ScalarType type, std::uint64_t bits) {
    switch (type) {
        case ScalarType::F16:
            return decode_float(float_format(ScalarType::F16), bits);
        case ScalarType::BF16:
            return decode_float(float_format(ScalarType::BF16), bits);
        case ScalarType::F32:
            return decode_float(float_format(ScalarType::F32), bits);
        case ScalarType::F64:
            return std::bit_cast<double>(bits);
        case ScalarType::F4E2M1:
            return decode_float(float_format(ScalarType::F4E2M1), bits);
        case ScalarType::F8E4M3:
            return decode_float(float_format(ScalarType::F8E4M3), bits);
        case ScalarType::F8E5M2:
            return decode_float(float_format(ScalarType::F8E5M2), bits);
        case ScalarType::F8E8M0:
            return decode_power(bits);
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
    throw support::InternalError("ir::decode_real", std::string(name(type)) + " is no float");
}

std::uint64_t encode_real(ScalarType type, double value, Overflow rule) {
    switch (type) {
        case ScalarType::F16:
            return encode_float(float_format(ScalarType::F16), value, rule);
        case ScalarType::BF16:
            return encode_float(float_format(ScalarType::BF16), value, rule);
        case ScalarType::F32:
            return encode_float(float_format(ScalarType::F32), value, rule);
        case ScalarType::F64:
            return encode_float(float_format(ScalarType::F64), value, rule);
        case ScalarType::F4E2M1:
            return encode_float(float_format(ScalarType::F4E2M1), value, rule);
        case ScalarType::F8E4M3:
            return encode_float(float_format(ScalarType::F8E4M3), value, rule);
        case ScalarType::F8E5M2:
            return encode_float(float_format(ScalarType::F8E5M2), value, rule);
        case ScalarType::F8E8M0:
            return encode_power(value, rule);
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
    throw support::InternalError("ir::encode_real", std::string(name(type)) + " is no float");
}

}  // namespace kiln::ir
