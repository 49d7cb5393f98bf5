// kiln tuning-worker: the process in which trials run (autotune/serve.h). Not for people.
#include <unistd.h>

#include <cstdlib>

#include "autotune/kernel_trials.h"
#include "tools/command.h"

namespace kiln::tools {

void add_tuning_worker(CLI::App& program, Action& action) {
    CLI::App* command = program.add_subcommand("tuning-worker", "does the trials of `kiln tune`");
    command->group("");  // not listed by --help
    command->callback([&action] {
        action = [] {
            ::unsetenv("KILN_CAPTURE");  // trials are no launches of an application
            return autotune::serve(STDIN_FILENO, STDOUT_FILENO, autotune::make_kernel_trials);
        };
    });
}

}  // namespace kiln::tools
