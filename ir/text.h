// The IR as text. print and parse are inverse: parse(print(k)) prints as the same text. ir/kernel.h shows an example;
// docs/ir.md describes the form.
#pragma once

#include <string>

#include "ir/kernel.h"
#include "ir/support/diagnostic.h"

namespace kiln::ir {

/// Deterministic. Values are printed under their name hint, made unique by a number (`%acc`, `%acc.1`), or as `%0`.
std::string print(const Kernel& kernel);

/// One op under the same names, for messages; the blocks of a control op are left out. Takes malformed ops, too.
std::string print(const Kernel& kernel, OpId op);

/// Reads the text form back. Errors are positioned diagnostics; the kernel is then incomplete and must not be used.
Kernel parse(const support::SourceMap& sources, std::uint32_t source, support::Diagnostics& diagnostics);

}  // namespace kiln::ir
