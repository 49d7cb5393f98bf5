// The configurations that a launch may have, which of them are legal, and what the model expects of each. Nothing here
// compiles.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "autotune/inputs.h"
#include "codegen/configure/gpu_model.h"
#include "codegen/configure/model.h"
#include "codegen/configure/space.h"
#include "runtime/capture.h"
#include "runtime/state.h"
#include "runtime/tuning_store.h"

namespace kiln::autotune {

struct Candidate {
    std::string exclusion;  ///< why it cannot run; empty if it can
    runtime::Numerics numerics = runtime::Numerics::Ordered;
    codegen::configure::Prediction prediction;
    std::size_t code = 0;  ///< on a GPU a hash of the generated source
};

struct Candidates {
    codegen::configure::Space space;
    std::vector<Candidate> list;     ///< one a configuration of the space
    std::size_t other_numerics = 0;  ///< configurations that were left out for their numerics class
    std::size_t same_code = 0;       ///< that were left out since an earlier one makes the same code

    /// Seconds, infinity for what is excluded: what Search takes.
    std::vector<double> predictions() const;
    std::size_t excluded() const;
};

using Machine = std::variant<codegen::configure::CpuMachine, codegen::configure::GpuMachine>;

/// The machine that the cost model assumes for a device. `measure_clock`: with a processor's clock as it is now, so
/// that predictions are seconds and not only an order; it takes a millisecond. Orders are made without it: the same
/// seed and store must give the same trials.
Machine machine_of(const runtime::DeviceBackend& backend, bool measure_clock);

/// A kernel with the generics and tunables that a captured launch was made with.
std::shared_ptr<runtime::KernelState> kernel_of(const std::shared_ptr<const runtime::ModuleState>& module,
                                                const runtime::CapturedLaunch& launch);

/// Which numerics classes a space has: all of its configurations' or one alone.
enum class NumericsWanted : std::uint8_t { Any, Ordered, Unordered, SameAsDefault };

struct CandidateOptions {
    bool wide = false;  ///< not only what a matching `schedule` block leaves of the choices, but all of `tune`, too
    std::size_t most = static_cast<std::size_t>(-1);  ///< look at no more than so many, spread evenly
    NumericsWanted numerics = NumericsWanted::Any;
};

/// Looks at the configurations of one launch, each when it is asked for.
class Judge {
public:
    /// `request` has the generics, parameters and target of the launch. The program must outlive the judge.
    Judge(const frontend::Program& program, const frontend::KernelSignature& signature, frontend::Request request,
          const runtime::CapturedLaunch& launch, Machine machine);

    Candidate operator()(const codegen::configure::Configuration& configuration);

private:
    void predict(const frontend::Specialisation& specialisation, const ir::Launch& launch,
                 std::span<const ir::Argument> arguments, Candidate& candidate) const;

    const frontend::Program& program_;
    frontend::Request request_;
    Machine machine_;
    LaunchArguments shapes_;
    std::vector<const Argument*> matched_;
};

/// The configurations that a launch may have, of which `request` gives some tunables or none. Throws Error(user) if
/// there are none.
codegen::configure::Space make_space(const frontend::Program& program, const frontend::Request& request,
                                     const CandidateOptions& options);

/// `request` has the generics, parameters and target of the launch, and the tunables that are given. Throws Error(user)
/// if no configuration meets the conditions or is of the wanted class, or if none can run, with the reason.
Candidates make_candidates(const frontend::Program& program, const frontend::KernelSignature& signature,
                           frontend::Request request, const runtime::CapturedLaunch& launch, const Machine& machine,
                           const CandidateOptions& options);

/// The same for a kernel made by kernel_of().
Candidates make_candidates(const runtime::KernelState& kernel, const runtime::CapturedLaunch& launch,
                           const runtime::DeviceBackend& backend, const CandidateOptions& options);

/// A launch of that problem: what a row of the store says of one. Numbers are 1, which no row tells. Nothing if the
/// problem does not fit the signature.
std::optional<runtime::CapturedLaunch> launch_of(const runtime::TuningProblem& problem,
                                                 const frontend::KernelSignature& signature, const std::string& device);

}  // namespace kiln::autotune
