#include "ir/semantics.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "ir/scalar.h"
#include "ir/support/internal_error.h"

namespace {

using namespace kiln::ir;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Scalar real(ScalarType type, double value) {
    return round_to(type, value);
}
Scalar whole(ScalarType type, std::int64_t value) {
    return Scalar::integer(type, value);
}

/// An op on operands given as text, its value as text.
std::string value_of(OpKind kind, ScalarType type, const std::vector<std::string>& operands) {
    std::vector<Scalar> scalars;
    for (const std::string& operand : operands) scalars.push_back(parse_scalar(type, operand).value());
    return to_string(evaluate(kind, scalars));
}

struct Row {
    OpKind kind;
    ScalarType type;
    std::vector<std::string> operands;
    std::string expected;
};

void check_rows(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
        INFO(info(row.kind).mnemonic, " of ", name(row.type), " ", row.operands.front());
        CHECK(value_of(row.kind, row.type, row.operands) == row.expected);
    }
}

std::uint64_t converted(OpKind kind, Scalar value, ScalarType target) {
    return convert(kind, value, target).bits;
}

}  // namespace

TEST_SUITE("unit") {
    using enum OpKind;
    using enum ScalarType;

    TEST_CASE("integer arithmetic wraps at the width of its type") {
        check_rows({
            {Add, I8, {"127", "1"}, "-128"},
            {Add, U8, {"255", "1"}, "0"},
            {Add, I32, {"2000000000", "2000000000"}, "-294967296"},
            {Sub, I16, {"-32768", "1"}, "32767"},
            {Sub, U64, {"0", "1"}, "18446744073709551615"},
            {Mul, I16, {"-32768", "-1"}, "-32768"},
            {Mul, U16, {"65535", "65535"}, "1"},
            {Mul, I64, {"9223372036854775807", "2"}, "-2"},
            {Add, U64, {"9223372036854775808", "1"}, "9223372036854775809"},
            {Neg, I8, {"-128"}, "-128"},
            {Neg, U8, {"1"}, "255"},
            {Abs, I64, {"-9223372036854775808"}, "-9223372036854775808"},
            {Abs, I8, {"-5"}, "5"},
            {Abs, U8, {"200"}, "200"},
        });
    }

    TEST_CASE("integer division follows one rule for each op and never traps") {
        check_rows({
            {Div, I32, {"-7", "2"}, "-3"},
            {Rem, I32, {"-7", "2"}, "-1"},
            {Div, I32, {"7", "-2"}, "-3"},
            {Rem, I32, {"7", "-2"}, "1"},
            {Rem, I32, {"-1", "3"}, "-1"},
            {FloorDiv, I32, {"-7", "2"}, "-4"},
            {Mod, I32, {"-7", "2"}, "1"},
            {FloorDiv, I32, {"7", "-2"}, "-4"},
            {Mod, I32, {"7", "-2"}, "-1"},
            {Mod, I32, {"-1", "3"}, "2"},
            {FloorDiv, I32, {"6", "-2"}, "-3"},
            {Mod, I32, {"6", "-2"}, "0"},
            {CeilDiv, I32, {"-72", "10"}, "-7"},
            {CeilDiv, I32, {"72", "10"}, "8"},
            {CeilDiv, I32, {"-72", "-10"}, "8"},
            {CeilDiv, U8, {"255", "2"}, "128"},
            {CeilDiv, I64, {"9223372036854775807", "1"}, "9223372036854775807"},
            {Div, I32, {"2", "0"}, "0"},
            {Div, I32, {"-2", "0"}, "0"},
            {Rem, I32, {"-2", "0"}, "-2"},
            {CeilDiv, I8, {"5", "0"}, "0"},
            {FloorDiv, I8, {"-5", "0"}, "0"},
            {Mod, U16, {"5", "0"}, "5"},
            {Div, I32, {"-2147483648", "-1"}, "-2147483648"},
            {Rem, I32, {"-2147483648", "-1"}, "0"},
            {Div, I8, {"-128", "-1"}, "-128"},
            {Div, I64, {"-9223372036854775808", "-1"}, "-9223372036854775808"},
            {Rem, I64, {"-9223372036854775808", "-1"}, "0"},
            {CeilDiv, I64, {"-9223372036854775808", "-1"}, "-9223372036854775808"},
            {FloorDiv, I64, {"-9223372036854775808", "-1"}, "-9223372036854775808"},
            {Mod, I64, {"-9223372036854775808", "-1"}, "0"},
            {Div, U64, {"18446744073709551615", "2"}, "9223372036854775807"},
            {Mod, U8, {"200", "7"}, "4"},
        });
    }

    TEST_CASE("shifts take their count modulo the width") {
        check_rows({
            {Shl, I32, {"1", "31"}, "-2147483648"},
            {Shl, I32, {"1", "32"}, "1"},
            {Shl, U8, {"255", "9"}, "254"},
            {Shl, I64, {"1", "-1"}, "-9223372036854775808"},
            {Shr, I8, {"-128", "7"}, "-1"},
            {Shr, I8, {"-128", "8"}, "-128"},
            {Shr, U8, {"128", "7"}, "1"},
            {Shr, I64, {"-1", "63"}, "-1"},
        });
    }

    TEST_CASE("bit ops of every width") {
        check_rows({
            {And, U8, {"12", "10"}, "8"},
            {Or, U8, {"12", "10"}, "14"},
            {Xor, I8, {"-1", "1"}, "-2"},
            {Not, U16, {"0"}, "65535"},
            {Not, I64, {"0"}, "-1"},
            {Popcount, I8, {"-1"}, "8"},
            {Popcount, U64, {"18446744073709551615"}, "64"},
            {Clz, I8, {"1"}, "7"},
            {Clz, U32, {"0"}, "32"},
            {Clz, I16, {"-1"}, "0"},
            {Ilog2, I32, {"1"}, "0"},
            {Ilog2, I32, {"0"}, "-1"},
            {Ilog2, I32, {"-8"}, "-1"},
            {Ilog2, U64, {"18446744073709551615"}, "63"},
            {Ilog2, U8, {"0"}, "255"},
            {Ilog2, I64, {"1025"}, "10"},
        });
    }

    TEST_CASE("comparisons and their NaNs") {
        check_rows({
            {Less, U8, {"1", "255"}, "true"},
            {Less, I8, {"1", "-1"}, "false"},
            {Equal, F32, {"nan", "nan"}, "false"},
            {NotEqual, F32, {"nan", "nan"}, "true"},
            {Less, F16, {"nan", "1"}, "false"},
            {LessEqual, BF16, {"nan", "1"}, "false"},
            {Greater, F64, {"nan", "1"}, "false"},
            {GreaterEqual, F32, {"1", "nan"}, "false"},
            {Equal, F16, {"0", "-0"}, "true"},
            {Equal, Bool, {"true", "true"}, "true"},
            {NotEqual, Bool, {"true", "false"}, "true"},
            {Less, F32, {"-inf", "inf"}, "true"},
            {GreaterEqual, I64, {"-1", "-1"}, "true"},
        });
    }

    TEST_CASE("min and max prefer the number, minimum and maximum the NaN") {
        for (const ScalarType type : {F16, BF16, F32, F64}) {
            check_rows({
                {Min, type, {"nan", "1"}, "1"},
                {Max, type, {"1", "nan"}, "1"},
                {Min, type, {"nan", "nan"}, "nan"},
                {Min, type, {"0", "-0"}, "-0"},
                {Min, type, {"-0", "0"}, "-0"},
                {Max, type, {"-0", "0"}, "0"},
                {Max, type, {"0", "-0"}, "0"},
                {Max, type, {"-inf", "nan"}, "-inf"},
                {Minimum, type, {"nan", "1"}, "nan"},
                {Maximum, type, {"1", "nan"}, "nan"},
                {Minimum, type, {"0", "-0"}, "-0"},
                {Maximum, type, {"-0", "0"}, "0"},
                {Minimum, type, {"2", "-3"}, "-3"},
                {Maximum, type, {"2", "-3"}, "2"},
            });
        }
        check_rows({{Min, I8, {"-1", "1"}, "-1"},
                    {Min, U8, {"255", "1"}, "1"},
                    {Max, U64, {"0", "18446744073709551615"}, "18446744073709551615"}});
    }

    TEST_CASE("float arithmetic keeps the rules of IEEE") {
        for (const ScalarType type : {F16, BF16, F32, F64}) {
            check_rows({
                {Mul, type, {"inf", "0"}, "nan"},   {Mul, type, {"nan", "0"}, "nan"},
                {Mul, type, {"-1", "0"}, "-0"},     {Mul, type, {"2", "0"}, "0"},
                {Sub, type, {"inf", "inf"}, "nan"}, {Sub, type, {"nan", "nan"}, "nan"},
                {Sub, type, {"-1", "-1"}, "0"},     {Add, type, {"-0", "0"}, "0"},
                {Add, type, {"-0", "-0"}, "-0"},    {Div, type, {"1", "0"}, "inf"},
                {Div, type, {"-1", "0"}, "-inf"},   {Div, type, {"0", "0"}, "nan"},
                {Neg, type, {"0"}, "-0"},           {Abs, type, {"-inf"}, "inf"},
                {Sqrt, type, {"-1"}, "nan"},        {Sqrt, type, {"-0"}, "-0"},
                {IsNan, type, {"nan"}, "true"},     {IsNan, type, {"inf"}, "false"},
                {IsInf, type, {"-inf"}, "true"},    {IsInf, type, {"nan"}, "false"},
                {Round, type, {"0.5"}, "0"},        {Round, type, {"1.5"}, "2"},
                {Round, type, {"-2.5"}, "-2"},      {Floor, type, {"-0.5"}, "-1"},
                {Ceil, type, {"-0.5"}, "-0"},       {Trunc, type, {"-1.75"}, "-1"},
            });
        }
        check_rows({{IsNan, I32, {"0"}, "false"}, {IsInf, U8, {"255"}, "false"}});
    }

    TEST_CASE("a NaN has one pattern, whatever the processor computes") {
        for (const OpKind kind : {Div, Sub, Mul, Min, Minimum}) {
            const Scalar zero = Scalar::f32(0);
            const Scalar nan{F32, 0xffc12345};
            const auto operands = kind == Div ? std::array{zero, zero} : std::array{nan, nan};
            CHECK(evaluate(kind, operands).bits == 0x7fc00000);
        }
        CHECK(evaluate(Neg, std::array{Scalar{F32, 0x7fc00000}}).bits == 0xffc00000);
    }

    TEST_CASE("f16 and bf16 round once") {
        // 1 + 2^-10 squared lies 2^-20 above a tie of f16: 1 + 2^-9 is the product rounded down.
        CHECK(evaluate(Mul, std::array{Scalar{F16, 0x3c01}, Scalar{F16, 0x3c01}}).bits == 0x3c02);
        CHECK(evaluate(Add, std::array{real(F16, 2048), real(F16, 1)}) == real(F16, 2048));
        CHECK(evaluate(Add, std::array{real(F16, 2050), real(F16, 1)}) == real(F16, 2052));
        CHECK(evaluate(Add, std::array{real(BF16, 256), real(BF16, 1)}) == real(BF16, 256));
        CHECK(evaluate(Add, std::array{real(F16, 65504), real(F16, 15)}).bits == 0x7bff);
        CHECK(evaluate(Add, std::array{real(F16, 65504), real(F16, 16)}).bits == 0x7c00);
        CHECK(evaluate(Sqrt, std::array{real(F16, 2)}).bits == 0x3da8);
        CHECK(evaluate(Sqrt, std::array{real(BF16, 2)}).bits == 0x3fb5);
    }

    TEST_CASE("fma of narrow types rounds once where two roundings would differ") {
        // bf16: 257 / 256 is a tie that the tiny addend breaks; double holds neither the sum nor its direction.
        const Scalar a{BF16, 0x3f81};           // 1 + 2^-7
        const Scalar tie_factor{BF16, 0x3fc0};  // 1.5: the product 1.51171875 is a tie of bf16
        const double tiny = std::ldexp(1.0, -120);
        CHECK(evaluate(Fma, std::array{a, tie_factor, real(BF16, 0)}).bits == 0x3fc2);
        CHECK(evaluate(Fma, std::array{a, tie_factor, real(BF16, tiny)}).bits == 0x3fc2);
        CHECK(evaluate(Fma, std::array{a, tie_factor, real(BF16, -tiny)}).bits == 0x3fc1);
        const Scalar b{BF16, 0x3f83};  // 1 + 3 * 2^-7: times 1.5 is a tie below an even pattern
        CHECK(evaluate(Fma, std::array{b, tie_factor, real(BF16, 0)}).bits == 0x3fc4);
        CHECK(evaluate(Fma, std::array{b, tie_factor, real(BF16, tiny)}).bits == 0x3fc5);
        CHECK(evaluate(Fma, std::array{real(F16, -1), Scalar{F16, 0x3c01}, real(F16, 1)}) ==
              real(F16, -std::ldexp(1, -10)));
        CHECK(evaluate(Fma, std::array{real(F16, kInf), real(F16, 0), real(F16, 1)}) == real(F16, kNan));
        CHECK(evaluate(Fma, std::array{real(F16, 60000), real(F16, 2), real(F16, -60000)}) == real(F16, 60000));
        const Scalar near_one = Scalar::f32(1 + std::ldexp(1.0f, -23));
        CHECK(evaluate(Fma, std::array{near_one, near_one, Scalar::f32(-1)}) ==
              Scalar::f32(std::ldexp(1.0f, -22) + std::ldexp(1.0f, -46)));
    }

    TEST_CASE("exp2 keeps denormals") {
        const auto exp2 = [](float x) { return evaluate(Exp2, std::array{Scalar::f32(x)}).bits; };
        CHECK(exp2(-126) == 0x00800000);
        CHECK(exp2(-127) == 0x00400000);
        CHECK(exp2(-149) == 0x00000001);
        CHECK(exp2(-150) == 0);
        CHECK(exp2(128) == 0x7f800000);
    }

    TEST_CASE("edges of the functions") {
        for (const ScalarType type : {F16, BF16, F32, F64}) {
            check_rows({
                {Exp, type, {"0"}, "1"},           {Exp, type, {"-inf"}, "0"},      {Exp, type, {"inf"}, "inf"},
                {Log, type, {"0"}, "-inf"},        {Log, type, {"-1"}, "nan"},      {Log, type, {"1"}, "0"},
                {Log2, type, {"0"}, "-inf"},       {Log2, type, {"-1"}, "nan"},     {Log2, type, {"8"}, "3"},
                {Rsqrt, type, {"0"}, "inf"},       {Rsqrt, type, {"4"}, "0.5"},     {Rsqrt, type, {"-1"}, "nan"},
                {Rsqrt, type, {"inf"}, "0"},       {Sin, type, {"inf"}, "nan"},     {Cos, type, {"-inf"}, "nan"},
                {Sin, type, {"0"}, "0"},           {Cos, type, {"0"}, "1"},         {Tanh, type, {"inf"}, "1"},
                {Tanh, type, {"-inf"}, "-1"},      {Erf, type, {"inf"}, "1"},       {Erf, type, {"-0"}, "-0"},
                {Pow, type, {"2", "10"}, "1024"},  {Pow, type, {"nan", "0"}, "1"},  {Pow, type, {"1", "nan"}, "1"},
                {Pow, type, {"-8", "0.5"}, "nan"}, {Pow, type, {"0", "-1"}, "inf"}, {Exp2, type, {"-1"}, "0.5"},
            });
        }
        CHECK(evaluate(Exp, std::array{Scalar::f32(1)}).bits == 0x402df854);
        CHECK(evaluate(Exp, std::array{Scalar::f64(1)}) == Scalar::f64(2.718281828459045));
        CHECK(evaluate(Log, std::array{Scalar::f64(10)}) == Scalar::f64(2.302585092994046));
        CHECK(evaluate(Exp, std::array{real(F16, 1)}).bits == 0x4170);
    }

    TEST_CASE("select takes any type and does not look into NaNs") {
        const Scalar odd_nan{F32, 0x7f800001};
        CHECK(evaluate(Select, std::array{Scalar::boolean(true), odd_nan, Scalar::f32(0)}) == odd_nan);
        CHECK(evaluate(Select, std::array{Scalar::boolean(false), Scalar{F8E4M3, 1}, Scalar{F8E4M3, 2}}) ==
              Scalar{F8E4M3, 2});
    }

    TEST_CASE("conversions between integers wrap, saturate clamps") {
        CHECK(converted(Convert, whole(I64, 300), I8) == 44);
        CHECK(converted(Convert, whole(I64, -1), U64) == ~std::uint64_t{0});
        CHECK(converted(Convert, whole(I8, -1), U32) == 0xffffffff);
        CHECK(converted(Convert, whole(U8, 255), I64) == 255);
        CHECK(converted(Convert, whole(I64, 9), I4) == 9);
        CHECK(converted(Convert, Scalar{I4, 9}, I64) == static_cast<std::uint64_t>(-7));
        CHECK(converted(Convert, Scalar{U4, 9}, I64) == 9);
        CHECK(converted(Convert, Scalar::boolean(true), I16) == 1);
        CHECK(converted(Saturate, whole(I64, 300), I8) == 127);
        CHECK(converted(Saturate, whole(I64, -300), I8) == 0x80);
        CHECK(converted(Saturate, whole(I64, -300), U8) == 0);
        CHECK(converted(Saturate, Scalar{U64, ~std::uint64_t{0}}, I64) == 0x7fffffffffffffff);
        CHECK(converted(Saturate, whole(I64, 100), I4) == 7);
        CHECK(converted(Saturate, whole(I64, -100), I4) == 8);
    }

    TEST_CASE("conversions of integers to reals round to nearest even once") {
        const auto bf16 = [](std::int64_t value) { return convert(Convert, whole(I64, value), BF16).as_double(); };
        CHECK(bf16(257) == 256);
        CHECK(bf16(259) == 260);
        CHECK(bf16(-259) == -260);
        CHECK(bf16(33000) == 33024);
        // Through double these i64 values would round twice, to the tie and then to even.
        CHECK(converted(Convert, whole(I64, (std::int64_t{1} << 62) + (std::int64_t{1} << 38) + 1), F32) == 0x5e800001);
        CHECK(converted(Convert, whole(I64, (std::int64_t{1} << 62) + (std::int64_t{1} << 38)), F32) == 0x5e800000);
        CHECK(converted(Convert, Scalar{U64, ~std::uint64_t{0}}, F32) == 0x5f800000);
        CHECK(converted(Convert, whole(I64, std::numeric_limits<std::int64_t>::min()), F64) == 0xc3e0000000000000);
        CHECK(converted(Convert, whole(I32, 65519), F16) == 0x7bff);
        CHECK(converted(Convert, whole(I32, 65520), F16) == 0x7c00);
        CHECK(converted(Saturate, whole(I32, 65520), F16) == 0x7bff);
        CHECK(converted(Convert, Scalar::boolean(true), F16) == 0x3c00);
    }

    TEST_CASE("conversions of reals to integers truncate, clamp, and take NaN as 0") {
        for (const OpKind kind : {Convert, Saturate}) {
            CHECK(convert(kind, Scalar::f32(-1.9f), I8).as_int64() == -1);
            CHECK(convert(kind, Scalar::f32(300), I8).as_int64() == 127);
            CHECK(convert(kind, Scalar::f32(-300), I8).as_int64() == -128);
            CHECK(convert(kind, Scalar::f64(kNan), I64).as_int64() == 0);
            CHECK(convert(kind, Scalar::f64(kInf), I64).as_int64() == std::numeric_limits<std::int64_t>::max());
            CHECK(convert(kind, Scalar::f64(-kInf), I64).as_int64() == std::numeric_limits<std::int64_t>::min());
            CHECK(convert(kind, Scalar::f64(1e30), U64).bits == ~std::uint64_t{0});
            CHECK(convert(kind, Scalar::f64(-0.9), U64).bits == 0);
            CHECK(convert(kind, Scalar::f64(-5), U8).bits == 0);
            CHECK(convert(kind, Scalar::f64(9223372036854775808.0), I64).as_int64() ==
                  std::numeric_limits<std::int64_t>::max());
            CHECK(convert(kind, Scalar::f64(9223372036854775808.0), U64).bits == std::uint64_t{1} << 63);
            CHECK(convert(kind, Scalar::f32(-20), I4).bits == 8);
            CHECK(convert(kind, Scalar{F8E5M2, 0x7b}, I16).as_int64() == 32767);
        }
    }

    TEST_CASE("conversions of reals to f16, bf16 and f32 round once and overflow to infinity") {
        // 1 + 2^-11 + 2^-40: a tie of f16 if it passed through f32.
        CHECK(converted(Convert, Scalar::f64(1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40)), F16) == 0x3c01);
        CHECK(converted(Convert, Scalar::f64(1 + std::ldexp(1.0, -8) + std::ldexp(1.0, -50)), BF16) == 0x3f81);
        CHECK(converted(Convert, Scalar::f32(65520), F16) == 0x7c00);
        CHECK(converted(Saturate, Scalar::f32(65520), F16) == 0x7bff);
        CHECK(converted(Saturate, Scalar::f32(HUGE_VALF), F32) == 0x7f7fffff);
        CHECK(converted(Saturate, Scalar::f64(-kInf), BF16) == 0xff7f);
        CHECK(converted(Saturate, Scalar::f64(kNan), BF16) == 0x7fc0);
        CHECK(converted(Convert, Scalar::f64(1e300), F32) == 0x7f800000);
        CHECK(converted(Convert, Scalar::f64(std::ldexp(1.0, -150)), F32) == 0);
        CHECK(converted(Convert, Scalar::f64(std::ldexp(1.5, -150)), F32) == 1);
        CHECK(converted(Convert, Scalar{F8E8M0, 0}, BF16) == 0x0040);
        CHECK(converted(Convert, Scalar{F8E8M0, 254}, F16) == 0x7c00);
    }

    TEST_CASE("f8e5m2 in IEEE and in saturating mode") {
        const auto to = [](OpKind kind, double value) {
            return converted(kind, Scalar::f32(static_cast<float>(value)), F8E5M2);
        };
        const std::vector<std::array<double, 3>> rows{
            {57344, 0x7b, 0x7b}, {61439, 0x7b, 0x7b}, {61440, 0x7c, 0x7b}, {65504, 0x7c, 0x7b}, {kInf, 0x7c, 0x7b},
            {-kInf, 0xfc, 0xfb}, {kNan, 0x7e, 0x7e},  {1.125, 0x3c, 0x3c}, {1.375, 0x3e, 0x3e}, {1.625, 0x3e, 0x3e}};
        for (const auto& [value, ieee, saturated] : rows) {
            CHECK(to(Convert, value) == static_cast<std::uint64_t>(ieee));
            CHECK(to(Saturate, value) == static_cast<std::uint64_t>(saturated));
        }
    }

    TEST_CASE("f8e4m3 has no infinity") {
        const auto to = [](OpKind kind, float value) { return converted(kind, Scalar::f32(value), F8E4M3); };
        CHECK(to(Convert, 1.0625f) == 0x38);
        CHECK(to(Convert, 1.0625001f) == 0x39);
        CHECK(to(Convert, 464) == 0x7e);
        CHECK(to(Convert, 465) == 0x7f);
        CHECK(to(Convert, HUGE_VALF) == 0x7f);
        CHECK(to(Saturate, HUGE_VALF) == 0x7e);
        CHECK(to(Saturate, -1000) == 0xfe);
        CHECK(to(Saturate, std::numeric_limits<float>::quiet_NaN()) == 0x7f);
        CHECK(to(Convert, std::ldexp(1.0f, -10)) == 0);
        CHECK(to(Convert, std::ldexp(1.5f, -10)) == 1);
        CHECK(to(Convert, -0.0f) == 0x80);
    }

    TEST_CASE("f4e2m1 clamps at 6 and takes NaN as 6") {
        const auto to = [](double value) { return converted(Convert, Scalar::f64(value), F4E2M1); };
        CHECK(to(6) == 7);
        CHECK(to(100) == 7);
        CHECK(to(-kInf) == 15);
        CHECK(to(kNan) == 7);
        CHECK(to(0.25) == 0);
        CHECK(to(0.75) == 2);
        CHECK(to(2.5) == 4);
        CHECK(to(3.5) == 6);
        CHECK(to(5) == 6);
        CHECK(to(-0.0) == 8);
        CHECK(converted(Saturate, Scalar::f64(kNan), F4E2M1) == 7);
    }

    TEST_CASE("f8e8m0 rounds up to a power of two") {
        const auto to = [](double value) { return converted(Convert, Scalar::f64(value), F8E8M0); };
        CHECK(to(1) == 127);
        CHECK(to(1.0000001) == 128);
        CHECK(to(0.75) == 127);
        CHECK(to(0) == 0);
        CHECK(to(-3) == 0);
        CHECK(to(-kInf) == 0);
        CHECK(to(1e-300) == 0);
        CHECK(to(std::ldexp(1.0, 127)) == 254);
        CHECK(to(std::ldexp(1.5, 127)) == 255);
        CHECK(to(kInf) == 255);
        CHECK(to(kNan) == 255);
        CHECK(converted(Saturate, Scalar::f64(kInf), F8E8M0) == 254);
        CHECK(converted(Saturate, Scalar::f64(kNan), F8E8M0) == 255);
        CHECK(converted(Convert, whole(I64, 3), F8E8M0) == 129);
        CHECK(converted(Convert, whole(I64, 4), F8E8M0) == 129);
        CHECK(converted(Convert, Scalar{U64, ~std::uint64_t{0}}, F8E8M0) == 191);
        CHECK(converted(Convert, whole(I64, 0), F8E8M0) == 0);
    }

    TEST_CASE("bitcast keeps the bits and asks for one width") {
        CHECK(convert(Bitcast, Scalar::f32(1), I32).as_int64() == 0x3f800000);
        CHECK(convert(Bitcast, whole(I16, -1), BF16).bits == 0xffff);
        CHECK(convert(Bitcast, Scalar{I4, 7}, F4E2M1) == Scalar{F4E2M1, 7});
        CHECK(convert(Bitcast, Scalar{U8, 2}, Bool) == Scalar::boolean(true));
        CHECK_THROWS_AS(convert(Bitcast, Scalar::f32(1), I64), kiln::support::InternalError);
    }

    TEST_CASE("reductions have neutral elements, in every type they take") {
        const std::vector<ScalarType> numbers{I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64};
        for (const ScalarType type : numbers) {
            for (const ReduceKind kind :
                 {ReduceKind::Sum, ReduceKind::Min, ReduceKind::Max, ReduceKind::Minimum, ReduceKind::Maximum}) {
                const bool reals_only = kind == ReduceKind::Minimum || kind == ReduceKind::Maximum;
                if (reals_only && !is_float(type)) {
                    CHECK_THROWS_AS(reduce_identity(kind, type), kiln::support::InternalError);
                    continue;
                }
                const Scalar identity = reduce_identity(kind, type);
                std::vector<std::string> values{"0", "1", "100"};
                if (is_float(type)) values.insert(values.end(), {"-0", "nan", "inf", "-inf"});
                for (const std::string& text : values) {
                    const Scalar value = parse_scalar(identity.type, text).value();
                    INFO(name(type), " ", text);
                    CHECK(combine(kind, identity, value) == value);
                }
            }
        }
        CHECK(reduce_identity(ReduceKind::Sum, BF16).type == F32);
        CHECK(reduce_identity(ReduceKind::Max, BF16).type == BF16);
        CHECK(reduce_identity(ReduceKind::Any, Bool) == Scalar::boolean(false));
        CHECK(reduce_identity(ReduceKind::All, Bool) == Scalar::boolean(true));
        CHECK_THROWS_AS(reduce_identity(ReduceKind::Sum, Bool), kiln::support::InternalError);
        CHECK_THROWS_AS(reduce_identity(ReduceKind::Max, F8E4M3), kiln::support::InternalError);
        CHECK_THROWS_AS(reduce_identity(ReduceKind::Any, I32), kiln::support::InternalError);
    }

    TEST_CASE("what has no elementwise value is refused by name") {
        CHECK_THROWS_WITH_AS(evaluate(Load, std::array{Scalar::f32(1)}), doctest::Contains("`load`"),
                             kiln::support::InternalError);
        CHECK_THROWS_WITH_AS(evaluate(Add, std::array{Scalar{F8E4M3, 1}, Scalar{F8E4M3, 1}}),
                             doctest::Contains("f8e4m3"), kiln::support::InternalError);
        CHECK_THROWS_AS(evaluate(Add, std::array{Scalar::f32(1)}), kiln::support::InternalError);
        CHECK_THROWS_AS(evaluate(Add, std::array{Scalar::f32(1), Scalar::f64(1)}), kiln::support::InternalError);
        CHECK_THROWS_AS(convert(Convert, Scalar::f32(1), Bool), kiln::support::InternalError);
    }
}
