// Moves out of loops what each round would compute anew.
//
// Does: pure ops and loads of `in` tensors whose operands come from outside move before the loop, through as many loops
// as possible. Nothing traps and loads outside a tensor give their fill, so that they may run although the loop does
// not. Left inside: tiles that only feed dots, which are read faster than kept; loads of very large tiles; and free ops
// (constants, broadcasts and the like), unless an op that moves needs them. Requires: a verified kernel. Guarantees:
// values only; the number of ops does not change.
#pragma once

#include "ir/kernel.h"

namespace kiln::ir {

void hoist_invariants(Kernel& kernel);

}  // namespace kiln::ir
