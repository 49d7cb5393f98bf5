#include "ir/passes/remove_dead.h"

#include <algorithm>

#include "ir/passes/rewrite.h"

namespace kiln::ir {

namespace {

class RemoveDead {
public:
    explicit RemoveDead(Kernel& kernel)
        : kernel_(kernel), needed_ops_(kernel.ops.size()), needed_values_(kernel.values.size()) {}

    void run() {
        for_each_op(kernel_, [&](OpId op) {
            const OpKind kind = kernel_[op].kind;
            if (info(kind).effect == Effect::Writes || kind == OpKind::Require) need(op);
        });
        for_each_header_use(kernel_, [&](ValueId value) { need(value); });
        while (!pending_.empty()) {
            const ValueId value = pending_.back();
            pending_.pop_back();
            need_origin(value);
        }
        sweep(kernel_.host);
        for (const Phase& phase : kernel_.phases) sweep(phase.block);
    }

private:
    void need(ValueId value) {
        if (needed_values_[value.index]) return;
        needed_values_[value.index] = true;
        pending_.push_back(value);
    }

    const Op& yield(BlockId block) const { return kernel_[kernel_[block].ops.back()]; }

    /// The op, what decides whether and how often it runs, and the ops around it. Values that a control op only passes
    /// on are needed one by one.
    void need(OpId id) {
        for (OpId at = id; at.valid() && !needed_ops_[at.index]; at = kernel_[kernel_[at].parent].parent) {
            needed_ops_[at.index] = true;
            const Op& op = kernel_[at];
            const std::size_t own = own_operands(op);
            for (std::size_t i = 0; i < own; ++i) need(op.operands[i]);
            if (op.kind == OpKind::While) need(yield(op.blocks[0]).operands[0]);
        }
    }

    static bool combines(OpKind kind) { return kind == OpKind::Fold || kind == OpKind::Scan; }

    /// How many operands are the op's own; the others are initial values.
    static std::size_t own_operands(const Op& op) {
        if (op.kind == OpKind::For) return 3;
        if (op.kind == OpKind::While || op.kind == OpKind::Yield) return 0;
        return op.operands.size();
    }

    void need_origin(ValueId value) {
        const Value& origin = kernel_[value];
        if (origin.definition.valid()) {
            need(origin.definition);
            const Op& op = kernel_[origin.definition];
            if (!op.blocks.empty()) need_result(op, position(op.results, value));
        } else if (origin.block.valid() && kernel_[origin.block].parent.valid()) {
            const OpId loop = kernel_[origin.block].parent;
            need(loop);
            if (combines(kernel_[loop].kind)) return;
            const std::size_t argument = position(kernel_[origin.block].arguments, value);
            const std::size_t first = kernel_[loop].kind == OpKind::For ? 1 : 0;
            if (argument >= first) need(kernel_[loop].results[argument - first]);
        }
    }

    static std::size_t position(const std::vector<ValueId>& values, ValueId value) {
        return static_cast<std::size_t>(std::find(values.begin(), values.end(), value) - values.begin());
    }

    /// What result `i` of a control op is made of.
    void need_result(const Op& op, std::size_t i) {
        if (combines(op.kind)) {
            // Elements are combined together.
            for (const ValueId value : yield(op.blocks[0]).operands) need(value);
        } else if (op.kind == OpKind::If) {
            for (const BlockId block : op.blocks) need(yield(block).operands[i]);
        } else if (op.kind == OpKind::For) {
            need(op.operands[i + 3]);
            need(yield(op.blocks[0]).operands[i]);
        } else {
            need(op.operands[i]);
            need(yield(op.blocks[0]).operands[i + 1]);
            need(yield(op.blocks[1]).operands[i]);
        }
    }

    void sweep(BlockId block) {
        std::vector<OpId>& ops = kernel_[block].ops;
        std::erase_if(ops, [&](OpId op) { return kernel_[op].kind != OpKind::Yield && !needed_ops_[op.index]; });
        for (std::size_t i = 0; i < kernel_[block].ops.size(); ++i) {
            const OpId op = kernel_[block].ops[i];
            if (kernel_[op].blocks.empty()) continue;
            if (!combines(kernel_[op].kind)) narrow(op);
            for (const BlockId inner : kernel_[op].blocks) sweep(inner);
        }
    }

    /// Takes the results that nobody needs out of a control op.
    void narrow(OpId id) {
        Op& op = kernel_[id];
        std::vector<bool> kept;
        for (const ValueId result : op.results) kept.push_back(needed_values_[result.index]);
        if (std::find(kept.begin(), kept.end(), false) == kept.end()) return;
        keep_only(op.results, kept, 0);
        if (op.kind == OpKind::For) keep_only(op.operands, kept, 3);
        if (op.kind == OpKind::While) keep_only(op.operands, kept, 0);
        for (std::size_t i = 0; i < op.blocks.size(); ++i) {
            Block& block = kernel_[op.blocks[i]];
            if (op.kind != OpKind::If) keep_only(block.arguments, kept, op.kind == OpKind::For ? 1 : 0);
            const bool decides = op.kind == OpKind::While && i == 0;
            keep_only(kernel_[block.ops.back()].operands, kept, decides ? 1 : 0);
        }
    }

    static void keep_only(std::vector<ValueId>& values, const std::vector<bool>& kept, std::size_t first) {
        std::size_t next = first;
        for (std::size_t i = first; i < values.size(); ++i) {
            if (kept[i - first]) values[next++] = values[i];
        }
        values.resize(next);
    }

    Kernel& kernel_;
    std::vector<bool> needed_ops_, needed_values_;
    std::vector<ValueId> pending_;
};

}  // namespace

void remove_dead(Kernel& kernel) {
    RemoveDead(kernel).run();
}

}  // namespace kiln::ir
