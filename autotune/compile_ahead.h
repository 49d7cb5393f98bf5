// Compiles the next candidate in a process of its own while the present one is verified. It is stopped while the
// present one is timed, so that it does not disturb the clock, and it may crash: the trial itself will say so.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "autotune/worker.h"

namespace kiln::autotune {

class CompileAhead {
public:
    CompileAhead(std::vector<std::string> command, const Job& job, double limit_seconds);
    ~CompileAhead();

    /// The next one to compile, in place of one that has not begun.
    void submit(TrialRequest request);
    void pause() { worker_.pause(); }
    void resume() { worker_.resume(); }

private:
    void run();

    Worker worker_;
    double limit_seconds_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<TrialRequest> next_;
    bool ending_ = false;
    std::thread thread_;
};

}  // namespace kiln::autotune
