// Computes equal values once.
//
// Does: a pure op, or a load of an `in` tensor, that an equal one dominates is replaced by it. Loads of other tensors
// stay: a store may stand between. Values of the host block are not merged with those of phases, where a constant is
// worth more than a launch value. Requires: a verified kernel. Guarantees: no two equal ops of that kind dominate one
// another; operands of commutative ops count in either order.
#pragma once

#include "ir/kernel.h"

namespace kiln::ir {

void eliminate_common(Kernel& kernel);

}  // namespace kiln::ir
