#include "runtime/body_facts.h"

#include <algorithm>

#include "runtime/backend.h"

namespace kiln::runtime {

double epsilon(ir::ScalarType type) {
    switch (type) {
        case ir::ScalarType::F64: return 0x1p-52;
        case ir::ScalarType::F32: return 0x1p-23;
        case ir::ScalarType::F16: return 0x1p-10;
        case ir::ScalarType::BF16: return 0x1p-7;
        case ir::ScalarType::F8E4M3: return 0x1p-3;
        case ir::ScalarType::F8E5M2: return 0x1p-2;
        case ir::ScalarType::F4E2M1: return 0x1p-1;
        case ir::ScalarType::F8E8M0: return 1;
        case ir::ScalarType::Bool:
        case ir::ScalarType::I8:
        case ir::ScalarType::I16:
        case ir::ScalarType::I32:
        case ir::ScalarType::I64:
        case ir::ScalarType::U8:
        case ir::ScalarType::U16:
        case ir::ScalarType::U32:
        case ir::ScalarType::U64:
        case ir::ScalarType::I4:
        case ir::ScalarType::U4: return 0;
    }
    return 0;
}

namespace {

// A bound is a short expression; a longer one is not followed to its end.
constexpr int kDeepestBound = 16;

bool is_fp8(ir::ScalarType type) { return type == ir::ScalarType::F8E4M3 || type == ir::ScalarType::F8E5M2; }

/// Walks a kernel and notes roundings, contractions and work. `loops_` are the upper bounds of the loops around.
class BodyWalk {
public:
    explicit BodyWalk(const ir::Kernel& kernel) : kernel_(kernel), launch_values_(launch_values(kernel)) {}

    BodyFacts run() {
        for (const ir::Phase& phase : kernel_.phases) {
            facts_.work.emplace_back();
            visit(phase.block);
        }
        return facts_;
    }

private:
    void visit(ir::BlockId block) {
        for (const ir::OpId id : kernel_[block].ops) {
            const ir::Op& op = kernel_[id];
            note_rounding(op);
            note_work(op);
            if (op.kind == ir::OpKind::Dot) note_dot(op);
            if (op.kind == ir::OpKind::Reduce) note_reduce(op, ir::attribute<ir::ReduceAttribute>(op).axis);
            const bool combines = op.kind == ir::OpKind::Fold || op.kind == ir::OpKind::Scan;
            if (combines) note_reduce(op, ir::attribute<ir::AxisAttribute>(op).axis);
            if (op.kind == ir::OpKind::For) loops_.push_back(op.operands[1]);
            for (const ir::BlockId inner : op.blocks) visit(inner);
            if (op.kind == ir::OpKind::For) loops_.pop_back();
        }
    }

    void note_rounding(const ir::Op& op) {
        if (op.results.empty() || op.kind == ir::OpKind::Load || op.kind == ir::OpKind::Constant) return;
        const ir::ScalarType type = kernel_.type(op.result()).element;
        if (epsilon(type) == 0) return;
        const bool exact = op.kind == ir::OpKind::Convert && epsilon(type) <= epsilon(kernel_.type(op.operands[0]).element);
        if (!exact && ir::is_elementwise(op.kind) && (!facts_.coarsest || epsilon(type) > epsilon(*facts_.coarsest))) {
            facts_.coarsest = type;
        }
    }

    void note_work(const ir::Op& op) {
        WorkTerm term;
        for (const ir::ValueId operand : op.operands) {
            const ir::Type& type = kernel_.type(operand);
            if (!type.is_tensor()) term.elements = std::max(term.elements, type.shape.count());
        }
        if (op.kind == ir::OpKind::Dot) term.elements *= kernel_.type(op.operands[0]).shape[1];
        for (const ir::ValueId upper : loops_) {
            if (const auto constant = kernel_.constant(upper)) {
                term.elements *= std::max<std::int64_t>(constant->as_int64(), 1);
            } else if (const std::optional<std::uint32_t> place = longest_source(upper, 0)) {
                term.extents.push_back(*place);
            }
        }
        std::vector<WorkTerm>& terms = facts_.work.back();
        const auto same = std::find_if(terms.begin(), terms.end(),
                                       [&](const WorkTerm& other) { return other.extents == term.extents; });
        if (same == terms.end()) {
            terms.push_back(std::move(term));
        } else {
            same->elements += term.elements;
        }
    }

