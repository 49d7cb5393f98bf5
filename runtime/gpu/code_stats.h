// What compiled GPU code needs of a compute unit, and how many of its blocks fit on one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/gpu/source.h"
#include "runtime/gpu/source_compiler.h"

namespace kiln::runtime::gpu {

struct PhaseStats {
    std::string symbol;
    std::int64_t threads = 0;       ///< of a block
    std::int64_t registers = 0;     ///< of a thread; on AMD's, vector registers, accumulation registers included
    std::int64_t shared_bytes = 0;  ///< of a block, static and dynamic
    std::int64_t spill_bytes = 0;   ///< of a thread
    std::int64_t stack_bytes = 0;   ///< of a thread, spills included
    std::int64_t blocks_per_unit = 0;
    double occupancy = 0;  ///< warps resident on a unit over the most it can hold
};

/// One for each phase of the source, from the verbose log of ptxas or the metadata of the code object. Throws
/// Error(compiler) if a phase is not spoken of there.
std::vector<PhaseStats> phase_stats(const codegen::gpu::Source& source, const CompiledSource& compiled,
                                    const codegen::gpu::Target& target);

}  // namespace kiln::runtime::gpu
