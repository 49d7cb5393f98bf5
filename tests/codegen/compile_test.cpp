#include <doctest/doctest.h>

#include "../ir/ir_text.h"
#include "ir/passes/pipeline.h"
#include "kernel_run.h"

using namespace kiln;
using namespace kiln::test;
using enum ir::ScalarType;

namespace {

/// `kernel @k(...) { ... }` of a text, through the tile passes.
ir::Kernel compiled_form(const std::string& text) {
    ir::Kernel kernel = kernel_of(text);
    ir::run_tile_passes(kernel);
    return kernel;
}

const char* kVectorAdd = R"(kernel @add(%x: in f32<?> unit 0, %w: in f32<?> unit 0, %y: out f32<?> unit 0) {
  size %N = extent(%x, 0)
  check extent(%w, 0) = %N
  check extent(%y, 0) = %N
  host {
    %lo = constant 0 : i64
    %step = constant 100 : i64
  }
  phase (%i in %lo .. %N by %step) {
    %zero = constant 0 : f32
    %a = load %x[%i :+ 100] fill %zero : f32[100]
    %b = load %w[%i :+ 100] fill %zero : f32[100]
    %sum = add %a, %b : f32[100]
    store %y[%i :+ 100], %sum
  }
}
)";

std::string gemm_text(std::int64_t bm, std::int64_t bn, std::int64_t bk, const std::string& element) {
    const auto tile = [](std::int64_t a, std::int64_t b) {
        return "[" + std::to_string(a) + ", " + std::to_string(b) + "]";
    };
    const std::string m = std::to_string(bm), n = std::to_string(bn), k = std::to_string(bk);
    return "kernel @gemm(%a: in " + element + "<?, ?> unit 1, %b: in " + element + "<?, ?> unit 1, %c: out " + element +
           "<?, ?> unit 1) {\n"
           "  size %M = extent(%a, 0)\n"
           "  size %K = extent(%a, 1)\n"
           "  size %N = extent(%b, 1)\n"
           "  check extent(%b, 0) = %K\n"
           "  check extent(%c, 0) = %M\n"
           "  check extent(%c, 1) = %N\n"
           "  host {\n"
           "    %lo = constant 0 : i64\n"
           "    %bm = constant " +
           m +
           " : i64\n"
           "    %bn = constant " +
           n +
           " : i64\n"
           "    %bk = constant " +
           k +
           " : i64\n"
           "  }\n"
           "  phase (%i in %lo .. %M by %bm, %j in %lo .. %N by %bn) {\n"
           "    %zero = constant 0 : " +
           element +
           "\n"
           "    %fzero = constant 0 : f32\n"
           "    %start = broadcast %fzero : f32" +
           tile(bm, bn) +
           "\n"
           "    %acc = for %k in %lo .. %K by %bk carry (%s = %start) : f32" +
           tile(bm, bn) +
           " {\n"
           "      %at = load %a[%i :+ " +
           m + ", %k :+ " + k + "] fill %zero : " + element + tile(bm, bk) +
           "\n"
           "      %bt = load %b[%k :+ " +
           k + ", %j :+ " + n + "] fill %zero : " + element + tile(bk, bn) +
           "\n"
           "      %d = dot %at, %bt, %s : f32" +
           tile(bm, bn) +
           "\n"
           "      yield %d\n"
           "    }\n"
           "    %r = convert %acc : " +
           element + tile(bm, bn) +
           "\n"
           "    store %c[%i :+ " +
           m + ", %j :+ " + n +
           "], %r\n"
           "  }\n"
           "}\n";
}

}  // namespace

TEST_SUITE("differential") {
    TEST_CASE("vector_add at every remainder") {
        const ir::Kernel kernel = compiled_form(kVectorAdd);
        for (const std::int64_t n : {0, 1, 7, 15, 16, 17, 99, 100, 101, 164, 1000, 1003}) {
            CAPTURE(n);
            check_same(kernel, {TensorSpec{F32, {n}, {}, 1}, TensorSpec{F32, {n}, {}, 2}, TensorSpec{F32, {n}, {}, 3}});
        }
    }

    TEST_CASE("gemm of ragged shapes") {
        const ir::Kernel kernel = compiled_form(gemm_text(32, 48, 16, "f32"));
        for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{
                 {64, 96, 64}, {33, 49, 17}, {1, 1, 1}, {5, 100, 3}, {70, 20, 130}, {32, 48, 0}, {0, 5, 5}}) {
            CAPTURE(m);
            CAPTURE(n);
            CAPTURE(k);
            check_same(kernel,
                       {TensorSpec{F32, {m, k}, {}, 1}, TensorSpec{F32, {k, n}, {}, 2}, TensorSpec{F32, {m, n}, {}, 3}},
                       {1e-5, 1e-5});
        }
    }
}
