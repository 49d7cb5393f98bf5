// Where parsing goes on after an error.
#pragma once

#include "dsl/state.h"

namespace kiln::dsl {

/// Pushes an Error node for the statement that begins at `first` and fails at `where`. Returns the place behind the
/// next newline of the same block that is not before `where`, or the end of the block.
Cursor skip_statement(ParseState& state, Cursor first, Cursor where);

/// The next place behind `begin` where a declaration seems to begin, or the end of the text.
Cursor next_declaration(const ParseState& state, Cursor begin);

}  // namespace kiln::dsl
