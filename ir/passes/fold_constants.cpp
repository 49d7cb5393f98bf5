#include "ir/passes/fold_constants.h"

#include <cmath>

#include "ir/facts.h"
#include "ir/passes/rewrite.h"
#include "ir/semantics.h"

namespace kiln::ir {

namespace {

/// Bits of the significand, the hidden one included, and the least and greatest exponent of a finite value (that of the
/// least subnormal, and that of the greatest value).
struct FloatRange {
    int digits, least, greatest;
};

std::optional<FloatRange> float_range(ScalarType type) {
    switch (type) {
        case ScalarType::F64:
            return FloatRange{53, -1074, 1023};
        case ScalarType::F32:
            return FloatRange{24, -149, 127};
        case ScalarType::BF16:
            return FloatRange{8, -133, 127};
        case ScalarType::F16:
            return FloatRange{11, -24, 15};
        case ScalarType::F8E5M2:
            return FloatRange{3, -16, 15};
        case ScalarType::F8E4M3:
            return FloatRange{4, -9, 8};
        case ScalarType::F4E2M1:
            return FloatRange{2, -1, 2};
        case ScalarType::F8E8M0:
            return FloatRange{1, -127, 127};
        case ScalarType::Bool:
        case ScalarType::I8:
        case ScalarType::I16:
        case ScalarType::I32:
        case ScalarType::I64:
        case ScalarType::U8:
        case ScalarType::U16:
        case ScalarType::U32:
        case ScalarType::U64:
        case ScalarType::I4:
        case ScalarType::U4:
            return std::nullopt;
    }
    return std::nullopt;
}

bool is_whole(ScalarType type) {
    return is_integer(type) || type == ScalarType::I4 || type == ScalarType::U4;
}
bool has_sign(ScalarType type) {
    return is_signed(type) || type == ScalarType::I4;
}

/// Whether every value of a type of numbers has a value of the other type that is equal to it, NaN and infinities too.
bool is_exact(ScalarType from, ScalarType to) {
    if (from == to || from == ScalarType::Bool) return true;
    if (is_whole(from) && is_whole(to)) {
        if (has_sign(from) && !has_sign(to)) return false;
        return bit_width(from) < bit_width(to) || (bit_width(from) == bit_width(to) && has_sign(from) == has_sign(to));
    }
    const std::optional<FloatRange> target = float_range(to);
    if (!target || !is_float(to)) return false;
    if (is_whole(from)) return bit_width(from) <= target->digits && bit_width(from) <= target->greatest;
    const std::optional<FloatRange> source = float_range(from);
    return source && source->digits <= target->digits && source->least >= target->least &&
           source->greatest <= target->greatest;
}

class FoldConstants : public Rewriter {
public:
    explicit FoldConstants(Kernel& kernel) : Rewriter(kernel), facts_(kernel) {}

private:
    Verdict visit(OpId id, Builder& builder) override {
        const OpKind kind = kernel_[id].kind;
        if (kernel_[id].results.size() != 1 || info(kind).effect != Effect::Pure) return Verdict::Keep;
        if (kind == OpKind::Constant || is_splat(id)) return Verdict::Keep;
        if (const std::optional<Scalar> constant = known_value(id)) {
            become_constant(id, *constant, builder);
            return Verdict::Keep;
        }
        if (is_elementwise(kind)) return visit_elementwise(id);
        if (kind == OpKind::Broadcast) return visit_broadcast(id);
        if (kind == OpKind::Reshape) return visit_reshape(id);
        if (kind == OpKind::Permute) return visit_permute(id);
        if (kind == OpKind::Extract) return visit_extract(id);
        if (kind == OpKind::Reduce) return visit_reduce(id);
        return Verdict::Keep;
    }

    bool is_splat(OpId id) const {
        return kernel_[id].kind == OpKind::Broadcast && kernel_.constant(kernel_[id].operands[0]).has_value();
    }

    Verdict replace_result(OpId id, ValueId by) {
        replace(kernel_[id].result(), by);
        return Verdict::Drop;
    }

