// Sanity of the cost model of GPUs: more work is more time, what is known to be bad is predicted to be, and what cannot
// run is excluded with the reason, all without a device.
#include "codegen/configure/gpu_model.h"

#include <functional>

#include "autotune/candidates.h"
#include "codegen/gpu/source.h"
#include "tests/autotune/model_launches.h"

namespace kiln::tests {
namespace {

using codegen::configure::GpuMachine;
using codegen::configure::Prediction;
using runtime::CapturedLaunch;
using Tunables = std::map<std::string, std::string>;

const Tunables kTiles = {{"BM", "64"}, {"BN", "64"}, {"BK", "32"}};

/// The prediction with the given tunables, or the reasons against it.
struct Outcome {
    Prediction prediction;
    std::string refusal;

    double seconds() const {
        CHECK(refusal.empty());
        return prediction.seconds;
    }
    double term(const std::string& name) const {
        for (const auto& term : prediction.terms) {
            if (term.name == name) return term.seconds;
        }
        FAIL(name, " is no term");
        return 0;
    }
};

Outcome on_gpu(CapturedLaunch launch, const Tunables& tunables, const char* target = "sm_80", std::int64_t units = 0,
               const std::function<void(codegen::gpu::PhaseSource&)>& change = {}) {
    launch.tunables = tunables;
    const auto module =
        std::make_shared<runtime::ModuleState>(launch.file, runtime::with_standard_library(frontend::read_file));
    const auto kernel = autotune::kernel_of(module, launch);
    const auto arguments = autotune::LaunchArguments::shapes(launch);
    const auto matched = runtime::match_arguments(kernel->signature(), arguments.arguments());
    const GpuMachine machine = codegen::configure::gpu_machine(*codegen::gpu::find_target(target).target, units);
    frontend::Request request = kernel->base_request();
    request.parameters = runtime::describe_arguments(kernel->signature(), matched);
    request.targets = machine.target.schedule_names;
    request.units = machine.units;
    const frontend::Specialisation specialisation = runtime::specialise_kernel(module->program(), request);
    const auto bound = runtime::bind_arguments(specialisation, matched);
    const auto prepared = ir::prepare_launch(specialisation.kernel, bound, machine.units);
    auto generated = codegen::gpu::generate(specialisation.kernel, machine.target);
    Outcome outcome;
    for (const auto& refusal : generated.refusals) outcome.refusal += refusal.message;
    if (!outcome.refusal.empty()) return outcome;
    for (codegen::gpu::PhaseSource& phase : generated.source.phases) {
        if (change) change(phase);
    }
    outcome.prediction = codegen::configure::predict(specialisation.kernel, std::get<ir::Launch>(prepared), bound,
                                                     machine, generated.source.phases);
    return outcome;
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("gpu model: the operations and bytes of a product are exact, edges included") {
        const Prediction prediction = on_gpu(gemm(500, 384, 256), kTiles).prediction;
        CHECK(prediction.dot_operations == doctest::Approx(2.0 * 500 * 384 * 256).epsilon(0.01));
        CHECK(prediction.compulsory_bytes == doctest::Approx(4.0 * (500 * 256 + 256 * 384 + 500 * 384)));
    }

    TEST_CASE("gpu model: the terms add up to the prediction, the largest first, on every target") {
        for (const codegen::gpu::Target& target : codegen::gpu::target_table()) {
            CAPTURE(target.name);
            const Outcome outcome = on_gpu(gemm(512, 512, 512), kTiles, target.name.c_str());
            double sum = 0;
            for (const auto& term : outcome.prediction.terms) {
                CHECK(term.seconds >= 0);
                CHECK(term.seconds <= outcome.prediction.terms.front().seconds);
                sum += term.seconds;
            }
            CHECK(sum == doctest::Approx(outcome.seconds()));
            CHECK(outcome.prediction.placement.size() == 1);
        }
    }

    TEST_CASE("gpu model: more work is more time, along each size") {
        const double base = on_gpu(gemm(2048, 2048, 512), kTiles).seconds();
        CHECK(on_gpu(gemm(4096, 2048, 512), kTiles).seconds() > 1.7 * base);
        CHECK(on_gpu(gemm(2048, 4096, 512), kTiles).seconds() > 1.7 * base);
        CHECK(on_gpu(gemm(2048, 2048, 1024), kTiles).seconds() > 1.7 * base);
    }

    TEST_CASE("gpu model: more units are faster, if there are blocks for them") {
        const auto large = gemm(2048, 2048, 256), single = gemm(64, 64, 256);
        CHECK(on_gpu(large, kTiles, "sm_80", 108).seconds() < 0.3 * on_gpu(large, kTiles, "sm_80", 16).seconds());
        CHECK(on_gpu(single, kTiles, "sm_80", 108).seconds() > 0.9 * on_gpu(single, kTiles, "sm_80", 16).seconds());
    }

    TEST_CASE("gpu model: one block more than the units hold is a round more") {
        // 108 units: 12 x 9 blocks of 64 x 64, and one row of blocks more.
        const Outcome full = on_gpu(gemm(12 * 64, 9 * 64, 4096), kTiles, "sm_80"),
                      more = on_gpu(gemm(13 * 64, 9 * 64, 4096), kTiles, "sm_80");
        CHECK(full.term("waves") == doctest::Approx(0));
        CHECK(more.term("waves") > 0);
        CHECK(more.seconds() > 1.1 * full.seconds());
    }

    TEST_CASE("gpu model: few blocks wait for memory, many hide it") {
        const Outcome few = on_gpu(gemm(64, 64, 8192), kTiles), many = on_gpu(gemm(4096, 4096, 512), kTiles);
        CHECK(few.term("latency") > 0.15 * few.seconds());
        CHECK(many.term("latency") < 0.1 * many.seconds());
    }

    TEST_CASE("gpu model: stages hide what a block alone waits for") {
        const auto with_stages = [](int stages) {
            return on_gpu(gemm(64, 64, 8192), kTiles, "sm_80", 0,
                          [=](codegen::gpu::PhaseSource& phase) { phase.stages = stages; });
        };
        CHECK(with_stages(3).term("latency") < 0.7 * with_stages(1).term("latency"));
    }

    TEST_CASE("gpu model: matrix instructions take 16-bit products, multiply-adds those of f32") {
        const Outcome narrow = on_gpu(gemm(2048, 2048, 2048, bf16), kTiles),
                      wide = on_gpu(gemm(2048, 2048, 2048), kTiles);
        CHECK(narrow.term("matrix") > 0);
        CHECK(narrow.term("multiply") == 0);
        CHECK(wide.term("matrix") == 0);
        CHECK(wide.seconds() > 3 * narrow.seconds());
    }

    TEST_CASE("gpu model: small tiles read more than large ones") {
        const Tunables large = {{"BM", "128"}, {"BN", "128"}, {"BK", "32"}};
        CHECK(on_gpu(gemm(2048, 2048, 2048), kTiles).prediction.moved_bytes >
              1.8 * on_gpu(gemm(2048, 2048, 2048), large).prediction.moved_bytes);
    }

    TEST_CASE("gpu model: registers that a thread does not have cost spills") {
        const Outcome fits = on_gpu(gemm(2048, 2048, 2048), kTiles),
                      spills = on_gpu(gemm(2048, 2048, 2048), kTiles, "sm_80", 0,
                                      [](codegen::gpu::PhaseSource&phase) { phase.registers += 300; });
        CHECK(fits.term("spills") == doctest::Approx(0));
        CHECK(spills.seconds() > 1.2 * fits.seconds());
    }

    TEST_CASE("gpu model: causal attention has half of the work") {
        const Tunables tiles = {{"BM", "64"}, {"BN", "64"}};
        const Prediction whole = on_gpu(attention(false, 2048), tiles).prediction,
                         causal = on_gpu(attention(true, 2048), tiles).prediction;
        CHECK(causal.dot_operations / whole.dot_operations == doctest::Approx(0.5).epsilon(0.06));
    }

    TEST_CASE("gpu model: rows that end within a sector move all of it") {
        const auto moved = [](std::int64_t columns) {
            const auto launch = two_tensors("kiln/softmax.kiln", "softmax_long", 1024, columns, false);
            const Prediction prediction = on_gpu(launch, {{"BLOCK", "1024"}}).prediction;
            return prediction.moved_bytes / prediction.compulsory_bytes;
        };
        CHECK(moved(1001) > moved(1000));
        CHECK(moved(1000) >= 1);
    }

    TEST_CASE("gpu model: a device that memory bounds takes as long as its bytes") {
        const Outcome outcome = on_gpu(two_tensors("kiln/softmax.kiln", "softmax_long", 16384, 16384, false),
                                       {{"BLOCK", "1024"}}, "sm_90a");
        CHECK(outcome.seconds() > outcome.prediction.compulsory_bytes / 3.35e12);
        CHECK(outcome.seconds() < 10 * outcome.prediction.compulsory_bytes / 3.35e12);
    }

    TEST_CASE("gpu machines: every target and its siblings have rates, and their own number of units") {
        for (const codegen::gpu::Target& target : codegen::gpu::target_table()) {
            const GpuMachine machine = codegen::configure::gpu_machine(target);
            CHECK(machine.f32_per_cycle >= 60);
            CHECK(machine.matrix_rate(ir::ScalarType::F16, false) > machine.vector_rate(ir::ScalarType::F32));
            CHECK(codegen::configure::gpu_machine(target, 3).units == 3);
        }
        CHECK(codegen::configure::gpu_machine(*codegen::gpu::find_target("gfx1101").target).device == "RX 7900 XTX");
    }
}

}  // namespace kiln::tests
