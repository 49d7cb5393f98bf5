// Kernels that a target cannot take: each reason that generate() gives names the need, the limit and what works, with
// the place in the text, and what is said to work does.
#include <doctest/doctest.h>

#include "../../ir/ir_text.h"
#include "codegen/gpu/source.h"

using namespace kiln;
using namespace kiln::codegen::gpu;
using kiln::test::kernel_of;

namespace {

/// A kernel with one program, over vectors of three types.
std::string vector_kernel(const std::string& body) {
    return "kernel @k(%x: in f32<?>, %y: inout f32<?>, %q: inout u4<?>, %id: in i32<?>) {\n  host {\n"
           "    %0 = constant 0 : i64\n    %1 = constant 1 : i64\n  }\n"
           "  phase (%i in %0 .. %1 by %1) {\n    %z = constant 0 : f32\n    %u = constant 0 : u4\n" +
           body + "  }\n}\n";
}

std::string refusal_of(const std::string& body, const std::string& target = "sm_80") {
    const Generated generated = generate(kernel_of(vector_kernel(body)), *find_target(target).target);
    if (generated.refusals.empty()) return "";
    CHECK(generated.source.text.empty());
    CHECK(generated.source.phases.empty());
    REQUIRE(generated.refusals.size() == 1);
    return generated.refusals[0].message;
}

std::string sort_of(int count) {
    const std::string shape = "[" + std::to_string(count) + "]";
    return "    %t = load %x[%0 :+ " + std::to_string(count) + "] fill %z : f32" + shape +
           "\n    %s, %p = sort %t axis 0 : f32" + shape + ", i64" + shape + "\n    store %y[%0 :+ " +
           std::to_string(count) + "], %s\n";
}

std::string sum_of_products(int count) {
    const std::string n = std::to_string(count);
    return "    %c = broadcast %z : f32[" + n + ", " + n + "]\n    %a = load %x[%0 :+ " + std::to_string(count * 16) +
           "] fill %z : f32[" + std::to_string(count * 16) + "]\n    %m = reshape %a : f32[" + n +
           ", 16]\n    %w = permute %m axes [1, 0] : f32[16, " + n + "]\n    %d = dot %m, %w, %c : f32[" + n + ", " +
           n + "]\n    %r = reduce sum %d axis 1 : f32[" + n + "]\n    store %y[%0 :+ " + n + "], %r\n";
}

std::string fold_with(const std::string& steps) {
    return "    %t = load %x[%0 :+ 64] fill %z : f32[64]\n"
           "    %f = fold %t axis 0 combine (%a, %b) : f32 {\n" +
           steps + "      yield %both\n    }\n    store %y[%0], %f\n";
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("gpu refusal: shared memory of a block") {
        CHECK(refusal_of(sort_of(65536)) ==
              "`k` needs 524288 bytes of shared memory for its tiles, and a block of sm_80 has 166912: smaller tiles "
              "fit");
        CHECK(refusal_of(sort_of(65536), "gfx942").find("a block of gfx942 has 65536: smaller tiles fit") !=
              std::string::npos);
        CHECK(refusal_of(sort_of(4096)).empty());
        CHECK(refusal_of(sort_of(4096), "gfx942").empty());
    }

    TEST_CASE("gpu refusal: registers of a thread") {
        const std::string refusal = refusal_of(sum_of_products(2048));
        CHECK(
            refusal.find("registers a thread for the tiles it holds at one time, and a thread of sm_80 has 64: smaller "
                         "tiles fit") != std::string::npos);
        CHECK(refusal_of(sum_of_products(64)).empty());
    }

    TEST_CASE("gpu refusal: what the function of a reduction may hold") {
        const std::string control =
            "      %less = lt %a, %b : bool\n      %both = if %less : f32 {\n        yield %a\n      } else {\n"
            "        yield %b\n      }\n";
        CHECK(
            refusal_of(fold_with(control)) ==
            "the function of a reduce or scan has `if`, and on a GPU it takes elementwise operations only: `select` in "
            "place of control flow works, and so does what is read before");
        const std::string reads =
            "      %r = load %x[%0] fill %z : f32\n      %sum = add %a, %b : f32\n      %both = add %sum, %r : f32\n";
        CHECK(refusal_of(fold_with(reads)).find("has `load`") != std::string::npos);
        CHECK(refusal_of(fold_with("      %less = lt %a, %b : bool\n      %both = select %less, %a, %b : f32\n"))
                  .empty());
        CHECK(refusal_of("    %r = load %x[%0] fill %z : f32\n" +
                         fold_with("      %sum = add %a, %b : f32\n      %both = add %sum, %r : f32\n"))
                  .empty());
    }

    TEST_CASE("gpu refusal: rows of 4-bit elements that two threads would share") {
        const std::string odd = "    %t = broadcast %u : u4[33]\n    store %q[%0 :+ 33], %t\n";
        CHECK(
            refusal_of(odd) ==
            "a store of 4-bit elements has rows of an odd number of them, and two threads cannot share a byte: an even "
            "number works");
        CHECK(refusal_of("    %t = broadcast %u : u4[34]\n    store %q[%0 :+ 34], %t\n").empty());
    }

    TEST_CASE("gpu refusal: each phase has its own, which names it") {
        const auto phase = [](const std::string& n) {
            return "  phase (%i" + n + " in %0 .. %1 by %1) {\n    %z" + n + " = constant 0 : f32\n    %t" + n +
                   " = load %x[%0 :+ 65536] fill %z" + n + " : f32[65536]\n    %s" + n + ", %p" + n + " = sort %t" + n +
                   " axis 0 : f32[65536], i64[65536]\n    store %y[%0 :+ 65536], %s" + n + "\n  }\n";
        };
        const std::string text =
            "kernel @k(%x: in f32<?>, %y: inout f32<?>) {\n  host {\n    %0 = constant 0 : i64\n"
            "    %1 = constant 1 : i64\n  }\n";
        const Generated generated =
            generate(kernel_of(text + phase("a") + phase("b") + "}\n"), *find_target("sm_80").target);
        REQUIRE(generated.refusals.size() == 2);
        CHECK(generated.refusals[0].message.starts_with("phase 1 of `k` needs"));
        CHECK(generated.refusals[1].message.starts_with("phase 2 of `k` needs"));
    }
}
