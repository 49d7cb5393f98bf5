#include "ir/passes/split_loops.h"

#include <algorithm>
#include <map>
#include <utility>

#include "ir/facts.h"
#include "ir/passes/rewrite.h"

namespace kiln::ir {

namespace {

__extension__ typedef __int128 Int128;

/// Larger bodies are not worth their copies.
constexpr std::size_t kMostOps = 400;
/// Sums of this size can be added and subtracted without wrapping.
constexpr std::int64_t kSafe = std::int64_t{1} << 60;

/// A value as coefficient * index + the terms + something in lo ... hi. Terms are scalars from outside the loop.
struct Linear {
    std::int64_t coefficient = 0;
    std::map<ValueId, std::int64_t> terms;
    Int128 lo = 0, hi = 0;

    void add(const Linear& other, std::int64_t sign) {
        coefficient += sign * other.coefficient;
        for (const auto& [value, factor] : other.terms) terms[value] += sign * factor;
        lo += sign > 0 ? other.lo : -other.hi;
        hi += sign > 0 ? other.hi : -other.lo;
    }
};

/// Whether an op's result has no other elements than its operand.
bool only_moves(OpKind kind) {
    return kind == OpKind::Broadcast || kind == OpKind::Reshape || kind == OpKind::Permute || kind == OpKind::Extract;
}

/// What a comparison asks of a loop's index to be true for all elements: index < bound, or index >= bound.
struct Condition {
    OpId op;
    bool is_upper = true;
    Linear bound;  ///< its `lo` is the constant part
};

/// The comparison as first < second or first <= second.
struct Ordered {
    ValueId first, second;
    bool strict = true;
};
std::optional<Ordered> ordered(const Op& op) {
    if (op.kind == OpKind::Less) return Ordered{op.operands[0], op.operands[1], true};
    if (op.kind == OpKind::LessEqual) return Ordered{op.operands[0], op.operands[1], false};
    if (op.kind == OpKind::Greater) return Ordered{op.operands[1], op.operands[0], true};
    if (op.kind == OpKind::GreaterEqual) return Ordered{op.operands[1], op.operands[0], false};
    return std::nullopt;
}

/// Reads values of one loop's body as linear in its index.
class LinearReader {
public:
    LinearReader(const Kernel& kernel, const Facts& facts, OpId loop)
        : kernel_(kernel), facts_(facts), inside_(kernel.values.size()), moves_(kernel.values.size()) {
        const BlockId body = kernel[loop].blocks.front();
        index_ = kernel[body].arguments.front();
        moves_[index_.index] = true;
        mark(body);
    }

    /// Nothing if the value is another function, or might wrap.
    std::optional<Linear> read(ValueId value) {
        steps_left_ = kMostSteps;
        return linear(value);
    }
    bool moves_with_index(ValueId value) const { return moves_[value.index]; }

private:
    /// A value may be reached in many ways.
    static constexpr int kMostSteps = 256;

    void mark(BlockId block) {
        for (const ValueId argument : kernel_[block].arguments) inside_[argument.index] = true;
        for (const OpId id : kernel_[block].ops) {
            const Op& op = kernel_[id];
            const bool moves = op.blocks.empty() && std::any_of(op.operands.begin(), op.operands.end(),
                                                                [&](ValueId operand) { return moves_[operand.index]; });
            for (const ValueId result : op.results) {
                inside_[result.index] = true;
                moves_[result.index] = moves;
            }
            for (const BlockId inner : op.blocks) mark(inner);
        }
    }

    std::optional<Linear> linear(ValueId value) {
        if (--steps_left_ < 0 || kernel_.type(value).element != kInt) return std::nullopt;
        if (value == index_) return Linear{1, {}, 0, 0};
        const Op* op = kernel_.definition(value);
        if (op != nullptr && op->kind == OpKind::Iota) return Linear{0, {}, 0, kernel_.type(value).shape[0] - 1};
        if (op != nullptr && only_moves(op->kind)) return linear(op->operands[0]);
        if (op != nullptr && (op->kind == OpKind::Add || op->kind == OpKind::Sub)) {
            if (auto found = sum(*op, value)) return found;
        }
        const Fact& fact = facts_[value];
        if (fact.lo < -kSafe || fact.hi > kSafe) return std::nullopt;
        if (kernel_.type(value).is_scalar() && !inside_[value.index] && fact.lo < fact.hi) {
            return Linear{0, {{value, 1}}, 0, 0};
        }
        return Linear{0, {}, fact.lo, fact.hi};
    }

