#include "ir/passes/slice_gathers.h"

#include <unordered_map>

#include "ir/facts.h"
#include "ir/passes/rewrite.h"

namespace kiln::ir {

namespace {

/// Builds the first element of index tiles, as scalar ops.
class FirstElement {
public:
    FirstElement(Builder& builder, const Facts& facts) : builder_(builder), kernel_(builder.kernel()), facts_(facts) {}

    /// Of a tile that facts prove uniform or counting: its ops are those below.
    ValueId of(ValueId value) {
        if (kernel_.type(value).is_scalar()) return value;
        if (const auto known = known_.find(value.index); known != known_.end()) return known->second;
        const ValueId first = make(Op(*kernel_.definition(value)), value);
        known_.emplace(value.index, first);
        return first;
    }

private:
    ValueId make(const Op& op, ValueId value) {
        const ScalarType type = kernel_.type(value).element;
        if (op.kind == OpKind::Iota) return builder_.constant(Scalar::integer(type, 0));
        if (op.kind == OpKind::Extract) return first_of_part(op, type);
        if (!is_elementwise(op.kind)) return of(op.operands[0]);
        if (info(op.kind).result == ResultRule::Own) return builder_.convert(op.kind, of(op.operands[0]), type);
        std::vector<ValueId> operands;
        for (const ValueId operand : op.operands) operands.push_back(of(operand));
        return builder_.elementwise(op.kind, std::move(operands));
    }

    /// The first element of a part lies as far above the tile's as the part begins along the counting axis.
    ValueId first_of_part(const Op& op, ScalarType type) {
        const ValueId first = of(op.operands[0]);
        const Contiguity contiguity = facts_.contiguity(op.operands[0]);
        const std::int64_t steps = contiguity.known ? attribute<AxesAttribute>(op).axes[contiguity.axis] : 0;
        if (steps == 0) return first;
        return builder_.elementwise(OpKind::Add, {first, builder_.constant(Scalar::integer(type, steps))});
    }

    Builder& builder_;
    Kernel& kernel_;
    const Facts& facts_;
    std::unordered_map<std::uint32_t, ValueId> known_;
};

class SliceGathers : public Rewriter {
public:
    SliceGathers(Kernel& kernel, Shortfalls& shortfalls) : Rewriter(kernel), facts_(kernel), shortfalls_(shortfalls) {}

private:
    Verdict visit(OpId id, Builder& builder) override {
        const OpKind kind = kernel_[id].kind;
        if (kind != OpKind::Load && kind != OpKind::Store) return Verdict::Keep;
        if (!can_slice(kernel_[id])) {
            report(kernel_[id]);
            return Verdict::Keep;
        }
        AccessAttribute access = attribute<AccessAttribute>(kernel_[id]);
        std::vector<ValueId> operands = kernel_[id].operands;
        FirstElement first(builder, facts_);
        for (std::size_t axis = 0; axis < access.axes.size(); ++axis) {
            if (access.axes[axis].kind != AxisKind::Gather) continue;
            ValueId& index = operands[axis + 1];
            const Contiguity contiguity = facts_.contiguity(index);
            access.axes[axis] = AxisAccess{AxisKind::Index};
            if (contiguity.known) {
                access.axes[axis] = {AxisKind::Slice, kernel_.type(index).shape[contiguity.axis]};
            }
            index = first.of(index);
        }
        kernel_[id].operands = std::move(operands);
        kernel_[id].attribute = std::move(access);
        return Verdict::Keep;
    }

    /// The gathers count along all axes of their tiles, one each and in order, or are uniform; no slice stands between
    /// them, since the tiles' axes stand together where the first gather stands.
    bool can_slice(const Op& op) const {
        const AccessAttribute& access = attribute<AccessAttribute>(op);
        std::size_t counting = 0;
        std::size_t rank = 0;
        bool left = false;  // a slice has been met behind the first gather
        for (std::size_t axis = 0; axis < access.axes.size(); ++axis) {
            if (access.axes[axis].kind == AxisKind::Slice) left = rank > 0;
            if (access.axes[axis].kind != AxisKind::Gather) continue;
            const ValueId index = op.operands[axis + 1];
            rank = kernel_.type(index).shape.rank();
            if (left) return false;
            if (facts_.is_uniform(index)) continue;
            const Contiguity contiguity = facts_.contiguity(index);
            if (!contiguity.known || contiguity.axis != counting++ || may_wrap(index)) return false;
        }
        return rank > 0 && counting == rank;
    }

    void report(const Op& op) {
        const AccessAttribute& access = attribute<AccessAttribute>(op);
        for (std::size_t axis = 0; axis < access.axes.size(); ++axis) {
            const ValueId index = op.operands[axis + 1];
            if (access.axes[axis].kind != AxisKind::Gather || !counts_modulo(index)) continue;
            const bool wraps = !facts_.contiguity(index).known || may_wrap(index);
            const char* reason =
                wraps ? "it may wrap in its type: compute it in `int`" : "the tiles beside it are of another kind";
            shortfalls_.push_back({'c', op.span, std::string("this index tile counts up and is no slice: ") + reason});
            return;
        }
    }

    /// Whether the tile counts up, in its own type or in the one it was converted from.
    bool counts_modulo(ValueId index) const {
        const Op* op = kernel_.definition(index);
        const bool converted = op != nullptr && op->kind == OpKind::Convert;
        return facts_.contiguity(index).known || (converted && facts_.contiguity(op->operands[0]).known);
    }

    /// An i64 that wraps is negative and so outside, as the slice's element is; other types come back inside.
    bool may_wrap(ValueId index) const {
        const ScalarType type = kernel_.type(index).element;
        const Fact full = full_range(type);
        return type != kInt && facts_[index].lo == full.lo && facts_[index].hi == full.hi;
    }

    Facts facts_;
    Shortfalls& shortfalls_;
};

}  // namespace

void slice_gathers(Kernel& kernel, Shortfalls& shortfalls) {
    SliceGathers(kernel, shortfalls).run();
}

}  // namespace kiln::ir
