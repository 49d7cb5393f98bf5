// Control flow, calls, exchange between lanes, memory and matrix instructions.

#include <cmath>

#include "tests/emulated_gpu/cuda_tests/machine.h"

namespace emulated_gpu {
namespace {

/// Runs a kernel `k(out)` of one block whose thread i stores 4 bytes at out + 4 i.
std::vector<uint32_t> run_block(const std::string& text, uint32_t threads, Machine** keep = nullptr) {
    static std::unique_ptr<Machine> machine;
    machine = std::make_unique<Machine>(kPtxHeader + text, 89);
    const uint64_t out = machine->upload(std::vector<uint32_t>(threads));
    const LaunchResult result = machine->launch("k", {1, 1, 1}, {threads, 1, 1}, {out});
    if (result.report) FAIL(result.report->text());
    if (keep != nullptr) *keep = machine.get();
    return machine->download<uint32_t>(out, threads);
}

const std::string kPrologue = R"(.reg .b32 %r<20>; .reg .b64 %rd<6>; .reg .pred %p<6>; .reg .b32 %out;
    mov.u32 %r0, %tid.x; mov.u32 %out, 0;
)";
const std::string kEpilogue = R"(
    ld.param.u64 %rd0, [out]; mul.wide.u32 %rd1, %r0, 4; add.u64 %rd0, %rd0, %rd1; st.global.u32 [%rd0], %out; ret; }
)";
std::string kernel(const std::string& body) {
    return ".entry k(.param .u64 out) {\n" + kPrologue + body + kEpilogue;
}

}  // namespace

