// Correct kernels for RDNA, each made wrong in one place, as in seeded_bugs_test.cpp.

#include <cmath>

#include "tests/emulated_gpu/common_tests/seeded_bugs.h"
#include "tests/emulated_gpu/hip/lane_math.h"
#include "tests/emulated_gpu/hip_tests/assembly.h"
#include "tests/emulated_gpu/hip_tests/clang.h"
#include "tests/emulated_gpu/hip_tests/hip_kernels.h"
#include "tests/emulated_gpu/hip_tests/machine.h"

namespace emulated_gpu::hip {
namespace {

/// Two waves of 32: both halves of 128 values go through LDS; each item adds its mirror images of both, puts the sum
/// into LDS and reads its mirror image again, so that it has in[i] + in[64 + i]. Items below n (50) write that.
const std::string kMirror = R"(
    s_load_b128 s[4:7], s[0:1], 0x0
    s_load_b32 s8, s[0:1], 0x10
    v_lshlrev_b32 v1, 2, v0
    s_wait_kmcnt 0x0
    global_load_b32 v2, v1, s[4:5]
    global_load_b32 v3, v1, s[4:5] offset:256
    s_wait_loadcnt 0x1
    ds_store_b32 v1, v2
    s_wait_loadcnt 0x0
    ds_store_b32 v1, v3 offset:256
    s_wait_dscnt 0x0 // for the stores
    s_barrier_signal -1 // first
    s_barrier_wait -1 // first
    v_sub_nc_u32 v4, 0xfc, v1
    ds_load_b32 v5, v4
    ds_load_b32 v6, v4 offset:256
    s_wait_dscnt 0x0 // for the sum
    v_dual_mov_b32 v6, v1 :: v_dual_add_nc_u32 v7, v6, v5
    s_barrier_signal -1 // second
    s_barrier_wait -1 // second
    ds_store_b32 v6, v7
    s_wait_dscnt 0x0
    s_barrier_signal -1
    s_barrier_wait -1
    ds_load_b32 v9, v4
    s_wait_dscnt 0x0 // for the last
    v_cmp_gt_u32 vcc_lo, s8, v0
    s_and_saveexec_b32 s10, vcc_lo
    s_cbranch_execz .Ldone
    global_store_b32 v1, v9, s[6:7]
.Ldone:
    s_endpgm
)";

Outcome run_mirror(const std::string& text, uint64_t seed) {
    AssemblyKernel kernel;
    kernel.body = text;
    kernel.lds_bytes = 512;
    Machine machine(assemble(assembly_text(kernel, "gfx1201"), "gfx1201"), "gfx1201");
    machine.options.shuffle = seed != 0;
    machine.options.seed = seed;
    machine.options.instruction_budget = 100'000;
    std::vector<uint32_t> in(128);
    for (uint32_t i = 0; i < 128; ++i) in[i] = i * i + 5 * i + 1;
    const uint64_t out = machine.upload(std::vector<uint32_t>(64, 0), "the output");
    const LaunchResult result =
        machine.launch("kernel", {1, 1, 1}, {64, 1, 1}, Arguments().add(machine.upload(in)).add(out).add(50));
    Outcome outcome;
    outcome.reported = result.report.has_value();
    if (result.report) outcome.report = *result.report;
    const std::vector<uint32_t> values = machine.download<uint32_t>(out, 64);
    for (uint32_t i = 0; i < 64; ++i) {
        if (values[i] != (i < 50 ? in[i] + in[64 + i] : 0)) outcome.wrong_values = true;
    }
    return outcome;
}

/// C = A B^T in f16 with f32 sums: each of two waves has 16 rows of A (32 in all) and the 16 of B; k goes by 16.
const std::string kWaveProduct = kPrelude + R"(
typedef _Float16 f16x16 __attribute__((ext_vector_type(16)));
typedef float f32x8 __attribute__((ext_vector_type(8)));
extern "C" __global__ void product(const _Float16* a, const _Float16* b, float* c, int k) {
    __shared__ __attribute__((aligned(32))) _Float16 tile_a[32 * 16];
    __shared__ __attribute__((aligned(32))) _Float16 tile_b[16 * 16];
    u32 lane = item() % 32, wave = item() / 32;
    f32x8 sum = {};
    for (int start = 0; start < k; start += 16) {
        for (int i = item(); i < 32 * 16; i += 64) tile_a[i] = a[i / 16 * k + start + i % 16];
        for (int i = item(); i < 16 * 16; i += 64) tile_b[i] = b[i / 16 * k + start + i % 16];
        barrier();
        f16x16 part_a, part_b;
        for (int e = 0; e < 16; ++e) part_a[e] = tile_a[(wave * 16 + lane % 16) * 16 + e];
        for (int e = 0; e < 16; ++e) part_b[e] = tile_b[lane % 16 * 16 + e];
        sum = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(part_a, part_b, sum);
        barrier();
    }
    for (int e = 0; e < 8; ++e) c[(wave * 16 + 2 * e + lane / 16) * 16 + lane % 16] = sum[e];
}
)";

