#include "codegen/cpu/planner.h"

namespace kiln::codegen::cpu {

using ir::OpKind;

std::uint32_t lane_axis(const ir::Shape& space) {
    for (std::size_t axis = space.rank(); axis-- > 0;) {
        if (space[axis] > 1) return static_cast<std::uint32_t>(axis);
    }
    return static_cast<std::uint32_t>(space.rank() - 1);
}

ir::ValueId root_tensor(const ir::Kernel& kernel, ir::ValueId tensor) {
    for (const ir::Op* op = kernel.definition(tensor); op != nullptr; op = kernel.definition(tensor)) {
        tensor = op->operands.front();
    }
    return tensor;
}

std::size_t axis_operand(const ir::AccessAttribute& access, std::size_t axis) {
    std::size_t operand = 1;
    for (std::size_t i = 0; i < axis; ++i) {
        const ir::AxisKind kind = access.axes[i].kind;
        operand += kind == ir::AxisKind::Range ? 2 : kind == ir::AxisKind::All ? 0 : 1;
    }
    return operand;
}

bool unit_reshape(const ir::Shape& operand, const ir::Shape& result, std::vector<int>& axes) {
    axes.assign(operand.rank(), -1);
    std::size_t to = 0;
    for (std::size_t from = 0; from < operand.rank(); ++from) {
        if (operand[from] == 1) continue;
        while (to < result.rank() && result[to] == 1) ++to;
        if (to == result.rank() || result[to] != operand[from]) return false;
        axes[from] = static_cast<int>(to++);
    }
    while (to < result.rank() && result[to] == 1) ++to;
    return to == result.rank();
}

ir::ScalarType buffer_element(ir::ScalarType element) {
    return ir::bit_width(element) < 8 ? ir::ScalarType::U8 : element;
}

ir::ScalarType dot_operand_element(ir::ScalarType element) {
    if (element == ir::ScalarType::I4) return ir::ScalarType::I8;
    if (element == ir::ScalarType::U4) return ir::ScalarType::U8;
    const bool small_float =
        element == ir::ScalarType::F8E4M3 || element == ir::ScalarType::F8E5M2 || element == ir::ScalarType::F4E2M1;
    return small_float ? ir::ScalarType::F16 : element;
}

bool works_on_buffers(ir::OpKind kind) {
    return kind == OpKind::Join || kind == OpKind::Fold || kind == OpKind::Scan || kind == OpKind::Sort ||
           kind == OpKind::Bincount || kind == OpKind::Atomic;
}

Planner::Planner(const ir::Kernel& kernel, const ir::Phase& phase) : kernel_(kernel), phase_(phase), facts_(kernel) {
    const std::size_t values = kernel.values.size(), ops = kernel.ops.size(), blocks = kernel.blocks.size();
    plan_.places.assign(values, Place::Inline);
    plan_.value_buffers.assign(values, kNoBuffer);
    plan_.blocks.resize(blocks);
    plan_.moves.resize(ops);
    plan_.dot_of_op.assign(ops, kNoBuffer);
    uses_.resize(values);
    loop_depth_.assign(blocks, 0);
    stored_.resize(ops);
    dot_base_.assign(values, false);
    sunk_.assign(ops, false);
    cost_.assign(values, 0);
    produced_.resize(values);
    touches_.resize(blocks);
    positions_.resize(blocks);
    end_position_.assign(ops, 0);
    begin_position_.assign(ops, 0);
    reads_.resize(values);
    assigned_at_.assign(values, std::numeric_limits<std::uint32_t>::max());
}

Plan Planner::run() {
    visit_block(phase_.block, 0);
    find_dots();
    choose_places();
    schedule_block(phase_.block);
    number_block(phase_.block);
    collect_reads(phase_.block);
    drop_private_values();
    build_lifetimes();
    coalesce();
    plan_moves();
    pack();
    return std::move(plan_);
}

Plan make_plan(const ir::Kernel& kernel, const ir::Phase& phase) {
    return Planner(kernel, phase).run();
}

void Planner::visit_block(ir::BlockId block, int loop_depth) {
    blocks_.push_back(block);
    loop_depth_[block.index] = loop_depth;
    for (const ir::OpId id : kernel_[block].ops) {
        const ir::Op& op = kernel_[id];
        ops_.push_back(id);
        for (std::size_t i = 0; i < op.operands.size(); ++i) uses_[op.operands[i].index].push_back({id, i});
        if (op.kind == OpKind::Store || op.kind == OpKind::Atomic) {
            stored_[id.index].insert(root_tensor(kernel_, op.operands.front()));
        }
        const bool loop = !op.blocks.empty() && op.kind != OpKind::If;
        for (const ir::BlockId inner : op.blocks) {
            visit_block(inner, loop_depth + (loop ? 1 : 0));
            for (const ir::OpId child : kernel_[inner].ops) {
                stored_[id.index].insert(stored_[child.index].begin(), stored_[child.index].end());
            }
        }
    }
}

bool Planner::deeper_use(ir::ValueId value, const Use& use) const {
    const ir::Op* definition = kernel_.definition(value);
    const ir::BlockId home = definition != nullptr ? definition->parent : kernel_[value].block;
    return loop_depth_[kernel_[use.user].parent.index] > loop_depth_[home.index];
}

}  // namespace kiln::codegen::cpu
