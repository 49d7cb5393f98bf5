// Correct kernels, each made wrong in one place: every such bug has to be caught, and the correct kernel must not be.

#include "tests/emulated_gpu/common_tests/seeded_bugs.h"

#include <algorithm>
#include <cmath>

#include "tests/emulated_gpu/hip_tests/assembly.h"
#include "tests/emulated_gpu/hip_tests/clang.h"
#include "tests/emulated_gpu/hip_tests/hip_kernels.h"
#include "tests/emulated_gpu/hip_tests/machine.h"

namespace emulated_gpu::hip {
namespace {

/// Two waves of 64: the first 128 values go straight to LDS, the next 128 through registers; each item adds its mirror
/// images of both halves, puts the sum into LDS and reads its mirror image again, so that it has in[i] + in[128 + i];
/// it adds the lane 32 further, and items below n (100) write the result. At last every item adds 1 to out[128].
const std::string kExchange = R"(
    s_load_dwordx4 s[4:7], s[0:1], 0x0
    s_load_dword s8, s[0:1], 0x10
    v_lshlrev_b32 v1, 2, v0
    s_waitcnt lgkmcnt(0)
    v_readfirstlane_b32 s9, v1
    s_mov_b32 m0, s9
    s_nop 0
    global_load_lds_dword v1, s[4:5]
    global_load_dword v2, v1, s[4:5] offset:512
    s_waitcnt vmcnt(0)
    ds_write_b32 v1, v2 offset:512
    s_waitcnt lgkmcnt(0) // before the first barrier
    s_barrier // first
    v_sub_u32 v3, 0x1fc, v1
    ds_read_b32 v4, v3
    ds_read_b32 v5, v3 offset:512
    s_waitcnt lgkmcnt(0) // for the sum
    v_add_u32 v6, v4, v5
    s_barrier // second
    ds_write_b32 v1, v6
    s_waitcnt lgkmcnt(0)
    s_barrier // third
    ds_read_b32 v7, v3
    s_waitcnt lgkmcnt(0)
    v_xor_b32 v8, 128, v1
    ds_bpermute_b32 v9, v8, v7
    s_waitcnt lgkmcnt(0)
    v_add_u32 v9, v9, v7
    v_cmp_gt_u32 vcc, s8, v0
    s_and_saveexec_b64 s[10:11], vcc
    s_cbranch_execz .Ldone
    global_store_dword v1, v9, s[6:7]
.Ldone:
    s_mov_b64 exec, s[10:11]
    s_mov_b32 s12, 0
.Lloop:
    s_add_u32 s12, s12, 1
    s_cmp_lt_u32 s12, 4
    s_cbranch_scc1 .Lloop
    v_mov_b32 v10, 1
    v_mov_b32 v11, 0
    global_atomic_add v11, v10, s[6:7] offset:512
    s_endpgm
)";

Outcome run_exchange(const std::string& text, uint64_t seed) {
    AssemblyKernel kernel;
    kernel.body = text;
    kernel.lds_bytes = 1024;
    Machine machine(assemble(assembly_text(kernel, "gfx942"), "gfx942"), "gfx942");
    machine.options.shuffle = seed != 0;
    machine.options.seed = seed;
    machine.options.instruction_budget = 100'000;
    std::vector<uint32_t> in(256);
    for (uint32_t i = 0; i < 256; ++i) in[i] = i * i + 7 * i + 3;
    const uint64_t out = machine.upload(std::vector<uint32_t>(129, 0), "the output");
    const LaunchResult result =
        machine.launch("kernel", {1, 1, 1}, {128, 1, 1}, Arguments().add(machine.upload(in)).add(out).add(100));
    Outcome outcome;
    outcome.reported = result.report.has_value();
    if (result.report) outcome.report = *result.report;
    const std::vector<uint32_t> values = machine.download<uint32_t>(out, 129);
    for (uint32_t i = 0; i < 128; ++i) {
        const auto half = [&](uint32_t item) { return in[item] + in[128 + item]; };
        const uint32_t expected = i < 100 ? half(i) + half(i ^ 32) : 0;
        if (values[i] != expected) outcome.wrong_values = true;
    }
    if (values[128] != 128) outcome.wrong_values = true;
    return outcome;
}

Outcome run_product(const std::string& source, uint64_t seed) {
    Machine machine(compile_hip(source, "gfx90a"), "gfx90a");
    machine.options.shuffle = seed != 0;
    machine.options.seed = seed;
    const int m = 40;
    const int n = 35;
    const int k = 48;
    std::vector<float> a(size_t{40} * 48);
    std::vector<float> b(size_t{48} * 35);
    for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 13) - 6;
    for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 7) - 3;
    const uint64_t c = machine.upload(std::vector<float>(size_t{40} * 35, NAN), "C");
    const LaunchResult result =
        machine.launch("gemm", {2, 2, 1}, {256, 1, 1},
                       Arguments().add(machine.upload(a, "A")).add(machine.upload(b, "B")).add(c).add(m).add(n).add(k));
    Outcome outcome;
    outcome.reported = result.report.has_value();
    if (result.report) outcome.report = *result.report;
    const std::vector<float> values = machine.download<float>(c, size_t{40} * 35);
    for (size_t row = 0; row < 40; ++row) {
        for (size_t column = 0; column < 35; ++column) {
            float sum = 0;
            for (size_t i = 0; i < 48; ++i) sum += a[row * 48 + i] * b[i * 35 + column];
            if (values[row * 35 + column] != sum) outcome.wrong_values = true;
        }
    }
    return outcome;
}

