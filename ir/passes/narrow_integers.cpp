#include "ir/passes/narrow_integers.h"

#include <algorithm>

#include "ir/facts.h"
#include "ir/passes/rewrite.h"

namespace kiln::ir {

namespace {

bool is_int_tile(const Type& type) {
    return type.is_tile() && type.element == kInt;
}

bool is_gather(const Op& op, std::size_t operand) {
    if (op.kind != OpKind::Load && op.kind != OpKind::Store && op.kind != OpKind::Atomic) return false;
    const std::vector<AxisAccess>& axes = access_of(op).axes;
    return operand >= 1 && operand <= axes.size() && axes[operand - 1].kind == AxisKind::Gather;
}

class NarrowIntegers : public Rewriter {
public:
    explicit NarrowIntegers(Kernel& kernel)
        : Rewriter(kernel), facts_(kernel), needs_64_bits_(kernel.values.size()), narrow_(kernel.ops.size()) {
        std::vector<OpId> ops;
        for_each_op(kernel, [&](OpId op) { ops.push_back(op); });
        // Backwards: users are decided before what they use.
        for (auto op = ops.rbegin(); op != ops.rend(); ++op) decide(*op);
    }

private:
    void decide(OpId id) {
        const Op& op = kernel_[id];
        narrow_[id.index] = can_narrow(op);
        if (narrow_[id.index]) return;
        for (std::size_t i = 0; i < op.operands.size(); ++i) {
            const ValueId operand = op.operands[i];
            if (kernel_.type(operand).element == kInt && !is_gather(op, i)) needs_64_bits_[operand.index] = true;
        }
    }

    bool can_narrow(const Op& op) const {
        const bool moves = info(op.kind).group == OpGroup::Shape && op.kind != OpKind::Constant;
        if (!(is_elementwise(op.kind) || moves) || !kernel_.type(op.result()).is_tile()) return false;
        return facts_.fits_32_bits(kernel_, op) && !needs_64_bits_[op.result().index];
    }

    Verdict visit(OpId id, Builder& builder) override {
        if (id.index >= narrow_.size() || !narrow_[id.index]) return Verdict::Keep;
        for (std::size_t i = 0; i < kernel_[id].operands.size(); ++i) {
            const ValueId operand = kernel_[id].operands[i];
            if (kernel_.type(operand).element != kInt) continue;
            const ValueId narrow = narrowed(operand, builder);
            kernel_[id].operands[i] = narrow;
        }
        const Op& op = kernel_[id];
        Type& type = kernel_[op.result()].type;
        if (type.element == kInt) type.element = ScalarType::I32;
        const bool converts = op.kind == OpKind::Convert || op.kind == OpKind::Saturate;
        if (!converts || type.element != ScalarType::I32 || kernel_.type(op.operands[0]) != type) return Verdict::Keep;
        replace(op.result(), op.operands[0]);
        return Verdict::Drop;
    }

    ValueId narrowed(ValueId value, Builder& builder) const {
        if (const auto constant = kernel_.constant(value)) {
            return builder.constant(Scalar::integer(ScalarType::I32, constant->as_int64()));
        }
        return builder.convert(OpKind::Convert, value, ScalarType::I32);
    }

    const Facts facts_;
    std::vector<bool> needs_64_bits_;  ///< by value: a user takes it as it is
    std::vector<bool> narrow_;         ///< by op
};

/// Finds the arithmetic of tiles at which 64 bits begin to be needed.
class WideTiles {
public:
    WideTiles(const Kernel& kernel, Shortfalls& shortfalls)
        : kernel_(kernel), facts_(kernel), told_(kernel.values.size()), shortfalls_(shortfalls) {}

    void find() {
        for_each_op(kernel_, [&](OpId id) { visit(kernel_[id]); });
    }

private:
    void visit(const Op& op) {
        if (op.results.size() != 1 || kernel_.type(op.result()).is_tensor()) return;
        bool told = op.kind == OpKind::Load && kernel_.type(op.result()).element == kInt;
        for (const ValueId operand : op.operands) told = told || told_[operand.index];
        if (!told && is_elementwise(op.kind) && takes_tiles(op) && !facts_.fits_32_bits(kernel_, op)) {
            report(op);
            told = true;
        }
        told_[op.result().index] = told;
    }

    bool takes_tiles(const Op& op) const {
        if (is_int_tile(kernel_.type(op.result()))) return true;
        return is_int_tile(kernel_.type(op.operands.back()));  // of a comparison or conversion
    }

    void report(const Op& op) {
        shortfalls_.push_back(
            {'f', op.span, std::string("this arithmetic of index tiles takes 64 bits: ") + reason(op)});
    }

    /// Goes up from the op to the value that first exceeds 32 bits.
    const char* reason(const Op& op) const {
        ValueId wide;
        for (ValueId next = wide_one(op.operands); next.valid(); next = wide_one(sources(wide))) wide = next;
        if (!wide.valid()) return "its result may need them";
        if (is_parameter(wide)) return "a number that a launch gives has no range";
        const Op* origin = kernel_.definition(wide);
        const bool handed_on = origin != nullptr ? !origin->blocks.empty() : kernel_[wide].block.valid();
        if (handed_on) return "a number that a loop or branch hands on has no range";
        if (origin != nullptr && origin->kind != OpKind::Size) return "a result on the way may need them";
        return "the arguments are not known to be small";
    }

    ValueId wide_one(const std::vector<ValueId>& values) const {
        const auto wide = std::find_if(values.begin(), values.end(), [&](ValueId value) {
            return kernel_.type(value).element == kInt && !kernel_.type(value).is_tensor() &&
                   !facts_[value].fits_32_bits();
        });
        return wide == values.end() ? ValueId() : *wide;
    }

    /// The values that a value's range comes from.
    std::vector<ValueId> sources(ValueId value) const {
        if (const Op* op = kernel_.definition(value)) return op->blocks.empty() ? op->operands : std::vector<ValueId>{};
        const BlockId block = kernel_[value].block;
        if (!block.valid()) return {};
        for (const Phase& phase : kernel_.phases) {
            if (phase.block != block) continue;
            const auto& offsets = kernel_[block].arguments;
            const auto place = std::find(offsets.begin(), offsets.end(), value) - offsets.begin();
            const GridAxis& axis = phase.axes[static_cast<std::size_t>(place)];
            return {axis.lower, axis.upper};
        }
        const Op& loop = kernel_[kernel_[block].parent];
        if (loop.kind != OpKind::For || kernel_[block].arguments.front() != value) return {};
        return {loop.operands[0], loop.operands[1]};
    }

    bool is_parameter(ValueId value) const {
        return std::any_of(kernel_.parameters.begin(), kernel_.parameters.end(),
                           [&](const Parameter& parameter) { return parameter.value == value; });
    }

    const Kernel& kernel_;
    const Facts facts_;
    std::vector<bool> told_;  ///< by value: what is above it has been reported, or is not ours to report
    Shortfalls& shortfalls_;
};

}  // namespace

void narrow_integers(Kernel& kernel, Shortfalls& shortfalls) {
    WideTiles(kernel, shortfalls).find();
    NarrowIntegers(kernel).run();
}

}  // namespace kiln::ir
