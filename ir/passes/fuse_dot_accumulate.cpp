#include "ir/passes/fuse_dot_accumulate.h"

#include "ir/passes/rewrite.h"

namespace kiln::ir {

namespace {

bool is_zero(const Kernel& kernel, ValueId value) {
    const std::optional<Scalar> constant = splat_constant(kernel, value);
    return constant && constant->as_double() == 0;
}

/// Whether a value is the product alone: a dot of this block, of accumulator 0, that nothing else uses.
bool is_plain_dot(const Kernel& kernel, ValueId value, BlockId block, const std::vector<std::uint32_t>& uses) {
    const Op* dot = kernel.definition(value);
    return dot != nullptr && dot->kind == OpKind::Dot && dot->parent == block && uses[value.index] == 1 &&
           is_zero(kernel, dot->operands[2]);
}

}  // namespace

void fuse_dot_accumulate(Kernel& kernel) {
    const std::vector<std::uint32_t> uses = count_uses(kernel);
    for_each_op(kernel, [&](OpId id) {
        Op& op = kernel[id];
        if (op.kind != OpKind::Add) return;
        for (const std::size_t side : {1u, 0u}) {
            if (!is_plain_dot(kernel, op.operands[side], op.parent, uses)) continue;
            const Op& dot = *kernel.definition(op.operands[side]);
            op.kind = OpKind::Dot;
            op.operands = {dot.operands[0], dot.operands[1], op.operands[1 - side]};
            op.attribute = dot.attribute;
            return;
        }
    });
}

}  // namespace kiln::ir
