// Operands of products in shared memory: the seam between the products, which read them there, and the ways they come
// in.
//
// A product says what it reads: which tile, as elements of which type, and where its threads stand while they read
// (`OperandReads`). Staging finds the shared layout that suits these reads and its own writes together, brings the tile
// in, and answers with the place (`StagedOperand`). How the tile came there is no business of the product's, which only
// uses `place`, `layout` and, for the touches of its statements, `buffer`:
//
//   stage_operand.cpp   from registers, for tiles that are computed
//   copy_operand.cpp    from global memory, for tiles that nothing but products reads: asynchronously where the target
//                       and the facts about memory allow, else by way of a few registers
//   pipeline_loop.cpp   the latter for the loads of a loop: iterations ahead, into the slots of a ring
#pragma once

#include <string>
#include <vector>

#include "codegen/gpu/shared_layout.h"
#include "ir/kernel.h"

namespace kiln::codegen::gpu {

/// What a product reads of one operand.
struct OperandReads {
    ir::ValueId value;    ///< the tile to be staged: the operand, or what it is a view of
    ir::ScalarType type;  ///< its elements as they lie in shared memory
    std::vector<SharedAccess>
        accesses;           ///< layouts of the value's shape; addresses of `ldmatrix` are one of these, too
    bool swizzles = false;  ///< whether the reads can follow a layout with `bits` (see shared_layout.h)
};

/// The part of a tile between two places along an axis; all of it if there is no length.
struct Window {
    std::size_t axis = 0;
    std::int64_t begin = 0, length = 0;
    friend bool operator==(const Window&, const Window&) = default;
};

/// A tile in shared memory.
struct StagedOperand {
    std::uint32_t buffer = 0;  ///< for the touches of the statements that read it
    std::string place;         ///< C pointer to elements of `type`, where the tile begins
    ir::ScalarType type = ir::ScalarType::F32;
    SharedLayout layout;  ///< in bytes from `place`
    int slot = 0;         ///< of a ring, counted from the one that is read in the current iteration
};

/// How a tile is written to shared memory.
struct OperandWrite {
    Layout layout;              ///< of the threads that write
    int vector = 1;             ///< of a copy: elements that are read at once
    bool asynchronous = false;  ///< past the registers
    SharedLayout shared;
};

/// Bytes from slot to slot of a ring.
std::int64_t slot_bytes(const SharedLayout& layout);

}  // namespace kiln::codegen::gpu