    std::optional<std::uint32_t> place_of(ir::ValueId value) const {
        const auto found = std::find(launch_values_.begin(), launch_values_.end(), value);
        if (found == launch_values_.end()) return std::nullopt;
        return static_cast<std::uint32_t>(found - launch_values_.begin());
    }

    /// The first launch value that a loop bound is computed from.
    std::optional<std::uint32_t> longest_source(ir::ValueId value, int depth) const {
        if (const auto place = place_of(value)) return place;
        const ir::Op* op = kernel_.definition(value);
        if (op == nullptr || depth == kDeepestBound) return std::nullopt;
        for (const ir::ValueId operand : op->operands) {
            if (!kernel_.type(operand).is_scalar()) continue;
            if (const auto place = longest_source(operand, depth + 1)) return place;
        }
        return std::nullopt;
    }

    void note_dot(const ir::Op& op) {
        const ir::Type& a = kernel_.type(op.operands[0]);
        facts_.has_fp8_operands |= is_fp8(a.element) || is_fp8(kernel_.type(op.operands[1]).element);
        note_contraction(a.shape[1], kernel_.type(op.result()).element);
    }

    void note_reduce(const ir::Op& op, std::uint32_t axis) {
        const ir::Type& operand = kernel_.type(op.operands[0]);
        const ir::ScalarType carried =
            operand.element == ir::ScalarType::F64 ? ir::ScalarType::F64 : ir::ScalarType::F32;
        note_contraction(operand.shape[axis], carried);
    }

    void note_contraction(std::int64_t extent, ir::ScalarType accumulator) {
        if (epsilon(accumulator) > epsilon(facts_.accumulator)) facts_.accumulator = accumulator;
        facts_.static_extent = std::max(facts_.static_extent, extent);
        for (const ir::ValueId upper : loops_) note_bound(upper, 0);
    }

    /// The launch values that a loop bound is computed from: each may be as long as the loop.
    void note_bound(ir::ValueId value, int depth) {
        if (const auto place = place_of(value)) {
            auto& extents = facts_.launch_extents;
            if (std::find(extents.begin(), extents.end(), *place) == extents.end()) extents.push_back(*place);
            return;
        }
        const ir::Op* op = kernel_.definition(value);
        if (op == nullptr || depth == kDeepestBound) return;
        if (const auto constant = kernel_.constant(value)) {
            facts_.static_extent = std::max(facts_.static_extent, constant->as_int64());
        }
        for (const ir::ValueId operand : op->operands) {
            if (kernel_.type(operand).is_scalar()) note_bound(operand, depth + 1);
        }
    }

    const ir::Kernel& kernel_;
    std::vector<ir::ValueId> launch_values_;
    std::vector<ir::ValueId> loops_;
    BodyFacts facts_;
};

}  // namespace

BodyFacts body_facts(const ir::Kernel& kernel) { return BodyWalk(kernel).run(); }

double estimated_operations(const BodyFacts& facts, const ir::Kernel& kernel, const ir::Launch& launch) {
    const std::vector<ir::ValueId> values = launch_values(kernel);
    double total = 0;
    for (std::size_t phase = 0; phase < facts.work.size(); ++phase) {
        for (const WorkTerm& term : facts.work[phase]) {
            double count = static_cast<double>(term.elements) * static_cast<double>(launch.programs(phase));
            for (const std::uint32_t place : term.extents) count *= launch.values[values[place].index].as_double();
            total += count;
        }
    }
    return total;
}

}  // namespace kiln::runtime
