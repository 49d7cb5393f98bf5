#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "autotune/launch_model.h"
#include "ir/support/internal_error.h"
#include "kiln/kiln.hpp"
#include "tools/command.h"

namespace kiln::tools {
namespace {

constexpr const char* kFooter = R"(Examples:
  kiln run library/vector_add.kiln vector_add -D T=f32 --size N=1000 --verify
  kiln emit kiln/gemm.kiln gemm -D T=bf16 --as asm
  kiln check my_kernel.kiln
  kiln COMMAND --help

Exit codes:
  0 success   1 an error in a kernel or its arguments   2 a wrong command line   3 a result outside its bound
  4 a device or compiler is missing   70 an internal error of Kiln (please report it))";

int exit_code(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::user: return kUserError;
        case ErrorKind::device:
        case ErrorKind::compiler: return kUnavailable;
        case ErrorKind::internal: return kInternalError;
    }
    return kInternalError;
}

std::string_view kind_name(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::user: return "user";
        case ErrorKind::device: return "device";
        case ErrorKind::compiler: return "compiler";
        case ErrorKind::internal: return "internal";
    }
    return "internal";
}

int report(const Error& error, bool json) {
    if (json) {
        const nlohmann::json text = {{"error", {{"kind", kind_name(error.kind())}, {"message", error.what()}}}};
        fmt::print("{}\n", text.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    } else {
        const std::string_view message = error.what();
        fmt::print(stderr, "{}{}", message, message.ends_with('\n') ? "" : "\n");
    }
    return exit_code(error.kind());
}

bool asks_for_json(const CLI::App& command) {
    const CLI::Option* option = command.get_option_no_throw("--json");
    if (option != nullptr && option->count() > 0) return true;
    const std::vector<const CLI::App*> nested = command.get_subcommands([](const CLI::App*) { return true; });
    return std::any_of(nested.begin(), nested.end(), [](const CLI::App* part) { return part->parsed() && asks_for_json(*part); });
}

int run(int argc, char** argv) {
    CLI::App program("Kiln: tile kernels, compiled at run time for the device they run on", "kiln");
    program.set_version_flag("--version", std::string("kiln ") + version());
    program.footer(kFooter);
    program.require_subcommand(1);
    autotune::install_launch_model();
    Action action;
    add_run(program, action);
    add_emit(program, action);
    add_check(program, action);
    add_format(program, action);
    add_doctor(program, action);
    add_demo(program, action);
    add_bench(program, action);
    add_tune(program, action);
    add_tuning_worker(program, action);
    add_explain(program, action);
    add_report(program, action);
    add_tuning(program, action);
    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return program.exit(error) == 0 ? kSuccess : kUsage;
    }
    const bool json = asks_for_json(program);
    try {
        return action();
    } catch (const Error& error) {
        return report(error, json);
    } catch (const std::exception& error) {
        return report(Error(ErrorKind::internal, error.what()), json);
    }
}

}  // namespace
}  // namespace kiln::tools

int main(int argc, char** argv) { return kiln::tools::run(argc, argv); }
