// How good the tuner's choices are, and after how many trials.
//
// Every problem's whole space is compiled and measured once; then the model's choice, searches of 16 and of 64 trials
// (five seeds each) and random searches of as many run on fresh measurements. What they chose is at last measured once
// more beside the best that was found at all, turn by turn in one loop, and a share is the median ratio of such turns:
// clock and neighbours change from one second to the next. Times are those that the thread spent on a processor, with
// KILN_THREADS=1 unless it says otherwise. With `--device cuda:0` or `hip:0` and an emulated device
// (docs/emulated_gpu.md) the same is done for a few small problems with cycles in place of times: what the device
// counted of each configuration's launch, at the rates of a real one (bench/counted_cycles.h). A space no larger than
// the number of trials is searched whole, so that its share says nothing of the search: the means are given with and
// without those.
#include <fmt/format.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "autotune/inputs.h"
#include "autotune/launch_model.h"
#include "autotune/statistics.h"
#include "autotune/tune.h"
#include "bench/counted_cycles.h"
#include "kiln/error.hpp"
#include "tools/problems.h"

namespace {

using namespace kiln;
using Json = nlohmann::json;

struct Problem {
    const char *file, *kernel;
    std::vector<std::string> definitions;
    const char* sizes;
};

const std::vector<Problem> kProblems = {
    {"kiln/gemm.kiln", "gemm", {"T=f32"}, "M=256,N=256,K=256"},
    {"kiln/gemm.kiln", "gemm", {"T=f32"}, "M=512,N=512,K=512"},
    {"kiln/gemm.kiln", "gemm", {"T=f32"}, "M=384,N=768,K=192"},
    {"kiln/gemm.kiln", "gemm", {"T=f32"}, "M=1000,N=1000,K=100"},
    {"kiln/gemm.kiln", "gemm", {"T=f32"}, "M=32,N=1024,K=1024"},
    {"kiln/gemm.kiln", "gemm", {"T=f32"}, "M=1024,N=48,K=512"},
    {"kiln/gemm.kiln", "gemm", {"T=f32"}, "M=64,N=64,K=8192"},
    {"kiln/gemm.kiln", "gemm", {"T=bf16"}, "M=512,N=512,K=512"},
    {"kiln/gemm.kiln", "gemm", {"T=bf16"}, "M=200,N=1000,K=300"},
    {"kiln/gemm.kiln", "gemm_batched", {"T=f32"}, "Z=16,M=128,N=128,K=64"},
    {"kiln/gemm.kiln", "gemm_batched", {"T=f32"}, "Z=64,M=50,N=50,K=50"},
    {"kiln/attention.kiln", "attention", {"T=f32", "D=64"}, "B=1,H=4,HK=4,M=256,N=256"},
    {"kiln/attention.kiln", "attention", {"T=f32", "D=64", "causal=true"}, "B=1,H=2,HK=2,M=512,N=512"},
    {"kiln/attention.kiln", "attention", {"T=f32", "D=32"}, "B=2,H=4,HK=1,M=128,N=384"},
    {"kiln/attention.kiln", "attention", {"T=bf16", "D=128"}, "B=1,H=2,HK=2,M=256,N=256"},
    {"kiln/attention.kiln", "attention", {"T=f32", "D=64"}, "B=1,H=8,HK=8,M=16,N=1024"},
    {"kiln/attention.kiln", "attention_alibi", {"T=f32", "D=64"}, "B=1,H=4,M=256,N=256"},
    {"kiln/softmax.kiln", "softmax_long", {"T=f32"}, "M=128,N=10000"},
    {"kiln/softmax.kiln", "softmax_long", {"T=f32"}, "M=1024,N=1000"},
    {"kiln/layer_norm.kiln", "layer_norm", {"T=f32", "N=1024"}, "M=512"},
    {"kiln/rms_norm.kiln", "rms_norm", {"T=f32", "N=4096"}, "M=128"},
    {"kiln/reductions.kiln", "row_moments", {"T=f32"}, "M=128,N=4096"},
    {"kiln/reductions.kiln", "row_moments", {"T=f32"}, "M=2048,N=200"},
    {"kiln/movement.kiln", "transpose_copy", {"T=f32"}, "M=1024,N=1024"},
    {"kiln/swiglu_sampling.kiln", "swiglu", {"T=f32"}, "M=256,N=256,K=256"},
};

/// For emulated devices, which take a thousand times as long. Tunables that are given keep spaces small: every
/// configuration is compiled.
const std::vector<Problem> kSmallProblems = {
    {"kiln/gemm.kiln", "gemm", {"T=f32", "BK=32", "stages=2"}, "M=256,N=256,K=64"},
    {"kiln/gemm.kiln", "gemm", {"T=bf16", "stages=2"}, "M=128,N=128,K=128"},
    {"kiln/gemm.kiln", "gemm_batched", {"T=f32"}, "Z=6,M=96,N=96,K=64"},
    {"kiln/attention.kiln", "attention", {"T=f32", "D=64", "stages=2"}, "B=1,H=2,HK=2,M=128,N=128"},
    {"kiln/attention.kiln", "attention", {"T=bf16", "D=64", "stages=2", "causal=true"}, "B=1,H=2,HK=2,M=128,N=128"},
    {"kiln/softmax.kiln", "softmax_long", {"T=f32"}, "M=32,N=5000"},
    {"kiln/movement.kiln", "transpose_copy", {"T=f32"}, "M=256,N=256"},
};

constexpr std::size_t kBudgets[] = {16, 64};
constexpr double kAims[] = {0.95, 0.98, 0.995};
constexpr std::uint64_t kSeeds = 5;
// Rounds through a whole space for its table, and turns of the last comparison.
constexpr int kTableRounds = 5, kTurns = 25;
constexpr std::size_t kLargestSpace = 300;
// Of runs in one trial, if it does not become certain before.
constexpr double kTrialSeconds = 0.1;

double processor_seconds() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

double geometric_mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += std::log(value);
    return values.empty() ? 1 : std::exp(sum / static_cast<double>(values.size()));
}

