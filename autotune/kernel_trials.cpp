#include "autotune/kernel_trials.h"

#include <fmt/format.h>

#include <chrono>
#include <new>

#include "autotune/candidates.h"
#include "autotune/inputs.h"
#include "runtime/verify.h"

namespace kiln::autotune {

namespace {

// Between the seeds of the first and the second input.
constexpr std::uint64_t kSecondInput = 0x9e3779b9;

std::shared_ptr<const runtime::ModuleState> module_of(const Job& job) {
    const auto serve = [&](const std::string& path) -> std::optional<std::string> {
        const auto found = job.texts.find(path);
        if (found == job.texts.end()) return std::nullopt;
        return found->second;
    };
    return std::make_shared<runtime::ModuleState>(job.root, serve);
}

std::string describe(const runtime::VerifyReport& report) {
    for (const runtime::OutputReport& output : report.outputs) {
        if (!output.worst) continue;
        return fmt::format("`{}[{}]`: {}, reference {}, allowed {:.3g} ({} of {} elements are wrong)", output.name,
                           fmt::join(output.worst->index, ", "), output.worst->value, output.worst->reference,
                           output.worst->allowed, output.failed, output.compared);
    }
    return "nothing could be compared with the reference";
}

class KernelTrials final : public TrialRunner {
public:
    explicit KernelTrials(const Job& job)
        : job_(job),
          device_(Device::open(job.launch.device)),
          module_(module_of(job)),
          inputs_(LaunchArguments::filled(job.launch, job.seed, backend())) {
        for (const frontend::ParameterSignature& parameter : module_->find(job.launch.kernel).parameters) {
            if (parameter.is_tensor && parameter.access == ir::Access::InOut) updated_.push_back(parameter.name);
        }
    }

    std::string device() const override { return device_.name() + ": " + device_.description(); }

    TrialResult run(const TrialRequest& request, const StageReport& report) override {
        report("compiling");
        TrialResult result;
        try {
            compile(request, result);
            if (request.action == TrialAction::Compile) return result;
            if (request.action == TrialAction::Confirm && !second_) {
                second_ = std::make_unique<LaunchArguments>(
                    LaunchArguments::filled(job_.launch, job_.seed + kSecondInput, backend()));
            }
            LaunchArguments& inputs = request.action == TrialAction::Confirm ? *second_ : inputs_;
            inputs.restore();
            const auto prepared = kernel_->prepare(backend(), inputs.arguments());
            report("verifying");
            verify(*prepared, inputs, result);
            if (result.verdict != Verdict::Verified && result.verdict != Verdict::Unchecked) return result;
            report("timing");
            inputs.restore();
            time(*prepared, inputs, request.give_up_above, result);
        } catch (const std::bad_alloc&) {
            return {Verdict::Refused, "out of memory"};
        }
        return result;
    }

private:
    const runtime::DeviceBackend& backend() const { return *device_.stream().backend(); }

    /// Leaves the kernel in kernel_, and a verdict if there is none.
    void compile(const TrialRequest& request, TrialResult& result) {
        runtime::CapturedLaunch launch = job_.launch;
        launch.tunables = request.tunables;
        const auto start = std::chrono::steady_clock::now();
        kernel_ = kernel_of(module_, launch);
        kernel_->prepare(backend(), inputs_.arguments());
        result.compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }

    void verify(const runtime::PreparedState& prepared, LaunchArguments& inputs, TrialResult& result) {
        if (prepared.compiled().specialisation.reference.empty()) return;
        const runtime::VerifyReport report = runtime::verify(*kernel_, backend(), inputs.arguments(), job_.seed);
        result.verdict = report.passed ? Verdict::Verified : Verdict::Wrong;
        if (!report.passed) result.reason = describe(report);
    }

    void time(const runtime::PreparedState& prepared, LaunchArguments& inputs, double give_up_above,
              TrialResult& result) const {
        MeasureOptions options = job_.measure;
        options.give_up_above = give_up_above;
        const std::function<void()> restore = [&] {
            for (const std::string& parameter : updated_) inputs.restore(parameter);
        };
        const auto restore_or_not = updated_.empty() ? nullptr : restore;
        if (backend().has_own_memory()) {
            result.timing = measure([&](int repeats) { return queued(prepared, repeats); }, restore_or_not, options);
            return;
        }
        result.clock_mhz = measured_clock() / 1e6;
        result.timing = measure([&] { prepared.bound().run(); }, restore_or_not, options);
    }

    /// Between two events of the device's own clock.
    Sample queued(const runtime::PreparedState& prepared, int repeats) const {
        runtime::DeviceStream& stream = *device_.stream().backend()->default_stream();
        const auto start = stream.record();
        for (int i = 0; i < repeats; ++i) prepared.bound().run();
        const auto end = stream.record();
        end->synchronise();
        return {end->seconds_since(*start) / repeats, false};
    }

    Job job_;
    Device device_;
    std::shared_ptr<const runtime::ModuleState> module_;
    LaunchArguments inputs_;
    std::unique_ptr<LaunchArguments> second_;
    std::vector<std::string> updated_;  ///< `inout` tensors
    std::shared_ptr<runtime::KernelState> kernel_;
};

/// Turns the errors of one configuration into its verdict. What the reference does wrong is nobody's verdict: it goes
/// on up and ends the job.
class JudgedTrials final : public TrialRunner {
public:
    explicit JudgedTrials(const Job& job) : trials_(job) {}
    std::string device() const override { return trials_.device(); }

    TrialResult run(const TrialRequest& request, const StageReport& report) override {
        std::string stage;
        try {
            return trials_.run(request, [&](const char* name) {
                stage = name;
                report(name);
            });
        } catch (const Error& error) {
            if (stage == "verifying" && error.kind() != ErrorKind::device) {
                throw Error(ErrorKind::user, fmt::format("the reference cannot be run: {}", error.what()));
            }
            const bool compiler = error.kind() == ErrorKind::compiler || error.kind() == ErrorKind::internal;
            TrialResult result{compiler ? Verdict::FailedToCompile : Verdict::Refused, error.what()};
            // A device that failed once may fail everything from then on: an illegal access ruins a context.
            result.spent = error.kind() == ErrorKind::device;
            return result;
        }
    }

private:
    KernelTrials trials_;
};

}  // namespace

std::unique_ptr<TrialRunner> make_kernel_trials(const Job& job) {
    return std::make_unique<JudgedTrials>(job);
}

}  // namespace kiln::autotune
