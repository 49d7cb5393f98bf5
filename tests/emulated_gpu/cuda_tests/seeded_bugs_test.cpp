// Correct kernels, each made wrong in one place: every such bug has to be caught, and the correct kernel must not be.

#include "tests/emulated_gpu/common_tests/seeded_bugs.h"

#include "tests/emulated_gpu/cuda_tests/compiled_kernels.h"
#include "tests/emulated_gpu/cuda_tests/cuda_kernels.h"
#include "tests/emulated_gpu/cuda_tests/nvrtc.h"

namespace emulated_gpu {
namespace {

/// 128 threads: each puts 4 bytes into shared memory by cp.async, reads its mirror image 31 - i of the same warp and of
/// the next warp, adds both, sums over the warp by shuffles, and writes its own value and the sum. Named barrier 1
/// holds all 4 warps; a reduction counts the odd values. Lines are found by text in the edits below.
const std::string kExchange = kPtxHeader + R"(
.file 1 "exchange.cu"
.entry exchange(.param .u64 in, .param .u64 out, .param .u32 n)
{
    .reg .pred %p<4>;
    .reg .b32 %r<32>;
    .reg .b64 %rd<8>;
    .shared .align 16 .b8 tile[512];
    .local .align 8 .b8 spill[8];
    .loc 1 10 1
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd2, [out];
    ld.param.u32 %r30, [n];
    mov.u32 %r1, %tid.x;
    mov.u32 %r20, 0;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd4, %rd1, %rd3;
    mov.u32 %r2, tile;
    shl.b32 %r3, %r1, 2;
    add.u32 %r4, %r2, %r3;
    .loc 1 11 1
    cp.async.ca.shared.global [%r4], [%rd4], 4;
    cp.async.commit_group;
    cp.async.wait_group 0;
    .loc 1 12 1
    bar.sync 0;
    xor.b32 %r5, %r1, 31;
    add.u32 %r6, %r5, 32;
    and.b32 %r6, %r6, 127;
    shl.b32 %r6, %r6, 2;
    add.u32 %r6, %r2, %r6;
    .loc 1 13 1
    ld.shared.u32 %r7, [%r6];
    shl.b32 %r8, %r5, 2;
    add.u32 %r8, %r2, %r8;
    ld.shared.u32 %r9, [%r8];
    add.u32 %r10, %r7, %r9;
    bar.sync 1, 128;
    st.shared.u32 [%r4], %r10;
    bar.sync 0;
    ld.shared.u32 %r11, [%r8];
    st.local.u32 [spill], %r11;
    ld.local.u32 %r11, [spill];
    mov.u32 %r12, %r11;
    shfl.sync.bfly.b32 %r13, %r12, 16, 31, 0xffffffff;
    add.u32 %r12, %r12, %r13;
    and.b32 %r14, %r11, 1;
    setp.ne.u32 %p1, %r14, 0;
    vote.sync.ballot.b32 %r15, %p1, 0xffffffff;
    bar.red.popc.u32 %r16, 0, %p1;
    setp.lt.u32 %p2, %r1, %r30;
    mul.wide.u32 %rd5, %r1, 8;
    add.u64 %rd6, %rd2, %rd5;
    .loc 1 20 1
    @%p2 st.global.v2.u32 [%rd6], {%r11, %r12};
    atom.global.add.u32 %r17, [%rd2+1024], %r16;
LOOP:
    add.u32 %r20, %r20, 1;
    setp.lt.u32 %p3, %r20, 4;
    @%p3 bra LOOP;
    ret;
}
)";

Outcome run_exchange(const std::string& text, uint64_t seed) {
    Machine machine(text);
    machine.options.shuffle = seed != 0;
    machine.options.seed = seed;
    machine.options.instruction_budget = 100000;
    std::vector<uint32_t> in(128);
    for (uint32_t i = 0; i < 128; ++i) in[i] = 3 * i + 1;
    const uint64_t device_in = machine.upload(in, "the input");
    const uint64_t device_out = machine.upload(std::vector<uint32_t>(257), "the output");
    LaunchShape shape;
    shape.block = {128, 1, 1};
    shape.parameters = Parameters().add(device_in).add(device_out).add(uint32_t{128}).bytes();
    const LaunchResult result =
        run_kernel(*machine.module().kernels.at("exchange"), shape, machine.memory(), machine.options, {});
    Outcome outcome;
    if (result.report) return {true, *result.report, false};
    const std::vector<uint32_t> out = machine.download<uint32_t>(device_out, 257);
    const auto stored = [&](uint32_t i) { return in[((i ^ 31) + 32) & 127] + in[i ^ 31]; };
    uint32_t odd = 0;
    for (uint32_t i = 0; i < 128; ++i) {
        const uint32_t mine = stored(i ^ 31);
        odd += mine & 1;
        const uint32_t partner = stored((i ^ 16) ^ 31);
        if (out[2 * i] != mine || out[2 * i + 1] != mine + partner) outcome.wrong_values = true;
    }
    if (out[256] != odd * 128) outcome.wrong_values = true;
    return outcome;
}

const std::vector<SeededBug> kExchangeBugs = {
    {"no barrier between write and read by another warp",
     {{"    bar.sync 0;\n    xor", "    xor"}},
     false,
     FaultKind::AsyncCopyNotWaitedFor,
     {FaultKind::SharedRace, FaultKind::UninitialisedShared}},
    {"no barrier between read and overwrite", {{"    bar.sync 1, 128;\n", ""}}, false, FaultKind::SharedRace, {}},
    {"no barrier before the second read",
     {{"%r10;\n    bar.sync 0;", "%r10;\n    xor.b32 %r8, %r8, 128;"}},
     false,
     FaultKind::SharedRace,
     {}},
    {"wait for one group too few", {{"wait_group 0", "wait_group 1"}}, false, FaultKind::AsyncCopyNotWaitedFor, {}},
    {"no wait at all", {{"    cp.async.wait_group 0;\n", ""}}, false, FaultKind::AsyncCopyNotWaitedFor, {}},
    {"copies not committed", {{"    cp.async.commit_group;\n", ""}}, false, FaultKind::AsyncCopyNotWaitedFor, {}},
    {"copied by half the threads only",
     {{"    cp.async.ca", "    setp.lt.u32 %p1, %r1, 64;\n    @%p1 cp.async.ca"}},
     false,
     FaultKind::UninitialisedShared,
     {}},
    {"bound off by one",
     {{"setp.lt.u32 %p2, %r1, %r30", "setp.le.u32 %p2, %r1, %r30"},
      {"add.u64 %rd6, %rd2, %rd5", "add.u64 %rd6, %rd2, %rd5;\n    add.u64 %rd6, %rd6, 8"}},
     false,
     FaultKind::IllegalAddress,
     {}},
    {"index without its scale", {{"[%rd2+1024]", "[%rd2+1028]"}}, false, FaultKind::IllegalAddress, {}},
    {"misaligned vector store",
     {{"st.global.v2.u32 [%rd6]", "st.global.v2.u32 [%rd6+4]"}},
     false,
     FaultKind::MisalignedAddress,
     {}},
    {"misaligned copy", {{"[%r4], [%rd4], 4", "[%r4+2], [%rd4], 4"}}, false, FaultKind::MisalignedAddress, {}},
    {"shared index out of bounds",
     {{"and.b32 %r6, %r6, 127", "and.b32 %r6, %r6, 255"}, {"shl.b32 %r6, %r6, 2", "shl.b32 %r6, %r6, 3"}},
     false,
     FaultKind::IllegalAddress,
     {}},
    {"barrier under a divergent branch",
     {{"    bar.sync 1, 128;", "    and.b32 %r18, %r1, 1;\n    setp.eq.u32 %p1, %r18, 0;\n    @%p1 bar.sync 1, 128;"}},
     false,
     FaultKind::DivergentBarrier,
     {}},
    {"barrier skipped by one warp",
     {{"    bar.sync 1, 128;", "    setp.ge.u32 %p1, %r1, 32;\n    @%p1 bar.sync 1, 128;"}},
     false,
     FaultKind::Deadlock,
     {FaultKind::SharedRace}},
    {"barrier that counts too many", {{"bar.sync 1, 128", "bar.sync 1, 160"}}, false, FaultKind::Deadlock, {}},
    {"barrier that counts too few",
     {{"bar.sync 1, 128", "bar.sync 1, 96"}},
     false,
     FaultKind::SharedRace,
     {FaultKind::Deadlock, FaultKind::BarrierMisuse}},
    {"barrier count that is no multiple of the warp",
     {{"bar.sync 1, 128", "bar.sync 1, 120"}},
     false,
     FaultKind::BarrierMisuse,
     {}},
    {"counts that differ between warps",
     {{"    bar.sync 1, 128;",
       "    setp.lt.u32 %p1, %r1, 64;\n    selp.u32 %r18, 128, 96, %p1;\n    bar.sync 1, %r18;"}},
     false,
     FaultKind::BarrierMisuse,
     {}},
    {"barrier number out of range", {{"bar.sync 1, 128", "bar.sync 16, 128"}}, false, FaultKind::BarrierMisuse, {}},
    {"store of a register never written",
     {{"{%r11, %r12}", "{%r11, %r29}"}},
     false,
     FaultKind::UninitialisedRegister,
     {}},
    {"address from a register never written",
     {{"ld.shared.u32 %r9, [%r8]", "ld.shared.u32 %r9, [%r28]"}},
     false,
     FaultKind::UninitialisedRegister,
     {}},
    {"branch on a predicate never written",
     {{"@%p3 bra LOOP", "@%p0 bra LOOP"}},
     false,
     FaultKind::UninitialisedRegister,
     {}},
    {"local memory never written",
     {{"    st.local.u32 [spill], %r11;\n", ""}},
     false,
     FaultKind::UninitialisedRegister,
     {}},
    {"local access out of bounds",
     {{"st.local.u32 [spill]", "st.local.u32 [spill+16]"}},
     false,
     FaultKind::IllegalAddress,
     {}},
    {"shuffle without a lane it names",
     {{"    shfl.sync.bfly.b32 %r13, %r12, 16",
       "    setp.ne.u32 %p1, %r1, 5;\n    mov.u32 %r13, 0;\n    @%p1 shfl.sync.bfly.b32 %r13, %r12, 16"}},
     false,
     FaultKind::DivergentBarrier,
     {}},
    {"shuffle mask without the lane itself",
     {{"16, 31, 0xffffffff", "16, 31, 0x7fffffff"}},
     false,
     FaultKind::BarrierMisuse,
     {}},
    {"lanes write one address",
     {{"st.shared.u32 [%r4], %r10", "st.shared.u32 [tile], %r10"}},
     false,
     FaultKind::SharedRace,
     {}},
    {"endless loop", {{"setp.lt.u32 %p3, %r20, 4", "setp.ge.u32 %p3, %r20, 0"}}, false, FaultKind::Runaway, {}},
    {"trap", {{"    ret;", "    trap;"}}, false, FaultKind::Trap, {}},
    {"wrong shuffle distance", {{"%r12, 16, 31", "%r12, 8, 31"}}, true, FaultKind::Trap, {}},
    {"wrong mirror", {{"xor.b32 %r5, %r1, 31", "or.b32 %r5, %r1, 31"}}, true, FaultKind::Trap, {}},
};

Outcome run_gemm_source(const std::string& source, uint64_t seed) {
    Machine machine(compile_cuda(source));
    machine.options.shuffle = seed != 0;
    machine.options.seed = seed;
    machine.options.instruction_budget = 1000000;
    Outcome outcome;
    for (const std::array<uint32_t, 3> size : {std::array<uint32_t, 3>{64, 64, 128}, {72, 72, 72}}) {
        const GemmRun run = run_gemm(machine, size[0], size[1], size[2]);
        if (run.result.report) return {true, *run.result.report, false};
        outcome.wrong_values |= !(run.worst_error < 1e-4);
    }
    return outcome;
}

const std::vector<SeededBug> kGemmBugs = {
    {"no barrier once the copies have landed",
     {{"__syncthreads();  // landed", ""}},
     false,
     FaultKind::AsyncCopyNotWaitedFor,
     {FaultKind::SharedRace, FaultKind::UninitialisedShared}},
    {"no barrier before the stage is overwritten",
     {{"__syncthreads();  // read", ""}},
     false,
     FaultKind::SharedRace,
     {FaultKind::AsyncCopyNotWaitedFor}},
    {"wait too weak",
     {{"cp.async.wait_group 1;", "cp.async.wait_group 2;"}},
     false,
     FaultKind::AsyncCopyNotWaitedFor,
     {}},
    {"no wait", {{"        wait_one();\n", ""}}, false, FaultKind::AsyncCopyNotWaitedFor, {}},
    {"no commit in the loop",
     {{"(tile + 1) * 32);\n        commit();", "(tile + 1) * 32);"}},
     false,
     FaultKind::AsyncCopyNotWaitedFor,
     {}},
    {"wait before the barrier moved behind it",
     {{"        wait_one();\n        __syncthreads();  // landed", "        __syncthreads();\n        wait_one();"}},
     false,
     FaultKind::SharedRace,
     {FaultKind::AsyncCopyNotWaitedFor}},
    {"loads into the stage being read",
     {{"load((tile + 1) % 2, (tile + 1) * 32)", "load(tile % 2, (tile + 1) * 32)"}},
     false,
     FaultKind::AsyncCopyNotWaitedFor,
     {FaultKind::SharedRace}},
    {"no bound on rows of the result",
     {{"if (row < M && column < N)", "if (column < N)"}},
     false,
     FaultKind::IllegalAddress,
     {}},
    {"bound off by one",
     {{"if (row < M && column < N)", "if (row <= M && column < N)"}},
     false,
     FaultKind::IllegalAddress,
     {}},
    {"no bound on rows of A",
     {{"first_m + row < M && k0 + column < K", "k0 + column < K"}},
     false,
     FaultKind::IllegalAddress,
     {}},
    {"no zero fill at the end of K",
     {{"first_m + row < M && k0 + column < K", "first_m + row < M"},
      {"inside = k0 + row < K && first_n", "inside = first_n"}},
     false,
     FaultKind::IllegalAddress,
     {}},
    {"misaligned rows in shared memory", {{"kStrideA = 40", "kStrideA = 36"}}, false, FaultKind::MisalignedAddress, {}},
    {"half of A is never copied",
     {{"copy(&sa[stage]", "if (row < 32) copy(&sa[stage]"}},
     false,
     FaultKind::UninitialisedShared,
     {}},
    {"barrier in divergent code",
     {{"__syncthreads();  // read", "if (lane < 16) __syncthreads();"}},
     false,
     FaultKind::DivergentBarrier,
     {}},
    {"a warp leaves the loop early",
     {{"__syncthreads();  // read", "if (warp == 3) break; __syncthreads();"}},
     false,
     FaultKind::SharedRace,
     {FaultKind::Deadlock}},
    {"stage too small",
     {{"sb[2][32 * kStrideB]", "sb[2][16 * kStrideB]"}},
     false,
     FaultKind::IllegalAddress,
     {FaultKind::SharedRace, FaultKind::AsyncCopyNotWaitedFor}},
    {"fragment of B not transposed", {{"x4.trans.shared", "x4.shared"}}, true, FaultKind::Trap, {}},
    {"fragments of A exchanged", {{"\"r\"(a[1]), \"r\"(a[2])", "\"r\"(a[2]), \"r\"(a[1])"}}, true, FaultKind::Trap, {}},
    {"wrong rows of C", {{"lane / 4 + i / 2 * 8", "lane / 4 + i % 2 * 8"}}, true, FaultKind::Trap, {}},
    {"last tile of K forgotten", {{"(K + 31) / 32", "K / 32"}}, true, FaultKind::Trap, {}},
};

}  // namespace

TEST_SUITE("emulated_gpu") {
    TEST_CASE("emulated gpu: bugs seeded into a kernel of PTX are caught") {
        check_seeded_bugs(kExchange, kExchangeBugs, &run_exchange);
    }

    TEST_CASE("emulated gpu: bugs seeded into a compiled GEMM are caught") {
        check_seeded_bugs(kGemmSource, kGemmBugs, &run_gemm_source);
    }

    TEST_CASE("emulated gpu: a report names kernel, block, thread, instruction and source line") {
        const Outcome outcome = run_exchange(
            [] {
                std::string text = kExchange;
                const std::string from = "st.global.v2.u32 [%rd6]";
                return text.replace(text.find(from), from.size(), "st.global.v2.u32 [%rd6+4]");
            }(),
            0);
        REQUIRE(outcome.reported);
        const std::string text = outcome.report.text();
        CAPTURE(text);
        CHECK(text.find("kernel exchange, block (0,0,0), thread (0,0,0), ptx line ") == 0);
        CHECK(text.find("(st.global.v2.u32), exchange.cu:20: misaligned address: ") != std::string::npos);
        CHECK(outcome.report.json().find("\"line\": 20}") != std::string::npos);
    }
}

}  // namespace emulated_gpu
