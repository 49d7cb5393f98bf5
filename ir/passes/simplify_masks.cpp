#include "ir/passes/simplify_masks.h"

#include "ir/facts.h"
#include "ir/passes/rewrite.h"

namespace kiln::ir {

namespace {

class SimplifyMasks : public Rewriter {
public:
    SimplifyMasks(Kernel& kernel, Shortfalls& shortfalls)
        : Rewriter(kernel), facts_(kernel), uses_(count_uses(kernel)), shortfalls_(shortfalls) {}

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
        const bool reads_second = is_only_read(kernel_[id].operands[1]);
        if (!reads_second && !is_only_read(kernel_[id].operands[2])) return Verdict::Keep;
        const Op load = *kernel_.definition(kernel_[id].operands[reads_second ? 1 : 2]);
        const ValueId other = kernel_[id].operands[reads_second ? 2 : 1];
        const std::optional<ValueId> wanted = fill_for(load, other);
        if (load.parent != kernel_[id].parent || !wanted) {
            report(id, load, other);
            return Verdict::Keep;
        }
        ValueId mask = kernel_[id].operands[0];
        if (!reads_second) mask = builder.elementwise(OpKind::LogicalNot, {mask});
        std::vector<ValueId> operands = load.operands;
        AccessAttribute masked = access(load);
        if (masked.masked) {
            mask = builder.elementwise(OpKind::LogicalAnd, {operands.back(), mask});
            operands.pop_back();
        }
        masked.masked = true;
        operands.back() = *wanted;
        operands.push_back(mask);
        Op& op = kernel_[id];
        op.kind = OpKind::Load;
        op.operands = std::move(operands);
        op.attribute = std::move(masked);
        return Verdict::Keep;
    }

    bool is_only_read(ValueId value) const {
        const Op* op = kernel_.definition(value);
        return op != nullptr && reads_constant_memory(kernel_, *op) && uses_of(value) == 1;
    }

    /// The fill with which a read gives what select(m, read, other) gives, if there is one.
    std::optional<ValueId> fill_for(const Op& load, ValueId other) const {
        if (repeats(other, fill(load))) return fill(load);
        const Op* broadcast = kernel_.definition(other);
        if (access(load).masked || !lies_inside(load)) return std::nullopt;
        if (kernel_.type(other).is_scalar()) return other;
        const bool repeated = broadcast != nullptr && broadcast->kind == OpKind::Broadcast &&
                              kernel_.type(broadcast->operands[0]).is_scalar();
        return repeated ? std::optional(broadcast->operands[0]) : std::nullopt;
    }

    /// Whether facts prove that no element is outside; only sizes known at compile time are asked.
    bool lies_inside(const Op& load) const {
        const Shape& sizes = kernel_.type(load.operands[0]).shape;
        for (std::size_t axis = 0; axis < sizes.rank(); ++axis) {
            const AxisAccess& named = access(load).axes[axis];
            const Fact& fact = facts_[load.operands[axis + 1]];
            const std::int64_t behind = named.kind == AxisKind::Slice ? named.length - 1 : 0;
            if (sizes[axis] == kDynamic || fact.lo < 0 || fact.hi >= sizes[axis] - behind) return false;
        }
        return true;
    }

    void report(OpId id, const Op& load, ValueId other) {
        const char* reason = load.parent != kernel_[id].parent
                                 ? "the read stands outside the loop or branch of the select"
                                 : "elements outside the tensor would differ: give the read `fill` the other value";
        const bool repeated =
            kernel_.type(other).is_scalar() || facts_.is_uniform(other) || splat_constant(kernel_, other);
        if (!repeated && load.parent == kernel_[id].parent) reason = "the other value is not one for all elements";
        shortfalls_.push_back({'b', kernel_[id].span, std::string("this select of a read reads all of it: ") + reason});
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
    Shortfalls& shortfalls_;
};

}  // namespace

void simplify_masks(Kernel& kernel, Shortfalls& shortfalls) {
    SimplifyMasks(kernel, shortfalls).run();
}

}  // namespace kiln::ir
