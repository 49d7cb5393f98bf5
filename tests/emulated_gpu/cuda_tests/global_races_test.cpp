// Races between blocks in global memory, which are checked on request.

#include "tests/emulated_gpu/common_tests/seeded_bugs.h"
#include "tests/emulated_gpu/cuda_tests/compiled_kernels.h"
#include "tests/emulated_gpu/cuda_tests/nvrtc.h"

namespace emulated_gpu {
namespace {

/// Each block sums its part; the block that is done last adds up the sums.
const char* const kLastBlockSource = R"(
extern "C" __global__ void total(const int* in, int* sums, unsigned* done, int* out) {
    __shared__ bool last;
    __shared__ int part[32];
    int thread = threadIdx.x, sum = in[blockIdx.x * 64 + thread] + in[blockIdx.x * 64 + 32 + thread];
    part[thread] = sum;
    __syncthreads();
    if (thread == 0) {
        int mine = 0;
        for (int i = 0; i < 32; ++i) mine += part[i];
        sums[blockIdx.x] = mine;
        __threadfence();
        last = atomicAdd(done, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && thread == 0) {
        __threadfence();
        int all = 0;
        for (int i = 0; i < gridDim.x; ++i) all += sums[i];
        out[0] = all;
    }
})";

Outcome run_total(const std::string& source, uint64_t seed) {
    Machine machine(compile_cuda(source));
    machine.options.check_global = true;
    machine.options.shuffle = seed != 0;
    machine.options.seed = seed;
    std::vector<int32_t> in(8 * 64);
    int32_t sum = 0;
    for (size_t i = 0; i < in.size(); ++i) sum += in[i] = static_cast<int32_t>(i * i % 97);
    const uint64_t device_in = machine.upload(in);
    const uint64_t sums = machine.upload(std::vector<int32_t>(9));
    const uint64_t done = machine.upload(std::vector<int32_t>(1));
    const uint64_t out = machine.upload(std::vector<int32_t>(1));
    const LaunchResult result = machine.launch("total", {8, 1, 1}, {32, 1, 1}, {device_in, sums, done, out});
    if (result.report) return {true, *result.report, false};
    Outcome outcome;
    outcome.wrong_values = machine.download<int32_t>(out, 1)[0] != sum;
    return outcome;
}

const std::vector<SeededBug> kGlobalBugs = {
    {"no fence before the counter",
     {{"        __threadfence();\n        last", "        last"}},
     false,
     FaultKind::GlobalRace,
     {}},
    {"counter that is not atomic", {{"atomicAdd(done, 1)", "(*done)++"}}, false, FaultKind::GlobalRace, {}},
    {"sums read by all blocks", {{"if (last && thread == 0)", "if (thread == 0)"}}, false, FaultKind::GlobalRace, {}},
    {"parts that overlap",
     {{"sums[blockIdx.x] = mine;", "sums[blockIdx.x] = sums[blockIdx.x + 1] = mine;"}},
     false,
     FaultKind::GlobalRace,
     {}},
    {"all blocks write the result",
     {{"out[0] = all;", "} if (thread == 0) { out[0] = sums[blockIdx.x];"}},
     false,
     FaultKind::GlobalRace,
     {}},
};

}  // namespace

TEST_SUITE("emulated_gpu") {
    TEST_CASE("emulated gpu: races between blocks seeded into a sum are caught") {
        check_seeded_bugs(kLastBlockSource, kGlobalBugs, &run_total);
    }

    TEST_CASE("emulated gpu: races between blocks are found only on request") {
        Machine machine(compile_cuda(R"(extern "C" __global__ void all(int* out) { out[0] = blockIdx.x; })"));
        const uint64_t out = machine.upload(std::vector<int32_t>(1));
        CHECK(!machine.launch("all", {2, 1, 1}, {1, 1, 1}, {out}).report);
        machine.options.check_global = true;
        const LaunchResult result = machine.launch("all", {2, 1, 1}, {1, 1, 1}, {out});
        REQUIRE(result.report);
        CHECK(result.report->text().find("which block 0 of the grid wrote at ptx line") != std::string::npos);
    }
}

}  // namespace emulated_gpu
