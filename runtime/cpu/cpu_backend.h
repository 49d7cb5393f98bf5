// The CPU as a device: LLVM code run on a oneTBB arena.
#pragma once

#include <memory>

#include "runtime/backend.h"

namespace kiln::runtime::cpu {

/// The device "cpu", for the host's features (codegen/cpu/target.h).
std::shared_ptr<DeviceBackend> make_backend();

}  // namespace kiln::runtime::cpu
