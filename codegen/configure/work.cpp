#include "codegen/configure/work.h"

#include <algorithm>
#include <cmath>

#include "codegen/configure/access_cost.h"
#include "codegen/configure/instructions.h"
#include "codegen/cpu/register_tile.h"
#include "ir/tile_ops.h"

namespace kiln::codegen::configure {

using ir::OpKind;

namespace {

// Cycles of a nest's or a dot's set-up, and of a call of a micro-kernel beside its multiplications.
constexpr double kNestCycles = 30, kDotCycles = 60, kKernelCycles = 14;
// Bytes a cycle at which operands are rearranged: rows as they lie, and against the grain.
constexpr double kPackingRate = 16, kTransposingRate = 6;

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

}  // namespace

void Work::add(const Work& other, double times) {
    dot_cycles += other.dot_cycles * times;
    packing_cycles += other.packing_cycles * times;
    vector_cycles += other.vector_cycles * times;
    buffer_cycles += other.buffer_cycles * times;
    tensor_cycles += other.tensor_cycles * times;
    call_cycles += other.call_cycles * times;
    dot_operations += other.dot_operations * times;
    vector_operations += other.vector_operations * times;
    ideal_dot_cycles += other.ideal_dot_cycles * times;
    tensor_bytes += other.tensor_bytes * times;
}

WorkCounter::WorkCounter(const ir::Kernel& kernel, const ir::Launch& launch, std::span<const ir::Argument> arguments,
                         std::size_t phase, const CpuMachine& machine)
    : kernel_(kernel),
      phase_(phase),
      machine_(machine),
      plan_(cpu::make_plan(kernel, kernel.phases[phase])),
      program_(kernel, launch, arguments, phase) {}

Work WorkCounter::count(std::int64_t index) {
    work_ = {};
    read_.assign(kernel_.values.size(), false);
    program_.begin(index);
    work_.call_cycles += kNestCycles;
    walk(kernel_.phases[phase_].block, 1);
    return work_;
}

void WorkCounter::walk(ir::BlockId block, double times) {
    // A nest may stand before the scalars that it does not need but after those it does: the plan keeps their order.
    for (const cpu::Step& step : plan_.blocks[block.index]) {
        switch (step.kind) {
            case cpu::StepKind::Op:
                walk_op(kernel_[step.op], times);
                break;
            case cpu::StepKind::Nest:
                count_nest(plan_.nests[step.nest], times);
                break;
            case cpu::StepKind::SunkDot:
                count_dot(plan_.dots[plan_.dot_of_op[step.op.index]], times, &kernel_[step.op]);
                break;
        }
    }
}

void WorkCounter::walk_op(const ir::Op& op, double times) {
    if (op.kind == OpKind::For) {
        walk_for(op, times);
    } else if (op.kind == OpKind::If) {
        walk_if(op, times);
    } else if (op.kind == OpKind::While) {
        for (const ir::BlockId block : op.blocks) walk(block, times * ProgramWalk::kUnknownTrips);
    } else if (op.kind == OpKind::Dot) {
        count_dot(plan_.dots[plan_.dot_of_op[static_cast<std::size_t>(&op - kernel_.ops.data())]], times, nullptr);
    } else {
        program_.note(op);
        if (op.kind != OpKind::View) work_.call_cycles += times;
    }
}

void WorkCounter::walk_for(const ir::Op& op, double times) {
    const std::int64_t count = program_.enter_loop(op);
    if (count > 0) walk(op.blocks.front(), times * static_cast<double>(count));
}

void WorkCounter::walk_if(const ir::Op& op, double times) {
    for (const std::size_t branch : {0u, 1u}) {
        const double share = program_.share(op, branch);
        if (share > 0) walk(op.blocks[branch], times * share);
    }
}

void WorkCounter::count_nest(const cpu::Nest& nest, double times) {
    work_.call_cycles += times * kNestCycles;
    std::vector<bool> seen(kernel_.values.size(), false);
    for (const cpu::Root& root : nest.roots) {
        const auto points = static_cast<double>(nest.space.count());
        const Lanes lanes{points, static_cast<int>(cpu::lane_axis(nest.space))};
        count_expression(root.value, times, lanes, seen);
        const double elements = static_cast<double>(nest.space.count());
        const ir::Type& type = kernel_.type(root.value);
        const double vectors = elements * bytes_of(type.element) / machine_.target.vector_bytes;
        switch (root.kind) {
            case cpu::RootKind::Assign:
                work_.buffer_cycles += times * elements * bytes_of(type.element) / buffer_rate();
                break;
            case cpu::RootKind::Reduce:
                work_.vector_cycles += times * std::max(vectors, 1.0) / machine_.vector_ops_per_cycle;
                work_.vector_operations += times * elements;
                break;
            case cpu::RootKind::Store:
                count_access(kernel_[root.op], times, lanes);
                break;
        }
    }
}

void WorkCounter::count_expression(ir::ValueId value, double times, Lanes lanes, std::vector<bool>& seen) {
    const ir::Type& type = kernel_.type(value);
    if (!type.is_tile() || seen[value.index]) return;
    seen[value.index] = true;
    const double elements = static_cast<double>(type.shape.count());
    const double bytes = elements * std::max(bytes_of(type.element), 0.5);
    if (plan_.in_buffer(value) || kernel_.definition(value) == nullptr) {
        work_.buffer_cycles += times * bytes / buffer_rate();
        return;
    }
    const ir::Op& op = *kernel_.definition(value);
    if (op.kind == OpKind::Load) {
        count_access(op, times, lanes);
        return;
    }
    // Comparisons work on the vectors of their operands, conversions on the wider side.
    double element = std::max(bytes_of(type.element), 1.0);
    if (ir::is_elementwise(op.kind)) {
        for (const ir::ValueId operand : op.operands)
            element = std::max(element, bytes_of(kernel_.type(operand).element));
        work_.vector_operations += times * elements;
    }
    const double vectors = std::ceil(elements * element / machine_.target.vector_bytes);
    work_.vector_cycles += times * vectors * instructions(op.kind) / machine_.vector_ops_per_cycle;
    for (const ir::ValueId operand : op.operands) count_expression(operand, times, operand_lanes(op, lanes), seen);
}

/// Of the operands of an op whose result is walked so.
WorkCounter::Lanes WorkCounter::operand_lanes(const ir::Op& op, Lanes lanes) const {
    if (lanes.axis < 0) return lanes;
    const ir::Shape& result = kernel_.type(op.result()).shape;
    const ir::Shape& operand = kernel_.type(op.operands.front()).shape;
    const auto axis = static_cast<std::size_t>(lanes.axis);
    if (op.kind == OpKind::Permute) {
        lanes.axis = static_cast<int>(ir::attribute<ir::AxesAttribute>(op).axes[axis]);
    } else if (op.kind == OpKind::Broadcast) {
        if (operand.rank() <= axis || operand[axis] != result[axis]) {
            lanes = {lanes.points / static_cast<double>(result[axis]), -1};
        }
    } else if (op.kind == OpKind::Reshape) {
        // Of other reshapes the last axis is the last, more or less.
        std::vector<int> axes;
        if (cpu::unit_reshape(operand, result, axes)) {
            lanes.axis = static_cast<int>(std::find(axes.begin(), axes.end(), lanes.axis) - axes.begin());
            if (lanes.axis == static_cast<int>(axes.size())) lanes.axis = -1;
        } else {
            lanes.axis = static_cast<int>(operand.rank()) - 1;
        }
    }
    return lanes;
}

void WorkCounter::count_access(const ir::Op& op, double times, Lanes lanes) {
    const auto& attribute = ir::attribute<ir::AccessAttribute>(op);
    TensorAccess access;
    access.element_bytes = bytes_of(kernel_.type(op.operands.front()).element);
    access.elements = 1;
    double tile = 1;
    int tile_axis = 0;
    for (std::size_t axis = 0; axis < attribute.axes.size(); ++axis) {
        if (attribute.axes[axis].kind == ir::AxisKind::Slice) {
            const auto extent = static_cast<double>(program_.present(op, axis));
            access.elements *= extent;
            tile *= static_cast<double>(attribute.axes[axis].length);
            if (tile_axis++ != lanes.axis) continue;
            access.lane_elements = extent;
            access.lane_stride_bytes = program_.byte_stride(op, axis);
        }
        if (attribute.axes[axis].kind != ir::AxisKind::Gather || access.gathers) continue;
        access.gathers = true;
        const ir::ValueId positions = op.operands[cpu::axis_operand(attribute, axis)];
        access.elements *= static_cast<double>(kernel_.type(positions).shape.count());
    }
    access.masked = !access.gathers && access.elements < tile;
    // Edges are left out of the loops.
    access.points = access.gathers ? access.elements : access.elements * std::max(1.0, lanes.points / tile);
    if (op.kind == OpKind::Load) {
        access.again = read_[op.result().index];
        read_[op.result().index] = true;
    }
    work_.tensor_bytes += times * access.elements * access.element_bytes;
    work_.tensor_cycles += times * access_cycles(access, machine_);
}

WorkCounter::Matrix WorkCounter::operand(const cpu::DotOperand& operand, double times, const ir::Op* loop) {
    const ir::Shape& shape = kernel_.type(operand.base).shape;
    Matrix matrix{shape[0], shape[1], true, false, operand.view};
    if (operand.view) {
        const ir::Op& load = *kernel_.definition(operand.base);
        const auto& access = ir::attribute<ir::AccessAttribute>(load);
        std::vector<std::size_t> sliced;
        for (std::size_t axis = 0; axis < access.axes.size(); ++axis) {
            if (access.axes[axis].kind == ir::AxisKind::Slice) sliced.push_back(axis);
        }
        matrix.rows = program_.present(load, sliced[0], loop);
        matrix.columns = program_.present(load, sliced[1], loop);
        // Views drop axes before those that a matrix has, so that a unit axis counted from the end stays where it is.
        const ir::ValueId root = cpu::root_tensor(kernel_, load.operands.front());
        const int rank = static_cast<int>(kernel_.type(root).shape.rank());
        const int unit = program_.unit_axis(root);
        const int from_end = unit < 0 ? 1 : rank - unit;
        matrix.unit_rows = from_end == 1;
        matrix.unit_columns = from_end == 2;
    } else if (operand.copy != cpu::kNoBuffer) {
        const double bytes = static_cast<double>(shape.count()) * 4;
        work_.packing_cycles += times * bytes / kPackingRate;
    }
    if (operand.transposed) {
        std::swap(matrix.rows, matrix.columns);
        std::swap(matrix.unit_rows, matrix.unit_columns);
    }
    return matrix;
}

void WorkCounter::count_dot(const cpu::DotPlan& dot, double times, const ir::Op* loop) {
    const ir::Op& op = kernel_[dot.op];
    const Matrix a = operand(dot.a, times, loop), b = operand(dot.b, times, loop);
    const std::int64_t rows = a.rows, columns = b.columns, depth = std::min(a.columns, b.rows);
    if (rows <= 0 || columns <= 0 || depth <= 0) return;
    const ir::ScalarType element = kernel_.type(op.operands[0]).element;
    const ir::ScalarType sum = kernel_.type(op.result()).element;
    const double word = std::max(4.0, bytes_of(sum));
    const bool pairs = machine_.target.has_bf16_dot && element == ir::ScalarType::BF16;
    const double products_a_slot = pairs ? 2 : 1;
    const auto lanes = static_cast<std::int64_t>(machine_.target.vector_bytes / word);
    const std::int64_t most_rows = kernel_.type(op.result()).shape[0],
                       most_columns = kernel_.type(op.result()).shape[1];
    const cpu::RegisterTile tile = cpu::register_tile(machine_.target, most_rows, divide_up(most_columns, lanes));
    const std::int64_t row_tiles = divide_up(rows, tile.rows), panels = divide_up(columns, tile.vectors * lanes);
    const double kernels = static_cast<double>(row_tiles * panels);
    const double steps = std::ceil(static_cast<double>(depth) / products_a_slot);
    const auto chunks =
        static_cast<double>(divide_up(depth, cpu::kDotChunk * static_cast<std::int64_t>(products_a_slot)));
    // A step multiplies the whole register tile; it loads a row of b and an element of a for each row.
    const double multiplications = static_cast<double>(tile.rows * tile.vectors);
    const double loads = static_cast<double>(tile.rows + tile.vectors) / 2;
    const double from_l2 =
        static_cast<double>(tile.vectors) * machine_.target.vector_bytes / machine_.l2_bytes_per_cycle;
    const double step = std::max({multiplications / machine_.fma_per_cycle, loads, from_l2});
    work_.dot_cycles += times * kernels * steps * step;
    work_.call_cycles += times * (kDotCycles + kernels * chunks * (kKernelCycles + multiplications));
    const double products = static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(depth);
    work_.dot_operations += times * 2 * products;
    work_.ideal_dot_cycles +=
        times * products / (products_a_slot * static_cast<double>(lanes) * machine_.fma_per_cycle);

    const bool widens = !pairs && bytes_of(element) != word;
    const double packed_b = static_cast<double>(columns) * steps * word;
    const bool b_in_place = cpu::reads_b_in_place(tile, most_rows, b.unit_rows, widens || pairs);
    if (!b_in_place) work_.packing_cycles += times * packed_b / (b.unit_rows ? kPackingRate : kTransposingRate);
    const bool a_in_place = cpu::reads_a_in_place(tile, a.unit_rows, widens);
    if (!a_in_place) {
        const double packed_a = static_cast<double>(rows) * steps * word;
        work_.packing_cycles += times * packed_a / (a.unit_rows ? kPackingRate : kTransposingRate);
    }
    const double bytes_a = a.in_tensor ? static_cast<double>(rows * depth) * bytes_of(element) : 0;
    const double bytes_b = b.in_tensor ? static_cast<double>(columns * depth) * bytes_of(element) : 0;
    work_.tensor_bytes += times * (bytes_a + bytes_b);
    // What the second cache cannot hold of a is fetched again for every panel.
    const double held =
        static_cast<double>(rows) * std::min(static_cast<double>(depth), static_cast<double>(cpu::kDotChunk)) * word;
    const double again = held > 0.5 * static_cast<double>(machine_.target.l2_bytes) ? static_cast<double>(panels) : 1;
    work_.tensor_cycles += times * (bytes_a * again + bytes_b) / machine_.far_bytes_per_cycle * 0.5;
}

/// Buffers are used again and again: they lie in the first cache that holds them all.
double WorkCounter::buffer_rate() const {
    const auto bytes = static_cast<std::int64_t>(plan_.scratch_bytes);
    if (bytes <= machine_.target.l1_bytes) return machine_.l1_bytes_per_cycle;
    return bytes <= machine_.target.l2_bytes ? machine_.l2_bytes_per_cycle : machine_.far_bytes_per_cycle;
}

}  // namespace kiln::codegen::configure
