#pragma once

#include <array>

#include "tests/emulated_gpu/cuda/execution.h"

namespace emulated_gpu {

/// Where one lane's access leads: its space, its offset there (Global: the device address) and the bytes themselves.
struct Target {
    Space space = Space::Global;
    uint64_t offset = 0;
    uint8_t* data = nullptr;
};

enum class Access : uint8_t { Load, Store, Atomic };

/// Resolves and checks an access: bounds, alignment, read-only memory. Throws Fault. `space` may be Generic.
Target resolve(Step& step, int lane, Space space, uint64_t address, uint64_t bytes, Access access);

/// Reads without counting or checks of races.
void read_generic(Step& step, int lane, uint64_t address, uint64_t bytes, void* out);

/// The addresses of a warp's access, for the counters.
struct LaneAddresses {
    uint32_t mask = 0;
    std::array<uint64_t, kLanes> address{};
    uint32_t bytes = 0;  // of each lane
};
void count_global(Counters& counters, const LaneAddresses& access, bool store);
void count_shared(Counters& counters, const LaneAddresses& access, bool store);

}  // namespace emulated_gpu
