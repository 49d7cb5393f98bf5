// A GPU architecture as plain numbers and features. Code asks for these, never for names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::codegen::gpu {

enum class Vendor : std::uint8_t { Nvidia, Amd };

/// Lanes whose shared-memory access of one kind is served in one round unless banks collide.
struct LaneGroups {
    int banks = 32;                        ///< of 4 bytes
    std::vector<std::vector<int>> groups;  ///< that partition the lanes
};

/// How shared memory serves loads of 8 and 16 bytes; all else goes to `shared_banks` in lane order.
enum class WideSharedLoads : std::uint8_t {
    InOrder,      ///< consecutive lanes, as many as fill the banks
    Interleaved,  ///< 16-byte loads: lanes 0-3 with 20-23, 4-7 with 16-19, 8-11 with 28-31, 12-15 with 24-27
    DoubleBanks,  ///< 64 banks; 16-byte loads: lanes 0-3 and 12-15 with 20-27, 4-11 with 16-19 and 28-31
};

/// Generations of units that multiply matrices by the warp: matrix_instruction.h has what each can do.
enum class MatrixUnit : std::uint8_t { None, Ampere, Ada, Cdna2, Cdna3, Cdna4, Rdna3, Rdna4 };
inline constexpr MatrixUnit kMatrixUnits[] = {MatrixUnit::None,  MatrixUnit::Ampere, MatrixUnit::Ada,
                                              MatrixUnit::Cdna2, MatrixUnit::Cdna3,  MatrixUnit::Cdna4,
                                              MatrixUnit::Rdna3, MatrixUnit::Rdna4};

/// One row of the target table. Limits are those of the architecture; a present device is asked for its own. A *unit*
/// is what blocks are resident on: a multiprocessor, a compute unit, on RDNA a pair of them (work-group processor).
struct Target {
    std::string name;  ///< "sm_80", "gfx942": what the run-time compilers call it
    Vendor vendor = Vendor::Nvidia;
    int lanes = 32;                  ///< threads that run in step: a warp, a wavefront
    int threads_per_block = 1024;    ///< the most a block may have
    int registers_per_thread = 255;  ///< 32-bit registers one thread may use
    int registers_per_simd = 16384;  ///< 32-bit registers of one of the unit's parts, all lanes together
    int register_step = 8;           ///< registers of a thread are allocated in multiples of it
    int simds_per_unit = 4;          ///< warps are shared out to these evenly
    int warps_per_simd = 16;         ///< resident at once
    int blocks_per_unit = 32;        ///< resident at once
    std::int64_t shared_bytes_per_block = 48
                                          << 10;  ///< the most a block may have, after opting in where that is needed
    std::int64_t shared_bytes_per_unit = 48 << 10;
    int shared_step = 128;    ///< shared memory of a block is allocated in multiples of it
    int shared_reserved = 0;  ///< bytes of shared memory the system takes of each block besides
    int shared_banks = 32;    ///< of 4 bytes
    WideSharedLoads wide_shared_loads = WideSharedLoads::InOrder;
    int async_copy_bytes = 0;  ///< the most that one copy from global to shared memory moves past the registers; or 0
    int sector_bytes = 32;     ///< of global memory: what a request moves at least
    MatrixUnit matrix_unit = MatrixUnit::None;
    std::vector<std::string>
        schedule_names;  ///< that match `schedule` blocks, least specific first: gpu, nvidia, sm_80
};

/// A row of the table, and in words how it was found where the name is not that of a row ("sm_87 is not in the table;
/// using sm_86") or why there is none.
struct FoundTarget {
    const Target* target = nullptr;
    std::string note;
};

/// The row of that name or else the nearest older one whose code runs there.
FoundTarget find_target(std::string_view name);

/// All rows, NVIDIA's first, older ones first.
const std::vector<Target>& target_table();

/// How the lanes of a warp are served for a shared-memory access of 1, 2, 4, 8 or 16 bytes a lane.
LaneGroups shared_groups(const Target& target, int bytes, bool is_store);

/// Registers that a thread may use in a block of so many warps.
int registers_available(const Target& target, int warps);

/// Blocks that a unit holds at once, by the resource that allows fewest. 0: not even one fits.
struct Occupancy {
    int blocks = 0;
    int warps = 0;        ///< of these blocks
    double fraction = 0;  ///< of the warps a unit can hold
};
Occupancy occupancy(const Target& target, int threads, int registers_per_thread, std::int64_t shared_bytes);

/// Text that tells two targets with different code apart; part of the cache key.
std::string fingerprint(const Target& target);

}  // namespace kiln::codegen::gpu