/// All configurations of a problem, compiled, on memory of their own.
class Field {
public:
    Field(const std::shared_ptr<const runtime::ModuleState>& module, const runtime::CapturedLaunch& launch,
          const autotune::Candidates& candidates)
        : device_(Device::open(launch.device)),
          arguments_(autotune::LaunchArguments::filled(launch, 1, *device_.stream().backend())) {
        for (std::size_t i = 0; i < candidates.space.size(); ++i) {
            runtime::CapturedLaunch one = launch;
            one.tunables = candidates.space[i].spelled();
            kernels_.push_back(autotune::kernel_of(module, one));
            const bool runs = candidates.list[i].exclusion.empty();
            prepared_.push_back(runs ? kernels_.back()->prepare(*device_.stream().backend(), arguments_.arguments())
                                     : nullptr);
        }
    }
    virtual ~Field() = default;

    bool runs(std::size_t configuration) const { return prepared_[configuration] != nullptr; }
    /// The median of so many samples, after a run that warms the caches up.
    virtual double measure(std::size_t configuration, std::size_t samples) const = 0;
    /// The same with as many as it takes to know the median to 1%, as the tuner does it.
    virtual double measure_well(std::size_t configuration) const = 0;

protected:
    const Device& device() const { return device_; }
    const runtime::PreparedState& prepared(std::size_t configuration) const { return *prepared_[configuration]; }

private:
    Device device_;
    autotune::LaunchArguments arguments_;
    std::vector<std::shared_ptr<runtime::KernelState>> kernels_;
    std::vector<std::shared_ptr<runtime::PreparedState>> prepared_;
};

/// On the CPU: times.
class TimedField final : public Field {
public:
    using Field::Field;

    double measure(std::size_t configuration, std::size_t samples) const override {
        return sample(configuration, [&](const std::vector<double>& times) { return times.size() >= samples; });
    }
    double measure_well(std::size_t configuration) const override {
        double total = 0;
        return sample(configuration, [&](const std::vector<double>& times) {
            total += times.back();
            if (times.size() < 7) return false;
            const autotune::Timing timing = autotune::summarise(times);
            return timing.spread_seconds <= 0.01 * timing.seconds || total > kTrialSeconds || times.size() >= 200;
        });
    }

private:
    template <class Enough>
    double sample(std::size_t configuration, const Enough& enough) const {
        runtime::BoundLaunch& launch = prepared(configuration).bound();
        double start = processor_seconds();
        launch.run();
        const int repeats = static_cast<int>(std::ceil(100e-6 / std::max(processor_seconds() - start, 1e-7)));
        std::vector<double> times;
        do {
            start = processor_seconds();
            for (int i = 0; i < repeats; ++i) launch.run();
            times.push_back((processor_seconds() - start) / repeats);
        } while (!enough(times));
        return median(std::move(times));
    }
};

