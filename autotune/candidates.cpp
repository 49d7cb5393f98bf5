#include "autotune/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <set>

#include "autotune/inputs.h"
#include "autotune/measure.h"
#include "codegen/cpu/target.h"
#include "ir/support/internal_error.h"

namespace kiln::autotune {

namespace configure = codegen::configure;

namespace {

/// Adds the tunables of `more` to a list, with each schedule that the list has.
void widen(std::vector<configure::Configuration>& list, const std::vector<configure::Configuration>& more) {
    std::vector<ir::Schedule> schedules;
    for (const configure::Configuration& configuration : list) {
        if (std::find(schedules.begin(), schedules.end(), configuration.schedule) == schedules.end()) {
            schedules.push_back(configuration.schedule);
        }
    }
    for (const configure::Configuration& configuration : more) {
        for (const ir::Schedule& schedule : schedules) list.push_back({configuration.tunables, schedule});
    }
}

std::vector<configure::Configuration> configurations(const frontend::Program& program, const frontend::Request& request,
                                                     bool wide) {
    support::Diagnostics diagnostics;
    std::vector<configure::Configuration> list = frontend::configurations(program, request, diagnostics);
    if (list.empty() && diagnostics.has_errors()) {
        throw Error(ErrorKind::user, diagnostics.render(program.sources));
    }
    if (wide) {
        frontend::Request any = request;
        any.targets.clear();
        widen(list, frontend::configurations(program, any, diagnostics));
    }
    return list;
}

/// Leaves so many, spread evenly, and the default among them.
void thin_out(std::vector<configure::Configuration>& list, std::size_t most) {
    if (list.size() <= most) return;
    for (std::size_t i = 0; i < most; ++i) list[i] = list[i * list.size() / most];
    list.resize(most);
}

/// Leaves those for which `stays` holds, and says how many it took away.
template <class Stays>
std::size_t keep_if(Candidates& candidates, const Stays& stays) {
    std::vector<configure::Configuration> configurations;
    std::vector<Candidate> list;
    for (std::size_t i = 0; i < candidates.list.size(); ++i) {
        if (!stays(candidates.list[i])) continue;
        configurations.push_back(candidates.space[i]);
        list.push_back(std::move(candidates.list[i]));
    }
    const std::size_t left_out = candidates.space.size() - list.size();
    candidates.space = configure::Space(std::move(configurations));
    candidates.list = std::move(list);
    return left_out;
}

/// Leaves those of the wanted class.
void keep_numerics(Candidates& candidates, NumericsWanted wanted, const std::string& kernel) {
    if (wanted == NumericsWanted::Any) return;
    runtime::Numerics only = candidates.list.front().numerics;
    if (wanted == NumericsWanted::Ordered) only = runtime::Numerics::Ordered;
    if (wanted == NumericsWanted::Unordered) only = runtime::Numerics::Unordered;
    candidates.other_numerics =
        keep_if(candidates, [&](const Candidate& candidate) { return candidate.numerics == only; });
    if (candidates.list.empty()) {
        throw Error(ErrorKind::user, fmt::format("no configuration of `{}` is of the numerics class `{}`", kernel,
                                                 runtime::numerics_name(only)));
    }
}

/// Leaves one configuration, the first, of those that make the same code: not every target uses every key.
void keep_different(Candidates& candidates) {
    std::set<std::size_t> seen;
    candidates.same_code = keep_if(candidates, [&](const Candidate& candidate) {
        return candidate.code == 0 || seen.insert(candidate.code).second;
    });
}

}  // namespace

std::vector<double> Candidates::predictions() const {
    std::vector<double> seconds;
    for (const Candidate& candidate : list) {
        seconds.push_back(candidate.exclusion.empty() ? candidate.prediction.seconds
                                                      : std::numeric_limits<double>::infinity());
    }
    return seconds;
}

std::size_t Candidates::excluded() const {
    return static_cast<std::size_t>(std::count_if(
        list.begin(), list.end(), [](const Candidate& candidate) { return !candidate.exclusion.empty(); }));
}

Machine machine_of(const runtime::DeviceBackend& backend, bool measure_clock) {
    // The last of the names is the target's.
    if (const auto found = codegen::gpu::find_target(backend.schedule_names().back()); found.target != nullptr) {
        return configure::gpu_machine(*found.target, backend.units());
    }
    configure::CpuMachine machine =
        configure::cpu_machine(codegen::cpu::host_target(), static_cast<int>(backend.units()));
    if (measure_clock) machine.cycles_per_second = measured_clock();
    return machine;
}

std::shared_ptr<runtime::KernelState> kernel_of(const std::shared_ptr<const runtime::ModuleState>& module,
                                                const runtime::CapturedLaunch& launch) {
    std::vector<Generic> generics;
    for (const auto* given : {&launch.generics, &launch.tunables}) {
        for (const auto& [name, text] : *given) {
            generics.push_back(runtime::parse_generic(*module, launch.kernel, name, text));
        }
    }
    return std::make_shared<runtime::KernelState>(module, launch.kernel, generics);
}

namespace {

std::int64_t units_of(const Machine& machine) {
    const auto* gpu = std::get_if<configure::GpuMachine>(&machine);
    return gpu != nullptr ? gpu->units : std::get<configure::CpuMachine>(machine).threads;
}

}  // namespace

Judge::Judge(const frontend::Program& program, const frontend::KernelSignature& signature, frontend::Request request,
             const runtime::CapturedLaunch& launch, Machine machine)
    : program_(program),
      request_(std::move(request)),
      machine_(std::move(machine)),
      shapes_(LaunchArguments::shapes(launch)),
      matched_(runtime::match_arguments(signature, shapes_.arguments())) {}

Candidate Judge::operator()(const configure::Configuration& configuration) {
    request_.tunables = configuration.tunables;
    request_.schedule = configuration.schedule;
    Candidate candidate;
    try {
        const frontend::Specialisation specialisation = runtime::specialise_kernel(program_, request_);
        if (configure::sums_in_any_order(specialisation.kernel)) candidate.numerics = runtime::Numerics::Unordered;
        const std::vector<ir::Argument> arguments = runtime::bind_arguments(specialisation, matched_);
        const auto prepared = ir::prepare_launch(specialisation.kernel, arguments, units_of(machine_));
        if (const auto* errors = std::get_if<ir::LaunchErrors>(&prepared)) {
            candidate.exclusion = fmt::format("{}", fmt::join(errors->messages, "; "));
        } else {
            predict(specialisation, std::get<ir::Launch>(prepared), arguments, candidate);
        }
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::user) throw;
        candidate.exclusion = error.what();
    } catch (const support::InternalError& error) {
        throw Error(ErrorKind::internal, error.what());
    }
    return candidate;
}

