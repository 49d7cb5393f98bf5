// Which `int` values (64 bits in the language) are kept in 32 bits: those that ir::Facts proves to fit. An op all of
// whose 64-bit operands and results are narrow is computed in 32 bits, where that gives the same value.
#pragma once

#include <vector>

#include "ir/facts.h"

namespace kiln::codegen::gpu {

/// The type in which each value of the kernel is kept, by ValueId: its element type, or I32 for a narrow I64.
std::vector<ir::ScalarType> narrow_integers(const ir::Kernel& kernel, const ir::Facts& facts);

}  // namespace kiln::codegen::gpu
