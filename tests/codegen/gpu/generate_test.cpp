// What the passes make of small kernels: layouts, forms of tiles, integer widths, and the text in the places that
// matter.
#include <doctest/doctest.h>

#include "../../ir/ir_text.h"
#include "codegen/gpu/lower/assign_layouts.h"
#include "codegen/gpu/lower/narrow_integers.h"
#include "codegen/gpu/source.h"

using namespace kiln;
using namespace kiln::codegen::gpu;
using kiln::test::kernel_of;

namespace {

/// A kernel over x: in f32<M, N>, y: out f32<M, N> whose phase is the text.
std::string matrix_kernel(const std::string& body, const std::string& freedoms = "fits_32_bits",
                          const std::string& facts = "unit 1 align 16") {
    return "kernel @k(%x: in f32<?, ?> " + facts + ", %y: inout f32<?, ?> " + facts + ") " + freedoms +
           " {\n  size %M = extent(%x, 0)\n  size %N = extent(%x, 1) divisor 64\n  check extent(%y, 0) = %M\n"
           "  check extent(%y, 1) = %N\n  host {\n    %0 = constant 0 : i64\n    %s = constant 64 : i64\n  }\n"
           "  phase (%i in %0 .. %M by %s, %j in %0 .. %N by %s) {\n    %z = constant 0 : f32\n" +
           body + "  }\n}\n";
}

const Target& sm_80() {
    return *find_target("sm_80").target;
}

ir::ValueId value(const ir::Kernel& kernel, const std::string& name) {
    for (std::size_t i = 0; i < kernel.values.size(); ++i) {
        if (kernel.values[i].name == name) return {static_cast<std::uint32_t>(i)};
    }
    FAIL("no value " << name);
    return {};
}

std::string text_of(const std::string& kernel, const Target& target = sm_80()) {
    const Generated generated = generate(kernel_of(kernel), target);
    REQUIRE_MESSAGE(generated.refusals.empty(), generated.refusals.front().message);
    const std::string& text = generated.source.text;
    return text.substr(text.find("extern \"C\""));
}
std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
}

/// The passes up to the layouts.
struct Layouts {
    ir::Kernel kernel;
    ir::Facts facts;
    TileValues values;
    TensorFacts tensors;
    TileLayouts layouts;

    explicit Layouts(const std::string& text, int warps = 4)
        : kernel(kernel_of(text)),
          facts(kernel),
          values(kernel, kernel.phases[0].block),
          tensors(kernel, facts, kernel.phases[0]),
          layouts(assign_layouts(kernel, kernel.phases[0], values, tensors, *find_target("sm_80").target, warps)) {}

    const Layout& of(const std::string& name) const { return layouts[value(kernel, name)]; }
    TileForm form(const std::string& name) const { return values[value(kernel, name)]; }
};

const std::string kCopy =
    "    %t = load %x[%i :+ 64, %j :+ 64] fill %z : f32[64, 64]\n    store %y[%i :+ 64, %j :+ 64], %t\n";

}  // namespace