void Judge::predict(const frontend::Specialisation& specialisation, const ir::Launch& launch,
                    std::span<const ir::Argument> arguments, Candidate& candidate) const {
    const ir::Kernel& kernel = specialisation.kernel;
    if (const auto* cpu = std::get_if<configure::CpuMachine>(&machine_)) {
        candidate.exclusion = configure::exclusion(kernel, configure::kCpuLimits).value_or("");
        if (candidate.exclusion.empty()) candidate.prediction = configure::predict(kernel, launch, arguments, *cpu);
        return;
    }
    const auto& gpu = std::get<configure::GpuMachine>(machine_);
    const codegen::gpu::Generated generated = codegen::gpu::generate(kernel, gpu.target);
    for (const codegen::gpu::Refusal& refusal : generated.refusals) {
        candidate.exclusion += (candidate.exclusion.empty() ? "" : "; ") + refusal.message;
    }
    if (candidate.exclusion.empty()) {
        candidate.code = std::hash<std::string>{}(generated.source.text);
        candidate.prediction = configure::predict(kernel, launch, arguments, gpu, generated.source.phases);
    }
}

configure::Space make_space(const frontend::Program& program, const frontend::Request& request,
                            const CandidateOptions& options) {
    std::vector<configure::Configuration> list = configurations(program, request, options.wide);
    thin_out(list, options.most);
    return configure::Space(std::move(list));
}

