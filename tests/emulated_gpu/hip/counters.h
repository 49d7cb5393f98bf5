#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace emulated_gpu::hip {

/// Classes that instructions are counted by.
enum class InstructionClass : uint8_t {
    Scalar,
    VectorInteger,
    VectorFloat,
    Transcendental,
    Conversion,
    Move,
    Compare,
    CrossLane,
    Matrix,
    ScalarMemory,
    VectorMemory,
    Lds,
    Wait,
    Barrier,
    Control,
};
inline constexpr size_t kInstructionClasses = 15;

/// What one launch did. Instructions are counted per wave.
struct Counters {
    std::string kernel;
    uint64_t workgroups = 0;
    uint64_t work_items = 0;
    std::array<uint64_t, kInstructionClasses> wave_instructions{};
    uint64_t lane_instructions = 0;  // active lanes of vector instructions, summed
    uint64_t matrix_operations = 0;  // MFMA instructions
    uint64_t matrix_multiply_adds = 0;

    uint64_t global_load_sectors = 0;  // distinct 64-byte sectors of each wave instruction, summed
    uint64_t global_store_sectors = 0;
    uint64_t global_fewest_sectors = 0;  // had each instruction's distinct bytes been contiguous and aligned
    uint64_t global_load_bytes = 0;      // asked for by lanes
    uint64_t global_store_bytes = 0;
    uint64_t scalar_load_bytes = 0;
    uint64_t lds_load_bytes = 0;
    uint64_t lds_store_bytes = 0;
    uint64_t direct_to_lds_bytes = 0;
    uint64_t scratch_bytes = 0;

    uint64_t lds_cycles = 0;
    uint64_t lds_fewest_cycles = 0;
    uint64_t barriers = 0;  // per workgroup: times all its waves met

    uint64_t all_wave_instructions() const;
    uint64_t bank_conflicts() const { return lds_cycles - lds_fewest_cycles; }
    std::string json() const;
};

}  // namespace emulated_gpu::hip
