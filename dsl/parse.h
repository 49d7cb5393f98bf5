// Text to syntax tree: the only entry into the parser.
#pragma once

#include "dsl/ast.h"
#include "ir/support/diagnostic.h"

namespace kiln::dsl {

/// Parses file `source` of `sources`. Any text gives a tree or positioned errors, never a crash: where an error was
/// found, the tree holds an Error node and parsing went on at the next statement or declaration. A lexical error (bad
/// UTF-8, NUL, unpaired or too deep brackets) ends the file with one message. `sources` must outlive the tree.
Ast parse(const support::SourceMap& sources, std::uint32_t source, support::Diagnostics& diagnostics);

}  // namespace kiln::dsl