Outcome run_wave_product(const std::string& source, uint64_t seed) {
    Machine machine(compile_hip(source, "gfx1100"), "gfx1100");
    machine.options.shuffle = seed != 0;
    machine.options.seed = seed;
    constexpr size_t kDepth = 48;
    const auto number = [](size_t i) { return static_cast<int>(i * i % 7) - 3; };
    const auto half = [](int value) { return static_cast<uint16_t>(float_to_half(static_cast<float>(value))); };
    std::vector<uint16_t> a(32 * kDepth);
    std::vector<uint16_t> b(16 * kDepth);
    for (size_t i = 0; i < a.size(); ++i) a[i] = half(number(i));
    for (size_t i = 0; i < b.size(); ++i) b[i] = half(number(i + 3));
    const uint64_t c = machine.upload(std::vector<float>(32 * 16, NAN), "C");
    const LaunchResult result = machine.launch(
        "product", {1, 1, 1}, {64, 1, 1},
        Arguments().add(machine.upload(a, "A")).add(machine.upload(b, "B")).add(c).add(static_cast<int>(kDepth)));
    Outcome outcome;
    outcome.reported = result.report.has_value();
    if (result.report) outcome.report = *result.report;
    const std::vector<float> values = machine.download<float>(c, 32 * 16);
    for (size_t row = 0; row < 32; ++row) {
        for (size_t column = 0; column < 16; ++column) {
            int sum = 0;
            for (size_t i = 0; i < kDepth; ++i) sum += number(row * kDepth + i) * number(column * kDepth + i + 3);
            if (values[row * 16 + column] != static_cast<float>(sum)) outcome.wrong_values = true;
        }
    }
    return outcome;
}

SeededBug rdna_reported(std::string name, std::vector<Edit> edits, FaultKind kind, std::vector<FaultKind> also = {}) {
    return {std::move(name), std::move(edits), false, kind, std::move(also)};
}
SeededBug rdna_by_value(std::string name, std::vector<Edit> edits) {
    return {std::move(name), std::move(edits), true, FaultKind::Trap, {}};
}

