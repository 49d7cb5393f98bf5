// The device functions compiled for this processor: conversions against ir/semantics, transcendental functions against
// a wider type, in units of the last place.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "host_device.h"
#include "ir/element_function.h"
#include "ir/semantics.h"

using namespace kiln;
using ir::OpKind;
using ir::ScalarType;
using test::Device;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::uint32_t bits(float x) {
    return std::bit_cast<std::uint32_t>(x);
}

bool same(std::uint64_t a, std::uint64_t b, ScalarType type) {
    if (a == b) return true;
    const auto is_nan = [&](std::uint64_t pattern) { return std::isnan(ir::decode_real(type, pattern)); };
    return is_nan(a) && is_nan(b);
}

std::vector<float> interesting_floats() {
    std::vector<float> values;
    std::mt19937 random(21);
    for (std::uint32_t high = 0; high < 0x10000; high += 7) {
        for (const std::uint32_t low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
            values.push_back(std::bit_cast<float>(high << 16 | low));
        }
    }
    for (int i = 0; i < 100000; ++i) values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
    return values;
}

std::vector<double> interesting_doubles() {
    std::vector<double> values;
    std::mt19937_64 random(22);
    for (const float x : interesting_floats()) {
        values.push_back(x);
        values.push_back(std::nextafter(static_cast<double>(x), kInfinity));
        values.push_back(std::nextafter(static_cast<double>(x), -kInfinity));
    }
    for (int i = 0; i < 100000; ++i) values.push_back(std::bit_cast<double>(random()));
    for (int i = -1080; i < 1024; ++i) values.push_back(std::ldexp(1.0, i));
    return values;
}

/// Error in units of the last place of T at the exact value; infinities and NaNs must match.
template <class T>
double ulps(T found, long double exact) {
    if (std::isnan(exact)) return std::isnan(found) ? 0 : kInfinity;
    const T nearest = static_cast<T>(exact);
    if (std::isinf(nearest) || std::isinf(found)) {
        // One step beside the border of the range is a rounding, too.
        const T largest = std::numeric_limits<T>::max();
        if (found == nearest) return 0;
        return std::fabs(found) >= largest && std::fabs(nearest) >= largest && (found > 0) == (nearest > 0) ? 1
                                                                                                            : kInfinity;
    }
    int exponent = 0;
    std::frexp(static_cast<T>(std::fabs(nearest)), &exponent);
    const int least = std::numeric_limits<T>::min_exponent;
    const long double unit = std::ldexp(1.0L, std::max(exponent, least) - std::numeric_limits<T>::digits);
    return static_cast<double>(std::fabs(static_cast<long double>(found) - exact) / unit);
}

template <class T, class Found, class Exact>
double worst(const std::vector<T>& inputs, Found found, Exact exact, T& where) {
    double most = 0;
    for (const T x : inputs) {
        const double error = ulps<T>(found(x), exact(static_cast<long double>(x)));
        if (error > most) {
            most = error;
            where = x;
        }
    }
    return most;
}

template <class T, class Found, class Exact>
void check_function(const char* name, const std::vector<T>& inputs, Found found, Exact exact, double bound) {
    T where = 0;
    const double most = worst<T>(inputs, found, exact, where);
    CAPTURE(name);
    CAPTURE(where);
    CAPTURE(most);
    CHECK(most <= bound);
}

template <class T>
std::vector<T> function_inputs(const std::vector<T>& patterns) {
    std::vector<T> inputs = patterns;
    std::mt19937 random(23);
    std::uniform_real_distribution<double> unit(-1, 1);
    for (const double size : {1.0, 2.0, 8.0, 20.0, 100.0, 760.0, 1e5, 3e6}) {
        for (int i = 0; i < 40000; ++i) inputs.push_back(static_cast<T>(unit(random) * size));
    }
    for (int i = 0; i < 20000; ++i) inputs.push_back(static_cast<T>(1 + unit(random) * 1e-3));
    for (const double x :
         {0.0, -0.0, kInfinity, -kInfinity, 1.0, -1.0, 0.5, 1e300, 5e-324, 88.72283935546875, -87.33654022216797}) {
        inputs.push_back(static_cast<T>(x));
    }
    inputs.push_back(std::numeric_limits<T>::quiet_NaN());
    return inputs;
}

}  // namespace

TEST_SUITE_BEGIN("unit");

