// Computes what is known at compile time.
//
// Does: ops of constants become constants (by ir/semantics.h); integer and bool values whose facts leave one value
// become it; identities that hold for every operand, NaN, infinities and the sign of zero included, become their
// operand; chains of broadcasts, reshapes, permutes and exact conversions become one op. Requires: a verified kernel.
// Guarantees: a constant tile is a broadcast of a constant; no identity of the list is left.
#pragma once

#include "ir/kernel.h"

namespace kiln::ir {

void fold_constants(Kernel& kernel);

}  // namespace kiln::ir
