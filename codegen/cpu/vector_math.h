// Transcendental functions on vectors of float and double lanes.
//
// Strict: within 2 ulp (pow 4), denormals, infinities and NaN included. With `flush`, exp and exp2 give 0 for results
// below 2^-126; with `flush` or `approximate` they are within 2^-21 relative.
#pragma once

#include <span>

#include "codegen/cpu/vector_ops.h"

namespace kiln::codegen::cpu {

/// Exp, Exp2, Log, Log2, Rsqrt, Sin, Cos, Tanh, Erf or Pow of float or double lanes; another kind throws InternalError.
llvm::Value* math_function(const VectorOps& ops, ir::OpKind kind, std::span<llvm::Value* const> operands);

}  // namespace kiln::codegen::cpu
