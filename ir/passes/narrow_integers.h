// Computes index tiles in 32 bits.
//
// Does: arithmetic of `int` tiles whose operands and results facts prove to fit, and that leads to nothing but
// comparisons, conversions, gathers and more of its kind, is computed in i32. A lane then is as wide as one of f32.
// Scalars stay: a 64-bit processor computes them as fast, and the code generators for GPUs keep the narrow ones in 32
// bits by the same facts. Requires: the masks that facts decide are gone, since facts know a bound by its value, not by
// what it is converted to. Guarantees: performance contract 11 (f) for tiles. Arithmetic that begins to need 64 bits
// has a shortfall, unless numbers from i64 memory lead to it.
#pragma once

#include "ir/kernel.h"
#include "ir/passes/shortfall.h"

namespace kiln::ir {

void narrow_integers(Kernel& kernel, Shortfalls& shortfalls);

}  // namespace kiln::ir