TEST_CASE("device functions: narrow floats convert as the table of conversions says") {
    struct Narrow {
        ScalarType type;
        std::uint64_t (*narrow)(float);
        float (*widen)(std::uint64_t);
    };
    const Narrow formats[] = {
        {ScalarType::F8E4M3, [](float x) -> std::uint64_t { return Device::kiln_f8e4m3_of_f32(x); },
         [](std::uint64_t x) { return Device::kiln_f32_of_f8e4m3(static_cast<unsigned char>(x)); }},
        {ScalarType::F8E5M2, [](float x) -> std::uint64_t { return Device::kiln_f8e5m2_of_f32(x); },
         [](std::uint64_t x) { return Device::kiln_f32_of_f8e5m2(static_cast<unsigned char>(x)); }},
        {ScalarType::F8E8M0, [](float x) -> std::uint64_t { return Device::kiln_f8e8m0_of_f32(x); },
         [](std::uint64_t x) { return Device::kiln_f32_of_f8e8m0(static_cast<unsigned char>(x)); }},
        {ScalarType::F4E2M1, [](float x) -> std::uint64_t { return Device::kiln_f4e2m1_of_f32(x); },
         [](std::uint64_t x) { return Device::kiln_f32_of_f4e2m1(static_cast<unsigned char>(x)); }},
        {ScalarType::BF16, [](float x) -> std::uint64_t { return Device::kiln_bf16_of_f32(x); },
         [](std::uint64_t x) { return Device::kiln_f32_of_bf16(static_cast<unsigned short>(x)); }},
    };
    const std::vector<float> floats = interesting_floats();
    for (const Narrow& format : formats) {
        CAPTURE(ir::name(format.type));
        bool widens = true, narrows = true;
        for (std::uint64_t pattern = 0; pattern < std::uint64_t{1} << ir::bit_width(format.type); ++pattern) {
            const std::uint64_t expected = ir::convert_bits(OpKind::Convert, pattern, format.type, ScalarType::F32);
            widens = widens && same(bits(format.widen(pattern)), expected, ScalarType::F32);
        }
        for (const float x : floats) {
            const std::uint64_t expected = ir::convert_bits(OpKind::Convert, bits(x), ScalarType::F32, format.type);
            narrows = narrows && same(format.narrow(x), expected, format.type);
        }
        CHECK(widens);
        CHECK(narrows);
    }
}

TEST_CASE("device functions: rounding to odd first makes the second rounding as if done once") {
    bool f8 = true, bf16 = true, f32 = true, whole = true;
    for (const double x : interesting_doubles()) {
        const auto pattern = std::bit_cast<std::uint64_t>(x);
        const float odd = Device::kiln_odd_f32_of_f64(x);
        f8 = f8 &&
             same(Device::kiln_f8e4m3_of_f32(odd),
                  ir::convert_bits(OpKind::Convert, pattern, ScalarType::F64, ScalarType::F8E4M3), ScalarType::F8E4M3);
        bf16 = bf16 &&
               same(Device::kiln_bf16_of_f64(x),
                    ir::convert_bits(OpKind::Convert, pattern, ScalarType::F64, ScalarType::BF16), ScalarType::BF16);
        f32 = f32 && (std::isnan(x) || static_cast<double>(odd) == x || (bits(odd) & 1) == 1 || std::fabs(x) > 3.5e38);
    }
    std::mt19937_64 random(24);
    for (int i = 0; i < 200000; ++i) {
        std::uint64_t x = random() >> random() % 64;
        if (i % 3 == 0) x = (std::uint64_t{1} << random() % 64) + random() % 5 - 2;
        const auto convert = [&](ScalarType from, ScalarType to) {
            return ir::convert_bits(OpKind::Convert, x, from, to);
        };
        const float unsigned_odd = Device::kiln_odd_f32_of_u64(x);
        const float signed_odd = Device::kiln_odd_f32_of_i64(static_cast<std::int64_t>(x));
        whole = whole && Device::kiln_bf16_of_f32(unsigned_odd) == convert(ScalarType::U64, ScalarType::BF16);
        whole = whole && Device::kiln_f8e5m2_of_f32(unsigned_odd) == convert(ScalarType::U64, ScalarType::F8E5M2);
        whole = whole && Device::kiln_bf16_of_f32(signed_odd) == convert(ScalarType::I64, ScalarType::BF16);
        whole = whole && Device::kiln_f8e8m0_of_f32(signed_odd) == convert(ScalarType::I64, ScalarType::F8E8M0);
    }
    CHECK(f8);
    CHECK(bf16);
    CHECK(f32);
    CHECK(whole);
}

