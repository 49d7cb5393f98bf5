// Scalars in device text: what NVRTC makes of every op and conversion, run on the emulated GPU, against ir/semantics.
#include "codegen/gpu/scalar_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>

#include "codegen/gpu/target.h"
#include "emulated_device.h"
#include "ir/element_function.h"
#include "ir/semantics.h"
#include "ir/small_float.h"
#include "ir/support/internal_error.h"
#include "tests/support/temporary_folder.h"

using namespace kiln;
using namespace kiln::codegen::gpu;
using ir::OpKind;
using ir::ScalarType;

namespace {

constexpr ScalarType kAllTypes[] = {
#define KILN_SCALAR(Kind, ...) ScalarType::Kind,
#include "ir/scalar_types.def"
};

ScalarType unsigned_of_width(ScalarType type) {
    switch (ir::bit_width(type)) {
        case 4:
            return ScalarType::U4;
        case 8:
            return ScalarType::U8;
        case 16:
            return ScalarType::U16;
        case 32:
            return ScalarType::U32;
        default:
            return ScalarType::U64;
    }
}

/// A value of a type from its pattern in 64 bits, and back.
std::string of_bits(ScalarType type, const std::string& bits) {
    if (type == ScalarType::Bool) return "(" + bits + " != 0)";
    const ScalarType pattern = unsigned_of_width(type);
    return conversion(OpKind::Bitcast, pattern, type, fmt::format("(({}){})", c_type(pattern), bits));
}
std::string to_bits(ScalarType type, const std::string& value) {
    return fmt::format("(unsigned long long){}", conversion(OpKind::Bitcast, type, unsigned_of_width(type), value));
}

bool is_real(ScalarType type) {
    return ir::has_float_format(type) || type == ScalarType::F8E8M0;
}

/// NaN is NaN, whatever its payload.
bool same(ScalarType type, std::uint64_t found, std::uint64_t expected) {
    if (found == expected) return true;
    if (!is_real(type)) return false;
    return std::isnan(ir::decode_real(type, found)) && std::isnan(ir::decode_real(type, expected));
}

/// Patterns at which something happens, and random ones; all of them for narrow types if asked.
std::vector<std::uint64_t> patterns(ScalarType type, std::size_t random_count, bool all = false) {
    std::vector<std::uint64_t> result;
    const int width = ir::bit_width(type);
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - width);
    if (type == ScalarType::Bool) return {0, 1};
    if (width == 4 || (all && width <= 16)) {
        for (std::uint64_t bits = 0; bits <= mask; ++bits) result.push_back(bits);
        return result;
    }
    for (const std::int64_t small : {0, 1, 2, 3, 7, 10, 31, 33, 63, 64, 100, 127, -1, -2, -3, -7, -128}) {
        result.push_back(static_cast<std::uint64_t>(small) & mask);
    }
    result.push_back(mask >> 1);
    result.push_back((mask >> 1) + 1);
    if (ir::has_float_format(type)) {
        for (const double x :
             {0.5, 1.0, 1.5, 2.5, -0.0, -1.0, -2.5, 1e-3, 3.0, 100.0, 1e4, 448.0, 65504.0, 1e30, 2147483647.0}) {
            result.push_back(ir::encode_real(type, x, ir::Overflow::Format));
        }
        const ir::FloatFormat format = ir::float_format(type);
        for (const std::uint64_t edge : {format.largest(), format.nan(), format.top_exponent(), std::uint64_t{1},
                                         format.fraction_mask(), format.fraction_mask() + 1}) {
            result.push_back(edge);
            result.push_back((edge | format.sign_bit()) & mask);
        }
    }
    std::mt19937_64 random(static_cast<unsigned>(type) + 31);
    for (std::size_t i = 0; i < random_count; ++i)
        result.push_back((random() >> (i % 2 == 0 ? 0 : random() % width)) & mask);
    return result;
}