    /// The value that all elements have, if it is known.
    std::optional<Scalar> known_value(OpId id) const {
        const Op& op = kernel_[id];
        const Type& type = kernel_.type(op.result());
        if (type.is_tensor()) return std::nullopt;
        const Fact& fact = facts_[op.result()];
        const bool has_facts = is_integer(type.element) || type.element == ScalarType::Bool;
        if (has_facts && fact.lo == fact.hi) return Scalar::integer(type.element, fact.lo);
        return is_elementwise(op.kind) ? evaluated(op, type.element) : std::nullopt;
    }

    std::optional<Scalar> evaluated(const Op& op, ScalarType type) const {
        if (const std::optional<Scalar> same = of_equal_operands(op, type)) return same;
        std::vector<Scalar> operands;
        for (const ValueId operand : op.operands) {
            const std::optional<Scalar> constant = splat_constant(kernel_, operand);
            if (!constant) return std::nullopt;
            operands.push_back(*constant);
        }
        const bool converts = op.kind == OpKind::Convert || op.kind == OpKind::Saturate || op.kind == OpKind::Bitcast;
        return converts ? convert(op.kind, operands[0], type) : evaluate(op.kind, operands);
    }

    /// x - x, x ^ x and comparisons of x with itself, of integers: a float may be NaN. Products with 0 likewise.
    std::optional<Scalar> of_equal_operands(const Op& op, ScalarType type) const {
        if (op.operands.size() != 2 || !is_integer(kernel_.type(op.operands[0]).element)) return std::nullopt;
        const bool has_zero = is_integer_value(op.operands[0], 0) || is_integer_value(op.operands[1], 0);
        if (has_zero && (op.kind == OpKind::Mul || op.kind == OpKind::And)) return Scalar::integer(type, 0);
        if (op.operands[0] != op.operands[1]) return std::nullopt;
        const OpKind kind = op.kind;
        if (kind == OpKind::Sub || kind == OpKind::Xor) return Scalar::integer(type, 0);
        const bool holds = kind == OpKind::Equal || kind == OpKind::LessEqual || kind == OpKind::GreaterEqual;
        const bool fails = kind == OpKind::NotEqual || kind == OpKind::Less || kind == OpKind::Greater;
        return holds || fails ? std::optional(Scalar::boolean(holds)) : std::nullopt;
    }

    // What an operand is

    bool is_integer_value(ValueId value, std::int64_t wanted) const {
        const std::optional<Scalar> constant = splat_constant(kernel_, value);
        return constant && is_integer(constant->type) && constant->as_int64() == wanted;
    }
    bool is_float_value(ValueId value, double wanted) const {
        const std::optional<Scalar> constant = splat_constant(kernel_, value);
        if (!constant || !is_float(constant->type)) return false;
        const double held = constant->as_double();
        return held == wanted && std::signbit(held) == std::signbit(wanted);
    }
    bool is_one(ValueId value) const { return is_integer_value(value, 1) || is_float_value(value, 1.0); }
    bool is_bool_value(ValueId value, bool wanted) const {
        const std::optional<Scalar> constant = splat_constant(kernel_, value);
        return constant && constant->type == ScalarType::Bool && constant->as_bool() == wanted;
    }
    const Op* definition(ValueId value, OpKind kind) const {
        const Op* op = kernel_.definition(value);
        return op != nullptr && op->kind == kind ? op : nullptr;
    }

    // Identities

    Verdict visit_elementwise(OpId id) {
        const Op& op = kernel_[id];
        if (op.kind == OpKind::Convert) return visit_convert(id);
        std::optional<ValueId> same;
        if (op.operands.size() == 1) same = unary_identity(op);
        if (op.operands.size() == 2) same = binary_identity(op);
        if (op.kind == OpKind::Select) same = select_identity(op);
        return same ? replace_result(id, *same) : Verdict::Keep;
    }

    /// Twice the same turn, and abs of what is not negative.
    std::optional<ValueId> unary_identity(const Op& op) const {
        const bool turns = op.kind == OpKind::Neg || op.kind == OpKind::Not || op.kind == OpKind::LogicalNot;
        const Op* inner = turns ? definition(op.operands[0], op.kind) : nullptr;
        if (inner != nullptr) return inner->operands[0];
        const bool whole = is_integer(kernel_.type(op.operands[0]).element);
        if (op.kind == OpKind::Abs && whole && facts_[op.operands[0]].lo >= 0) return op.operands[0];
        return std::nullopt;
    }

