// The kernels of the library as CUDA and HIP: they generate for every family of targets, compile, and on the emulated
// GPU compute what the interpreter computes.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "emulated_device.h"
#include "ir/interpret.h"
#include "library_case.h"

using namespace kiln;
using namespace kiln::test;
using codegen::gpu::find_target;
using codegen::gpu::generate;
using codegen::gpu::Generated;

namespace {

Generated generated(const LibraryCase& test, const SpecialisedCase& specialised, const std::string& target) {
    Generated result = generate(specialised.kernel(), *find_target(target).target, &specialised.program.sources);
    for (const codegen::gpu::Refusal& refusal : result.refusals) {
        FAIL_CHECK(label(test) << " for " << target << ": " << refusal.message);
    }
    return result;
}

void run_on_emulator(const std::string& kernel, Proven proven) {
    const char* only = std::getenv("KILN_TEST_CASE");
    for (const LibraryCase& test : library_cases()) {
        if (!kernel.empty() && test.file != kernel) continue;
        if (only != nullptr && label(test) != only) continue;
        CAPTURE(label(test));
        const SpecialisedCase specialised = specialise(test, *find_target("sm_80").target, proven);
        const Generated result = generated(test, specialised, "sm_80");
        if (!result.refusals.empty()) continue;
        const Compiled compiled = Nvrtc::get().compile(result.source.text, "compute_80");
        REQUIRE_MESSAGE(compiled.succeeded, label(test) << "\n" << compiled.log);
        CaseMemory found(test, specialised.kernel(), specialised.specialisation.defaults);
        CaseMemory expected(test, specialised.kernel(), specialised.specialisation.defaults);
        const std::string failure = EmulatedDevice::get().run(compiled.code, result.source, specialised.kernel(),
                                                              found.arguments(), found.bytes(), 3);
        REQUIRE_MESSAGE(failure.empty(), label(test) << ": " << failure);
        const ir::LaunchErrors errors =
            ir::interpret(specialised.kernel(), expected.arguments(), 3, [](const std::string&) {});
        REQUIRE(errors.messages.empty());
        const std::string wrong = difference(test, specialised.kernel(), found, expected);
        CHECK_MESSAGE(wrong.empty(), wrong);
    }
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("gpu: every kernel of the library becomes source for NVIDIA and AMD, twice the same") {
        for (const LibraryCase& test : library_cases()) {
            for (const char* target : {"sm_80", "gfx90a"}) {
                CAPTURE(target);
                const SpecialisedCase specialised = specialise(test, *find_target(target).target, Proven::All);
                const Generated first = generated(test, specialised, target);
                CHECK(first.source.text == generated(test, specialised, target).source.text);
            }
        }
    }
}

TEST_SUITE("emulated_gpu") {
#define KILN_ON_EMULATOR(file)                                       \
    TEST_CASE("gpu: " file " on the emulated GPU, nothing proven") { \
        run_on_emulator(file, Proven::Nothing);                      \
    }                                                                \
    TEST_CASE("gpu: " file " on the emulated GPU, all proven") {     \
        run_on_emulator(file, Proven::All);                          \
    }
    KILN_ON_EMULATOR("vector_add")
    KILN_ON_EMULATOR("softmax")
    KILN_ON_EMULATOR("gemm")
    KILN_ON_EMULATOR("movement")
    KILN_ON_EMULATOR("reductions")
    KILN_ON_EMULATOR("cross_entropy")
    KILN_ON_EMULATOR("dropout")
    KILN_ON_EMULATOR("swiglu_sampling")
    KILN_ON_EMULATOR("jagged")
    KILN_ON_EMULATOR("gemm_splitk")
    KILN_ON_EMULATOR("gemm_streamk")
    KILN_ON_EMULATOR("gemm_grouped")
    KILN_ON_EMULATOR("gemm_quantised")
    KILN_ON_EMULATOR("convolution")
    KILN_ON_EMULATOR("matmul_layer_norm")
    KILN_ON_EMULATOR("layer_norm")
    KILN_ON_EMULATOR("rms_norm")
    KILN_ON_EMULATOR("rope")
    KILN_ON_EMULATOR("attention")
    KILN_ON_EMULATOR("attention_varlen")
    KILN_ON_EMULATOR("attention_backward")
    KILN_ON_EMULATOR("attention_decode")
    KILN_ON_EMULATOR("linear_attention")
#undef KILN_ON_EMULATOR
}
