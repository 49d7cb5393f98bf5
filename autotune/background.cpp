#include "autotune/background.h"

#include <fmt/format.h>

#include "autotune/tune.h"
#include "autotune/worker.h"
#include "kiln/error.hpp"

namespace kiln::autotune {

namespace {

// Trials in a row without gain after which a problem is done.
constexpr std::size_t kPatience = 16;

void check_program(const BackgroundTuning& options) {
    if (!worker_program(options.program).empty()) return;
    throw Error(ErrorKind::user,
                "tuning needs the `kiln` program for its trials, and it is not found: name it in "
                "BackgroundTuning::program or KILN_PROGRAM");
}

}  // namespace

BackgroundTuner::BackgroundTuner(const BackgroundTuning& options) : options_(options), thread_([this] { run(); }) {}

BackgroundTuner::~BackgroundTuner() {
    stop();
}

void BackgroundTuner::consider(const runtime::TuningRequest& request) {
    {
        const std::lock_guard lock(mutex_);
        if (ending_) return;
        queue_.push_back(request);
    }
    changed_.notify_all();
}

void BackgroundTuner::set_options(const BackgroundTuning& options) {
    const std::lock_guard lock(mutex_);
    options_ = options;
}

void BackgroundTuner::wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ending_ || (queue_.empty() && !busy_); });
}

void BackgroundTuner::stop() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
        queue_.clear();
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

bool BackgroundTuner::is_ending() {
    const std::lock_guard lock(mutex_);
    return ending_;
}

void BackgroundTuner::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [&] { return ending_ || !queue_.empty(); });
        if (ending_) return;
        const runtime::TuningRequest request = std::move(queue_.front());
        queue_.pop_front();
        const BackgroundTuning options = options_;
        busy_ = true;
        lock.unlock();
        tune_one(request, options);
        lock.lock();
        busy_ = false;
        changed_.notify_all();
    }
}

/// A problem that cannot be tuned is named once and left alone: the application goes on.
void BackgroundTuner::tune_one(const runtime::TuningRequest& request, const BackgroundTuning& options) {
    try {
        TaskOptions task_options;
        task_options.seed = options.seed;
        const Task task = make_task(request.module, request.launch, task_options);
        TuneOptions tune_options;
        tune_options.search.seed = options.seed;
        tune_options.search.trials = options.trials;
        tune_options.search.patience = kPatience;
        tune_options.seconds = options.seconds;
        tune_options.worker_command = worker_command(worker_program(options.program));
        tune_options.stop = [this] { return is_ending(); };
        tune(task, *runtime::tuning_store(), tune_options);
    } catch (const std::exception& error) {
        fmt::print(stderr, "kiln: `{}` is not tuned: {}\n", request.launch.kernel, error.what());
    }
}

namespace {

std::mutex& installation() {
    static std::mutex* const mutex = new std::mutex;
    return *mutex;
}

std::shared_ptr<BackgroundTuner>& installed() {
    static auto* const tuner = new std::shared_ptr<BackgroundTuner>;
    return *tuner;
}

}  // namespace

}  // namespace kiln::autotune

namespace kiln {

void tune_in_background(const BackgroundTuning& options) {
    autotune::check_program(options);
    const std::lock_guard lock(autotune::installation());
    std::shared_ptr<autotune::BackgroundTuner>& tuner = autotune::installed();
    if (tuner != nullptr) {
        tuner->set_options(options);
        return;
    }
    tuner = std::make_shared<autotune::BackgroundTuner>(options);
    runtime::install_tuner(tuner);
}

void stop_background_tuning() {
    const std::lock_guard lock(autotune::installation());
    runtime::install_tuner(nullptr);
    if (const auto tuner = std::exchange(autotune::installed(), nullptr)) tuner->stop();
}

void wait_for_background_tuning() {
    std::shared_ptr<autotune::BackgroundTuner> tuner;
    {
        const std::lock_guard lock(autotune::installation());
        tuner = autotune::installed();
    }
    if (tuner != nullptr) tuner->wait();
}

}  // namespace kiln
