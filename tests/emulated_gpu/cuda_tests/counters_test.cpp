// Counters against counts made by hand.

#include "tests/emulated_gpu/cuda_tests/machine.h"

namespace emulated_gpu {
namespace {

/// One warp executes `access` once, with %rd = global base + offset and %r = shared base + offset, offset being
/// lane * stride + start bytes.
Counters count(const std::string& access, uint32_t stride, uint32_t start = 0) {
    Machine machine(kPtxHeader +
                    ".entry k(.param .u64 data) {\n.reg .b32 %r, %v<4>; .reg .b64 %rd, %w<2>, %offset;\n"
                    ".shared .align 16 .b8 tile[8192];\n"
                    "mov.u32 %r, %tid.x; mad.lo.u32 %r, %r, " +
                    std::to_string(stride) + ", " + std::to_string(start) +
                    "; cvt.u64.u32 %offset, %r; ld.param.u64 %rd, [data]; add.u64 %rd, %rd, %offset;\n"
                    "mov.b32 %v0, 0; mov.b32 %v1, 0; mov.b32 %v2, 0; mov.b32 %v3, 0;\n" +
                    access + "\nret; }");
    machine.options.check_shared = false;
    const uint64_t data = machine.upload(std::vector<uint8_t>(8192));
    const LaunchResult result = machine.launch("k", {1, 1, 1}, {32, 1, 1}, {data});
    if (result.report) FAIL(result.report->text());
    return result.counters;
}

void check_sectors(const std::string& access, uint32_t stride, uint32_t start, uint64_t sectors, uint64_t fewest) {
    CAPTURE(access);
    CAPTURE(stride);
    const Counters counters = count(access, stride, start);
    CHECK(counters.global_load_sectors + counters.global_store_sectors == sectors);
    CHECK(counters.global_fewest_sectors == fewest);
}

void check_wavefronts(const std::string& access, uint32_t stride, uint64_t wavefronts, uint64_t conflicts) {
    CAPTURE(access);
    CAPTURE(stride);
    const Counters counters = count(access, stride);
    CHECK(counters.shared_wavefronts == wavefronts);
    CHECK(counters.bank_conflicts() == conflicts);
}

}  // namespace

TEST_SUITE("emulated_gpu") {
    TEST_CASE("emulated gpu: global sectors are those counted by hand") {
        check_sectors("ld.global.u32 %v0, [%rd];", 4, 0, 4, 4);     // 128 bytes in a row
        check_sectors("ld.global.u32 %v0, [%rd];", 8, 0, 8, 4);     // every second word
        check_sectors("ld.global.u32 %v0, [%rd];", 128, 0, 32, 4);  // a sector each
        check_sectors("ld.global.u32 %v0, [%rd];", 0, 0, 1, 1);     // one word for all
        check_sectors("ld.global.u32 %v0, [%rd];", 4, 4, 5, 4);     // 128 bytes over 5 sectors
        check_sectors("ld.global.v4.u32 {%v0, %v1, %v2, %v3}, [%rd];", 16, 0, 16, 16);
        check_sectors("st.global.u8 [%rd], %v0;", 1, 0, 1, 1);
        check_sectors("st.global.v2.u32 [%rd], {%v0, %v1};", 32, 0, 32, 8);
        check_sectors("cp.async.ca.shared.global [%r], [%rd], 16;", 16, 0, 16, 16);
        check_sectors("atom.global.add.u32 %v0, [%rd], 1;", 0, 0, 1, 1);
    }

    TEST_CASE("emulated gpu: shared wavefronts and bank conflicts are those counted by hand") {
        check_wavefronts("ld.shared.u32 %v0, [%r];", 4, 1, 0);
        check_wavefronts("ld.shared.u32 %v0, [%r];", 8, 2, 1);
        check_wavefronts("ld.shared.u32 %v0, [%r];", 128, 32, 31);
        check_wavefronts("ld.shared.u32 %v0, [%r];", 132, 1, 0);
        check_wavefronts("ld.shared.u32 %v0, [%r];", 0, 1, 0);
        check_wavefronts("ld.shared.u8 %v0, [%r];", 1, 1, 0);
        check_wavefronts("st.shared.u32 [%r], %v0;", 16, 4, 3);
        check_wavefronts("ld.shared.v2.u32 {%v0, %v1}, [%r];", 8, 2, 0);
        check_wavefronts("ld.shared.v4.u32 {%v0, %v1, %v2, %v3}, [%r];", 16, 4, 0);
        check_wavefronts("ld.shared.v4.u32 {%v0, %v1, %v2, %v3}, [%r];", 32, 8, 4);
        const std::string matrices = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%v0, %v1, %v2, %v3}, [%r];";
        check_wavefronts(matrices, 128, 32, 28);  // each matrix: 8 rows on the same 4 banks
        check_wavefronts(matrices, 144, 4, 0);
    }

    TEST_CASE("emulated gpu: instructions are counted by class and by lane") {
        Machine machine(kPtxHeader + R"(.entry k() {
            .reg .pred %p; .reg .b32 %r<4>; .reg .f32 %f;
            mov.u32 %r1, %tid.x;
            setp.lt.u32 %p, %r1, 8;
            @%p add.u32 %r2, %r1, 1;
            mov.f32 %f, 0f3F800000;
            add.f32 %f, %f, %f;
            bar.sync 0;
            @%p bra END;
            cvt.rn.f32.u32 %f, %r1;
        END:
            ret; })");
        const Counters counters = machine.launch("k", {2, 1, 1}, {64, 1, 1}, {}).counters;
        const auto of = [&](InstructionClass klass) { return counters.warp_instructions[static_cast<size_t>(klass)]; };
        CHECK(counters.threads == 128);
        CHECK(of(InstructionClass::Integer) == 2);  // in the first warp of each block only
        CHECK(of(InstructionClass::Float) == 4);
        CHECK(of(InstructionClass::Move) == 8);
        CHECK(of(InstructionClass::Compare) == 4);
        CHECK(of(InstructionClass::Conversion) == 4);
        CHECK(of(InstructionClass::Barrier) == 4);
        CHECK(of(InstructionClass::Control) == 2 + 4);  // a branch in one warp; lanes meet again before ret
        CHECK(counters.barriers == 2);
        CHECK(counters.thread_instructions == 2 * (64 * 5 + 8 + 8 + 56 + 64));
        CHECK(counters.json().find("\"barriers\": 2}") != std::string::npos);
    }
}

}  // namespace emulated_gpu
