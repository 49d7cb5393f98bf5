// How many 32-bit registers a thread needs for the tiles that live at one time. An estimate from liveness and layouts:
// what the compiler keeps beside them (addresses, scalars, staging) is a constant here.
#pragma once

#include "codegen/gpu/lower/assign_layouts.h"

namespace kiln::codegen::gpu {

int estimate_registers(const ir::Kernel& kernel, const ir::Phase& phase, const TileValues& values,
                       const TensorFacts& tensors, const TileLayouts& layouts);

}  // namespace kiln::codegen::gpu
