// dot, and loops that are one dot, as calls of generated block functions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "codegen/cpu/block_dot.h"
#include "codegen/cpu/phase_state.h"

namespace kiln::codegen::cpu {

/// The block functions of a module: equal specifications share one.
class DotFunctions {
public:
    DotFunctions(llvm::Module& module, const Target& target, std::string prefix)
        : module_(module), target_(target), prefix_(std::move(prefix)) {}

    const BlockDot& get(const BlockDotSpecification& specification);
    /// What the functions that were asked for need at most.
    std::uint64_t scratch_bytes() const { return scratch_bytes_; }

private:
    llvm::Module& module_;
    const Target& target_;
    std::string prefix_;
    std::vector<std::pair<BlockDotSpecification, BlockDot>> functions_;
    std::uint64_t scratch_bytes_ = 0;
};

/// Emits a planned dot. `loop` is the For that was sunk into it, or null. `dot_scratch` is memory for the functions.
void emit_dot(PhaseState& state, DotFunctions& functions, const DotPlan& dot, const ir::Op* loop,
              llvm::Value* dot_scratch);

}  // namespace kiln::codegen::cpu
