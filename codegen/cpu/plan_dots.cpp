// Which operands of a dot are read in place, and which loops are one dot.
#include <algorithm>

#include "codegen/cpu/planner.h"
#include "ir/builder.h"

namespace kiln::codegen::cpu {

using ir::AxisKind;
using ir::OpKind;

namespace {

/// The access axis that tile axis `tile_axis` of a load without gathers walks along.
std::size_t sliced_axis(const ir::AccessAttribute& access, std::size_t tile_axis) {
    std::size_t seen = 0;
    for (std::size_t axis = 0; axis < access.axes.size(); ++axis) {
        if (access.axes[axis].kind == AxisKind::Slice && seen++ == tile_axis) return axis;
    }
    return access.axes.size();
}

}  // namespace

void Planner::find_dots() {
    for (const ir::OpId id : ops_) {
        if (kernel_[id].kind == OpKind::Dot) plan_dot(id);
    }
    for (const ir::OpId id : ops_) {
        if (kernel_[id].kind == OpKind::For) try_sink(id);
    }
    for (const DotPlan& dot : plan_.dots) {
        for (const DotOperand* operand : {&dot.a, &dot.b}) {
            if (!operand->view && operand->copy == kNoBuffer) dot_base_[operand->base.index] = true;
        }
    }
}

void Planner::plan_dot(ir::OpId id) {
    const ir::Op& op = kernel_[id];
    DotPlan dot;
    dot.op = id;
    dot.a = dot_operand(op.operands[0]);
    dot.b = dot_operand(op.operands[1]);
    const ir::Op* start = kernel_.definition(op.operands[2]);
    const bool splat = start != nullptr && start->kind == OpKind::Broadcast;
    const auto constant = splat ? kernel_.constant(start->operands.front()) : std::nullopt;
    // x + (+0) is x for every sum that a dot can have, but for -0, which its bound does not tell from +0.
    if (!constant || constant->bits != 0) dot.accumulator = op.operands[2];
    plan_.dot_of_op[id.index] = static_cast<std::uint32_t>(plan_.dots.size());
    plan_.dots.push_back(dot);
}

DotOperand Planner::dot_operand(ir::ValueId operand) {
    DotOperand result;
    result.base = operand;
    const ir::Op* op = kernel_.definition(operand);
    while (op != nullptr && op->kind == OpKind::Permute) {
        if (ir::attribute<ir::AxesAttribute>(*op).axes[0] == 1) result.transposed = !result.transposed;
        result.base = op->operands.front();
        op = kernel_.definition(result.base);
    }
    const ir::Type& type = kernel_.type(result.base);
    const ir::ScalarType element = dot_operand_element(type.element);
    if (element != type.element) {
        result.copy = new_buffer(element, type.shape);
    } else if (op != nullptr && op->kind == OpKind::Load && viewable(*op)) {
        result.view = true;
        if (!starts_proven(*op)) result.copy = new_buffer(element, type.shape);
    }
    return result;
}

bool Planner::viewable(const ir::Op& load) const {
    const auto& access = ir::attribute<ir::AccessAttribute>(load);
    const auto fill = kernel_.constant(load.operands[1 + ir::axis_operand_count(access)]);
    if (access.masked || !fill || fill->bits != 0) return false;
    if (kernel_.type(load.operands.front()).access != ir::Access::In) return false;
    return std::all_of(access.axes.begin(), access.axes.end(),
                       [](const ir::AxisAccess& axis) { return axis.kind != AxisKind::Gather; });
}

/// Whether no slice begins before its tensor.
bool Planner::starts_proven(const ir::Op& load) const {
    const auto& access = ir::attribute<ir::AccessAttribute>(load);
    for (std::size_t axis = 0; axis < access.axes.size(); ++axis) {
        if (access.axes[axis].kind != AxisKind::Slice) continue;
        const ir::ValueId start = load.operands[axis_operand(access, axis)];
        if (facts_[start].lo < 0) return false;
    }
    return true;
}

bool Planner::defined_outside(ir::ValueId value, ir::BlockId block) const {
    const ir::Op* op = kernel_.definition(value);
    if (op != nullptr && op->kind == OpKind::Constant) return true;
    return (op != nullptr ? op->parent : kernel_[value].block) != block;
}

bool Planner::sinkable_operand(const DotOperand& operand, bool is_a, const ir::Op& loop) const {
    const ir::BlockId body = loop.blocks.front();
    const ir::ValueId index = kernel_[body].arguments.front();
    if (!operand.view || operand.copy != kNoBuffer) return false;
    const ir::Op& load = *kernel_.definition(operand.base);
    if (load.parent != body) return false;
    const auto& access = ir::attribute<ir::AccessAttribute>(load);
    const std::size_t k_axis = sliced_axis(access, is_a != operand.transposed ? 1 : 0);
    const auto step = kernel_.constant(loop.operands[2]);
    if (!step || step->as_int64() != access.axes[k_axis].length) return false;
    for (std::size_t i = 0; i < load.operands.size(); ++i) {
        const bool is_k = i == axis_operand(access, k_axis);
        if (is_k ? load.operands[i] != index : !defined_outside(load.operands[i], body)) return false;
    }
    return true;
}

void Planner::try_sink(ir::OpId id) {
    const ir::Op& loop = kernel_[id];
    const ir::Block& body = kernel_[loop.blocks.front()];
    if (loop.results.size() != 1 || !kernel_.type(loop.results.front()).is_tile()) return;
    const ir::Op& yield = kernel_[body.ops.back()];
    const ir::Op* dot = kernel_.definition(yield.operands.front());
    if (dot == nullptr || dot->kind != OpKind::Dot || dot->parent != yield.parent) return;
    const ir::ValueId carried = body.arguments[1];
    if (dot->operands[2] != carried || uses_[carried.index].size() != 1 || uses_[dot->result().index].size() != 1) {
        return;
    }
    for (const ir::OpId op : body.ops) {
        const OpKind kind = kernel_[op].kind;
        const bool harmless = ir::info(kind).effect == ir::Effect::Pure || kind == OpKind::Load;
        if (kind != OpKind::Yield && !harmless) return;
        if (kind == OpKind::Dot && &kernel_[op] != dot) return;
    }
    DotPlan& inner = plan_.dots[plan_.dot_of_op[kernel_[dot->result()].definition.index]];
    if (!sinkable_operand(inner.a, true, loop) || !sinkable_operand(inner.b, false, loop)) return;
    if (facts_[loop.operands.front()].lo < 0) return;

    plan_.dot_of_op[id.index] = static_cast<std::uint32_t>(&inner - plan_.dots.data());
    const ir::Op* start = kernel_.definition(loop.operands[3]);
    const bool splat = start != nullptr && start->kind == OpKind::Broadcast;
    const auto constant = splat ? kernel_.constant(start->operands.front()) : std::nullopt;
    inner.accumulator = constant && constant->bits == 0 ? ir::ValueId{} : loop.operands[3];
    for (const ir::OpId op : body.ops) sunk_[op.index] = true;
}

}  // namespace kiln::codegen::cpu
