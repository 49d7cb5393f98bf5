// Splits loops where masks are constant.
//
// Does: a `for` of a constant step whose body compares index tiles that move with the loop, such as `j + iota(B) < N`
// or `j + iota(B) <= i + iota(A)`, becomes two or three loops over the same offsets in the same order: in the middle
// one, the comparisons are true for every element and are the constant; before and behind it they stay. Requires:
// invariant ops stand outside their loops, so that bounds are made of values from outside. Guarantees: performance
// contract 11 (a), for comparisons of sums that facts prove not to wrap; what is not split has a shortfall. Loops with
// very large bodies, and those whose comparison is of scalars, stay whole. The constants are left to fold_constants and
// simplify_masks.
#pragma once

#include "ir/kernel.h"
#include "ir/passes/shortfall.h"

namespace kiln::ir {

void split_loops(Kernel& kernel, Shortfalls& shortfalls);

}  // namespace kiln::ir