    std::optional<Linear> sum(const Op& op, ValueId value) {
        const Fact& fact = facts_[value];
        const Fact full = full_range(kInt);
        if (fact.lo == full.lo && fact.hi == full.hi) return std::nullopt;  // it may wrap
        std::optional<Linear> result = linear(op.operands[0]);
        const std::optional<Linear> other = linear(op.operands[1]);
        if (!result || !other) return std::nullopt;
        result->add(*other, op.kind == OpKind::Add ? 1 : -1);
        return result;
    }

    const Kernel& kernel_;
    const Facts& facts_;
    ValueId index_;
    std::vector<bool> inside_, moves_;
    int steps_left_ = 0;
};

/// Copies blocks, with values from outside as they are and those in `copies` replaced.
class BlockCopier {
public:
    explicit BlockCopier(Kernel& kernel) : kernel_(kernel) {}

    BlockId copy(BlockId block, OpId owner) {
        const BlockId fresh = kernel_.add_block();
        kernel_[fresh].parent = owner;
        const std::vector<ValueId> arguments = kernel_[block].arguments;
        for (const ValueId argument : arguments) {
            const Type type = kernel_.type(argument);
            const std::string name = kernel_[argument].name;
            copies_[argument] = kernel_.add_argument(fresh, type, name);
        }
        const std::vector<OpId> ops = kernel_[block].ops;
        for (const OpId op : ops) copy_op(op, fresh);
        return fresh;
    }
    /// The op is not copied: its result is this constant in the copy.
    void replace_by(OpId op, Scalar constant) { constants_[op] = constant; }

private:
    void copy_op(OpId id, BlockId block) {
        Builder builder(kernel_, block);
        builder.set_span(kernel_[id].span);
        if (const auto constant = constants_.find(id); constant != constants_.end()) {
            const ValueId result = kernel_[id].result();
            const Type type = kernel_.type(result);
            copies_[result] = builder.splat(constant->second, type);
            return;
        }
        const Op original = kernel_[id];
        std::vector<ValueId> operands = original.operands;
        for (ValueId& operand : operands) operand = current(operand);
        std::vector<Type> types;
        for (const ValueId result : original.results) types.push_back(kernel_.type(result));
        const OpId fresh = builder.append(original.kind, std::move(operands), types, original.attribute);
        for (std::size_t i = 0; i < original.results.size(); ++i) {
            const ValueId result = kernel_[fresh].results[i];
            kernel_[result].name = std::string(kernel_[original.results[i]].name);
            copies_[original.results[i]] = result;
        }
        for (const BlockId inner : original.blocks) {
            const BlockId copied = copy(inner, fresh);
            kernel_[fresh].blocks.push_back(copied);
        }
    }

    ValueId current(ValueId value) const {
        const auto found = copies_.find(value);
        return found == copies_.end() ? value : found->second;
    }

    Kernel& kernel_;
    std::map<ValueId, ValueId> copies_;
    std::map<OpId, Scalar> constants_;
};

class SplitLoops {
public:
    SplitLoops(Kernel& kernel, Shortfalls& shortfalls) : kernel_(kernel), facts_(kernel), shortfalls_(shortfalls) {}

    void run() {
        for (const Phase& phase : kernel_.phases) split_within(BlockId(phase.block));
    }

private:
    /// Inner loops first: an outer one then copies their parts, too.
    void split_within(BlockId block) {
        const std::vector<OpId> ops = std::exchange(kernel_[block].ops, {});
        for (const OpId op : ops) {
            const std::vector<BlockId> inner = kernel_[op].blocks;
            for (const BlockId each : inner) split_within(each);
            if (kernel_[op].kind == OpKind::For && !is_part(op, ops)) split(op, block);
            kernel_[block].ops.push_back(op);
        }
    }

    /// Whether the loop is a part that this pass made: it begins at what the end of another loop rounds up to, or
    /// another one begins so at its end. Such a loop has been divided as far as it can be.
    bool is_part(OpId loop, const std::vector<OpId>& neighbours) const {
        const std::vector<ValueId>& own = kernel_[loop].operands;
        return std::any_of(neighbours.begin(), neighbours.end(), [&](OpId id) {
            const Op& other = kernel_[id];
            if (id == loop || other.kind != OpKind::For || other.operands[2] != own[2]) return false;
            return comes_from(own[0], other.operands[1]) || comes_from(other.operands[0], own[1]);
        });
    }

