// A launch seen from the kernel: arguments, the sizes they bind, the checks they must pass, and the host block. The
// interpreter and every device's runtime use this one piece of code.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/kernel.h"

namespace kiln::ir {

/// A tensor in memory. Sizes and strides are in elements, outermost first; strides may be zero or negative. `data`
/// addresses element [0, 0, ...]. 4-bit types: strides count elements, the last is 1, the others are even.
struct TensorView {
    ScalarType element = ScalarType::F32;
    std::byte* data = nullptr;
    Shape sizes;
    Shape strides;
};

/// One argument a parameter, in the order of the declaration; absent ones are monostate.
using Argument = std::variant<std::monostate, TensorView, Scalar>;

/// What the host block computed: the value of every launch value, and the extents that follow from them.
struct Launch {
    std::vector<Scalar> values;  ///< indexed by ValueId for parameters, sizes and host values; others unset
    std::vector<std::vector<std::int64_t>>
        grids;                   ///< programs along each axis, a vector a phase; 0 if the grid is empty
    std::vector<Shape> scratch;  ///< sizes of each scratch tensor

    /// Number of programs of a phase.
    std::int64_t programs(std::size_t phase) const;
};

/// Why a launch was refused, for the caller: one sentence an error, in the caller's terms, such as
/// "`b` has 512 along axis 0 where `a` has 500 along axis 1 (K)".
struct LaunchErrors {
    std::vector<std::string> messages;
};

/// Compares rank and element type of every argument with its parameter, binds the sizes, makes the extent checks, runs
/// the host block and its requirements, and computes grids and scratch sizes. `units` is the device's number of compute
/// units. Grids or scratch whose size overflows are errors.
std::variant<Launch, LaunchErrors> prepare_launch(const Kernel& kernel, std::span<const Argument> arguments,
                                                  std::int64_t units);

/// The message with each `{}` replaced by a text, in order.
std::string filled_message(std::string_view text, const std::vector<std::string>& values);

/// How many places of the last axis but one stand together in a grid of such counts: within a group that axis runs
/// fastest, then the last axis. 1, so that the last axis runs fastest, unless the schedule's `grid_order` is `columns`
/// (all places) or `grouped(n)` (n). The one definition of these words where programs have numbers.
std::int64_t grid_group(const Schedule& schedule, std::span<const std::int64_t> counts);

/// The offset along each axis of program `index` of a phase, in the order of grid_group().
std::vector<std::int64_t> program_offsets(const Kernel& kernel, const Launch& launch, std::size_t phase,
                                          std::int64_t index);

}  // namespace kiln::ir
