// How each tile value of a phase exists in the generated code, and what a read of one comes down to.
//
//   Kept   in registers, in one layout (see assign_layouts.h)
//   Free   nowhere: a cheap function of scalars and of the element's coordinates, written out wherever it is used.
//   Index
//          arithmetic and the masks made of it are free, so that they never move between layouts
//   View   nowhere: other coordinates of another tile's registers (broadcast, permute, reshape)
//   Staged in shared memory alone: loaded there for products, which read it nowhere else
//   Part   elements of other tiles under other coordinates, which change threads: read through shared memory where it
//   is
//          used (extract, join, and a reshape that is no view)
#pragma once

#include <vector>

#include "codegen/gpu/layout.h"
#include "ir/kernel.h"

namespace kiln::codegen::gpu {

enum class TileForm : std::uint8_t { Kept, Free, View, Staged, Part };

class TileValues {
public:
    TileValues(const ir::Kernel& kernel, ir::BlockId phase);

    TileForm operator[](ir::ValueId value) const { return forms_[value.index]; }

private:
    void walk(ir::BlockId block);
    void classify(const ir::Op& op);
    bool is_free(ir::ValueId value) const;
    void stage_operands(ir::BlockId phase);

    const ir::Kernel& kernel_;
    std::vector<TileForm> forms_;
    std::vector<int> cost_;  ///< ops that a free value takes
};

/// The registers of a tile that a loop over the registers of some layout reads.
struct Reach {
    ir::ValueId value;
    Layout layout;               ///< of that value's shape
    std::vector<int> registers;  ///< of `layout`, for each step of the loop
};

/// Every register in turn.
Reach whole(ir::ValueId value, const Layout& layout);
/// One step from a view to the tile below it. None if the value is no view, or none of this layout.
std::optional<Reach> below(const ir::Kernel& kernel, const Reach& view);
/// All steps.
Reach resolve(const ir::Kernel& kernel, const TileValues& values, Reach reach);

/// The part of an access's layout along the axes of its index tiles: which register of `index` each step needs. None
/// where parts of a mixed axis disagree.
std::optional<Reach> gather_layout(const ir::Kernel& kernel, const ir::Op& op, const Layout& layout, ir::ValueId index);

/// The axis of an access's tile at which the axes of its index tiles begin.
std::size_t gather_axis(const ir::AccessAttribute& access);

}  // namespace kiln::codegen::gpu
