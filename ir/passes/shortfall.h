// Where the performance contract (docs/language.md, section 11) does not hold for a kernel, for `kiln explain`.
#pragma once

#include <string>
#include <vector>

#include "ir/support/span.h"

namespace kiln::ir {

struct Shortfall {
    char clause = 'a';  ///< the letter of section 11
    support::Span span;
    std::string reason;
};
using Shortfalls = std::vector<Shortfall>;

}  // namespace kiln::ir