Candidates make_candidates(const frontend::Program& program, const frontend::KernelSignature& signature,
                           frontend::Request request, const runtime::CapturedLaunch& launch, const Machine& machine,
                           const CandidateOptions& options) {
    Candidates candidates{make_space(program, request, options), {}, 0, 0};
    Judge judge(program, signature, std::move(request), launch, machine);
    for (const configure::Configuration& configuration : candidates.space.configurations()) {
        candidates.list.push_back(judge(configuration));
    }
    keep_numerics(candidates, options.numerics, signature.name);
    keep_different(candidates);
    if (candidates.excluded() == candidates.space.size()) {
        throw Error(ErrorKind::user, fmt::format("no configuration of `{}` can run; {}: {}", signature.name,
                                                 ir::to_string(candidates.space[0]), candidates.list[0].exclusion));
    }
    return candidates;
}

Candidates make_candidates(const runtime::KernelState& kernel, const runtime::CapturedLaunch& launch,
                           const runtime::DeviceBackend& backend, const CandidateOptions& options) {
    const LaunchArguments shapes = LaunchArguments::shapes(launch);
    const auto matched = runtime::match_arguments(kernel.signature(), shapes.arguments());
    return make_candidates(kernel.module().program(), kernel.signature(), kernel.request(backend, matched), launch,
                           machine_of(backend, false), options);
}

namespace {

/// A tensor of the sizes that a problem has, with the axis of stride 1 that its argument's text names.
std::optional<runtime::CapturedTensor> tensor_of(const runtime::TuningProblem& problem,
                                                 const frontend::ParameterSignature& parameter,
                                                 const std::string& text) {
    const std::size_t at = text.find('@');
    const auto element = ir::scalar_type_named(text.substr(0, at));
    if (!element) return std::nullopt;
    runtime::CapturedTensor tensor{parameter.name, runtime::to_dtype(*element), {}, {}};
    for (std::size_t axis = 0; axis < parameter.sizes.size(); ++axis) {
        const std::string& size = parameter.sizes[axis].text;
        const auto found = problem.sizes.find(size == "_" ? fmt::format("{}.{}", parameter.name, axis) : size);
        const auto literal = ir::parse_scalar(ir::kInt, size);
        if (found == problem.sizes.end() && !literal) return std::nullopt;
        tensor.sizes.push_back(found != problem.sizes.end() ? found->second : literal->as_int64());
    }
    const std::size_t rank = tensor.sizes.size();
    std::size_t unit = rank - 1;
    if (at != std::string::npos) {
        const auto axis = ir::parse_scalar(ir::kInt, text.substr(at + 1));
        unit = axis ? std::min(rank - 1, static_cast<std::size_t>(axis->as_int64())) : rank;
    }
    tensor.strides.assign(rank, 1);
    std::int64_t stride = unit == rank ? 2 : 1;  // no axis of stride 1
    if (unit < rank) stride = tensor.sizes[unit];
    for (std::size_t axis = rank; axis-- > 0;) {
        if (axis == unit) continue;
        tensor.strides[axis] = stride;
        stride *= std::max<std::int64_t>(tensor.sizes[axis], 1);
    }
    return tensor;
}

}  // namespace

std::optional<runtime::CapturedLaunch> launch_of(const runtime::TuningProblem& problem,
                                                 const frontend::KernelSignature& signature,
                                                 const std::string& device) {
    runtime::CapturedLaunch launch;
    launch.file = problem.file;
    launch.identity = problem.kernel;
    launch.kernel = problem.name;
    launch.device = device;
    for (const frontend::ParameterSignature& parameter : signature.parameters) {
        const auto argument = problem.arguments.find(parameter.name);
        if (parameter.is_tensor && argument != problem.arguments.end()) {
            const auto tensor = tensor_of(problem, parameter, argument->second);
            if (!tensor) return std::nullopt;
            launch.tensors.push_back(*tensor);
        } else if (!parameter.is_tensor && !parameter.optional) {
            launch.numbers[parameter.name] = std::int64_t{1};
        }
    }
    return launch;
}

}  // namespace kiln::autotune
