// The interpreter: the executable definition of the tile IR. Runs any verified kernel on host memory, one program after
// another, exactly (bf16 and fp8 rounding included). Sums and dots combine in index order.
#pragma once

#include "ir/launch.h"

namespace kiln::ir {

/// Runs programs [first, last) of one phase. `scratch` holds one tensor for each of the kernel's scratch declarations.
void interpret_phase(const Kernel& kernel, const Launch& launch, std::span<const Argument> arguments,
                     std::span<const TensorView> scratch, std::size_t phase, std::int64_t first, std::int64_t last);

/// Runs all phases, with scratch of its own. Returns the launch errors, if there are any, and then has run nothing.
LaunchErrors interpret(const Kernel& kernel, std::span<const Argument> arguments, std::int64_t units = 1);

}  // namespace kiln::ir
