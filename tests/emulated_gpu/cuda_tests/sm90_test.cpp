// Instructions of sm_90 and sm_90a against values worked out from the PTX ISA document.

#include "tests/emulated_gpu/cuda_tests/tensor_maps.h"

namespace emulated_gpu {
namespace {

const std::string kSm90Header = ".version 8.3\n.target sm_90a\n.address_size 64\n";

/// Runs `body`. It has %thread, and %out, which points to 64 words of 8 bytes.
LaunchResult launch_body(const std::string& body, uint32_t threads, uint32_t blocks, std::vector<uint64_t>& words) {
    Machine machine(kSm90Header + R"(.entry k(.param .u64 to) {
        .reg .b32 %thread, %r<32>; .reg .b64 %out, %rd<32>; .reg .pred %p<8>;
        .shared .align 1024 .b8 memory[4096];
        .shared .align 8 .b64 bar;
        mov.u32 %thread, %tid.x; ld.param.u64 %out, [to];
)" + body + "\nret; }",
                    90);
    const uint64_t out = machine.upload(std::vector<uint64_t>(64));
    LaunchShape shape;
    shape.grid = {blocks, 1, 1};
    shape.block = {threads, 1, 1};
    shape.cluster = {blocks, 1, 1};
    shape.in_clusters = true;
    shape.parameters = Parameters().add(out).bytes();
    LaunchResult result = run_kernel(*machine.module().kernels.at("k"), shape, machine.memory(), machine.options, {});
    words = machine.download<uint64_t>(out, 64);
    return result;
}
std::vector<uint64_t> run_body(const std::string& body, uint32_t threads = 32, uint32_t blocks = 1) {
    std::vector<uint64_t> words;
    const LaunchResult result = launch_body(body, threads, blocks, words);
    if (result.report) FAIL(result.report->text());
    return words;
}
FaultKind fault_of_body(const std::string& body, uint32_t threads = 32) {
    std::vector<uint64_t> words;
    const LaunchResult result = launch_body(body, threads, 1, words);
    if (!result.report) FAIL("no fault");
    return result.report->kind;
}

/// Stores the predicate %p2, or a 32-bit register, as word `index`.
std::string put_predicate(int index) {
    return "selp.u64 %rd31, 1, 0, %p2; st.global.u64 [%out+" + std::to_string(8 * index) + "], %rd31;\n";
}
std::string put(const std::string& name, int index) {
    return "cvt.u64.u32 %rd31, " + name + "; st.global.u64 [%out+" + std::to_string(8 * index) + "], %rd31;\n";
}

/// A kernel of 128 threads that loads one box of `rank` dimensions into shared memory and stores all of it.
std::string box_kernel(size_t rank) {
    std::string coordinates;
    std::string loads;
    for (size_t i = 0; i < rank; ++i) {
        const std::string name = "%c" + std::to_string(i);
        coordinates += (i == 0 ? "" : ", ") + name;
        loads += "ld.param.u32 " + name + ", [at+" + std::to_string(4 * i) + "];\n";
    }
    return kSm90Header + R"(
    .entry box(.param .align 64 .b8 map[128], .param .align 4 .b8 at[20], .param .u64 to, .param .u32 bytes) {
        .reg .b32 %r<16>, %c<5>, %v<4>; .reg .b64 %rd<8>; .reg .pred %p<4>;
        .shared .align 1024 .b8 memory[32768];
        .shared .align 8 .b64 bar;
        mov.b64 %rd1, map; cvta.param.u64 %rd1, %rd1;
        ld.param.u32 %r1, [bytes]; ld.param.u64 %rd2, [to];
)" + loads +
           R"(
        mov.u32 %r2, %tid.x; setp.ne.u32 %p1, %r2, 0; @%p1 bra WAIT;
        mbarrier.init.shared::cta.b64 [bar], 1;
        fence.proxy.async.shared::cta;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %r1;
        cp.async.bulk.tensor.)" +
           std::to_string(rank) + "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [memory], [%rd1, {" +
           coordinates + R"(}], [bar];
WAIT:   bar.sync 0;
AGAIN:  mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0; @!%p2 bra AGAIN;
        shl.b32 %r3, %r2, 4;
LOOP:   setp.ge.u32 %p3, %r3, %r1; @%p3 bra END;
        mov.u32 %r4, memory; add.u32 %r4, %r4, %r3;
        ld.shared.v4.u32 {%v0, %v1, %v2, %v3}, [%r4];
        cvt.u64.u32 %rd3, %r3; add.u64 %rd3, %rd3, %rd2;
        st.global.v4.u32 [%rd3], {%v0, %v1, %v2, %v3};
        add.u32 %r3, %r3, 2048; bra LOOP;
