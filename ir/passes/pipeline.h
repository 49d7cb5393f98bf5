// The order of the tile passes, readable in one function, each constraint with its reason.
#pragma once

#include "ir/kernel.h"

namespace kiln::ir {

/// Runs all tile passes. Between passes the kernel is verified in debug builds and where `KILN_VERIFY=1`.
/// `KILN_DUMP=<pass>` (or `all`) prints the IR to stderr after that pass.
void run_tile_passes(Kernel& kernel);

}  // namespace kiln::ir
