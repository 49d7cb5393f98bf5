#include "codegen/configure/work.h"

#include <algorithm>
#include <cmath>

#include "codegen/configure/access_cost.h"
#include "codegen/cpu/register_tile.h"
#include "ir/builder.h"
#include "ir/semantics.h"
#include "ir/tile_ops.h"

namespace kiln::codegen::configure {

using ir::OpKind;

namespace {

// A loop whose length depends on data: what else could be assumed of it.
constexpr std::int64_t kUnknownTrips = 16;
// Cycles of a nest's or a dot's set-up, and of a call of a micro-kernel beside its multiplications.
constexpr double kNestCycles = 30, kDotCycles = 60, kKernelCycles = 14;
// Bytes a cycle at which operands are rearranged: rows as they lie, and against the grain.
constexpr double kPackingRate = 16, kTransposingRate = 6;

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

double bytes_of(ir::ScalarType type) {
    return ir::bit_width(type) / 8.0;
}

}  // namespace

double instructions(OpKind kind) {
    switch (kind) {
        case OpKind::Constant:
        case OpKind::Iota:
        case OpKind::Broadcast:
        case OpKind::Reshape:
        case OpKind::Permute:
        case OpKind::Extract:
        case OpKind::Bitcast:
            return 0;
        case OpKind::Add:
        case OpKind::Sub:
        case OpKind::Mul:
        case OpKind::Neg:
        case OpKind::And:
        case OpKind::Or:
        case OpKind::Xor:
        case OpKind::Not:
        case OpKind::Shl:
        case OpKind::Shr:
        case OpKind::LogicalAnd:
        case OpKind::LogicalOr:
        case OpKind::LogicalNot:
        case OpKind::Equal:
        case OpKind::NotEqual:
        case OpKind::Less:
        case OpKind::LessEqual:
        case OpKind::Greater:
        case OpKind::GreaterEqual:
        case OpKind::Abs:
        case OpKind::Fma:
        case OpKind::Select:
        case OpKind::IsNan:
        case OpKind::IsInf:
        case OpKind::Reduce:
        case OpKind::Convert:
        case OpKind::Join:
            return 1;
        case OpKind::Saturate:
        case OpKind::Min:
        case OpKind::Max:
        case OpKind::Minimum:
        case OpKind::Maximum:
        case OpKind::Floor:
        case OpKind::Ceil:
        case OpKind::Trunc:
        case OpKind::Round:
            return 3;
        case OpKind::Ilog2:
        case OpKind::Popcount:
        case OpKind::Clz:
            return 4;
        case OpKind::Div:
        case OpKind::Sqrt:
            return 16;
        case OpKind::Rem:
        case OpKind::CeilDiv:
        case OpKind::FloorDiv:
        case OpKind::Mod:
            return 40;
        case OpKind::Exp2:
            return 14;
        case OpKind::Exp:
            return 18;
        case OpKind::Rsqrt:
            return 12;
        case OpKind::Log:
        case OpKind::Log2:
            return 24;
        case OpKind::Sin:
        case OpKind::Cos:
        case OpKind::Tanh:
        case OpKind::Erf:
            return 36;
        case OpKind::Pow:
            return 60;
        case OpKind::Fold:
        case OpKind::Scan:
        case OpKind::Sort:
        case OpKind::Bincount:
        case OpKind::Atomic:
            return 64;  // element by element; a sort's length, which counts twice, no tunable changes
        case OpKind::Dot:
        case OpKind::View:
        case OpKind::Size:
        case OpKind::Load:
        case OpKind::Store:
        case OpKind::For:
        case OpKind::While:
        case OpKind::If:
        case OpKind::Yield:
        case OpKind::Units:
        case OpKind::Require:
        case OpKind::Print:
        case OpKind::Assert:
            return 0;  // counted by what they move, run or contain
    }
    return 0;
}

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
      launch_(launch),
      phase_(phase),
      machine_(machine),
      plan_(cpu::make_plan(kernel, kernel.phases[phase])),
      launch_scalars_(kernel.values.size()) {
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
        const ir::ValueId value = kernel.parameters[i].value;
        if (const auto* view = std::get_if<ir::TensorView>(&arguments[i])) {
            tensors_[value.index] = {view->sizes, value};
            unit_axes_[value.index] = kernel.parameters[i].facts.unit_axis;
            strides_[value.index] = view->strides;
        } else if (std::holds_alternative<ir::Scalar>(arguments[i])) {
            launch_scalars_[value.index] = launch.values[value.index];
        }
    }
    for (std::size_t i = 0; i < kernel.scratch.size(); ++i) {
        const ir::ValueId value = kernel.scratch[i].value;
        tensors_[value.index] = {launch.scratch[i], value};
        unit_axes_[value.index] = static_cast<int>(launch.scratch[i].rank()) - 1;
        strides_[value.index] = ir::dense_strides(launch.scratch[i]);
    }
    for (const ir::SizeBinding& size : kernel.sizes)
        launch_scalars_[size.value.index] = launch.values[size.value.index];
    for (const ir::OpId id : kernel[kernel.host].ops) {
        for (const ir::ValueId result : kernel[id].results) launch_scalars_[result.index] = launch.values[result.index];
    }
}

