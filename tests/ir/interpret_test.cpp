#include "ir/interpret.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "ir/semantics.h"

namespace {

using namespace kiln::ir;
using enum ScalarType;

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

/// A kernel in the making: parameters by name, and a builder in the block of its only phase.
struct KernelMaker {
    Kernel kernel;
    Builder host{kernel, {}};
    Builder body{kernel, {}};

    KernelMaker() {
        kernel.name = "test";
        kernel.host = kernel.add_block();
        host.set_block(kernel.host);
    }

    ValueId tensor(const std::string& name, Access access, ScalarType element, std::size_t rank) {
        Shape shape;
        for (std::size_t axis = 0; axis < rank; ++axis) shape.push_back(kDynamic);
        return parameter(name, Type::tensor(access, element, shape));
    }
    ValueId parameter(const std::string& name, Type type) {
        const ValueId value = kernel.add_value(type, name);
        kernel.parameters.push_back({name, value});
        return value;
    }
    ValueId size(const std::string& name, std::uint32_t parameter, std::uint32_t axis) {
        const ValueId value = kernel.add_value(Type::scalar(kInt), name);
        kernel.sizes.push_back({name, value, parameter, axis});
        return value;
    }
    /// Begins a phase whose axes run over [0, upper) by step; returns the offsets.
    std::vector<ValueId> phase(const std::vector<std::pair<ValueId, std::int64_t>>& axes) {
        Phase phase;
        phase.block = kernel.add_block();
        std::vector<ValueId> offsets;
        for (const auto& [upper, step] : axes) {
            phase.axes.push_back({"i", host.constant_int(0), upper, host.constant_int(step)});
            offsets.push_back(kernel.add_argument(phase.block, Type::scalar(kInt)));
        }
        kernel.phases.push_back(phase);
        body.set_block(phase.block);
        return offsets;
    }
    /// A phase of one program.
    void single_program() { phase({}); }

    ValueId zero(ScalarType element) { return body.constant({element, 0}); }
    ValueId load(ValueId tensor, std::vector<AxisAccess> axes, std::vector<ValueId> operands) {
        return body.load(tensor, {std::move(axes)}, std::move(operands), zero(kernel.type(tensor).element), {});
    }
    void store(ValueId tensor, std::vector<AxisAccess> axes, std::vector<ValueId> operands, ValueId value) {
        body.store(tensor, {std::move(axes)}, std::move(operands), value, {});
    }
};

AxisAccess slice(std::int64_t length) {
    return {AxisKind::Slice, length};
}
constexpr AxisAccess kIndex{AxisKind::Index, 0};
constexpr AxisAccess kGather{AxisKind::Gather, 0};
constexpr AxisAccess kRange{AxisKind::Range, 0};
constexpr AxisAccess kAll{AxisKind::All, 0};

template <class T>
TensorView dense(ScalarType element, std::vector<T>& data, Shape sizes) {
    Shape strides = sizes;
    std::int64_t stride = 1;
    for (std::size_t axis = sizes.rank(); axis-- > 0;) {
        strides[axis] = stride;
        stride *= sizes[axis];
    }
    return {element, reinterpret_cast<std::byte*>(data.data()), sizes, strides};
}

void run(const Kernel& kernel, const std::vector<Argument>& arguments) {
    const LaunchErrors errors = interpret(kernel, arguments);
    for (const std::string& message : errors.messages) FAIL(message);
}

/// Stores the tile that `make` builds from `x: in element[N]` into `y: out`, both of any length.
template <class T, class U, class Make>
std::vector<U> through(ScalarType from, std::vector<T> input, ScalarType to, std::size_t length, Make make) {
    KernelMaker maker;
    const ValueId x = maker.tensor("x", Access::In, from, 1);
    const ValueId y = maker.tensor("y", Access::Out, to, 1);
    maker.single_program();
    const ValueId result = make(maker, x);
    const ValueId start = maker.body.constant_int(0);
    const auto count = static_cast<std::int64_t>(length);
    maker.store(y, {slice(count)}, {start}, maker.body.reshape(result, {count}));
    std::vector<U> output(length);
    const auto size = static_cast<std::int64_t>(input.size());
    run(maker.kernel, {dense(from, input, {size}), dense(to, output, {count})});
    return output;
}

ValueId whole_tile(KernelMaker& maker, ValueId tensor, const Shape& shape) {
    const ValueId flat = maker.load(tensor, {slice(shape.count())}, {maker.body.constant_int(0)});
    return maker.body.reshape(flat, shape);
}

/// One kernel c = a @ b with tiles of 4 x 3 and steps of 5, over any sizes and strides.
Kernel matmul_kernel(ScalarType element, ScalarType accumulator) {
    KernelMaker maker;
    const ValueId a = maker.tensor("a", Access::In, element, 2);
    const ValueId b = maker.tensor("b", Access::In, element, 2);
    const ValueId c = maker.tensor("c", Access::Out, accumulator, 2);
    const ValueId m = maker.size("M", 0, 0), k = maker.size("K", 0, 1), n = maker.size("N", 1, 1);
    const std::vector<ValueId> at = maker.phase({{m, 4}, {n, 3}});
    Builder& body = maker.body;
    const ValueId zero = body.splat({accumulator, 0}, Type::tile(accumulator, {4, 3}));
    const OpId loop = body.for_loop(body.constant_int(0), k, body.constant_int(5), {zero});
    const BlockId outer = body.block();
    const BlockId inside = maker.kernel[loop].blocks[0];
    body.set_block(inside);
    const ValueId depth = maker.kernel[inside].arguments[0];
    const ValueId left = maker.load(a, {slice(4), slice(5)}, {at[0], depth});
    const ValueId right = maker.load(b, {slice(5), slice(3)}, {depth, at[1]});
    body.yield({body.dot(left, right, maker.kernel[inside].arguments[1], DotPrecision::Default)});
    body.set_block(outer);
    maker.store(c, {slice(4), slice(3)}, at, maker.kernel[loop].result());
    return maker.kernel;
}

/// Runs a loop from lower to upper by step that counts its iterations and swaps two tiles in each.
std::vector<std::int64_t> swap_loop(std::int64_t lower, std::int64_t upper, std::int64_t step) {
    return through<std::int64_t, std::int64_t>(I64, {lower, upper, step}, I64, 4, [](KernelMaker& maker, ValueId x) {
        Builder& body = maker.body;
        Kernel& kernel = maker.kernel;
        const auto bound = [&](std::int64_t k) { return maker.load(x, {kIndex}, {body.constant_int(k)}); };
        const Type pair = Type::tile(kInt, {4});
        const ValueId a = body.splat(Scalar::int64(10), pair), b = body.splat(Scalar::int64(20), pair);
        const OpId loop =
            body.for_loop(bound(0), bound(1), bound(2), {a, b, body.constant_int(0), body.constant_int(-1)});
        const BlockId before = body.block(), inside = kernel[loop].blocks[0];
        body.set_block(inside);
        const std::vector<ValueId> now = kernel[inside].arguments;
        const ValueId count = body.elementwise(OpKind::Add, {now[3], body.constant_int(1)});
        body.yield({now[2], now[1], count, now[0]});
        body.set_block(before);
        const auto& results = kernel[loop].results;
        const ValueId places = body.iota(4);
        ValueId value = results[0];
        const std::vector<ValueId> others{results[1], body.broadcast(results[2], {4}), body.broadcast(results[3], {4})};
        for (std::size_t i = 0; i < others.size(); ++i) {
            const ValueId here = body.splat(Scalar::int64(static_cast<std::int64_t>(i) + 1), pair);
            value =
                body.elementwise(OpKind::Select, {body.elementwise(OpKind::Equal, {places, here}), others[i], value});
        }
        return value;
    });
}

}  // namespace

