// Ops that work on whole tiles in buffers, one element after another: Join, Fold, Scan, Sort, Bincount, Atomic.
//
// Results follow the interpreter's order, element by element. Sort counts for each element how many go before it, which
// is quadratic in the length of a line, but has no branches.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>

#include "codegen/cpu/phase_state.h"

namespace kiln::codegen::cpu {

/// Emits the op. `emit_block` emits the block of a Fold or Scan, whose arguments are set in `state.scalars`.
void emit_elements(PhaseState& state, const ir::Op& op, llvm::function_ref<void(ir::BlockId)> emit_block);

}  // namespace kiln::codegen::cpu
