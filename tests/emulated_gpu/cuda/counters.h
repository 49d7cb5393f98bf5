#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace emulated_gpu {

/// Classes that instructions are counted by.
enum class InstructionClass : uint8_t {
    Integer,
    Float,
    Conversion,
    Move,
    Compare,
    Memory,
    AsyncCopy,
    Matrix,
    Warp,
    Barrier,
    Control,
};
inline constexpr size_t kInstructionClasses = 11;

/// What one launch did. Instructions are counted per warp, like a profiler's "instructions executed".
struct Counters {
    std::string kernel;
    uint64_t blocks = 0;
    uint64_t threads = 0;
    std::array<uint64_t, kInstructionClasses> warp_instructions{};
    uint64_t thread_instructions = 0;  // lanes that executed, summed
    uint64_t matrix_operations = 0;    // mma instructions
    uint64_t matrix_multiply_adds = 0;

    uint64_t global_load_sectors = 0;  // distinct 32-byte sectors of each warp instruction, summed
    uint64_t global_store_sectors = 0;
    uint64_t global_fewest_sectors = 0;  // had each instruction's distinct bytes been contiguous and aligned
    uint64_t global_load_bytes = 0;      // asked for by lanes
    uint64_t global_store_bytes = 0;
    uint64_t shared_load_bytes = 0;
    uint64_t shared_store_bytes = 0;
    uint64_t async_copy_bytes = 0;
    uint64_t local_bytes = 0;

    uint64_t shared_wavefronts = 0;
    uint64_t shared_fewest_wavefronts = 0;
    uint64_t barriers = 0;  // per block: times a barrier completed

    uint64_t all_warp_instructions() const;
    uint64_t bank_conflicts() const { return shared_wavefronts - shared_fewest_wavefronts; }
    std::string json() const;
};

}  // namespace emulated_gpu
