#pragma once

#include <array>

#include "tests/emulated_gpu/cuda/execution.h"

namespace emulated_gpu {

/// Shared memory of the blocks of a cluster: block r begins at (r + 1) << kRankShift, and the own block also at 0.
inline constexpr uint64_t kRankShift = 24;

/// Where one lane's access leads: its space, its offset there (Global: the device address), the bytes themselves and,
/// of shared memory, the block.
struct Target {
    Space space = Space::Global;
    uint64_t offset = 0;
    uint8_t* data = nullptr;
    Block* block = nullptr;

    SharedShadow* shadow() const { return block == nullptr ? nullptr : block->shadow.get(); }
};

enum class Access : uint8_t { Load, Store, Atomic };

/// Resolves and checks an access: bounds, alignment, read-only memory. Throws Fault. `space` may be Generic.
Target resolve(Step& step, int lane, Space space, uint64_t address, uint64_t bytes, Access access);

/// Reads without counting or checks of races.
void read_generic(Step& step, int lane, uint64_t address, uint64_t bytes, void* out);

/// Checks an access to global memory for races with other blocks, if these are checked.
inline void note_global(Step& step, int lane, const Target& target, uint64_t bytes, Access access, bool relaxed) {
    if (step.warp.global == nullptr || target.space != Space::Global) return;
    GlobalRaces& races = step.launch.global_races;
    const GlobalRaces::Access by{step.block.number, *step.warp.global, step.line(), lane, relaxed};
    if (access != Access::Load)
        races.write(target.offset, bytes, by);
    else
        races.read(target.offset, bytes, by);
}

/// The addresses of a warp's access, for the counters.
struct LaneAddresses {
    uint32_t mask = 0;
    std::array<uint64_t, kLanes> address;  // of the lanes in the mask
    uint32_t bytes = 0;                    // of each lane
};
void count_global(Counters& counters, const LaneAddresses& access, bool store);
void count_shared(Counters& counters, const LaneAddresses& access, bool store);

}  // namespace emulated_gpu
