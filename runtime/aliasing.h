// Whether two tensor arguments share an element. Outputs may not share one with another argument or with themselves.
#pragma once

#include "ir/launch.h"

namespace kiln::runtime {

enum class Overlap : std::uint8_t { None, Some, Undecided };

/// Decided for disjoint address ranges, and for tensors of one element size and equal strides at an offset (columns of
/// one packed matrix). Anything else that overlaps in range is Undecided.
Overlap overlap(const ir::TensorView& a, const ir::TensorView& b);

/// Whether two different indices of one tensor address one element.
Overlap self_overlap(const ir::TensorView& tensor);

}  // namespace kiln::runtime
