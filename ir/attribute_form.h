// Which attribute the ops of a kind carry. Printer, parser and verifier agree by it.
#pragma once

#include <string_view>

#include "ir/kernel.h"

namespace kiln::ir {

/// An attribute of the alternative that ops of the kind carry, with nothing in it.
Attribute empty_attribute(OpKind kind);

/// Names of the enumerators in the text form, and the enumerators of names.
std::string_view name(ReduceKind kind);
std::string_view name(DotPrecision precision);
std::string_view name(AtomicKind kind);
std::optional<ReduceKind> reduce_kind_named(std::string_view name);
std::optional<DotPrecision> dot_precision_named(std::string_view name);
std::optional<AtomicKind> atomic_kind_named(std::string_view name);

}  // namespace kiln::ir
