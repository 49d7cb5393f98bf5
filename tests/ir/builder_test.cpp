#include "ir/builder.h"

#include <doctest/doctest.h>

#include "ir/support/internal_error.h"
#include "ir_text.h"

using namespace kiln;

namespace {

/// A kernel with one phase, and a builder at its block.
struct Building {
    ir::Kernel kernel;
    ir::Builder builder{kernel, {}};
    ir::ValueId tensor, offset;

    Building() {
        kernel.name = "k";
        tensor = kernel.add_value(ir::Type::tensor(ir::Access::InOut, ir::ScalarType::F32, {ir::kDynamic, 16}), "x");
        kernel.parameters.push_back({"x", tensor});
        kernel.host = kernel.add_block();
        builder.set_block(kernel.host);
        const ir::ValueId zero = builder.constant_int(0);
        const ir::ValueId one = builder.constant_int(1);
        ir::Phase phase{{{"i", zero, one, one}}, kernel.add_block(), {}};
        offset = kernel.add_argument(phase.block, ir::Type::scalar(ir::kInt), "i");
        builder.set_block(phase.block);
        kernel.phases.push_back(phase);
    }

    std::string last() const { return ir::print(kernel, kernel[builder.block()].ops.back()); }
    std::string violations() const {
        std::string text;
        for (const std::string& violation : ir::verify(kernel)) text += violation + "\n";
        return text;
    }
};

}  // namespace

