// Random kernels: compiled code against the interpreter.
#include <doctest/doctest.h>

#include <algorithm>

#include "../ir/random_kernel.h"
#include "ir/passes/pipeline.h"
#include "kernel_run.h"

using namespace kiln;
using namespace kiln::test;
using enum ir::ScalarType;

namespace {

void compare(std::uint32_t seed, std::int64_t n, bool with_passes, bool unit,
             const codegen::cpu::Target& target = codegen::cpu::host_target()) {
    CAPTURE(seed);
    CAPTURE(n);
    ir::Kernel kernel = RandomKernel(seed).kernel();
    for (ir::Parameter& parameter : kernel.parameters) {
        if (unit && kernel.type(parameter.value).is_tensor()) {
            parameter.facts.unit_axis = static_cast<int>(kernel.type(parameter.value).shape.rank()) - 1;
        }
    }
    if (with_passes) ir::run_tile_passes(kernel);
    const std::int64_t rows = n + 1, columns = RandomKernel::kColumns;
    check_same(kernel,
               {TensorSpec{F32, {n}, unit ? ir::Shape{1} : ir::Shape{-2}, seed, 4},
                TensorSpec{I32, {n + 1}, {}, seed + 1, 0.1}, ir::Scalar::int64(static_cast<std::int64_t>(seed % 9) - 2),
                TensorSpec{F32, {rows, columns}, {}, seed + 2}, TensorSpec{I64, {rows, columns}, {}, seed + 3}},
               {1e-5, 1e-5}, target);
}

}  // namespace

TEST_SUITE("differential") {
    TEST_CASE("random kernels as they come") {
        for (std::uint32_t seed = 1; seed <= 40; ++seed) compare(seed, 12, false, true);
    }
    TEST_CASE("random kernels after the tile passes") {
        for (std::uint32_t seed = 1; seed <= 40; ++seed) compare(seed, 12, true, true);
    }
    TEST_CASE("random kernels over strided tensors") {
        for (std::uint32_t seed = 100; seed <= 120; ++seed) compare(seed, 8, true, false);
    }
    TEST_CASE("random kernels at each level of x86-64") {
        for (const char* level : {"x86_64_v2", "x86_64_v3", "x86_64_v4"}) {
            const codegen::cpu::Target* target = codegen::cpu::target_named(level);
            const auto& host = codegen::cpu::host_target().schedule_names;
            const bool runs_here = std::find(host.begin(), host.end(), level) != host.end();
            if (target == nullptr || !runs_here) continue;
            CAPTURE(level);
            for (std::uint32_t seed = 200; seed <= 212; ++seed) compare(seed, 12, true, true, *target);
        }
    }
}
