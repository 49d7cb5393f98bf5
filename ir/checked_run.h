// Check mode: a run of the interpreter that reports what the language leaves open or defines but hardly anyone wants.
//
// - a view whose range leaves its axis (the language clamps it);
// - signed index arithmetic that wraps, and an index that does not fit the type it is converted to. Arithmetic behind a
//   `%`, `mod`, a shift to the right or a bitwise operation is taken for a hash and may wrap, as may unsigned types;
// - reads of scratch, and atomic updates of `out` tensors, where nothing has been written;
// - two programs of a phase that touch one element, at least one of them writing it, unless both do so atomically or an
//   `acq_rel` atomic lies between them;
// - floats added to one element more than once (a warning: the sum's last bits depend on the order);
// - a false `assert`, which ends the run.
//
// Each place in the text is reported once for each kind of finding, for the first program that meets it.
#pragma once

#include "ir/interpret.h"
#include "ir/support/diagnostic.h"

namespace kiln::ir {

/// Runs as `interpret` does, on the kernel as the front end makes it: tile passes drop what a finding would be about.
/// Findings point at the spans of the kernel's ops.
LaunchErrors checked_run(const Kernel& kernel, std::span<const Argument> arguments, std::int64_t units,
                         const PrintSink& print, support::Diagnostics& findings);

}  // namespace kiln::ir
