#include "runtime/tuning_hooks.h"

#include <mutex>

namespace kiln::runtime {

namespace {

/// Never destroyed: a launch may ask while the process ends.
struct Hooks {
    std::mutex mutex;
    std::shared_ptr<const ConfigurationModel> model;
    std::shared_ptr<Tuner> tuner;
};

Hooks& hooks() {
    static auto* instance = new Hooks;
    return *instance;
}

}  // namespace

void install_model(std::shared_ptr<const ConfigurationModel> model) {
    const std::lock_guard lock(hooks().mutex);
    hooks().model = std::move(model);
}

void install_tuner(std::shared_ptr<Tuner> tuner) {
    const std::lock_guard lock(hooks().mutex);
    hooks().tuner = std::move(tuner);
}

std::shared_ptr<const ConfigurationModel> installed_model() {
    const std::lock_guard lock(hooks().mutex);
    return hooks().model;
}

std::shared_ptr<Tuner> installed_tuner() {
    const std::lock_guard lock(hooks().mutex);
    return hooks().tuner;
}

}  // namespace kiln::runtime
