// The emulated GPU against results that a real one gave, where such are stored (tests/emulated_gpu/golden/*.json, made
// by record_golden); and the recorder itself, run on the stand-in for the driver.

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/emulated_gpu/cuda_tests/machine.h"
#include "tests/emulated_gpu/golden/instruction_cases.h"
#include "tests/support/temporary_folder.h"

namespace emulated_gpu {
namespace {

namespace fs = std::filesystem;

/// Compares each case of the file; returns how many there were.
size_t check_golden(const fs::path& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    const std::string device = nlohmann::json::parse(line).at("device");
    CAPTURE(device);
    size_t cases = 0;
    while (std::getline(file, line)) {
        const nlohmann::json row = nlohmann::json::parse(line);
        const std::string text = row.at("text");
        CAPTURE(text);
        CaseInputs inputs;
        CaseOutputs expected;
        for (size_t lane = 0; lane < kCaseLanes; ++lane) {
            const nlohmann::json& values = row.at("lanes").at(lane);
            for (size_t i = 0; i < 3; ++i) inputs[lane][i] = values.at(i);
            expected[lane] = values.at(3);
        }
        Machine machine(case_kernel({text.c_str(), 64}), 90);
        const uint64_t in = machine.upload(std::vector<std::array<uint64_t, 3>>(inputs.begin(), inputs.end()));
        const uint64_t out = machine.upload(std::vector<uint64_t>(kCaseLanes));
        const LaunchResult result = machine.launch("k", {1, 1, 1}, {kCaseLanes, 1, 1}, {out, in});
        if (result.report) FAIL_CHECK(result.report->text());
        const std::vector<uint64_t> outputs = machine.download<uint64_t>(out, kCaseLanes);
        for (size_t lane = 0; lane < kCaseLanes; ++lane) {
            CAPTURE(lane);
            CHECK(outputs[lane] == expected[lane]);
        }
        ++cases;
    }
    return cases;
}

}  // namespace

TEST_SUITE("emulated_gpu") {
    TEST_CASE("emulated gpu: results are those of the real GPUs that were recorded") {
        size_t files = 0;
        for (const fs::directory_entry& entry : fs::directory_iterator(EMULATED_GPU_GOLDEN)) {
            if (entry.path().extension() != ".json") continue;
            ++files;
            CHECK(check_golden(entry.path()) > 0);
        }
        MESSAGE(files << " golden files");
    }

    TEST_CASE("emulated gpu: the recorder of golden results runs on any driver") {
        const kiln::tests::TemporaryFolder folder;
        const std::string output = folder.in("golden.json");
        const pid_t child = fork();
        if (child == 0) {
            execl(EMULATED_GPU_RECORDER, EMULATED_GPU_RECORDER, output.c_str(), EMULATED_CUDA_DRIVER, nullptr);
            _exit(127);
        }
        int status = 0;
        waitpid(child, &status, 0);
        REQUIRE(status == 0);
        CHECK(check_golden(output) == instruction_cases().size());
    }
}

}  // namespace emulated_gpu
