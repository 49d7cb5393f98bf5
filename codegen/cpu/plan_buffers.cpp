// When each buffer holds something, which of them may be one, and where they lie.
#include <algorithm>

#include "codegen/cpu/planner.h"
#include "ir/support/internal_error.h"

namespace kiln::codegen::cpu {

using ir::OpKind;

namespace {

/// Whether two sets of stretches share a step.
bool meet(const std::vector<Interval>& a, const std::vector<Interval>& b) {
    for (const Interval& x : a) {
        for (const Interval& y : b) {
            if (x.first / 2 <= y.last / 2 && y.first / 2 <= x.last / 2) return true;
        }
    }
    return false;
}

}  // namespace

void Planner::number_block(ir::BlockId block) {
    for (const Step& step : plan_.blocks[block.index]) {
        positions_[block.index].push_back(next_position_);
        if (step.op.valid()) begin_position_[step.op.index] = next_position_;
        ++next_position_;
        if (step.kind != StepKind::Op) continue;
        for (const ir::BlockId inner : kernel_[step.op].blocks) number_block(inner);
        if (!kernel_[step.op].blocks.empty()) end_position_[step.op.index] = next_position_++;
    }
}

/// A read inside a loop of what was made before it lasts to the loop's end.
void Planner::note_read(ir::ValueId value, bool same_point, std::uint32_t position, ir::BlockId block) {
    // A reshape of a buffer is that buffer under another shape.
    for (const ir::Op* op = kernel_.definition(value); op != nullptr && op->kind == OpKind::Reshape;
         op = kernel_.definition(value)) {
        const ir::ValueId operand = op->operands.front();
        if (plan_.value_buffers[operand.index] != plan_.value_buffers[value.index]) break;
        value = operand;
        same_point = false;
    }
    const ir::Op* definition = kernel_.definition(value);
    const ir::BlockId home = definition != nullptr ? definition->parent : kernel_[value].block;
    for (ir::BlockId at = block; at != home;) {
        const ir::OpId parent = kernel_[at].parent;
        if (!parent.valid()) throw support::InternalError("codegen::cpu::plan", "a value is used outside its block");
        if (kernel_[parent].kind != OpKind::If) {
            position = end_position_[parent.index];
            same_point = false;
        }
        at = kernel_[parent].parent;
    }
    reads_[value.index].push_back({position, same_point});
}

void Planner::read_tile(ir::ValueId first, bool first_same_point, std::uint32_t position, ir::BlockId block,
                        ir::ValueId made) {
    std::vector<std::pair<ir::ValueId, bool>> pending{{first, first_same_point}};
    std::set<std::pair<ir::ValueId, bool>> seen;
    while (!pending.empty()) {
        const auto [value, same_point] = pending.back();
        pending.pop_back();
        if (!kernel_.type(value).is_tile() || !seen.insert({value, same_point}).second) continue;
        if (plan_.in_buffer(value)) {
            note_read(value, same_point, position, block);
            if (same_point && made.valid()) in_place_.emplace_back(made, value);
            continue;
        }
        const ir::Op& op = *kernel_.definition(value);
        for (const ir::ValueId operand : op.operands) {
            pending.emplace_back(operand, same_point && ir::is_elementwise(op.kind));
        }
    }
}

void Planner::read_root(std::uint32_t position, const Nest& nest, ir::BlockId block, const Root& root) {
    // A reduction across the lanes writes at other points than it reads.
    const bool same_point = nest.vertical_axis < 0;
    const ir::Op* definition = kernel_.definition(root.value);
    if (root.kind == RootKind::Assign) {
        for (const ir::ValueId operand : definition->operands) {
            read_tile(operand, ir::is_elementwise(definition->kind), position, block, root.value);
        }
        return;
    }
    read_tile(root.value, same_point, position, block);
    if (root.kind != RootKind::Store) return;
    for (const ir::ValueId operand : kernel_[root.op].operands) {
        if (operand != root.value) read_tile(operand, false, position, block);
    }
}

void Planner::collect_reads(ir::BlockId block) {
    const std::vector<Step>& steps = plan_.blocks[block.index];
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const std::uint32_t position = positions_[block.index][i];
        if (steps[i].kind == StepKind::Nest) {
            const Nest& nest = plan_.nests[steps[i].nest];
            for (const Root& root : nest.roots) {
                if (root.kind == RootKind::Assign) assigned_at_[root.value.index] = position;
                read_root(position, nest, block, root);
            }
            continue;
        }
        const ir::Op& op = kernel_[steps[i].op];
        if (plan_.dot_of_op[steps[i].op.index] != kNoBuffer) {
            const DotPlan& dot = plan_.dots[plan_.dot_of_op[steps[i].op.index]];
            for (const DotOperand* operand : {&dot.a, &dot.b}) {
                if (!operand->view) read_tile(operand->base, false, position, block);
            }
            if (dot.accumulator.valid()) read_tile(dot.accumulator, true, position, block);
            continue;
        }
        // Control ops hand buffers on as they are; other tiles are computed while the new ones are being written.
        const bool control = !op.blocks.empty() && !works_on_buffers(op.kind);
        const bool hands_on = control || op.kind == OpKind::Yield;
        for (const ir::ValueId operand : op.operands) {
            read_tile(operand, hands_on && plan_.in_buffer(operand), position, block);
        }
        if (steps[i].kind == StepKind::Op) {
            for (const ir::BlockId inner : op.blocks) collect_reads(inner);
        }
    }
}

