// kiln check: every diagnostic of a file, without a launch.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "frontend/specialise.h"
#include "runtime/state.h"
#include "tools/command.h"
#include "tools/diagnostics_json.h"

namespace kiln::tools {

namespace {

struct CheckOptions {
    std::vector<std::string> files;
    bool json = false;
};

int check(const CheckOptions& options) {
    nlohmann::json json = nlohmann::json::array();
    bool failed = false;
    for (const std::string& file : options.files) {
        support::Diagnostics diagnostics;
        const frontend::Program program =
            frontend::load_program(file, runtime::with_standard_library(frontend::read_file), diagnostics);
        if (!diagnostics.has_errors()) frontend::check_bodies(program, diagnostics);
        failed |= diagnostics.has_errors();
        if (options.json) {
            for (const support::Diagnostic& diagnostic : diagnostics.all()) {
                json.push_back(to_json(diagnostic, program.sources));
            }
        } else {
            fmt::print(stderr, "{}", diagnostics.render(program.sources));
            if (diagnostics.all().empty()) fmt::print("{}: no errors\n", file);
        }
    }
    if (options.json) fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return failed ? kUserError : kSuccess;
}

}  // namespace

void add_check(CLI::App& program, Action& action) {
    auto options = std::make_shared<CheckOptions>();
    CLI::App* command = program.add_subcommand("check", "report every error of .kiln files");
    command->add_option("files", options->files, "the files")->required();
    command->add_flag("--json", options->json, "print JSON");
    command->footer(
        "Example:\n  kiln check my_kernel.kiln\nEach kernel is checked with representative types and sizes.");
    command->callback([options, &action] { action = [options] { return check(*options); }; });
}

}  // namespace kiln::tools
