// Arithmetic and conversions of every element type on values with edges: the same bits from interpreter and compiled
// code, and the values the language states.
#include <fmt/format.h>

#include <limits>

#include "kernel_case.h"
#include "tests/support/special_values.h"

using namespace kiln;
using namespace kiln::test;
using enum ir::ScalarType;

namespace {

/// Values at the edges of float and integer types, and of the conversions between them.
const std::vector<double> kEdges = {0.0,
                                    -0.0,
                                    1,
                                    -1,
                                    0.5,
                                    -0.5,
                                    1.5,
                                    2.5,
                                    -2.5,
                                    3,
                                    7,
                                    100,
                                    127,
                                    128,
                                    -128,
                                    -129,
                                    255,
                                    256,
                                    257,
                                    259,
                                    -259,
                                    300,
                                    32767,
                                    32768,
                                    -32768,
                                    -32769,
                                    33000,
                                    65504,
                                    65519,
                                    65520,
                                    65535,
                                    65536,
                                    57344,
                                    61439,
                                    61440,
                                    448,
                                    464,
                                    465,
                                    2147483647,
                                    2147483648.0,
                                    -2147483648.0,
                                    -2147483649.0,
                                    4294967295.0,
                                    4294967296.0,
                                    9007199254740992.0,
                                    9223372036854774784.0,
                                    9223372036854775808.0,
                                    -9223372036854775808.0,
                                    18446744073709549568.0,
                                    18446744073709551616.0,
                                    1e30,
                                    -1e30,
                                    3.4028234e38,
                                    3.5e38,
                                    -3.5e38,
                                    1e300,
                                    5e-324,
                                    1e-300,
                                    1e-45,
                                    1.1754944e-38,
                                    6e-8,
                                    6.1e-5,
                                    0x1p-9,
                                    0x1.8p-9,
                                    0x1p-10,
                                    0x1p-16,
                                    1.0625,
                                    1.125,
                                    1.375,
                                    1.625,
                                    6.0,
                                    5.0,
                                    0.25,
                                    0.75,
                                    -1.75,
                                    3.5,
                                    kInfinity,
                                    -kInfinity,
                                    kNan};

const std::vector<ir::ScalarType> kNumbers = {I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64};

/// Elements of an arithmetic type: the edges as far as they fit, then all bits random.
Contents edges_of(ir::ScalarType type, std::uint64_t seed) {
    const Contents edges = listed(type, kEdges);
    return [=](std::int64_t index) {
        if (index < static_cast<std::int64_t>(kEdges.size())) return edges(index);
        std::uint64_t bits = (static_cast<std::uint64_t>(index) + seed) * 0x9e3779b97f4a7c15u;
        bits ^= bits >> 29;
        bits *= 0xbf58476d1ce4e5b9u;
        bits ^= bits >> 32;
        const int width = ir::bit_width(type);
        return ir::Scalar{type, width == 64 ? bits : bits & ((std::uint64_t{1} << width) - 1)};
    };
}

constexpr std::int64_t kCount = 203;

/// An expression of x, y and z, and the element type it has.
struct Output {
    std::string expression;
    ir::ScalarType type;
};

/// A kernel with an output y0, y1, ... for each expression, whose x, y and z are edges of `type`.
KernelCase elementwise(ir::ScalarType type, const std::vector<Output>& outputs) {
    KernelCase test;
    test.text = fmt::format("kernel k(a: in {0}[N], b: in {0}[N], c: in {0}[N]", ir::name(type));
    std::string body;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        test.text += fmt::format(", y{}: out {}[N]", i, ir::name(outputs[i].type));
        body += fmt::format("    y{}[i :+ 32] = {}\n", i, outputs[i].expression);
        test.arguments.emplace(fmt::format("y{}", i), tensor(outputs[i].type, {kCount}));
    }
    test.text +=
        ")\ngrid i in 0 .. N by 32 {\n    let x = a[i :+ 32]\n    let y = b[i :+ 32]\n    let z = c[i :+ 32]\n";
    test.text += body + "}\n";
    std::uint64_t seed = 1;
    for (const char* name : {"a", "b", "c"}) {
        test.arguments.emplace(name, tensor(type, {kCount}));
        test.contents[name] = edges_of(type, seed);
        seed += 1000003;
    }
    // Every edge meets others.
    test.contents["b"] = [contents = edges_of(type, 77)](std::int64_t index) { return contents(index * 31 % kCount); };
    return test;
}

std::vector<Output> all_of(ir::ScalarType type, const std::vector<std::string>& expressions) {
    std::vector<Output> outputs;
    for (const std::string& expression : expressions) outputs.push_back({expression, type});
    return outputs;
}

}  // namespace

