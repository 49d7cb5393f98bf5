// Which matrix instruction computes a dot, with which orientation, and how the warps share the result out.
//
// The instruction is the first of the target's table whose types, shape and care for subnormal numbers suit. Types that
// no instruction takes are widened where that loses nothing: 4-bit integers to 8 bits, fp8 and f4e2m1 to f16, f16 and
// bf16 to f32. None is chosen, and the dot is computed by multiply-adds, where tiles are not whole instructions, where
// f32 meets a target that multiplies it only rounded, or where the language asks for exact products.
//
// *Swapped* means that the instruction's left operand is the product's right one, so that its result is the transpose:
// of MFMA and WMMA a lane then holds neighbours along a row of the product, which are stored at once, are reduced in
// registers, and are the operand of a following product where they stand.
#pragma once

#include <optional>

#include "codegen/gpu/matrix_instruction.h"
#include "ir/kernel.h"

namespace kiln::codegen::gpu {

struct MatrixProduct {
    const MatrixInstruction* instruction = nullptr;
    bool swapped = false;
    ir::ScalarType left = ir::ScalarType::F32, right = ir::ScalarType::F32;  ///< what the operands are widened to
    /// Whether lanes have to turn what they read of an operand: it lies along the product's rows or columns in memory,
    /// and no instruction loads it transposed.
    bool turns[2] = {false, false};

    /// Of the product's left (0) or right (1) operand: [rows or columns, depth].
    const Layout& operand(std::size_t side) const { return (side == 0) != swapped ? instruction->a : instruction->b; }
    Layout sums() const;  ///< of [rows, columns] of the product
    int extent(std::size_t side) const { return static_cast<int>(operand(side).shape()[0]); }
    ir::ScalarType type(std::size_t side) const { return side == 0 ? left : right; }
    /// How many of an operand's repeats lie next to each other along the rows or columns, so that they are read at once
    /// and then turned; the instruction's own rows or columns stand that far apart.
    int neighbours(std::size_t side, std::int64_t repeats) const;
};

/// The tile below an operand, and which axis of it is the product's rows or columns.
struct OperandTile {
    ir::ValueId value;
    int own = 0;
};
OperandTile operand_tile(const ir::Kernel& kernel, const ir::Op& dot, std::size_t side);

/// Whether a warp loads 16-bit matrices from shared memory, transposed if so wanted (`ldmatrix`).
bool loads_matrices(const Target& target);

std::optional<MatrixProduct> choose_matrix_product(const ir::Kernel& kernel, const ir::Op& dot, const Target& target);

/// The result's layout. As many warps as there is work for stand along its rows and columns, so that each reads as
/// little as possible of the operands; with `by_rows` along the rows first. The rest repeat what others do.
Layout matrix_layout(const MatrixProduct& product, const ir::Shape& shape, int warps, bool by_rows);

/// The most warps that have work of their own.
int most_matrix_warps(const MatrixProduct& product, const ir::Shape& shape);

}  // namespace kiln::codegen::gpu
