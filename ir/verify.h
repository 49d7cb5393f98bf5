// The invariants of the tile stage. All violations are collected; each names its op and prints it.
#pragma once

#include <string>
#include <vector>

#include "ir/kernel.h"

namespace kiln::ir {

/// Empty if the kernel is well formed.
std::vector<std::string> verify(const Kernel& kernel);

/// Throws support::InternalError naming `pass` and the violations, if there are any.
void verify_or_throw(const Kernel& kernel, const std::string& pass);

}  // namespace kiln::ir
