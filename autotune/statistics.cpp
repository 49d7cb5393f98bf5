#include "autotune/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kiln::autotune {

namespace {

std::vector<double> ranks(const std::vector<double>& values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    std::vector<double> result(values.size());
    for (std::size_t first = 0; first < order.size();) {
        std::size_t last = first;
        while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]]) ++last;
        for (std::size_t i = first; i <= last; ++i) result[order[i]] = static_cast<double>(first + last) / 2;
        first = last + 1;
    }
    return result;
}

}  // namespace

std::optional<double> rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
    if (a.size() != b.size() || a.size() < 3) return std::nullopt;
    const std::vector<double> x = ranks(a), y = ranks(b);
    const double mean = static_cast<double>(a.size() - 1) / 2;
    double xy = 0, xx = 0, yy = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        xy += (x[i] - mean) * (y[i] - mean);
        xx += (x[i] - mean) * (x[i] - mean);
        yy += (y[i] - mean) * (y[i] - mean);
    }
    if (xx == 0 || yy == 0) return std::nullopt;
    return xy / std::sqrt(xx * yy);
}

std::optional<double> pick_quality(const std::vector<double>& predicted, const std::vector<double>& measured) {
    if (predicted.size() != measured.size() || measured.empty()) return std::nullopt;
    const auto pick = std::min_element(predicted.begin(), predicted.end()) - predicted.begin();
    const double best = *std::min_element(measured.begin(), measured.end());
    return best / measured[static_cast<std::size_t>(pick)];
}

}  // namespace kiln::autotune