    /// x + 0.0 is not x, since -0.0 + 0.0 is 0.0; x - 0.0 and x + -0.0 are.
    std::optional<ValueId> binary_identity(const Op& op) const {
        const ValueId a = op.operands[0];
        const ValueId b = op.operands[1];
        const OpKind kind = op.kind;
        if (kind == OpKind::Add)
            return neutral(a, b, [&](ValueId v) { return is_integer_value(v, 0) || is_float_value(v, -0.0); });
        if (kind == OpKind::Mul) return neutral(a, b, [&](ValueId v) { return is_one(v); });
        if (kind == OpKind::LogicalAnd) return neutral(a, b, [&](ValueId v) { return is_bool_value(v, true); });
        if (kind == OpKind::LogicalOr) return neutral(a, b, [&](ValueId v) { return is_bool_value(v, false); });
        if (kind == OpKind::And) return neutral(a, b, [&](ValueId v) { return is_all_ones(v); });
        if (kind == OpKind::Or || kind == OpKind::Xor)
            return neutral(a, b, [&](ValueId v) { return is_integer_value(v, 0); });
        if (kind == OpKind::Sub && (is_integer_value(b, 0) || is_float_value(b, 0.0))) return a;
        if ((kind == OpKind::Shl || kind == OpKind::Shr) && is_integer_value(b, 0)) return a;
        const bool divides = kind == OpKind::Div || kind == OpKind::CeilDiv || kind == OpKind::FloorDiv;
        if (divides && is_one(b)) return a;
        return range_identity(op);
    }

    /// The operand that the other, being neutral, or the same, leaves alone.
    template <class IsNeutral>
    std::optional<ValueId> neutral(ValueId a, ValueId b, const IsNeutral& is_neutral) const {
        if (is_neutral(b)) return a;
        if (is_neutral(a)) return b;
        return std::nullopt;
    }

    bool is_all_ones(ValueId value) const {
        const std::optional<Scalar> constant = splat_constant(kernel_, value);
        return constant && is_integer(constant->type) && *constant == Scalar::integer(constant->type, -1);
    }

    /// What the ranges of integers, or equal operands, decide.
    std::optional<ValueId> range_identity(const Op& op) const {
        const ValueId a = op.operands[0];
        const ValueId b = op.operands[1];
        const OpKind kind = op.kind;
        const bool idempotent = kind == OpKind::LogicalAnd || kind == OpKind::LogicalOr || kind == OpKind::And ||
                                kind == OpKind::Or || kind == OpKind::Min || kind == OpKind::Max;
        const ScalarType element = kernel_.type(a).element;
        if (idempotent && a == b && !is_float(element)) return a;
        const Fact& left = facts_[a];
        const Fact& right = facts_[b];
        const bool ordered = element != ScalarType::U64 || (left.lo >= 0 && right.lo >= 0);
        if (!is_integer(element) || !ordered) return std::nullopt;
        if ((kind == OpKind::Rem || kind == OpKind::Mod) && left.lo >= 0 && left.hi < right.lo) return a;
        if (kind == OpKind::Min && left.hi <= right.lo) return a;
        if (kind == OpKind::Min && right.hi <= left.lo) return b;
        if (kind == OpKind::Max && left.lo >= right.hi) return a;
        if (kind == OpKind::Max && right.lo >= left.hi) return b;
        return std::nullopt;
    }

    std::optional<ValueId> select_identity(const Op& op) const {
        const Fact& condition = facts_[op.operands[0]];
        if (condition.lo == 1 || is_bool_value(op.operands[0], true)) return op.operands[1];
        if (condition.hi == 0 || is_bool_value(op.operands[0], false)) return op.operands[2];
        if (op.operands[1] == op.operands[2]) return op.operands[1];
        if (is_bool_value(op.operands[1], true) && is_bool_value(op.operands[2], false)) return op.operands[0];
        return std::nullopt;
    }

