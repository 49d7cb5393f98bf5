#include "codegen/cpu/compile.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "codegen/cpu/lower_phase.h"
#include "codegen/cpu/object_emit.h"

namespace kiln::codegen::cpu {

namespace {

/// A module with one function a phase.
struct LoweredKernel {
    llvm::LLVMContext context;
    llvm::Module module;
    std::vector<PhaseCode> phases;

    LoweredKernel(const ir::Kernel& kernel, const Target& target) : module(kernel.name, context) {
        prepare_module(module, target);
        for (std::size_t i = 0; i < kernel.phases.size(); ++i) {
            const std::string symbol = "kiln_" + kernel.name + "_phase" + std::to_string(i);
            phases.push_back(lower_phase(module, target, kernel, i, symbol));
        }
        erase_unused();
    }

private:
    /// Block functions come in several forms, of which a kernel calls few.
    void erase_unused() {
        for (bool erased = true; erased;) {
            erased = false;
            for (llvm::Function& function : llvm::make_early_inc_range(module)) {
                if (!function.hasLocalLinkage() || !function.use_empty()) continue;
                function.eraseFromParent();
                erased = true;
            }
        }
    }
};

}  // namespace

ObjectCode compile(const ir::Kernel& kernel, const Target& target) {
    LoweredKernel lowered(kernel, target);
    return {compile_module(lowered.module, target), std::move(lowered.phases)};
}

std::string emit_llvm(const ir::Kernel& kernel, const Target& target) {
    return module_text(LoweredKernel(kernel, target).module);
}

std::string emit_assembly(const ir::Kernel& kernel, const Target& target) {
    LoweredKernel lowered(kernel, target);
    return module_assembly(lowered.module, target);
}

}  // namespace kiln::codegen::cpu
