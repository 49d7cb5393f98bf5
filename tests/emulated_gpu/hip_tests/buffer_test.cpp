// Memory through buffer descriptors: range checks, structured buffers, loads straight into LDS.

#include "tests/emulated_gpu/hip_tests/assembly.h"
#include "tests/emulated_gpu/hip_tests/clang.h"
#include "tests/emulated_gpu/hip_tests/machine.h"

namespace emulated_gpu::hip {
namespace {

/// s[4:7] describes the first argument, s[8:9] holds the second one's address, v1 is 4 times the lane.
std::string body(const std::string& stride, const std::string& records, const std::string& text) {
    return "s_load_dwordx4 s[12:15], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_mov_b32 s4, s12\n"
           "s_or_b32 s5, s13, " +
           stride + "\ns_mov_b32 s6, " + records +
           "\ns_mov_b32 s7, 0x27000\n"
           "s_mov_b64 s[8:9], s[14:15]\nv_lshlrev_b32 v1, 2, v0\n" +
           text + "\nglobal_store_dword v1, v2, s[8:9]\ns_endpgm";
}

std::vector<uint32_t> run(const std::string& stride, const std::string& records, const std::string& text,
                          std::vector<uint32_t>* memory = nullptr) {
    AssemblyKernel kernel;
    kernel.body = body(stride, records, text);
    kernel.lds_bytes = 256;
    Machine machine(assemble(assembly_text(kernel, "gfx90a"), "gfx90a"), "gfx90a");
    std::vector<uint32_t> in(64);
    for (uint32_t i = 0; i < 64; ++i) in[i] = 100 + i;
    const uint64_t buffer = machine.upload(in);
    const uint64_t out = machine.upload(std::vector<uint32_t>(64, 0));
    machine.run("kernel", {1, 1, 1}, {64, 1, 1}, Arguments().add(buffer).add(out));
    if (memory != nullptr) *memory = machine.download<uint32_t>(buffer, 64);
    return machine.download<uint32_t>(out, 64);
}

TEST_SUITE("emulated_gpu") {
    TEST_CASE("hip: a raw buffer gives zeros out of range and drops stores there") {
        const auto loaded = run("0", "64", "buffer_load_dword v2, v1, s[4:7], 0 offen offset:16\ns_waitcnt vmcnt(0)");
        for (uint32_t i = 0; i < 64; ++i) CHECK(loaded[i] == (i < 12 ? 104 + i : 0));
        std::vector<uint32_t> memory;
        run("0", "64", "v_mov_b32 v2, 7\nbuffer_store_dword v2, v1, s[4:7], 0 offen", &memory);
        for (uint32_t i = 0; i < 64; ++i) CHECK(memory[i] == (i < 16 ? 7 : 100 + i));
        const auto old = run("0", "64",
                             "v_mov_b32 v2, 5\nbuffer_atomic_add v2, v1, s[4:7], 0 offen glc\n"
                             "s_waitcnt vmcnt(0)",
                             &memory);
        for (uint32_t i = 0; i < 16; ++i) CHECK((old[i] == 100 + i && memory[i] == 105 + i));
    }

    TEST_CASE("hip: a structured buffer counts records") {
        // Records of 8 bytes: stride in bits 29:16 of the second word; 20 records.
        const auto loaded =
            run("0x80000", "20", "buffer_load_dword v2, v0, s[4:7], 0 idxen offset:4\ns_waitcnt vmcnt(0)");
        for (uint32_t i = 0; i < 64; ++i) CHECK(loaded[i] == (i < 20 ? 101 + 2 * i : 0));
    }

    TEST_CASE("hip: a buffer load straight into LDS") {
        const auto loaded = run("0", "128",
                                "s_mov_b32 m0, 0\ns_nop 0\nbuffer_load_dword v1, s[4:7], 0 offen lds\n"
                                "s_waitcnt vmcnt(0)\nds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)");
        for (uint32_t i = 0; i < 64; ++i) CHECK(loaded[i] == (i < 32 ? 100 + i : 0));
    }
}

}  // namespace
}  // namespace emulated_gpu::hip
