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

/// What a program does to an element of a tensor.
enum class Touch : std::uint8_t { Read, Write, Update };

/// Hears what a run does, in the order in which it happens, each time before it happens.
class RunObserver {
public:
    virtual ~RunObserver() = default;

    virtual void begin_launch(const Launch& launch) = 0;
    virtual void begin_program(std::size_t phase, std::int64_t program) = 0;
    /// A Load, Store or Atomic names an element that is inside its tensor and mask. `offset` counts elements from the
    /// data of the parameter or scratch tensor, also where the op names a view of it.
    virtual void touch(const Op& op, Touch touch, std::uint64_t offset) = 0;
    /// A View narrows an axis, of `size` elements, to `lower .. upper`.
    virtual void narrow(const Op& op, std::size_t axis, std::int64_t lower, std::int64_t upper, std::int64_t size) = 0;
    /// Whether `compute` should be called for an elementwise op.
    virtual bool follows(const Op& op) const = 0;
    /// The op computes an element of the patterns of its first two operands; an op of one has it twice.
    virtual void compute(const Op& op, std::uint64_t first, std::uint64_t second) = 0;
    /// An Assert is false; AssertionFailed comes next.
    virtual void fail(const Op& op, const std::string& message) = 0;
};

/// Runs programs [first, last) of one phase. `scratch` holds one tensor for each of the kernel's scratch declarations.
/// Throws AssertionFailed.
void interpret_phase(const Kernel& kernel, const Launch& launch, std::span<const Argument> arguments,
                     std::span<const TensorView> scratch, std::size_t phase, std::int64_t first, std::int64_t last,
                     const PrintSink& print = {}, RunObserver* observer = nullptr);

/// Runs all phases, with scratch of its own. Returns the launch errors, if there are any, and then has run nothing; or
/// the message of the assertion that ended the run.
LaunchErrors interpret(const Kernel& kernel, std::span<const Argument> arguments, std::int64_t units = 1,
                       const PrintSink& print = {}, RunObserver* observer = nullptr);

}  // namespace kiln::ir
