// Kernels for sm_90a compiled by NVRTC, and bugs seeded into them.

#include "tests/emulated_gpu/common_tests/seeded_bugs.h"
#include "tests/emulated_gpu/cuda_tests/hopper_kernels.h"
#include "tests/emulated_gpu/cuda_tests/nvrtc.h"
#include "tests/emulated_gpu/cuda_tests/tensor_maps.h"

namespace emulated_gpu {
namespace {

std::string compile_hopper(const std::string& source) {
    return compile_cuda(source, "hopper.cu", "compute_90a");
}

const std::string& hopper_gemm() {
    static const std::string source = std::string(kHopperHelpers) + kHopperGemmSource;
    return source;
}
const std::string& cluster_kernel() {
    static const std::string source = std::string(kHopperHelpers) + kClusterSource;
    return source;
}

Outcome run_hopper_source(const std::string& source, uint64_t seed) {
    Machine machine(compile_hopper(source), 90);
    machine.options.shuffle = seed != 0;
    machine.options.seed = seed;
    machine.options.instruction_budget = 1000000;
    Outcome outcome;
    for (const std::array<uint32_t, 3> size : {std::array<uint32_t, 3>{64, 64, 192}, {72, 80, 200}}) {
        const GemmRun run = run_hopper_gemm(machine, size[0], size[1], size[2]);
        if (run.result.report) return {true, *run.result.report, false};
        outcome.wrong_values |= !(run.worst_error < 1e-4);
    }
    return outcome;
}

Outcome run_cluster_source(const std::string& source, uint64_t seed) {
    Machine machine(compile_hopper(source), 90);
    machine.options.shuffle = seed != 0;
    machine.options.seed = seed;
    machine.options.instruction_budget = 100000;
    std::vector<int32_t> in(128);
    for (int32_t i = 0; i < 128; ++i) in[static_cast<size_t>(i)] = 5 * i;
    const uint64_t device_in = machine.upload(in);
    const uint64_t device_out = machine.upload(std::vector<int32_t>(256));
    LaunchShape shape;
    shape.grid = {4, 1, 1};
    shape.block = {64, 1, 1};
    shape.cluster = {2, 1, 1};
    shape.in_clusters = true;
    shape.parameters = Parameters().add(device_in).add(device_out).bytes();
    const LaunchResult result =
        run_kernel(*machine.module().kernels.at("neighbours"), shape, machine.memory(), machine.options, {});
    if (result.report) return {true, *result.report, false};
    Outcome outcome;
    const std::vector<int32_t> out = machine.download<int32_t>(device_out, 256);
    for (int32_t i = 0; i < 256; ++i) {
        const int32_t other = i / 64 % 2 ^ 1;
        outcome.wrong_values |= out[static_cast<size_t>(i)] != 5 * (i / 128 * 64 + 63 - i % 64) + other;
    }
    return outcome;
}

const std::vector<SeededBug> kHopperGemmBugs = {
    {"expect_tx too short",
     {{"expect(&full[s], 2 * kTileBytes)", "expect(&full[s], kTileBytes)"}},
     false,
     FaultKind::AsyncCopyNotWaitedFor,
     {}},
    {"expect_tx too long",
     {{"expect(&full[s], 2 * kTileBytes)", "expect(&full[s], 3 * kTileBytes)"}},
     false,
     FaultKind::Deadlock,
     {}},
    {"no wait for the tiles",
     {{"            wait(&full[s], t / kStages % 2);\n", ""}},
     false,
     FaultKind::AsyncCopyNotWaitedFor,
     {FaultKind::UninitialisedShared}},
    {"wrong parity for the tiles",
     {{"wait(&full[s], t / kStages % 2);", "wait(&full[s], t / kStages % 2 ^ 1);"}},
     false,
     FaultKind::AsyncCopyNotWaitedFor,
     {FaultKind::UninitialisedShared}},
    {"wrong parity for free stages", {{"t / kStages % 2 ^ 1", "t / kStages % 2"}}, false, FaultKind::Deadlock, {}},
    {"no wait for free stages",
     {{"                wait(&empty[s], t / kStages % 2 ^ 1);\n", ""}},
     false,
     FaultKind::AsyncCopyNotWaitedFor,
     {FaultKind::SharedRace, FaultKind::BarrierMisuse}},
    {"too few arrivals",
     {{"if (lane == 0) arrive(&empty[s]);", "if (thread == 128) arrive(&empty[s]);"}},
     false,
     FaultKind::Deadlock,
     {}},
    {"too many arrivals",
     {{"if (lane == 0) arrive(&empty[s]);", "arrive(&empty[s]);"}},
     false,
     FaultKind::BarrierMisuse,
     {FaultKind::Deadlock}},
    {"stage freed before the product is done",
     {{"            asm volatile(\"wgmma.wait_group.sync.aligned 0;\" ::: \"memory\");\n            if (lane == 0) "
       "arrive(&empty[s]);",
       "            if (lane == 0) arrive(&empty[s]);\n            asm volatile(\"wgmma.wait_group.sync.aligned 0;\" "
       "::: \"memory\");"}},
     false,
     FaultKind::SharedRace,
     {}},
    {"product not waited for",
     {{"            asm volatile(\"wgmma.wait_group.sync.aligned 0;\" ::: \"memory\");\n", ""}},
     false,
     FaultKind::RegisterNotWaitedFor,
     {FaultKind::SharedRace}},
    {"wait for one product too few",
     {{"wgmma.wait_group.sync.aligned 0", "wgmma.wait_group.sync.aligned 1"}},
     false,
     FaultKind::SharedRace,
     {FaultKind::RegisterNotWaitedFor}},
    {"product not committed",
     {{"            asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\");\n", ""}},
     false,
     FaultKind::RegisterNotWaitedFor,
     {FaultKind::SharedRace}},
    {"no fence for the accumulators",
     {{"            asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");\n", ""}},
     false,
     FaultKind::MissingFence,
     {}},
    {"memory barriers not fenced",
     {{"        asm volatile(\"fence.mbarrier_init.release.cluster;\" ::: \"memory\");\n", ""}},
     false,
     FaultKind::MissingFence,
     {}},
    {"memory barriers not seen by other warps",
     {{"    __syncthreads();  // initialised\n", ""}},
     false,
     FaultKind::SharedRace,
     {FaultKind::BarrierMisuse}},
    {"no proxy fence before the store",
     {{"        asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n", ""}},
     false,
     FaultKind::MissingFence,
     {}},
    {"proxy fence of another space",
     {{"fence.proxy.async.shared::cta", "fence.proxy.async.global"}},
     false,
     FaultKind::MissingFence,
     {}},
    {"proxy fence behind the barrier, by other threads",
     {{"        asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n        asm volatile(\"bar.sync 1, "
       "128;\" ::: \"memory\");",
       "        asm volatile(\"bar.sync 1, 128;\" ::: \"memory\");\n        if (warp != 4) asm "
       "volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");"}},
     false,
     FaultKind::MissingFence,
     {}},
    {"no barrier before the store",
     {{"        asm volatile(\"bar.sync 1, 128;\" ::: \"memory\");\n", ""}},
     false,
     FaultKind::SharedRace,
     {FaultKind::UninitialisedShared}},
    {"barrier of the wrong count", {{"bar.sync 1, 128", "bar.sync 1, 256"}}, false, FaultKind::Deadlock, {}},
    {"store not waited for",
     {{"            asm volatile(\"cp.async.bulk.wait_group 0;\" ::: \"memory\");\n", ""}},
     false,
     FaultKind::AsyncCopyNotWaitedFor,
     {}},
    {"store not committed",
     {{"            asm volatile(\"cp.async.bulk.commit_group;\" ::: \"memory\");\n", ""}},
     false,
     FaultKind::AsyncCopyNotWaitedFor,
     {}},
    {"tile misaligned",
     {{"copy_box(tiles + s * 2 * kTileBytes,", "copy_box(tiles + 64 + s * 2 * kTileBytes,"}},
     false,
     FaultKind::MisalignedAddress,
     {}},
    {"tile too far",
     {{"copy_box(tiles + (s * 2 + 1) * kTileBytes", "copy_box(tiles + (s * 2 + 2) * kTileBytes"}},
     false,
     FaultKind::IllegalAddress,
     {FaultKind::AsyncCopyNotWaitedFor, FaultKind::UninitialisedShared}},
    {"descriptor beyond shared memory",
     {{"describe(a + k * 32, 16, 1024, 1)", "describe(a + k * 32, 16, 32768, 1)"}},
     false,
     FaultKind::IllegalAddress,
     {FaultKind::UninitialisedShared}},
    {"reserved bits of a descriptor",
     {{"(unsigned long long)swizzle << 62", "(unsigned long long)swizzle << 61"}},
     false,
     FaultKind::BadDescriptor,
     {}},
    {"wrong swizzle of A",
     {{"describe(a + k * 32, 16, 1024, 1)", "describe(a + k * 32, 16, 1024, 2)"}},
     true,
     FaultKind::Trap,
     {}},
    {"no swizzle of B",
     {{"describe(b + k * 2048, 16, 1024, 1)", "describe(b + k * 2048, 1024, 16, 0)"}},
     true,
     FaultKind::Trap,
     {}},
    {"wrong stride of A",
     {{"describe(a + k * 32, 16, 1024, 1)", "describe(a + k * 32, 16, 512, 1)"}},
     true,
     FaultKind::Trap,
     {}},
    {"A does not move along K", {{"describe(a + k * 32,", "describe(a,"}}, true, FaultKind::Trap, {}},
    {"B taken as K-major",
     {{"adds, 1, 1, 0, 1;", "adds, 1, 1, 0, 0;"}},
     false,
     FaultKind::AsyncCopyNotWaitedFor,
     {FaultKind::UninitialisedShared, FaultKind::IllegalAddress}},
    {"A negated", {{"adds, 1, 1, 0, 1;", "adds, -1, 1, 0, 1;"}}, true, FaultKind::Trap, {}},
    {"coordinates exchanged", {{"&map_a, t * 64, first_m", "&map_a, first_m, t * 64"}}, true, FaultKind::Trap, {}},
    {"too few registers given back",
     {{"setmaxnreg.dec.sync.aligned.u32 40", "setmaxnreg.dec.sync.aligned.u32 104"}},
     false,
     FaultKind::Deadlock,
     {}},
    {"more registers than there are",
     {{"setmaxnreg.inc.sync.aligned.u32 208", "setmaxnreg.inc.sync.aligned.u32 40"}},
     false,
     FaultKind::BarrierMisuse,
     {}},
    {"accumulators read too early",
     {{"            asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\");\n",
       "            d[0] += 1;\n            asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\");\n"}},
     false,
     FaultKind::RegisterNotWaitedFor,
     {FaultKind::MissingFence}},
};

const std::vector<SeededBug> kClusterBugs = {
    {"no barrier of the cluster before its memory is used",
     {{"    cluster_sync();  // initialised", "    __syncthreads();"}},
     false,
     FaultKind::BarrierMisuse,
     {FaultKind::SharedRace}},
    {"a block leaves while its memory is in use",
     {{"    asm volatile(\"{\\n.reg .pred done;\\nAGAIN:\\nmbarrier.try_wait.parity.acquire",
       "    if (rank == 1) return;\n    asm volatile(\"{\\n.reg .pred "
       "done;\\nAGAIN:\\nmbarrier.try_wait.parity.acquire"}},
     false,
     FaultKind::SharedRace,
     {}},
    {"neighbour's number not waited for", {{"told, 64", "told, 65"}}, false, FaultKind::Deadlock, {}},
    {"arrival at the own block",
     {{"map_address(&told, rank ^ 1)", "map_address(&told, rank)"}},
     false,
     FaultKind::SharedRace,
     {FaultKind::UninitialisedShared}},
    {"number stored in the own block",
     {{"map_address(&sums[thread], rank ^ 1)", "map_address(&sums[thread], rank)"}},
     true,
     FaultKind::Trap,
     {}},
    {"multicast to one block", {{"both = 3", "both = 1"}}, false, FaultKind::Deadlock, {}},
    {"multicast to a block that is not there", {{"both = 3", "both = 7"}}, false, FaultKind::BadDescriptor, {}},
    {"rank that is not there",
     {{"map_address(&told, rank ^ 1)", "map_address(&told, rank + 1)"}},
     false,
     FaultKind::IllegalAddress,
     {}},
    {"arrival without release",
     {{"mbarrier.arrive.release.cluster", "mbarrier.arrive.relaxed.cluster"}},
     false,
     FaultKind::SharedRace,
     {}},
    {"cluster barrier waited for without arrival",
     {{"    asm volatile(\"barrier.cluster.arrive.aligned;\" ::: \"memory\");\n", ""}},
     false,
     FaultKind::BarrierMisuse,
     {}},
};

}  // namespace

TEST_SUITE("emulated_gpu") {
    TEST_CASE("emulated gpu: a GEMM with tensor copies and warpgroup products, whole and ragged") {
        Machine machine(compile_hopper(hopper_gemm()), 90);
        for (const bool shuffle : {false, true}) {
            machine.options.shuffle = shuffle;
            machine.options.seed = 11;
            for (const std::array<uint32_t, 3> size :
                 {std::array<uint32_t, 3>{64, 64, 64}, {128, 64, 256}, {100, 72, 40}}) {
                const GemmRun run = run_hopper_gemm(machine, size[0], size[1], size[2]);
                if (run.result.report) FAIL_CHECK(run.result.report->text());
                CHECK(run.worst_error < 1e-4);
                const Counters& counters = run.result.counters;
                const uint64_t blocks = uint64_t{(size[1] + 63) / 64} * ((size[0] + 63) / 64);
                const uint64_t steps = (size[2] + 63) / 64;
                CHECK(counters.matrix_operations == blocks * steps * 4 * 4);
                CHECK(counters.matrix_multiply_adds == blocks * steps * 64 * 64 * 64);
                CHECK(counters.async_copy_bytes == blocks * (steps * 2 * 64 * 64 * 2 + 64 * 64 * 4));
            }
        }
    }

    TEST_CASE("emulated gpu: blocks of a cluster load for each other and write to each other") {
        const Outcome outcome = run_cluster_source(cluster_kernel(), 0);
        if (outcome.reported) FAIL(outcome.report.text());
        CHECK(!outcome.wrong_values);
    }

    TEST_CASE("emulated gpu: bugs seeded into a GEMM for sm_90a are caught") {
        check_seeded_bugs(hopper_gemm(), kHopperGemmBugs, &run_hopper_source);
    }

    TEST_CASE("emulated gpu: bugs seeded into a kernel of clusters are caught") {
        check_seeded_bugs(cluster_kernel(), kClusterBugs, &run_cluster_source);
    }
}

}  // namespace emulated_gpu
