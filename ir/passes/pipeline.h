// The order of the tile passes, readable in one function, each constraint with its reason.
#pragma once

#include <span>
#include <string_view>

#include "ir/kernel.h"
#include "ir/passes/shortfall.h"

namespace kiln::ir {

/// Runs all tile passes. Between passes the kernel is verified in debug builds and where `KILN_VERIFY=1`.
/// `KILN_DUMP=<pass>` (or `all`) prints the IR to stderr after that pass.
/// Returns where the performance contract does not hold, of the clauses that tile passes serve. The pass `left_out`, if
/// one is named, does not run: a kernel must mean the same without it, and tests ask that of each.
Shortfalls run_tile_passes(Kernel& kernel, std::string_view left_out = {});

/// The passes that may be left out.
std::span<const std::string_view> tile_pass_names();

}  // namespace kiln::ir
