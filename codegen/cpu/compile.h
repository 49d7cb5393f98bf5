// Tile IR to a native object for an x86-64 or aarch64 CPU. The object can be cached and loaded by codegen/cpu/jit.h.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "codegen/cpu/target.h"
#include "ir/kernel.h"

namespace kiln::codegen::cpu {

/// What a launch needs to know about one phase of the object.
struct PhaseCode {
    std::string symbol;                ///< of its PhaseFunction
    std::vector<ir::ValueId> values;   ///< launch values to pass, in the order of LaunchFrame::values
    std::uint64_t scratch_bytes = 0;   ///< private memory a thread needs
};

struct ObjectCode {
    std::vector<char> object;          ///< a relocatable ELF object
    std::vector<PhaseCode> phases;
};

/// Compiles a kernel that has been through run_tile_passes. Broken invariants throw support::InternalError.
ObjectCode compile(const ir::Kernel& kernel, const Target& target);

/// The LLVM IR, or the assembly, of the same compilation; for `kiln emit`.
std::string emit_llvm(const ir::Kernel& kernel, const Target& target);
std::string emit_assembly(const ir::Kernel& kernel, const Target& target);

}  // namespace kiln::codegen::cpu
