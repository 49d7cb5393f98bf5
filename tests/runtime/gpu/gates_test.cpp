// Ten launches as programs make them, in the configurations that the runtime picks for them, compiled for every target:
// nothing may be spilled, and no address may leave AMD's compilers in doubt about the kind of memory.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <regex>

#include "codegen/gpu/source.h"
#include "kiln/tensor.hpp"
#include "runtime/cuda/nvrtc.h"
#include "runtime/gpu/code_stats.h"
#include "runtime/gpu/kernel_code.h"
#include "runtime/hip/hiprtc.h"
#include "runtime/hip/offline_clang.h"
#include "runtime/state.h"
#include "tests/runtime/gpu/absent_gpu.h"
#include "tests/runtime/host.h"
#include "tests/skip.h"

namespace kiln::test {
namespace {

struct NamedTensor {
    std::string parameter;
    DType type;
    Extents sizes;
};

struct NamedShape {
    std::string name, file, kernel;
    std::vector<Generic> generics;
    std::vector<NamedTensor> tensors;
    std::vector<std::pair<std::string, double>> numbers;
};

NamedShape gemm_shape(const std::string& name, DType type, std::int64_t m, std::int64_t n, std::int64_t k) {
    return {name, "gemm", "gemm", {}, {{"a", type, {m, k}}, {"b", type, {k, n}}, {"c", type, {m, n}}}, {}};
}

NamedShape attention_shape(const std::string& name, DType type, bool causal, std::int64_t m, std::int64_t n,
                           std::int64_t d) {
    return {
        name,
        "attention",
        "attention",
        {{"causal", causal}},
        {{"q", type, {1, 32, m, d}}, {"k", type, {1, 8, n, d}}, {"v", type, {1, 8, n, d}}, {"o", type, {1, 32, m, d}}},
        {{"scale", 0.1}}};
}

std::vector<NamedShape> named_shapes() {
    return {gemm_shape("gemm, projection", bf16, 4096, 4096, 4096),
            gemm_shape("gemm, feed-forward", bf16, 512, 14336, 4096),
            gemm_shape("gemm, decoding", bf16, 16, 4096, 4096),
            gemm_shape("gemm, odd sizes", f32, 1001, 1003, 1007),
            {"gemm, fp8 in blocks",
             "gemm_quantised",
             "gemm_fp8_block",
             {},
             {{"a", f8e4m3, {4096, 4096}},
              {"b", f8e4m3, {4096, 4096}},
              {"a_scale", f32, {4096, 32}},
              {"b_scale", f32, {32, 32}},
              {"c", bf16, {4096, 4096}}},
             {}},
            attention_shape("attention, causal prefill", bf16, true, 4096, 4096, 128),
            attention_shape("attention, odd sizes", f16, false, 1000, 77, 64),
            {"attention, paged decoding",
             "attention_decode",
             "attention_decode_paged",
             {},
             {{"q", bf16, {16, 8, 4, 128}},
              {"k_cache", bf16, {512, 64, 8, 128}},
              {"v_cache", bf16, {512, 64, 8, 128}},
              {"block_table", i32, {16, 32}},
              {"lengths", i32, {16}},
              {"o", bf16, {16, 8, 4, 128}}},
             {{"scale", 0.1}}},
            {"rms_norm",
             "rms_norm",
             "rms_norm",
             {},
             {{"x", bf16, {4096, 4096}}, {"w", bf16, {4096}}, {"y", bf16, {4096, 4096}}},
             {}},
            {"softmax", "softmax", "softmax", {}, {{"x", f32, {4096, 4096}}, {"y", f32, {4096, 4096}}}, {}}};
}

/// The text of a shape's code, as a launch on a device of the target would have it compiled.
codegen::gpu::Source source_of(const NamedShape& shape, const codegen::gpu::Target& target) {
    const auto module = std::make_shared<const runtime::ModuleState>(
        "kiln/" + shape.file + ".kiln", runtime::with_standard_library(frontend::read_file));
    runtime::KernelState kernel(module, shape.kernel, shape.generics);
    std::vector<Argument> arguments;
    std::uintptr_t address = 1 << 20;
    for (const NamedTensor& given : shape.tensors) {
        arguments.push_back(arg(given.parameter, tensor(given.type, reinterpret_cast<void*>(address), given.sizes)));
        address += std::uintptr_t{1} << 32;
    }
    for (const auto& [parameter, number] : shape.numbers) arguments.push_back(arg(parameter, number));
    std::vector<codegen::gpu::Source> sources;
    const AbsentGpu gpu(target, [&](const ir::Kernel& specialised, const support::SourceMap& map) {
        sources.push_back(runtime::gpu::source_of(specialised, target, map));
    });
    kernel.prepare(gpu, arguments);
    REQUIRE(sources.size() == 1);
    return std::move(sources.front());
}

void check_nvidia(const NamedShape& shape, const codegen::gpu::Target& target) {
    CAPTURE(shape.name);
    CAPTURE(target.name);
    const codegen::gpu::Source source = source_of(shape, target);
    const auto compiled = runtime::cuda::nvrtc().compiler->compile(source.text, shape.kernel, target);
    for (const runtime::gpu::PhaseStats& stats : phase_stats(source, compiled, target)) {
        CHECK(stats.spill_bytes == 0);
        CHECK(stats.stack_bytes == 0);
    }
    CHECK(runtime::gpu::performance_warnings(compiled.log).empty());
}

/// The greatest number behind a name in the metadata of an assembly text; -1 if it is not there.
int greatest(const std::string& assembly, const std::string& name) {
    int most = -1;
    const std::regex pattern("\\." + name + ": *([0-9]+)");
    for (std::sregex_iterator at(assembly.begin(), assembly.end(), pattern), end; at != end; ++at)
        most = std::max(most, std::stoi((*at)[1]));
    return most;
}

/// Faults that are known: matrix instructions of gfx1100 want every operand twice in a wave, and these launches spill
/// in each of their configurations. A launch that no longer does leaves this list.
bool spills_as_known(const NamedShape& shape, const codegen::gpu::Target& target) {
    return target.name == "gfx1100" &&
           (shape.name == "gemm, fp8 in blocks" || shape.name == "attention, causal prefill");
}

void check_amd(const NamedShape& shape, const codegen::gpu::Target& target) {
    CAPTURE(shape.name);
    CAPTURE(target.name);
    const codegen::gpu::Source source = source_of(shape, target);
    const std::string assembly = runtime::hip::assembly(source.text, target);
    const bool spills = spills_as_known(shape, target);
    CHECK((greatest(assembly, "vgpr_spill_count") > 0) == spills);
    CHECK((greatest(assembly, "private_segment_fixed_size") > 0) == spills);
    for (const char* instruction : {"flat_load", "flat_store", "flat_atomic"})
        CHECK(assembly.find(instruction) == std::string::npos);
    const runtime::gpu::SourceCompiler* hiprtc = runtime::hip::hiprtc().compiler;
    const bool takes_minutes = shape.tensors.front().type == f16;  // see runtime/hip/compilers.cpp
    if (hiprtc == nullptr || !hiprtc->knows(target) || takes_minutes) return;
    for (const runtime::gpu::PhaseStats& stats :
         phase_stats(source, hiprtc->compile(source.text, shape.kernel, target), target)) {
        CHECK(stats.spill_bytes == 0);
        CHECK(stats.stack_bytes == 0);
    }
}

std::vector<const codegen::gpu::Target*> targets_of(codegen::gpu::Vendor vendor) {
    std::vector<const codegen::gpu::Target*> targets;
    for (const char* name : {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a", "gfx90a", "gfx942", "gfx950",
                             "gfx1250", "gfx1100", "gfx1201"}) {
        const codegen::gpu::Target* target = codegen::gpu::find_target(name).target;
        if (target->vendor == vendor) targets.push_back(target);
    }
    return targets;
}

template <class Check>
void check_each(codegen::gpu::Vendor vendor, bool all, const Check& check) {
    if (vendor == codegen::gpu::Vendor::Nvidia && runtime::cuda::nvrtc().compiler == nullptr)
        skip("nvrtc", runtime::cuda::nvrtc().reason);
    if (vendor == codegen::gpu::Vendor::Amd && runtime::hip::offline_clang().compiler == nullptr)
        skip("clang", runtime::hip::offline_clang().reason);
    const std::vector<const codegen::gpu::Target*> targets = targets_of(vendor);
    const std::vector<NamedShape> shapes = named_shapes();
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        for (std::size_t j = 0; j < targets.size(); ++j) {
            if (all || i % targets.size() == j) check(shapes[i], *targets[j]);
        }
    }
}

using codegen::gpu::Vendor;

TEST_SUITE("unit") {
    TEST_CASE("gate: a kernel beyond its target is the caller's error, with its place and what works") {
        const auto module = std::make_shared<const runtime::ModuleState>("big.kiln", [](const std::string&) {
            return std::optional<std::string>(
                "kernel ordered(x: in f32[N], y: out f32[N])\n"
                "  tune LENGTH in {65536, 4096}\n"
                "grid i in 0 .. N by LENGTH {\n    y[i :+ LENGTH] = sort(x[i :+ LENGTH, fill = inf], axis = 0)\n}\n");
        });
        const codegen::gpu::Target& target = *codegen::gpu::find_target("gfx942").target;
        int compiled = 0;
        const AbsentGpu gpu(target, [&](const ir::Kernel& kernel, const support::SourceMap& sources) {
            runtime::gpu::source_of(kernel, target, sources);
            ++compiled;
        });
        const auto launch = [&](const std::vector<Generic>& generics) {
            runtime::KernelState kernel(module, "ordered", generics);
            kernel.prepare(gpu, std::vector<Argument>{tensor(f32, reinterpret_cast<void*>(1 << 20), {100000}),
                                                      tensor(f32, reinterpret_cast<void*>(1 << 24), {100000})});
        };
        const std::string error = error_of([&] { launch({}); });
        CHECK_MESSAGE(error.starts_with("user: big.kiln:3:6: error: `ordered` needs "), error);
        CHECK(contains(error,
                       " bytes of shared memory for its tiles, and a block of gfx942 has 65536: smaller tiles fit"));
        CHECK(compiled == 0);
        launch({{"LENGTH", 4096}});  // the program goes on, and what was said to fit does
        CHECK(compiled == 1);
    }
}

TEST_SUITE("library") {
    TEST_CASE("gate: ten launches spill nothing, one NVIDIA target each") {
        check_each(Vendor::Nvidia, false, check_nvidia);
    }
    TEST_CASE("gate: ten launches spill nothing and have no flat accesses, one AMD target each") {
        check_each(Vendor::Amd, false, check_amd);
    }
    TEST_CASE("gate: ten launches spill nothing on any NVIDIA target" * doctest::skip()) {
        check_each(Vendor::Nvidia, true, check_nvidia);
    }
    TEST_CASE("gate: ten launches spill nothing and have no flat accesses on any AMD target" * doctest::skip()) {
        check_each(Vendor::Amd, true, check_amd);
    }
}

}  // namespace
}  // namespace kiln::test