END:    ret; })";
}

LaunchResult launch_box(Machine& machine, const TensorMap& map, const std::array<int32_t, 5>& at, uint64_t out,
                        uint32_t bytes) {
    LaunchShape shape;
    shape.block = {128, 1, 1};
    add_map(shape.parameters, map);
    shape.parameters.resize(164);
    std::memcpy(shape.parameters.data() + 128, at.data(), 20);
    std::memcpy(shape.parameters.data() + 152, &out, 8);
    std::memcpy(shape.parameters.data() + 160, &bytes, 4);
    return run_kernel(*machine.module().kernels.begin()->second, shape, machine.memory(), machine.options, {});
}

/// Loads one box of a tensor of 2-byte elements that count up from 1 and returns shared memory.
std::vector<uint16_t> load_box(const std::vector<uint64_t>& extents, const std::vector<uint16_t>& box, Swizzle swizzle,
                               const std::array<int32_t, 5>& at, const std::vector<uint8_t>& steps = {},
                               uint8_t fill = 0) {
    Machine machine(box_kernel(extents.size()), 90);
    TensorMap map = tensor_map(0, 2, extents, box, swizzle, steps);
    map.fill_bytes = fill;
    const size_t last = extents.size() - 1;
    std::vector<uint16_t> tensor(map.stride[last] * extents[last] / 2);
    for (size_t i = 0; i < tensor.size(); ++i) tensor[i] = static_cast<uint16_t>(i + 1);
    map.address = machine.upload(tensor);
    const auto bytes = static_cast<uint32_t>(map.box_bytes());
    const uint64_t out = machine.upload(std::vector<uint8_t>(bytes));
    const LaunchResult result = launch_box(machine, map, at, out, bytes);
    if (result.report) FAIL(result.report->text());
    return machine.download<uint16_t>(out, bytes / 2);
}

}  // namespace