/// On an emulated device: modelled cycles from its counters, as seconds at the clock of a real one.
class CountedField final : public Field {
public:
    CountedField(const std::shared_ptr<const runtime::ModuleState>& module, const runtime::CapturedLaunch& launch,
                 const autotune::Candidates& candidates)
        : Field(module, launch, candidates) {
        for (std::size_t i = 0; i < candidates.space.size(); ++i) seconds_.push_back(runs(i) ? count(i) : 0);
    }
    double measure(std::size_t configuration, std::size_t) const override { return seconds_[configuration]; }
    double measure_well(std::size_t configuration) const override { return seconds_[configuration]; }

private:
    double count(std::size_t configuration) const {
        const std::string report = std::getenv("EMULATED_GPU_REPORT");
        std::ofstream(report, std::ios::trunc).flush();
        prepared(configuration).bound().run();
        device().stream().synchronise();
        const auto machine =
            std::get<codegen::configure::GpuMachine>(autotune::machine_of(*device().stream().backend(), false));
        const ir::Kernel& kernel = prepared(configuration).compiled().specialisation.kernel;
        const auto generated = codegen::gpu::generate(kernel, machine.target);
        const double matrix_rate = bench::matrix_rate_of(kernel, machine);
        double cycles = 0;
        std::size_t phase = 0;
        std::ifstream lines(report);
        for (std::string line; std::getline(lines, line) && phase < generated.source.phases.size(); ++phase) {
            cycles += bench::counted_cycles(Json::parse(line), generated.source.phases[phase], machine, matrix_rate);
        }
        if (phase == 0) {
            throw Error(ErrorKind::user,
                        fmt::format("`{}` counts nothing: on devices but the CPU this program needs an "
                                    "emulated one (docs/emulated_gpu.md)",
                                    device().name()));
        }
        return cycles / machine.cycles_per_second;
    }

    std::vector<double> seconds_;
};

std::unique_ptr<Field> make_field(const std::shared_ptr<const runtime::ModuleState>& module,
                                  const runtime::CapturedLaunch& launch, const autotune::Candidates& candidates) {
    if (launch.device == "cpu") return std::make_unique<TimedField>(module, launch, candidates);
    return std::make_unique<CountedField>(module, launch, candidates);
}

/// Seconds of every configuration: infinity where it cannot run. Rounds are made comparable by their means.
std::vector<double> exhaustive_table(const Field& field, std::size_t size) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < size; ++i) {
        if (field.runs(i)) order.push_back(i);
    }
    std::mt19937_64 random(1);
    std::vector<std::vector<double>> samples(size);
    double first_mean = 0;
    for (int round = 0; round < kTableRounds; ++round) {
        std::shuffle(order.begin(), order.end(), random);
        std::vector<double> times;
        for (const std::size_t i : order) times.push_back(field.measure(i, 3));
        const double mean = geometric_mean(times);
        if (round == 0) first_mean = mean;
        for (std::size_t i = 0; i < order.size(); ++i) samples[order[i]].push_back(times[i] / mean * first_mean);
    }
    std::vector<double> table(size, std::numeric_limits<double>::infinity());
    for (const std::size_t i : order) table[i] = median(samples[i]);
    return table;
}

/// A trial as the tuner makes it: what would be the best so far is measured once more, and that counts.
double trial(const Field& field, std::size_t configuration, double best) {
    const double seconds = field.measure_well(configuration);
    return seconds < best ? field.measure_well(configuration) : seconds;
}

std::size_t search(const Field& field, const autotune::Candidates& candidates, std::size_t trials, std::uint64_t seed) {
    autotune::Search search(candidates.space, candidates.predictions(), {.seed = seed, .trials = trials});
    std::optional<std::size_t> current = search.next();
    while (current) {
        const std::optional<std::size_t> next = search.next();  // asked for early, as tune() does
        const double best = search.best() ? *search.seconds(*search.best()) : std::numeric_limits<double>::infinity();
        search.note(*current, trial(field, *current, best));
        current = next;
    }
    return *search.best();
}