Work WorkCounter::count(std::int64_t index) {
    work_ = {};
    scalars_ = launch_scalars_;
    read_.assign(kernel_.values.size(), false);
    const ir::BlockId body = kernel_.phases[phase_].block;
    const std::vector<std::int64_t> offsets = ir::program_offsets(kernel_, launch_, phase_, index);
    for (std::size_t axis = 0; axis < offsets.size(); ++axis) {
        scalars_[kernel_[body].arguments[axis].index] = ir::Scalar::int64(offsets[axis]);
    }
    work_.call_cycles += kNestCycles;
    walk(body, 1);
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
        for (const ir::BlockId block : op.blocks) walk(block, times * kUnknownTrips);
    } else if (op.kind == OpKind::Dot) {
        count_dot(plan_.dots[plan_.dot_of_op[static_cast<std::size_t>(&op - kernel_.ops.data())]], times, nullptr);
    } else if (op.kind == OpKind::View) {
        note_view(op);
    } else {
        evaluate_scalar(op);
        work_.call_cycles += times;
    }
}

void WorkCounter::walk_for(const ir::Op& op, double times) {
    const std::int64_t count = trips(op);
    if (count == 0) return;
    const auto first = number(op.operands[0]), step = number(op.operands[2]);
    const ir::Block& body = kernel_[op.blocks.front()];
    // The body is walked at the middle of the loop; what it carries is not known there.
    if (first && step) scalars_[body.arguments.front().index] = ir::Scalar::int64(*first + *step * (count / 2));
    walk(op.blocks.front(), times * static_cast<double>(count));
}

void WorkCounter::walk_if(const ir::Op& op, double times) {
    const auto& condition = scalars_[op.operands.front().index];
    for (std::size_t branch = 0; branch < 2; ++branch) {
        const double share = !condition ? 0.5 : condition->as_bool() == (branch == 0) ? 1 : 0;
        if (share > 0) walk(op.blocks[branch], times * share);
    }
}

void WorkCounter::evaluate_scalar(const ir::Op& op) {
    if (op.results.size() != 1 || !kernel_.type(op.result()).is_scalar()) return;
    std::optional<ir::Scalar>& result = scalars_[op.result().index];
    if (op.kind == OpKind::Constant) {
        result = ir::attribute<ir::Scalar>(op);
    } else if (op.kind == OpKind::Size) {
        const auto tensor = tensors_.find(op.operands.front().index);
        if (tensor == tensors_.end()) return;
        result = ir::Scalar::int64(tensor->second.sizes[ir::attribute<ir::AxisAttribute>(op).axis]);
    } else if (ir::is_elementwise(op.kind)) {
        std::vector<ir::Scalar> operands;
        for (const ir::ValueId operand : op.operands) {
            if (!scalars_[operand.index]) {
                if (const auto constant = kernel_.constant(operand)) {
                    operands.push_back(*constant);
                    continue;
                }
                return;
            }
            operands.push_back(*scalars_[operand.index]);
        }
        const bool converts = op.kind == OpKind::Convert || op.kind == OpKind::Saturate || op.kind == OpKind::Bitcast;
        result = converts ? ir::convert(op.kind, operands[0], kernel_.type(op.result()).element)
                          : ir::evaluate(op.kind, operands);
    }
}