/// Kernels, each an expression of up to three inputs.
class Program {
public:
    void add(const std::string& name, const std::string& result) {
        body_ += fmt::format(
            "extern \"C\" __global__ void {}(const unsigned long long* in, unsigned long long* out, int n) {{\n"
            "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= n) return;\n"
            "    out[i] = {};\n}}\n",
            name, result);
    }
    void* load() const {
        const test::Compiled compiled = test::Nvrtc::get().compile(prelude(body_, Dialect::Cuda) + body_, "compute_80");
        REQUIRE_MESSAGE(compiled.succeeded, compiled.log);
        CHECK_MESSAGE(compiled.log.empty(), compiled.log);
        return test::EmulatedDevice::get().load(compiled.code);
    }

private:
    std::string body_;
};

std::string op_call(OpKind kind, ScalarType type, const ir::Freedoms& freedoms = {}) {
    const std::string_view row = ir::info(kind).operands;
    std::vector<std::string> operands;
    for (std::size_t i = 0; i < row.size(); ++i) {
        const bool flag = row[i] == 'b';
        operands.push_back(of_bits(flag ? ScalarType::Bool : type, fmt::format("in[3 * i + {}]", i)));
    }
    const std::string value = "(" + expression(kind, type, operands, freedoms) + ")";
    return ir::info(kind).result == ir::ResultRule::Flag ? "(unsigned long long)" + value : to_bits(type, value);
}

bool takes(OpKind kind, ScalarType type) {
    const ir::OpInfo& row = ir::info(kind);
    if (row.group != ir::OpGroup::Elementwise || row.result == ir::ResultRule::Own) return false;
    if (kind == OpKind::Select) return true;
    try {
        ir::element_function(kind, type);
    } catch (const support::InternalError&) {
        return false;
    }
    return true;
}

/// Operands of an op: all pairs of edge patterns and random triples.
std::vector<std::uint64_t> triples(OpKind kind, ScalarType type) {
    std::vector<std::uint64_t> result;
    const std::vector<std::uint64_t> values = patterns(type, 24);
    std::mt19937_64 random(5);
    const std::size_t operands = ir::info(kind).operands.size();
    if (operands == 1) {
        for (const std::uint64_t a : patterns(type, 2000, ir::bit_width(type) <= 8))
            result.insert(result.end(), {a, 0, 0});
        return result;
    }
    for (const std::uint64_t a : values) {
        for (const std::uint64_t b : values) {
            const std::uint64_t first = kind == OpKind::Select ? a & 1 : a;
            result.insert(result.end(), {first, b, values[random() % values.size()]});
        }
    }
    return result;
}

/// Units in the last place by which a transcendental function may be off; 0: it has to be exact.
int allowed_ulps(OpKind kind) {
    switch (kind) {
        case OpKind::Exp:
        case OpKind::Exp2:
        case OpKind::Log:
        case OpKind::Log2:
        case OpKind::Rsqrt:
        case OpKind::Sin:
        case OpKind::Cos:
        case OpKind::Tanh:
        case OpKind::Erf:
            return 2;
        case OpKind::Pow:
            return 4;
        default:
            return 0;
    }
}

/// Distance of two patterns of a float type in the order of their values.
std::int64_t steps_between(ScalarType type, std::uint64_t a, std::uint64_t b) {
    const std::uint64_t sign = ir::float_format(type).sign_bit();
    const auto place = [&](std::uint64_t bits) {
        const auto size = static_cast<std::int64_t>(bits & (sign - 1));
        return (bits & sign) != 0 ? -size : size;
    };
    return std::abs(place(a) - place(b));
}

bool is_right(OpKind kind, ScalarType type, std::uint64_t found, std::uint64_t expected) {
    if (ir::info(kind).result == ir::ResultRule::Flag) return found == expected;
    if (same(type, found, expected)) return true;
    const int ulps = allowed_ulps(kind);
    if (ulps == 0 || std::isnan(ir::decode_real(type, found)) || std::isnan(ir::decode_real(type, expected)))
        return false;
    // The interpreter's own value is within half an ulp.
    return steps_between(type, found, expected) <= ulps;
}

