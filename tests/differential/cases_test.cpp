// Faults that kernel compilers have had, each with the value worked out by hand: the interpreter must give it, and
// compiled code must give what the interpreter gives.
#include <fmt/format.h>
#include <sys/mman.h>

#include <array>
#include <limits>

#include "kernel_case.h"

using namespace kiln;
using namespace kiln::test;
using enum ir::ScalarType;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> list_of(const GuardedTensor& tensor) {
    std::vector<double> list;
    for (std::int64_t i = 0; i < tensor.view().sizes.count(); ++i) list.push_back(element_of(tensor, i).as_double());
    return list;
}

/// Runs `k(x: in .., y: out ..)` everywhere and compares y with what it must be. NaN matches NaN.
void expect(const std::string& body, ir::ScalarType in, const std::vector<double>& x, ir::ScalarType out,
            const std::vector<double>& y) {
    KernelCase test;
    test.text = fmt::format("kernel k(x: in {}[N], y: out {}[R])\n{}\n", ir::name(in), ir::name(out), body);
    test.arguments = {{"x", tensor(in, {static_cast<std::int64_t>(x.size())})},
                      {"y", tensor(out, {static_cast<std::int64_t>(y.size())})}};
    if (!x.empty()) test.contents["x"] = listed(in, x);
    if (!y.empty()) test.contents["y"] = listed(out, {0});
    const std::vector<double> found = list_of(*interpreted(test).at("y"));
    for (std::size_t i = 0; i < y.size(); ++i) {
        CAPTURE(i);
        CAPTURE(found[i]);
        CAPTURE(y[i]);
        const bool same =
            std::isnan(y[i]) ? std::isnan(found[i]) : found[i] == y[i] && std::signbit(found[i]) == std::signbit(y[i]);
        CHECK_MESSAGE(same, body);
    }
    check_case(test, Variants::Two, static_cast<std::uint32_t>(y.size()));
}

/// y = expression of t, a tile of x.
void expect_map(const std::string& expression, ir::ScalarType in, const std::vector<double>& x, ir::ScalarType out,
                const std::vector<double>& y) {
    CAPTURE(expression);
    expect(fmt::format("grid i in 0 .. N by 8 {{\n    let t = x[i :+ 8]\n    y[i :+ 8] = {}\n}}", expression), in, x,
           out, y);
}

}  // namespace

