// Contract 11 (e) on the CPU: a read used only by elementwise code and one reduction is streamed, never held whole.
#pragma once

#include "ir/kernel.h"
#include "ir/passes/shortfall.h"

namespace kiln::codegen::cpu {

/// The reads of that kind of which the plan keeps a tile, of themselves or of what is computed from them, in memory.
ir::Shortfalls held_reads(const ir::Kernel& kernel);

}  // namespace kiln::codegen::cpu
