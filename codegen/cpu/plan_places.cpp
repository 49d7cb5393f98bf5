// Which tiles are recomputed where they are used, and which get a buffer.
#include <algorithm>
#include <array>

#include "codegen/cpu/planner.h"
#include "ir/builder.h"

namespace kiln::codegen::cpu {

using ir::AxisKind;
using ir::OpKind;

namespace {

// Costs count instructions a vector, roughly. A buffer costs a store and a load.
constexpr std::uint32_t kBufferCost = 1;
/// Above it, a value used twice is computed once and kept.
constexpr std::uint32_t kRecomputeLimit = 6;
/// Above it, a value that a broadcast repeats is computed once and kept.
constexpr std::uint32_t kRepeatLimit = 3;
constexpr std::uint32_t kScatteredLoadCost = 8;
constexpr std::uint32_t kCostCap = 1u << 20;

std::uint32_t elementwise_cost(OpKind kind) {
    constexpr std::array kLong{OpKind::Exp,     OpKind::Exp2,     OpKind::Log, OpKind::Log2, OpKind::Sin,
                               OpKind::Cos,     OpKind::Tanh,     OpKind::Erf, OpKind::Pow,  OpKind::Rem,
                               OpKind::CeilDiv, OpKind::FloorDiv, OpKind::Mod};
    constexpr std::array kMiddle{OpKind::Div, OpKind::Sqrt, OpKind::Rsqrt};
    if (std::find(kLong.begin(), kLong.end(), kind) != kLong.end()) return 20;
    if (std::find(kMiddle.begin(), kMiddle.end(), kind) != kMiddle.end()) return 4;
    return 1;
}

bool repeats(const ir::Type& operand, const ir::Type& result) {
    return operand.is_tile() && operand.shape.count() < result.shape.count();
}

/// Whether a load's lanes lie side by side in memory: its last axis is a slice along the axis of stride 1.
bool streams(const ir::Kernel& kernel, const ir::Op& load) {
    const auto& access = ir::attribute<ir::AccessAttribute>(load);
    for (const ir::AxisAccess& axis : access.axes) {
        if (axis.kind == AxisKind::Gather) return false;
    }
    if (access.masked || access.axes.back().kind != AxisKind::Slice) return false;
    const ir::ValueId root = root_tensor(kernel, load.operands.front());
    for (const ir::Parameter& parameter : kernel.parameters) {
        if (parameter.value == root) {
            return parameter.facts.unit_axis == static_cast<int>(kernel.type(root).shape.rank()) - 1;
        }
    }
    return true;  // scratch is row-major
}

std::size_t first_value_operand(const ir::Op& access_op) {
    return 1 + ir::axis_operand_count(ir::attribute<ir::AccessAttribute>(access_op));
}

/// Whether a load and a store name the same elements in the same order, each once.
bool same_access(const ir::Op& load, const ir::Op& store) {
    const auto& access = ir::attribute<ir::AccessAttribute>(load);
    if (access.axes != ir::attribute<ir::AccessAttribute>(store).axes) return false;
    for (const ir::AxisAccess& axis : access.axes) {
        if (axis.kind == AxisKind::Gather) return false;
    }
    return std::equal(load.operands.begin(),
                      load.operands.begin() + static_cast<std::ptrdiff_t>(first_value_operand(load)),
                      store.operands.begin());
}

}  // namespace

void Planner::put_in_buffer(ir::ValueId value) {
    const ir::Type& type = kernel_.type(value);
    plan_.places[value.index] = Place::Buffer;
    plan_.value_buffers[value.index] = new_buffer(buffer_element(type.element), type.shape);
    cost_[value.index] = kBufferCost;
}

BufferId Planner::new_buffer(ir::ScalarType element, const ir::Shape& shape) {
    plan_.buffers.push_back({element, shape, 0});
    return static_cast<BufferId>(plan_.buffers.size() - 1);
}

void Planner::choose_places() {
    for (const ir::OpId id : ops_) {
        const ir::Op& op = kernel_[id];
        if (sunk_[id.index]) continue;
        for (const ir::BlockId block : op.blocks) {
            const bool sunk = op.kind == OpKind::For && plan_.dot_of_op[id.index] != kNoBuffer;
            for (const ir::ValueId argument : kernel_[block].arguments) {
                if (!sunk && kernel_.type(argument).is_tile()) put_in_buffer(argument);
            }
        }
        for (const ir::ValueId result : op.results) place_result(id, result);
    }
}

void Planner::place_result(ir::OpId id, ir::ValueId value) {
    if (!kernel_.type(value).is_tile()) return;
    const ir::Op& op = kernel_[id];
    const bool buffered = op.kind == OpKind::Dot || op.kind == OpKind::Reduce || works_on_buffers(op.kind);
    if (buffered || !op.blocks.empty()) {
        put_in_buffer(value);
    } else {
        place_tile(op, value);
    }
    const std::uint32_t dot = plan_.dot_of_op[id.index];
    if (dot != kNoBuffer) plan_.dots[dot].result = plan_.value_buffers[value.index];
}

void Planner::place_tile(const ir::Op& op, ir::ValueId value) {
    std::vector<int> axes;
    const bool linear = op.kind == OpKind::Reshape && kernel_.type(op.operands.front()).is_tile() &&
                        !unit_reshape(kernel_.type(op.operands.front()).shape, kernel_.type(value).shape, axes);
    if (linear) {
        plan_.places[value.index] = Place::Buffer;
        plan_.value_buffers[value.index] = plan_.value_buffers[op.operands.front().index];
        cost_[value.index] = kBufferCost;
        return;
    }
    cost_[value.index] = inline_cost(op);
    if (must_materialise(op, value)) put_in_buffer(value);
}

std::uint32_t Planner::inline_cost(const ir::Op& op) const {
    std::uint32_t cost = 0;
    for (const ir::ValueId operand : op.operands) {
        if (kernel_.type(operand).is_tile()) cost += cost_[operand.index];
    }
    if (ir::is_elementwise(op.kind)) cost += elementwise_cost(op.kind);
    if (op.kind == OpKind::Iota) cost += 1;
    if (op.kind == OpKind::Load) cost += streams(kernel_, op) ? 1 : kScatteredLoadCost;
    return std::min(cost, kCostCap);
}

bool Planner::is_splat(ir::ValueId value) const {
    const ir::Op* op = kernel_.definition(value);
    return op != nullptr && op->kind == OpKind::Broadcast && kernel_.type(op->operands.front()).is_scalar();
}

bool Planner::use_needs_buffer(ir::ValueId value, const Use& use) const {
    const ir::Op& user = kernel_[use.user];
    const std::uint32_t dot = plan_.dot_of_op[use.user.index];
    if (dot != kNoBuffer) {
        const std::size_t start = user.kind == OpKind::For ? 3 : 2;
        return use.operand == start && plan_.dots[dot].accumulator.valid();
    }
    if (works_on_buffers(user.kind)) return true;
    if (user.kind == OpKind::Yield) return !is_splat(value);
    if (user.kind == OpKind::Broadcast) {
        return repeats(kernel_.type(value), kernel_.type(user.result())) && cost_[value.index] > kRepeatLimit;
    }
    if (user.kind == OpKind::Reshape && kernel_.type(user.result()).is_tile()) {
        std::vector<int> axes;
        return !unit_reshape(kernel_.type(value).shape, kernel_.type(user.result()).shape, axes);
    }
    return false;
}

bool Planner::must_materialise(const ir::Op& op, ir::ValueId value) const {
    if (op.kind == OpKind::Load && !load_may_move(kernel_[value].definition)) return true;
    if (dot_base_[value.index]) return true;
    std::size_t uses = 0;
    for (const Use& use : uses_[value.index]) {
        if (use_needs_buffer(value, use)) return true;
        // Operands of a dot are planned with the dot: read in place, copied or marked as a base.
        if (plan_.dot_of_op[use.user.index] == kNoBuffer) uses += deeper_use(value, use) ? 2 : 1;
    }
    return uses > 1 && cost_[value.index] > kRecomputeLimit;
}

/// Whether a load may be done later, by its users: no store to its tensor comes between. The users are followed through
/// everything pure; a store to the same place that writes each element where it was read may follow at once.
bool Planner::load_may_move(ir::OpId id) const {
    constexpr std::size_t kMostUsers = 64;
    const ir::Op& load = kernel_[id];
    if (kernel_.type(load.operands.front()).access == ir::Access::In) return true;
    const ir::ValueId tensor = root_tensor(kernel_, load.operands.front());
    const std::vector<ir::OpId>& ops = kernel_[load.parent].ops;
    const auto here = std::find(ops.begin(), ops.end(), id);
    const auto hazard = std::find_if(here, ops.end(), [&](ir::OpId op) { return stored_[op.index].contains(tensor); });

    std::vector<ir::ValueId> pending{load.result()};
    std::set<ir::ValueId> seen{load.result()};
    bool same_point = true;
    while (!pending.empty()) {
        const ir::ValueId value = pending.back();
        pending.pop_back();
        for (const Use& use : uses_[value.index]) {
            const ir::Op& user = kernel_[use.user];
            if (user.parent != load.parent) return false;
            const bool done_later =
                user.kind == OpKind::Load ||
                (ir::info(user.kind).effect == ir::Effect::Pure &&
                 ir::info(user.kind).group != ir::OpGroup::Contraction && !works_on_buffers(user.kind));
            if (done_later) {
                if (!ir::is_elementwise(user.kind)) same_point = false;
                if (seen.insert(user.result()).second) pending.push_back(user.result());
                if (seen.size() > kMostUsers) return false;
                continue;
            }
            const auto at = std::find(here, ops.end(), use.user);
            if (at < hazard) continue;
            if (at > hazard || user.kind != OpKind::Store || use.operand < first_value_operand(user)) return false;
            if (!same_point || !same_access(load, user)) return false;
        }
    }
    return true;
}

}  // namespace kiln::codegen::cpu