void check_ops(ScalarType type) {
    Program program;
    for (const ir::OpInfo& op : ir::kOps) {
        if (takes(op.kind, type)) program.add("op_" + std::string(op.mnemonic), op_call(op.kind, type));
    }
    void* module = program.load();
    for (const ir::OpInfo& op : ir::kOps) {
        if (!takes(op.kind, type)) continue;
        const ir::ElementFunction function = ir::element_function(op.kind, type);
        const std::vector<std::uint64_t> inputs = triples(op.kind, type);
        const std::size_t n = inputs.size() / 3;
        const std::vector<std::uint64_t> found =
            test::EmulatedDevice::get().map(module, "op_" + std::string(op.mnemonic), inputs, static_cast<int>(n), n);
        int wrong = 0;
        std::string example;
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint64_t expected = function(inputs[3 * i], inputs[3 * i + 1], inputs[3 * i + 2]);
            if (is_right(op.kind, type, found[i], expected)) continue;
            if (wrong++ == 0)
                example = fmt::format("{:#x} {:#x} {:#x}: {:#x}, not {:#x}", inputs[3 * i], inputs[3 * i + 1],
                                      inputs[3 * i + 2], found[i], expected);
        }
        CHECK_MESSAGE(wrong == 0, ir::name(type)
                                      << " " << op.mnemonic << " " << example << " (" << wrong << " of " << n << ")");
    }
}

bool converts(OpKind kind, ScalarType from, ScalarType to) {
    if (kind == OpKind::Bitcast) return ir::bit_width(from) == ir::bit_width(to);
    return to != ScalarType::Bool;
}

constexpr OpKind kConversions[] = {OpKind::Convert, OpKind::Saturate, OpKind::Bitcast};

void check_conversions(ScalarType from) {
    Program program;
    const auto name = [&](OpKind kind, ScalarType to) {
        return fmt::format("{}_{}", ir::info(kind).mnemonic, ir::name(to));
    };
    for (const OpKind kind : kConversions) {
        for (const ScalarType to : kAllTypes) {
            if (converts(kind, from, to))
                program.add(name(kind, to), to_bits(to, conversion(kind, from, to, of_bits(from, "in[3 * i]"))));
        }
    }
    void* module = program.load();
    std::vector<std::uint64_t> inputs;
    for (const std::uint64_t a : patterns(from, 4000, true)) inputs.insert(inputs.end(), {a, 0, 0});
    const std::size_t n = inputs.size() / 3;
    for (const OpKind kind : kConversions) {
        for (const ScalarType to : kAllTypes) {
            if (!converts(kind, from, to)) continue;
            const std::vector<std::uint64_t> found =
                test::EmulatedDevice::get().map(module, name(kind, to), inputs, static_cast<int>(n), n);
            int wrong = 0;
            std::string example;
            for (std::size_t i = 0; i < n; ++i) {
                const std::uint64_t expected = ir::convert_bits(kind, inputs[3 * i], from, to);
                if (same(to, found[i], expected)) continue;
                if (wrong++ == 0) example = fmt::format("{:#x}: {:#x}, not {:#x}", inputs[3 * i], found[i], expected);
            }
            CHECK_MESSAGE(wrong == 0, ir::name(from) << " " << name(kind, to) << " " << example << " (" << wrong
                                                     << " of " << n << ")");
        }
    }
}

/// Every op and conversion of every type, a kernel each.
std::string every_scalar_function() {
    std::string body;
    int number = 0;
    const auto add = [&](const std::string& result) {
        body += fmt::format(
            "extern \"C\" __attribute__((global)) void f{}(const unsigned long long* in, unsigned long long* out, int "
            "i) {{\n"
            "    out[i] = {};\n}}\n",
            number++, result);
    };
    for (const ScalarType type : kAllTypes) {
        for (const ir::OpInfo& op : ir::kOps) {
            if (takes(op.kind, type)) add(op_call(op.kind, type));
        }
        for (const OpKind kind : kConversions) {
            for (const ScalarType to : kAllTypes) {
                if (converts(kind, type, to)) add(to_bits(to, conversion(kind, type, to, of_bits(type, "in[3 * i]"))));
            }
        }
    }
    return body;
}

