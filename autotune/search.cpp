#include "autotune/search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ir/support/internal_error.h"

namespace kiln::autotune {

namespace {

// Trials that follow the model alone: half of a small budget, and no more than this of a large one.
constexpr std::size_t kModelFirst = 8;
// A gain below this is noise.
constexpr double kGain = 0.995;
// Fits of the correction go round the tunables so often.
constexpr int kRounds = 4;
// Random places that a restart chooses from.
constexpr int kDraws = 3;

}  // namespace

Search::Search(const Space& space, std::vector<double> predictions, SearchOptions options)
    : space_(space),
      predictions_(std::move(predictions)),
      options_(options),
      random_(options.seed),
      proposed_(space.size(), false),
      seconds_(space.size()) {
    if (predictions_.size() != space.size() || options.shard.index >= options.shard.count) {
        throw support::InternalError("autotune/search", "predictions or shard do not fit the space");
    }
    // Shards part the space by place and not by rank: machines of different clocks may rank differently.
    for (std::size_t i = options.shard.index; i < space.size(); i += options.shard.count) {
        if (std::isfinite(predictions_[i])) order_.push_back(i);
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return predictions_[a] < predictions_[b]; });
    const std::size_t budget = std::min(options.trials.value_or(order_.size()), order_.size());
    model_first_ = options.exhaustive ? order_.size() : std::min(kModelFirst, (budget + 1) / 2);
    for (const codegen::configure::Dimension& dimension : space.dimensions())
        corrections_.emplace_back(dimension.choices.size(), 0);
    // Neighbours of other shards are not ours: mark them as proposed.
    std::vector<bool> ours(space.size(), false);
    for (const std::size_t candidate : order_) ours[candidate] = true;
    for (std::size_t i = 0; i < space.size(); ++i) proposed_[i] = !ours[i];
}

std::optional<std::size_t> Search::next() {
    if (proposals_ >= order_.size() || (options_.trials && proposals_ >= *options_.trials)) return std::nullopt;
    const bool by_model = proposals_ < model_first_;
    if (!by_model && options_.patience > 0 && since_gain_ >= options_.patience) {
        lost_patience_ = true;
        return std::nullopt;
    }
    const bool by_correction = (proposals_ - model_first_) % 3 == 2;
    const std::optional<std::size_t> chosen = by_model        ? next_in_model_order()
                                              : by_correction ? next_corrected()
                                                              : next_neighbour();
    if (!chosen) throw support::InternalError("autotune/search", "nothing left to propose");
    proposed_[*chosen] = true;
    ++proposals_;
    ++since_gain_;
    return chosen;
}

std::optional<std::size_t> Search::next_in_model_order() {
    for (const std::size_t candidate : order_) {
        if (!proposed_[candidate]) return candidate;
    }
    return std::nullopt;
}

double Search::corrected(std::size_t configuration) const {
    double logarithm = std::log(predictions_[configuration]);
    const std::vector<std::size_t>& places = space_.places(configuration);
    for (std::size_t tunable = 0; tunable < places.size(); ++tunable)
        logarithm += corrections_[tunable][places[tunable]];
    return logarithm;
}

std::optional<std::size_t> Search::next_corrected() const {
    std::optional<std::size_t> best;
    for (const std::size_t candidate : order_) {
        if (proposed_[candidate] || (best && corrected(candidate) >= corrected(*best))) continue;
        best = candidate;
    }
    return best;
}

std::optional<std::size_t> Search::next_neighbour() {
    if (!centre_) centre_ = best_;
    if (!centre_) return next_in_model_order();
    for (std::size_t reach = 1; reach <= 2; ++reach) {
        std::optional<std::size_t> nearest;
        for (const std::size_t neighbour : space_.neighbours(*centre_, reach)) {
            if (proposed_[neighbour] || (nearest && corrected(neighbour) >= corrected(*nearest))) continue;
            nearest = neighbour;
        }
        if (nearest) return nearest;
    }
    return restart();
}

/// The best by the corrected model of a few random places.
std::optional<std::size_t> Search::restart() {
    std::vector<std::size_t> open;
    for (const std::size_t candidate : order_) {
        if (!proposed_[candidate]) open.push_back(candidate);
    }
    std::optional<std::size_t> chosen;
    for (int draw = 0; draw < kDraws && !open.empty(); ++draw) {
        const std::size_t candidate = open[random_() % open.size()];
        if (!chosen || corrected(candidate) < corrected(*chosen)) chosen = candidate;
    }
    centre_ = chosen;
    return chosen;
}

void Search::note(std::size_t configuration, std::optional<double> seconds) {
    seconds_[configuration] = seconds;
    if (!seconds) return;
    if (!best_ || *seconds < *seconds_[*best_]) {
        if (!best_ || *seconds < *seconds_[*best_] * kGain) since_gain_ = 0;
        best_ = configuration;
        centre_ = configuration;
    } else if (centre_ && seconds_[*centre_] && *seconds < *seconds_[*centre_]) {
        centre_ = configuration;
    }
    learn();
}

/// Fits log(measured / predicted) as a constant and a sum of one number a choice. Each number is pulled towards zero as
/// if one more trial had met the prediction, so that few trials do not say much.
void Search::learn() {
    std::vector<std::pair<std::size_t, double>> residuals;
    double mean = 0;
    for (std::size_t i = 0; i < space_.size(); ++i) {
        if (!seconds_[i] || *seconds_[i] <= 0 || !std::isfinite(predictions_[i])) continue;
        residuals.emplace_back(i, std::log(*seconds_[i] / predictions_[i]));
        mean += residuals.back().second;
    }
    if (residuals.empty()) return;
    mean /= static_cast<double>(residuals.size());
    for (auto& choices : corrections_) std::fill(choices.begin(), choices.end(), 0);
    for (int round = 0; round < kRounds; ++round) {
        for (std::size_t tunable = 0; tunable < corrections_.size(); ++tunable) {
            std::vector<double> sums(corrections_[tunable].size(), 0), counts(sums.size(), 1);
            for (const auto& [configuration, residual] : residuals) {
                const std::size_t place = space_.places(configuration)[tunable];
                const double others =
                    corrected(configuration) - std::log(predictions_[configuration]) - corrections_[tunable][place];
                sums[place] += residual - mean - others;
                ++counts[place];
            }
            for (std::size_t place = 0; place < sums.size(); ++place)
                corrections_[tunable][place] = sums[place] / counts[place];
        }
    }
}

}  // namespace kiln::autotune
