// The cost model as the runtime asks it: which configuration to begin with when nothing is stored.
#pragma once

#include "runtime/tuning_hooks.h"

namespace kiln::autotune {

/// A launch is waiting: on a CPU no more than kMostLookedAt configurations are looked at, evenly spread over the space.
/// On a GPU code is generated for each, so that it begins with the default and goes from the best so far along one
/// dimension after the other, kMostGenerated configurations in all.
class LaunchModel final : public runtime::ConfigurationModel {
public:
    static constexpr std::size_t kMostLookedAt = 64, kMostGenerated = 32;

    std::optional<ir::Configuration> choose(const frontend::Program& program, const frontend::Request& request,
                                            const runtime::TuningProblem& problem,
                                            const runtime::DeviceBackend& backend) const override;
};

/// From now on the runtime asks the model where nothing is stored. libkiln.so does so by itself.
void install_launch_model();

}  // namespace kiln::autotune
