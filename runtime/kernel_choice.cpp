// How a kernel comes to its configuration when its caller named none; the rest of KernelState is in state.cpp.
#include <fmt/format.h>

#include <filesystem>

#include "runtime/state.h"
#include "runtime/tuning_hooks.h"
#include "runtime/tuning_problem.h"

namespace kiln::runtime {

struct KernelState::ProblemParts {
    frontend::Request request;
    TuningProblem problem;
    TuningDevice device;
};

namespace {

/// A file on disk by its absolute path, so that another folder's process finds it; other names as they are.
std::string stable_path(const std::string& path) {
    std::error_code error;
    if (path.starts_with("kiln/") || !std::filesystem::is_regular_file(path, error)) return path;
    const std::filesystem::path absolute = std::filesystem::absolute(path, error);
    return error ? path : absolute.lexically_normal().string();
}

}  // namespace

std::shared_ptr<PreparedState> KernelState::try_choice(const ConfigurationChoice& choice, const Checksum& key,
                                                       const LaunchPlace& place, Matched matched) {
    const std::uint64_t generation = tuning_generation();
    bool was_cold = false;
    auto selection = std::make_shared<const Selection>(
        Selection{find_or_compile(place, matched, choice, was_cold), choice.choice, choice.from});
    std::shared_ptr<PreparedState> prepared = bind(*selection, place, matched, was_cold);
    selections_.keep(key, generation, std::move(selection));
    return prepared;
}

std::shared_ptr<PreparedState> KernelState::choose_and_prepare(const Checksum& key, const LaunchPlace& place,
                                                               Matched matched) {
    if (!given_.empty()) return try_choice({LaunchInfo::Choice::given, given_, "", {}}, key, place, matched);
    if (signature_->tunables.empty() && !signature_->has_schedule) return try_choice({}, key, place, matched);
    ProblemParts parts{request(place.backend, matched), {}, describe_device(place.backend)};
    parts.problem = describe_problem(module_->program(), *signature_, parts.request, matched);
    const ConfigurationChooser chooser(module_->program(), *signature_, parts.request, parts.problem, parts.device,
                                       place.backend);
    if (const auto pin = chooser.pinned()) return prepare_pinned(*pin, key, place, matched);
    std::shared_ptr<PreparedState> prepared = prepare_chosen(chooser, parts, key, place, matched);
    if (prepared->info().choice != LaunchInfo::Choice::exact) tell_tuner(parts, key, place.backend, matched);
    return prepared;
}

std::shared_ptr<PreparedState> KernelState::prepare_pinned(const ConfigurationChoice& pin, const Checksum& key,
                                                           const LaunchPlace& place, Matched matched) {
    try {
        return try_choice(pin, key, place, matched);
    } catch (const Error& error) {
        // If the launch is wrong by itself, the default says so without the pin in the way.
        bool was_cold = false;
        bind({find_or_compile(place, matched, {}, was_cold), {}, {}}, place, matched, was_cold);
        throw Error(ErrorKind::user, fmt::format("{}: the configuration pinned for `{}` is illegal here: {}", pin.from,
                                                 signature_->name, error.what()));
    }
}

std::shared_ptr<PreparedState> KernelState::prepare_chosen(const ConfigurationChooser& chooser,
                                                           const ProblemParts& parts, const Checksum& key,
                                                           const LaunchPlace& place, Matched matched) {
    const std::shared_ptr<TuningStore> store = tuning_store();
    std::optional<ConfigurationChoice> choice = chooser.stored(*store);
    if (!choice) choice = modelled(chooser, key);
    if (!choice) return try_choice({}, key, place, matched);
    try {
        return try_choice(*choice, key, place, matched);
    } catch (const Error&) {
        std::shared_ptr<PreparedState> prepared = try_choice({}, key, place, matched);
        // The launch itself was sound, so the configuration was not: it is not tried again in this process.
        if (!choice->stored.empty()) store->drop(parts.problem, parts.device, choice->stored);
        const std::lock_guard lock(mutex_);
        if (choice->choice == LaunchInfo::Choice::model) model_answers_[key] = std::nullopt;
        return prepared;
    }
}

std::optional<ConfigurationChoice> KernelState::modelled(const ConfigurationChooser& chooser, const Checksum& key) {
    {
        const std::lock_guard lock(mutex_);
        if (const auto found = model_answers_.find(key); found != model_answers_.end()) return found->second;
    }
    std::optional<ConfigurationChoice> answer = chooser.modelled(module_->cache());
    const std::lock_guard lock(mutex_);
    return model_answers_.emplace(key, std::move(answer)).first->second;
}

void KernelState::tell_tuner(const ProblemParts& parts, const Checksum& key, const DeviceBackend& backend,
                             Matched matched) {
    const std::shared_ptr<Tuner> tuner = installed_tuner();
    if (tuner == nullptr) return;
    {
        const std::lock_guard lock(mutex_);
        if (!offered_.insert(key).second) return;
    }
    tuner->consider({module_, parts.problem, parts.device, captured_launch(backend, matched)});
}

CapturedLaunch KernelState::captured(const DeviceBackend& backend, std::span<const Argument> arguments) const {
    return captured_launch(backend, match_arguments(*signature_, arguments));
}

CapturedLaunch KernelState::captured_launch(const DeviceBackend& backend, Matched matched) const {
    CapturedLaunch launch;
    launch.file = stable_path(module_->program().files[0].path);
    launch.identity = kernel_identity(module_->program(), signature_->name);
    launch.kernel = signature_->name;
    launch.device = backend.name();
    for (const auto& [name, value] : generics_) launch.generics[name] = to_string(value);
    launch.tunables = given_.spelled();
    for (std::size_t i = 0; i < matched.size(); ++i) {
        const std::string& name = signature_->parameters[i].name;
        if (matched[i] == nullptr) continue;
        if (const auto* tensor = std::get_if<Tensor>(&matched[i]->value)) {
            launch.tensors.push_back({name,
                                      tensor->dtype,
                                      {tensor->sizes.begin(), tensor->sizes.end()},
                                      {tensor->strides.begin(), tensor->strides.end()}});
        } else if (const bool* truth = std::get_if<bool>(&matched[i]->value)) {
            launch.numbers[name] = *truth;
        } else if (const auto* integer = std::get_if<std::int64_t>(&matched[i]->value)) {
            launch.numbers[name] = *integer;
        } else if (const auto* real = std::get_if<double>(&matched[i]->value)) {
            launch.numbers[name] = *real;
        }
    }
    return launch;
}

}  // namespace kiln::runtime