TEST_SUITE("differential") {
    TEST_CASE("fp8 rounds once, to nearest even, and keeps or clamps what is out of range") {
        const std::vector<double> wide = {57344, 61439, 61440, 65504, kInfinity, -kInfinity, kNan};
        expect_map("f32(f8e5m2(t))", F32, wide, F32, {57344, 57344, kInfinity, kInfinity, kInfinity, -kInfinity, kNan});
        expect_map("f32(saturate(t, f8e5m2))", F32, wide, F32, {57344, 57344, 57344, 57344, 57344, -57344, kNan});
        expect_map("f32(f8e5m2(t))", F32, {1.125, 1.375, 1.625}, F32, {1.0, 1.5, 1.5});
        expect_map("f32(f8e4m3(t))", F32, {1.0625, 1.0625001, 448, 464, 0x1p-10, 0x1.8p-9, 465}, F32,
                   {1.0, 1.125, 448, 448, 0, 0x1p-8, kNan});
    }

    TEST_CASE("integers become bf16 by rounding to nearest even") {
        expect_map("f32(bf16(t))", I32, {257, 259, -259, 33000}, F32, {256, 260, -260, 33024});
    }

    TEST_CASE("folding keeps what IEEE says of zeros, infinities and NaN") {
        const std::vector<double> x = {kInfinity, kNan, -1, 2};
        expect_map("t * 0", F32, x, F32, {kNan, kNan, -0.0, 0});
        expect_map("t - t", F32, x, F32, {kNan, kNan, 0, 0});
        expect_map("t + 0.0", F32, {-0.0, 0.0}, F32, {0, 0});
        expect_map("0 - t", F32, {0.0}, F32, {0});
        expect_map("t / t", F32, {0.0, 3}, F32, {kNan, 1});
        expect_map("select(t == t, 1.0, 2.0)", F32, x, F32, {1, 2, 1, 1});
    }

    TEST_CASE("reductions over infinities and of one element are what they should be") {
        expect("grid one in 0 .. 1 { y[0] = min(x[0 :+ 2])\n y[1] = max(-x[0 :+ 2]) }", F32, {kInfinity, kInfinity},
               F32, {kInfinity, -kInfinity});
        expect("grid one in 0 .. 1 { y[0] = max(x[0 :+ 1]) }", U8, {0}, U8, {0});
        expect("grid one in 0 .. 1 { y[0] = min(x[0 :+ 3]) }", F32, {kNan, 2, kNan}, F32, {2});
        expect("grid one in 0 .. 1 { y[0] = minimum(x[0 :+ 3]) }", F32, {1, kNan, 2}, F32, {kNan});
    }

    TEST_CASE("denormal results of exp2 are kept where no kernel allows to flush them") {
        expect_map("exp2(t)", F32, {-126, -127, -149, -151}, F32, {0x1p-126, 0x1p-127, 0x1p-149, 0});
        expect_map("t * 0.5", F32, {0x1p-126, 0x1p-149}, F32, {0x1p-127, 0});
    }

    TEST_CASE("integer division has one rule for constants, scalars and tiles") {
        const std::vector<double> x = {-7, 7, -1, -72};
        expect_map("floordiv(t, 2)", I32, x, I32, {-4, 3, -1, -36});
        expect_map("mod(t, 2)", I32, x, I32, {1, 1, 1, 0});
        expect_map("t / 2", I32, x, I32, {-3, 3, 0, -36});
        expect_map("t % 2", I32, x, I32, {-1, 1, -1, 0});
        expect_map("floordiv(t, -2)", I32, x, I32, {3, -4, 0, 36});
        expect_map("mod(t, -2)", I32, x, I32, {-1, -1, -1, 0});
        expect_map("cdiv(t, 10)", I32, x, I32, {0, 1, 0, -7});
        expect(
            "grid one in 0 .. 1 { y[0] = i32(floordiv(-7, 2))\n y[1] = i32(mod(-1, 3))\n y[2] = x[0] / x[1]\n"
            " y[3] = mod(x[0], x[1])\n y[4] = i32(-7 % 2) }",
            I32, {-7, 2}, I32, {-4, 2, -3, 1, -1});
    }

    TEST_CASE("division by zero and of the least number gives values and no signal") {
        const double least = std::numeric_limits<std::int32_t>::min();
        expect(
            "grid one in 0 .. 1 {\n    let t = x[0 :+ 4]\n    let zero = x[4]\n    let minus = x[5]\n"
            "    y[0 :+ 4] = t / zero\n    y[4 :+ 4] = t % zero\n    y[8 :+ 4] = t / minus\n    y[12 :+ 4] = t % "
            "minus\n}",
            I32, {2, -2, 0, least, 0, -1}, I32, {0, 0, 0, 0, 2, -2, 0, least, -2, 2, 0, least, 0, 0, 0, 0});
        expect(
            "grid one in 0 .. 1 { y[0] = x[0] / x[1]\n y[1] = x[0] % x[1]\n y[2] = x[0] / x[2]\n y[3] = x[0] % x[2] }",
            I64, {-9223372036854775808.0, 0, -1}, I64, {0, -9223372036854775808.0, -9223372036854775808.0, 0});
    }

    TEST_CASE("constant arithmetic wraps as it does at run time") {
        expect(
            "grid one in 0 .. 1 {\n    let unit = i32(1)\n    y[0] = i64(unit << 31)\n    y[1] = i64(i8(i32(300)))\n"
            "    y[2] = i64((x[0] + 2000000000) + 2000000000)\n    y[3] = i64(unit << 33)\n}",
            I32, {0}, I64, {-2147483648.0, 44, -294967296, 2});
    }

    TEST_CASE("products of offsets are not cut to 32 bits") {
        expect("grid i in 0 .. 320, j in 0 .. 2 { if i == 319 { y[j] = i * 7864320 } }", I32, {0}, I64,
               {2508718080, 2508718080});
    }

    TEST_CASE("a tensor of more than 2^31 elements is written and read at its far end") {
        constexpr std::int64_t size = (std::int64_t{1} << 31) + 16;
        void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        REQUIRE((memory != MAP_FAILED));
        const KernelCase test{
            "kernel k(x: inout u8[N], y: out u8[4])\ngrid one in 0 .. 1 {\n    x[N - 1] = u8(7)\n"
            "    x[2147483648] = u8(5)\n    x[N - 4 :+ 2] = u8[2](9)\n    y[0] = x[N - 1]\n"
            "    y[1] = x[2147483648]\n    y[2 :+ 2] = x[N - 5 :+ 2]\n}\n",
            {{"x", tensor(U8, {64})}, {"y", tensor(U8, {4})}}};
        std::array<std::uint8_t, 4> result{};
        const ir::Argument arguments[] = {ir::TensorView{U8, static_cast<std::byte*>(memory), {size}, {1}},
                                          ir::TensorView{U8, reinterpret_cast<std::byte*>(result.data()), {4}, {1}}};
        run_compiled(specialised_kernel(test), arguments, codegen::cpu::host_target());
        CHECK(result == std::array<std::uint8_t, 4>{7, 5, 0, 9});
        munmap(memory, size);
    }

    TEST_CASE("grids of more than 65535 programs run every one") {
        for (const char* axes :
             {"a in 0 .. 1, b in 0 .. 65536, c in 0 .. 1", "a in 0 .. 1, b in 0 .. 1, c in 0 .. 93288"}) {
            const KernelCase test{
                fmt::format("kernel k(y: out i32[R])\ngrid {} {{ y[b + c] = i32(b + 3 * c) }}\n", axes),
                {{"y", tensor(I32, {93288})}}};
            check_case(test);
        }
    }

    TEST_CASE("loops and branches that compilers got wrong") {
        // A while that is false at once.
        expect("grid one in 0 .. 1 {\n    var i: int = 0\n    while i < N { i += 1 }\n    y[0] = i + 5\n}", I32, {},
               I64, {5});
        // Nested whiles: 2 programs stride over 4 rows, the inner one over 3 chunks.
        expect(
            "grid p in 0 .. 2 {\n    var row = p\n    while row < 4 {\n        var chunk: int = 0\n        while chunk "
            "< 3 {\n"
            "            y[row * 3 + chunk] = x[row * 3 + chunk]\n            chunk += 1\n        }\n        row += "
            "2\n    }\n}",
            F32, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, F32, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
        // Two branches on one condition, whose value the first changes.
        expect(
            "grid one in 0 .. 1 {\n    var a = x[0]\n    var out: i32 = 0\n    if a == 0 { a = 7 }\n    if a == 0 { "
            "out = 1 }\n"
            "    y[0] = out\n    y[1] = a\n}",
            I32, {0}, I32, {0, 7});
        // A variable beside the loop's own, and a value carried out of it.
        expect(
            "grid one in 0 .. 1 {\n    for i in 0 .. 4 {\n        let shifted = i + 10\n        y[i] = i32(shifted)\n  "
            "  }\n}",
            I32, {0}, I32, {10, 11, 12, 13});
        // A row of a tile in two serial loops.
        expect(
            "grid one in 0 .. 1 {\n    for i in 0 .. 4 {\n        for j in 0 .. 4 { y[4 * i + j] = i32(4 * i + j) }\n  "
            "  }\n}",
            I32, {0}, I32, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
        // bool read from memory stays bool.
        expect(
            "grid one in 0 .. 1 {\n    var seen = false\n    for i in 0 .. 3 { seen = seen || x[i] }\n    y[0] = "
            "seen\n}",
            Bool, {0, 1, 0}, Bool, {1});
    }

    TEST_CASE("names of other languages are ordinary names") {
        for (const char* name : {"int8",      "new",      "asm",    "class_",   "template", "double", "half",
                                 "threadIdx", "warpSize", "NULL",   "register", "kiln",     "main",   "scratch",
                                 "tensors",   "values",   "frame",  "llvm",     "memcpy",   "exp2f",  "malloc",
                                 "printf",    "undef",    "define", "operator", "restrict", "signed", "float4"}) {
            CAPTURE(name);
            const KernelCase test{fmt::format("kernel {0}_(x: in f32[N], {0}: out f32[N])\ngrid i in 0 .. N by 8 {{\n"
                                              "    let {0}_0 = x[i :+ 8]\n    {0}[i :+ 8] = {0}_0 + 1\n}}\n",
                                              name),
                                  {{"x", tensor(F32, {5})}, {name, tensor(F32, {5})}},
                                  {},
                                  {},
                                  {},
                                  {},
                                  std::string(name) + "_"};
            check_case(test, Variants::One);
        }
    }
}