std::size_t random_search(const Field& field, std::size_t size, std::size_t trials, std::uint64_t seed) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < size; ++i) {
        if (field.runs(i)) order.push_back(i);
    }
    std::mt19937_64 random(seed);
    std::shuffle(order.begin(), order.end(), random);
    order.resize(std::min(order.size(), trials));
    std::size_t chosen = order.front();
    double best = std::numeric_limits<double>::infinity();
    for (const std::size_t i : order) {
        const double seconds = trial(field, i, best);
        if (seconds >= best) continue;
        best = seconds;
        chosen = i;
    }
    return chosen;
}

/// Of each finalist the share of the best that it reaches, measured turn by turn.
std::map<std::size_t, double> compare(const Field& field, const std::set<std::size_t>& finalists) {
    std::vector<std::size_t> order(finalists.begin(), finalists.end());
    std::map<std::size_t, std::vector<double>> ratios;
    std::mt19937_64 random(2);
    for (int turn = 0; turn < kTurns; ++turn) {
        std::shuffle(order.begin(), order.end(), random);
        std::vector<double> times;
        for (const std::size_t i : order) times.push_back(field.measure(i, 3));
        const double mean = geometric_mean(times);
        for (std::size_t i = 0; i < order.size(); ++i) ratios[order[i]].push_back(times[i] / mean);
    }
    std::map<std::size_t, double> shares;
    double best = std::numeric_limits<double>::infinity();
    for (const auto& [finalist, values] : ratios) best = std::min(best, shares[finalist] = median(values));
    for (auto& [finalist, share] : shares) share = best / share;
    return shares;
}

struct Choices {
    std::vector<std::size_t> tuned, random;  ///< one a seed
};

struct Outcome {
    std::string name;
    const autotune::Candidates* candidates;
    std::vector<double> table;
    std::size_t by_default = 0, model = 0;
    std::map<std::size_t, Choices> searches;  ///< by trials
    std::map<std::size_t, double> shares;
    double wall_seconds = 0;

    double mean_share(const std::vector<std::size_t>& choices) const {
        std::vector<double> list;
        for (const std::size_t choice : choices) list.push_back(shares.at(choice));
        return geometric_mean(list);
    }
    double worst_share(const std::vector<std::size_t>& choices) const {
        double worst = 1;
        for (const std::size_t choice : choices) worst = std::min(worst, shares.at(choice));
        return worst;
    }
    std::size_t rank(std::size_t configuration) const {
        return static_cast<std::size_t>(
            std::count_if(table.begin(), table.end(), [&](double seconds) { return seconds < table[configuration]; }));
    }
};

std::size_t model_choice(const autotune::Candidates& candidates, const runtime::ModuleState& module,
                         const runtime::KernelState& kernel, const runtime::CapturedLaunch& launch,
                         const runtime::TuningProblem& problem) {
    const auto backend = Device::open(launch.device).stream().backend();
    const autotune::LaunchArguments shapes = autotune::LaunchArguments::shapes(launch);
    const auto matched = runtime::match_arguments(kernel.signature(), shapes.arguments());
    const auto chosen =
        autotune::LaunchModel().choose(module.program(), kernel.request(*backend, matched), problem, *backend);
    if (!chosen) return 0;
    if (const auto place = candidates.space.find(*chosen)) return *place;
    // Left out of the space, since another that differs in the schedule makes the same code.
    const auto& all = candidates.space.configurations();
    const auto same =
        std::find_if(all.begin(), all.end(), [&](const auto& other) { return other.tunables == chosen->tunables; });
    return static_cast<std::size_t>(same - all.begin());
}

