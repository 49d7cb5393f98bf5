// The one way a .kiln file is laid out: `kiln fmt`.
#pragma once

#include <string>

#include "ir/support/diagnostic.h"

namespace kiln::dsl {

/// The text of file `source` in the house layout: four blanks a block, two before a clause, each clause, phase and
/// declaration on a line of its own, one blank around operators, trailing comments aligned. The author's line breaks
/// and comments stay; formatting twice changes nothing more, and the syntax tree stays the same. A file with errors is
/// returned as it is, with the errors in `diagnostics`.
std::string format(const support::SourceMap& sources, std::uint32_t source, support::Diagnostics& diagnostics);

}  // namespace kiln::dsl
