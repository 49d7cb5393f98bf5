// kiln tune: finds the fastest configurations for given problems and keeps what it measured.
#include "autotune/tune.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "autotune/worker.h"
#include "tools/problems.h"

namespace kiln::tools {

namespace {

using Json = nlohmann::json;

// Trials in a row without gain after which a search in a time budget ends.
constexpr std::size_t kPatience = 24;
constexpr double kDefaultSeconds = 60;

const std::map<std::string, autotune::NumericsWanted> kNumerics = {
    {"any", autotune::NumericsWanted::Any},
    {"ordered", autotune::NumericsWanted::Ordered},
    {"unordered", autotune::NumericsWanted::Unordered},
    {"same-as-default", autotune::NumericsWanted::SameAsDefault}};

struct TuneCommand : KernelOptions {
    std::vector<std::string> problems;  ///< --size, one text an occurrence
    std::string budget, shard = "0/1", from, store, worker;
    autotune::NumericsWanted numerics = autotune::NumericsWanted::Any;
    std::int64_t trials = -1;
    double trial_seconds = 30;
    bool exhaustive = false, wide = false, cold = false;
};

struct Tuned {
    runtime::CapturedLaunch launch;
    autotune::Task task;
    autotune::TuneResult result;
};

/// One line on a terminal that is written over and over.
class Progress {
public:
    explicit Progress(bool quiet) : shown_(!quiet && ::isatty(STDERR_FILENO) == 1) {}
    ~Progress() { wipe(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void show(const autotune::TuneProgress& progress) const {
        if (!shown_) return;
        const std::string now = progress.seconds > 0 ? fmt::format("{:.4g} ms", progress.seconds * 1e3)
                                                     : std::string(runtime::verdict_name(progress.verdict));
        const std::string best = progress.best.empty()
                                     ? ""
                                     : fmt::format("  best {:.4g} ms: {}", progress.best_seconds * 1e3, progress.best);
        fmt::print(stderr, "\r\033[K  {}/{}  {}: {}{}", progress.trial, progress.trials, progress.configuration, now,
                   best);
        std::fflush(stderr);
    }
    void wipe() const {
        if (shown_) fmt::print(stderr, "\r\033[K");
    }

private:
    bool shown_;
};

/// The row of the configuration that is used when nothing is known: the first of the space.
const runtime::Measurement* default_row(const Tuned& tuned) {
    const std::string text = runtime::to_string(tuned.task.stored.front());
    for (const runtime::Measurement& row : tuned.result.rows) {
        if (runtime::to_string(row.configuration) == text && row.seconds > 0) return &row;
    }
    return nullptr;
}

Json to_json(const runtime::Measurement& row) {
    Json json = {{"configuration", runtime::to_string(row.configuration)},
                 {"verdict", runtime::verdict_name(row.verdict)},
                 {"seconds", row.seconds},
                 {"spread_seconds", row.spread_seconds},
                 {"runs", row.runs},
                 {"numerics", runtime::numerics_name(row.numerics)},
                 {"contended", row.contended}};
    if (!row.reason.empty()) json["reason"] = row.reason;
    return json;
}

Json to_json(const Tuned& tuned) {
    const autotune::TuneResult& result = tuned.result;
    Json rows = Json::array();
    for (const runtime::Measurement& row : result.rows) rows.push_back(to_json(row));
    Json json = {{"problem", title(tuned.launch)},
                 {"space", result.space},
                 {"excluded", result.excluded},
                 {"other_numerics", tuned.task.candidates.other_numerics},
                 {"same_code", tuned.task.candidates.same_code},
                 {"trials", result.trials},
                 {"remembered", result.remembered},
                 {"failed", result.failed},
                 {"ended_early", result.ended_early},
                 {"wall_seconds", result.wall_seconds},
                 {"rows", rows}};
    if (result.best) json["best"] = to_json(*result.best);
    if (const auto* row = default_row(tuned)) json["default"] = to_json(*row);
    return json;
}

void print(const Tuned& tuned) {
    const autotune::TuneResult& result = tuned.result;
    fmt::print("{}\n  space     {} configurations{}\n", title(tuned.launch), result.space,
               result.excluded == 0 ? "" : fmt::format(", {} of them excluded by computation", result.excluded));
    if (const std::size_t left_out = tuned.task.candidates.other_numerics; left_out > 0) {
        fmt::print("  left out  {} configurations of the other numerics class\n", left_out);
    }
    if (const std::size_t left_out = tuned.task.candidates.same_code; left_out > 0) {
        fmt::print("  left out  {} configurations that make the same code as one of these\n", left_out);
    }
    fmt::print("  trials    {} in {:.1f} s, {} of them remembered{}\n", result.trials, result.wall_seconds,
               result.remembered, result.ended_early ? "; ended early, since nothing better was found any more" : "");
    if (result.best) {
        const runtime::Measurement& best = *result.best;
        fmt::print("  best      {:.4g} ms +- {:.1f}%{}  {}\n", best.seconds * 1e3,
                   100 * best.spread_seconds / best.seconds, best.contended ? " (contended)" : "",
                   runtime::to_string(best.configuration));
        if (const auto* row = default_row(tuned)) {
            fmt::print("  default   {:.4g} ms, {:.3f} times the best  {}\n", row->seconds * 1e3,
                       row->seconds / best.seconds, runtime::to_string(row->configuration));
        }
    } else {
        fmt::print("  best      none: nothing measured may be used\n");
    }
    for (const runtime::Measurement& row : result.rows) {
        if (row.verdict == runtime::Verdict::Verified || row.verdict == runtime::Verdict::Unchecked) continue;
        fmt::print("  {:<9} {}: {}\n", runtime::verdict_name(row.verdict), runtime::to_string(row.configuration),
                   row.reason);
    }
}

std::vector<runtime::CapturedLaunch> launches(const TuneCommand& command) {
    if (command.from.empty()) {
        if (command.file.empty() || command.kernel.empty()) {
            throw Error(ErrorKind::user, "name a file and a kernel, or captured launches by --from");
        }
        return launches_of(command, command.problems);
    }
    const std::optional<runtime::CaptureFile> capture = runtime::read_capture(command.from);
    if (!capture) throw Error(ErrorKind::user, fmt::format("`{}` cannot be read", command.from));
    for (const std::string& problem : capture->problems) fmt::print(stderr, "{}\n", problem);
    std::vector<runtime::CapturedLaunch> chosen;
    for (const runtime::CapturedLaunch& launch : capture->launches) {
        if (command.kernel.empty() || command.kernel == launch.kernel) chosen.push_back(launch);
    }
    if (chosen.empty()) throw Error(ErrorKind::user, fmt::format("`{}` holds no launch to tune", command.from));
    return chosen;
}

autotune::TuneOptions tune_options(const TuneCommand& command) {
    autotune::TuneOptions options;
    options.search.seed = command.seed;
    options.search.exhaustive = command.exhaustive;
    options.search.shard = parse_shard(command.shard);
    options.trial_seconds = command.trial_seconds;
    if (command.trials >= 0) options.search.trials = static_cast<std::size_t>(command.trials);
    if (!command.budget.empty()) options.seconds = parse_duration(command.budget);
    if (command.trials < 0 && command.budget.empty() && !command.exhaustive) options.seconds = kDefaultSeconds;
    if (command.trials < 0 && !command.exhaustive) options.search.patience = kPatience;
    const std::string program = autotune::worker_program(command.worker);
    if (program.empty()) throw Error(ErrorKind::user, "no program for the trials is found: name it by KILN_PROGRAM");
    options.worker_command = autotune::worker_command(program);
    return options;
}

void use_store(const std::string& file) {
    if (file.empty()) return;
    runtime::StoreOptions options = runtime::StoreOptions::from_environment();
    options.file = file;
    options.private_folder = false;
    runtime::replace_tuning_store(std::make_shared<runtime::TuningStore>(options));
}

Tuned tune_one(const runtime::CapturedLaunch& launch, const TuneCommand& command,
               const autotune::TuneOptions& options) {
    autotune::TaskOptions task_options{command.wide, command.numerics, command.seed, {}};
    task_options.measure.cold = command.cold;
    const auto module = load_module(launch.file);
    if (!launch.identity.empty() && launch.identity != runtime::kernel_identity(module->program(), launch.kernel)) {
        fmt::print(stderr, "the text of `{}` has changed since its launch was captured\n", launch.kernel);
    }
    Tuned tuned{launch, autotune::make_task(module, launch, task_options), {}};
    const Progress progress(command.json);
    tuned.result = autotune::tune(tuned.task, *runtime::tuning_store(), options,
                                  [&](const autotune::TuneProgress& now) { progress.show(now); });
    return tuned;
}

int tune(const TuneCommand& command) {
    use_store(command.store);
    const std::vector<runtime::CapturedLaunch> problems = launches(command);
    autotune::TuneOptions options = tune_options(command);
    double left = options.seconds.value_or(0);
    Json json = Json::array();
    bool found = true;
    for (std::size_t i = 0; i < problems.size(); ++i) {
        if (options.seconds) options.seconds = left / static_cast<double>(problems.size() - i);
        const Tuned tuned = tune_one(problems[i], command, options);
        left = std::max(0.0, left - tuned.result.wall_seconds);
        found &= tuned.result.best.has_value() || options.search.shard.count > 1;
        if (command.json) {
            json.push_back(to_json(tuned));
        } else {
            print(tuned);
            std::fflush(stdout);
        }
    }
    if (command.json) fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
    return found ? kSuccess : kNotVerified;
}

}  // namespace

void add_tune(CLI::App& program, Action& action) {
    auto options = std::make_shared<TuneCommand>();
    CLI::App* command = program.add_subcommand("tune", "find the fastest configurations, and remember them");
    add_kernel_options(*command, *options);
    command->get_option("file")->required(false);
    command->get_option("kernel")->required(false);
    command->remove_option(command->get_option("--size"));
    command->add_option("--size", options->problems,
                        "a problem: M=512,N=512; again for another; ranges: M=64..4096*2, N=64..512+64");
    command->add_option("--budget", options->budget, "time for all problems together: 60s, 5m (60s)");
    command
        ->add_option("--trials", options->trials, "trials a problem, remembered ones included; 0 only reads the store")
        ->check(CLI::NonNegativeNumber);
    command->add_flag("--exhaustive", options->exhaustive, "try everything");
    command->add_flag("--wide", options->wide, "also what `schedule` leaves out of the choices of `tune`");
    command
        ->add_option("--numerics", options->numerics,
                     "only configurations of one numerics class: any, ordered, unordered, same-as-default (any)")
        ->transform(CLI::CheckedTransformer(kNumerics));
    command->add_flag("--cold", options->cold, "empty the caches before each run");
    command->add_option("--shard", options->shard, "a part of the space, from 0: 3/8");
    command->add_option("--from", options->from, "captured launches, in place of FILE, KERNEL and --size");
    command->add_option("--trial-limit", options->trial_seconds, "seconds that a stage of a trial may take (30)")
        ->check(CLI::PositiveNumber);
    command->add_option("--store", options->store, "the database, in place of the user's own");
    command->add_option("--worker", options->worker, "the kiln program that runs the trials");
    command->footer(
        "Examples:\n  kiln tune kiln/gemm.kiln gemm -D T=f32 --size M=512,N=512,K=512 --budget 60s\n"
        "  kiln tune kiln/gemm.kiln gemm -D T=bf16 --size M=64..4096*2,N=4096,K=4096 --trials 16\n"
        "  kiln tune --from capture.jsonl --shard 3/8\n"
        "A run that was killed goes on where it was. Exit code 3: nothing measured may be used.");
    command->callback([options, &action] { action = [options] { return tune(*options); }; });
}

}  // namespace kiln::tools