TEST_SUITE("ir") {
    TEST_CASE("gpu: index arithmetic and masks are free, broadcasts and permutes are views, loads are kept") {
        const Layouts all(
            matrix_kernel("    %t = load %x[%i :+ 64, %j :+ 64] fill %z : f32[64, 64]\n"
                          "    %iota = iota : i64[64]\n"
                          "    %at = broadcast %i : i64[64]\n"
                          "    %rows = add %at, %iota : i64[64]\n"
                          "    %turned = permute %t axes [1, 0] : f32[64, 64]\n"
                          "    %part = extract %t starts [0, 8] : f32[64, 8]\n"
                          "    %sum = reduce sum %t axis 1 : f32[64]\n"
                          "    %column = reshape %sum : f32[64, 1]\n"
                          "    %wide = broadcast %column : f32[64, 64]\n"
                          "    %d = sub %t, %wide : f32[64, 64]\n"
                          "    store %y[%i :+ 64, %j :+ 64], %d\n"));
        CHECK(all.form("t") == TileForm::Kept);
        CHECK(all.form("rows") == TileForm::Free);
        CHECK(all.form("turned") == TileForm::View);
        CHECK(all.form("part") == TileForm::Part);
        CHECK(all.form("wide") == TileForm::View);
        CHECK(all.form("d") == TileForm::Kept);
        CHECK(all.of("d") == all.of("t"));
        // The sums of rows lie where the rows do: nothing moves for the broadcast.
        const auto left = reduce(all.of("t"), 1);
        REQUIRE(left.has_value());
        CHECK(all.of("sum") == *reshape(left->result, ir::Shape{64}));
    }

    TEST_CASE("gpu: vectors of a layout follow the facts of memory") {
        CHECK(to_string(Layouts(matrix_kernel(kCopy)).of("t")) ==
              to_string(coalesced(ir::Shape{64, 64}, 4, 32, 4, {1, 0})));
        const std::string loose = matrix_kernel(kCopy, "fits_32_bits", "unit 1 align 4");
        CHECK(to_string(Layouts(loose).of("t")) == to_string(coalesced(ir::Shape{64, 64}, 1, 32, 4, {1, 0})));
        const std::string turned = matrix_kernel(kCopy, "fits_32_bits", "unit 0 align 16");
        CHECK(to_string(Layouts(turned).of("t")) == to_string(coalesced(ir::Shape{64, 64}, 4, 32, 4, {0, 1})));
    }

    TEST_CASE("gpu: a product's layout covers its tile and gives every thread a block") {
        for (const ir::Shape& shape :
             {ir::Shape{64, 64}, ir::Shape{128, 128}, ir::Shape{16, 80}, ir::Shape{1, 64}, ir::Shape{33, 7}}) {
            for (const bool by_rows : {false, true}) {
                CAPTURE(ir::to_string(shape));
                const Layout layout = product_layout(shape, 32, 4, by_rows);
                verify(layout);
                CHECK(layout.registers() * 128 >= shape.count());
            }
        }
        CHECK(product_layout(ir::Shape{128, 128}, 32, 8, false).registers() == 64);
    }

    TEST_CASE("gpu: a scan's layout gives a thread consecutive elements") {
        for (const ir::Shape& shape : {ir::Shape{1000}, ir::Shape{4, 70}, ir::Shape{70, 32}, ir::Shape{1, 5}}) {
            for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
                const Layout layout = scan_layout(shape, axis, 32, 4);
                verify(layout);
            }
        }
    }

    TEST_CASE("gpu: integers that fit are 32 bits wide") {
        const ir::Kernel kernel = kernel_of(matrix_kernel(kCopy));
        const ir::Facts facts(kernel);
        const auto stored = narrow_integers(kernel, facts);
        CHECK(stored[value(kernel, "i").index] == ir::ScalarType::I32);
        const ir::Kernel wide = kernel_of(matrix_kernel(kCopy, ""));
        CHECK(narrow_integers(wide, ir::Facts(wide))[value(wide, "i").index] == ir::ScalarType::I64);
    }
}

