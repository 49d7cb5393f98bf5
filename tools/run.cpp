// kiln run: make arguments, launch, time, and verify on request.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runtime/verify.h"
#include "tools/measure.h"
#include "tools/request.h"

namespace kiln::tools {

namespace {

using Json = nlohmann::json;

struct RunOptions : KernelOptions {
    bool verify = false;
};

std::string_view source_name(LaunchInfo::Source source) {
    switch (source) {
        case LaunchInfo::Source::memory:
            return "memory";
        case LaunchInfo::Source::disk:
            return "disk";
        case LaunchInfo::Source::compiled:
            return "compiled";
    }
    return "compiled";
}

/// JSON has no infinities.
Json number(double value) {
    return std::isfinite(value) ? Json(value) : Json(fmt::format("{}", value));
}

Json to_json(const runtime::OutputReport& output) {
    Json json = {{"name", output.name},
                 {"dtype", std::string(ir::name(output.element))},
                 {"compared", output.compared},
                 {"failed", output.failed},
                 {"error", number(output.largest_error)},
                 {"bound", number(output.bound)},
                 {"error_over_bound", number(output.error_over_bound)}};
    if (output.worst) {
        json["worst"] = {{"index", output.worst->index},
                         {"value", number(output.worst->value)},
                         {"reference", number(output.worst->reference)},
                         {"allowed", number(output.worst->allowed)}};
    }
    return json;
}

Json to_json(const runtime::VerifyReport& report) {
    Json outputs = Json::array();
    for (const runtime::OutputReport& output : report.outputs) outputs.push_back(to_json(output));
    return {{"passed", report.passed},
            {"reference", report.reference},
            {"reference_programs", report.reference_programs},
            {"programs_run", report.programs},
            {"outputs", outputs}};
}

std::string join(const std::map<std::string, std::string>& values) {
    std::string text;
    for (const auto& [name, value] : values) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
    return text.empty() ? "none" : text;
}

void print(const runtime::VerifyReport& report) {
    fmt::print("reference   {} ({} of {} grid points)\n", report.reference, report.programs, report.reference_programs);
    for (const runtime::OutputReport& output : report.outputs) {
        fmt::print("{:<11} {}: {} elements compared, largest error {:.3g} where {:.3g} is allowed, {} outside\n",
                   output.name, output.failed == 0 ? "correct" : "WRONG", output.compared, output.largest_error,
                   output.bound, output.failed);
        if (output.worst) {
            fmt::print("            {}[{}]: {}, reference {}, allowed {:.3g}\n", output.name,
                       fmt::join(output.worst->index, ", "), output.worst->value, output.worst->reference,
                       output.worst->allowed);
        }
    }
}

struct RunResult {
    const LaunchInfo& info;
    double seconds = 0;  ///< of a launch
    std::uint64_t bytes = 0;
    std::optional<runtime::VerifyReport> report;
};

void print_json(const std::string& kernel, const Device& device, const RunResult& result) {
    Json json = {{"kernel", kernel},
                 {"device", device.name()},
                 {"generics", result.info.generics},
                 {"tunables", result.info.tunables},
                 {"choice", name(result.info.choice)},
                 {"chosen_from", result.info.chosen_from},
                 {"source", source_name(result.info.source)},
                 {"compile_ms", result.info.seconds * 1e3},
                 {"run_ms", result.seconds * 1e3},
                 {"bytes", result.bytes}};
    if (result.report) json["verify"] = to_json(*result.report);
    fmt::print("{}\n", json.dump(2));
}

void print_text(const std::string& kernel, const Device& device, const RunResult& result) {
    fmt::print("kernel      {} on {}\ngenerics    {}\ntunables    {} ({}{}{})\n", kernel, device.description(),
               join(result.info.generics), join(result.info.tunables), name(result.info.choice),
               result.info.chosen_from.empty() ? "" : ": ", result.info.chosen_from);
    fmt::print("code        {:.2f} ms ({})\nrun         {:.4f} ms\n", result.info.seconds * 1e3,
               source_name(result.info.source), result.seconds * 1e3);
    if (result.report) print(*result.report);
}

int run(const RunOptions& options) {
    const auto kernel = make_kernel(options);
    const Device device = Device::open(options.device);
    const runtime::DeviceBackend& backend = *device.stream().backend();
    const RunArguments run_arguments(*kernel, options, Memory::Filled);
    const DeviceArguments arguments(device, run_arguments.arguments());
    const auto prepared = kernel->prepare(backend, arguments.list());
    RunResult result{prepared->info(), 0, run_arguments.bytes(), {}};
    if (options.verify) result.report = runtime::verify(*kernel, backend, arguments.list(), options.seed);
    const auto launch = [&] { prepared->bound().run(); };
    result.seconds = backend.has_own_memory() ? queued_seconds(device.stream(), launch) : median_seconds(launch);
    if (options.json) {
        print_json(kernel->name(), device, result);
    } else {
        print_text(kernel->name(), device, result);
    }
    return !result.report || result.report->passed ? kSuccess : kNotVerified;
}

}  // namespace

void add_run(CLI::App& program, Action& action) {
    auto options = std::make_shared<RunOptions>();
    CLI::App* command = program.add_subcommand("run", "launch a kernel on random arguments, and verify it");
    add_kernel_options(*command, *options);
    command->add_flag("--verify", options->verify, "compare with the kernel's reference");
    command->footer(
        "Examples:\n  kiln run kiln/gemm.kiln gemm -D T=bf16 --size M=97,N=203,K=64 --with bias --verify\n"
        "  kiln run kiln/attention.kiln attention -D T=bf16,causal=true --size B=2,H=6,HK=2,M=97,N=203,D=80 --verify\n"
        "Tensors are drawn from the normal distribution by --seed. Exit code 3: a result lies outside its bound.");
    command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace kiln::tools
