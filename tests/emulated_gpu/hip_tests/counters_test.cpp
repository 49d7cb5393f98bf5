// Sectors and bank conflicts of accesses counted by hand.

#include "tests/emulated_gpu/hip_tests/assembly.h"
#include "tests/emulated_gpu/hip_tests/clang.h"
#include "tests/emulated_gpu/hip_tests/machine.h"

namespace emulated_gpu::hip {
namespace {

/// One wave; lane i accesses byte `apart` * i + `first`.
struct Access {
    const char* text;  // the address is v1, global ones relative to s[4:5]
    uint32_t apart;
    uint32_t first;
    uint64_t cost;  // LDS cycles or sectors
    uint64_t fewest;
};

Counters run(const Access& access) {
    AssemblyKernel kernel;
    kernel.body = "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_mul_u32_u24 v1, " + std::to_string(access.apart) +
                  ", v0\nv_add_u32 v1, " + std::to_string(access.first) +
                  ", v1\nv_mov_b32 v2, 0\nv_mov_b32 v3, 0\ns_waitcnt lgkmcnt(0)\n" + access.text +
                  "\ns_waitcnt vmcnt(0) lgkmcnt(0)\ns_endpgm";
    kernel.lds_bytes = 16384;
    Machine machine(assemble(assembly_text(kernel, "gfx90a"), "gfx90a"), "gfx90a");
    machine.options.check_lds = false;
    return machine.run("kernel", {1, 1, 1}, {64, 1, 1},
                       Arguments().add(machine.upload(std::vector<uint8_t>(16384, 0))));
}

TEST_SUITE("emulated_gpu") {
    TEST_CASE("hip: LDS cycles counted by hand") {
        const Access accesses[] = {
            {"ds_read_b32 v4, v1", 4, 0, 2, 2},        // 32 lanes a cycle, a bank each
            {"ds_read_b32 v4, v1", 8, 0, 4, 2},        // every other bank, twice
            {"ds_read_b32 v4, v1", 128, 0, 64, 2},     // one bank
            {"ds_read_b32 v4, v1", 0, 64, 2, 2},       // one word for all
            {"ds_read_b32 v4, v1", 132, 0, 2, 2},      // rows of 33 words
            {"ds_read_b64 v[4:5], v1", 8, 0, 4, 4},    // 16 lanes a cycle
            {"ds_read_b64 v[4:5], v1", 64, 0, 32, 4},  // 16 lanes on two pairs of banks
            {"ds_read_b128 v[4:7], v1", 16, 0, 8, 8},  // 8 lanes a cycle
            {"ds_write_b32 v1, v2", 4, 0, 2, 2},      {"ds_write_b16 v1, v2", 2, 0, 2, 2},  // two lanes to a word
        };
        for (const Access& access : accesses) {
            const Counters counters = run(access);
            CHECK_MESSAGE(counters.lds_cycles == access.cost, access.text << " apart " << access.apart);
            CHECK_MESSAGE(counters.lds_fewest_cycles == access.fewest, access.text << " apart " << access.apart);
            CHECK(counters.bank_conflicts() == access.cost - access.fewest);
        }
    }

    TEST_CASE("hip: sectors of global memory counted by hand") {
        const Access accesses[] = {
            {"global_load_dword v4, v1, s[4:5]", 4, 0, 4, 4},
            {"global_load_dword v4, v1, s[4:5]", 4, 32, 5, 4},   // not aligned to a sector
            {"global_load_dword v4, v1, s[4:5]", 64, 0, 64, 4},  // a sector for each lane
            {"global_load_dword v4, v1, s[4:5]", 0, 0, 1, 1},
            {"global_load_dwordx4 v[4:7], v1, s[4:5]", 16, 0, 16, 16},
            {"global_load_ushort v4, v1, s[4:5]", 2, 0, 2, 2},
            {"global_store_byte v1, v2, s[4:5]", 1, 0, 1, 1},
            {"global_store_dwordx2 v1, v[2:3], s[4:5]", 128, 0, 64, 8},
        };
        for (const Access& access : accesses) {
            const Counters counters = run(access);
            CHECK_MESSAGE(counters.global_load_sectors + counters.global_store_sectors == access.cost,
                          access.text << " apart " << access.apart);
            CHECK_MESSAGE(counters.global_fewest_sectors == access.fewest, access.text << " apart " << access.apart);
        }
    }

    TEST_CASE("hip: counters as JSON") {
        const Counters counters = run({"ds_read_b32 v4, v1", 8, 0, 0, 0});
        const std::string json = counters.json();
        CHECK(json.find("\"kernel\": \"kernel\", \"workgroups\": 1, \"work_items\": 64") == 1);
        CHECK(json.find("\"lds\": 1") != std::string::npos);
        CHECK(json.find("\"lds_load_bytes\": 256") != std::string::npos);
        CHECK(json.find("\"lds_bank_conflicts\": 2") != std::string::npos);
        CHECK(json.find("\"scalar_load_bytes\": 8") != std::string::npos);
    }
}

}  // namespace
}  // namespace emulated_gpu::hip
