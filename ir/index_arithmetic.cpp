#include "ir/index_arithmetic.h"

#include <algorithm>

#include "ir/passes/rewrite.h"

namespace kiln::ir {

namespace {

/// Ops of which a wrong high bit in an operand makes a wrong result, and not one that was meant to be dropped.
constexpr OpKind kFollowed[] = {
    OpKind::Add,     OpKind::Sub,       OpKind::Mul,     OpKind::Div,     OpKind::Neg,      OpKind::Shl,
    OpKind::Abs,     OpKind::Min,       OpKind::Max,     OpKind::CeilDiv, OpKind::FloorDiv, OpKind::Select,
    OpKind::Convert, OpKind::Broadcast, OpKind::Reshape, OpKind::Permute, OpKind::Extract,  OpKind::Join,
};

bool is_followed(OpKind kind) {
    return std::find(std::begin(kFollowed), std::end(kFollowed), kind) != std::end(kFollowed);
}

/// A walk from the indices of all accesses back to what they are computed from.
class BackwardWalk {
public:
    explicit BackwardWalk(const Kernel& kernel)
        : kernel_(kernel), marked_(kernel.ops.size()), seen_(kernel.values.size()), owner_(kernel.values.size()) {
        for_each_op(kernel, [&](OpId id) { note_blocks(id); });
        for_each_op(kernel, [&](OpId id) { begin_at(kernel[id]); });
        while (!waiting_.empty()) {
            const ValueId value = waiting_.back();
            waiting_.pop_back();
            follow(value);
        }
    }

    std::vector<bool> take() { return std::move(marked_); }

private:
    struct Argument {
        BlockId block;
        std::size_t place = 0;
    };

    void note_blocks(OpId id) {
        for (const BlockId block : kernel_[id].blocks) {
            const std::vector<ValueId>& arguments = kernel_[block].arguments;
            for (std::size_t i = 0; i < arguments.size(); ++i) owner_[arguments[i].index] = {block, i};
        }
    }

    void begin_at(const Op& op) {
        const bool is_access =
            op.kind == OpKind::View || op.kind == OpKind::Load || op.kind == OpKind::Store || op.kind == OpKind::Atomic;
        if (!is_access) return;
        const std::size_t count = axis_operand_count(access_of(op));
        for (std::size_t i = 1; i <= count; ++i) add(op.operands[i]);
    }

    void add(ValueId value) {
        if (seen_[value.index] || !is_integer(kernel_.type(value).element)) return;
        seen_[value.index] = true;
        waiting_.push_back(value);
    }

    void follow(ValueId value) {
        const OpId id = kernel_.values[value.index].definition;
        if (!id.valid()) return follow_argument(owner_[value.index]);
        const Op& op = kernel_[id];
        if (!op.blocks.empty()) return follow_result(op, value);
        if (!is_followed(op.kind)) return;
        if (is_elementwise(op.kind)) marked_[id.index] = true;
        for (const ValueId operand : op.operands) add(operand);
    }

    ValueId yielded(BlockId block, std::size_t place) const {
        return kernel_[kernel_[block].ops.back()].operands[place];
    }

    void follow_result(const Op& op, ValueId value) {
        const auto place =
            static_cast<std::size_t>(std::find(op.results.begin(), op.results.end(), value) - op.results.begin());
        if (op.kind == OpKind::While) return add(yielded(op.blocks[0], place + 1));
        if (op.kind != OpKind::For && op.kind != OpKind::If) return;
        for (const BlockId block : op.blocks) add(yielded(block, place));
        if (op.kind == OpKind::For) add(op.operands[3 + place]);
    }

    /// A carried value comes from the initial ones and from the round before. A loop's index is not followed: its
    /// bounds cannot make it wrap.
    void follow_argument(Argument argument) {
        if (!argument.block.valid() || !kernel_[argument.block].parent.valid()) return;
        const Op& loop = kernel_[kernel_[argument.block].parent];
        if (loop.kind == OpKind::For && argument.place > 0) {
            add(loop.operands[2 + argument.place]);
            add(yielded(loop.blocks[0], argument.place - 1));
        } else if (loop.kind == OpKind::While && argument.block == loop.blocks[0]) {
            add(loop.operands[argument.place]);
            add(yielded(loop.blocks[1], argument.place));
        } else if (loop.kind == OpKind::While) {
            add(yielded(loop.blocks[0], argument.place + 1));
        }
    }

    const Kernel& kernel_;
    std::vector<bool> marked_, seen_;
    std::vector<Argument> owner_;  ///< by ValueId: the block it is an argument of
    std::vector<ValueId> waiting_;
};

}  // namespace

std::vector<bool> index_arithmetic(const Kernel& kernel) {
    return BackwardWalk(kernel).take();
}

}  // namespace kiln::ir
