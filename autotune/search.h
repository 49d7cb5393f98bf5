// Which configuration to try next. Knows no device and no clock: it is told what each trial gave.
//
// The search begins with the configurations that the cost model puts first. Then it alternates: two steps from the best
// place known so far to an untried neighbour, one step to the untried configuration that the *corrected* model puts
// first. The correction learns, from the trials so far, a factor for each choice of each tunable. Where all neighbours
// are tried, the walk starts again at a random untried place.
//
// It is deterministic: with the same space, predictions and seed, equal results of trials give equal proposals. Each
// configuration is proposed once at most, so that there are never more trials than configurations.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "codegen/configure/space.h"

namespace kiln::autotune {

using codegen::configure::Space;

/// Part `index` of `count`: every count-th configuration in the model's order.
struct Shard {
    std::size_t index = 0, count = 1;
};

struct SearchOptions {
    std::uint64_t seed = 1;
    std::optional<std::size_t> trials;  ///< at most so many proposals, remembered ones included
    bool exhaustive = false;            ///< everything, in the model's order
    std::size_t patience = 0;           ///< stop after so many proposals in a row without gain; 0: never
    Shard shard;
};

class Search {
public:
    /// `predictions` has the seconds that the model expects of each configuration of the space; infinity excludes it.
    Search(const Space& space, std::vector<double> predictions, SearchOptions options);

    /// The next configuration to try; nothing at the end. May be called before earlier proposals were noted.
    std::optional<std::size_t> next();
    /// What a trial gave: seconds, or nothing for one that failed.
    void note(std::size_t configuration, std::optional<double> seconds);

    /// The fastest so far.
    std::optional<std::size_t> best() const { return best_; }
    std::optional<double> seconds(std::size_t configuration) const { return seconds_[configuration]; }
    std::size_t proposals() const { return proposals_; }
    /// Configurations that this search may propose.
    std::size_t candidates() const { return order_.size(); }
    /// Whether it ended for want of gain, not for want of budget or configurations.
    bool lost_patience() const { return lost_patience_; }

private:
    std::optional<std::size_t> next_in_model_order();
    std::optional<std::size_t> next_corrected() const;
    std::optional<std::size_t> next_neighbour();
    std::optional<std::size_t> restart();
    double corrected(std::size_t configuration) const;
    void learn();

    const Space& space_;
    std::vector<double> predictions_;
    SearchOptions options_;
    std::mt19937_64 random_;
    std::vector<std::size_t> order_;  ///< candidates, the model's best first
    std::vector<bool> proposed_;
    std::vector<std::optional<double>> seconds_;
    std::vector<std::vector<double>> corrections_;  ///< of the logarithm, by tunable and choice
    std::optional<std::size_t> best_, centre_;
    std::size_t proposals_ = 0, since_gain_ = 0, model_first_ = 0;
    bool lost_patience_ = false;
};

}  // namespace kiln::autotune
