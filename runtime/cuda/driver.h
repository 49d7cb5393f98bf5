// NVIDIA's driver, libcuda.so.1, opened at run time.
#pragma once

#include "runtime/gpu/driver.h"

namespace kiln::runtime::cuda {

/// Opened when first asked for (KILN_CUDA_DRIVER names another file or folder) and never closed.
const gpu::FoundDriver& driver();

}  // namespace kiln::runtime::cuda
