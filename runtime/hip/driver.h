// AMD's HIP runtime, libamdhip64.so, opened at run time; 5.2 to 7.
#pragma once

#include <string>
#include <vector>

#include "runtime/gpu/driver.h"

namespace kiln::runtime::hip {

/// Opened when first asked for (KILN_HIP_DRIVER names another file or folder) and never closed.
const gpu::FoundDriver& driver();

/// Folders of ROCm installations, and the system's.
std::vector<std::string> library_folders();

}  // namespace kiln::runtime::hip
