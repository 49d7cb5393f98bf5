// What generated CPU code is called with. Plain C structures; the layout is part of the cache key through the build id.
#pragma once

#include <cstdint>

namespace kiln::codegen::cpu {

/// A tensor argument or scratch tensor. Sizes and strides in elements, outermost first. An absent optional tensor is
/// all null.
struct TensorFrame {
    void* data;
    const std::int64_t* sizes;
    const std::int64_t* strides;
};

/// One launch. `tensors` holds the tensor parameters in order (scalar parameters have no entry), then the scratch
/// tensors. `values` holds the bit pattern of each launch value the phase uses, in the order of PhaseCode::values.
struct LaunchFrame {
    const TensorFrame* tensors;
    const std::uint64_t* values;
};

/// Runs programs [first, last) of a phase; program numbers count as ir::program_offsets() has it. `grid` holds the
/// number of programs along each axis. `scratch` is PhaseCode::scratch_bytes of memory private to the calling thread,
/// aligned to 64 bytes and undefined at the start.
using PhaseFunction = void (*)(const LaunchFrame* frame, const std::int64_t* grid, std::int64_t first,
                               std::int64_t last, void* scratch);

}  // namespace kiln::codegen::cpu
