#include "codegen/cpu/held_reads.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/cpu/plan.h"
#include "ir/passes/rewrite.h"

namespace kiln::codegen::cpu {

namespace {

class HeldReads {
public:
    HeldReads(const ir::Kernel& kernel, const ir::Phase& phase)
        : kernel_(kernel), plan_(make_plan(kernel, phase)), users_(kernel.values.size()) {
        ir::for_each_op(kernel, phase.block, [&](ir::OpId id) {
            for (const ir::ValueId operand : kernel[id].operands) users_[operand.index].push_back(id);
        });
    }

    ir::Shortfalls find(ir::BlockId block) const {
        ir::Shortfalls found;
        ir::for_each_op(kernel_, block, [&](ir::OpId id) {
            const ir::Op& op = kernel_[id];
            if (op.kind != ir::OpKind::Load || !kernel_.type(op.result()).is_tile()) return;
            const std::vector<ir::ValueId> tiles = tiles_to_reduction(op.result());
            const auto held =
                std::find_if(tiles.begin(), tiles.end(), [&](ir::ValueId tile) { return plan_.in_buffer(tile); });
            if (held == tiles.end()) return;
            const Buffer& buffer = plan_.buffer(*held);
            const auto bytes = buffer.shape.count() * ir::byte_width(buffer.element);
            found.push_back({'e', op.span,
                             fmt::format("this read feeds one reduction and is held whole, in {} bytes: write it where "
                                         "it is reduced, with no write to its tensor between",
                                         bytes)});
        });
        return found;
    }

private:
    /// The read and all that elementwise ops make of it, if that is all used by one reduction; else nothing.
    std::vector<ir::ValueId> tiles_to_reduction(ir::ValueId read) const {
        std::vector<ir::ValueId> tiles{read};
        ir::OpId reduction;
        for (std::size_t i = 0; i < tiles.size(); ++i) {
            for (const ir::OpId user : users_[tiles[i].index]) {
                const ir::Op& op = kernel_[user];
                const bool reduces = op.kind == ir::OpKind::Reduce && (!reduction.valid() || reduction == user);
                if (reduces) {
                    reduction = user;
                } else if (!ir::is_elementwise(op.kind)) {
                    return {};
                } else if (std::find(tiles.begin(), tiles.end(), op.result()) == tiles.end()) {
                    tiles.push_back(op.result());
                }
            }
        }
        return reduction.valid() ? tiles : std::vector<ir::ValueId>{};
    }

    const ir::Kernel& kernel_;
    const Plan plan_;
    std::vector<std::vector<ir::OpId>> users_;
};

}  // namespace

ir::Shortfalls held_reads(const ir::Kernel& kernel) {
    ir::Shortfalls found;
    for (const ir::Phase& phase : kernel.phases) {
        const ir::Shortfalls held = HeldReads(kernel, phase).find(phase.block);
        found.insert(found.end(), held.begin(), held.end());
    }
    return found;
}

}  // namespace kiln::codegen::cpu
