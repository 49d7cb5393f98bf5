// Which configuration a launch takes when its caller named none: the lock file's, else the tuning store's, else the
// cost model's. Each answer is one that the launch may try; the default needs no answer.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "frontend/signature.h"
#include "frontend/specialise.h"
#include "kiln/module.hpp"
#include "runtime/backend.h"
#include "runtime/kernel_cache.h"
#include "runtime/tuning_store.h"

namespace kiln::runtime {

struct ConfigurationChoice {
    LaunchInfo::Choice choice = LaunchInfo::Choice::by_default;
    ir::Configuration configuration;  ///< all of it, or empty: the default
    std::string from;                 ///< LaunchInfo::chosen_from
    Configuration stored;             ///< as the store has it, to drop it if it turns out not to work
};

/// Asks for one launch. Refers to what it is given.
class ConfigurationChooser {
public:
    ConfigurationChooser(const frontend::Program& program, const frontend::KernelSignature& signature,
                         const frontend::Request& request, const TuningProblem& problem, const TuningDevice& device,
                         const DeviceBackend& backend)
        : program_(program),
          signature_(signature),
          request_(request),
          problem_(problem),
          device_(device),
          backend_(backend) {}

    /// Throws Error(user), with file and line, for a pin that is no configuration of this kernel.
    std::optional<ConfigurationChoice> pinned() const;
    /// Stored configurations that the kernel no longer has are dropped on the way.
    std::optional<ConfigurationChoice> stored(TuningStore& store) const;
    /// The model's answer is kept in the cache: it judges many configurations, which takes longer than loading code.
    std::optional<ConfigurationChoice> modelled(const KernelCache& cache) const;

private:
    std::optional<ir::Configuration> ask_model() const;
    std::string answer_key() const;
    bool is_legal(const ir::Configuration& configuration) const;

    const frontend::Program& program_;
    const frontend::KernelSignature& signature_;
    const frontend::Request& request_;
    const TuningProblem& problem_;
    const TuningDevice& device_;
    const DeviceBackend& backend_;
};

}  // namespace kiln::runtime
