// Matrix instructions as data: which types a target multiplies by the warp, in which shapes, and which lane holds which
// element in which register.
//
// All of them compute c += a * b. The layouts are atoms of layout.h: `a` of [rows, depth], `b` of [columns, depth] (the
// right operand transposed, so that both operands have the contraction last) and `c` of [rows, columns]. Elements of
// operands are packed into words of 32 bits, the first in the low bits; elements of 64 bits are doubles. An instruction
// is called as a device function
//
//   NAME(ACCUMULATOR* c, const unsigned* a, const unsigned* b)
//
// with the registers of one lane (f64: const double*), whose text is `function`.
//
// Left out: sparse forms, forms with scales, and 4-bit integers (i4 and u4 are widened to 8 bits, since mma of s4 is no
// faster from sm_90 on and MFMA has none).
#pragma once

#include <string>
#include <vector>

#include "codegen/gpu/layout.h"
#include "codegen/gpu/target.h"
#include "ir/type.h"

namespace kiln::codegen::gpu {

struct MatrixInstruction {
    std::string name;      ///< of the device function
    std::string function;  ///< its definition, for the prelude
    ir::ScalarType left = ir::ScalarType::F32, right = ir::ScalarType::F32, accumulator = ir::ScalarType::F32;
    Layout a, b, c;
    bool tf32 = false;                ///< f32 operands that have been rounded to 10 bits of mantissa
    bool flushes_subnormals = false;  ///< of its operands
    int most_products = 0;            ///< that its accumulator may sum before it has too few bits; 0: any number

    int rows() const { return static_cast<int>(c.shape()[0]); }
    int columns() const { return static_cast<int>(c.shape()[1]); }
    int depth() const { return static_cast<int>(a.shape()[1]); }
};

/// What a unit of that kind has; of equal types the one to prefer first.
const std::vector<MatrixInstruction>& matrix_instructions(MatrixUnit unit);

/// C type of the array that holds a lane's operands of an element type, and the elements in one entry of it.
std::string_view fragment_type(ir::ScalarType element);
int elements_per_word(ir::ScalarType element);

}  // namespace kiln::codegen::gpu
