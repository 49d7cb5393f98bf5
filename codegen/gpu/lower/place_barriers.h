// Barriers from dependences: one stands before each statement that touches memory which another thread of the block may
// have touched since the last barrier, if one of the two writes. Buffers conflict where their bytes overlap, so that
// memory which is used again is covered, too.
//
// Requires offsets of all buffers, and that all threads of the block take the same way through the statements
// (conditions of the tile program are scalars, hence equal in all threads). Guarantees no barrier between accesses that
// do not depend on each other, and none whose removal would leave all dependences ordered by the others, as far as one
// walk in order can see.
#pragma once

#include "codegen/gpu/lower/placed.h"

namespace kiln::codegen::gpu {

void place_barriers(PlacedPhase& phase);

}  // namespace kiln::codegen::gpu
