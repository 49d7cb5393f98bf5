// AMD's GPUs as devices: hip:0, hip:1, ...
#pragma once

#include "runtime/gpu/gpu_backend.h"

namespace kiln::runtime::hip {

/// Found when first asked for, and never destroyed.
const gpu::FoundBackends& backends();

}  // namespace kiln::runtime::hip