/// Runs clang on every scalar function, for the AMD targets for which `wanted` holds.
template <class Wanted>
void check_clang(const std::string& action, Wanted wanted) {
    if (std::system("clang-22 --version > /dev/null 2>&1") != 0) {
        std::puts("skipped: clang: there is no clang-22");
        std::fflush(stdout);
        std::_Exit(77);
    }
    const tests::TemporaryFolder folder;
    const std::string source = folder.in("scalars.hip"), body = every_scalar_function();
    std::ofstream(source) << prelude(body, Dialect::Hip) << body;
    for (const Target& target : target_table()) {
        if (target.vendor != Vendor::Amd || !wanted(target.name)) continue;
        CAPTURE(target.name);
        const std::string command = fmt::format(
            "clang-22 -x hip --cuda-device-only -nogpulib -nogpuinc -Wall -Werror -Wno-unused-function {} "
            "--offload-arch={} {}",
            action, target.name, source);
        CHECK(std::system(command.c_str()) == 0);
    }
}

}  // namespace

TEST_SUITE_BEGIN("unit");

TEST_CASE("scalar text: literals are exact and readable") {
    CHECK(literal(ir::Scalar::integer(ScalarType::I32, -5)) == "(-5)");
    CHECK(literal(ir::Scalar::integer(ScalarType::I32, -2147483648LL)) == "(-2147483647 - 1)");
    CHECK(literal(ir::Scalar::int64(7)) == "7ll");
    CHECK(literal(ir::Scalar::integer(ScalarType::U8, 200)) == "((unsigned char)(200))");
    CHECK(literal(ir::Scalar::integer(ScalarType::U64, -1)) == "18446744073709551615ull");
    CHECK(literal(ir::Scalar::f32(0.1f)) == "0.1f");
    CHECK(literal(ir::Scalar::f32(2)) == "2.0f");
    CHECK(literal(ir::Scalar::f32(-1e30f)) == "(-1e+30f)");
    CHECK(literal(ir::Scalar::f64(0.1)) == "0.1");
    CHECK(literal({ScalarType::F32, 0x7f800000}) == "kiln_f32_of_bits(0x7f800000u)");
    CHECK(literal({ScalarType::BF16, 0x3f80}) == "((kiln_bf16)0x3f80)");
    CHECK(literal(ir::Scalar::boolean(true)) == "true");
}

TEST_CASE("scalar text: expressions are what a person would write") {
    const std::vector<std::string> operands = {"a", "b", "c"};
    const auto of = [&](OpKind kind, ScalarType type) {
        return expression(kind, type, std::span(operands).first(ir::info(kind).operands.size()));
    };
    CHECK(of(OpKind::Add, ScalarType::F32) == "(a + b)");
    CHECK(of(OpKind::Add, ScalarType::I32) == "(int)((unsigned)a + (unsigned)b)");
    CHECK(of(OpKind::Add, ScalarType::U32) == "(a + b)");
    CHECK(of(OpKind::Mul, ScalarType::BF16) == "kiln_mul_bf16(a, b)");
    CHECK(of(OpKind::Exp, ScalarType::F16) == "kiln_f16_of_f32(kiln_exp_f32(kiln_f32_of_f16(a)))");
    CHECK(of(OpKind::Select, ScalarType::F4E2M1) == "(a ? b : c)");
    CHECK(conversion(OpKind::Convert, ScalarType::F32, ScalarType::BF16, "x") == "(kiln_bf16_of_f32(x))");
    CHECK(conversion(OpKind::Saturate, ScalarType::I32, ScalarType::U8, "x") ==
          "((unsigned char)kiln_clamp_i32(x, 0, 255))");
    CHECK_THROWS_AS(of(OpKind::Exp, ScalarType::I32), support::InternalError);
    CHECK_THROWS_AS(of(OpKind::Dot, ScalarType::F32), support::InternalError);
    CHECK_THROWS_AS(conversion(OpKind::Convert, ScalarType::I32, ScalarType::Bool, "x"), support::InternalError);
}