TEST_SUITE("emulated_gpu") {
    TEST_CASE("emulated gpu: lanes that part in nested loops and branches meet again") {
        const std::vector<uint32_t> out = run_block(kernel(R"(
            mov.u32 %r1, 0;
        OUTER:
            setp.ge.u32 %p0, %r1, %r0;
            @%p0 bra DONE;
            and.b32 %r2, %r1, 1;
            setp.eq.u32 %p1, %r2, 0;
            @%p1 bra EVEN;
            add.u32 %out, %out, 100;
            bra NEXT;
        EVEN:
            add.u32 %out, %out, 1;
        NEXT:
            add.u32 %r1, %r1, 1;
            bra OUTER;
        DONE:
            shfl.sync.idx.b32 %r3, %out, 31, 31, 0xffffffff;
            activemask.b32 %r4;
            setp.ne.u32 %p2, %r4, 0xffffffff;
            @%p2 trap;
            add.u32 %out, %out, %r3;)"),
                                                    32);
        for (uint32_t i = 0; i < 32; ++i) CHECK(out[i] == (i + 1) / 2 + i / 2 * 100 + 16 + 15 * 100);
    }

    TEST_CASE("emulated gpu: brx.idx picks a label for each lane") {
        const std::vector<uint32_t> out = run_block(kernel(R"(
            rem.u32 %r1, %r0, 3;
        TABLE: .branchtargets A, B, C;
            brx.idx %r1, TABLE;
        A:  mov.u32 %out, 7; bra E;
        B:  mov.u32 %out, 8; bra E;
        C:  mov.u32 %out, 9;
        E:)"),
                                                    32);
        for (uint32_t i = 0; i < 32; ++i) CHECK(out[i] == 7 + i % 3);
    }

    TEST_CASE("emulated gpu: functions are called with parameters and results, recursion included") {
        const std::string factorial = R"(.func (.param .b32 result) factorial(.param .b32 n) {
            .reg .b32 %a<4>; .reg .pred %q;
            ld.param.u32 %a0, [n];
            mov.u32 %a1, 1;
            setp.le.u32 %q, %a0, 1;
            @%q bra OUT;
            sub.u32 %a2, %a0, 1;
            { .param .b32 argument; .param .b32 value;
              st.param.b32 [argument], %a2;
              call.uni (value), factorial, (argument);
              ld.param.b32 %a3, [value]; }
            mul.lo.u32 %a1, %a3, %a0;
        OUT:
            st.param.b32 [result], %a1;
            ret; })";
        const std::vector<uint32_t> out = run_block(factorial + kernel(R"(
            rem.u32 %r1, %r0, 8;
            { .param .b32 argument; .param .b32 value;
              st.param.b32 [argument], %r1;
              call (value), factorial, (argument);
              ld.param.b32 %out, [value]; })"),
                                                    32);
        const uint32_t expected[] = {1, 1, 2, 6, 24, 120, 720, 5040};
        for (uint32_t i = 0; i < 32; ++i) CHECK(out[i] == expected[i % 8]);
    }

    TEST_CASE("emulated gpu: printf prints lane after lane") {
        Machine* machine = nullptr;
        run_block(R"(.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
            .global .align 1 .b8 text[12] = {105, 61, 37, 100, 32, 37, 46, 49, 102, 10, 0};)" +
                      kernel(R"(
            .local .align 8 .b8 buffer[16];
            st.local.u32 [buffer], %r0;
            mov.b64 %rd2, 0d3FF8000000000000;
            st.local.u64 [buffer+8], %rd2;
            mov.u64 %rd3, buffer; cvta.local.u64 %rd3, %rd3;
            mov.u64 %rd4, text; cvta.global.u64 %rd4, %rd4;
            { .param .b64 f; .param .b64 a; .param .b32 r;
              st.param.b64 [f], %rd4; st.param.b64 [a], %rd3;
              call.uni (r), vprintf, (f, a);
              ld.param.b32 %out, [r]; })"),
                  2, &machine);
        CHECK(machine->printed == "i=0 1.5\ni=1 1.5\n");
    }

    TEST_CASE("emulated gpu: shuffles, votes, matches and reductions over lanes") {
        const auto lanes = [](const std::string& code) { return run_block(kernel(code), 32); };
        const auto up = lanes("shfl.sync.up.b32 %out|%p0, %r0, 3, 0, 0xffffffff; @!%p0 mov.u32 %out, 99;");
        const auto down = lanes("shfl.sync.down.b32 %out, %r0, 1, 0x1807, 0xffffffff;");  // segments of 8
        const auto match = lanes("shr.u32 %r1, %r0, 4; match.any.sync.b32 %out, %r1, 0xffffffff;");
        const auto redux = lanes("redux.sync.max.s32 %out, %r0, 0xffffffff;");
        const auto ballot = lanes("setp.lt.u32 %p0, %r0, 5; vote.sync.ballot.b32 %out, !%p0, 0xffffffff;");
        const auto halves = lanes(
            "setp.lt.u32 %p0, %r0, 16; selp.b32 %r1, 0xffff, 0xffff0000, %p0; redux.sync.add.u32 %out, %r0, %r1;");
        for (uint32_t i = 0; i < 32; ++i) {
            CHECK(up[i] == (i < 3 ? 99 : i - 3));
            CHECK(down[i] == (i % 8 == 7 ? i : i + 1));
            CHECK(match[i] == (i < 16 ? 0xffffU : 0xffff0000U));
            CHECK(redux[i] == 31);
            CHECK(ballot[i] == 0xffffffe0U);
            CHECK(halves[i] == (i < 16 ? 120U : 376U));
        }
    }

    TEST_CASE("emulated gpu: a lane that spins on another lane of its warp makes way for it") {
        const std::vector<uint32_t> out = run_block(kernel(R"(
            .shared .align 4 .b8 flag[4];
            setp.ne.u32 %p0, %r0, 0;
            @!%p0 st.volatile.shared.u32 [flag], 0;
            bar.sync 0;
            @%p0 bra SKIP;
        SPIN:
            ld.volatile.shared.u32 %r1, [flag];
            setp.eq.u32 %p1, %r1, 0;
            @%p1 bra SPIN;
        SKIP:
            setp.ne.u32 %p2, %r0, 5;
            @%p2 bra AFTER;
            st.volatile.shared.u32 [flag], 1;
        AFTER:
            mov.u32 %out, 1;)"),
                                                    32);
        CHECK(out == std::vector<uint32_t>(32, 1));
    }

    TEST_CASE("emulated gpu: a lock in shared memory orders what it protects") {
        const std::vector<uint32_t> out = run_block(kernel(R"(
            .shared .align 4 .b8 state[8];
            setp.ne.u32 %p0, %r0, 0;
            @!%p0 st.shared.u32 [state], 0;
            @!%p0 st.shared.u32 [state+4], 0;
            bar.sync 0;
            and.b32 %r5, %r0, 31;
            setp.ne.u32 %p3, %r5, 0;
            @%p3 bra AFTER;
        LOCK:
            atom.shared.cas.b32 %r1, [state], 0, 1;
            setp.ne.u32 %p1, %r1, 0;
            @%p1 bra LOCK;
            membar.cta;
            ld.shared.u32 %r2, [state+4];
            add.u32 %r2, %r2, 1;
            st.shared.u32 [state+4], %r2;
            membar.cta;
            atom.shared.exch.b32 %r3, [state], 0;
        AFTER:
            bar.sync 0;
            ld.shared.u32 %out, [state+4];)"),
                                                    128);
        CHECK(out == std::vector<uint32_t>(128, 4));
    }

    TEST_CASE("emulated gpu: barriers reduce, and named ones let producers go on") {
        const std::vector<uint32_t> out = run_block(kernel(R"(
            .shared .align 4 .b8 box[4];
            setp.lt.u32 %p0, %r0, 40;
            bar.red.popc.u32 %r1, 0, %p0;
            bar.red.and.pred %p1, 0, %p0;
            bar.red.or.pred %p2, 0, !%p0;
            selp.u32 %r2, 1000, 0, %p1;
            selp.u32 %r3, 2000, 0, %p2;
            setp.ge.u32 %p3, %r0, 32;
            @%p3 bra CONSUME;
            setp.eq.u32 %p4, %r0, 0;
            @%p4 st.shared.u32 [box], 5;
            bar.arrive 3, 64;
            mov.u32 %r4, 0;
            bra END;
        CONSUME:
            bar.sync 3, 64;
            ld.shared.u32 %r4, [box];
        END:
            add.u32 %out, %r1, %r2; add.u32 %out, %out, %r3; add.u32 %out, %out, %r4;)"),
                                                    64);
        for (uint32_t i = 0; i < 64; ++i) CHECK(out[i] == 40U + 2000U + (i < 32 ? 0U : 5U));
    }

    TEST_CASE("emulated gpu: integer matrices of 4 and 8 bits multiply as their layouts say") {
        // A and B full of ones and twos: every element of D is k * 1 * 2 + the accumulator 3.
        const auto run = [](const std::string& name, const std::string& a, const std::string& b, uint32_t one,
                            uint32_t two, int count_c) {
            std::string code =
                "mov.u32 %r1, " + std::to_string(one) + "; mov.u32 %r2, " + std::to_string(two) + "; mov.u32 %r3, 3;\n";
            const std::string d = count_c == 4 ? "{%r4, %r5, %r6, %r7}" : "{%r4, %r5}";
            const std::string c = count_c == 4 ? "{%r3, %r3, %r3, %r3}" : "{%r3, %r3}";
            code += "mma.sync.aligned." + name + " " + d + ", " + a + ", " + b + ", " + c + "; add.u32 %out, %r4, %r5;";
            return run_block(kernel(code), 32)[9];
        };
        const std::string a4 = "{%r1, %r1, %r1, %r1}", a2 = "{%r1, %r1}", a1 = "{%r1}", b2 = "{%r2, %r2}", b1 = "{%r2}";
        CHECK(run("m16n8k32.row.col.s32.s8.s8.s32", a4, b2, 0x01010101, 0x02020202, 4) == 2 * (32 * 2 + 3));
        CHECK(run("m16n8k16.row.col.s32.u8.s8.s32", a2, b1, 0x01010101, 0xfefefefe, 4) == 2U * (3U - 32U));
        CHECK(run("m8n8k16.row.col.s32.u8.u8.s32", a1, b1, 0xffffffff, 0x02020202, 2) == 2 * (16 * 510 + 3));
        CHECK(run("m16n8k64.row.col.s32.s4.s4.s32", a4, b2, 0x11111111, 0xffffffff, 4) == 2U * (3U - 64U));
        CHECK(run("m8n8k32.row.col.s32.u4.u4.s32", a1, b1, 0xffffffff, 0x22222222, 2) == 2 * (32 * 30 + 3));
        CHECK(run("m16n8k256.row.col.s32.b1.b1.s32.and.popc", a4, b2, 0xffffffff, 0x0000ffff, 4) == 2 * (128 + 3));
    }

    TEST_CASE("emulated gpu: tf32, f16 and f64 matrices put products where their layouts say") {
        // A holds 1 at (row 5, column 2) only, B holds its own row number in row 2: D(5, n) = B(2, n), all else 0.
        // tf32 m16n8k8: A(5, 2) is register 0 of lane 5 * 4 + 2; B(2, n) is register 0 of lane n * 4 + 2.
        const std::vector<uint32_t> tf32 = run_block(kernel(R"(
            mov.u32 %r5, 0;
            setp.eq.u32 %p0, %r0, 22; selp.b32 %r1, 0x3f800000, 0, %p0;
            and.b32 %r2, %r0, 3; setp.eq.u32 %p1, %r2, 2;
            shr.u32 %r3, %r0, 2; cvt.rn.f32.u32 %r3, %r3; selp.b32 %r3, %r3, 0, %p1;
            mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r6, %r7, %r8, %r9}, {%r1, %r5, %r5, %r5}, {%r3, %r5}, {%r5, %r5, %r5, %r5};
            cvt.rzi.u32.f32 %r6, %r6; cvt.rzi.u32.f32 %r7, %r7; shl.b32 %r7, %r7, 8; or.b32 %out, %r6, %r7;)"),
                                                     32);
        for (uint32_t lane = 0; lane < 32; ++lane) {
            const uint32_t column = lane % 4 * 2;
            CHECK(tf32[lane] == (lane / 4 == 5 ? column | (column + 1) << 8 : 0));
        }
        const std::vector<uint32_t> f64 = run_block(kernel(R"(
            .reg .f64 %d<6>;
            mov.f64 %d1, 0d3FF8000000000000; cvt.rn.f64.u32 %d2, %r0; mov.f64 %d3, 0d3FF0000000000000;
            mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d4, %d5}, {%d1}, {%d2}, {%d3, %d3};
            cvt.rzi.u32.f64 %out, %d5;)"),
                                                    32);
        // B(k, n) = 4 n + k in lane 4 n + k: sums of 1.5 (4 n + k) over k = 1.5 (16 n + 6), plus 1; n = 2 (lane % 4) +
        // 1
        for (uint32_t lane = 0; lane < 32; ++lane) CHECK(f64[lane] == (16 * (lane % 4 * 2 + 1) + 6) * 3 / 2 + 1);
        const std::vector<uint32_t> f16 = run_block(kernel(R"(
            mov.b32 %r1, 0x3c003c00; mov.b32 %r2, 0x40004000; mov.b32 %r3, 0x3c003c00;
            mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%out, %r4}, {%r1, %r1, %r1, %r1}, {%r2, %r2}, {%r3, %r3};)"),
                                                    32);
        CHECK(f16 == std::vector<uint32_t>(32, 0x50205020));  // 16 * 2 + 1 = 33
        const std::vector<uint32_t> fp8 = run_block(kernel(R"(
            mov.b32 %r1, 0x38383838; mov.b32 %r2, 0x40404040; mov.b32 %r3, 0;
            mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%out, %r4, %r5, %r6}, {%r1, %r1, %r1, %r1}, {%r2, %r2}, {%r3, %r3, %r3, %r3};)"),
                                                    32);
        CHECK(fp8 == std::vector<uint32_t>(32, 0x42800000));  // 32 * 1 * 2
    }
}

}  // namespace emulated_gpu
