#include "autotune/compile_ahead.h"

#include "kiln/error.hpp"

namespace kiln::autotune {

CompileAhead::CompileAhead(std::vector<std::string> command, const Job& job, double limit_seconds)
    : worker_(std::move(command), job), limit_seconds_(limit_seconds), thread_([this] { run(); }) {}

CompileAhead::~CompileAhead() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    changed_.notify_one();
    worker_.interrupt();
    thread_.join();
}

void CompileAhead::submit(TrialRequest request) {
    request.action = TrialAction::Compile;
    {
        const std::lock_guard lock(mutex_);
        next_ = std::move(request);
    }
    changed_.notify_one();
}

void CompileAhead::run() {
    while (true) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return ending_ || next_; });
        if (ending_) return;
        const TrialRequest request = *std::exchange(next_, std::nullopt);
        lock.unlock();
        try {
            worker_.run(request, limit_seconds_);
        } catch (const Error&) {
            return;  // the trials' own worker meets the same error, and reports it
        }
    }
}

}  // namespace kiln::autotune