TEST_CASE("scalar text: the prelude has what is used, each before its uses, and nothing else") {
    CHECK(prelude("int x = 1;", Dialect::Cuda).empty());
    const std::string text = prelude("y = kiln_tanh_f32(x);", Dialect::Cuda);
    const std::size_t used = text.find("float kiln_exp_normal_f32("), user = text.find("float kiln_tanh_f32(");
    CHECK(used < user);
    CHECK(user != std::string::npos);
    CHECK(text.find("kiln_log_f32") == std::string::npos);
    CHECK(text.find("KILN_") == std::string::npos);
    CHECK(text.find("__builtin") == std::string::npos);
    CHECK(prelude("kiln_tanh_f32", Dialect::Hip).find("__float_as_uint") == std::string::npos);
    CHECK(prelude("my_kiln_tanh_f32x kiln_unknown", Dialect::Cuda).empty());
}

TEST_CASE("scalar text: clang accepts every op and conversion for AMD") {
    check_clang("-fsyntax-only", [](const std::string& name) { return name == "gfx942" || name == "gfx1201"; });
}

TEST_CASE("scalar text: clang compiles every op and conversion for every AMD target" * doctest::skip()) {
    check_clang("-O1 -S -o /dev/null", [](const std::string&) { return true; });
}

TEST_CASE("scalar text: NVRTC compiles every op and conversion for every NVIDIA target" * doctest::skip()) {
    const std::string body = every_scalar_function(), text = prelude(body, Dialect::Cuda) + body;
    for (const Target& target : target_table()) {
        if (target.vendor != Vendor::Nvidia) continue;
        const test::Compiled compiled = test::Nvrtc::get().compile(text, target.name);
        CHECK_MESSAGE(compiled.succeeded, target.name << compiled.log);
        CHECK_MESSAGE(compiled.log.empty(), target.name << compiled.log);
    }
}