std::optional<std::int64_t> WorkCounter::number(ir::ValueId value) const {
    std::optional<ir::Scalar> scalar = scalars_[value.index];
    if (!scalar) scalar = kernel_.constant(value);
    if (!scalar) return std::nullopt;
    return scalar->as_int64();
}

std::int64_t WorkCounter::trips(const ir::Op& loop) const {
    const auto lower = number(loop.operands[0]), upper = number(loop.operands[1]), step = number(loop.operands[2]);
    if (!lower || !upper || !step || *step <= 0) return kUnknownTrips;
    return *upper <= *lower ? 0 : divide_up(*upper - *lower, *step);
}

void WorkCounter::note_view(const ir::Op& op) {
    const auto base = tensors_.find(op.operands.front().index);
    if (base == tensors_.end()) return;
    const Extents from = base->second;
    const auto& access = ir::attribute<ir::AccessAttribute>(op);
    Extents result{{}, from.root};
    for (std::size_t axis = 0; axis < access.axes.size(); ++axis) {
        if (access.axes[axis].kind == ir::AxisKind::All) result.sizes.push_back(from.sizes[axis]);
        if (access.axes[axis].kind != ir::AxisKind::Range) continue;
        const std::size_t first = cpu::axis_operand(access, axis);
        const std::int64_t size = from.sizes[axis];
        const std::int64_t lower = std::clamp<std::int64_t>(number(op.operands[first]).value_or(0), 0, size);
        const std::int64_t upper = std::clamp<std::int64_t>(number(op.operands[first + 1]).value_or(size), lower, size);
        result.sizes.push_back(upper - lower);
    }
    tensors_[op.result().index] = result;
}

/// How many elements of a slice lie inside its tensor; along the axis that a sunk loop walks, all it walks.
std::int64_t WorkCounter::present(const ir::Op& load, std::size_t axis, const ir::Op* loop) const {
    const auto& access = ir::attribute<ir::AccessAttribute>(load);
    const ir::ValueId start = load.operands[cpu::axis_operand(access, axis)];
    const auto tensor = tensors_.find(load.operands.front().index);
    const std::int64_t size = tensor == tensors_.end() ? access.axes[axis].length : tensor->second.sizes[axis];
    if (loop != nullptr && start == kernel_[loop->blocks.front()].arguments.front()) {
        const std::int64_t first = number(loop->operands[0]).value_or(0);
        return std::clamp<std::int64_t>(trips(*loop) * access.axes[axis].length, 0,
                                        std::max<std::int64_t>(size - first, 0));
    }
    const std::int64_t first = number(start).value_or(0);
    return std::clamp<std::int64_t>(size - first, 0, access.axes[axis].length);
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
            const auto extent = static_cast<double>(present(op, axis, nullptr));
            access.elements *= extent;
            tile *= static_cast<double>(attribute.axes[axis].length);
            if (tile_axis++ != lanes.axis) continue;
            access.lane_elements = extent;
            access.lane_stride_bytes = lane_stride(op, axis);
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

/// Bytes between neighbours along an axis of the tensor that an op accesses, 0 for the axis of neighbours in memory.
std::int64_t WorkCounter::lane_stride(const ir::Op& op, std::size_t axis) const {
    const ir::ValueId tensor = op.operands.front(), root = cpu::root_tensor(kernel_, tensor);
    // Views drop axes before those that a tile has.
    const std::size_t from_end = kernel_.type(tensor).shape.rank() - axis;
    const std::size_t root_axis = kernel_.type(root).shape.rank() - from_end;
    const auto unit = unit_axes_.find(root.index);
    if (unit == unit_axes_.end() || unit->second == static_cast<int>(root_axis)) return 0;
    const double bytes = bytes_of(kernel_.type(root).element);
    return static_cast<std::int64_t>(static_cast<double>(strides_.at(root.index)[root_axis]) * bytes);
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
        matrix.rows = present(load, sliced[0], loop);
        matrix.columns = present(load, sliced[1], loop);
        // Views drop axes before those that a matrix has, so that a unit axis counted from the end stays where it is.
        const ir::ValueId root = cpu::root_tensor(kernel_, load.operands.front());
        const int rank = static_cast<int>(kernel_.type(root).shape.rank());
        const auto unit = unit_axes_.find(root.index);
        const int from_end = unit == unit_axes_.end() || unit->second < 0 ? 1 : rank - unit->second;
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
