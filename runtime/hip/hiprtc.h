// AMD's run-time compiler, opened at run time. Its own library from HIP 5.3 on, part of libamdhip64.so before; it needs
// no device.
#pragma once

#include "runtime/gpu/source_compiler.h"

namespace kiln::runtime::hip {

/// Opened when first asked for (KILN_HIPRTC names another file or folder) and never closed.
const gpu::FoundCompiler& hiprtc();

}  // namespace kiln::runtime::hip
