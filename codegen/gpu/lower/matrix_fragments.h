// The operands of matrix instructions in the registers of a thread, and how they get there from shared memory.
//
// A product is computed in *groups* of one or more steps along the contraction. For a group a thread holds the words
// that it passes as one operand for all its repeats along the rows (or columns): its *fragments*. Their registers are
// in this order: the elements of one instruction, the steps of the group, the repeats, and outermost the groups.
//
// The contraction may be relabelled, as long as both operands agree: a `DepthOrder` says which element of the tile
// meets at which place of the instructions.
#pragma once

#include "codegen/gpu/lower/choose_matrix_product.h"
#include "codegen/gpu/shared_layout.h"

namespace kiln::codegen::gpu {

/// Where the places of the contraction lie in the tile: bit i of a place within an instruction moves by bits[i], step
/// number s by the digits of s.
struct DepthOrder {
    std::vector<std::int64_t> bits;
    Digits steps;
    int steps_of_group = 1;

    int step_count() const { return count(steps); }
    int groups() const { return step_count() / steps_of_group; }
};

/// The order of a contraction whose operands both come from shared memory. Where matrices are not loaded by the warp,
/// lanes read up to 16 bytes along the contraction at once, which then feed several steps.
DepthOrder depth_order(const MatrixProduct& product, std::int64_t depth, bool reads_along_depth, const Target& target);

/// The order in which an operand lies that is held in registers with this layout of its tile, of which axis `own` is
/// the product's rows or columns. None where its lanes are not those of the instruction, with `sums` the layout of the
/// product's result.
std::optional<DepthOrder> held_order(const MatrixProduct& product, std::size_t side, const Layout& sums,
                                     const Layout& held, int own);

/// How reads of shared memory make fragments.
enum class FragmentRead : std::uint8_t {
    Vector,              ///< each lane reads what it holds
    Matrices,            ///< `ldmatrix`: each lane names a row of 16 bytes, whose words go to four lanes
    TransposedMatrices,  ///< the same, transposed
    Turned,  ///< each lane reads neighbours along the rows or columns, of which it makes words of its repeats
};

struct Fragments {
    Layout elements;      ///< of the staged tile
    int per_instruction;  ///< registers
    int repeats;
    FragmentRead read = FragmentRead::Vector;
    int registers_of_read = 1;  ///< that one read fills
    SharedAccess addresses;     ///< what each lane names, by reads
};

/// Of the product's left (0) or right (1) operand in a tile of that shape, whose axis `own` is the product's rows or
/// columns. `sums` is the layout of the product's result.
Fragments fragments(const MatrixProduct& product, std::size_t side, const Layout& sums, const ir::Shape& tile, int own,
                    const DepthOrder& order, const Target& target);

}  // namespace kiln::codegen::gpu