TEST_SUITE("differential") {
    TEST_CASE("arithmetic of every number type has the interpreter's bits") {
        for (const ir::ScalarType type : kNumbers) {
            CAPTURE(ir::name(type));
            std::vector<std::string> expressions = {"x + y",
                                                    "x - y",
                                                    "x * y",
                                                    "x / y",
                                                    "-x",
                                                    "abs(x)",
                                                    "min(x, y)",
                                                    "max(x, y)",
                                                    "clamp(x, y, z)",
                                                    "select(x < y, x, z)",
                                                    "select(x != y && x >= z, x, y)"};
            const std::vector<std::string> real = {
                "minimum(x, y)", "maximum(x, y)", "fma(x, y, z)", "sqrt(x)",   "floor(x)",
                "ceil(x)",       "trunc(x)",      "round(x)",     "x * y + z", "(x + y) - x",
                "x * 0",         "x - x",         "x + 0",        "0 * x + 0", "select(isnan(x) || isinf(y), z, x)"};
            const std::vector<std::string> integer = {"x % y",
                                                      "x & y",
                                                      "x | y",
                                                      "x ^ y",
                                                      "~x",
                                                      "x << y",
                                                      "x >> y",
                                                      "cdiv(x, y)",
                                                      "floordiv(x, y)",
                                                      "mod(x, y)",
                                                      "ilog2(x)",
                                                      "popcount(x)",
                                                      "clz(x)",
                                                      "x / y * y + x % y",
                                                      "x / 7",
                                                      "x % 8",
                                                      "floordiv(x, 4)",
                                                      "x / 0"};
            const auto& more = ir::is_float(type) ? real : integer;
            expressions.insert(expressions.end(), more.begin(), more.end());
            check_case(elementwise(type, all_of(type, expressions)), Variants::Two, static_cast<std::uint32_t>(type));
        }
    }

    TEST_CASE("conversions between all types have the interpreter's bits") {
        for (const ir::ScalarType from : kNumbers) {
            CAPTURE(ir::name(from));
            std::vector<Output> outputs;
            for (const ir::ScalarType to :
                 {I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, F8E4M3, F8E5M2, F8E8M0}) {
                const std::string name{ir::name(to)};
                outputs.push_back({name + "(x)", to});
                outputs.push_back({fmt::format("saturate(x, {})", name), to});
            }
            check_case(elementwise(from, outputs), Variants::Two, static_cast<std::uint32_t>(from));
        }
    }

    TEST_CASE("storage types are decoded exactly") {
        for (const ir::ScalarType from : {F8E4M3, F8E5M2, F8E8M0, Bool}) {
            for (const ir::ScalarType to : {F16, BF16, F32, F64, I32}) {
                CAPTURE(ir::name(from));
                CAPTURE(ir::name(to));
                KernelCase test{fmt::format("kernel k(x: in {}[N], y: out {}[N])\n"
                                            "grid i in 0 .. N by 32 {{ y[i :+ 32] = {}(x[i :+ 32]) }}\n",
                                            ir::name(from), ir::name(to), ir::name(to)),
                                {{"x", tensor(from, {256})}, {"y", tensor(to, {256})}}};
                test.contents["x"] = [from](std::int64_t index) {
                    return ir::Scalar{from, static_cast<std::uint64_t>(from == Bool ? index % 2 : index)};
                };
                check_case(test, Variants::Two, static_cast<std::uint32_t>(to));
            }
        }
    }

    TEST_CASE("four-bit elements are packed and unpacked") {
        for (const ir::ScalarType type : {I4, U4, F4E2M1}) {
            CAPTURE(ir::name(type));
            const KernelCase test{
                fmt::format("kernel k(x: in {0}[M, N], y: out f32[M, N], z: out {0}[M, N])\n"
                            "grid i in 0 .. M by 2, j in 0 .. N by 32 {{\n"
                            "    let t = x[i :+ 2, j :+ 32]\n"
                            "    y[i :+ 2, j :+ 32] = f32(t)\n"
                            "    z[i :+ 2, j :+ 32] = {0}(f32(t) * 0.5)\n}}\n",
                            ir::name(type)),
                {{"x", tensor(type, {3, 66})}, {"y", tensor(F32, {3, 66})}, {"z", tensor(type, {3, 66})}}};
            check_case(test);
        }
    }

    TEST_CASE("reductions of every type over every axis") {
        for (const ir::ScalarType type : kNumbers) {
            CAPTURE(ir::name(type));
            const std::string name{ir::name(type)};
            std::string body;
            KernelCase test;
            std::string parameters;
            int count = 0;
            std::vector<std::string> functions = {"min", "max"};
            if (ir::is_float(type)) functions.insert(functions.end(), {"minimum", "maximum"});
            // Sums of floats depend on their order; of small whole numbers they do not.
            functions.emplace_back("sum");
            for (const std::string& function : functions) {
                const std::string operand = function == "sum" && ir::is_float(type) ? "w" : "t";
                parameters += fmt::format(", r{0}: out {1}[17], c{0}: out {1}[31], s{0}: out {1}[1]", count, name);
                body += fmt::format(
                    "    r{0}[0 :+ 17] = {1}({2}, axis = 1)\n    c{0}[0 :+ 31] = {1}({2}, axis = 0)\n"
                    "    s{0}[0] = {1}({2})\n",
                    count, function, operand);
                test.arguments.emplace(fmt::format("r{}", count), tensor(type, {17}));
                test.arguments.emplace(fmt::format("c{}", count), tensor(type, {31}));
                test.arguments.emplace(fmt::format("s{}", count), tensor(type, {1}));
                ++count;
            }
            test.text = fmt::format(
                "kernel k(x: in {0}[17, 31], u: in i8[17, 31]{1})\ngrid one in 0 .. 1 {{\n"
                "    let t = x[0 :+ 17, 0 :+ 31]\n    let w = {0}(u[0 :+ 17, 0 :+ 31] % 3)\n{2}}}\n",
                name, parameters, body);
            test.arguments.emplace("x", tensor(type, {17, 31}));
            test.arguments.emplace("u", tensor(I8, {17, 31}));
            test.contents["x"] = [contents = edges_of(type, 5)](std::int64_t index) {
                return contents(index * 7 % 211);
            };
            check_case(test, Variants::Two, static_cast<std::uint32_t>(type));
        }
    }

    TEST_CASE("dots of whole numbers are exact in every type") {
        for (const ir::ScalarType type : {F16, BF16, F32, F64, I8, U8}) {
            for (const std::int64_t k : {1, 3, 31, 64, 133}) {
                CAPTURE(ir::name(type));
                CAPTURE(k);
                const ir::ScalarType sum = type == F64 ? F64 : ir::is_float(type) ? F32 : I32;
                const std::string text = fmt::format(
                    "kernel k(a: in {0}[M, K], b: in {0}[K, N], bt: in {0}[N, K], c: out {1}[M, N], d: out {1}[M, N])\n"
                    "grid i in 0 .. M by 16, j in 0 .. N by 32 {{\n"
                    "    var acc: {1}[16, 32] = 0\n    var other: {1}[16, 32] = 1\n"
                    "    for p in 0 .. K by 32 {{\n"
                    "        acc += dot(a[i :+ 16, p :+ 32], b[p :+ 32, j :+ 32])\n"
                    "        other = dot(a[i :+ 16, p :+ 32], transpose(bt[j :+ 32, p :+ 32])) + other\n    }}\n"
                    "    c[i :+ 16, j :+ 32] = acc\n    d[i :+ 16, j :+ 32] = other\n}}\n",
                    ir::name(type), ir::name(sum));
                KernelCase test{text};
                const std::int64_t m = 17, n = 65;
                test.arguments = {{"a", strided(tensor(type, {m, k}), {k + 3, 1})},
                                  {"b", strided(tensor(type, {k, n}), {1, k})},
                                  {"bt", tensor(type, {n, k})},
                                  {"c", tensor(sum, {m, n})},
                                  {"d", strided(tensor(sum, {m, n}), {1, m})}};
                const bool is_unsigned = type == U8;
                for (const char* name : {"a", "b", "bt"}) {
                    test.contents[name] = [=](std::int64_t index) {
                        const auto value = static_cast<double>(index * 7 % 5 - (is_unsigned ? 0 : 2));
                        return ir::is_float(type) ? listed(type, {value})(0)
                                                  : ir::Scalar::integer(type, static_cast<std::int64_t>(value) * 50);
                    };
                }
                check_case(test, Variants::Two, static_cast<std::uint32_t>(k));
            }
        }
    }

    TEST_CASE("functions stay within their bound of the interpreter") {
        for (const ir::ScalarType type : {F16, BF16, F32, F64}) {
            CAPTURE(ir::name(type));
            KernelCase test = elementwise(type, all_of(type, {"exp(x)", "exp2(x)", "log(abs(x))", "log2(abs(x))",
                                                              "rsqrt(abs(x))", "sin(x)", "cos(x)", "tanh(x)", "erf(x)",
                                                              "log(x)", "rsqrt(x)", "pow(abs(x), min(abs(y), 3))"}));
            // 2 ulp each (pow 4) on both sides; the least steps of the type where results are denormal.
            const double epsilon = type == F64 ? 0x1p-52 : type == F32 ? 0x1p-23 : type == F16 ? 0x1p-10 : 0x1p-7;
            const double tiny = type == F64 ? 0x1p-1074 : type == F32 ? 0x1p-149 : type == F16 ? 0x1p-24 : 0x1p-133;
            for (int i = 0; i < 12; ++i) {
                const double ulps = i == 11 ? 8 : 4;
                test.tolerances[fmt::format("y{}", i)] = {ulps * epsilon, ulps * tiny};
            }
            check_case(test, Variants::Two, static_cast<std::uint32_t>(type));
        }
    }
}