SeededBug reported(std::string name, std::vector<Edit> edits, FaultKind kind, std::vector<FaultKind> also = {}) {
    return {std::move(name), std::move(edits), false, kind, std::move(also)};
}
SeededBug by_value(std::string name, std::vector<Edit> edits) {
    return {std::move(name), std::move(edits), true, FaultKind::Trap, {}};
}

const std::vector<SeededBug> kExchangeBugs{
    reported("wait count of vector memory too weak", {{"vmcnt(0)", "vmcnt(1)"}}, FaultKind::RegisterNotWaitedFor),
    reported("copy to LDS issued last, with a wait for the one before",
             {{"    global_load_lds_dword v1, s[4:5]\n", ""},
              {"offset:512\n    s_waitcnt vmcnt(0)",
               "offset:512\n    global_load_lds_dword v1, s[4:5]\n    s_waitcnt vmcnt(1)"}},
             FaultKind::AsyncCopyNotWaitedFor),
    reported("store to LDS not waited for before the barrier",
             {{"    s_waitcnt lgkmcnt(0) // before the first barrier\n", ""}}, FaultKind::SharedRace),
    reported("first barrier missing", {{"    s_barrier // first\n", ""}}, FaultKind::UninitialisedShared,
             {FaultKind::SharedRace, FaultKind::AsyncCopyNotWaitedFor}),
    reported("second barrier missing", {{"    s_barrier // second\n", ""}}, FaultKind::SharedRace),
    reported("third barrier missing", {{"    s_barrier // third\n", ""}}, FaultKind::SharedRace),
    reported("wait for LDS missing", {{"    s_waitcnt lgkmcnt(0) // for the sum\n", ""}},
             FaultKind::RegisterNotWaitedFor),
    reported("wait count of LDS too weak", {{"s_waitcnt lgkmcnt(0) // for the sum", "s_waitcnt lgkmcnt(1)"}},
             FaultKind::RegisterNotWaitedFor),
    reported("register overwritten under a load",
             {{"    s_waitcnt lgkmcnt(0) // for the sum\n", "    v_mov_b32 v4, 0\n    s_waitcnt lgkmcnt(0)\n"}},
             FaultKind::RegisterNotWaitedFor),
    reported("scalar load not waited for", {{"    s_waitcnt lgkmcnt(0)\n    v_readfirst", "    v_readfirst"}},
             FaultKind::RegisterNotWaitedFor),
    reported("wait count of scalar loads not zero", {{"lgkmcnt(0)\n    v_readfirst", "lgkmcnt(1)\n    v_readfirst"}},
             FaultKind::RegisterNotWaitedFor),
    reported("shuffle not waited for", {{"    s_waitcnt lgkmcnt(0)\n    v_add_u32 v9", "    v_add_u32 v9"}},
             FaultKind::RegisterNotWaitedFor),
    reported("load beyond the input", {{"s[4:5] offset:512", "s[4:5] offset:516"}}, FaultKind::IllegalAddress),
    reported("store beyond LDS", {{"v2 offset:512", "v2 offset:516"}}, FaultKind::IllegalAddress),
    reported("store beyond the output", {{"s[6:7] offset:512", "s[6:7] offset:516"}}, FaultKind::IllegalAddress),
    reported("offsets of two bytes", {{"v_lshlrev_b32 v1, 2, v0", "v_lshlrev_b32 v1, 1, v0"}},
             FaultKind::MisalignedAddress),
    reported("half of LDS never written", {{"    ds_write_b32 v1, v2 offset:512\n", ""}},
             FaultKind::UninitialisedShared),
    reported("register never written, stored", {{"v_add_u32 v9, v9, v7", "v_add_u32 v9, v12, v7"}},
             FaultKind::UninitialisedRegister),
    reported(
        "low register never written of a pair that is moved",
        {{"v_add_u32 v9, v9, v7", "v_mov_b32 v13, 0\n    v_mov_b64 v[14:15], v[12:13]\n    v_add_u32 v9, v9, v14"}},
        FaultKind::UninitialisedRegister),
    reported(
        "high register never written of a pair that is moved",
        {{"v_add_u32 v9, v9, v7", "v_mov_b32 v12, 0\n    v_mov_b64 v[14:15], v[12:13]\n    v_add_u32 v9, v9, v15"}},
        FaultKind::UninitialisedRegister),
    reported("register never written, an address", {{"global_store_dword v1,", "global_store_dword v12,"}},
             FaultKind::UninitialisedRegister),
    reported("scalar never written, a branch", {{"s_cmp_lt_u32 s12, 4", "s_cmp_lt_u32 s20, 4"}},
             FaultKind::UninitialisedRegister),
    reported("comparison of a register never written", {{"v_cmp_gt_u32 vcc, s8, v0", "v_cmp_gt_u32 vcc, s8, v13"}},
             FaultKind::UninitialisedRegister),
    reported("M0 never written", {{"    s_mov_b32 m0, s9\n", ""}}, FaultKind::UninitialisedRegister),
    reported("both waves copy to the same place", {{"s_mov_b32 m0, s9", "s_mov_b32 m0, 0"}}, FaultKind::SharedRace,
             {FaultKind::AsyncCopyNotWaitedFor}),
    reported("lanes of one store disagree", {{"ds_write_b32 v1, v6", "v_mov_b32 v13, 0\n    ds_write_b32 v13, v6"}},
             FaultKind::SharedRace),
    reported("barrier among some lanes", {{"s_cbranch_execz .Ldone", "s_cbranch_execz .Ldone\n    s_barrier"}},
             FaultKind::DivergentBarrier),
    reported("endless loop", {{"s_cmp_lt_u32 s12, 4", "s_cmp_ge_u32 s12, 0"}}, FaultKind::Runaway),
    reported("trap", {{"s_endpgm", "s_trap 2\n    s_endpgm"}}, FaultKind::Trap),
    by_value("wrong lane of the shuffle", {{"v_xor_b32 v8, 128, v1", "v_xor_b32 v8, 64, v1"}}),
    by_value("lanes not brought back", {{"    s_mov_b64 exec, s[10:11]\n", ""}}),
    by_value("bound off by one", {{"v_cmp_gt_u32 vcc, s8, v0", "v_cmp_ge_u32 vcc, s8, v0"}}),
    by_value("wrong half", {{"ds_read_b32 v5, v3 offset:512", "ds_read_b32 v5, v3 offset:0"}}),
};

