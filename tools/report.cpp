// kiln report: what the store holds, as one page.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "autotune/candidates.h"
#include "autotune/tune.h"
#include "tools/problems.h"
#include "tools/report_page.h"

namespace kiln::tools {

namespace {

struct ReportCommand {
    std::string kernel, out = "kiln-report.html", store;
};

std::string title_of(const runtime::TuningProblem& problem) {
    std::string text = problem.name;
    for (const auto& [name, value] : problem.generics) text += fmt::format(" {}={}", name, value);
    for (const auto& [name, value] : problem.sizes) text += fmt::format(" {}={}", name, value);
    return text;
}

/// A second's worth.
struct Peak {
    double operations = 0, bytes = 0;
};

Peak peak_of(const codegen::configure::CpuMachine& machine) {
    const double lanes = machine.target.vector_bytes / 4.0;
    return {2 * lanes * machine.fma_per_cycle * machine.cycles_per_second * machine.threads,
            machine.shared_far_bytes_per_second};
}

/// Of the fastest units there are: which of them a kernel may use is for the compiler to say.
Peak peak_of(const codegen::configure::GpuMachine& machine) {
    const double rate = std::max(machine.f32_per_cycle, machine.matrix_f16_per_cycle);
    return {2 * rate * machine.cycles_per_second * static_cast<double>(machine.units), machine.memory_bytes_per_second};
}

/// The model's count of operations and bytes, where the kernel's text is still there and unchanged.
std::optional<Roofline> roofline_of(const runtime::Measurement& row) {
    try {
        const auto module = load_module(row.problem.file);
        if (runtime::kernel_identity(module->program(), row.problem.name) != row.problem.kernel) return std::nullopt;
        auto launch = autotune::launch_of(row.problem, module->find(row.problem.name), row.device.name);
        if (!launch) return std::nullopt;
        launch->generics = row.problem.generics;
        const auto backend = Device::open(row.device.name).stream().backend();
        const autotune::Candidates candidates =
            autotune::make_candidates(*autotune::kernel_of(module, *launch), *launch, *backend, {.most = 1});
        const auto& first =
            *std::find_if(candidates.list.begin(), candidates.list.end(),
                          [](const autotune::Candidate& candidate) { return candidate.exclusion.empty(); });
        const Peak peak =
            std::visit([](const auto& machine) { return peak_of(machine); }, autotune::machine_of(*backend, true));
        return Roofline{first.prediction.operations, first.prediction.compulsory_bytes, peak.operations, peak.bytes};
    } catch (const Error&) {
        return std::nullopt;  // a text that is gone or changed has no roofline; its rows still count
    }
}

std::vector<ReportSection> sections_of(std::vector<runtime::Measurement> rows) {
    std::stable_sort(rows.begin(), rows.end(), [](const runtime::Measurement& a, const runtime::Measurement& b) {
        return a.taken_ms < b.taken_ms;
    });
    std::vector<ReportSection> sections;
    for (runtime::Measurement& row : rows) {
        const std::string title = title_of(row.problem), device = row.device.name + ": " + row.device.description;
        auto section = std::find_if(sections.begin(), sections.end(), [&](const ReportSection& other) {
            return other.title == title && other.device == device;
        });
        if (section == sections.end()) {
            sections.push_back({title, device, {}, std::nullopt});
            section = sections.end() - 1;
        }
        section->rows.push_back(std::move(row));
    }
    for (ReportSection& section : sections) section.roofline = roofline_of(section.rows.front());
    return sections;
}

int report(const ReportCommand& command) {
    if (!command.store.empty()) {
        runtime::StoreOptions options = runtime::StoreOptions::from_environment();
        options.file = command.store;
        options.private_folder = false;
        options.read_only = true;
        runtime::replace_tuning_store(std::make_shared<runtime::TuningStore>(options));
    }
    runtime::RowFilter filter;
    filter.kernel = command.kernel;
    const std::vector<ReportSection> sections = sections_of(runtime::tuning_store()->rows(filter));
    if (sections.empty()) throw Error(ErrorKind::user, "the store holds no rows to report; `kiln tune` makes some");
    std::ofstream file(command.out, std::ios::binary);
    file << report_page(sections);
    if (!file.flush()) throw Error(ErrorKind::user, fmt::format("`{}` cannot be written", command.out));
    fmt::print("{}: {} problems\n", command.out, sections.size());
    return kSuccess;
}

}  // namespace

void add_report(CLI::App& program, Action& action) {
    auto options = std::make_shared<ReportCommand>();
    CLI::App* command = program.add_subcommand("report", "write what was measured as one HTML page");
    command->add_option("kernel", options->kernel, "only this kernel");
    command->add_option("-o,--out", options->out, "the page (kiln-report.html)");
    command->add_option("--store", options->store, "the database, in place of the user's own");
    command->footer("Example:\n  kiln report gemm -o gemm.html");
    command->callback([options, &action] { action = [options] { return report(*options); }; });
}

}  // namespace kiln::tools
