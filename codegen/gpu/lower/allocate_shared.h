// Offsets for the buffers of shared memory. Buffers that do not live at one time share bytes: a buffer lives from the
// first statement that touches it to the last, and through all of a loop that it enters or leaves alive.
//
// Guarantees offsets that are multiples of 16, and phase.shared_bytes.
#pragma once

#include "codegen/gpu/lower/placed.h"

namespace kiln::codegen::gpu {

void allocate_shared(PlacedPhase& phase);

}  // namespace kiln::codegen::gpu
