#include "autotune/tune.h"

#include <chrono>
#include <cstdlib>
#include <string_view>

#include "autotune/compile_ahead.h"
#include "autotune/inputs.h"
#include "autotune/worker.h"

namespace kiln::autotune {

using runtime::Measurement;

namespace {

// A run that takes so much longer than the best is not timed any further.
constexpr double kGiveUpFactor = 4;

bool caches_code() {
    const char* cache = std::getenv("KILN_CACHE");
    return cache == nullptr || std::string_view(cache) != "off";
}

/// One call of tune().
class Tuning {
public:
    Tuning(const Task& task, runtime::TuningStore& store, const TuneOptions& options, const OnProgress& on_progress)
        : task_(task),
          store_(store),
          options_(options),
          on_progress_(on_progress),
          search_(task.candidates.space, task.candidates.predictions(), options.search),
          rows_(task.candidates.space.size()),
          worker_(options.worker_command, task.job) {
        result_.space = task.candidates.space.size();
        result_.excluded = task.candidates.excluded();
    }

    TuneResult run() {
        const auto start = std::chrono::steady_clock::now();
        const auto elapsed = [&] {
            return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        };
        remember();
        std::optional<std::size_t> current = search_.next();
        while (current) {
            // Asked for before the present trial's result is known: it is compiled meanwhile.
            const std::optional<std::size_t> next = search_.next();
            const bool is_known = counts(rows_[*current]);
            if (!is_known && options_.seconds && elapsed() >= *options_.seconds) break;
            if (!is_known && options_.stop && options_.stop()) break;
            ++result_.trials;
            if (is_known) {
                ++result_.remembered;
            } else {
                record(*current, attempt(*current, next));
            }
            note(*current);
            report(*current, is_known);
            current = next;
        }
        result_.ended_early = search_.lost_patience();
        result_.wall_seconds = elapsed();
        return std::move(result_);
    }

private:
    /// Whether a row says what the configuration is worth, and need not be tried again.
    bool counts(const std::optional<Measurement>& row) const {
        return row && !(task_.has_reference && row->verdict == Verdict::Unchecked) && row->verdict != Verdict::Excluded;
    }

    bool may_win(const Measurement& row) const {
        return row.verdict == Verdict::Verified || (!task_.has_reference && row.verdict == Verdict::Unchecked);
    }

    /// Rows of earlier runs: of each configuration the last.
    void remember() {
        std::map<std::string, std::size_t> places;
        for (std::size_t i = 0; i < task_.stored.size(); ++i) places[runtime::to_string(task_.stored[i])] = i;
        for (Measurement& row : store_.measurements(task_.problem, task_.device)) {
            const auto place = places.find(runtime::to_string(row.configuration));
            if (place != places.end()) rows_[place->second] = std::move(row);
        }
        std::vector<Measurement> excluded;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const Candidate& candidate = task_.candidates.list[i];
            if (counts(rows_[i])) keep(*rows_[i]);
            if (rows_[i] || candidate.exclusion.empty()) continue;
            excluded.push_back(row_of(i, {Verdict::Excluded, candidate.exclusion}));
        }
        if (!excluded.empty() && options_.search.trials != 0) store_.record(excluded);
    }

    TrialResult attempt(std::size_t configuration, std::optional<std::size_t> next) {
        TrialRequest request{task_.candidates.space[configuration].spelled(), TrialAction::Try, 0};
        if (result_.best) request.give_up_above = kGiveUpFactor * result_.best->seconds;
        const auto on_stage = [&](const std::string& stage) {
            if (stage == "verifying" && next && !counts(rows_[*next])) prepare(*next);
            if (stage == "timing" && ahead_) ahead_->pause();
        };
        TrialResult result = worker_.run(request, options_.trial_seconds, on_stage);
        const bool would_win =
            result.verdict == Verdict::Verified && (!result_.best || result.timing.seconds < result_.best->seconds);
        if (would_win) {
            request.action = TrialAction::Confirm;
            result = worker_.run(request, options_.trial_seconds, on_stage);
            if (result.verdict != Verdict::Verified) result.reason = "on a second input: " + result.reason;
        }
        if (ahead_) ahead_->resume();
        return result;
    }

