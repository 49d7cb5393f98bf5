// Which ops compute the indices of memory accesses.
#pragma once

#include <vector>

#include "ir/kernel.h"

namespace kiln::ir {

/// By OpId: whether it is an elementwise op of integers whose result reaches an index, a start or a bound of a view,
/// through sums, products, quotients, conversions, choices and moves. What reaches it through a remainder, a bitwise op
/// or a shift to the right does not count: there, high bits are meant to be dropped.
std::vector<bool> index_arithmetic(const Kernel& kernel);

}  // namespace kiln::ir
