// Drops what nobody needs.
//
// Does: removes ops without effect whose results are unused, results of control ops and carried values that only carry
// themselves on, and control ops that neither write nor yield anything used. Requires: a verified kernel. Guarantees:
// every op left leads to a store, a requirement, a grid, a check or a scratch size.
#pragma once

#include "ir/kernel.h"

namespace kiln::ir {

void remove_dead(Kernel& kernel);

}  // namespace kiln::ir
