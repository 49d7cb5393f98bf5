// c[M x N] (+)= a[M x K] @ b[K x N] as generated functions: packing, chunks of K, register-blocked micro-kernels.
//
// Element types: f32, f16, bf16 (c is f32), f64 (c is f64), i8 and u8 in any mix (c is i32, wrapping).
//
// The functions are internal to the module, so that unused ones may be erased or left. Pointers do not alias each
// other, except that a and b may be the same. Strides count elements and may be anything, also 0 or negative, where the
// layout does not promise 1. Extents are run-time values within the bounds of the specification: what lies outside them
// is neither read nor written, and counts as zero. A depth of 0 without accumulation writes zeros.
#pragma once

#include <cstdint>

#include "codegen/cpu/target.h"
#include "ir/kernel.h"
#include "ir/type.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace kiln::codegen::cpu {

/// What is known of an operand's strides when code is made.
enum class MatrixLayout : std::uint8_t {
    RowMajor,     ///< the stride along columns is 1 (a: unit stride along k; b: along n)
    ColumnMajor,  ///< the stride along rows is 1 (a: unit stride along m; b: along k, that is, a transposed operand)
    Any,
};

struct BlockDotSpecification {
    std::int64_t rows = 1;     ///< M: a call has at most so many
    std::int64_t columns = 1;  ///< N: a call has at most so many
    std::int64_t depth = 0;    ///< K: a call has at most so many; 0: any number. The pre-packed form needs a bound
    ir::ScalarType a = ir::ScalarType::F32, b = ir::ScalarType::F32;
    MatrixLayout a_layout = MatrixLayout::RowMajor, b_layout = MatrixLayout::RowMajor;
    ir::DotPrecision precision = ir::DotPrecision::Default;

    friend bool operator==(const BlockDotSpecification&, const BlockDotSpecification&) = default;
};

struct BlockDot {
    /// void (ptr a, i64 a_row_stride, i64 a_column_stride, ptr b, i64 b_row_stride, i64 b_column_stride,
    ///       ptr c, i64 c_row_stride, i64 rows, i64 depth, i64 columns, i1 accumulate, ptr scratch)
    /// Element (m, k) of a is a[m * a_row_stride + k * a_column_stride], likewise b; columns of c have stride 1.
    llvm::Function* dot = nullptr;
    /// Bytes that `dot` and `dot_packed` need at `scratch`, aligned to 64; undefined before and after.
    std::uint64_t scratch_bytes = 0;

    // The same in two steps, so that one packed b serves several calls. Null if the specification's depth is 0.

    /// void (ptr b, i64 b_row_stride, i64 b_column_stride, i64 depth, i64 columns, ptr packed)
    llvm::Function* pack_b = nullptr;
    /// void (ptr a, i64 a_row_stride, i64 a_column_stride, ptr packed, ptr c, i64 c_row_stride,
    ///       i64 rows, i64 depth, i64 columns, i1 accumulate, ptr scratch), with the depth and columns of pack_b.
    llvm::Function* dot_packed = nullptr;
    /// Bytes of `packed`, aligned to 64.
    std::uint64_t packed_bytes = 0;
};

/// The type of c.
ir::ScalarType accumulator_type(ir::ScalarType a);

/// Adds the functions for a specification to a module made by prepare_module. `name` begins their symbols and must be
/// new in the module. Element types without dot throw support::InternalError.
BlockDot emit_block_dot(llvm::Module& module, const Target& target, const BlockDotSpecification& specification,
                        const char* name);

}  // namespace kiln::codegen::cpu
