// One phase of a kernel as one LLVM function.
#pragma once

#include <string>

#include "codegen/cpu/compile.h"

namespace llvm {
class Module;
}  // namespace llvm

namespace kiln::codegen::cpu {

/// Adds the PhaseFunction `symbol` for phase `index` to the module.
PhaseCode lower_phase(llvm::Module& module, const Target& target, const ir::Kernel& kernel, std::size_t index,
                      const std::string& symbol);

}  // namespace kiln::codegen::cpu
