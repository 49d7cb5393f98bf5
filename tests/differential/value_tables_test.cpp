// Rules of section 9 and of the builtins as tables of values: the interpreter must give them, and compiled code what
// the interpreter gives. Each row is an expression of a tile `t`, its elements, and what must come out.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "kernel_case.h"
#include "tests/support/special_values.h"

using namespace kiln;
using namespace kiln::test;
using enum ir::ScalarType;

namespace {

struct Row {
    const char* expression;
    std::vector<double> x, y;
};

double epsilon_of(ir::ScalarType type) {
    if (type == F64) return 0x1p-52;
    return type == F32 ? 0x1p-23 : type == F16 ? 0x1p-10 : 0x1p-7;
}

bool same(double found, double wanted) {
    if (std::isnan(wanted)) return std::isnan(found);
    return found == wanted && std::signbit(found) == std::signbit(wanted);
}

/// `#` stands for the type.
std::string spelled(const char* expression, ir::ScalarType type) {
    std::string text;
    for (const char c : std::string(expression)) text += c == '#' ? std::string(ir::name(type)) : std::string(1, c);
    return text;
}

/// All rows in one kernel, each with tensors of its own. `ulps`: how far compiled code may be from the interpreter.
void check_rows(ir::ScalarType in, ir::ScalarType out, const std::vector<Row>& rows, double ulps = 0) {
    KernelCase test;
    std::string parameters, body;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto count = static_cast<std::int64_t>(rows[i].x.size());
        parameters += fmt::format("{0}x{1}: in {2}[N{1}], y{1}: out {3}[N{1}]", i > 0 ? ", " : "", i, ir::name(in),
                                  ir::name(out));
        body += fmt::format("    fn row_{0}(t: {1}[L]) -> {2}[L] = {3}\n    y{0}[0 :+ 8] = row_{0}(x{0}[0 :+ 8])\n", i,
                            ir::name(in), ir::name(out), spelled(rows[i].expression, in));
        test.arguments[fmt::format("x{}", i)] = tensor(in, {count});
        test.arguments[fmt::format("y{}", i)] = tensor(out, {count});
        test.contents[fmt::format("x{}", i)] = listed(in, rows[i].x);
        if (ulps > 0) test.tolerances[fmt::format("y{}", i)] = {ulps * epsilon_of(out), 0};
    }
    test.text = fmt::format("kernel k({})\ngrid one in 0 .. 1 {{\n{}}}\n", parameters, body);
    const auto results = interpreted(test);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t k = 0; k < rows[i].y.size(); ++k) {
            const double found =
                element_of(*results.at(fmt::format("y{}", i)), static_cast<std::int64_t>(k)).as_double();
            CHECK_MESSAGE(same(found, rows[i].y[k]), ir::name(in)
                                                         << ": " << rows[i].expression << " of " << rows[i].x[k]
                                                         << " is " << found << ", not " << rows[i].y[k]);
        }
    }
    check_case(test);
}

double least(ir::ScalarType type) {
    return -std::ldexp(1.0, ir::bit_width(type) - 1);
}

}  // namespace

