// The worker's side: a process that does trials until its input ends. It may crash or hang; the tuner sees to that.
#pragma once

#include <functional>
#include <memory>

#include "autotune/protocol.h"

namespace kiln::autotune {

/// Reports where a trial is: "compiling", "verifying", "timing".
using StageReport = std::function<void(const char* stage)>;

/// Does the trials of one job. What it throws (std::exception) is fatal for the job.
class TrialRunner {
public:
    virtual ~TrialRunner() = default;
    /// The device in words.
    virtual std::string device() const = 0;
    virtual TrialResult run(const TrialRequest& request, const StageReport& report) = 0;
};

using MakeRunner = std::function<std::unique_ptr<TrialRunner>(const Job& job)>;

/// Reads a job and then trials from `input`, and answers to `output`, until the input ends; then the process ends, even
/// if a trial is still running. Returns an exit code if it could not begin. Whatever a trial prints goes nowhere.
int serve(int input, int output, const MakeRunner& make);

}  // namespace kiln::autotune
