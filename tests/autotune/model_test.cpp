// Sanity of the cost model: more work is more time, and what is known to be bad is predicted to be.
#include "codegen/configure/model.h"

#include "autotune/candidates.h"
#include "autotune/inputs.h"
#include "codegen/cpu/target.h"
#include "tests/autotune/model_launches.h"

namespace kiln::tests {
namespace {

using codegen::configure::CpuMachine;
using codegen::configure::Prediction;
using runtime::CapturedLaunch;

/// With the given tunables, on an AVX-512 machine of so many threads: the same on every host.
Prediction predicted(CapturedLaunch launch, const std::map<std::string, std::string>& tunables, int threads = 1) {
    launch.tunables = tunables;
    const auto module =
        std::make_shared<runtime::ModuleState>(launch.file, runtime::with_standard_library(frontend::read_file));
    const auto kernel = autotune::kernel_of(module, launch);
    const auto arguments = autotune::LaunchArguments::shapes(launch);
    const auto matched = runtime::match_arguments(kernel->signature(), arguments.arguments());
    frontend::Request request = kernel->base_request();
    request.parameters = runtime::describe_arguments(kernel->signature(), matched);
    request.targets = {"cpu", "x86_64_v4"};
    const frontend::Specialisation specialisation = runtime::specialise_kernel(module->program(), request);
    const auto bound = runtime::bind_arguments(specialisation, matched);
    const auto prepared = ir::prepare_launch(specialisation.kernel, bound, threads);
    const CpuMachine machine = codegen::configure::cpu_machine(*codegen::cpu::target_named("x86_64_v4"), threads);
    return codegen::configure::predict(specialisation.kernel, std::get<ir::Launch>(prepared), bound, machine);
}

const std::map<std::string, std::string> kGemmTiles = {{"BM", "64"}, {"BN", "256"}, {"BK", "128"}};
const std::map<std::string, std::string> kAttentionTiles = {{"BM", "64"}, {"BN", "64"}};

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("model: the operations and bytes of a product are exact") {
        const Prediction prediction = predicted(gemm(512, 384, 256), kGemmTiles);
        CHECK(prediction.dot_operations == doctest::Approx(2.0 * 512 * 384 * 256));
        CHECK(prediction.compulsory_bytes == doctest::Approx(4.0 * (512 * 256 + 256 * 384 + 512 * 384)));
    }

    TEST_CASE("model: the terms add up to the prediction, the largest first") {
        const Prediction prediction = predicted(gemm(512, 512, 512), kGemmTiles);
        double sum = 0;
        for (const auto& term : prediction.terms) {
            CHECK(term.seconds >= 0);
            CHECK(term.seconds <= prediction.terms.front().seconds);
            sum += term.seconds;
        }
        CHECK(sum == doctest::Approx(prediction.seconds));
        CHECK(prediction.terms.front().name == "dot");
    }

    TEST_CASE("model: more work is more time, along each size") {
        const double base = predicted(gemm(512, 512, 512), kGemmTiles).seconds;
        CHECK(predicted(gemm(1024, 512, 512), kGemmTiles).seconds > 1.7 * base);
        CHECK(predicted(gemm(512, 1024, 512), kGemmTiles).seconds > 1.7 * base);
        CHECK(predicted(gemm(512, 512, 1024), kGemmTiles).seconds > 1.7 * base);
    }

    TEST_CASE("model: two threads are faster than one, if there are programs for both") {
        const auto large = gemm(1024, 1024, 512), single = gemm(64, 256, 512);
        CHECK(predicted(large, kGemmTiles, 2).seconds < 0.6 * predicted(large, kGemmTiles, 1).seconds);
        CHECK(predicted(single, kGemmTiles, 2).seconds > 0.9 * predicted(single, kGemmTiles, 1).seconds);
        CHECK(predicted(single, kGemmTiles, 2).busy_units == doctest::Approx(1));
    }

