#pragma once

#include "tests/emulated_gpu/hip/execution.h"

namespace emulated_gpu::hip {

enum class Access : uint8_t { Load, Store, Atomic };

/// The bytes of a lane's access to global memory. Throws Fault: bounds, freed or read-only memory, alignment.
uint8_t* global_bytes(Step& step, int lane, uint64_t address, uint32_t bytes, Access access);
/// The bytes of a lane's access to LDS, checked likewise.
uint8_t* lds_bytes(Step& step, int lane, uint64_t offset, uint32_t bytes, Access access);
/// The dword of a lane's private memory that holds byte `offset`, checked.
uint8_t* scratch_dword(Step& step, uint32_t lane, uint64_t offset, Access access);
/// Copies between private memory, which is laid out dword by dword for all lanes, and `data`.
void read_scratch(Step& step, uint32_t lane, uint64_t offset, uint32_t bytes, uint8_t* data);
void write_scratch(Step& step, uint32_t lane, uint64_t offset, uint32_t bytes, const uint8_t* data);

/// Tells the checks of LDS about an access.
void note_lds(Step& step, uint32_t lane, uint32_t offset, uint32_t bytes, Access access);

/// The addresses of a wave's access, for the counters.
struct LaneAddresses {
    uint64_t mask = 0;
    std::array<uint64_t, kLanes> address{};
    uint32_t bytes = 0;  // of each lane
};
void count_global(Counters& counters, const LaneAddresses& access, bool store);
/// How many cycles the banks of LDS take, and how many they would if nothing conflicted (lds_banks.h).
void count_lds(Counters& counters, const LaneAddresses& access, bool store);

}  // namespace emulated_gpu::hip
