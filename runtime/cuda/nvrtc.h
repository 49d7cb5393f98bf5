// NVIDIA's run-time compiler, opened at run time. It needs no driver and no device.
#pragma once

#include "runtime/gpu/source_compiler.h"

namespace kiln::runtime::cuda {

/// Opened when first asked for (KILN_NVRTC names another file or folder) and never closed.
const gpu::FoundCompiler& nvrtc();

}  // namespace kiln::runtime::cuda
