// Which tiles get buffers, which results share a nest, and what is updated in place.
#include "codegen/cpu/plan.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "../ir/ir_text.h"
#include "codegen/cpu/held_reads.h"

using namespace kiln;
using namespace kiln::codegen::cpu;

namespace {

/// The plan of a kernel of one program over `x`, `y` and `z`.
struct Planned {
    ir::Kernel kernel;
    Plan plan;

    explicit Planned(const std::string& body)
        : kernel(test::kernel_of(
              "kernel @k(%x: in f32<?, ?> unit 1, %y: out f32<?, ?> unit 1, %z: inout f32<?, ?> unit 1, "
              "%n: i64) {\n  host {\n    %h0 = constant 0 : i64\n    %h1 = constant 1 : i64\n  }\n"
              "  phase (%program in %h0 .. %h1 by %h1) {\n    %zero = constant 0 : i64\n"
              "    %fill = constant 0 : f32\n" +
              body + "  }\n}\n")),
          plan(make_plan(kernel, kernel.phases[0])) {}

    ir::ValueId value(const std::string& name) const {
        for (std::uint32_t i = 0; i < kernel.values.size(); ++i) {
            if (kernel.values[i].name == name) return {i};
        }
        FAIL("no value ", name);
        return {};
    }
    bool in_buffer(const std::string& name) const { return plan.in_buffer(value(name)); }
    std::uint64_t offset(const std::string& name) const { return plan.buffer(value(name)).offset; }
    /// Steps of the phase's own block.
    const std::vector<Step>& steps() const { return plan.blocks[kernel.phases[0].block.index]; }
    std::size_t moves() const {
        std::size_t count = 0;
        for (const std::vector<Move>& moves : plan.moves) count += moves.size();
        return count;
    }
};

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("contract (e): a read for one reduction is streamed, also along a whole row and used twice on the way") {
        const Planned planned(R"(
    %a = load %x[%zero :+ 4, %zero :+ 4096] fill %fill : f32[4, 4096]
    %b = exp %a : f32[4, 4096]
    %c = mul %b, %b : f32[4, 4096]
    %d = mul %c, %a : f32[4, 4096]
    %s = reduce sum %d axis 1 : f32[4]
    %r = reshape %s : f32[4, 1]
    store %y[%zero :+ 4, %zero :+ 1], %r
)");
        CHECK(planned.plan.scratch_bytes < 4096);
        CHECK(held_reads(planned.kernel).empty());
    }

    TEST_CASE("contract (e): a read that a store changes before its reduction is held, and said to be") {
        const Planned planned(R"(
    %a = load %z[%zero :+ 4, %zero :+ 64] fill %fill : f32[4, 64]
    store %z[%zero, %zero], %fill
    %p = lt %zero, %n : bool
    %s = if %p : f32[4] {
      %t = reduce sum %a axis 1 : f32[4]
      yield %t
    } else {
      %e = broadcast %fill : f32[4]
      yield %e
    }
    %r = reshape %s : f32[4, 1]
    store %y[%zero :+ 4, %zero :+ 1], %r
)");
        const ir::Shortfalls held = held_reads(planned.kernel);
        REQUIRE(held.size() == 1);
        CHECK(held[0].clause == 'e');
        CHECK(held[0].reason ==
              "this read feeds one reduction and is held whole, in 1024 bytes: write it where it is reduced, "
              "with no write to its tensor between");
    }

    TEST_CASE("an elementwise chain is one nest without buffers") {
        const Planned planned(R"(
    %a = load %x[%zero :+ 4, %zero :+ 32] fill %fill : f32[4, 32]
    %b = add %a, %a : f32[4, 32]
    %c = exp %b : f32[4, 32]
    store %y[%zero :+ 4, %zero :+ 32], %c
)");
        CHECK(planned.plan.nests.size() == 1);
        CHECK(planned.plan.scratch_bytes == 0);
    }

    TEST_CASE("softmax keeps its exponentials and sums them in the loop that makes them") {
        const Planned planned(R"(
    %row = load %x[%zero, %zero :+ 256] fill %fill : f32[256]
    %m = reduce max %row axis 0 : f32
    %mb = broadcast %m : f32[256]
    %d = sub %row, %mb : f32[256]
    %e = exp %d : f32[256]
    %s = reduce sum %e axis 0 : f32
    %sb = broadcast %s : f32[256]
    %r = div %e, %sb : f32[256]
    store %y[%zero, %zero :+ 256], %r
)");
        REQUIRE(planned.plan.nests.size() == 3);
        CHECK(planned.plan.nests[1].roots.size() == 2);
        CHECK(planned.in_buffer("e"));
        CHECK_FALSE(planned.in_buffer("row"));
        CHECK(planned.plan.scratch_bytes == 1024);
    }

