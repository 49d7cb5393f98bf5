// The interpreter: the executable definition of the tile IR. Runs any verified kernel on host memory, one program after
// another, exactly (bf16 and fp8 rounding included). Sums and dots combine in index order.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

#include "ir/launch.h"

namespace kiln::ir {

/// A false Assert ends a run: its message, with the program it stood in.
class AssertionFailed : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Gets the lines that Print writes. A null one sends them to stderr.
using PrintSink = std::function<void(const std::string&)>;

/// Runs programs [first, last) of one phase. `scratch` holds one tensor for each of the kernel's scratch declarations.
/// Throws AssertionFailed.
void interpret_phase(const Kernel& kernel, const Launch& launch, std::span<const Argument> arguments,
                     std::span<const TensorView> scratch, std::size_t phase, std::int64_t first, std::int64_t last,
                     const PrintSink& print = {});

/// Runs all phases, with scratch of its own. Returns the launch errors, if there are any, and then has run nothing; or
/// the message of the assertion that ended the run.
LaunchErrors interpret(const Kernel& kernel, std::span<const Argument> arguments, std::int64_t units = 1,
                       const PrintSink& print = {});

}  // namespace kiln::ir
