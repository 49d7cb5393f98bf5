// Removes masks that facts decide, and moves masks from values into reads.
//
// Does: a load or store whose mask is true everywhere loses it; one whose mask is false everywhere becomes its fill, or
// nothing. select(m, x[...], v) and select(m, v, x[...]) of an `in` tensor become the read masked by m or by !m, if
// that is the read's only use, v repeats a scalar, and elements outside and elements masked agree: v is the read's fill
// already, or facts prove that the read has no elements outside. Requires: equal values are merged and dead code is
// removed. Guarantees: the masked reads of the performance contract, 11 (a) and (b), for `in` tensors. A select of a
// read that stays has a shortfall.
#pragma once

#include "ir/kernel.h"
#include "ir/passes/shortfall.h"

namespace kiln::ir {

void simplify_masks(Kernel& kernel, Shortfalls& shortfalls);

}  // namespace kiln::ir
