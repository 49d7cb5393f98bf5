// Lets dot add to its accumulator.
//
// Does: add(x, dot(a, b, 0)), in either order, becomes dot(a, b, x), as the language allows for any x. Requires: dead
// code is removed, since a dot with another use stays. Guarantees: no such pair is left within a block. A dot and the
// sum of it in different blocks are left alone: fusing would move the dot into a loop. The dot that became unused is
// left to remove_dead.
#pragma once

#include "ir/kernel.h"

namespace kiln::ir {

void fuse_dot_accumulate(Kernel& kernel);

}  // namespace kiln::ir
