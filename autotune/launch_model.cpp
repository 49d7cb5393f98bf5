#include "autotune/launch_model.h"

#include <algorithm>

#include "autotune/candidates.h"

namespace kiln::autotune {

std::optional<ir::Configuration> LaunchModel::choose(const frontend::Program& program, const frontend::Request& request,
                                                     const runtime::TuningProblem& problem,
                                                     const runtime::DeviceBackend& backend) const {
    if (backend.name() != "cpu") return std::nullopt;
    const auto signature = frontend::signature(program, request.kernel);
    if (!signature) return std::nullopt;
    const auto launch = launch_of(problem, *signature, backend.name());
    if (!launch) return std::nullopt;
    const Candidates candidates =
        make_candidates(program, *signature, request, *launch, backend, {.most = kMostLookedAt});
    const std::vector<double> predictions = candidates.predictions();
    const auto best = std::min_element(predictions.begin(), predictions.end());
    return candidates.space[static_cast<std::size_t>(best - predictions.begin())];
}

void install_launch_model() {
    runtime::install_model(std::make_shared<LaunchModel>());
}

}  // namespace kiln::autotune
