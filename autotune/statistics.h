// Small statistics over predictions and measurements.
#pragma once

#include <optional>
#include <vector>

namespace kiln::autotune {

/// Spearman's rank correlation of two lists of equal length, ties sharing their mean rank: 1 if one orders as the
/// other. Nothing for fewer than three pairs, or where one list is constant.
std::optional<double> rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

/// Of measured seconds, the share of the best that picking by the least prediction reaches: best / picked.
std::optional<double> pick_quality(const std::vector<double>& predicted, const std::vector<double>& measured);

}  // namespace kiln::autotune
