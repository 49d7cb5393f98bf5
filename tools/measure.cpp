#include "tools/measure.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace kiln::tools {

namespace {

double median(std::vector<double>& times) {
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    return times[times.size() / 2];
}

}  // namespace

double median_seconds(const std::function<void()>& action) {
    constexpr std::size_t kFewest = 3, kMost = 1000;
    constexpr double kEnough = 0.1;
    using Clock = std::chrono::steady_clock;
    action();
    std::vector<double> times;
    double total = 0;
    while (times.size() < kFewest || (total < kEnough && times.size() < kMost)) {
        const auto start = Clock::now();
        action();
        times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
        total += times.back();
    }
    return median(times);
}

double queued_seconds(const Stream& stream, const std::function<void()>& launch) {
    constexpr std::size_t kBatches = 5;
    constexpr int kMostInBatch = 1024;
    constexpr double kEnough = 0.01;
    const auto batch_seconds = [&](int count) {
        const Event first = stream.record();
        for (int i = 0; i < count; ++i) launch();
        const Event last = stream.record();
        last.synchronise();
        return last.seconds_since(first);
    };
    launch();
    int count = 1;
    while (count < kMostInBatch && batch_seconds(count) < kEnough) count *= 2;
    std::vector<double> times;
    while (times.size() < kBatches) times.push_back(batch_seconds(count) / count);
    return median(times);
}

}  // namespace kiln::tools
