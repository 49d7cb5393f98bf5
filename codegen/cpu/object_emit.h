// LLVM modules into relocatable objects or assembly.
#pragma once

#include <string>
#include <vector>

#include "codegen/cpu/target.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace kiln::codegen::cpu {

/// Whether this build of LLVM has a code generator for the target. The functions below throw support::InternalError
/// for a target that has none.
bool can_generate(const Target& target);

/// Gives a new module the target's triple and data layout. Call it before anything is put into the module.
void prepare_module(llvm::Module& module, const Target& target);

/// The attributes every function of a module needs: the CPU and features it may use, the vector width up to which
/// vectors stay whole, and that nothing unwinds.
void set_target_attributes(llvm::Function& function, const Target& target);

/// A relocatable ELF object. The module must verify; a broken one throws support::InternalError with LLVM's reason.
/// No optimisation pipeline runs: clean SSA from the lowering gains nothing from one.
std::vector<char> compile_module(llvm::Module& module, const Target& target);

/// The assembly of the same compilation.
std::string module_assembly(llvm::Module& module, const Target& target);

/// The module as text.
std::string module_text(const llvm::Module& module);

}  // namespace kiln::codegen::cpu