    TEST_CASE("a value that only its own nest reads has no buffer") {
        const Planned planned(R"(
    %row = load %x[%zero, %zero :+ 256] fill %fill : f32[256]
    %e = exp %row : f32[256]
    %s = reduce sum %e axis 0 : f32
    %t = reduce max %e axis 0 : f32
    store %y[%zero, %zero], %s
    store %z[%zero, %zero], %t
)");
        CHECK(planned.plan.nests.size() == 1);
        CHECK_FALSE(planned.in_buffer("e"));
        CHECK(planned.plan.scratch_bytes == 0);
    }

    TEST_CASE("a loop of loads and one dot is one call") {
        const Planned planned(R"(
    %step = constant 16 : i64
    %start = broadcast %fill : f32[8, 32]
    %acc = for %k in %zero .. %n by %step carry (%s = %start) : f32[8, 32] {
      %a = load %x[%zero :+ 8, %k :+ 16] fill %fill : f32[8, 16]
      %b = load %x[%k :+ 16, %zero :+ 32] fill %fill : f32[16, 32]
      %d = dot %a, %b, %s : f32[8, 32]
      yield %d
    }
    store %y[%zero :+ 8, %zero :+ 32], %acc
)");
        REQUIRE(planned.steps().size() == 2);
        CHECK(planned.steps()[0].kind == StepKind::SunkDot);
        CHECK(planned.plan.scratch_bytes == 8 * 32 * 4);
    }

    TEST_CASE("a loop whose step leaves gaps is not sunk") {
        const Planned planned(R"(
    %step = constant 32 : i64
    %start = broadcast %fill : f32[8, 32]
    %acc = for %k in %zero .. %n by %step carry (%s = %start) : f32[8, 32] {
      %a = load %x[%zero :+ 8, %k :+ 16] fill %fill : f32[8, 16]
      %b = load %x[%k :+ 16, %zero :+ 32] fill %fill : f32[16, 32]
      %d = dot %a, %b, %s : f32[8, 32]
      yield %d
    }
    store %y[%zero :+ 8, %zero :+ 32], %acc
)");
        CHECK(std::none_of(planned.steps().begin(), planned.steps().end(),
                           [](const Step& step) { return step.kind == StepKind::SunkDot; }));
        CHECK(planned.offset("s") == planned.offset("d"));
    }

    TEST_CASE("a scaled accumulator stays in place") {
        const Planned planned(R"(
    %one = constant 1 : i64
    %start = broadcast %fill : f32[8, 32]
    %acc = for %k in %zero .. %n by %one carry (%s = %start) : f32[8, 32] {
      %a = load %x[%zero :+ 8, %k :+ 16] fill %fill : f32[8, 16]
      %b = load %x[%k :+ 16, %zero :+ 32] fill %fill : f32[16, 32]
      %scaled = add %s, %s : f32[8, 32]
      %d = dot %a, %b, %scaled : f32[8, 32]
      yield %d
    }
    store %y[%zero :+ 8, %zero :+ 32], %acc
)");
        CHECK(planned.offset("scaled") == planned.offset("s"));
        CHECK(planned.offset("d") == planned.offset("s"));
        CHECK(planned.offset("acc") == planned.offset("s"));
        CHECK(planned.moves() == 1);  // the zeros before the loop
    }

    TEST_CASE("values that a loop exchanges go through a temporary") {
        const Planned planned(R"(
    %one = constant 1 : i64
    %a = load %x[%zero, %zero :+ 32] fill %fill : f32[32]
    %b = load %x[%one, %zero :+ 32] fill %fill : f32[32]
    %p, %q = for %k in %zero .. %n by %one carry (%s = %a, %t = %b) : f32[32], f32[32] {
      yield %t, %s
    }
    store %y[%zero, %zero :+ 32], %p
    store %y[%one, %zero :+ 32], %q
)");
        CHECK(planned.offset("s") != planned.offset("t"));
        bool through_temporary = false;
        for (const std::vector<Move>& moves : planned.plan.moves) {
            for (const Move& move : moves) through_temporary = through_temporary || move.temporary != kNoBuffer;
        }
        CHECK(through_temporary);
    }

    TEST_CASE("what a later store overwrites is kept") {
        const Planned planned(R"(
    %one = constant 1 : i64
    %a = load %z[%zero, %zero :+ 32] fill %fill : f32[32]
    store %z[%zero, %one :+ 32], %a
    %b = load %z[%one, %zero :+ 32] fill %fill : f32[32]
    %c = add %b, %b : f32[32]
    store %z[%one, %zero :+ 32], %c
)");
        CHECK(planned.in_buffer("a"));
        CHECK_FALSE(planned.in_buffer("b"));
    }

    TEST_CASE("unit_reshape knows the reshapes that only add or drop axes of length 1") {
        std::vector<int> axes;
        CHECK(unit_reshape({4, 8}, {4, 1, 8}, axes));
        CHECK(axes == std::vector<int>{0, 2});
        CHECK(unit_reshape({1, 4, 1}, {4}, axes));
        CHECK(axes == std::vector<int>{-1, 0, -1});
        CHECK_FALSE(unit_reshape({4, 8}, {8, 4}, axes));
        CHECK_FALSE(unit_reshape({32}, {4, 8}, axes));
    }
}
