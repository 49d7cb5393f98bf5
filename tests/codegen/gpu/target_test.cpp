#include "codegen/gpu/target.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace kiln::codegen::gpu;

namespace {

const Target& row_of(const char* name) {
    return *find_target(name).target;
}

}  // namespace

TEST_SUITE_BEGIN("unit");

TEST_CASE("gpu targets: the table has every target once, and each is found under its name") {
    std::set<std::string> names;
    for (const Target& row : target_table()) {
        CHECK(names.insert(row.name).second);
        CHECK(find_target(row.name).target == &row);
        CHECK(find_target(row.name).note.empty());
        CHECK(row.schedule_names.back() == row.name);
        CHECK(row.shared_bytes_per_block <= row.shared_bytes_per_unit);
    }
    for (const char* name : {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a", "gfx90a", "gfx942", "gfx950",
                             "gfx1250", "gfx1100", "gfx1201"}) {
        CHECK(names.count(name) == 1);
    }
}

TEST_CASE("gpu targets: an unknown architecture falls back to the nearest older one, and says so") {
    const auto found = [](const char* name) { return find_target(name).target->name; };
    CHECK(find_target("sm_87").note == "sm_87 is not in the table; using sm_86");
    CHECK(found("sm_87") == "sm_86");
    CHECK(found("sm_90") == "sm_90a");  // every device of capability 9.0 runs it
    CHECK(found("sm_103") == "sm_89");  // code for sm_100a runs on capability 10.0 only; PTX for sm_89 runs here
    CHECK(found("sm_103a") == "sm_89");
    CHECK(found("sm_121") == "sm_89");
    CHECK(found("gfx1101") == "gfx1101");
    CHECK(find_target("gfx1101").note == "gfx1101 is not in the table; using the limits of gfx1100");
    CHECK(row_of("gfx1101").lanes == 32);
}

TEST_CASE("gpu targets: what runs nowhere is refused with the reason") {
    CHECK(find_target("sm_75").target == nullptr);
    CHECK(find_target("sm_75").note ==
          "sm_75 is older than all targets; they are sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_120a");
    CHECK(find_target("gfx908").note ==
          "gfx908 runs the code of no target; they are gfx90a, gfx942, gfx950, gfx1250, gfx1100, gfx1201");
    for (const char* name : {"", "sm_", "sm_8x", "sm_a", "x86-64-v3", "cuda", "sm_99999999999999", "sm_-80"}) {
        CAPTURE(name);
        CHECK(find_target(name).target == nullptr);
        CHECK_FALSE(find_target(name).note.empty());
    }
}

TEST_CASE("gpu targets: lanes are partitioned by the groups that are served together") {
    for (const Target& row : target_table()) {
        for (const int bytes : {1, 2, 4, 8, 16}) {
            for (const bool is_store : {false, true}) {
                const LaneGroups groups = shared_groups(row, bytes, is_store);
                std::set<int> lanes;
                for (const std::vector<int>& group : groups.groups) {
                    lanes.insert(group.begin(), group.end());
                    CHECK(static_cast<int>(group.size()) * std::max(bytes, 4) <= groups.banks * 4);
                }
                CHECK(static_cast<int>(lanes.size()) == row.lanes);
                CHECK(*lanes.rbegin() == row.lanes - 1);
            }
        }
    }
    CHECK(shared_groups(row_of("sm_80"), 16, false).groups.size() == 4);
    CHECK(shared_groups(row_of("gfx942"), 16, false).groups[1] == std::vector<int>{4, 5, 6, 7, 16, 17, 18, 19});
    CHECK(shared_groups(row_of("gfx950"), 16, false).groups.size() == 4);
}

// Figures of the CUDA Occupancy Calculator's formulas, worked by hand.
TEST_CASE("gpu targets: occupancy is that of the scarcest resource") {
    const Target& a100 = row_of("sm_80");
    CHECK(occupancy(a100, 256, 32, 0).blocks == 8);  // 2048 threads
    CHECK(occupancy(a100, 256, 32, 0).fraction == 1);
    CHECK(occupancy(a100, 32, 16, 0).blocks == 32);  // blocks
    CHECK(occupancy(a100, 32, 16, 0).fraction == 0.5);
    CHECK(occupancy(a100, 256, 128, 0).blocks == 2);        // 4 warps of 4096 registers a quarter
    CHECK(occupancy(a100, 256, 37, 0).blocks == 6);         // 37 become 40: 12 warps a quarter
    CHECK(occupancy(a100, 256, 41, 0).blocks == 5);         // 48: 10 warps a quarter, 40 in all
    CHECK(occupancy(a100, 128, 255, 0).blocks == 2);        // 2 warps of 8192 a quarter
    CHECK(occupancy(a100, 128, 32, 48 << 10).blocks == 3);  // 3 of 49 KB in 164 KB
    CHECK(occupancy(a100, 128, 32, 163 << 10).blocks == 1);
    CHECK(occupancy(a100, 128, 32, (163 << 10) + 1).blocks == 0);
    CHECK(occupancy(a100, 1025, 32, 0).blocks == 0);
    CHECK(occupancy(a100, 1024, 128, 0).blocks == 0);  // 32 warps; 16 fit
    CHECK(occupancy(row_of("sm_89"), 256, 32, 0).blocks == 6);
    CHECK(occupancy(row_of("sm_86"), 32, 32, 0).blocks == 16);
    CHECK(occupancy(row_of("gfx942"), 256, 128, 0).blocks == 4);  // 4 waves a SIMD
    CHECK(occupancy(row_of("gfx942"), 256, 129, 0).blocks == 3);  // 136 registers: 3
    CHECK(occupancy(row_of("gfx942"), 256, 64, 40000).blocks == 1);
    CHECK(occupancy(row_of("gfx1100"), 256, 97, 0).blocks == 6);   // 120 registers: 12 waves a SIMD
    CHECK(occupancy(row_of("gfx1100"), 256, 256, 0).blocks == 2);  // 264: 5 a SIMD, 20 in all
}

TEST_SUITE_END();