const std::vector<SeededBug> kMirrorBugs{
    rdna_reported("scalar loads not waited for", {{"    s_wait_kmcnt 0x0\n", ""}}, FaultKind::RegisterNotWaitedFor),
    rdna_reported("scalar loads waited for by another counter", {{"s_wait_kmcnt", "s_wait_loadcnt"}},
                  FaultKind::RegisterNotWaitedFor),
    rdna_reported("count of loads too weak", {{"s_wait_loadcnt 0x0", "s_wait_loadcnt 0x1"}},
                  FaultKind::RegisterNotWaitedFor),
    rdna_reported("loads waited for by the stores' counter", {{"s_wait_loadcnt 0x0", "s_wait_storecnt 0x0"}},
                  FaultKind::RegisterNotWaitedFor),
    rdna_reported("stores to LDS not waited for", {{"    s_wait_dscnt 0x0 // for the stores\n", ""}},
                  FaultKind::SharedRace),
    rdna_reported("arrival before the wait for stores",
                  {{"    s_wait_dscnt 0x0 // for the stores\n    s_barrier_signal -1 // first\n",
                    "    s_barrier_signal -1\n    s_wait_dscnt 0x0\n"}},
                  FaultKind::SharedRace),
    rdna_reported("barrier not waited for", {{"    s_barrier_wait -1 // first\n", ""}}, FaultKind::UninitialisedShared,
                  {FaultKind::SharedRace}),
    rdna_reported("arrival at the barrier missing", {{"    s_barrier_signal -1 // first\n", ""}},
                  FaultKind::BarrierMisuse),
    rdna_reported("arrival twice", {{"    s_barrier_wait -1 // second\n", "    s_barrier_signal -1\n"}},
                  FaultKind::BarrierMisuse),
    rdna_reported("second barrier missing",
                  {{"    s_barrier_signal -1 // second\n    s_barrier_wait -1 // second\n", ""}},
                  FaultKind::SharedRace),
    rdna_reported("store to LDS between arrival and wait",
                  {{"    s_barrier_wait -1 // second\n    ds_store_b32 v6, v7\n",
                    "    ds_store_b32 v6, v7\n    s_barrier_wait -1\n"}},
                  FaultKind::SharedRace),
    rdna_reported("count of LDS loads too weak", {{"s_wait_dscnt 0x0 // for the sum", "s_wait_dscnt 0x1"}},
                  FaultKind::RegisterNotWaitedFor),
    rdna_reported("last load not waited for", {{"    s_wait_dscnt 0x0 // for the last\n", ""}},
                  FaultKind::RegisterNotWaitedFor),
    rdna_reported("half of a dual instruction reads what was never written",
                  {{"v_dual_mov_b32 v6, v1", "v_dual_mov_b32 v6, v15"}}, FaultKind::UninitialisedRegister),
    rdna_by_value("dual instruction taken for two in a row", {{"v_dual_mov_b32 v6, v1 :: v_dual_add_nc_u32 v7, v6, v5",
                                                               "v_mov_b32 v6, v1\n    v_add_nc_u32 v7, v6, v5"}}),
    rdna_by_value("bound off by one", {{"v_cmp_gt_u32", "v_cmp_ge_u32"}}),
};

const std::vector<SeededBug> kWaveProductBugs{
    rdna_reported("no barrier before reading", {{"        barrier();\n        f16x16", "        f16x16"}},
                  FaultKind::UninitialisedShared, {FaultKind::SharedRace}),
    rdna_reported("no barrier before writing again", {{"sum);\n        barrier();\n", "sum);\n"}},
                  FaultKind::SharedRace),
    rdna_reported("lanes of A without their copies",
                  {{"tile_a[(wave * 16 + lane % 16) * 16 + e]", "tile_a[(wave * 16 + lane / 2) * 16 + e]"}},
                  FaultKind::Trap),
    rdna_reported("lanes of B without their copies", {{"tile_b[lane % 16 * 16 + e]", "tile_b[lane / 2 * 16 + e]"}},
                  FaultKind::Trap),
    rdna_reported("a step too many", {{"start < k", "start <= k"}}, FaultKind::IllegalAddress),
    rdna_by_value("rows of the result as RDNA4 has them", {{"2 * e + lane / 16", "e + lane / 16 * 8"}}),
};

TEST_SUITE("emulated_gpu") {
    TEST_CASE("hip: seeded bugs of a kernel in assembly for gfx1201") {
        check_seeded_bugs(kMirror, kMirrorBugs, run_mirror);
    }

    TEST_CASE("hip: seeded bugs of a product by WMMA for gfx1100") {
        check_seeded_bugs(kWaveProduct, kWaveProductBugs, run_wave_product);
    }
}

}  // namespace
}  // namespace emulated_gpu::hip