    /// Whether index arithmetic of some ops leads from `source` to `value`.
    bool comes_from(ValueId value, ValueId source, int depth = 8) const {
        const Op* op = kernel_.definition(value);
        if (op == nullptr || depth == 0 || value == source || !is_elementwise(op->kind)) return false;
        return std::any_of(op->operands.begin(), op->operands.end(), [&](ValueId operand) {
            return operand == source || comes_from(operand, source, depth - 1);
        });
    }

    struct Found {
        std::vector<Condition> conditions;
        std::vector<OpId> others;  ///< comparisons that move with the index and were not understood
    };

    void split(OpId loop, BlockId block) {
        const Found found = find(loop);
        const auto step = kernel_.constant(kernel_[loop].operands[2]);
        const bool is_small = count_ops(loop) <= kMostOps;
        const bool can = step && step->as_int64() > 0 && is_small;
        for (const OpId op : found.others)
            fall_short(op, "its bound is no sum of values from outside the loop, or may wrap");
        if (!can) {
            const char* reason =
                is_small ? "the loop's step is known only at launch" : "the loop's body is too large to be copied";
            for (const Condition& condition : found.conditions) fall_short(condition.op, reason);
        }
        if (can && !found.conditions.empty()) divide(loop, block, found.conditions, step->as_int64());
    }

    void fall_short(OpId op, const char* reason) {
        shortfalls_.push_back({'a', kernel_[op].span, std::string("this mask is computed in each round: ") + reason});
    }

    /// Of the loop's own rounds: loops inside have been looked at.
    Found find(OpId loop) const {
        Found found;
        LinearReader reader(kernel_, facts_, loop);
        for (const OpId id : kernel_[kernel_[loop].blocks.front()].ops) {
            const Op& op = kernel_[id];
            const auto order = ordered(op);
            if (!order || !kernel_.type(op.result()).is_tile() || facts_[op.result()].lo == facts_[op.result()].hi)
                continue;
            if (kernel_.type(op.operands[0]).element != kInt) continue;
            if (!reader.moves_with_index(op.result())) continue;
            if (const auto condition = condition_of(id, *order, reader)) {
                if (may_hold(*condition, loop)) found.conditions.push_back(*condition);
            } else {
                found.others.push_back(id);
            }
        }
        return found;
    }

    /// first < second for all elements: c * index < second.terms - first.terms + second.lo - first.hi, c being 1 or -1.
    std::optional<Condition> condition_of(OpId op, const Ordered& order, LinearReader& reader) const {
        const auto first = reader.read(order.first), second = reader.read(order.second);
        if (!first || !second) return std::nullopt;
        const std::int64_t coefficient = first->coefficient - second->coefficient;
        if (coefficient != 1 && coefficient != -1) return std::nullopt;
        Linear bound;
        bound.add(*second, 1);
        bound.add(*first, -1);
        const Int128 constant = bound.lo + (order.strict ? 0 : 1);
        // -index < b is index > -b, which is index >= 1 - b.
        Condition condition{op, coefficient == 1, {}};
        condition.bound.add(bound, coefficient);
        condition.bound.lo = coefficient == 1 ? constant : 1 - constant;
        return is_safe(condition.bound) ? std::optional(condition) : std::nullopt;
    }

    /// What facts say of a bound.
    std::pair<Int128, Int128> range(const Linear& bound) const {
        Int128 lo = bound.lo, hi = bound.lo;
        for (const auto& [value, factor] : bound.terms) {
            lo += factor * Int128(factor > 0 ? facts_[value].lo : facts_[value].hi);
            hi += factor * Int128(factor > 0 ? facts_[value].hi : facts_[value].lo);
        }
        return {lo, hi};
    }
    bool is_safe(const Linear& bound) const {
        const bool simple = std::all_of(bound.terms.begin(), bound.terms.end(),
                                        [](const auto& term) { return term.second >= -1 && term.second <= 1; });
        const auto [lo, hi] = range(bound);
        return simple && lo >= -kSafe && hi <= kSafe;
    }
    /// Whether there may be rounds in which the comparison is true for all elements.
    bool may_hold(const Condition& condition, OpId loop) const {
        const auto [lo, hi] = range(condition.bound);
        const std::vector<ValueId>& operands = kernel_[loop].operands;
        return condition.is_upper ? hi > facts_[operands[0]].lo : lo < facts_[operands[1]].hi;
    }

