// What the emulated GPU counts while a product runs on tiles that lie inside their tensors.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "emulated_device.h"
#include "library_case.h"
#include "tests/support/temporary_folder.h"

using namespace kiln;
using namespace kiln::test;

namespace {

double one(std::int64_t) {
    return 1.0;
}

LibraryCase gemm(ir::ScalarType type) {
    const auto matrix = [&](const char* name) { return CaseTensor{name, type, {64, 64}, one, {}}; };
    return {"gemm", "gemm", {}, {matrix("a"), matrix("b"), matrix("c")}, {}, {}};
}

LibraryCase attention(ir::ScalarType type) {
    const auto head = [&](const char* name) { return CaseTensor{name, type, {1, 1, 128, 64}, one, {}}; };
    return {"attention", "attention", {}, {head("q"), head("k"), head("v"), head("o")}, {{"scale", 0.125}}, {}};
}

/// On tensors of ones, which leave what is known: sums of 64, means of 1.
void run(const LibraryCase& test) {
    const codegen::gpu::Target& target = *codegen::gpu::find_target("sm_80").target;
    const SpecialisedCase specialised = specialise(test, target, Proven::All);
    const codegen::gpu::Generated generated = codegen::gpu::generate(specialised.kernel(), target);
    REQUIRE(generated.refusals.empty());
    const Compiled compiled = Nvrtc::get().compile(generated.source.text, "compute_80");
    REQUIRE_MESSAGE(compiled.succeeded, compiled.log);
    CaseMemory memory(test, specialised.kernel(), specialised.specialisation.defaults);
    const std::string failure = EmulatedDevice::get().run(compiled.code, generated.source, specialised.kernel(),
                                                          memory.arguments(), memory.bytes(), 1);
    REQUIRE_MESSAGE(failure.empty(), failure);
    if (test.kernel == "gemm") CHECK(memory.value(2, 0) == 64);
    if (test.kernel == "attention") CHECK(memory.value(4, 0) == 1);
}

}  // namespace

TEST_SUITE("emulated_gpu") {
    TEST_CASE("gpu: products meet no bank conflict and load the fewest sectors of memory, past the registers") {
        const tests::TemporaryFolder folder;
        const std::string report = folder.in("counters.json");
        setenv("EMULATED_GPU_REPORT", report.c_str(), 1);  // read when the driver starts, in this process of one test
        for (const ir::ScalarType type : {ir::ScalarType::F32, ir::ScalarType::BF16}) {
            CAPTURE(ir::name(type));
            for (const LibraryCase& test : {gemm(type), attention(type)}) {
                CAPTURE(test.kernel);
                run(test);
                std::ifstream file(report);
                std::string line, last;
                while (std::getline(file, line)) last = line;
                const auto counters = nlohmann::json::parse(last);
                CHECK(counters["shared_bank_conflicts"] == 0);
                CHECK(counters["local_bytes"] == 0);
                const auto sectors = [&](const char* name) { return counters[name].get<int>(); };
                CHECK(sectors("global_load_sectors") * 32 == counters["global_load_bytes"].get<int>());
                if (test.kernel == "gemm") {
                    CHECK(sectors("global_load_sectors") + sectors("global_store_sectors") ==
                          sectors("global_fewest_sectors"));
                }
                CHECK(counters["async_copy_bytes"] == counters["global_load_bytes"]);
            }
        }
    }
}
