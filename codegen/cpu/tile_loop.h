// Nests of a plan as LLVM loops.
#pragma once

#include "codegen/cpu/phase_state.h"

namespace kiln::codegen::cpu {

/// Emits a nest at the builder's insertion point; scalar results of reductions go to state.scalars. A nest that touches
/// tensors is emitted twice: for tiles that lie wholly inside, without any test, and for those at an edge.
void emit_nest(PhaseState& state, const Nest& nest);

/// Evaluates `value` into a buffer, converting to the buffer's element type.
void emit_assignment(PhaseState& state, ir::ValueId value, BufferId buffer);

/// Copies one buffer to another of the same size and type.
void emit_copy(PhaseState& state, BufferId to, BufferId from);

/// Sets all of a buffer to zero bits.
void emit_zero(PhaseState& state, BufferId buffer);

}  // namespace kiln::codegen::cpu