    void prepare(std::size_t next) {
        if (!options_.compile_ahead || !caches_code()) return;
        if (!ahead_)
            ahead_ = std::make_unique<CompileAhead>(options_.worker_command, task_.job, options_.trial_seconds);
        ahead_->submit({task_.candidates.space[next].spelled(), TrialAction::Compile, 0});
        ahead_->resume();
    }

    Measurement row_of(std::size_t configuration, const TrialResult& result) const {
        Measurement row;
        row.problem = task_.problem;
        row.device = task_.device;
        row.configuration = task_.stored[configuration];
        row.build = runtime::tuning_build();
        row.numerics = task_.candidates.list[configuration].numerics;
        row.verdict = result.verdict;
        row.reason = result.reason;
        row.seconds = result.timing.seconds;
        row.spread_seconds = result.timing.spread_seconds;
        row.runs = result.timing.runs;
        row.contended = result.timing.contended;
        row.clock_mhz = result.clock_mhz;
        row.seed = task_.job.seed;
        row.taken_ms = runtime::now_ms();
        return row;
    }

    void record(std::size_t configuration, const TrialResult& result) {
        Measurement row = row_of(configuration, result);
        store_.record(row);
        keep(row);
        rows_[configuration] = std::move(row);
    }

    void keep(const Measurement& row) {
        result_.rows.push_back(row);
        if (!may_win(row)) ++result_.failed;
        if (may_win(row) && (!result_.best || row.seconds < result_.best->seconds)) result_.best = row;
    }

    void note(std::size_t configuration) {
        const Measurement& row = *rows_[configuration];
        search_.note(configuration, may_win(row) ? std::optional(row.seconds) : std::nullopt);
    }

    void report(std::size_t configuration, bool is_known) const {
        if (!on_progress_) return;
        const Measurement& row = *rows_[configuration];
        TuneProgress progress;
        progress.trial = result_.trials;
        progress.trials = std::min(search_.candidates(), options_.search.trials.value_or(search_.candidates()));
        progress.remembered = is_known;
        progress.configuration = runtime::to_string(row.configuration);
        progress.verdict = row.verdict;
        progress.reason = row.reason;
        progress.seconds = row.seconds;
        if (result_.best) {
            progress.best = runtime::to_string(result_.best->configuration);
            progress.best_seconds = result_.best->seconds;
        }
        on_progress_(progress);
    }

    const Task& task_;
    runtime::TuningStore& store_;
    const TuneOptions& options_;
    const OnProgress& on_progress_;
    Search search_;
    std::vector<std::optional<Measurement>> rows_;  ///< by configuration: the last that is known
    Worker worker_;
    std::unique_ptr<CompileAhead> ahead_;
    TuneResult result_;
};

}  // namespace

Task make_task(const std::shared_ptr<const runtime::ModuleState>& module, const runtime::CapturedLaunch& launch,
               const TaskOptions& options) {
    const std::shared_ptr<runtime::DeviceBackend> backend = Device::open(launch.device).stream().backend();
    const std::shared_ptr<runtime::KernelState> kernel = kernel_of(module, launch);
    Task task{{},
              runtime::describe_device(*backend),
              make_candidates(*kernel, launch, *backend, {.wide = options.wide, .numerics = options.numerics}),
              {},
              {},
              true};
    const LaunchArguments shapes = LaunchArguments::shapes(launch);
    const auto matched = runtime::match_arguments(kernel->signature(), shapes.arguments());
    task.problem =
        runtime::describe_problem(module->program(), kernel->signature(), kernel->request(*backend, matched), matched);
    for (const auto& configuration : task.candidates.space.configurations()) {
        task.stored.push_back(runtime::to_configuration(kernel->signature(), configuration, backend->units()));
    }
    task.job = {launch, launch.file, {}, options.seed, options.measure};
    for (const frontend::File& file : module->program().files) {
        task.job.texts[file.path] = module->program().sources.text(file.source);
    }
    task.job.root = module->program().files.front().path;
    task.has_reference = !kernel->signature().reference.empty();
    return task;
}

TuneResult tune(const Task& task, runtime::TuningStore& store, const TuneOptions& options,
                const OnProgress& on_progress) {
    return Tuning(task, store, options, on_progress).run();
}

}  // namespace kiln::autotune
