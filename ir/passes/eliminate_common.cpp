#include "ir/passes/eliminate_common.h"

#include <algorithm>
#include <unordered_set>

#include "ir/passes/rewrite.h"

namespace kiln::ir {

namespace {

bool is_commutative(OpKind kind) {
    return kind == OpKind::Add || kind == OpKind::Mul || kind == OpKind::And || kind == OpKind::Or ||
           kind == OpKind::Xor || kind == OpKind::LogicalAnd || kind == OpKind::LogicalOr || kind == OpKind::Equal ||
           kind == OpKind::NotEqual;
}

std::vector<ValueId> ordered_operands(const Op& op) {
    std::vector<ValueId> operands = op.operands;
    if (is_commutative(op.kind)) std::sort(operands.begin(), operands.end());
    return operands;
}

class Hash {
public:
    explicit Hash(const Kernel& kernel) : kernel_(&kernel) {}

    std::size_t operator()(OpId id) const {
        const Op& op = (*kernel_)[id];
        std::size_t hash = static_cast<std::size_t>(op.kind);
        for (const ValueId operand : ordered_operands(op)) mix(hash, operand.index);
        const Type& type = kernel_->type(op.result());
        mix(hash, static_cast<std::size_t>(type.element));
        for (const std::int64_t extent : type.shape) mix(hash, static_cast<std::size_t>(extent));
        std::visit([&](const auto& attribute) { add(hash, attribute); }, op.attribute);
        return hash;
    }

private:
    /// The step of FNV-1a, a word at a time.
    static void mix(std::size_t& hash, std::size_t value) { hash = (hash ^ value) * 0x100000001b3u; }

    static void add(std::size_t&, std::monostate) {}
    static void add(std::size_t& hash, Scalar scalar) {
        mix(hash, scalar.bits ^ static_cast<std::size_t>(scalar.type));
    }
    static void add(std::size_t& hash, const AccessAttribute& access) {
        for (const AxisAccess& axis : access.axes) {
            mix(hash, static_cast<std::size_t>(axis.kind));
            mix(hash, static_cast<std::size_t>(axis.length));
        }
    }
    static void add(std::size_t& hash, const ReduceAttribute& reduce) {
        mix(hash, static_cast<std::size_t>(reduce.kind));
        mix(hash, reduce.axis);
    }
    static void add(std::size_t& hash, const DotAttribute& dot) { mix(hash, static_cast<std::size_t>(dot.precision)); }
    static void add(std::size_t& hash, const AxisAttribute& size) { mix(hash, size.axis); }
    static void add(std::size_t& hash, const AxesAttribute& axes) {
        for (const std::int64_t axis : axes.axes) mix(hash, static_cast<std::size_t>(axis));
    }
    static void add(std::size_t&, const MessageAttribute&) {}
    static void add(std::size_t& hash, const SortAttribute& sort) { mix(hash, sort.axis * 2 + sort.descending); }
    static void add(std::size_t& hash, const AtomicAttribute& atomic) { add(hash, atomic.access); }

    const Kernel* kernel_;
};

class Equal {
public:
    explicit Equal(const Kernel& kernel) : kernel_(&kernel) {}

    bool operator()(OpId first, OpId second) const {
        const Op& a = (*kernel_)[first];
        const Op& b = (*kernel_)[second];
        return a.kind == b.kind && a.attribute == b.attribute &&
               kernel_->type(a.result()) == kernel_->type(b.result()) && ordered_operands(a) == ordered_operands(b);
    }

private:
    const Kernel* kernel_;
};

class EliminateCommon : public Rewriter {
public:
    explicit EliminateCommon(Kernel& kernel) : Rewriter(kernel), known_(64, Hash(kernel), Equal(kernel)) {}

private:
    Verdict visit(OpId id, Builder&) override {
        const Op& op = kernel_[id];
        const bool pure = info(op.kind).effect == Effect::Pure || reads_constant_memory(kernel_, op);
        if (!pure || op.results.size() != 1) return Verdict::Keep;
        const auto [found, fresh] = known_.insert(id);
        if (fresh) {
            order_.push_back(id);
            return Verdict::Keep;
        }
        replace(op.result(), kernel_[*found].result());
        return Verdict::Drop;
    }

    void enter_block(BlockId) override { scopes_.push_back(order_.size()); }
    void leave_block(BlockId) override {
        for (; order_.size() > scopes_.back(); order_.pop_back()) known_.erase(order_.back());
        scopes_.pop_back();
    }

    std::unordered_set<OpId, Hash, Equal> known_;
    std::vector<OpId> order_;          ///< what stands in known_, as it came
    std::vector<std::size_t> scopes_;  ///< where in order_ each open block begins
};

}  // namespace

void eliminate_common(Kernel& kernel) {
    EliminateCommon(kernel).run();
}

}  // namespace kiln::ir
