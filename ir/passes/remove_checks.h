// Takes out what only the interpreter carries out.
//
// Does: removes Print and Assert. Requires: nothing. Guarantees: neither is left; what only they used is left to
// remove_dead.
#pragma once

#include "ir/kernel.h"

namespace kiln::ir {

void remove_checks(Kernel& kernel);

}  // namespace kiln::ir
