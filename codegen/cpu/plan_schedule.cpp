// Puts the work of each block in order, and roots over one space into one nest.
#include <algorithm>

#include "codegen/cpu/planner.h"
#include "ir/builder.h"

namespace kiln::codegen::cpu {

using ir::OpKind;

namespace {

/// How far back a root may join a nest.
constexpr int kLookBack = 12;

Ready both(Ready a, Ready b) {
    return {std::max(a.after, b.after), std::max(a.with, b.with)};
}

/// Read at other points than the one being computed.
Ready elsewhere(Ready ready) {
    return {std::max(ready.after, ready.with), -1};
}

}  // namespace

Planner::Touch& Planner::touch(ir::BlockId block, ir::ValueId tensor) {
    for (Touch& touch : touches_[block.index]) {
        if (touch.tensor == tensor) return touch;
    }
    touches_[block.index].push_back({tensor});
    return touches_[block.index].back();
}

int Planner::last_store(ir::BlockId block, ir::ValueId tensor) const {
    for (const Touch& touch : touches_[block.index]) {
        if (touch.tensor == tensor) return touch.store;
    }
    return -1;
}

int Planner::add_step(ir::BlockId block, Step step) {
    std::vector<Step>& steps = plan_.blocks[block.index];
    steps.push_back(step);
    return static_cast<int>(steps.size()) - 1;
}

void Planner::schedule_block(ir::BlockId block) {
    for (const ir::OpId op : kernel_[block].ops) schedule_op(block, op);
}

Ready Planner::ready_of(ir::BlockId block, ir::ValueId value) const {
    const Produced& produced = produced_[value.index];
    return produced.block == block ? produced.ready : Ready{};
}

Ready Planner::ready_of_inline(ir::BlockId block, const ir::Op& op) const {
    Ready ready;
    for (const ir::ValueId operand : op.operands) {
        const bool same_point = ir::is_elementwise(op.kind);
        const Ready of_operand = ready_of(block, operand);
        ready = both(ready, same_point ? of_operand : elsewhere(of_operand));
    }
    if (op.kind == OpKind::Load && kernel_.type(op.operands.front()).access != ir::Access::In) {
        ready.after = std::max(ready.after, last_store(block, root_tensor(kernel_, op.operands.front())));
    }
    return ready;
}

void Planner::schedule_op(ir::BlockId block, ir::OpId id) {
    const ir::Op& op = kernel_[id];
    if (op.kind == OpKind::Constant) return;
    if (op.kind == OpKind::Store &&
        kernel_.type(op.operands[1 + ir::axis_operand_count(ir::attribute<ir::AccessAttribute>(op))]).is_tile()) {
        return schedule_store(block, id);
    }
    if (op.kind == OpKind::Reduce) return schedule_reduce(block, id);
    const bool pure_tile = op.results.size() == 1 && kernel_.type(op.result()).is_tile() && op.blocks.empty() &&
                           op.kind != OpKind::Dot && !works_on_buffers(op.kind);
    if (pure_tile) {
        Ready ready = ready_of_inline(block, op);
        if (plan_.in_buffer(op.result())) {
            const bool linear = op.kind == OpKind::Reshape && plan_.value_buffers[op.operands.front().index] ==
                                                                  plan_.value_buffers[op.result().index];
            if (linear) {
                produced_[op.result().index] = {block, elsewhere(ready)};
                return;
            }
            const Root root{RootKind::Assign, op.result(), {}, plan_.value_buffers[op.result().index]};
            const int step = add_root(block, kernel_.type(op.result()).shape, -1, root, ready);
            note_effects(block, id, step);
            ready = {-1, step};
        }
        produced_[op.result().index] = {block, ready};
        return;
    }
    const bool sunk = op.kind == OpKind::For && plan_.dot_of_op[id.index] != kNoBuffer;
    const int step = add_step(block, {sunk ? StepKind::SunkDot : StepKind::Op, id});
    note_effects(block, id, step);
    for (const ir::ValueId result : op.results) produced_[result.index] = {block, {step, -1}};
    if (sunk) return;
    for (const ir::BlockId inner : op.blocks) schedule_block(inner);
}

/// Remembers which tensors a step reads and writes, with all that is evaluated inside it.
void Planner::note_effects(ir::BlockId block, ir::OpId op, int step) {
    for (const ir::ValueId tensor : stored_[op.index]) {
        Touch& touched = touch(block, tensor);
        touched.any = std::max(touched.any, step);
        touched.store = std::max(touched.store, step);
    }
    note_loads(block, op, step);
}

/// Loads count where they stand or where they are evaluated, whichever is later.
void Planner::note_loads(ir::BlockId block, ir::OpId id, int step) {
    std::vector<ir::OpId> pending{id};
    std::set<ir::OpId> seen{id};
    while (!pending.empty()) {
        const ir::Op& op = kernel_[pending.back()];
        pending.pop_back();
        if (op.kind == OpKind::Load && kernel_.type(op.operands.front()).access != ir::Access::In) {
            Touch& touched = touch(block, root_tensor(kernel_, op.operands.front()));
            touched.any = std::max(touched.any, step);
        }
        for (const ir::ValueId operand : op.operands) {
            const ir::Op* definition = kernel_.definition(operand);
            const bool evaluated_here =
                definition != nullptr && kernel_.type(operand).is_tile() && !plan_.in_buffer(operand);
            if (evaluated_here && seen.insert(kernel_[operand].definition).second) {
                pending.push_back(kernel_[operand].definition);
            }
        }
        for (const ir::BlockId inner : op.blocks) {
            for (const ir::OpId child : kernel_[inner].ops) {
                if (seen.insert(child).second) pending.push_back(child);
            }
        }
    }
}

int Planner::add_root(ir::BlockId block, const ir::Shape& space, int vertical_axis, Root root, Ready ready) {
    std::vector<Step>& steps = plan_.blocks[block.index];
    const int end = static_cast<int>(steps.size());
    const int first = std::max({ready.after + 1, ready.with, end - kLookBack, 0});
    for (int at = end - 1; at >= first && vertical_axis < 0; --at) {
        const Step& step = steps[static_cast<std::size_t>(at)];
        if (step.kind != StepKind::Nest) continue;
        Nest& nest = plan_.nests[step.nest];
        if (nest.space != space || nest.vertical_axis >= 0) continue;
        nest.roots.push_back(root);
        return at;
    }
    plan_.nests.push_back({space, {root}, vertical_axis});
    return add_step(block, {StepKind::Nest, {}, static_cast<std::uint32_t>(plan_.nests.size() - 1)});
}

void Planner::schedule_reduce(ir::BlockId block, ir::OpId id) {
    const ir::Op& op = kernel_[id];
    const ir::ValueId operand = op.operands.front();
    const ir::Shape& space = kernel_.type(operand).shape;
    const std::uint32_t axis = ir::attribute<ir::ReduceAttribute>(op).axis;
    const bool horizontal = axis == lane_axis(space);
    const BufferId buffer = plan_.value_buffers[op.result().index];
    const Root root{RootKind::Reduce, operand, id, buffer};
    const int step = add_root(block, space, horizontal ? -1 : static_cast<int>(axis), root, ready_of(block, operand));
    note_effects(block, id, step);
    produced_[op.result().index] = {block, {step, -1}};
}

void Planner::schedule_store(ir::BlockId block, ir::OpId id) {
    const ir::Op& op = kernel_[id];
    const auto& access = ir::attribute<ir::AccessAttribute>(op);
    const std::size_t value_operand = 1 + ir::axis_operand_count(access);
    Ready ready;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
        const Ready of_operand = ready_of(block, op.operands[i]);
        ready = both(ready, i < value_operand ? elsewhere(of_operand) : of_operand);
    }
    // Not before anything that reads or writes the tensor, nor beside it.
    ready.after = std::max(ready.after, touch(block, root_tensor(kernel_, op.operands.front())).any);
    const ir::ValueId value = op.operands[value_operand];
    const int step = add_root(block, kernel_.type(value).shape, -1, {RootKind::Store, value, id, kNoBuffer}, ready);
    note_effects(block, id, step);
}

}  // namespace kiln::codegen::cpu
