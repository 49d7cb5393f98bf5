// What the public handles point at.
#pragma once

#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "kiln/module.hpp"
#include "runtime/arguments.h"
#include "runtime/capture.h"
#include "runtime/compiled_kernel.h"
#include "runtime/configuration_choice.h"
#include "runtime/selection_memo.h"

namespace kiln::runtime {

class ModuleState {
public:
    /// Throws Error(user) with all diagnostics.
    ModuleState(const std::string& path, const frontend::FileReader& reader);

    const frontend::Program& program() const { return program_; }
    const std::vector<frontend::KernelSignature>& signatures() const { return signatures_; }
    const KernelCache& cache() const { return cache_; }
    /// Throws Error(user), with the nearest name, if there is no such kernel.
    const frontend::KernelSignature& find(const std::string& kernel) const;

private:
    frontend::Program program_;
    std::vector<frontend::KernelSignature> signatures_;
    KernelCache cache_;
};

/// Files of the standard library under "kiln/...", others through `reader`.
frontend::FileReader with_standard_library(frontend::FileReader reader);

/// A value of the frontend as a host would give it.
Generic to_generic(const std::string& name, const frontend::GenericValue& value);
/// A generic, tunable or schedule key given as text. Throws Error(user) for a text that is no value of it.
Generic parse_generic(const ModuleState& module, const std::string& kernel, const std::string& name,
                      const std::string& text);

/// How a launch came by its code, for LaunchInfo.
struct LaunchOrigin {
    bool was_cold = false;  ///< this launch caused the kernel to be loaded or compiled
    LaunchInfo::Choice choice = LaunchInfo::Choice::by_default;
    std::string chosen_from;
};

/// A launch, checked and bound.
class PreparedState {
public:
    PreparedState(std::shared_ptr<const CompiledKernel> compiled, LaunchOrigin origin, ir::Launch launch,
                  std::vector<ir::Argument> arguments, const std::shared_ptr<DeviceStream>& stream);

    const CompiledKernel& compiled() const { return *compiled_; }
    const ir::Launch& launch() const { return launch_; }
    std::span<const ir::Argument> arguments() const { return arguments_; }
    BoundLaunch& bound() const { return *bound_; }
    /// Copied from the kernel's when first asked for: most launches are never asked.
    const LaunchInfo& info();

private:
    std::shared_ptr<const CompiledKernel> compiled_;
    LaunchOrigin origin_;
    std::optional<LaunchInfo> info_;
    ir::Launch launch_;
    std::vector<ir::Argument> arguments_;
    std::unique_ptr<BoundLaunch> bound_;
};

class KernelState {
public:
    /// Values are converted to the types the signature declares. Throws Error(user) for unknown names.
    KernelState(std::shared_ptr<const ModuleState> module, const std::string& name,
                const std::vector<Generic>& generics);

    const std::string& name() const { return signature_->name; }
    const ModuleState& module() const { return *module_; }
    const std::shared_ptr<const ModuleState>& shared_module() const { return module_; }
    const frontend::KernelSignature& signature() const { return *signature_; }

    std::shared_ptr<PreparedState> prepare(const LaunchPlace& place, std::span<const Argument> arguments);
    /// On the device's default stream.
    std::shared_ptr<PreparedState> prepare(const DeviceBackend& backend, std::span<const Argument> arguments) {
        return prepare(LaunchPlace{backend, backend.default_stream()}, arguments);
    }
    /// What was asked for, before any argument is known.
    frontend::Request base_request() const;
    /// The request that these arguments give.
    frontend::Request request(const DeviceBackend& backend, std::span<const Argument* const> matched) const;
    /// What is recorded of a launch with these arguments.
    CapturedLaunch captured(const DeviceBackend& backend, std::span<const Argument> arguments) const;

private:
    using Compiled = std::shared_ptr<const CompiledKernel>;
    using Matched = std::span<const Argument* const>;

    /// What launches with certain types and sizes use.
    struct Selection {
        Compiled compiled;
        LaunchInfo::Choice choice = LaunchInfo::Choice::by_default;
        std::string from;
    };
    struct ProblemParts;

    Compiled find_or_compile(const LaunchPlace& place, Matched matched, const ConfigurationChoice& choice,
                             bool& was_cold);
    std::shared_ptr<PreparedState> bind(const Selection& selection, const LaunchPlace& place, Matched matched,
                                        bool was_cold) const;
    /// Compiles for a choice, binds, and remembers the choice for further launches. Throws Error.
    std::shared_ptr<PreparedState> try_choice(const ConfigurationChoice& choice, const Checksum& key,
                                              const LaunchPlace& place, Matched matched);
    std::shared_ptr<PreparedState> choose_and_prepare(const Checksum& key, const LaunchPlace& place, Matched matched);
    std::shared_ptr<PreparedState> prepare_pinned(const ConfigurationChoice& pin, const Checksum& key,
                                                  const LaunchPlace& place, Matched matched);
    std::shared_ptr<PreparedState> prepare_chosen(const ConfigurationChooser& chooser, const ProblemParts& parts,
                                                  const Checksum& key, const LaunchPlace& place, Matched matched);
    std::optional<ConfigurationChoice> modelled(const ConfigurationChooser& chooser, const Checksum& key);
    void tell_tuner(const ProblemParts& parts, const Checksum& key, const DeviceBackend& backend, Matched matched);
    CapturedLaunch captured_launch(const DeviceBackend& backend, Matched matched) const;
    void add_generic(const Generic& generic);

    std::shared_ptr<const ModuleState> module_;
    const frontend::KernelSignature* signature_;
    std::map<std::string, frontend::GenericValue> generics_;
    ir::Configuration given_;
    std::mutex mutex_;
    std::unordered_map<std::string, std::shared_future<Compiled>> compiled_;
    SelectionMemo<Selection> selections_;  ///< by launch and device
    std::unordered_map<Checksum, std::optional<ConfigurationChoice>, ChecksumHash> model_answers_;  ///< asked once
    std::unordered_set<Checksum, ChecksumHash> offered_;                                            ///< to the tuner
};

}  // namespace kiln::runtime
