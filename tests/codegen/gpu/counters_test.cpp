// What the emulated GPU counts while a product runs on tiles that lie inside their tensors.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "emulated_device.h"
#include "library_case.h"

using namespace kiln;
using namespace kiln::test;

TEST_SUITE("emulated_gpu") {
    TEST_CASE("gpu: gemm of f32 meets no bank conflict and gemm touches the fewest sectors of memory") {
        const std::string report = "gpu_counters_test.json";
        std::remove(report.c_str());
        setenv("EMULATED_GPU_REPORT", report.c_str(), 1);  // read when the driver starts, in this process of one test
        for (const ir::ScalarType type : {ir::ScalarType::F32, ir::ScalarType::BF16}) {
            CAPTURE(ir::name(type));
            const auto ones = [](std::int64_t) { return 1.0; };
            const LibraryCase test{
                "gemm",
                "gemm",
                {},
                {{"a", type, {64, 64}, ones, {}}, {"b", type, {64, 64}, ones, {}}, {"c", type, {64, 64}, ones, {}}},
                {},
                {}};
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
            CHECK(memory.value(2, 0) == 64);
            std::ifstream file(report);
            std::string line, last;
            while (std::getline(file, line)) last = line;
            const auto counters = nlohmann::json::parse(last);
            // Stores of 16-bit elements still meet some; none of the reads does.
            const int allowed = type == ir::ScalarType::F32 ? 0 : 64;
            CHECK(counters["shared_bank_conflicts"].get<int>() <= allowed);
            CHECK(counters["local_bytes"] == 0);
            const auto sectors =
                counters["global_load_sectors"].get<int>() + counters["global_store_sectors"].get<int>();
            CHECK(sectors == counters["global_fewest_sectors"].get<int>());
        }
        std::remove(report.c_str());
    }
}
