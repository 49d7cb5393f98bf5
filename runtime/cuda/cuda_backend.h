// NVIDIA's GPUs as devices: cuda:0, cuda:1, ...
#pragma once

#include "runtime/gpu/gpu_backend.h"

namespace kiln::runtime::cuda {

/// Found when first asked for, and never destroyed.
const gpu::FoundBackends& backends();

}  // namespace kiln::runtime::cuda
