#include "ir/passes/rewrite.h"

#include <utility>

namespace kiln::ir {

void Rewriter::run() {
    rewrite_block(kernel_.host);
    for_each_header_use(kernel_, [&](ValueId& value) { resolve(value); });
    for (const Phase& phase : kernel_.phases) rewrite_block(phase.block);
}

void Rewriter::rewrite_block(BlockId block) {
    enter_block(block);
    Builder builder(kernel_, block);
    const std::vector<OpId> ops = std::exchange(kernel_[block].ops, {});
    for (const OpId op : ops) {
        for (ValueId& operand : kernel_[op].operands) resolve(operand);
        builder.set_span(kernel_[op].span);
        if (visit(op, builder) == Verdict::Drop) continue;
        for (std::size_t i = 0; i < kernel_[op].blocks.size(); ++i) rewrite_block(kernel_[op].blocks[i]);
        kernel_[block].ops.push_back(op);
    }
    leave_block(block);
}

/// Chains have one link: `to` was resolved when it was an operand, or is new.
void Rewriter::replace(ValueId from, ValueId to) {
    resolve(to);
    if (from.index >= replaced_.size()) replaced_.resize(kernel_.values.size());
    replaced_[from.index] = to;
}

void Rewriter::resolve(ValueId& value) const {
    while (value.index < replaced_.size() && replaced_[value.index].valid()) value = replaced_[value.index];
}

void Rewriter::become_constant(OpId id, Scalar value, Builder& builder) {
    if (kernel_.type(kernel_[id].result()).is_scalar()) {
        Op& op = kernel_[id];
        op.kind = OpKind::Constant;
        op.operands.clear();
        op.attribute = value;
        return;
    }
    const ValueId constant = builder.constant(value);
    become_broadcast(id, constant);
}

Rewriter::Verdict Rewriter::become_broadcast(OpId id, ValueId scalar) {
    Op& op = kernel_[id];
    if (kernel_.type(op.result()).is_scalar()) {
        replace(op.result(), scalar);
        return Verdict::Drop;
    }
    op.kind = OpKind::Broadcast;
    op.operands = {scalar};
    op.attribute = std::monostate{};
    return Verdict::Keep;
}

std::vector<std::uint32_t> count_uses(const Kernel& kernel) {
    std::vector<std::uint32_t> uses(kernel.values.size());
    for_each_op(kernel, [&](OpId op) {
        for (const ValueId operand : kernel[op].operands) ++uses[operand.index];
    });
    for_each_header_use(kernel, [&](ValueId value) { ++uses[value.index]; });
    return uses;
}

std::optional<Scalar> splat_constant(const Kernel& kernel, ValueId value) {
    const Op* op = kernel.definition(value);
    if (op != nullptr && op->kind == OpKind::Broadcast) return kernel.constant(op->operands[0]);
    return kernel.constant(value);
}

bool reads_constant_memory(const Kernel& kernel, const Op& op) {
    return op.kind == OpKind::Load && kernel.type(op.operands[0]).access == Access::In;
}

}  // namespace kiln::ir
