// The trials of a real kernel, in a worker process.
#pragma once

#include <memory>

#include "autotune/serve.h"

namespace kiln::autotune {

/// Runs configurations of the job's kernel on its device, on inputs of its own. Each trial has fresh copies of the
/// inputs; outputs are filled with poison before the run that is verified. Throws Error for a job that cannot be done.
std::unique_ptr<TrialRunner> make_kernel_trials(const Job& job);

}  // namespace kiln::autotune
