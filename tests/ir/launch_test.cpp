#include "ir/launch.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "ir/support/internal_error.h"

namespace {

using namespace kiln::ir;
using enum ScalarType;

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

std::byte g_memory[64];

TensorView tensor(ScalarType element, Shape sizes) {
    Shape strides = sizes;
    std::uint64_t stride = 1;
    for (std::size_t axis = sizes.rank(); axis-- > 0;) {
        strides[axis] = static_cast<std::int64_t>(stride);
        stride *= static_cast<std::uint64_t>(sizes[axis]);
    }
    return {element, g_memory, sizes, strides};
}

/// kernel k(a: in f32[M, K], b: in f32[K, N], s: f32)
struct Maker {
    Kernel kernel;
    Builder host{kernel, {}};
    ValueId m, k, n;

    Maker() {
        kernel.name = "k";
        kernel.host = kernel.add_block();
        host.set_block(kernel.host);
        add("a", Type::tensor(Access::In, F32, {kDynamic, kDynamic}));
        add("b", Type::tensor(Access::In, F32, {kDynamic, kDynamic}));
        add("s", Type::scalar(F32));
        m = size("M", 0, 0);
        k = size("K", 0, 1);
        n = size("N", 1, 1);
        kernel.checks.push_back({1, 0, k, "K"});
    }
    ValueId add(const std::string& name, Type type) {
        const ValueId value = kernel.add_value(type, name);
        kernel.parameters.push_back({name, value});
        return value;
    }
    ValueId size(const std::string& name, std::uint32_t parameter, std::uint32_t axis, std::int64_t scale = 1,
                 std::int64_t offset = 0) {
        const ValueId value = kernel.add_value(Type::scalar(kInt), name);
        kernel.sizes.push_back({name, value, parameter, axis, scale, offset});
        return value;
    }
    void grid(ValueId lower, ValueId upper, ValueId step) {
        Phase phase;
        phase.axes.push_back({"i", lower, upper, step});
        phase.block = kernel.add_block();
        kernel.add_argument(phase.block, Type::scalar(kInt));
        kernel.phases.push_back(phase);
    }
    std::vector<Argument> arguments() const { return {tensor(F32, {3, 5}), tensor(F32, {5, 7}), Scalar::f32(1)}; }
};

using Messages = std::vector<std::string>;

Messages errors_of(const Kernel& kernel, const std::vector<Argument>& arguments, std::int64_t units = 4) {
    const auto result = prepare_launch(kernel, arguments, units);
    const auto* errors = std::get_if<LaunchErrors>(&result);
    return errors == nullptr ? Messages{} : errors->messages;
}

Launch launch_of(const Kernel& kernel, const std::vector<Argument>& arguments, std::int64_t units = 4) {
    auto result = prepare_launch(kernel, arguments, units);
    if (const auto* errors = std::get_if<LaunchErrors>(&result)) FAIL(errors->messages.front());
    return std::get<Launch>(std::move(result));
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("a launch binds its sizes and scalars") {
        const Maker maker;
        const Launch launch = launch_of(maker.kernel, maker.arguments());
        CHECK(launch.values[maker.m.index] == Scalar::int64(3));
        CHECK(launch.values[maker.k.index] == Scalar::int64(5));
        CHECK(launch.values[maker.n.index] == Scalar::int64(7));
        CHECK(launch.values[maker.kernel.parameters[2].value.index] == Scalar::f32(1));
    }

    TEST_CASE("wrong arguments are told with both values") {
        const Maker maker;
        const auto changed = [&](std::size_t place, Argument argument) {
            std::vector<Argument> arguments = maker.arguments();
            arguments[place] = argument;
            return errors_of(maker.kernel, arguments);
        };
        CHECK(changed(1, tensor(F32, {6, 7})) == Messages{"`b` has 6 along axis 0 where `a` has 5 along axis 1 (K)"});
        CHECK(changed(0, {}) == Messages{"`a` is missing"});
        CHECK(changed(0, Scalar::f32(1)) == Messages{"`a` is a scalar where the kernel takes a tensor"});
        CHECK(changed(2, tensor(F32, {1})) == Messages{"`s` is a tensor where the kernel takes a scalar"});
        CHECK(changed(2, Scalar::f64(1)) == Messages{"`s` is f64 where the kernel takes f32"});
        CHECK(changed(0, tensor(F16, {3, 5})) == Messages{"`a` has elements of type f16 where the kernel takes f32"});
        CHECK(changed(0, tensor(F32, {5})) == Messages{"`a` has 1 axis where the kernel takes 2 axes"});
        CHECK(changed(0, tensor(F32, {-3, 5})) == Messages{"`a` has the negative size -3 along axis 0"});
        CHECK(changed(0, TensorView{F32, nullptr, {3, 5}, {5, 1}}) == Messages{"`a` is null"});
        CHECK(changed(0, TensorView{F32, nullptr, {0, 5}, {5, 1}}).empty());
        CHECK(changed(0, TensorView{F32, g_memory, {3, 5}, {5}}) == Messages{"`a` has 1 strides for 2 axes"});
        CHECK(errors_of(maker.kernel, {}) == Messages{"kernel `k` takes 3 arguments, not 0"});
    }

    TEST_CASE("several wrong arguments are told at once") {
        const Maker maker;
        CHECK(errors_of(maker.kernel, {tensor(F64, {3, 5}), {}, Scalar::f32(0)}).size() == 2);
    }

    TEST_CASE("tensors larger than memory are refused") {
        const Maker maker;
        const auto refused = [&](Shape sizes, Shape strides) {
            std::vector<Argument> arguments = maker.arguments();
            arguments[0] = TensorView{F32, g_memory, sizes, strides};
            const Messages messages = errors_of(maker.kernel, arguments);
            return messages.size() == 1 && messages[0].find("`a` with sizes") == 0 &&
                   messages[0].find("larger than memory") != std::string::npos;
        };
        CHECK(refused({4, 4611686018427387905}, {0, 0}));
        CHECK(refused({kLargest, 5}, {5, 1}));
        CHECK(refused({2, 5}, {kLargest, 1}));
        CHECK(refused({2, (std::int64_t{1} << 56) + 1}, {0, 0}));
        CHECK(refused({2, 5}, {-kLargest - 1, 1}));
    }

    TEST_CASE("an absent argument may not be given") {
        Maker maker;
        maker.add("bias", Type::tensor(Access::In, F32, {kDynamic}));
        maker.kernel.parameters.back().present = false;
        maker.kernel.checks.push_back({3, 0, maker.n, "N"});
        std::vector<Argument> arguments = maker.arguments();
        arguments.emplace_back();
        CHECK(errors_of(maker.kernel, arguments).empty());
        arguments[3] = tensor(F32, {7});
        CHECK(errors_of(maker.kernel, arguments) ==
              Messages{"`bias` is given, but the kernel is specialised for its absence"});
    }

    TEST_CASE("solved sizes must be exact and not negative") {
        Maker maker;
        maker.add("w", Type::tensor(Access::In, F32, {kDynamic}));
        const ValueId groups = maker.size("G", 3, 0, 4, 1);
        std::vector<Argument> arguments = maker.arguments();
        arguments.push_back(tensor(F32, {9}));
        CHECK(launch_of(maker.kernel, arguments).values[groups.index] == Scalar::int64(2));
        arguments[3] = tensor(F32, {10});
        CHECK(errors_of(maker.kernel, arguments) ==
              Messages{"`w` has 10 along axis 0, which no G >= 0 solves as G * 4 + 1"});
        arguments[3] = tensor(F32, {0});
        CHECK(errors_of(maker.kernel, arguments) ==
              Messages{"`w` has 0 along axis 0, which no G >= 0 solves as G * 4 + 1"});
        maker.kernel.sizes.back().offset = -kLargest - 1;
        CHECK(errors_of(maker.kernel, arguments).size() == 1);
    }

    TEST_CASE("expected extents name where their sizes come from") {
        Maker maker;
        maker.add("w", Type::tensor(Access::In, F32, {kDynamic, 80}));
        const ValueId product = maker.host.elementwise(OpKind::Mul, {maker.n, maker.host.constant_int(4)});
        maker.kernel.checks.push_back({3, 0, product, "N * 4"});
        std::vector<Argument> arguments = maker.arguments();
        arguments.push_back(tensor(F32, {29, 80}));
        CHECK(errors_of(maker.kernel, arguments) ==
              Messages{"`w` has 29 along axis 0 where N * 4 is 28, since `b` has 7 along axis 1 (N)"});
        arguments[3] = tensor(F32, {28, 64});
        CHECK(errors_of(maker.kernel, arguments) == Messages{"`w` has 64 along axis 1 where the kernel takes 80"});
        maker.kernel.checks.push_back({3, 1, maker.host.constant_int(80), "D"});
        CHECK(errors_of(maker.kernel, arguments) == Messages{"`w` has 64 along axis 1 where D is 80"});
        arguments[3] = tensor(F32, {28, 80});
        CHECK(errors_of(maker.kernel, arguments).empty());
    }

    TEST_CASE("4-bit tensors take whole bytes") {
        Maker maker;
        maker.add("q", Type::tensor(Access::In, U4, {kDynamic, kDynamic}));
        std::vector<Argument> arguments = maker.arguments();
        arguments.emplace_back(TensorView{U4, g_memory, {3, 3}, {4, 1}});
        CHECK(errors_of(maker.kernel, arguments).empty());
        arguments[3] = TensorView{U4, g_memory, {3, 3}, {3, 1}};
        CHECK(errors_of(maker.kernel, arguments) ==
              Messages{"`q` has stride 3 along axis 0 where u4 needs whole bytes"});
        arguments[3] = TensorView{U4, g_memory, {3, 3}, {2, 6}};
        CHECK(errors_of(maker.kernel, arguments) == Messages{"`q` has stride 6 along axis 1 where u4 needs 1"});
    }

    TEST_CASE("the host block computes, and its requirements speak") {
        Maker maker;
        Builder& host = maker.host;
        const ValueId units = host.units();
        const ValueId share = host.elementwise(OpKind::CeilDiv, {maker.n, units});
        const ValueId scale = maker.kernel.parameters[2].value;
        const ValueId wide = host.convert(OpKind::Convert, scale, F64);
        const ValueId positive = host.elementwise(OpKind::Greater, {wide, host.constant(Scalar::f64(0))});
        host.require(positive, "s ({}) must be positive, with {} units {}", {scale, units});
        host.require(host.elementwise(OpKind::Equal, {maker.m, maker.k}), "", {});
        const Messages unmet =
            errors_of(maker.kernel, {tensor(F32, {3, 5}), tensor(F32, {5, 7}), Scalar::f32(-0.5f)}, 3);
        CHECK(unmet ==
              Messages{"s (-0.5) must be positive, with 3 units {}", "a requirement of kernel `k` is not met"});
        const Launch launch = launch_of(maker.kernel, {tensor(F32, {5, 5}), tensor(F32, {5, 7}), Scalar::f32(2)}, 3);
        CHECK(launch.values[share.index] == Scalar::int64(3));
        CHECK(launch.values[units.index] == Scalar::int64(3));
    }

    TEST_CASE("grids count programs and place them, the last axis fastest") {
        Maker maker;
        Builder& host = maker.host;
        maker.grid(host.constant_int(-1), maker.m, host.constant_int(3));
        maker.kernel.phases[0].axes.push_back({"j", host.constant_int(2), maker.n, host.constant_int(2)});
        const Launch launch = launch_of(maker.kernel, maker.arguments());
        CHECK(launch.grids == std::vector<std::vector<std::int64_t>>{{2, 3}});
        CHECK(launch.programs(0) == 6);
        using Offsets = std::vector<std::int64_t>;
        CHECK(program_offsets(maker.kernel, launch, 0, 0) == Offsets{-1, 2});
        CHECK(program_offsets(maker.kernel, launch, 0, 2) == Offsets{-1, 6});
        CHECK(program_offsets(maker.kernel, launch, 0, 3) == Offsets{2, 2});
    }

    TEST_CASE("grids: a schedule's grid_order changes the order and leaves nothing out") {
        using Offsets = std::vector<std::int64_t>;
        const auto order_of = [](const char* order) {
            Maker maker;
            Builder& host = maker.host;
            // 2 by 5 by 3 programs.
            maker.grid(host.constant_int(0), host.constant_int(2), host.constant_int(1));
            auto& axes = maker.kernel.phases[0].axes;
            axes.push_back({"i", host.constant_int(0), host.constant_int(5), host.constant_int(1)});
            axes.push_back({"j", host.constant_int(0), host.constant_int(3), host.constant_int(1)});
            if (order != nullptr) maker.kernel.schedule["grid_order"] = parse_schedule_value(order).value();
            const Launch launch = launch_of(maker.kernel, maker.arguments());
            std::vector<Offsets> offsets;
            for (std::int64_t program = 0; program < launch.programs(0); ++program) {
                offsets.push_back(program_offsets(maker.kernel, launch, 0, program));
            }
            return offsets;
        };
        const std::vector<Offsets> rows = order_of(nullptr);
        CHECK(std::is_sorted(rows.begin(), rows.end()));
        for (const char* same : {"rows", "longest_first", "grouped(1)"}) CHECK(order_of(same) == rows);
        for (const char* order : {"columns", "grouped(2)", "grouped(3)", "grouped(4)", "grouped(5)", "grouped(99)"}) {
            std::vector<Offsets> offsets = order_of(order);
            CHECK(offsets != rows);
            std::sort(offsets.begin(), offsets.end());
            CHECK(offsets == rows);
        }
        CHECK(order_of("grouped(99)") == order_of("columns"));
        const std::vector<Offsets> columns = order_of("columns"), grouped = order_of("grouped(2)");
        CHECK(columns[1] == Offsets{0, 1, 0});
        CHECK(columns[5] == Offsets{0, 0, 1});
        CHECK(columns[15] == Offsets{1, 0, 0});
        // Two places of i for each of j, then the next two, then the one that is left.
        CHECK(grouped[1] == Offsets{0, 1, 0});
        CHECK(grouped[2] == Offsets{0, 0, 1});
        CHECK(grouped[6] == Offsets{0, 2, 0});
        CHECK(grouped[12] == Offsets{0, 4, 0});
        CHECK(grouped[13] == Offsets{0, 4, 1});
    }

    TEST_CASE("grids may be empty, but their steps must be positive and their size countable") {
        const auto outcome = [](std::int64_t lower, std::int64_t upper, std::int64_t step) -> std::string {
            Maker maker;
            maker.grid(maker.host.constant_int(lower), maker.host.constant_int(upper), maker.host.constant_int(step));
            const Messages messages = errors_of(maker.kernel, maker.arguments());
            return messages.empty() ? std::to_string(launch_of(maker.kernel, maker.arguments()).programs(0))
                                    : messages.front();
        };
        CHECK(outcome(0, 0, 1) == "0");
        CHECK(outcome(5, -5, 1) == "0");
        CHECK(outcome(kLargest, -kLargest - 1, 1) == "0");
        CHECK(outcome(-kLargest - 1, kLargest, 3) == "6148914691236517205");
        CHECK(outcome(0, kLargest, kLargest) == "1");
        CHECK(outcome(0, 4, 0) == "grid axis `i` has step 0, which must be positive");
        CHECK(outcome(0, 4, -2) == "grid axis `i` has step -2, which must be positive");
        CHECK(outcome(-kLargest - 1, kLargest, 1) == "grid axis `i` has more programs than 63 bits can count");
        Maker maker;
        const ValueId zero = maker.host.constant_int(0), many = maker.host.constant_int(kLargest),
                      one = maker.host.constant_int(1);
        maker.grid(zero, many, one);
        maker.kernel.phases[0].axes.push_back({"j", zero, maker.m, one});
        CHECK(errors_of(maker.kernel, maker.arguments()) ==
              Messages{"the grid of phase 1 has more programs than 63 bits can count"});
        maker.kernel.phases[0].axes.push_back({"l", zero, zero, one});
        CHECK(launch_of(maker.kernel, maker.arguments()).programs(0) == 0);
    }

    TEST_CASE("scratch has sizes, or the launch is refused") {
        const auto outcome = [](std::int64_t extent) {
            Maker maker;
            const ValueId scratch =
                maker.kernel.add_value(Type::tensor(Access::InOut, F32, {kDynamic, kDynamic}), "part");
            maker.kernel.scratch.push_back({"part", scratch, {maker.m, maker.host.constant_int(extent)}, {}});
            const auto result = prepare_launch(maker.kernel, maker.arguments(), 1);
            const auto* errors = std::get_if<LaunchErrors>(&result);
            return errors != nullptr ? errors->messages.front() : to_string(std::get<Launch>(result).scratch[0]);
        };
        CHECK(outcome(4) == "[3, 4]");
        CHECK(outcome(0) == "[3, 0]");
        CHECK(outcome(-4) == "scratch `part` has the negative size -4 along axis 1");
        CHECK(outcome(kLargest / 8) ==
              "scratch `part` with sizes [3, 1152921504606846975] is larger than memory can be");
    }

    TEST_CASE("a broken specialisation is an internal error") {
        Maker maker;
        maker.kernel.sizes[0].divisor = 2;
        CHECK_THROWS_AS(prepare_launch(maker.kernel, maker.arguments(), 1), kiln::support::InternalError);
    }
}
