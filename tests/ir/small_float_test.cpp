// Conversions and narrow arithmetic against a reference that shifts bit by bit and shares no code with ir/small_float.
#include "ir/small_float.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

#include "ir/semantics.h"

namespace {

using namespace kiln::ir;
using enum ScalarType;

/// What the reference knows of a format; patterns are without sign.
struct Reference {
    ScalarType type;
    int fraction_bits;
    int smallest;  ///< exponent of the smallest subnormal
    std::uint64_t largest, overflow, nan, sign;
};
constexpr std::array kFormats{
    Reference{F16, 10, -24, 0x7bff, 0x7c00, 0x7e00, 0x8000},
    Reference{BF16, 7, -133, 0x7f7f, 0x7f80, 0x7fc0, 0x8000},
    Reference{F32, 23, -149, 0x7f7fffff, 0x7f800000, 0x7fc00000, 0x80000000},
    Reference{F8E4M3, 3, -9, 0x7e, 0x7f, 0x7f, 0x80},
    Reference{F8E5M2, 2, -16, 0x7b, 0x7c, 0x7e, 0x80},
    Reference{F4E2M1, 1, -1, 0x7, 0x7, 0x7, 0x8},
};
const Reference& format_of(ScalarType type) {
    for (const Reference& format : kFormats) {
        if (format.type == type) return format;
    }
    throw std::logic_error("no such format");
}

/// (-1)^negative * significand * 2^exponent, or a special value.
struct Exact {
    bool negative = false;
    unsigned __int128 significand = 0;
    int exponent = 0;
    enum { Finite, Infinite, Nan } kind = Finite;
};

Exact take_apart(const Reference& format, std::uint64_t bits) {
    Exact value;
    value.negative = (bits & format.sign) != 0;
    const std::uint64_t pattern = bits & (format.sign - 1);
    if (pattern > format.largest) {
        value.kind = pattern == format.overflow && format.overflow != format.nan ? Exact::Infinite : Exact::Nan;
        return value;
    }
    const std::uint64_t leading = std::uint64_t{1} << format.fraction_bits;
    const auto field = static_cast<int>(pattern >> format.fraction_bits);
    value.significand = field == 0 ? pattern : (pattern & (leading - 1)) | leading;
    value.exponent = format.smallest + (field == 0 ? 0 : field - 1);
    return value;
}

/// Nearest even, one bit at a time.
std::uint64_t put_together(const Reference& format, Exact value, bool saturate) {
    const std::uint64_t sign = value.negative ? format.sign : 0;
    if (value.kind == Exact::Nan) return format.nan;
    const std::uint64_t above = sign | (saturate ? format.largest : format.overflow);
    // f8e4m3 overflows to NaN, whose sign is kept.
    if (value.kind == Exact::Infinite) return above;
    const unsigned __int128 leading = static_cast<unsigned __int128>(1) << format.fraction_bits;
    bool half = false, rest = false;
    const auto drop = [&] {
        rest = rest || half;
        half = (value.significand & 1) != 0;
        value.significand >>= 1;
        ++value.exponent;
    };
    while (value.significand >= 2 * leading) drop();
    while (value.exponent < format.smallest) drop();
    while (value.significand != 0 && value.significand < leading && value.exponent > format.smallest) {
        value.significand <<= 1;
        --value.exponent;
    }
    if (half && (rest || (value.significand & 1) != 0)) ++value.significand;
    if (value.significand == 2 * leading) drop();
    if (value.significand == 0) return sign;
    const bool subnormal = value.significand < leading;
    const int field = subnormal ? 0 : value.exponent - format.smallest + 1;
    if (field > 300) return above;
    const auto fraction = static_cast<std::uint64_t>(value.significand - (subnormal ? 0 : leading));
    const std::uint64_t pattern = (static_cast<std::uint64_t>(field) << format.fraction_bits) + fraction;
    return pattern > format.largest ? above : sign | pattern;
}

std::uint64_t reference(ScalarType from, std::uint64_t bits, ScalarType to, bool saturate) {
    return put_together(format_of(to), take_apart(format_of(from), bits), saturate);
}

/// Adds two exact values whose exponents are near enough for 127 bits.
Exact exact_sum(Exact a, Exact b) {
    if (a.exponent > b.exponent) std::swap(a, b);
    __int128 x = static_cast<__int128>(a.significand);
    __int128 y = static_cast<__int128>(b.significand << (b.exponent - a.exponent));
    if (a.negative) x = -x;
    if (b.negative) y = -y;
    const __int128 sum = x + y;
    Exact result;
    result.negative = sum < 0;
    result.significand = static_cast<unsigned __int128>(sum < 0 ? -sum : sum);
    result.exponent = a.exponent;
    return result;
}

Exact exact_product(const Exact& a, const Exact& b) {
    Exact result;
    result.negative = a.negative != b.negative;
    result.significand = a.significand * b.significand;
    result.exponent = a.exponent + b.exponent;
    return result;
}

std::size_t conversion_faults(ScalarType from, std::uint64_t count, ScalarType to) {
    std::size_t faults = 0;
    for (std::uint64_t bits = 0; bits < count; ++bits) {
        if (from == to) {
            faults += convert(OpKind::Convert, {from, bits}, to).bits != bits;
        } else {
            faults += convert(OpKind::Convert, {from, bits}, to).bits != reference(from, bits, to, false);
        }
        faults += convert(OpKind::Saturate, {from, bits}, to).bits != reference(from, bits, to, true);
    }
    return faults;
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("all f16 and bf16 values convert as the bitwise reference says") {
        for (const ScalarType from : {F16, BF16}) {
            for (const Reference& to : kFormats) {
                INFO(name(from), " to ", name(to.type));
                CHECK(conversion_faults(from, 65536, to.type) == 0);
            }
        }
    }

    TEST_CASE("all values of the storage formats convert as the bitwise reference says") {
        for (const ScalarType from : {F8E4M3, F8E5M2, F4E2M1}) {
            for (const Reference& to : kFormats) {
                INFO(name(from), " to ", name(to.type));
                CHECK(conversion_faults(from, from == F4E2M1 ? 16 : 256, to.type) == 0);
            }
        }
    }

    TEST_CASE("f32 values near every tie convert as the bitwise reference says") {
        for (const ScalarType to : {F16, BF16, F8E4M3, F8E5M2, F4E2M1}) {
            std::size_t faults = 0;
            for (std::uint64_t high = 0; high < 65536; ++high) {
                for (const std::uint64_t low :
                     {0x0000, 0x0001, 0x0fff, 0x1000, 0x1001, 0x7fff, 0x8000, 0x8001, 0xffff}) {
                    const Scalar value{F32, (high << 16) | low};
                    faults += convert(OpKind::Convert, value, to).bits != reference(F32, value.bits, to, false);
                }
            }
            INFO(name(to));
            CHECK(faults == 0);
        }
    }

    TEST_CASE("f64 holds every narrower value, and gives it back") {
        for (const ScalarType type : {F16, BF16}) {
            std::size_t faults = 0;
            for (std::uint64_t bits = 0; bits < 65536; ++bits) {
                const Scalar wide = convert(OpKind::Convert, {type, bits}, F64);
                const bool is_nan = std::isnan(wide.as_double());
                faults += convert(OpKind::Convert, wide, type).bits != (is_nan ? format_of(type).nan : bits);
            }
            CHECK(faults == 0);
        }
    }

    TEST_CASE("integers convert to floats as the bitwise reference says") {
        std::mt19937_64 random(7);
        std::size_t faults = 0;
        for (int i = 0; i < 200'000; ++i) {
            const auto value = static_cast<std::int64_t>(random()) >> (random() % 64);
            Exact exact;
            exact.negative = value < 0;
            exact.significand = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
            for (const Reference& to : kFormats) {
                faults +=
                    convert(OpKind::Convert, Scalar::int64(value), to.type).bits != put_together(to, exact, false);
                faults +=
                    convert(OpKind::Saturate, Scalar::int64(value), to.type).bits != put_together(to, exact, true);
            }
        }
        CHECK(faults == 0);
    }

    TEST_CASE("f16 and bf16 arithmetic rounds the exact result once") {
        std::mt19937 random(11);
        for (const ScalarType type : {F16, BF16}) {
            const Reference& format = format_of(type);
            // bf16 exponents stay within 40 of one another, so that the exact sum fits.
            const auto draw = [&] {
                const std::uint64_t bits = random() & 0xffff;
                return type == F16 ? bits % 0x8000 > 0x7bff ? bits & 0x83ff : bits : (bits & 0x8fff) | 0x3000;
            };
            std::size_t faults = 0;
            for (int i = 0; i < 300'000; ++i) {
                const std::array<Scalar, 3> v{Scalar{type, draw()}, Scalar{type, draw()}, Scalar{type, draw()}};
                const Exact a = take_apart(format, v[0].bits), b = take_apart(format, v[1].bits);
                const Exact product = exact_product(a, b);
                const Exact sum = exact_sum(a, b);
                const Exact fused = exact_sum(product, take_apart(format, v[2].bits));
                faults += evaluate(OpKind::Mul, std::span(v).first(2)).bits != put_together(format, product, false);
                if (sum.significand != 0) {
                    faults += evaluate(OpKind::Add, std::span(v).first(2)).bits != put_together(format, sum, false);
                }
                if (fused.significand != 0) {
                    faults += evaluate(OpKind::Fma, v).bits != put_together(format, fused, false);
                }
            }
            INFO(name(type));
            CHECK(faults == 0);
        }
    }

    TEST_CASE("f16 quotients and square roots are the nearest values") {
        // q is nearest to a / b if a lies between b times the two midpoints around q; all products are exact.
        std::mt19937 random(13);
        std::size_t faults = 0;
        for (int i = 0; i < 200'000; ++i) {
            const Scalar a{F16, random() % 0x7c00}, b{F16, 1 + random() % 0x7bff};
            const std::uint64_t q = evaluate(OpKind::Div, std::array{a, b}).bits;
            const std::uint64_t root = evaluate(OpKind::Sqrt, std::array{a}).bits;
            const auto value = [](std::uint64_t bits) { return Scalar{F16, bits}.as_double(); };
            const double above = q >= 0x7bff ? 65520 : (value(q) + value(q + 1)) / 2;
            const double below = q == 0 ? 0 : q == 0x7c00 ? 65520 : (value(q) + value(q - 1)) / 2;
            const bool even = (q & 1) == 0;
            const double x = a.as_double(), y = b.as_double();
            const bool right =
                even ? x >= below * y && (q == 0x7c00 || x <= above * y) : x > below * y && x < above * y;
            faults += !right;
            const double high = (value(root) + value(root + 1)) / 2;
            const double low = root == 0 ? 0 : (value(root) + value(root - 1)) / 2;
            faults += !(low * low <= x && x <= high * high);
        }
        CHECK(faults == 0);
    }

    TEST_CASE("8-bit codes decode to the values of their standard") {
        const auto value = [](ScalarType type, std::uint64_t bits) { return Scalar{type, bits}.as_double(); };
        CHECK(value(F8E4M3, 0x01) == std::ldexp(1, -9));
        CHECK(value(F8E4M3, 0x08) == std::ldexp(1, -6));
        CHECK(value(F8E4M3, 0x78) == 256);
        CHECK(value(F8E4M3, 0x7e) == 448);
        CHECK(std::isnan(value(F8E4M3, 0x7f)));
        CHECK(std::isnan(value(F8E4M3, 0xff)));
        CHECK(value(F8E4M3, 0x80) == 0);
        CHECK(std::signbit(value(F8E4M3, 0x80)));
        CHECK(value(F8E5M2, 0x01) == std::ldexp(1, -16));
        CHECK(value(F8E5M2, 0x7b) == 57344);
        CHECK(value(F8E5M2, 0x7c) == HUGE_VAL);
        CHECK(value(F8E5M2, 0xfc) == -HUGE_VAL);
        CHECK(std::isnan(value(F8E5M2, 0x7d)));
        CHECK(value(F8E8M0, 0) == std::ldexp(1, -127));
        CHECK(value(F8E8M0, 254) == std::ldexp(1, 127));
        CHECK(std::isnan(value(F8E8M0, 255)));
        const std::array<double, 8> fours{0, 0.5, 1, 1.5, 2, 3, 4, 6};
        for (std::uint64_t code = 0; code < 8; ++code) {
            CHECK(value(F4E2M1, code) == fours[code]);
            CHECK(value(F4E2M1, code + 8) == -fours[code]);
        }
        for (const ScalarType wide : {F16, BF16, F32}) {
            CHECK(convert(OpKind::Convert, {F8E4M3, 0x01}, wide).as_double() == std::ldexp(1, -9));
            CHECK(convert(OpKind::Convert, {F8E5M2, 0x7b}, wide).as_double() == 57344);
        }
    }

    TEST_CASE("f8e8m0 gives every power of two its code") {
        for (std::uint64_t code = 0; code < 255; ++code) {
            const double power = std::ldexp(1.0, static_cast<int>(code) - 127);
            CHECK(encode_power(power, Overflow::Format) == code);
            if (code > 0) CHECK(encode_power(std::nextafter(power, 0), Overflow::Format) == code);
            if (code < 254) CHECK(encode_power(std::nextafter(power, HUGE_VAL), Overflow::Format) == code + 1);
        }
    }
}
