#include "autotune/measure.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <vector>

namespace kiln::autotune {

namespace {

// Samples shorter than this are made of several runs, so that the clock's own cost does not show.
constexpr double kShortestSample = 20e-6;
// Less processor time than this share of the wall time means that the thread was waiting for a processor. Threads that
// a launch wakes up wait for some microseconds even on an idle machine.
constexpr double kBusyShare = 0.95, kWakeUp = 50e-6;
// The largest last cache that is emptied; a larger one costs more time than the measurement.
constexpr long kLargestCache = 256L << 20;

double now(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void empty_caches() {
    static std::vector<char> memory = [] {
        const long last = std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_SIZE));
        return std::vector<char>(static_cast<std::size_t>(std::clamp(2 * last, 16L << 20, kLargestCache)));
    }();
    for (std::size_t at = 0; at < memory.size(); at += 64) ++memory[at];
}

/// How long the threads of this process have been runnable without a processor, all together: the second number of
/// schedstat (Documentation/scheduler/sched-stats.rst of Linux). 0 where the kernel does not count it.
double seconds_without_processor() {
    double nanoseconds = 0;
    std::error_code error;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", error)) {
        std::ifstream file(thread.path() / "schedstat");
        double running = 0, waiting = 0;
        if (file >> running >> waiting) nanoseconds += waiting;
    }
    return 1e-9 * nanoseconds;
}

Sample take_sample(const std::function<void()>& run, int repeats) {
    const double waiting = seconds_without_processor();
    const double wall = now(CLOCK_MONOTONIC), busy = now(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < repeats; ++i) run();
    const double wall_spent = now(CLOCK_MONOTONIC) - wall, busy_spent = now(CLOCK_THREAD_CPUTIME_ID) - busy;
    const double waited = seconds_without_processor() - waiting;
    const bool disturbed = busy_spent < kBusyShare * wall_spent || waited > (1 - kBusyShare) * wall_spent + kWakeUp;
    return {wall_spent / repeats, disturbed};
}

std::vector<double> undisturbed(const std::vector<Sample>& samples) {
    std::vector<double> times;
    for (const Sample& sample : samples) {
        if (!sample.waited) times.push_back(sample.seconds);
    }
    return times;
}

}  // namespace

Timing summarise(std::vector<double> samples) {
    Timing timing;
    timing.runs = static_cast<std::int64_t>(samples.size());
    if (samples.empty()) return timing;
    std::sort(samples.begin(), samples.end());
    const std::size_t count = samples.size(), middle = count / 2;
    timing.seconds = count % 2 != 0 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
    // The ranks between which the median lies in 95 of 100 cases, by the normal approximation of the binomial.
    const double reach = 0.98 * std::sqrt(static_cast<double>(count));
    const double last = static_cast<double>(count - 1);
    const auto low = static_cast<std::size_t>(std::clamp(std::floor(last / 2 - reach), 0.0, last));
    const auto high = static_cast<std::size_t>(std::clamp(std::ceil(last / 2 + reach), 0.0, last));
    timing.spread_seconds = (samples[high] - samples[low]) / 2;
    return timing;
}

Timing measure(const std::function<void()>& run, const std::function<void()>& restore, const MeasureOptions& options) {
    return measure([&](int repeats) { return take_sample(run, repeats); }, restore, options);
}

Timing measure(const TakeSample& take, const std::function<void()>& restore, const MeasureOptions& options) {
    double first = std::numeric_limits<double>::infinity();
    for (int i = 0; i <= options.warm_up; ++i) {
        if (restore) restore();
        const Sample sample = take(1);
        first = std::min(first, sample.seconds);
        // One long run may be the machine's fault; two undisturbed ones, or all of them, are the kernel's.
        const bool is_hopeless = options.give_up_above > 0 && first > options.give_up_above;
        if (is_hopeless && ((i > 0 && !sample.waited) || i == options.warm_up)) return {first, 0, 1, sample.waited};
    }
    // With something to restore, or caches to empty, before each run, a sample is one run.
    const bool single = restore || options.cold || first >= kShortestSample;
    const int repeats = single ? 1 : static_cast<int>(std::ceil(kShortestSample / std::max(first, 1e-8)));
    std::vector<Sample> samples;
    const double start = now(CLOCK_MONOTONIC);
    while (static_cast<int>(samples.size()) < options.most) {
        if (restore) restore();
        if (options.cold) empty_caches();
        samples.push_back(take(repeats));
        if (static_cast<int>(samples.size()) < options.fewest) continue;
        const std::vector<double> good = undisturbed(samples);
        if (static_cast<int>(good.size()) >= options.fewest) {
            const Timing timing = summarise(good);
            if (timing.spread_seconds <= options.precision * timing.seconds) break;
        }
        if (now(CLOCK_MONOTONIC) - start > options.seconds) break;
    }
    const std::vector<double> good = undisturbed(samples);
    if (static_cast<int>(good.size()) >= options.fewest) return summarise(good);
    std::vector<double> all;
    for (const Sample& sample : samples) all.push_back(sample.seconds);
    Timing timing = summarise(std::move(all));
    timing.contended = true;
    return timing;
}

double measured_clock() {
    constexpr int kAdditions = 1 << 18;
    double best = 0;
    for (int attempt = 0; attempt < 5; ++attempt) {
        std::uint64_t sum = 1;
        const double start = now(CLOCK_MONOTONIC);
        for (int i = 0; i < kAdditions; ++i) {
            sum += static_cast<std::uint64_t>(i);
            __asm__ volatile("" : "+r"(sum));  // keeps the chain: one addition a cycle
        }
        best = std::max(best, kAdditions / (now(CLOCK_MONOTONIC) - start));
    }
    return best;
}

}  // namespace kiln::autotune