/// A value that is read only in the nest that assigns it, at the point it was computed for, needs no memory.
void Planner::drop_private_values() {
    for (Nest& nest : plan_.nests) {
        std::erase_if(nest.roots, [&](const Root& root) {
            if (root.kind != RootKind::Assign || nest.roots.size() < 2) return false;
            const std::vector<Read>& reads = reads_[root.value.index];
            const std::uint32_t position = assigned_at_[root.value.index];
            const bool is_private = !reads.empty() && std::all_of(reads.begin(), reads.end(), [&](const Read& read) {
                return read.position == position && read.same_point;
            });
            if (is_private) {
                plan_.places[root.value.index] = Place::Inline;
                plan_.value_buffers[root.value.index] = kNoBuffer;
            }
            return is_private;
        });
    }
}

BufferId Planner::find(BufferId buffer) {
    while (merged_[buffer] != buffer) {
        merged_[buffer] = merged_[merged_[buffer]];
        buffer = merged_[buffer];
    }
    return buffer;
}

void Planner::force_merge(BufferId first, BufferId second) {
    first = find(first);
    second = find(second);
    if (first == second) return;
    merged_[second] = first;
    lifetimes_[first].insert(lifetimes_[first].end(), lifetimes_[second].begin(), lifetimes_[second].end());
    lifetimes_[second].clear();
}

bool Planner::try_merge(BufferId first, BufferId second) {
    first = find(first);
    second = find(second);
    if (first == second) return true;
    const Buffer &a = plan_.buffers[first], &b = plan_.buffers[second];
    if (a.element != b.element || a.shape.count() != b.shape.count()) return false;
    for (const Interval& x : lifetimes_[first]) {
        for (const Interval& y : lifetimes_[second]) {
            if (x.first <= y.last && y.first <= x.last) return false;
        }
    }
    force_merge(first, second);
    return true;
}

void Planner::define(BufferId buffer, std::uint32_t position) {
    if (buffer != kNoBuffer) lifetimes_[buffer].push_back({2 * position + 1, 2 * position + 1});
}

std::uint32_t Planner::last_read(ir::ValueId value, std::uint32_t made) const {
    std::uint32_t last = made;
    for (const Read& read : reads_[value.index]) last = std::max(last, 2 * read.position + (read.same_point ? 0 : 1));
    return last;
}

void Planner::define_value(ir::ValueId value, std::uint32_t position) {
    const BufferId buffer = plan_.value_buffers[value.index];
    if (buffer == kNoBuffer) return;
    const std::uint32_t made = 2 * position + 1;
    lifetimes_[buffer].push_back({made, last_read(value, made)});
}

void Planner::build_lifetimes() {
    lifetimes_.resize(plan_.buffers.size());
    merged_.resize(plan_.buffers.size());
    for (std::size_t i = 0; i < merged_.size(); ++i) merged_[i] = static_cast<BufferId>(i);
    for (const ir::BlockId block : blocks_) {
        for (std::size_t i = 0; i < plan_.blocks[block.index].size(); ++i) {
            step_lifetimes(plan_.blocks[block.index][i], positions_[block.index][i]);
        }
    }
}