TEST_CASE("device functions: reals become integers by truncation and clamping") {
    bool right = true;
    const auto check = [&](std::uint64_t found, std::uint64_t pattern, ScalarType from, ScalarType to) {
        const std::uint64_t mask = ~std::uint64_t{0} >> (64 - ir::bit_width(to));
        right = right && (found & mask) == ir::convert_bits(OpKind::Convert, pattern, from, to);
    };
    std::vector<double> doubles = interesting_doubles();
    for (const double edge : {0x1p31, 0x1p32, 0x1p63, 0x1p64, 2147483647.5, 4294967295.5, -2147483648.5, -0.5, -1.0}) {
        for (const double x : {edge, -edge, std::nextafter(edge, 0.0), std::nextafter(edge, 1e300)})
            doubles.push_back(x);
    }
    for (const double x : doubles) {
        const auto pattern = std::bit_cast<std::uint64_t>(x);
        check(static_cast<std::uint64_t>(Device::kiln_i32_of_f64(x)), pattern, ScalarType::F64, ScalarType::I32);
        check(Device::kiln_u32_of_f64(x), pattern, ScalarType::F64, ScalarType::U32);
        check(static_cast<std::uint64_t>(Device::kiln_i64_of_f64(x)), pattern, ScalarType::F64, ScalarType::I64);
        check(Device::kiln_u64_of_f64(x), pattern, ScalarType::F64, ScalarType::U64);
        const auto single = static_cast<float>(x);
        check(static_cast<std::uint64_t>(Device::kiln_i32_of_f32(single)), bits(single), ScalarType::F32,
              ScalarType::I32);
        check(Device::kiln_u32_of_f32(single), bits(single), ScalarType::F32, ScalarType::U32);
        check(static_cast<std::uint64_t>(Device::kiln_i64_of_f32(single)), bits(single), ScalarType::F32,
              ScalarType::I64);
        check(Device::kiln_u64_of_f32(single), bits(single), ScalarType::F32, ScalarType::U64);
    }
    CHECK(right);
}

TEST_CASE("device functions: products, quotients and fma of bf16 are rounded once") {
    std::mt19937 random(25);
    const ir::ElementFunction mul = ir::element_function(OpKind::Mul, ScalarType::BF16);
    const ir::ElementFunction div = ir::element_function(OpKind::Div, ScalarType::BF16);
    const ir::ElementFunction fma = ir::element_function(OpKind::Fma, ScalarType::BF16);
    bool right = true;
    for (int i = 0; i < 1000000; ++i) {
        auto a = static_cast<unsigned short>(random()), b = static_cast<unsigned short>(random());
        auto c = static_cast<unsigned short>(random());
        if (i % 4 == 0)
            a = static_cast<unsigned short>((a & 0x80ff) | 0x2000),
            b = static_cast<unsigned short>((b & 0x80ff) | 0x1f00);
        if (i % 4 == 1)
            c = static_cast<unsigned short>((c & 0x807f) | (((a >> 7 & 0xff) + (b >> 7 & 0xff) - 127) << 7 & 0x7f80));
        right = right && same(Device::kiln_mul_bf16(a, b), mul(a, b, 0), ScalarType::BF16);
        right = right && same(Device::kiln_div_bf16(a, b), div(a, b, 0), ScalarType::BF16);
        right = right && same(Device::kiln_wide_fma_bf16(a, b, c), fma(a, b, c), ScalarType::BF16);
    }
    CHECK(right);
}

namespace {

struct FloatFunction {
    const char* name;
    float (*found)(float);
    double (*exact)(double);
};
const FloatFunction kFloatFunctions[] = {
    {"exp", Device::kiln_exp_f32, [](double x) { return std::exp(x); }},
    {"exp2", Device::kiln_exp2_f32, [](double x) { return std::exp2(x); }},
    {"log", Device::kiln_log_f32, [](double x) { return std::log(x); }},
    {"log2", Device::kiln_log2_f32, [](double x) { return std::log2(x); }},
    {"rsqrt", Device::kiln_rsqrt_f32, [](double x) { return 1 / std::sqrt(x); }},
    {"tanh", Device::kiln_tanh_f32, [](double x) { return std::tanh(x); }},
    {"erf", Device::kiln_erf_f32, [](double x) { return std::erf(x); }},
    {"sin", Device::kiln_sin_f32, [](double x) { return std::sin(x); }},
    {"cos", Device::kiln_cos_f32, [](double x) { return std::cos(x); }},
};

}  // namespace

TEST_CASE("device functions: f32 functions are within 2 ulp") {
    const std::vector<float> inputs = function_inputs(interesting_floats());
    for (const auto& [name, found, exact] : kFloatFunctions) {
        check_function<float>(
            name, inputs, found,
            [exact = exact](long double x) { return static_cast<long double>(exact(static_cast<double>(x))); }, 2);
    }
}

