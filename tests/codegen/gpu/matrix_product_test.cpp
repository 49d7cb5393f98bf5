// dot in every type and orientation: which instruction computes it, and that the emulated devices get what the
// interpreter gets.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "codegen/gpu/source.h"
#include "emulated_device.h"
#include "ir/interpret.h"
#include "library_case.h"

using namespace kiln;
using namespace kiln::test;
using codegen::gpu::find_target;

namespace {

using enum ir::ScalarType;

constexpr std::int64_t kProductRows = 64, kProductColumns = 48, kProductDepth = 64;

/// Small whole numbers: their sums are exact, hence the same in any order.
CaseTensor product_operand(const std::string& name, ir::ScalarType type, std::int64_t rows, std::int64_t columns,
                           int seed) {
    const int lowest = type == U8 || type == U4 ? 0 : -3;
    const auto element = [=](std::int64_t place) {
        return static_cast<double>(lowest + (place * 7 + place / 5 + seed * place % 3) % 7);
    };
    return {name, type, {rows, columns}, element, {}};
}
CaseTensor product_result(const std::string& name, ir::ScalarType type, std::int64_t rows, std::int64_t columns) {
    return {name, type, {rows, columns}, [](std::int64_t) { return 0.0; }, {}};
}

ir::ScalarType sum_of(ir::ScalarType type) {
    return ir::is_integer(type) || type == I4 || type == U4 ? I32 : type == F64 ? F64 : F32;
}

/// All four orientations of a product.
LibraryCase products(ir::ScalarType a, ir::ScalarType b, const std::string& precision = "") {
    LibraryCase test{"products", "products", {}, {}, {}, {}, false, ""};
    const ir::ScalarType sum = sum_of(a);
    test.tensors = {product_operand("a", a, kProductRows, kProductDepth, 1),
                    product_operand("b", b, kProductDepth, kProductColumns, 2),
                    product_operand("at", a, kProductDepth, kProductRows, 1),
                    product_operand("bt", b, kProductColumns, kProductDepth, 2),
                    product_result("c0", sum, kProductRows, kProductColumns),
                    product_result("c1", sum, kProductRows, kProductColumns),
                    product_result("c2", sum, kProductRows, kProductColumns),
                    product_result("c3", sum, kProductRows, kProductColumns)};
    const std::string option = precision.empty() ? "" : ", precision = " + precision;
    test.text = fmt::format(
        "kernel products(a: in {0}[M, K], b: in {1}[K, N], at: in {0}[K, M], bt: in {1}[N, K],\n"
        "                c0: out {2}[M, N], c1: out {2}[M, N], c2: out {2}[M, N], c3: out {2}[M, N])\n",
        ir::name(a), ir::name(b), ir::name(sum));
    for (int i = 0; i < 4; ++i) {
        const std::string left = i % 2 == 0
                                     ? fmt::format("a[i :+ {}, 0 :+ {}]", kProductRows, kProductDepth)
                                     : fmt::format("transpose(at[0 :+ {}, i :+ {}])", kProductDepth, kProductRows);
        const std::string right = i < 2
                                      ? fmt::format("b[0 :+ {}, j :+ {}]", kProductDepth, kProductColumns)
                                      : fmt::format("transpose(bt[j :+ {}, 0 :+ {}])", kProductColumns, kProductDepth);
        test.text += fmt::format(
            "grid i in 0 .. M by {0}, j in 0 .. N by {1} {{\n    c{2}[i :+ {0}, j :+ {1}] = dot({3}, {4}{5})\n}}\n",
            kProductRows, kProductColumns, i, left, right, option);
    }
    return test;
}

/// The result of a product as the left operand of another, as it is and transposed.
LibraryCase chain(ir::ScalarType type) {
    LibraryCase test{"chain", "chain", {}, {}, {}, {}, false, ""};
    test.tensors = {
        product_operand("q", type, kProductRows, 32, 1),    product_operand("k", type, kProductColumns, 32, 2),
        product_operand("v", type, kProductColumns, 80, 3), product_operand("w", type, kProductRows, 80, 4),
        product_result("o", F32, kProductRows, 80),         product_result("t", F32, kProductColumns, 80)};
    test.text = fmt::format(
        "kernel chain(q: in {0}[M, D], k: in {0}[N, D], v: in {0}[N, E], w: in {0}[M, E],\n"
        "             o: out f32[M, E], t: out f32[N, E])\n"
        "grid i in 0 .. M by 64 {{\n"
        "    let s = dot(q[i :+ 64, 0 :+ 32], transpose(k[0 :+ 48, 0 :+ 32]))\n"
        "    let p = {0}(select(s > 4, 4, select(s < -4, -4, s)))\n"
        "    o[i :+ 64, 0 :+ 80] = dot(p, v[0 :+ 48, 0 :+ 80])\n"
        "    t[0 :+ 48, 0 :+ 80] = dot(transpose(p), w[i :+ 64, 0 :+ 80])\n}}\n",
        ir::name(type));
    return test;
}

std::string product_source(const LibraryCase& test, const std::string& target) {
    const SpecialisedCase specialised = specialise(test, *find_target(target).target, Proven::All);
    const codegen::gpu::Generated generated = generate(specialised.kernel(), *find_target(target).target);
    REQUIRE_MESSAGE(generated.refusals.empty(), generated.refusals.front().message);
    return generated.source.text;
}

/// The matrix instruction of a source: the text between `kiln_` and `(`. Empty if there is none.
std::string product_instruction(const std::string& source) {
    for (const char* family : {"kiln_mma_", "kiln_mfma_", "kiln_wmma_"}) {
        const std::size_t at = source.find(family);
        if (at != std::string::npos) return source.substr(at + 5, source.find('(', at) - at - 5);
    }
    return "";
}

const std::vector<LibraryCase>& product_cases() {
    static const std::vector<LibraryCase> cases = {products(F16, F16),
                                                   products(BF16, BF16),
                                                   products(F32, F32),
                                                   products(F64, F64),
                                                   products(I8, I8),
                                                   products(U8, I8),
                                                   products(I4, U4),
                                                   products(F8E4M3, F8E5M2),
                                                   products(F4E2M1, F4E2M1),
                                                   chain(BF16),
                                                   chain(F16),
                                                   chain(F8E4M3),
                                                   products(BF16, BF16, "exact"),
                                                   products(F32, F32, "tf32")};
    return cases;
}

void run_products(const std::string& target, bool is_amd) {
    setenv(is_amd ? "EMULATED_GPU_PROCESSORS" : "EMULATED_GPU_CAPABILITIES", target.substr(is_amd ? 0 : 3).c_str(), 1);
    for (const LibraryCase& test : product_cases()) {
        CAPTURE(label(test));
        const SpecialisedCase specialised = specialise(test, *find_target(target).target, Proven::All);
        const codegen::gpu::Generated generated = generate(specialised.kernel(), *find_target(target).target);
        REQUIRE_MESSAGE(generated.refusals.empty(), generated.refusals.front().message);
        // The emulated gfx950 has no fp8.
        if (target == "gfx950" && product_instruction(generated.source.text).find("fp8") != std::string::npos) continue;
        const Compiled compiled = is_amd ? compile_hip(generated.source.text, target)
                                         : Nvrtc::get().compile(generated.source.text, "compute_" + target.substr(3));
        REQUIRE_MESSAGE(compiled.succeeded, compiled.log);
        CaseMemory found(test, specialised.kernel(), specialised.specialisation.defaults);
        CaseMemory expected(test, specialised.kernel(), specialised.specialisation.defaults);
        EmulatedDevice& device = is_amd ? EmulatedDevice::amd() : EmulatedDevice::get();
        const std::string failure =
            device.run(compiled.code, generated.source, specialised.kernel(), found.arguments(), found.bytes(), 1);
        REQUIRE_MESSAGE(failure.empty(), failure);
        ir::interpret(specialised.kernel(), expected.arguments(), 1, [](const std::string&) {});
        const std::string wrong = difference(test, specialised.kernel(), found, expected);
        CHECK_MESSAGE(wrong.empty(), wrong);
    }
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("matrix products: types meet the instruction that takes them, or multiply-adds") {
        const struct {
            LibraryCase test;
            const char *sm_80, *sm_89, *gfx90a, *gfx942, *gfx950, *gfx1100, *gfx1201;
        } rows[] = {
            {products(BF16, BF16), "mma_m16n8k16_bf16_bf16", "mma_m16n8k16_bf16_bf16", "mfma_f32_16x16x4f32",
             "mfma_f32_16x16x16bf16_1k", "mfma_f32_16x16x32_bf16", "wmma_f32_16x16x16_bf16_w32",
             "wmma_f32_16x16x16_bf16_w32_gfx12"},
            {products(F32, F32), "", "", "mfma_f32_16x16x4f32", "mfma_f32_16x16x4f32", "mfma_f32_16x16x4f32", "", ""},
            {products(BF16, BF16, "exact"), "", "", "", "", "", "", ""},
            {products(F32, F32, "tf32"), "mma_m16n8k8_tf32_tf32", "mma_m16n8k8_tf32_tf32", "mfma_f32_16x16x4f32",
             "mfma_f32_16x16x4f32", "mfma_f32_16x16x4f32", "", ""},
            {products(F64, F64), "mma_m8n8k4_f64_f64", "mma_m8n8k4_f64_f64", "mfma_f64_16x16x4f64",
             "mfma_f64_16x16x4f64", "mfma_f64_16x16x4f64", "", ""},
            {products(I8, I8), "mma_m16n8k32_s8_s8", "mma_m16n8k32_s8_s8", "mfma_i32_16x16x16i8",
             "mfma_i32_16x16x32_i8", "mfma_i32_16x16x64_i8", "wmma_i32_16x16x16_iu8_w32_s8_s8",
             "wmma_i32_16x16x16_iu8_w32_gfx12_s8_s8"},
            {products(F8E4M3, F8E4M3), "mma_m16n8k16_f16_f16", "mma_m16n8k32_e4m3_e4m3", "mfma_f32_16x16x4f32",
             "mfma_f32_16x16x16f16", "mfma_f32_16x16x32_fp8_fp8", "wmma_f32_16x16x16_f16_w32",
             "wmma_f32_16x16x16_fp8_fp8_w32_gfx12"},
        };
        for (const auto& row : rows) {
            CAPTURE(label(row.test));
            CHECK(product_instruction(product_source(row.test, "sm_80")) == row.sm_80);
            CHECK(product_instruction(product_source(row.test, "sm_89")) == row.sm_89);
            CHECK(product_instruction(product_source(row.test, "gfx90a")) == row.gfx90a);
            CHECK(product_instruction(product_source(row.test, "gfx942")) == row.gfx942);
            CHECK(product_instruction(product_source(row.test, "gfx950")) == row.gfx950);
            CHECK(product_instruction(product_source(row.test, "gfx1100")) == row.gfx1100);
            CHECK(product_instruction(product_source(row.test, "gfx1201")) == row.gfx1201);
        }
    }

    TEST_CASE("matrix products: the result of a product stays in its registers as the left operand of the next") {
        for (const char* target : {"sm_80", "gfx942", "gfx950", "gfx1201"}) {
            CAPTURE(target);
            LibraryCase test = chain(BF16);
            test.text.replace(test.text.find("    t[0"), std::string::npos, "    t[0 :+ 48, 0 :+ 80] = 0.0\n}\n");
            // q, k and v go to shared memory; p does not.
            const std::string source = product_source(test, target);
            std::size_t staged = 0;
            for (std::size_t at = source.find("_shared_"); at != std::string::npos;
                 at = source.find("_shared_", at + 1)) {
                const std::size_t begin = source.rfind('\n', at) + 1;
                staged += source.substr(begin, at - begin).find("* const ") != std::string::npos ? 1 : 0;
            }
            CHECK(staged == 3);
        }
    }
}

TEST_SUITE("emulated_gpu") {
    TEST_CASE("matrix products: every type and orientation on sm_80") {
        run_products("sm_80", false);
    }
    TEST_CASE("matrix products: every type and orientation on sm_89" * doctest::skip()) {
        run_products("sm_89", false);
    }
    TEST_CASE("matrix products: every type and orientation on gfx90a" * doctest::skip()) {
        run_products("gfx90a", true);
    }
    TEST_CASE("matrix products: every type and orientation on gfx942") {
        run_products("gfx942", true);
    }
    TEST_CASE("matrix products: every type and orientation on gfx950" * doctest::skip()) {
        run_products("gfx950", true);
    }
}