TEST_SUITE("ir") {
    TEST_CASE("builder: result types follow from the operands") {
        Building b;
        const ir::ValueId f = b.builder.constant(ir::Scalar::f32(1));
        const ir::ValueId tile = b.builder.broadcast(f, {4, 8});
        CHECK(b.last() == "%3 = broadcast %2 : f32[4, 8]");
        b.builder.elementwise(ir::OpKind::Less, {tile, tile});
        CHECK(b.last() == "%4 = lt %3, %3 : bool[4, 8]");
        b.builder.permute(tile, {1, 0});
        CHECK(b.last() == "%5 = permute %3 axes [1, 0] : f32[8, 4]");
        b.builder.extract(tile, {0, 2}, {4, 3});
        CHECK(b.last() == "%6 = extract %3 starts [0, 2] : f32[4, 3]");
        b.builder.reduce(ir::ReduceKind::Max, tile, 0);
        CHECK(b.last() == "%7 = reduce max %3 axis 0 : f32[8]");
        b.builder.reduce(ir::ReduceKind::Max, b.builder.broadcast(f, {4}), 0);
        CHECK(b.last() == "%9 = reduce max %8 axis 0 : f32");
        b.builder.convert(ir::OpKind::Convert, tile, ir::ScalarType::F8E4M3);
        CHECK(b.last() == "%10 = convert %3 : f8e4m3[4, 8]");
        b.builder.size(b.tensor, 1);
        CHECK(b.last() == "%11 = size %x axis 1 : i64");
        CHECK(b.violations() == "");
    }

    TEST_CASE("builder: what changes nothing makes no op") {
        Building b;
        const ir::ValueId tile = b.builder.splat(ir::Scalar::f32(1), ir::Type::tile(ir::ScalarType::F32, {4, 8}));
        const std::size_t count = b.kernel.ops.size();
        CHECK(b.builder.broadcast(tile, {4, 8}) == tile);
        CHECK(b.builder.reshape(tile, {4, 8}) == tile);
        CHECK(b.builder.extract(tile, {0, 0}, {4, 8}) == tile);
        CHECK(b.builder.convert(ir::OpKind::Convert, tile, ir::ScalarType::F32) == tile);
        CHECK(b.kernel.ops.size() == count);
        // saturating a float to its own type turns infinities into finite values
        CHECK(b.builder.convert(ir::OpKind::Saturate, tile, ir::ScalarType::F32) != tile);
    }

    TEST_CASE("builder: accesses") {
        Building b;
        using enum ir::AxisKind;
        const ir::ValueId f = b.builder.constant(ir::Scalar::f32(0));
        const ir::ValueId ids = b.builder.iota(8);
        const ir::ValueId rows = b.builder.load(b.tensor, {{{Gather}, {Slice, 4}}, false}, {ids, b.offset}, f, {});
        CHECK(b.kernel.type(rows) == ir::Type::tile(ir::ScalarType::F32, {8, 4}));
        const ir::ValueId scalar = b.builder.load(b.tensor, {{{Index}, {Index}}, false}, {b.offset, b.offset}, f, {});
        CHECK(b.kernel.type(scalar) == ir::Type::scalar(ir::ScalarType::F32));
        const ir::ValueId view = b.builder.view(b.tensor, {{{Range}, {All}}, false}, {b.offset, b.offset});
        CHECK(b.kernel.type(view) == b.kernel.type(b.tensor));
        const ir::ValueId row = b.builder.view(view, {{{Index}, {All}}, false}, {b.offset});
        CHECK(ir::to_string(b.kernel.type(row)) == "inout f32<16>");
        const ir::ValueId mask =
            b.builder.splat(ir::Scalar::boolean(true), ir::Type::tile(ir::ScalarType::Bool, {8, 4}));
        b.builder.store(b.tensor, {{{Gather}, {Slice, 4}}, false}, {ids, b.offset}, rows, mask);
        CHECK(b.last().find(" mask ") != std::string::npos);
        CHECK(b.violations() == "");
    }

    TEST_CASE("builder: loops and branches") {
        Building b;
        const ir::BlockId phase = b.builder.block();
        const ir::ValueId one = b.builder.constant_int(1);
        const ir::OpId loop = b.builder.for_loop(b.offset, one, one, {one});
        b.builder.set_block(b.kernel[loop].blocks[0]);
        CHECK(b.kernel[b.kernel[loop].blocks[0]].arguments.size() == 2);
        b.builder.yield({b.kernel[b.builder.block()].arguments[0]});
        b.builder.set_block(phase);
        const ir::OpId repeat = b.builder.while_loop({one});
        b.builder.set_block(b.kernel[repeat].blocks[0]);
        const ir::ValueId carried = b.kernel[b.builder.block()].arguments[0];
        b.builder.yield({b.builder.elementwise(ir::OpKind::Less, {carried, one}), carried});
        b.builder.set_block(b.kernel[repeat].blocks[1]);
        b.builder.yield({b.kernel[b.builder.block()].arguments[0]});
        b.builder.set_block(phase);
        const ir::ValueId condition = b.builder.constant(ir::Scalar::boolean(true));
        const ir::OpId branch = b.builder.if_else(condition, {ir::Type::scalar(ir::kInt)});
        for (const ir::BlockId block : std::vector<ir::BlockId>(b.kernel[branch].blocks)) {
            b.builder.set_block(block);
            b.builder.yield({one});
        }
        CHECK(b.violations() == "");
    }

    TEST_CASE("builder: spans are those of the builder") {
        Building b;
        b.builder.set_span({0, 3, 9});
        b.builder.constant_int(1);
        CHECK(b.kernel[b.kernel[b.builder.block()].ops.back()].span == support::Span{0, 3, 9});
    }

    TEST_CASE("builder: ops that state their own result are no elementwise call") {
        Building b;
        CHECK_THROWS_AS(b.builder.elementwise(ir::OpKind::Convert, {b.offset}), support::InternalError);
    }

    TEST_CASE("builder: dot accumulates by the table of the language") {
        using enum ir::ScalarType;
        CHECK(ir::dot_accumulator(F16, F16) == F32);
        CHECK(ir::dot_accumulator(BF16, BF16) == F32);
        CHECK(ir::dot_accumulator(F32, F32) == F32);
        CHECK(ir::dot_accumulator(F64, F64) == F64);
        CHECK(ir::dot_accumulator(F8E4M3, F8E5M2) == F32);
        CHECK(ir::dot_accumulator(F4E2M1, F4E2M1) == F32);
        CHECK(ir::dot_accumulator(I8, U4) == I32);
        CHECK(ir::dot_accumulator(F16, BF16) == std::nullopt);
        CHECK(ir::dot_accumulator(I32, I32) == std::nullopt);
        CHECK(ir::dot_accumulator(F8E8M0, F8E8M0) == std::nullopt);
    }
}
