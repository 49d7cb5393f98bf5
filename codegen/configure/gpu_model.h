// How long a launch should take on a GPU, before anything is compiled. The phases' threads, registers and shared memory
// are what codegen::gpu::generate decided, so that they hold for the code that would run.
//
// A block occupies the parts of its unit (matrix units, vector units, shared memory, the way to the shared cache) for
// some cycles and waits for others; blocks that are resident together fill each other's waits. Units share the blocks
// out evenly, the last round of them may be short, and all of it takes no less than the traffic with memory.
#pragma once

#include <span>

#include "codegen/configure/gpu_machine.h"
#include "codegen/configure/model.h"
#include "codegen/gpu/source.h"

namespace kiln::codegen::configure {

/// As predict() of model.h; `phases` are the source's for the machine's target.
Prediction predict(const ir::Kernel& kernel, const ir::Launch& launch, std::span<const ir::Argument> arguments,
                   const GpuMachine& machine, std::span<const gpu::PhaseSource> phases);

}  // namespace kiln::codegen::configure
