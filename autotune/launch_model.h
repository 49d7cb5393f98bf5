// The cost model as the runtime asks it: which configuration to begin with when nothing is stored.
#pragma once

#include "runtime/tuning_hooks.h"

namespace kiln::autotune {

/// Looks at no more than kMostLookedAt configurations, evenly spread over the space: a launch is waiting.
class LaunchModel final : public runtime::ConfigurationModel {
public:
    static constexpr std::size_t kMostLookedAt = 64;

    std::optional<ir::Configuration> choose(const frontend::Program& program, const frontend::Request& request,
                                            const runtime::TuningProblem& problem,
                                            const runtime::DeviceBackend& backend) const override;
};

/// From now on the runtime asks the model where nothing is stored. libkiln.so does so by itself.
void install_launch_model();

}  // namespace kiln::autotune
