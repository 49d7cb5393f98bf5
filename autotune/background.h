// The tuner that tune_in_background() installs into the runtime.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "kiln/tuning.hpp"
#include "runtime/tuning_hooks.h"

namespace kiln::autotune {

class BackgroundTuner final : public runtime::Tuner {
public:
    explicit BackgroundTuner(const BackgroundTuning& options);
    ~BackgroundTuner() override;

    void consider(const runtime::TuningRequest& request) override;
    void set_options(const BackgroundTuning& options);
    /// Waits until nothing is queued or running.
    void wait();
    /// Ends the thread; further requests are ignored.
    void stop();

private:
    void run();
    void tune_one(const runtime::TuningRequest& request, const BackgroundTuning& options);
    bool is_ending();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<runtime::TuningRequest> queue_;
    BackgroundTuning options_;
    bool busy_ = false, ending_ = false;
    std::thread thread_;
};

}  // namespace kiln::autotune
