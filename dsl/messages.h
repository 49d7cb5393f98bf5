// From a failed expectation to a sentence.
#pragma once

#include <string_view>

#include "dsl/state.h"

namespace kiln::dsl {

/// Reports that `expected` (a get_info name, such as "an operand") does not stand at `where`, with the hint that the
/// table has for what stands there instead.
void report_unexpected(ParseState& state, std::string_view expected, Cursor where);

}  // namespace kiln::dsl
