#include "runtime/configuration_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/support/internal_error.h"
#include "runtime/key.h"
#include "runtime/tuning_hooks.h"
#include "runtime/tuning_lock.h"
#include "runtime/tuning_problem.h"

namespace kiln::runtime {

namespace {

// Each answer that is not legal costs a look-up; a store with more of them in a row has nothing for this launch.
constexpr int kAnswersTried = 8;

std::string sizes_in_words(const std::map<std::string, std::int64_t>& sizes) {
    std::string text;
    for (const auto& [name, size] : sizes) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, size);
    return text;
}

LaunchInfo::Choice choice_of(MatchKind kind) {
    switch (kind) {
        case MatchKind::Exact:
            return LaunchInfo::Choice::exact;
        case MatchKind::NearestShape:
            return LaunchInfo::Choice::nearest_shape;
        case MatchKind::NearestDevice:
            return LaunchInfo::Choice::nearest_device;
    }
    return LaunchInfo::Choice::by_default;
}

std::string origin_of(const StoredMatch& match) {
    const std::string sizes = sizes_in_words(match.measurement.problem.sizes);
    if (match.kind != MatchKind::NearestDevice) return sizes;
    const TuningDevice& device = match.measurement.device;
    return fmt::format("{} ({}, {} units), {}", device.name, device.description, device.units, sizes);
}

/// A line for each name: `BM=64`. The device is part of the key, so that values are enough.
std::string encode_configuration(const ir::Configuration& configuration) {
    std::string text;
    for (const auto& [name, value] : configuration.spelled()) text += fmt::format("{}={}\n", name, value);
    return text;
}

Configuration decode_configuration(const std::string& text) {
    Configuration configuration;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::size_t equals = std::min(text.find('=', begin), end);
        configuration[text.substr(begin, equals - begin)].value =
            text.substr(std::min(equals + 1, end), end - std::min(equals + 1, end));
        begin = end + 1;
    }
    return configuration;
}

}  // namespace

bool ConfigurationChooser::is_legal(const ir::Configuration& configuration) const {
    support::Diagnostics ignored;
    const auto legal = frontend::configurations(program_, request_, ignored);
    return std::find(legal.begin(), legal.end(), configuration) != legal.end();
}

std::optional<ConfigurationChoice> ConfigurationChooser::pinned() const {
    const std::shared_ptr<const TuningLock> lock = tuning_lock();
    const Pin* pin = lock == nullptr ? nullptr : lock->find(problem_, device_);
    if (pin == nullptr) return std::nullopt;
    const std::string place = fmt::format("{}:{}", lock->path(), pin->line);
    std::string reason;
    auto parsed = parse_configuration(signature_, pin->configuration, backend_.units(), reason);
    if (!parsed) {
        throw Error(ErrorKind::user, fmt::format("{}: the configuration pinned for `{}` is not one of its: {}", place,
                                                 signature_.name, reason));
    }
    return ConfigurationChoice{LaunchInfo::Choice::pinned, std::move(*parsed), place, {}};
}

std::optional<ConfigurationChoice> ConfigurationChooser::stored(TuningStore& store) const {
    for (int i = 0; i < kAnswersTried; ++i) {
        const std::shared_ptr<const StoredMatch> match = store.find(problem_, device_);
        if (match == nullptr) return std::nullopt;
        const Configuration& configuration = match->measurement.configuration;
        std::string reason;
        auto parsed = parse_configuration(signature_, configuration, backend_.units(), reason);
        if (parsed && is_legal(*parsed)) {
            return ConfigurationChoice{choice_of(match->kind), std::move(*parsed), origin_of(*match), configuration};
        }
        store.drop(problem_, device_, configuration);
    }
    return std::nullopt;
}

std::optional<ir::Configuration> ConfigurationChooser::ask_model() const {
    const std::shared_ptr<const ConfigurationModel> model = installed_model();
    if (model == nullptr) return std::nullopt;
    try {
        return model->choose(program_, request_, problem_, backend_);
    } catch (const Error&) {
        return std::nullopt;
    } catch (const support::InternalError&) {
        return std::nullopt;
    }
}

std::string ConfigurationChooser::answer_key() const {
    KeyBuilder key;
    key.add("model");
    key.add(build_id());
    key.add(device_.fingerprint);
    key.add(static_cast<std::uint64_t>(device_.units));
    key.add(problem_.kernel);
    for (const auto* texts : {&problem_.generics, &problem_.arguments}) {
        key.add(texts->size());
        for (const auto& [name, text] : *texts) {
            key.add(name);
            key.add(text);
        }
    }
    for (const auto& [name, size] : problem_.sizes) {
        key.add(name);
        key.add(static_cast<std::uint64_t>(size));
    }
    return key.finish();
}

std::optional<ConfigurationChoice> ConfigurationChooser::modelled(const KernelCache& cache) const {
    if (installed_model() == nullptr) return std::nullopt;
    const std::string key = answer_key();
    if (const std::optional<CacheEntry> kept = cache.find(key)) {
        std::string reason;
        auto parsed = parse_configuration(signature_, decode_configuration(kept->metadata), backend_.units(), reason);
        if (parsed) return ConfigurationChoice{LaunchInfo::Choice::model, std::move(*parsed), "", {}};
        cache.remove(key);
    }
    std::optional<ir::Configuration> chosen = ask_model();
    if (!chosen) return std::nullopt;
    cache.store(key, {encode_configuration(*chosen), {}});
    return ConfigurationChoice{LaunchInfo::Choice::model, std::move(*chosen), "", {}};
}

}  // namespace kiln::runtime
