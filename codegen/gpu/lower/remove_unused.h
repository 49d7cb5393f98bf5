// Drops constants that nothing uses: sizes, strides and coordinates are declared as soon as an access might need them.
// Compilers would only warn, but people read the text.
#pragma once

#include "codegen/gpu/lower/placed.h"

namespace kiln::codegen::gpu {

void remove_unused(PlacedPhase& phase);

}  // namespace kiln::codegen::gpu
