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
        case LaunchInfo::Source::memory: return "memory";
        case LaunchInfo::Source::disk: return "disk";
        case LaunchInfo::Source::compiled: return "compiled";
    }
    return "compiled";
}

/// JSON has no infinities.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(fmt::format("{}", value)); }

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

int run(const RunOptions& options) {
    const auto kernel = make_kernel(options);
    const Device device = Device::open(options.device);
    const runtime::DeviceBackend& backend = *device.stream().backend();
    const RunArguments run_arguments(*kernel, options);
    const auto prepared = kernel->prepare(backend, run_arguments.arguments());
    const LaunchInfo& info = prepared->info();
    std::optional<runtime::VerifyReport> report;
    if (options.verify) report = runtime::verify(*kernel, backend, run_arguments.arguments(), options.seed);
    const double seconds = median_seconds([&] { prepared->bound().run(); });
    if (options.json) {
        Json json = {{"kernel", kernel->name()},
                     {"device", device.name()},
                     {"generics", info.generics},
                     {"tunables", info.tunables},
                     {"choice", name(info.choice)},
                     {"chosen_from", info.chosen_from},
                     {"source", source_name(info.source)},
                     {"compile_ms", info.seconds * 1e3},
                     {"run_ms", seconds * 1e3},
                     {"bytes", run_arguments.bytes()}};
        if (report) json["verify"] = to_json(*report);
        fmt::print("{}\n", json.dump(2));
    } else {
        fmt::print("kernel      {} on {}\ngenerics    {}\ntunables    {} ({}{}{})\n", kernel->name(), device.description(),
                   join(info.generics), join(info.tunables), name(info.choice), info.chosen_from.empty() ? "" : ": ",
                   info.chosen_from);
        fmt::print("code        {:.2f} ms ({})\nrun         {:.4f} ms\n", info.seconds * 1e3, source_name(info.source),
                   seconds * 1e3);
        if (report) print(*report);
    }
    return !report || report->passed ? kSuccess : kNotVerified;
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
