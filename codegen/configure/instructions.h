// What elementwise ops cost. Private to configure.
#pragma once

#include "ir/op.h"

namespace kiln::codegen::configure {

/// Instructions that an op takes for a vector of elements, or for an element of each lane of a GPU. Functions by the
/// length of their polynomials (codegen/cpu/vector_math.cpp, codegen/gpu/device/math.h).
double instructions(ir::OpKind kind);

}  // namespace kiln::codegen::configure
