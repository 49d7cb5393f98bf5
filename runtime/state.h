// What the public handles point at.
#pragma once

#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "kiln/module.hpp"
#include "runtime/arguments.h"
#include "runtime/compiled_kernel.h"

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

/// A launch, checked and bound.
class PreparedState {
public:
    /// `was_cold`: this launch caused the kernel to be loaded or compiled.
    PreparedState(std::shared_ptr<const CompiledKernel> compiled, bool was_cold, ir::Launch launch,
                  std::vector<ir::Argument> arguments);

    const CompiledKernel& compiled() const { return *compiled_; }
    const ir::Launch& launch() const { return launch_; }
    std::span<const ir::Argument> arguments() const { return arguments_; }
    BoundLaunch& bound() const { return *bound_; }
    /// Copied from the kernel's when first asked for: most launches are never asked.
    const LaunchInfo& info();

private:
    std::shared_ptr<const CompiledKernel> compiled_;
    bool was_cold_;
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

    std::shared_ptr<PreparedState> prepare(const DeviceBackend& backend, std::span<const Argument> arguments);
    /// What was asked for, before any argument is known.
    frontend::Request base_request() const;
    /// The request that these arguments give.
    frontend::Request request(const DeviceBackend& backend, std::span<const Argument* const> matched) const;

private:
    using Compiled = std::shared_ptr<const CompiledKernel>;

    Compiled find_or_compile(const DeviceBackend& backend, std::span<const Argument* const> matched, bool& was_cold);
    void add_generic(const Generic& generic);

    std::shared_ptr<const ModuleState> module_;
    const frontend::KernelSignature* signature_;
    std::map<std::string, frontend::GenericValue> generics_;
    std::map<std::string, ir::Scalar> tunables_;
    std::mutex mutex_;
    std::unordered_map<std::string, std::shared_future<Compiled>> compiled_;
};

}  // namespace kiln::runtime
