// Kernels against the references they name, both in the interpreter.
#include "tests/frontend/kernel_run.h"

namespace kiln::test {

namespace {

using ir::ScalarType;
using ir::Shape;

frontend::Program load_kernels(const std::string& name) {
    return load_checked(std::string(KILN_SOURCE_DIR) + "/tests/kernels/" + name);
}

/// Runs a kernel and its reference on the same arguments and compares one output.
void compare_with_reference(const std::string& file, const std::string& kernel, const std::string& output,
                            const Launch& launch, double tolerance) {
    CAPTURE(kernel);
    const frontend::Program program = load_kernels(file);
    Launch own = launch, other = launch;
    const frontend::Specialisation specialisation = specialised(program, request_for(program, kernel, own));
    REQUIRE(run(specialisation, own).messages.empty());
    other.tunables.clear();
    REQUIRE(!specialisation.reference.empty());
    run_kernel(program, specialisation.reference, other);
    const HostTensor& reference = other.tensors[output];
    const auto at = [&](std::int64_t i) { return reference[i]; };
    CHECK(worst_excess(own.tensors[output], at, tolerance) < tolerance);
    // The output was written at all.
    CHECK(worst_excess(
              reference, [&](std::int64_t i) { return launch.tensors.at(output)[i]; }, 0) > 0);
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("int8 gemm accumulates exactly") {
        Launch launch;
        const auto small = [](std::int64_t i) { return static_cast<double>(i * 37 % 255 - 127); };
        launch.tensors["a"] = HostTensor(ScalarType::I8, Shape{17, 70}, small);
        launch.tensors["b"] = HostTensor(ScalarType::I8, Shape{70, 19}, small);
        launch.tensors["a_scale"] = HostTensor::noise(ScalarType::F32, Shape{17}, 1);
        launch.tensors["b_scale"] = HostTensor::noise(ScalarType::F32, Shape{19}, 2);
        launch.tensors["c"] = HostTensor::filled(ScalarType::F16, Shape{17, 19}, 1);
        launch.tunables = {{"BM", ir::Scalar::int64(16)}, {"BN", ir::Scalar::int64(8)}, {"BK", ir::Scalar::int64(32)}};
        compare_with_reference("gemm_quantised.kiln", "gemm_int8", "c", launch, 2e-3);
    }

    TEST_CASE("gathers of ids outside the table, and whole-tile transposes") {
        Launch embed;
        embed.tensors["table"] = HostTensor::noise(ScalarType::BF16, Shape{9, 21}, 1);
        embed.tensors["id"] = HostTensor(ScalarType::I32, Shape{13}, [](std::int64_t i) { return i % 11 - 1; });
        embed.tensors["y"] = HostTensor::filled(ScalarType::BF16, Shape{13, 21}, 5);
        compare_with_reference("jagged.kiln", "embedding", "y", embed, 1e-9);
        Launch turn;
        turn.tensors["x"] = HostTensor::noise(ScalarType::F32, Shape{37, 21}, 1);
        turn.tensors["y"] = HostTensor::filled(ScalarType::F32, Shape{21, 37}, 5);
        compare_with_reference("movement.kiln", "transpose_copy", "y", turn, 1e-9);
    }

    TEST_CASE("views between offsets read from memory") {
        Launch launch;
        const double offsets[] = {0, 5, 5, 23};
        launch.tensors["x"] = HostTensor::noise(ScalarType::F32, Shape{23, 9}, 1);
        launch.tensors["offsets"] = HostTensor(ScalarType::I32, Shape{4}, [&](std::int64_t i) { return offsets[i]; });
        launch.tensors["y"] = HostTensor::filled(ScalarType::F32, Shape{23, 9}, 5);
        compare_with_reference("jagged.kiln", "jagged_softmax", "y", launch, 1e-6);
    }

    TEST_CASE("rotary embedding in place, through gathered rows of tables") {
        Launch launch;
        launch.tensors["x"] = HostTensor::noise(ScalarType::F32, Shape{6, 3, 16}, 1);
        launch.tensors["position"] = HostTensor(ScalarType::I32, Shape{6}, [](std::int64_t i) { return i * 3 % 7; });
        launch.tensors["cos_table"] = HostTensor::noise(ScalarType::F32, Shape{7, 6}, 2);
        launch.tensors["sin_table"] = HostTensor::noise(ScalarType::F32, Shape{7, 6}, 3);
        launch.generics["rotary"] = ir::Scalar::int64(12);
        compare_with_reference("rope.kiln", "rope", "x", launch, 1e-6);
    }
}

}  // namespace kiln::test