TEST_SUITE("emulated_gpu") {
    TEST_CASE("emulated gpu: memory barriers count arrivals, bytes and phases") {
        const std::vector<uint64_t> out = run_body(
            "setp.ne.u32 %p1, %thread, 0; @%p1 bra END;\n"
            "mbarrier.init.shared.b64 [bar], 2;\n"
            "mbarrier.test_wait.parity.shared.b64 %p2, [bar], 1;\n" +
            put_predicate(0) + "mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;\n" + put_predicate(1) +
            "mbarrier.arrive.noComplete.shared.b64 %rd2, [bar], 1;\n"
            "mbarrier.pending_count.b64 %r1, %rd2;\n" +
            put("%r1", 2) + "mbarrier.test_wait.shared.b64 %p2, [bar], %rd2;\n" + put_predicate(3) +
            "mbarrier.arrive.expect_tx.shared.b64 %rd3, [bar], 16;\n"
            "mbarrier.pending_count.b64 %r1, %rd3;\n" +
            put("%r1", 4) + "mbarrier.test_wait.shared.b64 %p2, [bar], %rd3;\n" + put_predicate(5) +
            "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 16;\n"
            "mbarrier.test_wait.shared.b64 %p2, [bar], %rd3;\n" +
            put_predicate(6) + "mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;\n" + put_predicate(7) +
            "mbarrier.arrive_drop.shared.b64 %rd4, [bar];\n"
            "mbarrier.arrive.shared.b64 %rd4, [bar];\n"  // ends phase 1
            "mbarrier.arrive.shared.b64 %rd4, [bar];\n"  // one is enough now
            "mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;\n" +
            put_predicate(8) +
            "mbarrier.inval.shared.b64 [bar];\n"
            "mov.u64 %rd5, 7; st.shared.u64 [bar], %rd5;\nEND:");
        const std::vector<uint64_t> expected{1, 0, 2, 0, 1, 0, 1, 1, 1};
        CHECK(std::vector<uint64_t>(out.begin(), out.begin() + 9) == expected);
    }

    TEST_CASE("emulated gpu: misused memory barriers are reported") {
        const std::string one = "setp.ne.u32 %p1, %thread, 0; @%p1 bra END;\n";
        const std::string init = one + "mbarrier.init.shared.b64 [bar], 1;\n";
        CHECK(fault_of_body(one + "mbarrier.arrive.shared.b64 %rd1, [bar];\nEND:") == FaultKind::BarrierMisuse);
        CHECK(fault_of_body(init + "mbarrier.arrive.shared.b64 %rd1, [bar], 2;\nEND:") == FaultKind::BarrierMisuse);
        CHECK(fault_of_body(init + "mbarrier.init.shared.b64 [bar], 1;\nEND:") == FaultKind::BarrierMisuse);
        CHECK(fault_of_body(init + "ld.shared.u64 %rd1, [bar];\nEND:") == FaultKind::BarrierMisuse);
        CHECK(fault_of_body(init + "mov.u64 %rd1, 0; st.shared.u64 [bar], %rd1;\nEND:") == FaultKind::BarrierMisuse);
        CHECK(fault_of_body(init + "mbarrier.arrive.noComplete.shared.b64 %rd1, [bar], 1;\nEND:") ==
              FaultKind::BarrierMisuse);
        CHECK(
            fault_of_body(init + "AGAIN: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra AGAIN;\nEND:") ==
            FaultKind::Deadlock);
    }

    TEST_CASE("emulated gpu: arrivals wait for the copies of cp.async before them") {
        const std::vector<uint64_t> out = run_body(R"(
            setp.ne.u32 %p1, %thread, 0; @%p1 bra READY;
            mbarrier.init.shared.b64 [bar], 32;
    READY:  bar.sync 0;
            mov.u64 %rd1, 41; st.global.u64 [%out], %rd1;
            shl.b32 %r1, %thread, 3; mov.u32 %r2, memory; add.u32 %r2, %r2, %r1;
            cp.async.ca.shared.global [%r2], [%out], 8;
            cp.async.mbarrier.arrive.noinc.shared.b64 [bar];
    AGAIN:  mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra AGAIN;
            xor.b32 %r1, %r1, 8; mov.u32 %r2, memory; add.u32 %r2, %r2, %r1;
            ld.shared.u64 %rd2, [%r2]; add.u64 %rd2, %rd2, 1;
            cvt.u64.u32 %rd3, %r1; add.u64 %rd3, %rd3, %out; st.global.u64 [%rd3+8], %rd2;)");
        CHECK(out[5] == 42);
    }

    TEST_CASE("emulated gpu: elect, mapa, getctarank and the registers of clusters") {
        const std::vector<uint64_t> out = run_body(
            "mov.u32 %r1, %cluster_ctarank; setp.ne.u32 %p3, %r1, 1;\n"
            "setp.lt.u32 %p5, %thread, 4; @%p5 bra END;\n"
            "elect.sync %r2|%p2, 0xfffffff0;\n"
            "@!%p2 bra END;\n"
            "setp.ne.u32 %p4, %r1, 1; @%p4 bra END;\n" +
                put("%r2", 0) + put("%thread", 1) +
                "mapa.shared::cluster.u32 %r3, memory, 2;\n"
                "getctarank.shared::cluster.u32 %r4, %r3;\n" +
                put("%r4", 2) + "mov.u32 %r5, memory; getctarank.shared::cluster.u32 %r4, %r5;\n" + put("%r4", 3) +
                "mov.u32 %r4, %cluster_nctarank;\n" + put("%r4", 4) + "mov.u32 %r4, %cluster_ctaid.x;\n" +
                put("%r4", 5) + "mov.u32 %r4, %clusterid.x;\n" + put("%r4", 6) + "mov.u32 %r4, %nclusterid.x;\n" +
                put("%r4", 7) + "END:",
            32, 4);
        const std::vector<uint64_t> expected{4, 4, 2, 1, 4, 1, 0, 1};
        CHECK(std::vector<uint64_t>(out.begin(), out.begin() + 8) == expected);
    }

    TEST_CASE("emulated gpu: stmatrix is the inverse of ldmatrix, transposed or not") {
        for (const std::string trans : {"", ".trans"}) {
            // Element (row, column) of matrix i is 64 i + 8 row + column.
            const std::vector<uint64_t> out = run_body(
                "shr.u32 %r1, %thread, 2; and.b32 %r2, %thread, 3; shl.b32 %r3, %r1, 3; shl.b32 %r4, %r2, 1;\n"
                "add.u32 %r3, %r3, %r4; add.u32 %r4, %r3, 1; shl.b32 %r4, %r4, 16; or.b32 %r5, %r3, %r4;\n"
                "add.u32 %r6, %r5, 0x00400040;\n"
                "shl.b32 %r7, %thread, 4; mov.u32 %r8, memory; add.u32 %r8, %r8, %r7;\n"
                "stmatrix.sync.aligned.m8n8.x2" +
                trans +
                ".shared.b16 [%r8], {%r5, %r6};\n"
                "bar.warp.sync 0xffffffff; setp.ge.u32 %p1, %thread, 16; @%p1 bra END;\n"
                "ld.shared.v2.u64 {%rd1, %rd2}, [%r8]; cvt.u64.u32 %rd3, %r7; add.u64 %rd3, %rd3, %out;\n"
                "st.global.v2.u64 [%rd3], {%rd1, %rd2};\nEND:");
            for (uint64_t row = 0; row < 16; ++row) {
                for (uint64_t column = 0; column < 8; ++column) {
                    const uint64_t word = out[row * 2 + column / 4];
                    const uint64_t value = (word >> (16 * (column % 4))) & 0xffff;
                    const uint64_t expected = trans.empty() ? 8 * (row % 8) + column : 8 * column + row % 8;
                    CHECK(value == 64 * (row / 8) + expected);
                }
            }
        }
    }

    TEST_CASE("emulated gpu: bulk copies between global and shared memory") {
        const std::vector<uint64_t> out = run_body(R"(
            setp.ne.u32 %p1, %thread, 0; @%p1 bra END;
            mov.u64 %rd1, 11; st.global.u64 [%out], %rd1; mov.u64 %rd1, 12; st.global.u64 [%out+8], %rd1;
            mbarrier.init.shared.b64 [bar], 1;
            fence.proxy.async;
            mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;
            cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [memory+32], [%out], 16, [bar];
    AGAIN:  mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra AGAIN;
            ld.shared.u64 %rd2, [memory+40]; add.u64 %rd2, %rd2, 100; st.shared.u64 [memory+40], %rd2;
            fence.proxy.async.shared::cta;
            cp.async.bulk.global.shared::cta.bulk_group [%out+16], [memory+32], 16;
            cp.async.bulk.commit_group;
            cp.async.bulk.wait_group.read 0;
            mov.u64 %rd2, 0; st.shared.u64 [memory+40], %rd2;
            cp.async.bulk.wait_group 0;
    END:)");
        CHECK(out[2] == 11);
        CHECK(out[3] == 112);
    }

    TEST_CASE("emulated gpu: tensor copies of one to five dimensions") {
        const std::vector<uint64_t> extents{16, 3, 4, 3, 5};
        for (size_t rank = 1; rank <= 5; ++rank) {
            const std::vector<uint16_t> box{8, 2, 2, 1, 3};
            const std::vector<uint16_t> memory =
                load_box({extents.begin(), extents.begin() + static_cast<ptrdiff_t>(rank)},
                         {box.begin(), box.begin() + static_cast<ptrdiff_t>(rank)}, Swizzle::None, {8, 1, 2, 1, 2});
            size_t at = 0;
            for (uint64_t e = 0; e < (rank > 4 ? 3U : 1U); ++e) {
                for (uint64_t c = 0; c < (rank > 2 ? 2U : 1U); ++c) {
                    for (uint64_t b = 0; b < (rank > 1 ? 2U : 1U); ++b) {
                        for (uint64_t a = 0; a < 8; ++a) {
                            uint64_t index = 8 + a;
                            if (rank > 1) index += 16 * (1 + b);
                            if (rank > 2) index += 16 * 3 * (2 + c);
                            if (rank > 3) index += 16 * 3 * 4;
                            if (rank > 4) index += 16 * 3 * 4 * 3 * (2 + e);
                            CHECK(memory[at++] == index + 1);
                        }
                    }
                }
            }
            CHECK(at == memory.size());
        }
    }

    TEST_CASE("emulated gpu: what lies outside of a tensor is zeros or NaNs") {
        // Columns -4..11 of a tensor of 8 columns, rows 1..3 of 3.
        for (const uint8_t fill : {0, 2}) {
            const std::vector<uint16_t> memory = load_box({8, 3}, {16, 3}, Swizzle::None, {-4, 1}, {}, fill);
            for (size_t row = 0; row < 3; ++row) {
                for (size_t column = 0; column < 16; ++column) {
                    const bool inside = row < 2 && column >= 4 && column < 12;
                    const size_t expected = inside ? 8 * (row + 1) + column - 4 + 1 : fill == 0 ? 0 : 0x7fff;
                    CHECK(memory[row * 16 + column] == expected);
                }
            }
        }
    }

    TEST_CASE("emulated gpu: element strides skip rows") {
        const std::vector<uint16_t> memory = load_box({8, 9}, {8, 7}, Swizzle::None, {0, 1}, {1, 3});
        REQUIRE(memory.size() == 3 * 8);  // ceil(7 / 3) rows: 1, 4, 7
        for (size_t row = 0; row < 3; ++row) CHECK(memory[row * 8] == 8 * (1 + 3 * row) + 1);
    }

    TEST_CASE("emulated gpu: swizzled copies permute chunks of 16 bytes as the document's figures show") {
        const auto check = [](Swizzle swizzle, uint16_t columns, auto chunk_of) {
            const std::vector<uint16_t> memory = load_box({columns, 16}, {columns, 16}, swizzle, {0, 0});
            const size_t chunks = columns / 8U;
            for (size_t row = 0; row < 16; ++row) {
                for (size_t chunk = 0; chunk < chunks; ++chunk) {
                    const size_t at = (row * chunks + chunk_of(row, chunk)) * 8;
                    CHECK(memory[at] == row * columns + chunk * 8 + 1);
                }
            }
        };
        check(Swizzle::Bytes128, 64, [](size_t row, size_t chunk) { return chunk ^ (row % 8); });
        check(Swizzle::Bytes64, 32, [](size_t row, size_t chunk) { return chunk ^ (row / 2 % 4); });
        check(Swizzle::Bytes32, 16, [](size_t row, size_t chunk) { return chunk ^ (row / 4 % 2); });
    }

    TEST_CASE("emulated gpu: a tensor copy to global memory leaves out what is outside") {
        Machine machine(kSm90Header + R"(
        .entry store(.param .align 64 .b8 map[128], .param .align 4 .b8 at[20], .param .u64 to, .param .u32 bytes) {
            .reg .b32 %r<8>, %c<2>; .reg .b64 %rd<4>; .reg .pred %p<2>;
            .shared .align 1024 .b8 memory[2048];
            mov.u32 %r1, %tid.x; mul.lo.u32 %r2, %r1, 16; mov.u32 %r3, memory; add.u32 %r3, %r3, %r2;
            st.shared.v4.u32 [%r3], {%r1, %r1, %r1, %r1};
            fence.proxy.async.shared::cta; bar.sync 0;
            setp.ne.u32 %p1, %r1, 0; @%p1 bra END;
            mov.b64 %rd1, map; cvta.param.u64 %rd1, %rd1;
            ld.param.u32 %c0, [at]; ld.param.u32 %c1, [at+4];
            cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {%c0, %c1}], [memory];
            cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
        END: ret; })",
                        90);
        TensorMap map = tensor_map(0, 4, {12, 5}, {8, 4}, Swizzle::Bytes32);
        map.address = machine.upload(std::vector<uint32_t>(60, 99));
        const LaunchResult result = launch_box(machine, map, {8, 2}, 0, 0);
        if (result.report) FAIL(result.report->text());
        const std::vector<uint32_t> tensor = machine.download<uint32_t>(map.address, 60);
        for (size_t row = 0; row < 5; ++row) {
            for (size_t column = 0; column < 12; ++column) {
                // Rows of 32 bytes are two chunks, exchanged in rows 4 to 7 of the shared memory's 128-byte lines.
                const bool inside = row >= 2 && column >= 8;
                const size_t chunk = (row - 2) * 2 + (column - 8) / 4;
                CHECK(tensor[row * 12 + column] == (inside ? chunk : 99));
            }
        }
    }

    TEST_CASE("emulated gpu: targets without the instructions and devices without the target refuse them") {
        const std::string body = ".entry k() { wgmma.fence.sync.aligned; ret; }";
        CHECK_THROWS_WITH_AS(Machine(".version 8.3\n.target sm_90\n.address_size 64\n" + body, 90),
                             "ptx:4:14: 'wgmma.fence.sync.aligned' needs target sm_90a, not sm_90", PtxError);
        CHECK_THROWS_AS(Machine(kSm90Header + body, 89), WrongTarget);
        CHECK_THROWS_AS(Machine(kSm90Header + body, 100), WrongTarget);
        CHECK_THROWS_WITH_AS(Machine(kSm90Header + ".entry k() { cp.reduce.async.bulk.commit_group; ret; }", 90),
                             "ptx:4:14: tests/emulated_gpu: 'cp.reduce.async.bulk.commit_group' is not emulated yet",
                             PtxError);
    }
}

}  // namespace emulated_gpu
