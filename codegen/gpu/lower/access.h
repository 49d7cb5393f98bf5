// A load, store or atomic while it is lowered. Private to the lowering.
#pragma once

#include "codegen/gpu/lower/phase_lowering.h"

namespace kiln::codegen::gpu {

/// One axis of the tensor, as the access names it.
struct AccessAxis {
    ir::AxisKind kind = ir::AxisKind::Index;
    ir::ValueId value;
    std::size_t tensor_axis = 0;
    std::size_t tile_axis = 0;           ///< of a slice
    std::int64_t length = 0, begin = 0;  ///< of the slice; where the window into it begins
    bool proven = false;                 ///< always inside
    std::string counter;                 ///< slice: the unsigned type of its indices
    std::string first;                   ///< slice: name of the index at the thread's first element
    std::string index;                   ///< gather: name of the index in the loop
};

struct PhaseLowering::Access {
    const ir::Op* op = nullptr;
    TensorText tensor;
    Layout layout;
    bool four_bits = false;
    std::string base;  ///< pointer to the thread's first element; of 4-bit elements its index
    std::vector<AccessAxis> axes;
};

}  // namespace kiln::codegen::gpu