    TEST_CASE("model: edges are seen, and empty products cost next to nothing") {
        const double whole = predicted(gemm(64, 256, 512), kGemmTiles).seconds;
        CHECK(predicted(gemm(8, 256, 512), kGemmTiles).seconds < 0.5 * whole);
        CHECK(predicted(gemm(64, 256, 0), kGemmTiles).seconds < 0.2 * whole);
        CHECK(predicted(gemm(0, 256, 512), kGemmTiles).dot_operations == 0);
    }

    TEST_CASE("model: a tile width that leaves register tiles half empty is worse") {
        const double narrow = predicted(attention(false, 512), {{"BM", "64"}, {"BN", "80"}}).seconds;
        CHECK(predicted(attention(false, 512), kAttentionTiles).seconds < narrow);
        CHECK(predicted(attention(false, 512), {{"BM", "64"}, {"BN", "80"}}).register_efficiency < 0.8);
    }

    TEST_CASE("model: causal attention has half of the work, and its loops their true lengths") {
        const Prediction whole = predicted(attention(false, 2048), kAttentionTiles);
        const Prediction causal = predicted(attention(true, 2048), kAttentionTiles);
        CHECK(causal.dot_operations / whole.dot_operations == doctest::Approx(0.5).epsilon(0.06));
        CHECK(causal.seconds < 0.65 * whole.seconds);
    }

    TEST_CASE("model: rows a power of two apart do not all stay in the first cache while a tile is transposed") {
        const auto seconds = [](std::int64_t columns, const char* rows_of_tile) {
            const auto launch = two_tensors("kiln/movement.kiln", "transpose_copy", 1024, columns, true);
            return predicted(launch, {{"BM", rows_of_tile}, {"BN", "64"}}).seconds;
        };
        CHECK(seconds(1024, "32") > 2 * seconds(1024, "8"));
        CHECK(seconds(1040, "32") < 1.2 * seconds(1040, "8"));
    }

    TEST_CASE("model: a tile that reaches beyond its tensor costs its mask") {
        const auto seconds = [](std::int64_t columns, const char* block) {
            const auto launch = two_tensors("kiln/softmax.kiln", "softmax_long", 256, columns, false);
            return predicted(launch, {{"BLOCK", block}}).seconds;
        };
        CHECK(seconds(1023, "1024") > 1.02 * seconds(1024, "1024"));
    }

    TEST_CASE("model: rows that a program reads twice come from the first cache if they fit there") {
        CapturedLaunch launch = two_tensors("kiln/layer_norm.kiln", "layer_norm", 512, 1024, false);
        launch.tensors.insert(launch.tensors.begin() + 1, dense("w", f32, {1024}));
        launch.tensors.push_back(dense("mean", f32, {512}));
        launch.tensors.push_back(dense("rstd", f32, {512}));
        CHECK(predicted(launch, {{"ROWS", "4"}}).seconds < predicted(launch, {{"ROWS", "16"}}).seconds);
    }

    TEST_CASE("legality: scratch memory is estimated before anything is compiled") {
        const auto module = std::make_shared<runtime::ModuleState>("tile.kiln", [](const std::string&) {
            return std::optional<std::string>(
                "kernel tile(x: in f32[M, N], y: out f32[M, N])\n"
                "  tune B in {32, 2048}\n"
                "grid i in 0 .. M by B, j in 0 .. N by B {\n"
                "    let e = exp(x[i :+ B, j :+ B])\n"
                "    y[i :+ B, j :+ B] = e / sum(e, axis = 1)[:, _] + transpose(e)\n"
                "}\n");
        });
        for (const std::int64_t block : {32, 2048}) {
            frontend::Request request;
            request.kernel = "tile";
            request.tunables["B"] = ir::Scalar::int64(block);
            const auto specialisation = runtime::specialise_kernel(module->program(), request);
            const std::uint64_t bytes =
                codegen::configure::estimated_scratch(specialisation.kernel, specialisation.kernel.phases[0]);
            CHECK(bytes >= static_cast<std::uint64_t>(block * block * 4));
            const auto reason = codegen::configure::exclusion(specialisation.kernel, {8u << 20, 1 << 24});
            CHECK(reason.has_value() == (block == 2048));
            if (reason) CHECK(reason->find("KiB of scratch memory") != std::string::npos);
        }
    }
}

}  // namespace kiln::tests