Outcome run(const runtime::CapturedLaunch& launch, const autotune::Task& task,
            const std::shared_ptr<const runtime::ModuleState>& module) {
    const auto start = std::chrono::steady_clock::now();
    const autotune::Candidates& candidates = task.candidates;
    const std::size_t size = candidates.space.size();
    if (size > kLargestSpace) throw Error(ErrorKind::user, fmt::format("{} configurations are too many", size));
    const std::unique_ptr<Field> made = make_field(module, launch, candidates);
    const Field& field = *made;
    Outcome outcome;
    outcome.name = tools::title(launch);
    outcome.candidates = &candidates;
    outcome.table = exhaustive_table(field, size);
    while (!field.runs(outcome.by_default)) ++outcome.by_default;
    outcome.model = model_choice(candidates, *module, *autotune::kernel_of(module, launch), launch, task.problem);
    std::set<std::size_t> finalists = {outcome.by_default, outcome.model};
    std::vector<std::size_t> order(size);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return outcome.table[a] < outcome.table[b]; });
    for (std::size_t i = 0; i < std::min<std::size_t>(size, 3); ++i) {
        if (field.runs(order[i])) finalists.insert(order[i]);
    }
    for (const std::size_t trials : kBudgets) {
        Choices& choices = outcome.searches[trials];
        for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
            choices.tuned.push_back(search(field, candidates, trials, seed));
            choices.random.push_back(random_search(field, size, trials, seed));
        }
        finalists.insert(choices.tuned.begin(), choices.tuned.end());
        finalists.insert(choices.random.begin(), choices.random.end());
    }
    outcome.shares = compare(field, finalists);
    outcome.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return outcome;
}

