#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <nlohmann/json.hpp>

#include "autotune/launch_model.h"
#include "kiln/kiln.hpp"
#include "tools/command.h"

namespace kiln::tools {
namespace {

constexpr const char* kFooter = R"(Examples:
  kiln run kiln/vector_add.kiln vector_add -D T=f32 --size N=1000 --verify
  kiln emit kiln/gemm.kiln gemm -D T=bf16 --as asm
  kiln check my_kernel.kiln
  kiln COMMAND --help

Exit codes:
  0 success   1 an error in a kernel or its arguments   2 a wrong command line   3 a result outside its bound
  4 a device or compiler is missing   70 an internal error of Kiln (please report it))";

int exit_code(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::user:
            return kUserError;
        case ErrorKind::device:
        case ErrorKind::compiler:
            return kUnavailable;
        case ErrorKind::internal:
            return kInternalError;
    }
    return kInternalError;
}

std::string_view kind_name(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::user:
            return "user";
        case ErrorKind::device:
            return "device";
        case ErrorKind::compiler:
            return "compiler";
        case ErrorKind::internal:
            return "internal";
    }
    return "internal";
}

/// The one form in which a command that was told --json reports that it failed.
void print_error(std::string_view kind, const std::string& message) {
    const nlohmann::json text = {{"error", {{"kind", kind}, {"message", message}}}};
    fmt::print("{}\n", text.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

int report(const Error& error, bool json) {
    if (json) {
        print_error(kind_name(error.kind()), error.what());
    } else {
        const std::string_view message = error.what();
        fmt::print(stderr, "{}{}", message, message.ends_with('\n') ? "" : "\n");
    }
    return exit_code(error.kind());
}

/// Help and version are successes; anything else is a wrong command line.
int report_usage(const CLI::App& program, const CLI::ParseError& error, bool json) {
    if (error.get_exit_code() != 0 && json) {
        print_error("usage", error.what());
        return kUsage;
    }
    return program.exit(error) == 0 ? kSuccess : kUsage;
}

int perform(const Action& action, bool json) {
    try {
        return action();
    } catch (const Error& error) {
        return report(error, json);
    } catch (const std::bad_alloc&) {
        return report(Error(ErrorKind::device, "there is not enough memory"), json);
    } catch (const std::exception& error) {
        return report(Error(ErrorKind::internal, error.what()), json);
    }
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
    add_lsp(program, action);
    add_tuning(program, action);
    // Looked for by hand, since a command line that does not parse must be reported in this form, too.
    const bool json =
        std::any_of(argv, argv + argc, [](const char* word) { return std::string_view(word) == "--json"; });
    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return report_usage(program, error, json);
    }
    return perform(action, json);
}

}  // namespace
}  // namespace kiln::tools

int main(int argc, char** argv) {
    return kiln::tools::run(argc, argv);
}
