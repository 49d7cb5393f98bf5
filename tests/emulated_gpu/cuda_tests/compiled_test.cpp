// Kernels compiled by NVRTC, run unchanged, against values computed on the host.

#include "tests/emulated_gpu/cuda_tests/compiled_kernels.h"
#include "tests/emulated_gpu/cuda_tests/cuda_kernels.h"
#include "tests/emulated_gpu/cuda_tests/nvrtc.h"

namespace emulated_gpu {
namespace {

LaunchResult launch(Machine& machine, const std::string& name, std::array<uint32_t, 3> grid,
                    std::array<uint32_t, 3> block, const Parameters& parameters) {
    LaunchShape shape;
    shape.grid = grid;
    shape.block = block;
    shape.parameters = parameters.bytes();
    LaunchResult result = run_kernel(*machine.module().kernels.at(name), shape, machine.memory(), machine.options,
                                     [&](const std::string& text) { machine.printed += text; });
    if (result.report) FAIL_CHECK(result.report->text());
    return result;
}

}  // namespace

TEST_SUITE("emulated_gpu") {
    TEST_CASE("emulated gpu: compiled saxpy") {
        Machine machine(compile_cuda(kSaxpySource));
        const std::vector<float> x = random_floats(1000, 1);
        const std::vector<float> y = random_floats(1000, 2);
        const uint64_t device_x = machine.upload(x);
        const uint64_t device_y = machine.upload(y);
        launch(machine, "saxpy", {4, 1, 1}, {256, 1, 1}, Parameters().add(2.5F).add(device_x).add(device_y).add(1000));
        const std::vector<float> out = machine.download<float>(device_y, 1000);
        for (size_t i = 0; i < 1000; ++i) CHECK(out[i] == std::fma(2.5F, x[i], y[i]));
    }

    TEST_CASE("emulated gpu: compiled reduction with shuffles, shared memory and atomics") {
        Machine machine(compile_cuda(kReductionSource));
        const std::vector<float> x = random_floats(10000, 3);
        double expected = 0;
        for (const float value : x) expected += value;
        for (const bool shuffle : {false, true}) {
            machine.options.shuffle = shuffle;
            const uint64_t device_x = machine.upload(x);
            const uint64_t total = machine.upload(std::vector<float>{0});
            launch(machine, "reduce", {7, 1, 1}, {256, 1, 1}, Parameters().add(device_x).add(total).add(10000));
            CHECK(machine.download<float>(total, 1)[0] == doctest::Approx(expected).epsilon(1e-4));
        }
    }

    TEST_CASE("emulated gpu: compiled softmax") {
        Machine machine(compile_cuda(kSoftmaxSource));
        const uint32_t columns = 333;
        const std::vector<float> x = random_floats(4 * columns, 4);
        const uint64_t device_x = machine.upload(x);
        const uint64_t device_y = machine.upload(std::vector<float>(x.size()));
        launch(machine, "softmax", {4, 1, 1}, {128, 1, 1}, Parameters().add(device_x).add(device_y).add(columns));
        const std::vector<float> y = machine.download<float>(device_y, x.size());
        for (size_t row = 0; row < 4; ++row) {
            double sum = 0;
            for (size_t i = 0; i < columns; ++i) sum += std::exp(double{x[row * columns + i]});
            for (size_t i = 0; i < columns; ++i) {
                CHECK(y[row * columns + i] ==
                      doctest::Approx(std::exp(double{x[row * columns + i]}) / sum).epsilon(1e-5));
            }
        }
    }

    TEST_CASE("emulated gpu: compiled GEMM with cp.async, ldmatrix and mma, whole and ragged") {
        Machine machine(compile_cuda(kGemmSource));
        for (const bool shuffle : {false, true}) {
            machine.options.shuffle = shuffle;
            machine.options.seed = 7;
            for (const std::array<uint32_t, 3> size :
                 {std::array<uint32_t, 3>{64, 64, 32}, {128, 64, 96}, {100, 72, 40}, {1, 8, 8}}) {
                const GemmRun run = run_gemm(machine, size[0], size[1], size[2]);
                if (run.result.report) FAIL_CHECK(run.result.report->text());
                CHECK(run.worst_error < 1e-4);
            }
        }
    }

    TEST_CASE("emulated gpu: a GEMM of 256 x 256 x 256 counts what it does") {
        Machine machine(compile_cuda(kGemmSource));
        const GemmRun run = run_gemm(machine, 256, 256, 256);
        if (run.result.report) FAIL(run.result.report->text());
        CHECK(run.worst_error < 1e-4);
        const Counters& counters = run.result.counters;
        CHECK(counters.matrix_operations == 256 / 16 * (256 / 8) * (256 / 16));
        CHECK(counters.matrix_multiply_adds == 256 * 256 * 256);
        CHECK(counters.barriers == 16 * 8 * 2);                                // blocks x tiles of K x 2
        CHECK(counters.async_copy_bytes == 16 * 8 * (64 * 32 + 32 * 64) * 2);  // blocks x tiles x elements x 2
        CHECK(counters.bank_conflicts() == 0);                                 // both strides are 16 bytes off 128
        CHECK(counters.global_store_bytes == 256 * 256 * 4);
        MESSAGE(run.milliseconds << " ms of the processor; " << counters.json());
    }

    TEST_CASE("emulated gpu: attention over 2 heads of 64, 256 positions") {
        Machine machine(compile_cuda(kAttentionSource));
        constexpr size_t kLength = 256;
        constexpr size_t kSize = 2 * kLength * 64;
        std::array<std::vector<uint16_t>, 3> inputs;  // q, k, v
        std::array<uint64_t, 3> addresses{};
        for (size_t i = 0; i < 3; ++i) {
            for (const float value : random_floats(kSize, 10 + i)) inputs[i].push_back(to_bf16(value));
            addresses[i] = machine.upload(inputs[i]);
        }
        const uint64_t device_out = machine.upload(std::vector<float>(kSize, NAN));
        const double start = processor_milliseconds();
        const LaunchResult result = launch(
            machine, "attention", {kLength / 64, 2, 1}, {128, 1, 1},
            Parameters().add(addresses[0]).add(addresses[1]).add(addresses[2]).add(device_out).add(int32_t{kLength}));
        const double milliseconds = processor_milliseconds() - start;
        const std::vector<float> out = machine.download<float>(device_out, kSize);
        double worst = 0;
        for (size_t row = 0; row < 2 * kLength; ++row) {
            const size_t head = row / kLength * kLength;
            std::array<double, 64> expected{};
            double sum = 0;
            for (size_t key = head; key < head + kLength; ++key) {
                double score = 0;
                for (size_t d = 0; d < 64; ++d) {
                    score += double{from_bf16(inputs[0][row * 64 + d])} * from_bf16(inputs[1][key * 64 + d]);
                }
                const double weight = std::exp(score / 8);
                sum += weight;
                for (size_t d = 0; d < 64; ++d) expected[d] += weight * from_bf16(inputs[2][key * 64 + d]);
            }
            for (size_t d = 0; d < 64; ++d) worst = std::max(worst, std::fabs(out[row * 64 + d] - expected[d] / sum));
        }
        CHECK(worst < 4e-3);  // weights are rounded to bf16
        CHECK(result.counters.matrix_operations == 2 * 4 * 4 * 4 * (8 * 4 + 8 * 4));
        CHECK(result.counters.bank_conflicts() == 0);
        MESSAGE(milliseconds << " ms of the processor; " << result.counters.json());
    }
}

}  // namespace emulated_gpu