TEST_SUITE("differential") {
    TEST_CASE("values: signed integers wrap, and nothing traps") {
        for (const ir::ScalarType type : {I8, I16, I32}) {
            const double min = least(type), max = -min - 1;
            const int width = ir::bit_width(type);
            const std::string shifts = fmt::format("t << {}", width), sign = fmt::format("t >> {}", width - 1),
                              beyond = fmt::format("t >> {}", width + 1);
            check_rows(type, type,
                       {{"t + 1", {max, -1, min}, {min, 0, min + 1}},
                        {"t - 1", {min, 0, max}, {max, -1, max - 1}},
                        {"-t", {min, max, 0}, {min, -max, 0}},
                        {"abs(t)", {min, -3, max}, {min, 3, max}},
                        {"t * t", {min, 3, -1}, {0, 9, 1}},
                        {"t / 0", {min, 5, 0}, {0, 0, 0}},
                        {"t % 0", {min, 5, 0}, {min, 5, 0}},
                        {"t / -1", {min, 5, -5}, {min, -5, 5}},
                        {"t % -1", {min, 5, -5}, {0, 0, 0}},
                        {"t / 3", {7, -7, 1, -1}, {2, -2, 0, 0}},
                        {"t % 3", {7, -7, 1, -1}, {1, -1, 1, -1}},
                        {"floordiv(t, 3)", {7, -7, min, -1}, {2, -3, std::floor(min / 3), -1}},
                        {"floordiv(t, 0)", {7, -7, min}, {0, 0, 0}},
                        {"mod(t, 3)", {7, -7, -1, 0}, {1, 2, 2, 0}},
                        {"mod(t, -3)", {7, -7, -1, 0}, {-2, -1, -1, 0}},
                        {"mod(t, 0)", {7, -7, min}, {7, -7, min}},
                        {"cdiv(t, 4)", {7, -7, 8, -8, 1}, {2, -1, 2, -2, 1}},
                        {"cdiv(t, 0)", {7, -7, min}, {0, 0, 0}},
                        {shifts.c_str(), {1, -1, min}, {1, -1, min}},
                        {sign.c_str(), {min, -1, max}, {-1, -1, 0}},
                        {beyond.c_str(), {-4, 4, -1}, {-2, 2, -1}},
                        {"~t", {0, -1, min}, {-1, 0, max}},
                        {"min(t, 0)", {min, max, 0}, {min, 0, 0}},
                        {"max(t, 0)", {min, max, 0}, {0, max, 0}},
                        {"clamp(t, 5, -5)", {0, 9, -9}, {-5, -5, -5}},
                        {"ilog2(t)", {1, 2, 3, max, 0, -1, min}, {0, 1, 1, width - 2.0, -1, -1, -1}},
                        {"popcount(t)", {0, -1, min, max}, {0, static_cast<double>(width), 1, width - 1.0}},
                        {"clz(t)", {0, -1, 1, max}, {static_cast<double>(width), 0, width - 1.0, 1}}});
        }
    }

    TEST_CASE("values: unsigned integers wrap at 0") {
        for (const ir::ScalarType type : {U8, U16, U32}) {
            const double max = std::ldexp(1.0, ir::bit_width(type)) - 1;
            check_rows(type, type,
                       {{"t - 1", {0, 1, max}, {max, 0, max - 1}},
                        {"t + 1", {max, 0}, {0, 1}},
                        {"-t", {1, 0, max}, {max, 0, 1}},
                        {"t / 2", {max, 3}, {std::floor(max / 2), 1}},
                        {"t / 0", {max, 0}, {0, 0}},
                        {"t % 0", {max, 0}, {max, 0}},
                        {"t >> 1", {max, 1}, {std::floor(max / 2), 0}},
                        {"cdiv(t, 2)", {max, 4, 5}, {std::ceil(max / 2), 2, 3}},
                        {"ilog2(t)", {0, 1, max}, {max, 0, ir::bit_width(type) - 1.0}}});
        }
    }

    TEST_CASE("values: NaN, infinities and the sign of zero in comparisons and choices") {
        for (const ir::ScalarType type : {F16, BF16, F32, F64}) {
            const std::vector<double> x = {kNan, -0.0, 0.0, kInfinity, -kInfinity, 1};
            check_rows(type, type,
                       {{"min(t, 0)", x, {0, -0.0, 0, 0, -kInfinity, 0}},
                        {"max(t, 0)", x, {0, 0, 0, kInfinity, 0, 1}},
                        {"max(t, -0.0)", x, {-0.0, -0.0, 0, kInfinity, -0.0, 1}},
                        {"minimum(t, 0)", x, {kNan, -0.0, 0, 0, -kInfinity, 0}},
                        {"maximum(t, 0)", x, {kNan, 0, 0, kInfinity, 0, 1}},
                        {"clamp(t, -1, 1)", x, {-1, -0.0, 0, 1, -1, 1}},
                        {"abs(t)", x, {kNan, 0, 0, kInfinity, kInfinity, 1}},
                        {"-t", x, {kNan, 0, -0.0, -kInfinity, kInfinity, -1}},
                        {"0 - t", x, {kNan, 0, 0, -kInfinity, kInfinity, -1}},
                        {"t + 0", x, {kNan, 0, 0, kInfinity, -kInfinity, 1}},
                        {"t * 0", x, {kNan, -0.0, 0, kNan, kNan, 0}},
                        {"t - t", x, {kNan, 0, 0, kNan, kNan, 0}},
                        {"1 / t", x, {kNan, -kInfinity, kInfinity, 0, -0.0, 1}},
                        {"t / t", x, {kNan, kNan, kNan, kNan, kNan, 1}},
                        {"sqrt(t)", x, {kNan, -0.0, 0, kInfinity, kNan, 1}},
                        {"select(t == t, #(1), #(2))", x, {2, 1, 1, 1, 1, 1}},
                        {"select(t != t, #(1), #(2))", x, {1, 2, 2, 2, 2, 2}},
                        {"select(t < 0, #(1), #(2))", x, {2, 2, 2, 2, 1, 2}},
                        {"select(!(t >= 0), #(1), #(2))", x, {1, 2, 2, 2, 1, 2}},
                        {"select(t == 0, #(1), #(2))", x, {2, 1, 1, 2, 2, 2}},
                        {"select(isnan(t), #(1), #(2))", x, {1, 2, 2, 2, 2, 2}},
                        {"select(isinf(t), #(1), #(2))", x, {2, 2, 2, 1, 1, 2}},
                        {"fma(t, 0, 1)", x, {kNan, 1, 1, kNan, kNan, 1}}});
        }
    }

    TEST_CASE("values: rounding to whole numbers and edges of the functions") {
        for (const ir::ScalarType type : {F16, BF16, F32, F64}) {
            check_rows(
                type, type,
                {{"round(t)", {0.5, 1.5, 2.5, -0.5, -1.5, kNan, kInfinity}, {0, 2, 2, -0.0, -2, kNan, kInfinity}},
                 {"floor(t)", {0.5, -0.5, -0.0, -kInfinity, kNan}, {0, -1, -0.0, -kInfinity, kNan}},
                 {"ceil(t)", {0.5, -0.5, -0.0, kInfinity, kNan}, {1, -0.0, -0.0, kInfinity, kNan}},
                 {"trunc(t)", {1.75, -1.75, -0.25, kInfinity}, {1, -1, -0.0, kInfinity}},
                 {"exp(t)", {0, -kInfinity, kInfinity, kNan}, {1, 0, kInfinity, kNan}},
                 {"exp2(t)", {0, 3, -kInfinity, kInfinity, kNan}, {1, 8, 0, kInfinity, kNan}},
                 {"log(t)", {1, 0, -0.0, -1, kInfinity, kNan}, {0, -kInfinity, -kInfinity, kNan, kInfinity, kNan}},
                 {"log2(t)", {8, 0, -1, kInfinity}, {3, -kInfinity, kNan, kInfinity}},
                 {"rsqrt(t)", {4, 0, -0.0, -1, kInfinity}, {0.5, kInfinity, -kInfinity, kNan, 0}},
                 {"sin(t)", {0, kInfinity, kNan}, {0, kNan, kNan}},
                 {"cos(t)", {0, -kInfinity, kNan}, {1, kNan, kNan}},
                 {"tanh(t)", {0, kInfinity, -kInfinity, kNan}, {0, 1, -1, kNan}},
                 {"erf(t)", {0, kInfinity, -kInfinity, kNan}, {0, 1, -1, kNan}},
                 {"pow(t, 0)", {0, kInfinity, 5}, {1, 1, 1}},
                 {"pow(t, 2)", {0, 1, -kInfinity}, {0, 1, kInfinity}}},
                8);
        }
    }

    TEST_CASE("values: conversions clamp, wrap, and take NaN as the table says") {
        const std::vector<double> x = {kNan, kInfinity, -kInfinity, 300, -300, 1.9, -1.9};
        check_rows(
            F32, F32,
            {{"f32(i8(t))", x, {0, 127, -128, 127, -128, 1, -1}},
             {"f32(u8(t))", x, {0, 255, 0, 255, 0, 1, 0}},
             {"f32(i4(t))", x, {0, 7, -8, 7, -8, 1, -1}},
             {"f32(u4(t))", x, {0, 15, 0, 15, 0, 1, 0}},
             {"f32(f4e2m1(t))", x, {6, 6, -6, 6, -6, 2, -2}},
             {"f32(f8e4m3(t))", x, {kNan, kNan, kNan, 288, -288, 1.875, -1.875}},
             {"f32(saturate(t, f8e4m3))", {kNan, kInfinity, -kInfinity, 1e9, -1e9}, {kNan, 448, -448, 448, -448}},
             {"f32(f8e8m0(t))", {kNan, kInfinity, -1, 0, 3, 4, 5}, {kNan, kNan, 0x1p-127, 0x1p-127, 4, 4, 8}},
             {"f32(saturate(t, f8e8m0))", {kNan, kInfinity, 0x1.8p127}, {kNan, 0x1p127, 0x1p127}},
             {"f32(f16(t))", {65519, 65520, -65520, 0x1p-25, 0x1.8p-25}, {65504, kInfinity, -kInfinity, 0, 0x1p-24}},
             {"f32(saturate(t, f16))", {65520, kInfinity, -kInfinity, kNan}, {65504, 65504, -65504, kNan}},
             {"f32(i64(t))", {kNan, 0x1p63, -0x1p63, 0x1p62}, {0, 0x1p63, -0x1p63, 0x1p62}}});
        check_rows(I32, I32,
                   {{"i32(i8(t))", {300, -129, 127}, {44, 127, 127}},
                    {"i32(u8(t))", {300, -1}, {44, 255}},
                    {"i32(i4(t))", {9, -9, 7}, {-7, 7, 7}},
                    {"i32(saturate(t, i8))", {300, -300, 5}, {127, -128, 5}},
                    {"i32(saturate(t, u8))", {300, -300, 5}, {255, 0, 5}},
                    {"i32(bf16(t))", {257, 259, -259}, {256, 260, -260}}});
    }
}
