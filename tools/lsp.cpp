// kiln lsp: a language server on standard input and output, for editors.
#include <iostream>

#include "tools/command.h"
#include "tools/language_server.h"

namespace kiln::tools {

void add_lsp(CLI::App& program, Action& action) {
    CLI::App* command = program.add_subcommand("lsp", "serve an editor over standard input and output");
    command->add_flag("--stdio")->description("what is served anyhow; editors' client libraries pass it");
    command->footer(
        "Example:\n  kiln lsp      an editor starts it; editors/vscode does\n"
        "The Language Server Protocol, 3.17: diagnostics, hover, go to definition, formatting.");
    command->callback(
        [&action] { action = [] { return LanguageServer(std::cin, std::cout).serve() ? kSuccess : kUserError; }; });
}

}  // namespace kiln::tools
