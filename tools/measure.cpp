#include "tools/measure.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace kiln::tools {

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
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    return times[times.size() / 2];
}

}  // namespace kiln::tools
