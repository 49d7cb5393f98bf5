// What a launch on an emulated device would cost, from what the device counted. No time: a figure to compare
// configurations by where no GPU is.
#pragma once

#include <nlohmann/json.hpp>

#include "codegen/configure/gpu_machine.h"
#include "codegen/gpu/source.h"

namespace kiln::bench {

/// Cycles of the launch that a line of EMULATED_GPU_REPORT describes (docs/emulated_gpu.md): instructions, bytes and
/// barriers as they were executed, at the machine's rates, on blocks that stand on its units as `phase` says.
/// `matrix_rate`: multiply-adds a cycle of the matrix instructions that the kernel has; the counters do not tell types.
double counted_cycles(const nlohmann::json& counters, const codegen::gpu::PhaseSource& phase,
                      const codegen::configure::GpuMachine& machine, double matrix_rate);

/// The slowest of those that a kernel's dots are computed by; 0 if there are none.
double matrix_rate_of(const ir::Kernel& kernel, const codegen::configure::GpuMachine& machine);

}  // namespace kiln::bench