TEST_SUITE("unit") {
    TEST_CASE("gpu: a proven edge costs nothing, an open one is a test for the whole tile") {
        // N is a multiple of 64, M is not known to be.
        const std::string text = text_of(matrix_kernel(kCopy));
        CHECK(count(text, "kiln_pack<float, 4>*)") == 2);
        CHECK(text.find("<= x_") != std::string::npos);
        CHECK(count(text, "else {") == 2);
        CHECK(text.find("kiln_barrier") == std::string::npos);
        CHECK(text.find("shared_memory") == std::string::npos);
    }

    TEST_CASE("gpu: a tensor that is read and written by other threads needs a barrier") {
        const std::string text = text_of(matrix_kernel(
            "    %t = load %y[%i :+ 64, %j :+ 64] fill %z : f32[64, 64]\n    store %y[%i :+ 64, %j :+ 64], %t\n"));
        CHECK(count(text, "kiln_barrier();") == 1);
    }

    TEST_CASE("gpu: sizes and indices are 64 bits wide unless arguments are proven small, strides always") {
        const std::string small = text_of(matrix_kernel(kCopy));
        CHECK(small.find("_size0 = (int)parameters.") != std::string::npos);
        CHECK(small.find("const unsigned first") != std::string::npos);
        CHECK(small.find("_stride0 = parameters.") != std::string::npos);
        const std::string wide = text_of(matrix_kernel(kCopy, ""));
        CHECK(wide.find("_size0 = parameters.") != std::string::npos);
        CHECK(wide.find("const unsigned long long first") != std::string::npos);
    }

    TEST_CASE("gpu: a tile beyond shared memory or registers is refused with need, limit and remedy") {
        const Generated big =
            generate(kernel_of(matrix_kernel("    %c = broadcast %z : f32[512, 512]\n"
                                             "    %a = load %x[%i :+ 512, %j :+ 256] fill %z : f32[512, 256]\n"
                                             "    %b = load %x[%i :+ 256, %j :+ 512] fill %z : f32[256, 512]\n"
                                             "    %d = dot %a, %b, %c : f32[512, 512]\n"
                                             "    store %y[%i :+ 512, %j :+ 512], %d\n")),
                     sm_80());
        REQUIRE(big.refusals.size() == 1);
        CHECK(big.source.text.empty());
        CHECK(big.refusals[0].message.find("sm_80 has") != std::string::npos);
        CHECK(big.refusals[0].message.find("smaller tiles fit") != std::string::npos);
    }

    TEST_CASE(
        "gpu: operands of a loop's product come ahead through as many slots as the schedule says and memory allows") {
        const auto product = [](int stages, const std::string& facts = "unit 1 align 16") {
            return matrix_kernel(
                "    %n = constant 0 : i64\n    %l = constant 32 : i64\n"
                "    %c = broadcast %z : f32[64, 64]\n"
                "    %sum = for %k in %n .. %N by %l carry (%t = %c) : f32[64, 64] {\n"
                "      %a = load %x[%i :+ 64, %k :+ 32] fill %z : f32[64, 32]\n"
                "      %b = load %x[%k :+ 32, %j :+ 64] fill %z : f32[32, 64]\n"
                "      %d = dot %a, %b, %t : f32[64, 64]\n      yield %d\n    }\n"
                "    store %y[%i :+ 64, %j :+ 64], %sum\n",
                "fits_32_bits schedule (stages = " + std::to_string(stages) + ")", facts);
        };
        const std::string three = text_of(product(3));
        CHECK(count(three, "kiln_commit_copies();") == 3);  // two before the loop
        CHECK(count(three, "kiln_wait_copies<1>();") == 1);
        CHECK(count(three, "kiln_shared_barrier();") == 1);
        CHECK(three.find("% 3u") != std::string::npos);
        const std::string one = text_of(product(1));
        CHECK(count(one, "kiln_wait_copies<0>();") == 1);
        CHECK(count(one, "kiln_shared_barrier();") == 2);
        CHECK(one.find("% 1u") == std::string::npos);
        // A slot takes 16 KB and more; a block has 163.
        CHECK(text_of(product(8)).find("% 8u") != std::string::npos);
        CHECK(text_of(product(8), *find_target("sm_86").target).find("% 8u") == std::string::npos);
        // What has no run to copy, and what has no asynchronous copies, passes the registers, through two slots at
        // most.
        const std::string loose = text_of(product(3, "unit 0 align 4"));
        CHECK(loose.find("kiln_copy_async") == std::string::npos);
        CHECK(count(loose, "kiln_shared_barrier();") == 1);
        CHECK(loose.find("% 2u") != std::string::npos);
        const std::string amd = text_of(product(3), *find_target("gfx90a").target);
        CHECK(amd.find("kiln_copy_async") == std::string::npos);
        CHECK(amd.find("% 2u") != std::string::npos);
    }

    TEST_CASE("gpu: each phase is a kernel of its own, named after the kernel") {
        const Generated generated = generate(kernel_of(matrix_kernel(kCopy)), sm_80());
        REQUIRE(generated.source.phases.size() == 1);
        CHECK(generated.source.phases[0].symbol == "kiln_k_0");
        CHECK(generated.source.phases[0].threads % 32 == 0);
        CHECK(generated.source.phases[0].values.size() == 2);
    }
}
