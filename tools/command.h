// The commands of the `kiln` program. Each file of this folder is one command: it adds its options to the command line
// and sets what runs.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "kiln/error.hpp"

namespace kiln::tools {

/// Exit codes of every command.
enum ExitCode : int {
    kSuccess = 0,
    kUserError = 1,      ///< diagnostics, wrong arguments of a launch, findings of `check`
    kUsage = 2,          ///< the command line itself
    kNotVerified = 3,    ///< a result lies outside its bound
    kUnavailable = 4,    ///< the device or a compiler is missing or refused
    kInternalError = 70  ///< a broken invariant of Kiln's own
};

/// What the options say is not possible; ends the command with kUserError.
inline Error user_error(const std::string& message) {
    return Error(ErrorKind::user, message);
}

/// What the chosen command does; returns an exit code.
using Action = std::function<int()>;

void add_run(CLI::App& program, Action& action);
void add_emit(CLI::App& program, Action& action);
void add_check(CLI::App& program, Action& action);
void add_format(CLI::App& program, Action& action);
void add_doctor(CLI::App& program, Action& action);
void add_demo(CLI::App& program, Action& action);
void add_bench(CLI::App& program, Action& action);
void add_tune(CLI::App& program, Action& action);
void add_tuning_worker(CLI::App& program, Action& action);
void add_explain(CLI::App& program, Action& action);
void add_report(CLI::App& program, Action& action);
void add_tuning(CLI::App& program, Action& action);

}  // namespace kiln::tools
