// What the passes share: a walk in program order that replaces values as it goes, and counts of uses. All linear in the
// size of the kernel.
#pragma once

#include <vector>

#include "ir/builder.h"

namespace kiln::ir {

/// A pass as a visit to every op: definitions come before uses, so that one walk sees each operand in its final form.
class Rewriter {
public:
    explicit Rewriter(Kernel& kernel) : kernel_(kernel), replaced_(kernel.values.size()) {}
    virtual ~Rewriter() = default;

    /// Visits the host block, then each phase. Replacements also reach checks, scratch and grids.
    void run();

protected:
    enum class Verdict : std::uint8_t { Keep, Drop };

    /// Called once an op, its operands replaced already and before its blocks are entered. May change the op in place,
    /// and append ops that then stand before it with `builder`; references to ops do not survive that. Dropped ops need
    /// every result replaced.
    virtual Verdict visit(OpId op, Builder& builder) = 0;
    virtual void enter_block(BlockId) {}
    virtual void leave_block(BlockId) {}

    /// All later uses of `from` become uses of `to`.
    void replace(ValueId from, ValueId to);
    /// Makes an op of one result the constant, of its result's type.
    void become_constant(OpId op, Scalar value, Builder& builder);
    /// Makes an op of one result a broadcast of a scalar, or replaces the result by it if that is a scalar, too.
    Verdict become_broadcast(OpId op, ValueId scalar);

    Kernel& kernel_;

private:
    void rewrite_block(BlockId block);
    void resolve(ValueId& value) const;

    std::vector<ValueId> replaced_;  ///< invalid for values that stand for themselves
};

/// How many operands and header entries (checks, scratch, grids) name each value.
std::vector<std::uint32_t> count_uses(const Kernel& kernel);

/// Calls `visit(OpId)` for each op of a block and of the blocks within, in program order.
template <class Visit>
void for_each_op(const Kernel& kernel, BlockId block, const Visit& visit) {
    for (const OpId op : kernel[block].ops) {
        visit(op);
        for (const BlockId inner : kernel[op].blocks) for_each_op(kernel, inner, visit);
    }
}

/// The same for the whole kernel.
template <class Visit>
void for_each_op(const Kernel& kernel, const Visit& visit) {
    for_each_op(kernel, kernel.host, visit);
    for (const Phase& phase : kernel.phases) for_each_op(kernel, phase.block, visit);
}

/// Calls `visit(ValueId&)` for each value that checks, scratch and grids name. `K` is Kernel or const Kernel.
template <class K, class Visit>
void for_each_header_use(K& kernel, const Visit& visit) {
    for (auto& check : kernel.checks) visit(check.expected);
    for (auto& scratch : kernel.scratch) {
        for (auto& extent : scratch.extents) visit(extent);
        if (scratch.initial) visit(*scratch.initial);
    }
    for (auto& phase : kernel.phases) {
        for (auto& axis : phase.axes) {
            visit(axis.lower);
            visit(axis.upper);
            visit(axis.step);
        }
    }
}

/// The constant whose copies are all elements of a value: a Constant, or a Broadcast of one.
std::optional<Scalar> splat_constant(const Kernel& kernel, ValueId value);

/// Whether a load may move and merge like a pure op: nothing writes an `in` tensor while a kernel runs.
bool reads_constant_memory(const Kernel& kernel, const Op& op);

}  // namespace kiln::ir
