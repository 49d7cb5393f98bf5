#include "ir/passes/simplify_masks.h"

#include "ir/facts.h"
#include "ir/passes/rewrite.h"

namespace kiln::ir {

namespace {

class SimplifyMasks : public Rewriter {
public:
    explicit SimplifyMasks(Kernel& kernel) : Rewriter(kernel), facts_(kernel), uses_(count_uses(kernel)) {}

private:
    Verdict visit(OpId id, Builder& builder) override {
        const Op& op = kernel_[id];
        if (op.kind == OpKind::Select) return visit_select(id, builder);
        const bool masked = (op.kind == OpKind::Load || op.kind == OpKind::Store) && access(op).masked;
        return masked ? visit_masked(id) : Verdict::Keep;
    }

    static const AccessAttribute& access(const Op& op) { return attribute<AccessAttribute>(op); }

    Verdict visit_masked(OpId id) {
        Op& op = kernel_[id];
        const Fact& mask = facts_[op.operands.back()];
        if (mask.lo == 1) {
            std::get<AccessAttribute>(op.attribute).masked = false;
            op.operands.pop_back();
        } else if (mask.hi == 0) {
            return op.kind == OpKind::Store ? Verdict::Drop : become_broadcast(id, fill(op));
        }
        return Verdict::Keep;
    }

    ValueId fill(const Op& load) const { return load.operands[axis_operand_count(access(load)) + 1]; }

    /// select(m, load, v) -> the load where m, at the select's place: the mask may be younger than the load.
    Verdict visit_select(OpId id, Builder& builder) {
        const ValueId value = kernel_[id].operands[1];
        const Op* load = kernel_.definition(value);
        if (load == nullptr || !reads_constant_memory(kernel_, *load) || uses_of(value) != 1) return Verdict::Keep;
        if (load->parent != kernel_[id].parent || !repeats(kernel_[id].operands[2], fill(*load))) return Verdict::Keep;

        std::vector<ValueId> operands = load->operands;
        AccessAttribute masked = access(*load);
        ValueId mask = kernel_[id].operands[0];
        if (masked.masked) {
            const ValueId inner = operands.back();
            operands.pop_back();
            mask = builder.elementwise(OpKind::LogicalAnd, {inner, mask});
        }
        masked.masked = true;
        operands.push_back(mask);
        Op& op = kernel_[id];
        op.kind = OpKind::Load;
        op.operands = std::move(operands);
        op.attribute = std::move(masked);
        return Verdict::Keep;
    }

    std::uint32_t uses_of(ValueId value) const { return value.index < uses_.size() ? uses_[value.index] : 0; }

    /// Whether all elements of a value are the scalar `wanted`: the same value, or constants of the same bits.
    bool repeats(ValueId value, ValueId wanted) const {
        const Op* op = kernel_.definition(value);
        if (value == wanted || (op != nullptr && op->kind == OpKind::Broadcast && op->operands[0] == wanted))
            return true;
        const std::optional<Scalar> constant = splat_constant(kernel_, value);
        return constant && constant == kernel_.constant(wanted);
    }

    Facts facts_;
    std::vector<std::uint32_t> uses_;
};

}  // namespace

void simplify_masks(Kernel& kernel) {
    SimplifyMasks(kernel).run();
}

}  // namespace kiln::ir
