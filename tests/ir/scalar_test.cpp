#include "ir/scalar.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace kiln::ir;
using enum ScalarType;

bool reads_back(Scalar scalar) {
    return parse_scalar(scalar.type, to_string(scalar)) == scalar;
}

std::uint64_t bits_of(ScalarType type, const std::string& text) {
    return parse_scalar(type, text).value().bits;
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("scalars are patterns in the low bits") {
        CHECK(Scalar::integer(I8, -1) == Scalar{I8, 0xff});
        CHECK(Scalar::integer(U16, 65537) == Scalar{U16, 1});
        CHECK(Scalar::integer(I4, -1) == Scalar{I4, 0xf});
        CHECK(Scalar::integer(Bool, 2) == Scalar::boolean(true));
        CHECK(Scalar{I8, 0x80}.as_int64() == -128);
        CHECK(Scalar{U8, 0x80}.as_int64() == 128);
        CHECK(Scalar{I4, 8}.as_int64() == -8);
        CHECK(Scalar{U4, 8}.as_int64() == 8);
        CHECK(Scalar{U64, ~std::uint64_t{0}}.as_int64() == -1);
        CHECK(Scalar{U64, ~std::uint64_t{0}}.as_double() == std::ldexp(1.0, 64));
        CHECK(Scalar{BF16, 0x3f80}.as_double() == 1);
        CHECK(Scalar::boolean(true).as_double() == 1);
        CHECK(Scalar::integer(I32, -5).as_double() == -5);
    }

    TEST_CASE("the text of scalars") {
        CHECK(to_string(Scalar::int64(-3)) == "-3");
        CHECK(to_string(Scalar{U64, ~std::uint64_t{0}}) == "18446744073709551615");
        CHECK(to_string(Scalar::boolean(true)) == "true");
        CHECK(to_string(Scalar::f32(0.1f)) == "0.1");
        CHECK(to_string(Scalar::f32(2)) == "2");
        CHECK(to_string(Scalar::f32(-0.0f)) == "-0");
        CHECK(to_string(Scalar::f64(0.1)) == "0.1");
        CHECK(to_string(Scalar::f32(-HUGE_VALF)) == "-inf");
        CHECK(to_string(Scalar{F32, 0x7fc00000}) == "nan");
        CHECK(to_string(Scalar{F32, 0x7fc00001}) == "nan:0x7fc00001");
        CHECK(to_string(Scalar{F8E4M3, 0xff}) == "nan:0xff");
        CHECK(to_string(Scalar{F4E2M1, 7}) == "6");
    }

    TEST_CASE("every pattern of the narrow types reads back") {
        for (const ScalarType type : {Bool, I4, U4, F4E2M1, I8, U8, F8E4M3, F8E5M2, F8E8M0, I16, U16, F16, BF16}) {
            const std::uint64_t count = type == Bool ? 2 : std::uint64_t{1} << bit_width(type);
            std::size_t faults = 0;
            for (std::uint64_t bits = 0; bits < count; ++bits) faults += !reads_back({type, bits});
            INFO(name(type));
            CHECK(faults == 0);
        }
    }

    TEST_CASE("random and extreme patterns of the wide types read back") {
        std::mt19937_64 random(3);
        for (const ScalarType type : {I32, U32, I64, U64, F32, F64}) {
            const std::uint64_t mask = ~std::uint64_t{0} >> (64 - bit_width(type));
            std::size_t faults = 0;
            for (int i = 0; i < 20'000; ++i) faults += !reads_back({type, random() & mask});
            for (const std::uint64_t bits : {std::uint64_t{0}, std::uint64_t{1}, mask, mask >> 1, (mask >> 1) + 1}) {
                faults += !reads_back({type, bits});
            }
            INFO(name(type));
            CHECK(faults == 0);
        }
    }

    TEST_CASE("decimal text is rounded once") {
        CHECK(bits_of(F16, "0.1") == 0x2e66);
        CHECK(bits_of(BF16, "0.1") == 0x3dcd);
        CHECK(bits_of(F32, "0.1") == 0x3dcccccd);
        // The first of each three is a tie; the others differ from it by less than a double can tell.
        CHECK(bits_of(F16, "1.00048828125") == 0x3c00);
        CHECK(bits_of(F16, "1.00048828125000000000000000000001") == 0x3c01);
        CHECK(bits_of(F16, "-1.00048828125000000000000000000001") == 0xbc01);
        CHECK(bits_of(F16, "1.00146484375") == 0x3c02);
        CHECK(bits_of(F16, "1.00146484374999999999999999999999") == 0x3c01);
        CHECK(bits_of(F32, "16777217") == 0x4b800000);
        CHECK(bits_of(F32, "16777217.00000000000000000000000001") == 0x4b800001);
        CHECK(bits_of(F32, "0.1677721700000000000000000000000001e8") == 0x4b800001);
        CHECK(bits_of(F32, "1.677721699999999999999999999999e+7") == 0x4b800000);
        CHECK(bits_of(BF16, "257e0") == 0x4380);
        CHECK(bits_of(F8E4M3, "464") == 0x7e);
        CHECK(bits_of(F64, "1e-5") == 0x3ee4f8b588e368f1);
    }

    TEST_CASE("text that is no scalar of the type is refused") {
        const std::vector<std::pair<ScalarType, std::string>> rows{
            {I8, "128"},
            {I8, "-129"},
            {U8, "-1"},
            {U8, "256"},
            {I4, "8"},
            {U4, "16"},
            {I32, "1.5"},
            {I32, ""},
            {I32, "0x10"},
            {I32, "+1"},
            {I64, "9223372036854775808"},
            {U64, "18446744073709551616"},
            {Bool, "1"},
            {Bool, "True"},
            {F32, ""},
            {F32, "-"},
            {F32, "1.5f"},
            {F32, "1e39"},
            {F32, "1e999"},
            {F16, "65520"},
            {F32, "infinity"},
            {F32, "nan:0x3f800000"},
            {F16, "nan:0x17e01"},
            {F32, "nan:"},
            {F32, "nan:0x"},
            {F32, "NaN"},
            {F4E2M1, "nan"},
            {F8E4M3, "inf"},
            {F32, " 1"},
            {F32, "1 "},
            {F32, "--1"},
            {F32, ".5"},
        };
        for (const auto& [type, text] : rows) {
            INFO(name(type), " \"", text, "\"");
            CHECK_FALSE(parse_scalar(type, text).has_value());
        }
    }
}