    /// A -> B -> C is A -> C if the first step is exact and both ways round alike: within integers (wrap), or to a
    /// float. Back to A it is nothing.
    Verdict visit_convert(OpId id) {
        const Op& op = kernel_[id];
        const ScalarType to = kernel_.type(op.result()).element;
        if (kernel_.type(op.operands[0]).element == to) return replace_result(id, op.operands[0]);
        const Op* inner = definition(op.operands[0], OpKind::Convert);
        if (inner == nullptr) return Verdict::Keep;
        const ScalarType from = kernel_.type(inner->operands[0]).element;
        const ScalarType between = kernel_.type(op.operands[0]).element;
        if (!is_exact(from, between)) return Verdict::Keep;
        if (from == to) return replace_result(id, inner->operands[0]);
        const bool wraps = is_whole(from) && is_integer(between) && is_integer(to);
        const bool rounds = is_float(to) && (from == ScalarType::Bool || is_whole(from) || float_range(from));
        if (wraps || rounds) kernel_[id].operands[0] = inner->operands[0];
        return Verdict::Keep;
    }

    // Shape

    /// The scalar that a tile repeats, or the value itself if it is a scalar.
    std::optional<ValueId> repeated_scalar(ValueId value) const {
        if (kernel_.type(value).is_scalar()) return value;
        const Op* op = definition(value, OpKind::Broadcast);
        if (op == nullptr || !kernel_.type(op->operands[0]).is_scalar()) return std::nullopt;
        return op->operands[0];
    }
    bool keeps_shape(OpId id) const {
        return kernel_.type(kernel_[id].operands[0]).shape == kernel_.type(kernel_[id].result()).shape;
    }

    Verdict visit_broadcast(OpId id) {
        const ValueId operand = kernel_[id].operands[0];
        if (keeps_shape(id)) return replace_result(id, operand);
        if (const Op* inner = definition(operand, OpKind::Broadcast)) kernel_[id].operands[0] = inner->operands[0];
        return Verdict::Keep;
    }

    Verdict visit_reshape(OpId id) {
        if (const Op* inner = definition(kernel_[id].operands[0], OpKind::Reshape)) {
            kernel_[id].operands[0] = inner->operands[0];
        }
        if (keeps_shape(id)) return replace_result(id, kernel_[id].operands[0]);
        if (kernel_.type(kernel_[id].operands[0]).is_scalar()) return become_broadcast(id, kernel_[id].operands[0]);
        const std::optional<ValueId> scalar = repeated_scalar(kernel_[id].operands[0]);
        return scalar ? become_broadcast(id, *scalar) : Verdict::Keep;
    }

    Verdict visit_permute(OpId id) {
        if (const std::optional<ValueId> scalar = repeated_scalar(kernel_[id].operands[0])) {
            return become_broadcast(id, *scalar);
        }
        if (const Op* inner = definition(kernel_[id].operands[0], OpKind::Permute)) {
            Shape axes;
            for (const std::int64_t axis : attribute<AxesAttribute>(kernel_[id]).axes) {
                axes.push_back(attribute<AxesAttribute>(*inner).axes[static_cast<std::size_t>(axis)]);
            }
            kernel_[id].operands[0] = inner->operands[0];
            kernel_[id].attribute = AxesAttribute{axes};
        }
        const Shape& axes = attribute<AxesAttribute>(kernel_[id]).axes;
        for (std::size_t i = 0; i < axes.rank(); ++i) {
            if (axes[i] != static_cast<std::int64_t>(i)) return Verdict::Keep;
        }
        return replace_result(id, kernel_[id].operands[0]);
    }

    Verdict visit_extract(OpId id) {
        if (keeps_shape(id)) return replace_result(id, kernel_[id].operands[0]);
        const std::optional<ValueId> scalar = repeated_scalar(kernel_[id].operands[0]);
        return scalar ? become_broadcast(id, *scalar) : Verdict::Keep;
    }

    /// The least, greatest, any and all of copies are the copy. Sums are left to the order of the target.
    Verdict visit_reduce(OpId id) {
        const std::optional<ValueId> scalar = repeated_scalar(kernel_[id].operands[0]);
        const bool sums = attribute<ReduceAttribute>(kernel_[id]).kind == ReduceKind::Sum;
        return scalar && !sums ? become_broadcast(id, *scalar) : Verdict::Keep;
    }

    Facts facts_;
};

}  // namespace

void fold_constants(Kernel& kernel) {
    FoldConstants(kernel).run();
}

}  // namespace kiln::ir
