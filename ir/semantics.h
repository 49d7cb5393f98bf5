// What every elementwise op means on scalars, exactly. Constant folding and the interpreter share it; every backend is
// compared with it.
//
// Integers wrap; x / 0 is 0, x % 0 is x; shift counts are taken modulo the width. f16 and bf16 `+ - * / sqrt fma` round
// once each; their other functions are computed wider and rounded once. min and max prefer the number to NaN and order
// -0 before +0. Conversions follow the table in docs/language.md, section 3.
#pragma once

#include <span>

#include "ir/kernel.h"

namespace kiln::ir {

/// The value of an elementwise op other than Convert, Saturate and Bitcast. Operands have the types its row asks for.
Scalar evaluate(OpKind kind, std::span<const Scalar> operands);

/// Convert, Saturate or Bitcast to `target`.
Scalar convert(OpKind kind, Scalar value, ScalarType target);

/// The neutral element of a reduction, and one step of it. Sums of f16 and bf16 are carried in f32: `combine` is then
/// called with f32 scalars.
Scalar reduce_identity(ReduceKind kind, ScalarType element);
Scalar combine(ReduceKind kind, Scalar accumulated, Scalar next);

/// Nearest-even rounding of a double to `type` (f16, bf16, f32, f64), once.
Scalar round_to(ScalarType type, double value);

}  // namespace kiln::ir
