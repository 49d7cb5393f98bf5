// Removes masks that facts decide, and moves masks from values into reads.
//
// Does: a load or store whose mask is true everywhere loses it; one whose mask is false everywhere becomes its fill, or
// nothing. select(m, x[...], v) of an `in` tensor becomes the read masked by m, if that is the read's only use and v is
// its fill already: then elements outside and elements masked agree. Requires: equal values are merged and dead code is
// removed. Guarantees: the masked reads of the performance contract, 11 (a) and (b), for `in` tensors.
#pragma once

#include "ir/kernel.h"

namespace kiln::ir {

void simplify_masks(Kernel& kernel);

}  // namespace kiln::ir