    std::size_t count_ops(OpId loop) const {
        std::size_t count = 0;
        for_each_op(kernel_, kernel_[loop].blocks.front(), [&](OpId) { ++count; });
        return count;
    }

    ValueId add(Builder& builder, OpKind kind, ValueId a, ValueId b) const { return builder.elementwise(kind, {a, b}); }

    ValueId value_of(Builder& builder, const Linear& bound) const {
        ValueId sum = builder.constant_int(static_cast<std::int64_t>(bound.lo));
        for (const auto& [value, factor] : bound.terms) {
            if (factor != 0) sum = add(builder, factor > 0 ? OpKind::Add : OpKind::Sub, sum, value);
        }
        return sum;
    }

    /// The first of the offsets lower, lower + step, ... that is not below `bound`.
    ValueId first_not_below(Builder& builder, ValueId lower, ValueId bound, std::int64_t step) const {
        const ValueId distance =
            add(builder, OpKind::Max, add(builder, OpKind::Sub, bound, lower), builder.constant_int(0));
        if (step == 1) return add(builder, OpKind::Add, lower, distance);
        const ValueId size = builder.constant_int(step);
        const ValueId rounds = add(builder, OpKind::CeilDiv, distance, size);
        return add(builder, OpKind::Add, lower, add(builder, OpKind::Mul, rounds, size));
    }

    /// Places the parts before the loop, which becomes the last one.
    void divide(OpId loop, BlockId block, const std::vector<Condition>& conditions, std::int64_t step) {
        Builder builder(kernel_, block);
        builder.set_span(kernel_[loop].span);
        const ValueId upper = kernel_[loop].operands[1];
        ValueId begin = kernel_[loop].operands[0], end = upper;
        bool has_end = false;
        for (const Condition& condition : conditions) {
            if (!condition.is_upper) begin = add(builder, OpKind::Max, value_of(builder, condition.bound), begin);
            if (condition.is_upper) end = add(builder, OpKind::Min, value_of(builder, condition.bound), end);
            has_end |= condition.is_upper;
        }
        if (begin != kernel_[loop].operands[0]) {
            begin = add(builder, OpKind::Min, begin, upper);
            const ValueId first = first_not_below(builder, kernel_[loop].operands[0], begin, step);
            place_part(builder, loop, begin, {});
            kernel_[loop].operands[0] = first;
        }
        if (has_end) {
            const ValueId last = first_not_below(builder, kernel_[loop].operands[0], end, step);
            place_part(builder, loop, end, conditions);
            kernel_[loop].operands[0] = last;
        } else {
            for (const Condition& condition : conditions) become_true(builder, condition.op);
        }
    }

    void become_true(Builder& builder, OpId comparison) {
        const ValueId constant = builder.constant(Scalar::boolean(true));
        Op& op = kernel_[comparison];
        op.kind = OpKind::Broadcast;
        op.operands = {constant};
        op.attribute = std::monostate{};
    }

    /// A copy of the loop that ends at `end`, and on whose results the loop goes on.
    void place_part(Builder& builder, OpId loop, ValueId end, const std::vector<Condition>& conditions) {
        std::vector<ValueId> operands = kernel_[loop].operands;
        operands[1] = end;
        std::vector<Type> types;
        for (const ValueId result : kernel_[loop].results) types.push_back(kernel_.type(result));
        const OpId part = builder.append(OpKind::For, std::move(operands), types);
        BlockCopier copier(kernel_);
        for (const Condition& condition : conditions) copier.replace_by(condition.op, Scalar::boolean(true));
        const BlockId body = copier.copy(kernel_[loop].blocks.front(), part);
        kernel_[part].blocks.push_back(body);
        const std::vector<ValueId> results = kernel_[part].results;
        std::copy(results.begin(), results.end(), kernel_[loop].operands.begin() + 3);
    }

    Kernel& kernel_;
    const Facts facts_;
    Shortfalls& shortfalls_;
};

}  // namespace

void split_loops(Kernel& kernel, Shortfalls& shortfalls) {
    SplitLoops(kernel, shortfalls).run();
}

}  // namespace kiln::ir