TEST_SUITE("ir") {
    TEST_CASE("the interpreter adds vectors with a ragged edge") {
        KernelMaker maker;
        const ValueId x = maker.tensor("x", Access::In, F32, 1);
        const ValueId y = maker.tensor("y", Access::In, F32, 1);
        const ValueId z = maker.tensor("z", Access::Out, F32, 1);
        const ValueId n = maker.size("N", 0, 0);
        const std::vector<ValueId> at = maker.phase({{n, 4}});
        const ValueId sum =
            maker.body.elementwise(OpKind::Add, {maker.load(x, {slice(4)}, at), maker.load(y, {slice(4)}, at)});
        maker.store(z, {slice(4)}, at, sum);

        for (const std::int64_t length : {0, 1, 3, 4, 5, 11}) {
            const auto count = static_cast<std::size_t>(length);
            std::vector<float> a(count), b(count), c(count + 4, -1);
            for (std::size_t i = 0; i < count; ++i) a[i] = static_cast<float>(i), b[i] = 100;
            run(maker.kernel, {dense(F32, a, {length}), dense(F32, b, {length}), dense(F32, c, {length})});
            for (std::size_t i = 0; i < count; ++i) CHECK(c[i] == static_cast<float>(i) + 100);
            for (std::size_t i = count; i < c.size(); ++i) CHECK(c[i] == -1);
        }
    }

    TEST_CASE("the interpreter multiplies matrices with dot in a loop") {
        const Kernel kernel = matmul_kernel(F32, F32);
        for (const std::int64_t depth : {0, 1, 5, 7, 13}) {
            const std::int64_t rows = 6, columns = 7;
            std::vector<float> a(static_cast<std::size_t>(rows * depth)), b(static_cast<std::size_t>(depth * columns));
            std::vector<float> c(static_cast<std::size_t>(rows * columns), -1);
            for (std::size_t i = 0; i < a.size(); ++i) a[i] = 0.1f * static_cast<float>(i % 11) - 0.3f;
            for (std::size_t i = 0; i < b.size(); ++i) b[i] = 0.7f - 0.2f * static_cast<float>(i % 7);
            TensorView transposed = dense(F32, b, {depth, columns});  // the same memory, read as columns of b'
            transposed.strides = Shape{1, depth};
            run(kernel, {dense(F32, a, {rows, depth}), transposed, dense(F32, c, {rows, columns})});
            for (std::int64_t i = 0; i < rows; ++i) {
                for (std::int64_t j = 0; j < columns; ++j) {
                    float sum = 0;
                    for (std::int64_t k = 0; k < depth; ++k) {
                        const float product =
                            a[static_cast<std::size_t>(i * depth + k)] * b[static_cast<std::size_t>(j * depth + k)];
                        sum += product;
                    }
                    CHECK(c[static_cast<std::size_t>(i * columns + j)] == sum);
                }
            }
        }
    }

    TEST_CASE("dot of small integers wraps in i32") {
        const Kernel kernel = matmul_kernel(I8, I32);
        std::vector<std::int8_t> a{-128, -128, 127}, b{-128, 127, 2};
        std::vector<std::int32_t> c(1);
        run(kernel, {dense(I8, a, {1, 3}), dense(I8, b, {3, 1}), dense(I32, c, {1, 1})});
        CHECK(c[0] == 16384 - 16256 + 254);
    }

    TEST_CASE("dot rounds products unless they are to be exact") {
        const float x = 1 + std::ldexp(1.0f, -12);  // squared: 1 + 2^-11 + 2^-24, a tie of f32
        for (const bool exact : {false, true}) {
            const auto result = through<float, float>(F32, {x}, F32, 1, [&](KernelMaker& maker, ValueId tensor) {
                const ValueId tile = whole_tile(maker, tensor, {1, 1});
                const ValueId start = maker.body.splat(Scalar::f32(-1), Type::tile(F32, {1, 1}));
                return maker.body.dot(tile, tile, start, exact ? DotPrecision::Exact : DotPrecision::Default);
            });
            CHECK(result[0] == std::ldexp(1.0f, -11) + (exact ? std::ldexp(1.0f, -24) : 0.0f));
        }
    }

    TEST_CASE("sums of bf16 are carried in f32 and rounded once") {
        // 256 + 1 + 1 + 1 + 1: one by one in bf16 it would stay 256.
        const std::vector<std::uint16_t> input{0x4380, 0x3f80, 0x3f80, 0x3f80, 0x3f80};
        const auto sum = through<std::uint16_t, std::uint16_t>(BF16, input, BF16, 1, [](KernelMaker& maker, ValueId x) {
            return maker.body.reduce(ReduceKind::Sum, whole_tile(maker, x, {5}), 0);
        });
        CHECK(sum[0] == round_to(BF16, 260).bits);
    }

    TEST_CASE("reductions along each axis") {
        const std::vector<std::int32_t> input{3, -1, 4, 1, 5, -9, 2, 6};
        const auto reduced = [&](ReduceKind kind, std::uint32_t axis, std::size_t length) {
            return through<std::int32_t, std::int32_t>(I32, input, I32, length, [&](KernelMaker& maker, ValueId x) {
                return maker.body.reduce(kind, whole_tile(maker, x, {2, 2, 2}), axis);
            });
        };
        using Numbers = std::vector<std::int32_t>;
        CHECK(reduced(ReduceKind::Sum, 0, 4) == Numbers{8, -10, 6, 7});
        CHECK(reduced(ReduceKind::Sum, 1, 4) == Numbers{7, 0, 7, -3});
        CHECK(reduced(ReduceKind::Max, 2, 4) == Numbers{3, 4, 5, 6});
        CHECK(reduced(ReduceKind::Min, 2, 4) == Numbers{-1, 1, -9, 2});
        const float nan = std::numeric_limits<float>::quiet_NaN();
        const auto extreme = [](ReduceKind kind, std::vector<float> values) {
            const auto length = static_cast<std::int64_t>(values.size());
            return through<float, float>(F32, values, F32, 1, [&](KernelMaker& maker, ValueId x) {
                return maker.body.reduce(kind, whole_tile(maker, x, {length}), 0);
            })[0];
        };
        CHECK(extreme(ReduceKind::Max, {nan, -3, nan}) == -3);
        CHECK(std::isnan(extreme(ReduceKind::Maximum, {1, nan, 2})));
        CHECK(std::isnan(extreme(ReduceKind::Min, {nan, nan})));
        CHECK(extreme(ReduceKind::Min, {HUGE_VALF, HUGE_VALF}) == HUGE_VALF);
    }

    TEST_CASE("every element takes part in a reduction once") {
        for (const std::int64_t place : {0, 1, 31, 575}) {
            std::vector<float> input(576, 0);
            input[static_cast<std::size_t>(place)] = -5;
            const auto result = through<float, float>(F32, input, F32, 1, [](KernelMaker& maker, ValueId x) {
                const ValueId tile = whole_tile(maker, x, {576});
                return maker.body.reduce(ReduceKind::Max, maker.body.elementwise(OpKind::Abs, {tile}), 0);
            });
            CHECK(result[0] == 5);
        }
    }

    TEST_CASE("shape ops move elements in row-major order") {
        const std::vector<std::uint8_t> input{0, 1, 2, 3, 4, 5};
        const auto moved = [&](std::size_t length, auto make) {
            return through<std::uint8_t, std::uint8_t>(U8, input, U8, length, make);
        };
        using Bytes = std::vector<std::uint8_t>;
        CHECK(moved(6, [](KernelMaker& m, ValueId x) {
                  return m.body.permute(whole_tile(m, x, {2, 3}), {1, 0});
              }) == Bytes{0, 3, 1, 4, 2, 5});
        CHECK(moved(6, [](KernelMaker& m, ValueId x) {
                  return m.body.permute(whole_tile(m, x, {1, 2, 3}), {2, 0, 1});
              }) == Bytes{0, 3, 1, 4, 2, 5});
        CHECK(moved(12, [](KernelMaker& m, ValueId x) {
                  return m.body.broadcast(whole_tile(m, x, {2, 1, 3}), {2, 2, 3});
              }) == Bytes{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
        CHECK(moved(12, [](KernelMaker& m, ValueId x) {
                  return m.body.broadcast(whole_tile(m, x, {6, 1}), {6, 2});
              }) == Bytes{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5});
        CHECK(moved(2, [](KernelMaker& m, ValueId x) {
                  return m.body.extract(whole_tile(m, x, {2, 3}), {0, 1}, {2, 1});
              }) == Bytes{1, 4});
    }

    TEST_CASE("iota, select and conversions on tiles") {
        const auto result =
            through<float, std::int8_t>(F32, {-1.5f, 300, 2, -7}, I8, 4, [](KernelMaker& maker, ValueId x) {
                Builder& body = maker.body;
                const ValueId numbers = body.convert(OpKind::Convert, whole_tile(maker, x, {4}), I8);
                const ValueId places = body.iota(4);
                const ValueId early =
                    body.elementwise(OpKind::Less, {places, body.splat(Scalar::int64(3), Type::tile(kInt, {4}))});
                const ValueId other = body.convert(OpKind::Convert, places, I8);
                return body.elementwise(OpKind::Select, {early, numbers, other});
            });
        CHECK(result == std::vector<std::int8_t>{-1, 127, 2, 3});
    }

    TEST_CASE("elements outside the tensor and the mask read as fill and are not written") {
        KernelMaker maker;
        const ValueId x = maker.tensor("x", Access::In, I16, 2);
        const ValueId y = maker.tensor("y", Access::Out, I16, 2);
        const ValueId start = maker.parameter("start", Type::scalar(kInt));
        maker.single_program();
        Builder& body = maker.body;
        const ValueId fill = body.constant(Scalar::integer(I16, -1));
        const ValueId columns = body.broadcast(body.reshape(body.iota(3), {1, 3}), {2, 3});
        const ValueId mask =
            body.elementwise(OpKind::NotEqual, {columns, body.splat(Scalar::int64(1), Type::tile(kInt, {2, 3}))});
        const AccessAttribute access{{slice(2), slice(3)}};
        const ValueId zero = body.constant_int(0);
        const ValueId tile = body.load(x, access, {start, zero}, fill, mask);
        body.store(y, access, {zero, start}, tile, mask);

        std::vector<std::int16_t> in{1, 2, 3, 4, 5, 6, 7, 8, 9};
        const auto result = [&](std::int64_t from) {
            std::vector<std::int16_t> out(9, 0);
            run(maker.kernel, {dense(I16, in, {3, 3}), dense(I16, out, {3, 3}), Scalar::int64(from)});
            return out;
        };
        using Numbers = std::vector<std::int16_t>;
        CHECK(result(0) == Numbers{1, 0, 3, 4, 0, 6, 0, 0, 0});
        CHECK(result(2) == Numbers{0, 0, 7, 0, 0, -1, 0, 0, 0});
        CHECK(result(-1) == Numbers{0, -1, 0, 0, 3, 0, 0, 0, 0});
        CHECK(result(kHuge) == Numbers(9, 0));
        CHECK(result(-kHuge - 1) == Numbers(9, 0));
    }

    TEST_CASE("gathers match their index tiles elementwise, wherever their axes stand") {
        KernelMaker maker;
        const ValueId x = maker.tensor("x", Access::In, I32, 3);
        const ValueId id = maker.tensor("id", Access::In, I32, 1);
        const ValueId y = maker.tensor("y", Access::Out, I32, 2);
        maker.single_program();
        const ValueId zero = maker.body.constant_int(0);
        const ValueId rows = maker.load(id, {slice(4)}, {zero});
        const ValueId tile = maker.load(x, {kGather, slice(2), kGather}, {rows, zero, maker.body.iota(4)});
        maker.store(y, {slice(4), slice(2)}, {zero, zero}, tile);
        std::vector<std::int32_t> in(18), ids{2, -1, 0, 1}, out(8, -7);
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::int32_t>(i);
        run(maker.kernel, {dense(I32, in, {3, 2, 3}), dense(I32, ids, {4}), dense(I32, out, {4, 2})});
        // Row -1 and column 3 are outside; the other index of the pair does not bring them back.
        CHECK(out == std::vector<std::int32_t>{12, 15, 0, 0, 2, 5, 0, 0});
    }

    TEST_CASE("any and all reduce bools") {
        const auto reduced = [](ReduceKind kind) {
            return through<std::uint8_t, std::uint8_t>(
                Bool, {0, 1, 1, 1, 0, 0}, Bool, 3, [&](KernelMaker& maker, ValueId x) {
                    return maker.body.reduce(kind, whole_tile(maker, x, {3, 2}), 1);
                });
        };
        CHECK(reduced(ReduceKind::Any) == std::vector<std::uint8_t>{1, 1, 0});
        CHECK(reduced(ReduceKind::All) == std::vector<std::uint8_t>{0, 1, 0});
    }

    TEST_CASE("a part of a phase's programs can be run") {
        KernelMaker maker;
        const ValueId y = maker.tensor("y", Access::Out, I64, 2);
        const ValueId m = maker.size("M", 0, 0), n = maker.size("N", 0, 1);
        const std::vector<ValueId> at = maker.phase({{m, 1}, {n, 2}});
        maker.store(y, {kIndex, kIndex}, at, at[1]);
        std::vector<std::int64_t> out(6, -1);
        const std::vector<Argument> arguments{dense(I64, out, {2, 3})};
        const auto launch = std::get<Launch>(prepare_launch(maker.kernel, arguments, 1));
        CHECK(launch.programs(0) == 4);
        interpret_phase(maker.kernel, launch, arguments, {}, 0, 1, 3);
        CHECK(out == std::vector<std::int64_t>{-1, -1, 2, 0, -1, -1});
    }

    TEST_CASE("a scatter writes the elements that are inside") {
        KernelMaker maker;
        const ValueId id = maker.tensor("id", Access::In, U64, 1);
        const ValueId y = maker.tensor("y", Access::Out, F64, 1);
        maker.single_program();
        const ValueId zero = maker.body.constant_int(0);
        const ValueId places = maker.load(id, {slice(4)}, {zero});
        maker.store(y, {kGather}, {places}, maker.body.convert(OpKind::Convert, maker.body.iota(4), F64));
        std::vector<std::uint64_t> ids{3, ~std::uint64_t{0}, 0, std::uint64_t{1} << 63};
        std::vector<double> out(5, -1);
        run(maker.kernel, {dense(U64, ids, {4}), dense(F64, out, {5})});
        CHECK(out == std::vector<double>{2, -1, -1, 0, -1});
    }

    TEST_CASE("views clamp to their tensor and clip at their own bounds") {
        KernelMaker maker;
        const ValueId x = maker.tensor("x", Access::In, I32, 2);
        const ValueId y = maker.tensor("y", Access::Out, I32, 1);
        const ValueId bounds = maker.tensor("bounds", Access::In, I64, 1);
        const ValueId sizes = maker.tensor("sizes", Access::Out, I64, 1);
        maker.single_program();
        Builder& body = maker.body;
        const auto bound = [&](std::int64_t k) { return maker.load(bounds, {kIndex}, {body.constant_int(k)}); };
        const ValueId part = body.view(x, {{kRange, kAll}}, {bound(0), bound(1)});
        const ValueId row = body.view(part, {{kIndex, kRange}}, {bound(2), bound(3), bound(4)});
        const ValueId zero = body.constant_int(0);
        maker.store(y, {slice(4)}, {zero}, maker.load(row, {slice(4)}, {zero}));
        maker.store(sizes, {kIndex}, {zero}, body.size(part, 0));
        maker.store(sizes, {kIndex}, {body.constant_int(1)}, body.size(row, 0));

        std::vector<std::int32_t> in(12);
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::int32_t>(i + 1);
        const auto check = [&](std::vector<std::int64_t> limits, std::vector<std::int32_t> expected,
                               std::vector<std::int64_t> expected_sizes) {
            std::vector<std::int32_t> out(4, -1);
            std::vector<std::int64_t> lengths(2, -1);
            run(maker.kernel,
                {dense(I32, in, {3, 4}), dense(I32, out, {4}), dense(I64, limits, {5}), dense(I64, lengths, {2})});
            CHECK(out == expected);
            CHECK(lengths == expected_sizes);
        };
        check({0, 3, 1, 0, 4}, {5, 6, 7, 8}, {3, 4});
        check({1, 3, 1, 1, 3}, {10, 11, 0, 0}, {2, 2});
        check({-5, 2, 1, -1, 100}, {5, 6, 7, 8}, {2, 4});
        check({1, 3, 2, 0, 4}, {0, 0, 0, 0}, {2, 0});
        check({1, 3, -1, 0, 4}, {0, 0, 0, 0}, {2, 0});
        check({2, 1, 0, 0, 4}, {0, 0, 0, 0}, {0, 0});
        check({kHuge, kHuge, 0, 0, 4}, {0, 0, 0, 0}, {0, 0});
        check({0, 3, 0, kHuge, -kHuge}, {0, 0, 0, 0}, {3, 0});
    }

    TEST_CASE("strides may be negative, zero or wide") {
        KernelMaker maker;
        const ValueId x = maker.tensor("x", Access::In, I32, 2);
        const ValueId y = maker.tensor("y", Access::Out, I32, 2);
        maker.single_program();
        const ValueId zero = maker.body.constant_int(0);
        maker.store(y, {slice(2), slice(3)}, {zero, zero}, maker.load(x, {slice(2), slice(3)}, {zero, zero}));
        std::vector<std::int32_t> in{1, 2, 3, 4, 5, 6}, out(6);
        run(maker.kernel,
            {TensorView{I32, reinterpret_cast<std::byte*>(in.data() + 5), {2, 3}, {-3, -1}}, dense(I32, out, {2, 3})});
        CHECK(out == std::vector<std::int32_t>{6, 5, 4, 3, 2, 1});
        run(maker.kernel,
            {TensorView{I32, reinterpret_cast<std::byte*>(in.data()), {2, 3}, {0, 2}}, dense(I32, out, {2, 3})});
        CHECK(out == std::vector<std::int32_t>{1, 3, 5, 1, 3, 5});
    }

    TEST_CASE("bool is a byte: anything but zero reads as true, true writes 1") {
        const auto result = through<std::uint8_t, std::uint8_t>(
            Bool, {0, 1, 2, 255}, Bool, 4, [](KernelMaker& maker, ValueId x) { return whole_tile(maker, x, {4}); });
        CHECK(result == std::vector<std::uint8_t>{0, 1, 1, 1});
        const auto numbers = through<std::uint8_t, float>(Bool, {0, 7}, F32, 2, [](KernelMaker& maker, ValueId x) {
            return maker.body.convert(OpKind::Convert, whole_tile(maker, x, {2}), F32);
        });
        CHECK(numbers == std::vector<float>{0, 1});
    }

    TEST_CASE("4-bit elements pack low bits first, also through views and at odd places") {
        KernelMaker maker;
        const ValueId x = maker.tensor("x", Access::In, I4, 2);
        const ValueId y = maker.tensor("y", Access::Out, I4, 2);
        const ValueId numbers = maker.tensor("numbers", Access::Out, I32, 1);
        maker.single_program();
        Builder& body = maker.body;
        const ValueId zero = body.constant_int(0), one = body.constant_int(1), three = body.constant_int(3);
        const ValueId row = body.view(x, {{kIndex, kRange}}, {one, one, three});
        const ValueId tile = maker.load(row, {slice(3)}, {zero});
        maker.store(numbers, {slice(3)}, {zero}, body.convert(OpKind::Convert, tile, I32));
        maker.store(y, {kIndex, slice(3)}, {zero, one}, tile);
        std::vector<std::uint8_t> in{0x21, 0x03, 0x9f, 0x0e}, out{0xaa, 0xbb};
        std::vector<std::int32_t> values(3, 99);
        TensorView packed = dense(I4, in, {2, 3});
        packed.strides = Shape{4, 1};
        TensorView target = dense(I4, out, {1, 3});
        target.strides = Shape{4, 1};
        run(maker.kernel, {packed, target, dense(I32, values, {3})});
        CHECK(values == std::vector<std::int32_t>{-7, -2, 0});
        CHECK(out == std::vector<std::uint8_t>{0x9a, 0xbe});  // the fourth element lies outside
    }

    TEST_CASE("bf16 arithmetic rounds after every op") {
        // 1.0078125^2 = 1.01568..., a hair above 1.015625; times 3 is 3.046875, a tie that goes to even.
        const auto result =
            through<std::uint16_t, std::uint16_t>(BF16, {0x3f81, 0x4040}, BF16, 1, [](KernelMaker& maker, ValueId x) {
                const auto element = [&](std::int64_t k) {
                    return maker.load(x, {kIndex}, {maker.body.constant_int(k)});
                };
                const ValueId square = maker.body.elementwise(OpKind::Mul, {element(0), element(0)});
                return maker.body.elementwise(OpKind::Mul, {square, element(1)});
            });
        CHECK(result[0] == 0x4043);
    }

    TEST_CASE("a while loop yields the values of its false condition") {
        // The steps of the Collatz sequence from 27, and its largest element.
        const auto result = through<std::int64_t, std::int64_t>(I64, {27}, I64, 2, [](KernelMaker& maker, ValueId x) {
            Builder& body = maker.body;
            Kernel& kernel = maker.kernel;
            const ValueId first = maker.load(x, {kIndex}, {body.constant_int(0)});
            const OpId loop = body.while_loop({first, body.constant_int(0), first});
            const BlockId before = body.block();
            const BlockId test = kernel[loop].blocks[0], step = kernel[loop].blocks[1];
            body.set_block(test);
            const ValueId one = body.constant_int(1);
            const std::vector<ValueId> seen = kernel[test].arguments;
            const ValueId more = body.elementwise(OpKind::Greater, {seen[0], one});
            body.yield({more, seen[0], seen[1], seen[2]});
            body.set_block(step);
            const std::vector<ValueId> now = kernel[step].arguments;
            const ValueId two = body.constant_int(2);
            const ValueId odd =
                body.elementwise(OpKind::Equal, {body.elementwise(OpKind::Rem, {now[0], two}), body.constant_int(1)});
            const OpId branch = body.if_else(odd, {Type::scalar(kInt)});
            body.set_block(kernel[branch].blocks[0]);
            const ValueId tripled = body.elementwise(OpKind::Mul, {now[0], body.constant_int(3)});
            body.yield({body.elementwise(OpKind::Add, {tripled, body.constant_int(1)})});
            body.set_block(kernel[branch].blocks[1]);
            body.yield({body.elementwise(OpKind::Div, {now[0], two})});
            body.set_block(step);
            const ValueId next = kernel[branch].result();
            const ValueId steps = body.elementwise(OpKind::Add, {now[1], body.constant_int(1)});
            body.yield({next, steps, body.elementwise(OpKind::Max, {now[2], next})});
            body.set_block(before);
            const ValueId place = body.iota(2);
            const auto spread = [&](ValueId value) { return body.broadcast(value, {2}); };
            const ValueId first_place =
                body.elementwise(OpKind::Equal, {place, body.splat(Scalar::int64(0), Type::tile(kInt, {2}))});
            return body.elementwise(OpKind::Select,
                                    {first_place, spread(kernel[loop].results[1]), spread(kernel[loop].results[2])});
        });
        CHECK(result == std::vector<std::int64_t>{111, 9232});
    }

    TEST_CASE("for loops carry values, all at once, and end where they should") {
        using Numbers = std::vector<std::int64_t>;
        CHECK(swap_loop(0, 3, 1) == Numbers{20, 10, 3, 2});
        CHECK(swap_loop(-5, 5, 3) == Numbers{10, 20, 4, 4});
        CHECK(swap_loop(5, 5, 1) == Numbers{10, 20, 0, -1});
        CHECK(swap_loop(0, 5, 0) == Numbers{10, 20, 0, -1});
        CHECK(swap_loop(0, 5, -1) == Numbers{10, 20, 0, -1});
        CHECK(swap_loop(kHuge - 2, kHuge, 2) == Numbers{20, 10, 1, kHuge - 2});
        CHECK(swap_loop(-kHuge - 1, kHuge, kHuge) == Numbers{20, 10, 3, kHuge - 1});
    }

    TEST_CASE("an if runs one side only") {
        KernelMaker maker;
        const ValueId y = maker.tensor("y", Access::Out, I32, 1);
        const ValueId n = maker.size("N", 0, 0);
        const std::vector<ValueId> at = maker.phase({{n, 1}});
        Builder& body = maker.body;
        const ValueId even = body.elementwise(
            OpKind::Equal, {body.elementwise(OpKind::Rem, {at[0], body.constant_int(2)}), body.constant_int(0)});
        const OpId branch = body.if_else(even, {});
        body.set_block(maker.kernel[branch].blocks[0]);
        maker.store(y, {kIndex}, at, body.constant(Scalar::integer(I32, 5)));
        body.yield({});
        body.set_block(maker.kernel[branch].blocks[1]);
        body.yield({});
        std::vector<std::int32_t> out(5, 1);
        run(maker.kernel, {dense(I32, out, {5})});
        CHECK(out == std::vector<std::int32_t>{5, 1, 5, 1, 5});
    }

    TEST_CASE("deep nesting costs no stack") {
        KernelMaker maker;
        const ValueId y = maker.tensor("y", Access::Out, I32, 1);
        maker.single_program();
        Builder& body = maker.body;
        const ValueId yes = body.constant(Scalar::boolean(true));
        std::vector<OpId> branches;
        for (int depth = 0; depth < 200'000; ++depth) {
            branches.push_back(body.if_else(yes, {}));
            const std::vector<BlockId> blocks = maker.kernel[branches.back()].blocks;
            body.set_block(blocks[1]);
            body.yield({});
            body.set_block(blocks[0]);
        }
        maker.store(y, {kIndex}, {body.constant_int(0)}, body.constant(Scalar::integer(I32, 1)));
        body.yield({});
        for (std::size_t i = branches.size(); i-- > 1;) {
            body.set_block(maker.kernel[branches[i]].parent);
            body.yield({});
        }
        std::vector<std::int32_t> out(1);
        run(maker.kernel, {dense(I32, out, {1})});
        CHECK(out[0] == 1);
    }

    TEST_CASE("phases run one after another over scratch") {
        KernelMaker maker;
        const ValueId x = maker.tensor("x", Access::In, F32, 1);
        const ValueId y = maker.tensor("y", Access::Out, F32, 1);
        const ValueId n = maker.size("N", 0, 0);
        Kernel& kernel = maker.kernel;
        const ValueId sums = kernel.add_value(Type::tensor(Access::InOut, F32, {kDynamic}), "sums");
        const ValueId extent = maker.host.constant_int(3);
        kernel.scratch.push_back({"sums", sums, {extent}, maker.host.constant(Scalar::f32(0.5f))});
        const std::vector<ValueId> at = maker.phase({{n, 1}});
        const ValueId place = maker.body.elementwise(OpKind::Mod, {at[0], maker.body.constant_int(2)});
        const ValueId sum =
            maker.body.elementwise(OpKind::Add, {maker.load(sums, {kIndex}, {place}), maker.load(x, {kIndex}, at)});
        maker.store(sums, {kIndex}, {place}, sum);
        const std::vector<ValueId> second = maker.phase({{extent, 1}});
        maker.store(y, {kIndex}, second, maker.load(sums, {kIndex}, second));
        std::vector<float> in{1, 2, 3, 4, 5}, out(3);
        run(kernel, {dense(F32, in, {5}), dense(F32, out, {3})});
        CHECK(out == std::vector<float>{9.5f, 6.5f, 0.5f});
    }

    TEST_CASE("a fully masked softmax row is 0, its log-sum-exp -inf") {
        // Two queries, two keys, scores 0, v = [1, 3]; row 0 sees no key.
        KernelMaker maker;
        const ValueId v = maker.tensor("v", Access::In, F32, 1);
        const ValueId out = maker.tensor("out", Access::Out, F32, 1);
        const ValueId lse = maker.tensor("lse", Access::Out, F32, 1);
        maker.single_program();
        Builder& body = maker.body;
        const Type square = Type::tile(F32, {2, 2}), column = Type::tile(F32, {2});
        const auto constant = [&](float value, const Type& type) { return body.splat(Scalar::f32(value), type); };
        const auto spread = [&](ValueId tile) { return body.broadcast(body.reshape(tile, {2, 1}), {2, 2}); };
        const ValueId rows = body.broadcast(body.reshape(body.iota(2), {2, 1}), {2, 2});
        const ValueId keep =
            body.elementwise(OpKind::Equal, {rows, body.splat(Scalar::int64(1), Type::tile(kInt, {2, 2}))});
        const ValueId scores =
            body.elementwise(OpKind::Select, {keep, constant(0, square), constant(-HUGE_VALF, square)});
        const ValueId top = body.reduce(ReduceKind::Max, scores, 1);
        const ValueId unseen = body.elementwise(OpKind::Equal, {top, constant(-HUGE_VALF, column)});
        const ValueId shift = body.elementwise(OpKind::Select, {unseen, constant(0, column), top});
        const ValueId weights = body.elementwise(OpKind::Exp, {body.elementwise(OpKind::Sub, {scores, spread(shift)})});
        const ValueId total = body.reduce(ReduceKind::Sum, weights, 1);
        const ValueId values = body.reshape(maker.load(v, {slice(2)}, {body.constant_int(0)}), {2, 1});
        const ValueId mixed =
            body.reshape(body.dot(weights, values, constant(0, Type::tile(F32, {2, 1})), DotPrecision::Default), {2});
        const ValueId empty = body.elementwise(OpKind::Equal, {total, constant(0, column)});
        const ValueId divided = body.elementwise(OpKind::Div, {mixed, total});
        maker.store(out, {slice(2)}, {body.constant_int(0)},
                    body.elementwise(OpKind::Select, {empty, constant(0, column), divided}));
        const ValueId log = body.elementwise(OpKind::Add, {top, body.elementwise(OpKind::Log, {total})});
        maker.store(lse, {slice(2)}, {body.constant_int(0)}, log);
        std::vector<float> value{1, 3}, result(2, -1), sums(2, -1);
        run(maker.kernel, {dense(F32, value, {2}), dense(F32, result, {2}), dense(F32, sums, {2})});
        CHECK(result == std::vector<float>{0, 2});
        CHECK(sums[0] == -HUGE_VALF);
        CHECK(sums[1] == doctest::Approx(0.693147));
    }

    TEST_CASE("a refused launch runs nothing") {
        KernelMaker maker;
        const ValueId y = maker.tensor("y", Access::Out, I32, 1);
        maker.host.require(maker.host.constant(Scalar::boolean(false)), "never", {});
        maker.single_program();
        maker.store(y, {kIndex}, {maker.body.constant_int(0)}, maker.body.constant(Scalar::integer(I32, 1)));
        std::vector<std::int32_t> out(1, 7);
        const std::vector<Argument> arguments{dense(I32, out, {1})};
        CHECK(interpret(maker.kernel, arguments).messages == std::vector<std::string>{"never"});
        CHECK(out[0] == 7);
    }
}
