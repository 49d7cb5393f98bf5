// Operands of products in shared memory: the seam between the products, which read them there, and the ways they come
// in.
//
// A product says what it reads: which tile, as elements of which type, and where its threads stand while they read
// (`OperandReads`). Staging finds the shared layout that suits these reads and its own writes together, brings the tile
// in, and answers with the place (`StagedOperand`). How the tile came there (from registers, straight from global
// memory, an iteration ahead into one of several slots) is no business of the product's, which only uses `place` and
// `layout`.
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

/// A tile in shared memory.
struct StagedOperand {
    std::uint32_t buffer = 0;  ///< for the touches of the statements that read it
    std::string place;         ///< C pointer to elements of `type`, where the tile begins
    ir::ScalarType type = ir::ScalarType::F32;
    SharedLayout layout;  ///< in bytes from `place`
};

}  // namespace kiln::codegen::gpu
