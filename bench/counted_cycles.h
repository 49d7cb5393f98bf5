// What a launch on an emulated device would cost, from what the device counted. No time: a figure to compare
// configurations by where no GPU is.
#pragma once

#include <nlohmann/json.hpp>

#include "codegen/configure/gpu_machine.h"
#include "codegen/gpu/source.h"

namespace kiln::bench {

/// Cycles of the launch that a line of EMULATED_GPU_REPORT describes (docs/emulated_gpu.md): instructions, bytes and
/// barriers as they were executed, at the machine's rates, on blocks that stand on its units as `phase` says.
double counted_cycles(const nlohmann::json& counters, const codegen::gpu::PhaseSource& phase,
                      const codegen::configure::GpuMachine& machine);

}  // namespace kiln::bench
