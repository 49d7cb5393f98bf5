// Which kernel a `reference` clause means.
#pragma once

#include <memory>
#include <string>

#include "runtime/state.h"

namespace kiln::runtime {

struct ReferenceKernel {
    std::shared_ptr<const ModuleState> module;
    const frontend::KernelSignature* signature;  ///< of the module
};

/// The kernel that `path` names as seen from `kernel`: one of its own module, or `module.kernel` of an import, whose
/// files are those that the kernel's program has read already. Throws Error(user) if there is none.
ReferenceKernel find_reference(const KernelState& kernel, const std::string& path);

}  // namespace kiln::runtime