void Planner::step_lifetimes(const Step& step, std::uint32_t position) {
    if (step.kind == StepKind::Nest) {
        for (const Root& root : plan_.nests[step.nest].roots) {
            if (root.kind == RootKind::Assign) define_value(root.value, position);
            if (root.kind == RootKind::Reduce) define_value(kernel_[root.op].result(), position);
        }
        return;
    }
    const ir::Op& op = kernel_[step.op];
    const std::uint32_t dot = plan_.dot_of_op[step.op.index];
    if (dot != kNoBuffer) {
        define(plan_.dots[dot].a.copy, position);
        define(plan_.dots[dot].b.copy, position);
    }
    const bool control = dot == kNoBuffer && !op.blocks.empty() && !works_on_buffers(op.kind);
    for (const ir::ValueId result : op.results) define_value(result, control ? end_position_[step.op.index] : position);
    if (control) control_lifetimes(step.op);
}

/// Arguments of a loop's first block hold their value from the loop's start to their last read, and from the yield
/// that brings the next value to the loop's end. What the first block of a While hands on is the second's argument.
void Planner::control_lifetimes(ir::OpId id) {
    const ir::Op& op = kernel_[id];
    const std::uint32_t begin = begin_position_[id.index], end = 2 * end_position_[id.index] + 1;
    if (op.kind == OpKind::If) {
        for (const ir::BlockId block : op.blocks) {
            for (const ir::ValueId result : op.results) {
                define(plan_.value_buffers[result.index], positions_[block.index].back());
            }
        }
        return;
    }
    const std::uint32_t next = positions_[op.blocks.back().index].back();
    for (const ir::ValueId argument : kernel_[op.blocks.front()].arguments) {
        define_value(argument, begin);
        const BufferId buffer = plan_.value_buffers[argument.index];
        if (buffer != kNoBuffer) lifetimes_[buffer].push_back({2 * next + 1, end});
    }
    if (op.kind != OpKind::While) return;
    for (const ir::ValueId argument : kernel_[op.blocks.back()].arguments) {
        define_value(argument, positions_[op.blocks.front().index].back());
    }
}

void Planner::coalesce() {
    std::vector<ir::OpId> control;
    for (const ir::OpId id : ops_) {
        const bool hands_on = !kernel_[id].blocks.empty() && !works_on_buffers(kernel_[id].kind);
        const bool scheduled = !sunk_[id.index] && hands_on;
        if (scheduled && plan_.dot_of_op[id.index] == kNoBuffer) control.push_back(id);
    }
    for (const ir::OpId id : control) merge_results(id);
    for (const ir::OpId id : control) coalesce_control(id);
    for (const DotPlan& dot : plan_.dots) {
        if (dot.result != kNoBuffer && dot.accumulator.valid()) merge_value(dot.result, dot.accumulator);
    }
    for (const auto& [made, read] : in_place_) {
        if (plan_.in_buffer(made)) merge_value(plan_.value_buffers[made.index], read);
    }
}

void Planner::merge_value(BufferId buffer, ir::ValueId value) {
    const BufferId other = plan_.value_buffers[value.index];
    if (buffer != kNoBuffer && other != kNoBuffer) try_merge(buffer, other);
}

/// The results of a loop are what its arguments hold when it ends.
void Planner::merge_results(ir::OpId id) {
    const ir::Op& op = kernel_[id];
    if (op.kind == OpKind::If) return;
    const std::vector<ir::ValueId>& arguments = kernel_[op.blocks.back()].arguments;
    const std::size_t skip = op.kind == OpKind::For ? 1 : 0;
    for (std::size_t i = 0; i < op.results.size(); ++i) {
        const BufferId result = plan_.value_buffers[op.results[i].index];
        if (result != kNoBuffer) force_merge(result, plan_.value_buffers[arguments[i + skip].index]);
    }
}

void Planner::coalesce_control(ir::OpId id) {
    for (const ControlEdge& edge : control_edges(id)) {
        for (std::size_t i = 0; i < edge.to.size(); ++i)
            merge_value(plan_.value_buffers[edge.to[i].index], edge.from[i]);
    }
}