const std::vector<SeededBug> kProductBugs{
    reported("no barrier before reading", {{"        barrier();\n        for (int t", "        for (int t"}},
             FaultKind::UninitialisedShared, {FaultKind::SharedRace}),
    reported("no barrier before writing again",
             {{"        }\n        barrier();\n    }\n    for", "        }\n    }\n    for"}}, FaultKind::SharedRace),
    reported("barrier without the fences that make the compiler wait",
             {{"    __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\");\n    __builtin_amdgcn_s_barrier();\n"
               "    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"workgroup\");",
               "    asm volatile(\"s_barrier\" ::: \"memory\");"}},
             FaultKind::SharedRace),
    reported("rows beyond A", {{"row + r < m && start", "start"}}, FaultKind::IllegalAddress),
    reported("one step too many", {{"t < 32", "t < 33"}}, FaultKind::UninitialisedShared, {FaultKind::IllegalAddress}),
    reported("row bound off by one", {{"row + y + 16 * i < m", "row + y + 16 * i <= m"}}, FaultKind::IllegalAddress),
    reported("barrier in a branch",
             {{"        barrier();\n        for (int t", "        if (item() < 200) barrier();\n        for (int t"}},
             FaultKind::DivergentBarrier, {FaultKind::SharedRace, FaultKind::UninitialisedShared}),
    by_value("wrong column", {{"tile_b[t][x + 16 * j]", "tile_b[t][x]"}}),
    by_value("wrong sum", {{"tile_a[y + 16 * i][t], tile_b", "tile_a[y + 16 * i][0], tile_b"}}),
};

TEST_SUITE("emulated_gpu") {
    TEST_CASE("hip: seeded bugs of a kernel in assembly") {
        check_seeded_bugs(kExchange, kExchangeBugs, run_exchange);
    }

    TEST_CASE("hip: seeded bugs of a product compiled by clang") {
        check_seeded_bugs(kTiledGemm, kProductBugs, run_product);
    }

    TEST_CASE("hip: a report names kernel, workgroup, wave, lane, instruction and line") {
        std::string source = kVectorAdd;
        const size_t at = source.find("i < n");
        const Machine unused(compile_hip(source, "gfx90a"), "gfx90a");
        source.replace(at, 5, "i <= n");
        const auto line = 1 + std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n');
        Machine machine(compile_hip(source, "gfx90a", "sum.hip"), "gfx90a");
        const uint64_t in = machine.upload(std::vector<float>(100, 1), "the input");
        const LaunchResult result =
            machine.launch("vector_add", {1, 1, 1}, {128, 1, 1}, Arguments().add(in).add(in).add(in).add(100));
        REQUIRE(result.report);
        const std::string text = result.report->text();
        CHECK(text.find("kernel vector_add, block (0,0,0), thread (100,0,0), wave 1, lane 36, code address 0x") == 0);
        CHECK(text.find("(global_load_dword") != std::string::npos);
        const std::string place = "sum.hip:" + std::to_string(line);
        CHECK(text.find(place + ": illegal address: reads 4 bytes at 0x") != std::string::npos);
        CHECK(text.find("byte 400 of the 400 bytes of the input") != std::string::npos);
        CHECK(result.report->json().find("\"code_address\": \"0x") != std::string::npos);
    }
}

}  // namespace
}  // namespace emulated_gpu::hip
