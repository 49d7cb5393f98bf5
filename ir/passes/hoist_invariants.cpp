#include "ir/passes/hoist_invariants.h"

#include <algorithm>

#include "ir/passes/rewrite.h"

namespace kiln::ir {

namespace {

/// Loads of more elements stay in their loop: no target's registers hold them through it, and reading them from the
/// cache again costs no more than reading back what was spilled.
constexpr std::int64_t kMostElementsKept = 8192;

/// Ops that cost nothing where they stand, and a tile's registers where they do not.
bool is_free(OpKind kind) {
    return kind == OpKind::Constant || kind == OpKind::Iota || kind == OpKind::Broadcast || kind == OpKind::Reshape ||
           kind == OpKind::Permute || kind == OpKind::Extract;
}

/// Ops that only prepare a tile for the dot that takes it.
bool passes_on(OpKind kind) {
    return kind == OpKind::Broadcast || kind == OpKind::Reshape || kind == OpKind::Permute || kind == OpKind::Convert;
}

class HoistInvariants {
public:
    explicit HoistInvariants(Kernel& kernel)
        : kernel_(kernel), home_(kernel.values.size()), marks_(kernel.values.size()) {}

    void run() {
        for (const Phase& phase : kernel_.phases) {
            settle(phase.block);
            hoist_within(phase.block);
        }
    }

private:
    /// What is known of a value's uses within the loop at hand.
    enum Mark : std::uint8_t { kFeedsDot = 1, kFeedsOther = 2, kNeededOutside = 4 };

    /// Notes in which block each value is defined.
    void settle(BlockId block) {
        for (const ValueId argument : kernel_[block].arguments) home_[argument.index] = block;
        for (const OpId op : kernel_[block].ops) {
            for (const ValueId result : kernel_[op].results) home_[result.index] = block;
            for (const BlockId inner : kernel_[op].blocks) settle(inner);
        }
    }

    /// Inner loops first, so that an op can leave several.
    void hoist_within(BlockId block) {
        std::vector<OpId> ops;
        for (const OpId id : kernel_[block].ops) {
            const Op& op = kernel_[id];
            for (const BlockId inner : op.blocks) {
                hoist_within(inner);
                if (op.kind == OpKind::For || op.kind == OpKind::While) move_out(inner, block, ops);
            }
            ops.push_back(id);
        }
        kernel_[block].ops = std::move(ops);
    }

    /// Moves what may leave the block `inner` to the end of `ops`, those of `outer`.
    void move_out(BlockId inner, BlockId outer, std::vector<OpId>& ops) {
        const std::vector<OpId> chosen = choose(inner);
        auto next = chosen.begin();
        std::erase_if(kernel_[inner].ops, [&](OpId id) {
            if (next == chosen.end() || *next != id) return false;
            ++next;
            return true;
        });
        for (const OpId id : chosen) {
            kernel_[id].parent = outer;
            home_[kernel_[id].result().index] = outer;
            ops.push_back(id);
        }
    }

    /// The ops that move, in order: invariant ones that are worth it, and the free ones that those need.
    std::vector<OpId> choose(BlockId block) {
        mark_uses(block);
        const std::vector<OpId> candidates = invariants(block);
        std::vector<OpId> chosen;
        for (auto id = candidates.rbegin(); id != candidates.rend(); ++id) {
            const Op& op = kernel_[*id];
            if (!(marks_[op.result().index] & kNeededOutside) && !is_worth_moving(op)) {
                home_[op.result().index] = block;
                continue;
            }
            chosen.push_back(*id);
            for (const ValueId operand : op.operands) marks_[operand.index] |= kNeededOutside;
        }
        std::reverse(chosen.begin(), chosen.end());
        return chosen;
    }

    /// The ops of a block that compute the same in each round. Their results count as coming from outside.
    std::vector<OpId> invariants(BlockId block) {
        std::vector<OpId> found;
        for (const OpId id : kernel_[block].ops) {
            const Op& op = kernel_[id];
            const bool pure = info(op.kind).effect == Effect::Pure || reads_constant_memory(kernel_, op);
            if (!pure || op.results.size() != 1) continue;
            const bool fixed = std::none_of(op.operands.begin(), op.operands.end(),
                                            [&](ValueId operand) { return home_[operand.index] == block; });
            if (!fixed) continue;
            found.push_back(id);
            home_[op.result().index] = BlockId{};
        }
        return found;
    }

    bool is_worth_moving(const Op& op) const {
        const Type& type = kernel_.type(op.result());
        if (type.is_tensor()) return true;
        if (type.is_scalar()) return op.kind != OpKind::Constant;
        const std::uint8_t uses = marks_[op.result().index];
        const bool only_dots = (uses & kFeedsDot) && !(uses & kFeedsOther);
        if (only_dots && (op.kind == OpKind::Load || passes_on(op.kind))) return false;
        if (op.kind == OpKind::Load && type.shape.count() > kMostElementsKept) return false;
        return !is_free(op.kind);
    }

    void mark_uses(BlockId block) {
        for_each_op(kernel_, block, [&](OpId op) {
            for (const ValueId result : kernel_[op].results) marks_[result.index] = 0;
            for (const ValueId operand : kernel_[op].operands) marks_[operand.index] = 0;
        });
        mark_backwards(block);
    }

    /// From the last op to the first, so that what an op's result feeds is known at the op.
    void mark_backwards(BlockId block) {
        const std::vector<OpId>& ops = kernel_[block].ops;
        for (auto id = ops.rbegin(); id != ops.rend(); ++id) {
            const Op& op = kernel_[*id];
            for (const BlockId inner : op.blocks) mark_backwards(inner);
            std::uint8_t mark = kFeedsOther;
            if (op.kind == OpKind::Dot) mark = kFeedsDot;
            if (passes_on(op.kind)) mark = marks_[op.result().index];
            for (const ValueId operand : op.operands) marks_[operand.index] |= mark;
        }
    }

    Kernel& kernel_;
    std::vector<BlockId> home_;
    std::vector<std::uint8_t> marks_;
};

}  // namespace

void hoist_invariants(Kernel& kernel) {
    HoistInvariants(kernel).run();
}

}  // namespace kiln::ir
