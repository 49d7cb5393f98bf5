// Faults that kernel compilers have had, each with the value worked out by hand: the interpreter must give it, and
// compiled code must give what the interpreter gives.
#include <fmt/format.h>
#include <sys/mman.h>

#include <array>
#include <cmath>
#include <limits>

#include "kernel_case.h"
#include "tests/support/special_values.h"

using namespace kiln;
using namespace kiln::test;
using enum ir::ScalarType;

namespace {

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

    TEST_CASE("argmax has one rule for ties and NaN, whatever the length") {
        expect("grid one in 0 .. 1 { y[0] = argmax(x[0 :+ 2]) }", F32, {kInfinity, kNan}, I64, {1});
        expect("grid one in 0 .. 1 { y[0] = argmax(x[0 :+ 2]) }", F32, {kNan, kInfinity}, I64, {0});
        expect("grid one in 0 .. 1 { y[0] = argmax(x[0 :+ 4]) }", F32, {3, 1, 3, 3}, I64, {0});
        expect("grid one in 0 .. 1 { y[0] = argmax(x[0 :+ 4]) }", F32, {kNan, kNan, kNan, kNan}, I64, {0});
        expect("grid one in 0 .. 1 { y[0] = argmax(x[0 :+ 3]) }", F32, {-0.0, 0.0, -1}, I64, {0});
        for (const int length : {2, 33, 1024}) {
            for (const int place : {0, 1, length / 2, length - 1}) {
                std::vector<double> x(static_cast<std::size_t>(length), 1);
                x[static_cast<std::size_t>(place)] = kNan;
                if (place + 1 < length) x.back() = kInfinity;
                const std::string body = fmt::format(
                    "grid one in 0 .. 1 {{\n    y[0] = argmax(x[0 :+ {0}])\n"
                    "    y[1] = argmax(argmax(x[0 :+ {0}][:, _], axis = 0))\n}}",
                    length);
                expect(body, F32, x, I64, {static_cast<double>(place), 0});
            }
        }
    }

    TEST_CASE("every reduction of every type begins with its own neutral element, or is refused by name") {
        for (const ir::ScalarType type : {I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64}) {
            CAPTURE(ir::name(type));
            const bool is_signed = !ir::is_integer(type) || ir::is_signed(type);
            const double low = is_signed ? -3 : 3, high = is_signed ? -1 : 7;
            expect(
                "grid one in 0 .. 1 {\n    let t = x[0 :+ 2]\n    y[0] = sum(t)\n    y[1] = min(t)\n    y[2] = "
                "max(t)\n}",
                type, {low, high}, type, {low + high, low, high});
            expect("grid one in 0 .. 1 { y[0] = argmax(x[0 :+ 2]) }", type, {low, high}, I64, {1});
        }
        expect("grid one in 0 .. 1 { y[0] = max(f32(x[0 :+ 2])) }", F8E5M2, {-3, -0.5}, F32, {-0.5});
        expect("grid one in 0 .. 1 { y[0] = any(x[0 :+ 2])\n y[1] = all(x[0 :+ 2]) }", Bool, {0, 1}, Bool, {1, 0});
        expect("grid one in 0 .. 1 { y[0] = argmax(x[0 :+ 3]) }", Bool, {0, 1, 1}, I64, {1});
        for (const char* reduction : {"sum", "min", "max", "argmax"}) {
            for (const char* type : {"f8e4m3", "f8e5m2", "f8e8m0"}) {
                support::Diagnostics diagnostics;
                const std::string text = fmt::format(
                    "kernel k(x: in {1}[N], y: out f32[N])\ngrid i in 0 .. 1 {{ y[i] = f32({0}(x[0 :+ 4])) }}\n",
                    reduction, type);
                const auto program = frontend::load_program(
                    "k.kiln", [&](const std::string&) { return std::optional(text); }, diagnostics);
                frontend::check_bodies(program, diagnostics);
                CHECK_MESSAGE(diagnostics.has_errors(), text);
            }
        }
    }

    TEST_CASE("attention: rows that see nothing, queries longer and shorter than keys, empty sequences") {
        const auto attention = [](std::int64_t m, std::int64_t n, const std::vector<double>& v,
                                  const std::vector<double>& o, const std::vector<double>& lse) {
            KernelCase test{"attention.kiln"};
            test.kernel = "attention";
            test.generics = {{"T", F32}, {"causal", ir::Scalar::boolean(true)}};
            test.arguments = {{"q", tensor(F32, {1, 1, m, 1})}, {"k", tensor(F32, {1, 1, n, 1})},
                              {"v", tensor(F32, {1, 1, n, 1})}, {"o", tensor(F32, {1, 1, m, 1})},
                              {"lse", tensor(F32, {1, 1, m})},  {"scale", ir::Scalar::f32(1)},
                              {"sinks", std::monostate{}}};
            test.contents = {{"q", listed(F32, {0})}, {"k", listed(F32, {1})}, {"v", listed(F32, v)}};
            const auto results = interpreted(test);
            const std::vector<double> found = list_of(*results.at("o")), sums = list_of(*results.at("lse"));
            for (std::size_t i = 0; i < o.size(); ++i) {
                CHECK(found[i] == doctest::Approx(o[i]).epsilon(1e-6));
                CHECK((sums[i] == lse[i] || std::abs(sums[i] - lse[i]) < 1e-6));
            }
            test.tolerances = {{"o", {1e-6, 1e-6}}, {"lse", {1e-6, 1e-6}}};
            check_case(test, Variants::Two);
        };
        const double one = 0, two = std::log(2.0), none = -kInfinity;
        attention(3, 2, {1, 3}, {0, 1, 2}, {none, one, two});
        attention(5, 2, {10, 20}, {0, 0, 0, 10, 15}, {none, none, none, one, two});
        attention(2, 5, {1, 2, 3, 4, 5}, {2.5, 3}, {std::log(4.0), std::log(5.0)});

        KernelCase varlen{"attention_varlen.kiln"};
        varlen.kernel = "attention_varlen";
        varlen.generics = {{"T", F32}};
        varlen.arguments = {{"q", tensor(F32, {2, 9, 4}, 1)},
                            {"k", tensor(F32, {8, 3, 4}, 2)},
                            {"v", tensor(F32, {8, 3, 4}, 3)},
                            {"q_starts", tensor(I32, {5})},
                            {"k_starts", tensor(I32, {5})},
                            {"scale", ir::Scalar::f32(1)},
                            {"longest_q", ir::Scalar::integer(I32, 1)},
                            {"o", tensor(F32, {2, 9, 4})}};
        varlen.contents = {{"q_starts", listed(I32, {0, 0, 1, 1, 2})},
                           {"k_starts", listed(I32, {0, 0, 3, 3, 8})},
                           {"v", listed(F32, {4})}};
        for (const double value : list_of(*interpreted(varlen).at("o")))
            CHECK(value == doctest::Approx(4).epsilon(1e-6));
        varlen.tolerances = {{"o", {1e-5, 1e-6}}};
        check_case(varlen, Variants::Two);
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
