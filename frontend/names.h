// Name checking: everything about a program that can be told without types.
#pragma once

#include <vector>

#include "frontend/program.h"
#include "ir/support/diagnostic.h"

namespace kiln::frontend {

/// Checks every file of `program`, dead branches of `static if` included: that each name is declared, once and before
/// its use; what may be assigned, written, read, called or captured; where statements and clauses may stand; schedule
/// targets and keys. `complete[i]` is false for a file that could not be read or parsed: it is not checked, and any
/// name is taken to be one of its members. `places`, if given, gets where names lead.
void check_names(const Program& program, const std::vector<bool>& complete, support::Diagnostics& diagnostics,
                 Places* places = nullptr);

/// What the type of a generic or parameter makes of it, aliases followed.
enum class TypeRole : std::uint8_t { Class, Value, Function, Tensor };
TypeRole type_role(const Program& program, std::size_t file, dsl::NodeId type);

}  // namespace kiln::frontend