TEST_CASE("device functions: f32 functions at every 61st of all patterns" * doctest::skip()) {
    for (const auto& [name, found, exact] : kFloatFunctions) {
        double most = 0;
        for (std::uint64_t pattern = 0; pattern < std::uint64_t{1} << 32; pattern += 61) {
            const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(pattern));
            most = std::max(most, ulps<float>(found(x), exact(x)));
        }
        MESSAGE(name << ": at most " << most << " ulp");
        CHECK(most <= 2);
    }
}

TEST_CASE("device functions: f64 functions are within 2 ulp") {
    const std::vector<double> inputs = function_inputs(interesting_doubles());
    const auto check = [&](const char* name, double (*found)(double), auto exact) {
        check_function<double>(name, inputs, found, exact, 2);
    };
    check("exp", Device::kiln_exp_f64, [](long double x) { return std::exp(x); });
    check("exp2", Device::kiln_exp2_f64, [](long double x) { return std::exp2(x); });
    check("log", Device::kiln_log_f64, [](long double x) { return std::log(x); });
    check("log2", Device::kiln_log2_f64, [](long double x) { return std::log2(x); });
    check("rsqrt", Device::kiln_rsqrt_f64, [](long double x) { return 1 / std::sqrt(x); });
    check("tanh", Device::kiln_tanh_f64, [](long double x) { return std::tanh(x); });
    check("erf", Device::kiln_erf_f64, [](long double x) { return std::erf(x); });
    check("sin", Device::kiln_sin_f64, [](long double x) { return std::sin(x); });
    check("cos", Device::kiln_cos_f64, [](long double x) { return std::cos(x); });
}

TEST_CASE("device functions: pow is within 4 ulp, and its edges are those of the C library") {
    std::mt19937_64 random(26);
    std::uniform_real_distribution<double> unit(0, 1);
    double worst_f32 = 0, worst_f64 = 0;
    const auto check = [&](double a, double b) {
        worst_f64 =
            std::max(worst_f64, ulps<double>(Device::kiln_pow_f64(a, b),
                                             std::pow(static_cast<long double>(a), static_cast<long double>(b))));
        const auto x = static_cast<float>(a), y = static_cast<float>(b);
        worst_f32 = std::max(worst_f32, ulps<float>(Device::kiln_pow_f32(x, y), std::pow(static_cast<long double>(x),
                                                                                         static_cast<long double>(y))));
    };
    for (int i = 0; i < 200000; ++i) {
        const double a = std::exp(unit(random) * 40 - 20), b = (unit(random) - 0.5) * 60;
        check(a, b);
        check(1 + (unit(random) - 0.5) * 1e-3, (unit(random) - 0.5) * 1e6);
        check(std::bit_cast<double>(random()), std::bit_cast<double>(random()));
        check(std::ldexp(unit(random), -1030), unit(random));
    }
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::array edges = {0.0,  -0.0, 1.0,   -1.0,   0.5,       -0.5,       2.0, -2.0,   3.0,
                              -3.0, 2.5,  1e308, -1e308, kInfinity, -kInfinity, nan, 5e-324, 9007199254740993.0};
    for (const double a : edges) {
        for (const double b : edges) {
            CAPTURE(a);
            CAPTURE(b);
            const double found = Device::kiln_pow_f64(a, b), expected = std::pow(a, b);
            CHECK((std::isnan(found) == std::isnan(expected)));
            if (!std::isnan(expected)) {
                CHECK(std::signbit(found) == std::signbit(expected));
                CHECK(ulps<double>(found, std::pow(static_cast<long double>(a), static_cast<long double>(b))) <= 4);
            }
            check(a, b);
        }
    }
    CHECK(worst_f64 <= 4);
    CHECK(worst_f32 <= 4);
}

TEST_CASE("device functions: the fast exponential is within its bound") {
    double worst_relative = 0;
    for (const float x : function_inputs(interesting_floats())) {
        const double exact = std::exp(static_cast<double>(x));
        const float found = Device::kiln_fast_exp_f32(x);
        if (std::isnan(x)) {
            CHECK(std::isnan(found));
        } else if (exact > 3.402823e38) {
            CHECK(found > 3.4e38f);
        } else if (exact >= 0x1p-126) {
            // The stand-in for the instruction is off by 2^-23 of it.
            worst_relative = std::max(worst_relative, std::fabs(found - exact) / exact);
        } else {
            CHECK(found <= 0x1.0001p-126f);
        }
    }
    CHECK(worst_relative <= 0x1p-21);
}

TEST_SUITE_END();
