// What the parts of a phase's lowering share.
#pragma once

#include <map>
#include <vector>

#include "codegen/cpu/plan.h"
#include "codegen/cpu/vector_ops.h"

namespace kiln::codegen::cpu {

/// A tensor or view at run time. Element [i, j, ...] lies `origin + i * strides[0] + ...` elements from `data`. Known
/// sizes and strides are constants.
struct TensorHandle {
    llvm::Value* data = nullptr;
    llvm::Value* origin = nullptr;
    std::vector<llvm::Value*> sizes, strides;
};

struct PhaseState {
    const ir::Kernel& kernel;
    const Plan& plan;
    const VectorOps& ops;
    llvm::Value* scratch = nullptr;               ///< the thread's buffers
    std::vector<llvm::Value*> scalars;            ///< by value; null until defined
    std::map<ir::ValueId, TensorHandle> tensors;  ///< parameters, scratch and views

    llvm::IRBuilder<>& builder() const { return ops.builder(); }
    /// The scalar's value; constants are made on the spot.
    llvm::Value* scalar(ir::ValueId value) const;
    llvm::Value* buffer_address(BufferId buffer) const;
};

/// Whether a value is the integer constant 1: a known unit stride, a condition that always holds.
inline bool is_one(const llvm::Value* value) {
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value);
    return constant != nullptr && constant->isOne();
}

}  // namespace kiln::codegen::cpu
