// A GPU architecture as plain numbers and features. Code asks for these, never for names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::codegen::gpu {

enum class Vendor : std::uint8_t { Nvidia, Amd };

/// One row of the target table. Limits are those of the architecture; a present device is asked for its own.
struct Target {
    std::string name;                  ///< "sm_80", "gfx942": what the run-time compilers call it
    Vendor vendor = Vendor::Nvidia;
    int lanes = 32;                    ///< threads that run in step: a warp, a wavefront
    int threads_per_block = 1024;      ///< the most a block may have
    int registers_per_thread = 255;    ///< 32-bit registers one thread may use
    int registers_per_unit = 65536;    ///< 32-bit registers of a compute unit (of one SIMD x its SIMDs)
    int warps_per_unit = 64;           ///< resident at once
    std::int64_t shared_bytes_per_block = 48 << 10;  ///< the most a block may have, after opting in where that is needed
    std::int64_t shared_bytes_per_unit = 48 << 10;
    std::vector<std::string> schedule_names;  ///< that match `schedule` blocks, least specific first: gpu, nvidia, sm_80
};

/// A row of the table, and in words how it was found where the name is not that of a row: "sm_87 is not in the table;
/// using sm_86".
struct FoundTarget {
    const Target* target = nullptr;
    std::string note;
};

/// The row of that name or else the nearest older one whose code runs there. Null for a name of no known family.
FoundTarget find_target(std::string_view name);

/// All rows, NVIDIA's first, older ones first.
const std::vector<Target>& target_table();

/// Text that tells two targets with different code apart; part of the cache key.
std::string fingerprint(const Target& target);

}  // namespace kiln::codegen::gpu