Json to_json(const Outcome& outcome, const autotune::Task& task) {
    const auto text = [&](std::size_t i) { return ir::to_string(task.candidates.space[i]); };
    std::vector<double> predicted, measured;
    Json table = Json::object();
    for (std::size_t i = 0; i < outcome.table.size(); ++i) {
        if (!std::isfinite(outcome.table[i])) continue;
        table[text(i)] = outcome.table[i];
        predicted.push_back(task.candidates.list[i].prediction.seconds);
        measured.push_back(outcome.table[i]);
    }
    const auto best = std::max_element(outcome.shares.begin(), outcome.shares.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    Json json = {
        {"problem", outcome.name},
        {"space", measured.size()},
        {"best", text(best->first)},
        {"best_seconds", outcome.table[best->first]},
        {"worst_over_best", *std::max_element(measured.begin(), measured.end()) / outcome.table[best->first]},
        {"default", {{"configuration", text(outcome.by_default)}, {"share", outcome.shares.at(outcome.by_default)}}},
        {"model",
         {{"configuration", text(outcome.model)},
          {"share", outcome.shares.at(outcome.model)},
          {"rank", outcome.rank(outcome.model)}}},
        {"seconds", table},
        {"wall_seconds", outcome.wall_seconds}};
    if (const auto correlation = autotune::rank_correlation(predicted, measured)) {
        json["rank_correlation"] = *correlation;
    }
    for (const auto& [trials, choices] : outcome.searches) {
        Json ranks = Json::array();
        for (const std::size_t choice : choices.tuned) ranks.push_back(outcome.rank(choice));
        json["searches"].push_back({{"trials", trials},
                                    {"share", outcome.mean_share(choices.tuned)},
                                    {"worst_seed", outcome.worst_share(choices.tuned)},
                                    {"ranks", ranks},
                                    {"random_share", outcome.mean_share(choices.random)},
                                    {"random_worst_seed", outcome.worst_share(choices.random)}});
    }
    return json;
}

/// Means over problems; `more_than`: of those with larger spaces only.
Json summary_of(const Json& problems, std::size_t more_than) {
    std::vector<double> model, by_default;
    std::map<std::size_t, std::vector<double>> tuned, random;
    double worst = 1;
    for (const Json& problem : problems) {
        if (problem["space"].get<std::size_t>() <= more_than) continue;
        model.push_back(problem["model"]["share"]);
        by_default.push_back(problem["default"]["share"]);
        for (const Json& search : problem["searches"]) {
            tuned[search["trials"]].push_back(search["share"]);
            random[search["trials"]].push_back(search["random_share"]);
            if (search["trials"] == kBudgets[1]) worst = std::min(worst, search["worst_seed"].get<double>());
        }
    }
    Json json = {{"problems", model.size()},
                 {"default", geometric_mean(by_default)},
                 {"trials_0", geometric_mean(model)},
                 {"worst_seed_at_64", worst}};
    for (const std::size_t trials : kBudgets) {
        json[fmt::format("trials_{}", trials)] = geometric_mean(tuned[trials]);
        json[fmt::format("random_{}", trials)] = geometric_mean(random[trials]);
    }
    return json;
}

void print_header() {
    fmt::print("{:<58} {:>5} {:>9} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>5}\n", "problem", "space", "best ms",
               "default", "model", "16", "64", "rand16", "rand64", "rho");
}

void print_row(const Json& row) {
    const Json &few = row["searches"][0], &many = row["searches"][1];
    fmt::print("{:<58.58} {:>5} {:>9.4g} {:>7.3f} {:>7.3f} {:>7.3f} {:>7.3f} {:>7.3f} {:>7.3f} {:>5.2f}\n",
               row["problem"].get<std::string>(), row["space"].get<std::size_t>(),
               row["best_seconds"].get<double>() * 1e3, row["default"]["share"].get<double>(),
               row["model"]["share"].get<double>(), few["share"].get<double>(), many["share"].get<double>(),
               few["random_share"].get<double>(), many["random_share"].get<double>(),
               row.value("rank_correlation", 0.0));
    std::fflush(stdout);
}

void print_summary(const char* what, const Json& summary) {
    fmt::print(
        "{}: {} problems; default {:.3f}; 0 trials {:.3f}, 16 trials {:.3f} (random {:.3f}), 64 trials {:.3f} "
        "(random {:.3f}; worst seed {:.3f})\n",
        what, summary["problems"].get<std::size_t>(), summary["default"].get<double>(),
        summary["trials_0"].get<double>(), summary["trials_16"].get<double>(), summary["random_16"].get<double>(),
        summary["trials_64"].get<double>(), summary["random_64"].get<double>(),
        summary["worst_seed_at_64"].get<double>());
}

std::string machine_name() {
    utsname name{};
    return ::uname(&name) == 0 ? name.nodename : "unknown";
}

struct BenchOptions {
    bool json = false;
    std::string device = "cpu";
    std::string only;  ///< problems whose kernel's name has this in it
};

Json bench(const BenchOptions& options) {
    Json problems = Json::array();
    for (const Problem& problem : options.device == "cpu" ? kProblems : kSmallProblems) {
        if (std::string(problem.kernel).find(options.only) == std::string::npos) continue;
        tools::KernelOptions asked;
        asked.file = problem.file;
        asked.kernel = problem.kernel;
        asked.definitions = problem.definitions;
        asked.device = options.device;
        const runtime::CapturedLaunch launch = tools::launches_of(asked, {problem.sizes}).front();
        const auto module = tools::load_module(problem.file);
        const autotune::Task task = autotune::make_task(module, launch, {});
        problems.push_back(to_json(run(launch, task, module), task));
        if (!options.json) print_row(problems.back());
    }
    return problems;
}

const char* objective(const BenchOptions& options) {
    return options.device == "cpu" ? "processor time of one thread"
                                   : "cycles modelled from what an emulated device counted: no times";
}

int run_all(const BenchOptions& options) {
    if (!options.json) {
        fmt::print("objective: {}\n", objective(options));
        print_header();
    }
    const Json problems = bench(options);
    const Json all = summary_of(problems, 0), large = summary_of(problems, kBudgets[0]),
               larger = summary_of(problems, kBudgets[1]);
    if (options.json) {
        const Json json = {{"machine", machine_name()},
                           {"device", Device::open(options.device).description()},
                           {"units", Device::open(options.device).units()},
                           {"objective", objective(options)},
                           {"aims", {{"trials_0", kAims[0]}, {"trials_16", kAims[1]}, {"trials_64", kAims[2]}}},
                           {"all", all},
                           {"spaces_over_16", large},
                           {"spaces_over_64", larger},
                           {"problems", problems}};
        fmt::print("{}\n", json.dump(2));
        return 0;
    }
    print_summary("all", all);
    print_summary("spaces of more than 16", large);
    print_summary("spaces of more than 64", larger);
    fmt::print("aims: 0 trials {}, 16 trials {}, 64 trials {}, worst seed 0.97\n", kAims[0], kAims[1], kAims[2]);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    ::setenv("KILN_THREADS", "1", 0);
    ::setenv("KILN_TUNING", "off", 1);
    BenchOptions options;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--json") {
            options.json = true;
        } else if (word == "--device" && i + 1 < argc) {
            options.device = argv[++i];
        } else {
            options.only = word;
        }
    }
    const std::string report = fmt::format("/tmp/kiln-bench-tuner-{}.jsonl", ::getpid());
    if (options.device != "cpu") ::setenv("EMULATED_GPU_REPORT", report.c_str(), 1);
    int code = 1;
    try {
        code = run_all(options);
    } catch (const Error& error) {
        fmt::print(stderr, "{}\n", error.what());
    }
    ::unlink(report.c_str());
    return code;
}
