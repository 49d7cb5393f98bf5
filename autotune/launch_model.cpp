#include "autotune/launch_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "autotune/candidates.h"

namespace kiln::autotune {

namespace {

/// The best of some configurations of a space, found by going from one to the next. Nothing if none of them can run.
class Descent {
public:
    Descent(const codegen::configure::Space& space, Judge& judge, std::size_t most)
        : space_(space), judge_(judge), left_(most) {}

    std::optional<std::size_t> run() {
        std::size_t best = first_that_runs();
        if (!runs(best)) return std::nullopt;
        for (bool moved = true; moved && left_ > 0;) {
            moved = false;
            for (std::size_t dimension = 0; dimension < space_.dimensions().size(); ++dimension) {
                const std::size_t next = best_along(best, dimension);
                moved = moved || next != best;
                best = next;
            }
        }
        return best;
    }

private:
    /// Infinity for what cannot run; also for what is not looked at any more.
    double seconds(std::size_t configuration) {
        const auto [known, is_new] = seconds_.try_emplace(configuration, std::numeric_limits<double>::infinity());
        if (is_new && left_ > 0) {
            --left_;
            const Candidate candidate = judge_(space_[configuration]);
            if (candidate.exclusion.empty()) known->second = candidate.prediction.seconds;
        }
        return known->second;
    }
    bool runs(std::size_t configuration) { return std::isfinite(seconds(configuration)); }

    /// The default, or one of those spread evenly over the space.
    std::size_t first_that_runs() {
        const std::size_t tries = std::min(space_.size(), left_);
        for (std::size_t i = 0; i < tries; ++i) {
            if (const std::size_t place = i * space_.size() / tries; runs(place)) return place;
        }
        return 0;
    }

    std::size_t best_along(std::size_t from, std::size_t dimension) {
        std::size_t best = from;
        for (const std::size_t other : space_.neighbours(from, space_.size())) {
            const bool differs = space_.places(other)[dimension] != space_.places(from)[dimension];
            if (differs && seconds(other) < seconds(best)) best = other;
        }
        return best;
    }

    const codegen::configure::Space& space_;
    Judge& judge_;
    std::size_t left_;
    std::map<std::size_t, double> seconds_;
};

}  // namespace

std::optional<ir::Configuration> LaunchModel::choose(const frontend::Program& program, const frontend::Request& request,
                                                     const runtime::TuningProblem& problem,
                                                     const runtime::DeviceBackend& backend) const {
    const auto signature = frontend::signature(program, request.kernel);
    if (!signature) return std::nullopt;
    const auto launch = launch_of(problem, *signature, backend.name());
    if (!launch) return std::nullopt;
    if (backend.name() != "cpu") {
        const codegen::configure::Space space = make_space(program, request, {});
        Judge judge(program, *signature, request, *launch, machine_of(backend, false));
        const std::optional<std::size_t> best = Descent(space, judge, kMostGenerated).run();
        return best ? std::optional(space[*best]) : std::nullopt;
    }
    const Candidates candidates =
        make_candidates(program, *signature, request, *launch, machine_of(backend, false), {.most = kMostLookedAt});
    const std::vector<double> predictions = candidates.predictions();
    const auto best = std::min_element(predictions.begin(), predictions.end());
    return candidates.space[static_cast<std::size_t>(best - predictions.begin())];
}

void install_launch_model() {
    runtime::install_model(std::make_shared<LaunchModel>());
}

}  // namespace kiln::autotune