TEST_CASE("scalar text: every op has text in both dialects for every type that takes it") {
    std::string all;
    for (const ir::OpInfo& op : ir::kOps) {
        for (const ScalarType type : kAllTypes) {
            if (takes(op.kind, type)) all += op_call(op.kind, type) + "\n";
        }
    }
    for (const Dialect dialect : {Dialect::Cuda, Dialect::Hip}) {
        const std::string text = prelude(all, dialect) + all;
        std::string undefined;
        for (std::size_t at = text.find("kiln_"); at != std::string::npos; at = text.find("kiln_", at + 1)) {
            const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_", at);
            const std::string name = text.substr(at, end - at);
            const bool defined = prelude(name, dialect).find(name) != std::string::npos;
            if (!defined) undefined += " " + name;
        }
        CHECK_MESSAGE(undefined.empty(), undefined);
    }
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("emulated_gpu");

TEST_CASE("scalar text: ops on 8-bit integers and bool") {
    for (const ScalarType type : {ScalarType::Bool, ScalarType::I8, ScalarType::U8}) check_ops(type);
}
TEST_CASE("scalar text: ops on 16-bit integers") {
    for (const ScalarType type : {ScalarType::I16, ScalarType::U16}) check_ops(type);
}
TEST_CASE("scalar text: ops on 32-bit integers") {
    for (const ScalarType type : {ScalarType::I32, ScalarType::U32}) check_ops(type);
}
TEST_CASE("scalar text: ops on 64-bit integers") {
    for (const ScalarType type : {ScalarType::I64, ScalarType::U64}) check_ops(type);
}
TEST_CASE("scalar text: ops on f16") {
    check_ops(ScalarType::F16);
}
TEST_CASE("scalar text: ops on bf16") {
    check_ops(ScalarType::BF16);
}
TEST_CASE("scalar text: ops on f32") {
    check_ops(ScalarType::F32);
}
TEST_CASE("scalar text: ops on f64") {
    check_ops(ScalarType::F64);
}

TEST_CASE("scalar text: select of storage types") {
    for (const ScalarType type : {ScalarType::I4, ScalarType::U4, ScalarType::F4E2M1, ScalarType::F8E4M3,
                                  ScalarType::F8E5M2, ScalarType::F8E8M0}) {
        check_ops(type);
    }
}

TEST_CASE("scalar text: conversions from 4- and 8-bit types, all patterns") {
    for (const ScalarType type : kAllTypes) {
        if (ir::bit_width(type) <= 8) check_conversions(type);
    }
}
TEST_CASE("scalar text: conversions from f16, all patterns") {
    check_conversions(ScalarType::F16);
}
TEST_CASE("scalar text: conversions from bf16, all patterns") {
    check_conversions(ScalarType::BF16);
}
TEST_CASE("scalar text: conversions from 16-bit integers, all patterns") {
    check_conversions(ScalarType::I16);
    check_conversions(ScalarType::U16);
}
TEST_CASE("scalar text: conversions from 32-bit types") {
    for (const ScalarType type : {ScalarType::I32, ScalarType::U32, ScalarType::F32}) check_conversions(type);
}
TEST_CASE("scalar text: conversions from 64-bit types") {
    for (const ScalarType type : {ScalarType::I64, ScalarType::U64, ScalarType::F64}) check_conversions(type);
}

TEST_CASE("scalar text: literals have exactly their bits") {
    for (const ScalarType type : kAllTypes) {
        Program program;
        const std::vector<std::uint64_t> bits = patterns(type, 24);
        std::string values;
        for (std::size_t i = 0; i < bits.size(); ++i) {
            values += fmt::format("in[3 * i] == {} ? {} : ", i, to_bits(type, literal({type, bits[i]})));
        }
        program.add("literals", values + "0ull");
        std::vector<std::uint64_t> inputs;
        for (std::size_t i = 0; i < bits.size(); ++i) inputs.insert(inputs.end(), {i, 0, 0});
        const auto found = test::EmulatedDevice::get().map(program.load(), "literals", inputs,
                                                           static_cast<int>(bits.size()), bits.size());
        CHECK(found == bits);
    }
}

TEST_CASE("scalar text: the hardware's exponentials are used where the kernel allows it") {
    ir::Freedoms freedoms;
    freedoms.approximate = true;
    Program program;
    for (const OpKind kind : {OpKind::Exp, OpKind::Exp2})
        program.add("fast_" + std::string(ir::info(kind).mnemonic), op_call(kind, ScalarType::F32, freedoms));
    void* module = program.load();
    for (const OpKind kind : {OpKind::Exp, OpKind::Exp2}) {
        const std::vector<std::uint64_t> inputs = triples(kind, ScalarType::F32);
        const std::size_t n = inputs.size() / 3;
        const auto found = test::EmulatedDevice::get().map(module, "fast_" + std::string(ir::info(kind).mnemonic),
                                                           inputs, static_cast<int>(n), n);
        bool right = true;
        for (std::size_t i = 0; i < n; ++i) {
            const double x = ir::decode_real(ScalarType::F32, inputs[3 * i]),
                         value = ir::decode_real(ScalarType::F32, found[i]);
            const double exact = kind == OpKind::Exp ? std::exp(x) : std::exp2(x);
            if (std::isnan(exact)) right = right && std::isnan(value);
            if (exact < 0x1p-126) right = right && value < 0x1.0001p-126;
            if (exact >= 0x1p-126 && exact < 0x1.fffffep127)
                right = right && std::fabs(value - exact) <= 0x1p-21 * exact;
            if (exact > 0x1p128) right = right && std::isinf(value);
        }
        CHECK(right);
    }
}

TEST_SUITE_END();
