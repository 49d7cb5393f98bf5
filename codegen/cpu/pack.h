// Packing of dot's operands into the words that the micro-kernel reads. Private to block_dot.
#pragma once

#include <cstdint>
#include <string>

#include "codegen/cpu/block_dot.h"
#include "codegen/cpu/micro_kernel.h"

namespace kiln::codegen::cpu {

/// How one operand is packed.
struct Packing {
    ir::ScalarType element = ir::ScalarType::F32;
    WordKind word = WordKind::F32;
    MatrixLayout layout = MatrixLayout::RowMajor;
    int lanes = 1;            ///< words in a vector
    int vectors = 1;          ///< b: vectors in the width of a panel
    std::int64_t stride = 0;  ///< a: words from a row (layout ColumnMajor: from a k) to the next
};

/// b in panels of vectors * lanes columns; a panel is [words along k][columns], the last one filled up with zeros, and
/// so is the second half of the last word of an odd depth. Emits
///   void (ptr b, i64 row_stride, i64 column_stride, i64 depth, i64 columns, ptr packed)
llvm::Function* emit_pack_b(llvm::Module& module, const Target& target, const Packing& packing,
                            const std::string& name);

/// a as [rows][words along k], or with layout ColumnMajor as [words along k][rows]; what lies between a row's end and
/// the stride is undefined. Emits
///   void (ptr a, i64 row_stride, i64 column_stride, i64 rows, i64 depth, ptr packed)
llvm::Function* emit_pack_a(llvm::Module& module, const Target& target, const Packing& packing,
                            const std::string& name);

}  // namespace kiln::codegen::cpu