std::vector<Planner::ControlEdge> Planner::control_edges(ir::OpId id) const {
    const ir::Op& op = kernel_[id];
    std::vector<ControlEdge> edges;
    const auto add = [&](ir::OpId from, std::size_t skip_from, const std::vector<ir::ValueId>& to,
                         std::size_t skip_to) {
        const std::vector<ir::ValueId>& operands = kernel_[from].operands;
        edges.push_back({from,
                         {operands.begin() + static_cast<std::ptrdiff_t>(skip_from), operands.end()},
                         {to.begin() + static_cast<std::ptrdiff_t>(skip_to), to.end()}});
    };
    const auto yield_of = [&](ir::BlockId block) { return kernel_[block].ops.back(); };
    if (op.kind == OpKind::For) {
        const std::vector<ir::ValueId>& arguments = kernel_[op.blocks[0]].arguments;
        add(yield_of(op.blocks[0]), 0, arguments, 1);
        add(id, 3, arguments, 1);
    } else if (op.kind == OpKind::While) {
        add(yield_of(op.blocks[0]), 1, kernel_[op.blocks[1]].arguments, 0);
        add(yield_of(op.blocks[1]), 0, kernel_[op.blocks[0]].arguments, 0);
        add(id, 0, kernel_[op.blocks[0]].arguments, 0);
    } else if (op.kind == OpKind::If) {
        for (const ir::BlockId block : op.blocks) add(yield_of(block), 0, op.results, 0);
    }
    return edges;
}

void Planner::plan_moves() {
    for (const ir::OpId id : ops_) {
        if (sunk_[id.index] || kernel_[id].blocks.empty() || plan_.dot_of_op[id.index] != kNoBuffer) continue;
        for (const ControlEdge& edge : control_edges(id)) add_moves(edge);
    }
}

void Planner::add_moves(const ControlEdge& edge) {
    std::vector<Move> moves;
    std::set<BufferId> written;
    for (std::size_t i = 0; i < edge.to.size(); ++i) {
        const BufferId to = plan_.value_buffers[edge.to[i].index];
        if (to == kNoBuffer) continue;
        const BufferId from = plan_.value_buffers[edge.from[i].index];
        if (from != kNoBuffer && find(from) == find(to)) continue;
        moves.push_back({to, edge.from[i], kNoBuffer});
        written.insert(find(to));
    }
    const std::uint32_t position = begin_position_[edge.op.index];
    for (Move& move : moves) {
        const BufferId from = plan_.value_buffers[move.from.index];
        if (from == kNoBuffer || !written.contains(find(from))) continue;
        const Buffer& shape = plan_.buffers[move.to];
        move.temporary = new_buffer(shape.element, shape.shape);
        lifetimes_.push_back({{2 * position, 2 * position + 1}});
        merged_.push_back(move.temporary);
    }
    plan_.moves[edge.op.index] = std::move(moves);
}

/// First fit, the largest first. Buffers that touch in one step stay apart.
void Planner::pack() {
    constexpr std::uint64_t kAlignment = 64;
    std::vector<BufferId> order;
    std::vector<std::uint64_t> bytes(plan_.buffers.size());
    for (BufferId i = 0; i < plan_.buffers.size(); ++i) {
        const Buffer& buffer = plan_.buffers[i];
        const auto exact = static_cast<std::uint64_t>(buffer.shape.count() * ir::byte_width(buffer.element));
        bytes[i] = (exact + kAlignment - 1) / kAlignment * kAlignment;
        if (find(i) == i && !lifetimes_[i].empty()) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](BufferId a, BufferId b) { return bytes[a] > bytes[b]; });
    std::vector<BufferId> placed;
    for (const BufferId id : order) {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;
        for (const BufferId other : placed) {
            if (meet(lifetimes_[id], lifetimes_[other])) {
                taken.emplace_back(plan_.buffers[other].offset, plan_.buffers[other].offset + bytes[other]);
            }
        }
        std::sort(taken.begin(), taken.end());
        std::uint64_t offset = 0;
        for (const auto& [first, last] : taken) {
            if (offset + bytes[id] <= first) break;
            offset = std::max(offset, last);
        }
        plan_.buffers[id].offset = offset;
        plan_.scratch_bytes = std::max(plan_.scratch_bytes, offset + bytes[id]);
        placed.push_back(id);
    }
    for (BufferId i = 0; i < plan_.buffers.size(); ++i) plan_.buffers[i].offset = plan_.buffers[find(i)].offset;
}

}  // namespace kiln::codegen::cpu
