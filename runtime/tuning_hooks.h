// Where others join the choice of a configuration: the cost model, which answers when nothing is stored, and the tuner,
// which hears of launches that deserve tuning. With no tuner installed nothing ever tunes.
#pragma once

#include <memory>
#include <optional>

#include "frontend/specialise.h"
#include "runtime/backend.h"
#include "runtime/capture.h"
#include "runtime/tuning_store.h"

namespace kiln::runtime {

class ModuleState;

class ConfigurationModel {
public:
    virtual ~ConfigurationModel() = default;
    /// The configuration that the model expects to be fastest, all of it; nothing if it cannot tell. `request` has
    /// none. Called once for each kernel handle and problem, on the launching thread, by any threads at once; an Error
    /// it throws means "cannot tell".
    virtual std::optional<ir::Configuration> choose(const frontend::Program& program, const frontend::Request& request,
                                                    const TuningProblem& problem,
                                                    const DeviceBackend& backend) const = 0;
};

/// A launch for which no measurement of exactly this problem is stored.
struct TuningRequest {
    std::shared_ptr<const ModuleState> module;
    TuningProblem problem;
    TuningDevice device;
    CapturedLaunch launch;
};

class Tuner {
public:
    virtual ~Tuner() = default;
    /// Called once for each kernel handle and problem, on the launching thread, by any threads at once. Must return at
    /// once (another handle may ask for the same problem), and records what it finds in tuning_store(): the launch
    /// after that uses it.
    virtual void consider(const TuningRequest& request) = 0;
};

/// Null removes what was installed.
void install_model(std::shared_ptr<const ConfigurationModel> model);
void install_tuner(std::shared_ptr<Tuner> tuner);
std::shared_ptr<const ConfigurationModel> installed_model();
std::shared_ptr<Tuner> installed_tuner();

}  // namespace kiln::runtime
