// kiln explain: what bounds a kernel, why a configuration was chosen or excluded, and what other devices would do.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "autotune/inputs.h"
#include "autotune/statistics.h"
#include "autotune/tune.h"
#include "codegen/configure/machine.h"
#include "codegen/cpu/held_reads.h"
#include "ir/passes/pipeline.h"
#include "runtime/argument_facts.h"
#include "tools/diagnostics_json.h"
#include "tools/problems.h"

namespace kiln::tools {

namespace {

using Json = nlohmann::json;
namespace configure = codegen::configure;

struct ExplainCommand : KernelOptions {
    std::vector<std::string> problems;
    std::string target;  ///< in place of a device
    bool wide = false;
};

struct Explained {
    runtime::CapturedLaunch launch;
    autotune::Task task;
    std::vector<std::optional<runtime::Measurement>> rows;  ///< by configuration: the last measured
    std::shared_ptr<const runtime::StoredMatch> match;
    std::vector<std::size_t> order;  ///< of the configurations: the model's
    std::size_t chosen = 0;
    std::shared_ptr<const runtime::ModuleState> module;
    frontend::Request request;
    ir::Shortfalls shortfalls;  ///< of the performance contract, in the chosen configuration
};

bool is_timed(const std::optional<runtime::Measurement>& row) {
    return row && row->seconds > 0 &&
           (row->verdict == runtime::Verdict::Verified || row->verdict == runtime::Verdict::Unchecked);
}

/// Where the performance contract does not hold.
ir::Shortfalls find_shortfalls(const Explained& explained) {
    frontend::Request request = explained.request;
    const ir::Configuration& chosen = explained.task.candidates.space[explained.chosen];
    request.tunables = chosen.tunables;
    request.schedule = chosen.schedule;
    support::Diagnostics diagnostics;
    auto specialisation = frontend::specialise(explained.module->program(), request, diagnostics);
    if (!specialisation) throw Error(ErrorKind::user, diagnostics.render(explained.module->program().sources));
    ir::Shortfalls shortfalls = ir::run_tile_passes(specialisation->kernel);
    if (request.targets.front() == "cpu") {
        const ir::Shortfalls held = codegen::cpu::held_reads(specialisation->kernel);
        shortfalls.insert(shortfalls.end(), held.begin(), held.end());
    }
    return shortfalls;
}

/// The request of a launch on a target that need not be present.
frontend::Request target_request(const runtime::KernelState& kernel, std::span<const Argument* const> matched,
                                 const configure::GpuMachine& machine) {
    frontend::Request request = kernel.base_request();
    request.parameters = runtime::describe_arguments(kernel.signature(), matched);
    runtime::add_facts(request, kernel.signature(), matched);
    request.targets = machine.target.schedule_names;
    request.units = machine.units;
    return request;
}

/// Of a target without a device nothing can be stored: its task has candidates alone.
autotune::Task target_task(const Explained& explained, const runtime::KernelState& kernel,
                           const configure::GpuMachine& machine, bool wide) {
    autotune::Task task{{},
                        {},
                        autotune::make_candidates(explained.module->program(), kernel.signature(), explained.request,
                                                  explained.launch, machine, {.wide = wide}),
                        {},
                        {},
                        true};
    for (const auto& configuration : task.candidates.space.configurations()) {
        task.stored.push_back(runtime::to_configuration(kernel.signature(), configuration, machine.units));
    }
    return task;
}

configure::GpuMachine machine_named(const std::string& target) {
    const codegen::gpu::FoundTarget found = codegen::gpu::find_target(target);
    if (found.target == nullptr) throw Error(ErrorKind::user, found.note);
    return configure::gpu_machine(*found.target);
}

/// What the store says of the configurations.
void look_up(Explained& explained) {
    const autotune::Task& task = explained.task;
    const auto store = runtime::tuning_store();
    for (runtime::Measurement& row : store->measurements(task.problem, task.device)) {
        const auto place = std::find(task.stored.begin(), task.stored.end(), row.configuration);
        if (place != task.stored.end())
            explained.rows[static_cast<std::size_t>(place - task.stored.begin())] = std::move(row);
    }
    explained.match = store->find(task.problem, task.device);
    if (!explained.match) return;
    const auto place = std::find(task.stored.begin(), task.stored.end(), explained.match->measurement.configuration);
    if (place == task.stored.end()) {
        explained.match = nullptr;
    } else {
        explained.chosen = static_cast<std::size_t>(place - task.stored.begin());
    }
}

Explained explain_one(const runtime::CapturedLaunch& launch, const ExplainCommand& command) {
    const auto module = load_module(launch.file);
    Explained result{launch, {{}, {}, {configure::Space({}), {}, 0, 0}, {}, {}, true}, {}, {}, {}, 0, module, {}, {}};
    const auto kernel = autotune::kernel_of(module, launch);
    const auto shapes = autotune::LaunchArguments::shapes(launch);
    const auto matched = runtime::match_arguments(kernel->signature(), shapes.arguments());
    if (command.target.empty()) {
        result.request = kernel->request(*Device::open(launch.device).stream().backend(), matched);
        result.task = autotune::make_task(module, launch, {.wide = command.wide});
    } else {
        const configure::GpuMachine machine = machine_named(command.target);
        result.request = target_request(*kernel, matched, machine);
        result.task = target_task(result, *kernel, machine, command.wide);
    }
    const std::vector<double> predictions = result.task.candidates.predictions();
    for (std::size_t i = 0; i < predictions.size(); ++i) result.order.push_back(i);
    std::stable_sort(result.order.begin(), result.order.end(),
                     [&](std::size_t a, std::size_t b) { return predictions[a] < predictions[b]; });
    result.chosen = result.order.front();
    result.rows.resize(predictions.size());
    if (command.target.empty()) look_up(result);
    result.shortfalls = find_shortfalls(result);
    return result;
}

std::string how_chosen(const Explained& explained) {
    if (!explained.match) return "by the cost model: nothing is stored";
    const std::string time = fmt::format("{:.4g} ms", explained.match->measurement.seconds * 1e3);
    switch (explained.match->kind) {
        case runtime::MatchKind::Exact:
            return "measured for exactly this problem: " + time;
        case runtime::MatchKind::NearestShape:
            return fmt::format("measured for the nearest sizes ({}), {:.2f} doublings away", time,
                               explained.match->distance);
        case runtime::MatchKind::NearestDevice:
            return "measured on the nearest device: " + time;
    }
    return {};
}

struct Compared {
    std::vector<double> predicted, measured;
};

Compared compared(const Explained& explained) {
    Compared result;
    for (std::size_t i = 0; i < explained.rows.size(); ++i) {
        if (!is_timed(explained.rows[i]) || !explained.task.candidates.list[i].exclusion.empty()) continue;
        result.predicted.push_back(explained.task.candidates.list[i].prediction.seconds);
        result.measured.push_back(explained.rows[i]->seconds);
    }
    return result;
}

/// The least time that a device's peak rates allow, and which of them it is.
std::pair<double, const char*> roof_seconds(const configure::DeviceRow& device,
                                            const configure::Prediction& prediction) {
    const double compute = prediction.dot_operations / (device.matrix_tflops * 1e12) +
                           (prediction.operations - prediction.dot_operations) / (device.f32_tflops * 1e12);
    const double memory = prediction.compulsory_bytes / (device.terabytes_per_second * 1e12);
    return {std::max(compute, memory), compute > memory ? "compute" : "memory"};
}

void print_terms(const configure::Prediction& prediction) {
    for (const configure::Term& term : prediction.terms) {
        if (term.seconds < 0.005 * prediction.seconds) continue;
        fmt::print("    {:<10} {:>5.1f}%  {:>9.4g} ms  {}\n", term.name, 100 * term.seconds / prediction.seconds,
                   term.seconds * 1e3, term.meaning);
    }
}

void print_contract(const Explained& explained) {
    fmt::print("  contract   {}\n", explained.shortfalls.empty()
                                        ? "holds (docs/language.md, section 11)"
                                        : "does not hold everywhere (docs/language.md, section 11)");
    const support::SourceMap& sources = explained.module->program().sources;
    for (const ir::Shortfall& shortfall : explained.shortfalls) {
        const support::Location at = sources.locate(shortfall.span.source, shortfall.span.begin);
        fmt::print("    ({})  {}:{}:{}: {}\n", shortfall.clause, sources.name(shortfall.span.source), at.line,
                   at.column, shortfall.reason);
    }
}

void print_configurations(const Explained& explained) {
    fmt::print("\n  configurations, the model's best first\n    {:<36} {:>12} {:>12}\n", "", "predicted ms",
               "measured ms");
    for (const std::size_t i : explained.order) {
        const autotune::Candidate& candidate = explained.task.candidates.list[i];
        const auto& row = explained.rows[i];
        const std::string name = runtime::to_string(explained.task.stored[i]);
        if (!candidate.exclusion.empty()) {
            fmt::print("    {:<36} excluded: {}\n", name, candidate.exclusion);
            continue;
        }
        std::string measured = is_timed(row) ? fmt::format("{:.4g}", row->seconds * 1e3) : "-";
        std::string remark = i == explained.chosen ? "  <- chosen" : "";
        if (row && !is_timed(row)) remark += fmt::format("  {}: {}", runtime::verdict_name(row->verdict), row->reason);
        fmt::print("    {:<36} {:>12.4g} {:>12}{}\n", name, candidate.prediction.seconds * 1e3, measured, remark);
    }
    if (const std::size_t left_out = explained.task.candidates.same_code; left_out > 0) {
        fmt::print("    {} more make the same code as one of these\n", left_out);
    }
}

void print(const Explained& explained) {
    const configure::Prediction& prediction = explained.task.candidates.list[explained.chosen].prediction;
    fmt::print("{}\n  chosen     {}\n             {}\n", title(explained.launch),
               runtime::to_string(explained.task.stored[explained.chosen]), how_chosen(explained));
    const auto& row = explained.rows[explained.chosen];
    fmt::print("  predicted  {:.4g} ms{}\n", prediction.seconds * 1e3,
               is_timed(row) ? fmt::format(", measured {:.4g} ms", row->seconds * 1e3) : "");
    fmt::print("  bound by   {}\n", prediction.terms.front().name);
    print_terms(prediction);
    for (const std::string& phase : prediction.placement) fmt::print("  placed     {}\n", phase);
    fmt::print("  work       {:.4g} Gflop, {:.4g} MB at least, {:.4g} operations a byte\n", prediction.operations / 1e9,
               prediction.compulsory_bytes / 1e6, prediction.operations / std::max(prediction.compulsory_bytes, 1.0));
    print_contract(explained);
    print_configurations(explained);
    const Compared pairs = compared(explained);
    if (const auto correlation = autotune::rank_correlation(pairs.predicted, pairs.measured)) {
        fmt::print(
            "\n  the model orders {} measured configurations with a rank correlation of {:.2f}; its pick reaches "
            "{:.3f} of "
            "the best\n",
            pairs.measured.size(), *correlation, *autotune::pick_quality(pairs.predicted, pairs.measured));
    }
    fmt::print("\n  the least time that other devices' peak rates allow\n");
    for (const configure::DeviceRow& device : configure::device_table()) {
        const auto [seconds, bound] = roof_seconds(device, prediction);
        fmt::print("    {:<10} {:>9.4g} us, bound by {:<8} ({:g} Tflop/s, {:g} TB/s: {})\n", device.name, seconds * 1e6,
                   bound, device.matrix_tflops, device.terabytes_per_second, device.source);
    }
}

Json to_json(const Explained& explained) {
    Json configurations = Json::array();
    for (const std::size_t i : explained.order) {
        const autotune::Candidate& candidate = explained.task.candidates.list[i];
        Json json = {{"configuration", runtime::to_string(explained.task.stored[i])},
                     {"chosen", i == explained.chosen}};
        if (!candidate.exclusion.empty()) {
            json["excluded"] = candidate.exclusion;
        } else {
            json["predicted_seconds"] = candidate.prediction.seconds;
        }
        if (const auto& row = explained.rows[i]) {
            json["verdict"] = runtime::verdict_name(row->verdict);
            json["measured_seconds"] = row->seconds;
            if (!row->reason.empty()) json["reason"] = row->reason;
        }
        configurations.push_back(json);
    }
    const configure::Prediction& prediction = explained.task.candidates.list[explained.chosen].prediction;
    Json terms = Json::array(), devices = Json::array();
    for (const configure::Term& term : prediction.terms) {
        terms.push_back({{"name", term.name}, {"seconds", term.seconds}, {"meaning", term.meaning}});
    }
    for (const configure::DeviceRow& device : configure::device_table()) {
        const auto [seconds, bound] = roof_seconds(device, prediction);
        devices.push_back({{"device", device.name}, {"seconds", seconds}, {"bound", bound}, {"source", device.source}});
    }
    Json contract = Json::array();
    for (const ir::Shortfall& shortfall : explained.shortfalls) {
        contract.push_back({{"clause", std::string(1, shortfall.clause)},
                            {"reason", shortfall.reason},
                            {"at", tools::to_json(shortfall.span, explained.module->program().sources)}});
    }
    Json json = {{"problem", title(explained.launch)},   {"contract", contract},
                 {"how", how_chosen(explained)},         {"operations", prediction.operations},
                 {"bytes", prediction.compulsory_bytes}, {"terms", terms},
                 {"placement", prediction.placement},    {"same_code", explained.task.candidates.same_code},
                 {"configurations", configurations},     {"devices", devices}};
    const Compared pairs = compared(explained);
    if (const auto correlation = autotune::rank_correlation(pairs.predicted, pairs.measured)) {
        json["rank_correlation"] = *correlation;
        json["pick_quality"] = *autotune::pick_quality(pairs.predicted, pairs.measured);
    }
    return json;
}

int explain(const ExplainCommand& command) {
    Json json = Json::array();
    for (const runtime::CapturedLaunch& launch : launches_of(command, command.problems)) {
        const Explained explained = explain_one(launch, command);
        if (command.json) {
            json.push_back(to_json(explained));
        } else {
            print(explained);
        }
    }
    if (command.json) fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
    return kSuccess;
}

}  // namespace

void add_explain(CLI::App& program, Action& action) {
    auto options = std::make_shared<ExplainCommand>();
    CLI::App* command = program.add_subcommand("explain", "say what bounds a kernel and why a configuration is chosen");
    add_kernel_options(*command, *options);
    command->remove_option(command->get_option("--size"));
    command->add_option("--size", options->problems, "a problem: M=512,N=512; again for another; ranges: M=64..4096*2");
    command->add_option("--target", options->target, "a GPU that need not be here: sm_90a, gfx942, ...")
        ->excludes("--device");
    command->add_flag("--wide", options->wide, "also what `schedule` leaves out of the choices of `tune`");
    command->footer(
        "Example:\n  kiln explain kiln/gemm.kiln gemm -D T=f32 --size M=512,N=512,K=512 --wide\n"
        "  kiln explain kiln/gemm.kiln gemm -D T=bf16 --size M=4096,N=4096,K=4096 --target gfx942\n"
        "Nothing is compiled or run: measured times are those that `kiln tune` has stored.");
    command->callback([options, &action] { action = [options] { return explain(*options); }; });
}

}  // namespace kiln::tools
