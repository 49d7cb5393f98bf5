#include "codegen/configure/program_walk.h"

#include <algorithm>

#include "codegen/cpu/plan.h"
#include "ir/builder.h"
#include "ir/semantics.h"
#include "ir/tile_ops.h"

namespace kiln::codegen::configure {

using ir::OpKind;

double bytes_of(ir::ScalarType type) {
    return ir::bit_width(type) / 8.0;
}

ProgramWalk::ProgramWalk(const ir::Kernel& kernel, const ir::Launch& launch, std::span<const ir::Argument> arguments,
                         std::size_t phase)
    : kernel_(kernel), launch_(launch), phase_(phase), launch_scalars_(kernel.values.size()) {
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
        const ir::ValueId value = kernel.parameters[i].value;
        if (const auto* view = std::get_if<ir::TensorView>(&arguments[i])) {
            sizes_[value.index] = view->sizes;
            roots_[value.index] = {kernel.parameters[i].facts.unit_axis, view->strides};
        } else if (std::holds_alternative<ir::Scalar>(arguments[i])) {
            launch_scalars_[value.index] = launch.values[value.index];
        }
    }
    for (std::size_t i = 0; i < kernel.scratch.size(); ++i) {
        const ir::ValueId value = kernel.scratch[i].value;
        sizes_[value.index] = launch.scratch[i];
        roots_[value.index] = {static_cast<int>(launch.scratch[i].rank()) - 1, ir::dense_strides(launch.scratch[i])};
    }
    for (const ir::SizeBinding& size : kernel.sizes)
        launch_scalars_[size.value.index] = launch.values[size.value.index];
    for (const ir::OpId id : kernel[kernel.host].ops) {
        for (const ir::ValueId result : kernel[id].results) launch_scalars_[result.index] = launch.values[result.index];
    }
}

void ProgramWalk::begin(std::int64_t index) {
    scalars_ = launch_scalars_;
    const ir::BlockId body = kernel_.phases[phase_].block;
    const std::vector<std::int64_t> offsets = ir::program_offsets(kernel_, launch_, phase_, index);
    for (std::size_t axis = 0; axis < offsets.size(); ++axis) {
        scalars_[kernel_[body].arguments[axis].index] = ir::Scalar::int64(offsets[axis]);
    }
}

void ProgramWalk::note(const ir::Op& op) {
    if (op.kind == OpKind::View) {
        note_view(op);
    } else {
        evaluate(op);
    }
}

std::int64_t ProgramWalk::enter_loop(const ir::Op& loop) {
    const std::int64_t count = trips(loop);
    const auto first = number(loop.operands[0]), step = number(loop.operands[2]);
    const ir::ValueId index = kernel_[loop.blocks.front()].arguments.front();
    if (count > 0 && first && step) scalars_[index.index] = ir::Scalar::int64(*first + *step * (count / 2));
    return count;
}

double ProgramWalk::share(const ir::Op& choice, std::size_t branch) const {
    const auto& condition = scalars_[choice.operands.front().index];
    return !condition ? 0.5 : condition->as_bool() == (branch == 0) ? 1 : 0;
}

void ProgramWalk::evaluate(const ir::Op& op) {
    if (op.results.size() != 1 || !kernel_.type(op.result()).is_scalar()) return;
    std::optional<ir::Scalar>& result = scalars_[op.result().index];
    if (op.kind == OpKind::Constant) {
        result = ir::attribute<ir::Scalar>(op);
    } else if (op.kind == OpKind::Size) {
        const auto sizes = sizes_.find(op.operands.front().index);
        if (sizes == sizes_.end()) return;
        result = ir::Scalar::int64(sizes->second[ir::attribute<ir::AxisAttribute>(op).axis]);
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

std::optional<std::int64_t> ProgramWalk::number(ir::ValueId value) const {
    std::optional<ir::Scalar> scalar = scalars_[value.index];
    if (!scalar) scalar = kernel_.constant(value);
    if (!scalar) return std::nullopt;
    return scalar->as_int64();
}

std::int64_t ProgramWalk::trips(const ir::Op& loop) const {
    const auto lower = number(loop.operands[0]), upper = number(loop.operands[1]), step = number(loop.operands[2]);
    if (!lower || !upper || !step || *step <= 0) return kUnknownTrips;
    return *upper <= *lower ? 0 : (*upper - *lower + *step - 1) / *step;
}

void ProgramWalk::note_view(const ir::Op& op) {
    const auto base = sizes_.find(op.operands.front().index);
    if (base == sizes_.end()) return;
    const ir::Shape from = base->second;
    const auto& access = ir::attribute<ir::AccessAttribute>(op);
    ir::Shape result;
    for (std::size_t axis = 0; axis < access.axes.size(); ++axis) {
        if (access.axes[axis].kind == ir::AxisKind::All) result.push_back(from[axis]);
        if (access.axes[axis].kind != ir::AxisKind::Range) continue;
        const std::size_t first = cpu::axis_operand(access, axis);
        const std::int64_t size = from[axis];
        const std::int64_t lower = std::clamp<std::int64_t>(number(op.operands[first]).value_or(0), 0, size);
        const std::int64_t upper = std::clamp<std::int64_t>(number(op.operands[first + 1]).value_or(size), lower, size);
        result.push_back(upper - lower);
    }
    sizes_[op.result().index] = result;
}

std::int64_t ProgramWalk::present(const ir::Op& op, std::size_t axis, const ir::Op* loop) const {
    const auto& access = ir::attribute<ir::AccessAttribute>(op);
    const ir::ValueId start = op.operands[cpu::axis_operand(access, axis)];
    const auto sizes = sizes_.find(op.operands.front().index);
    const std::int64_t size = sizes == sizes_.end() ? access.axes[axis].length : sizes->second[axis];
    if (loop != nullptr && start == kernel_[loop->blocks.front()].arguments.front()) {
        const std::int64_t first = number(loop->operands[0]).value_or(0);
        return std::clamp<std::int64_t>(trips(*loop) * access.axes[axis].length, 0,
                                        std::max<std::int64_t>(size - first, 0));
    }
    const std::int64_t first = number(start).value_or(0);
    return std::clamp<std::int64_t>(size - first, 0, access.axes[axis].length);
}

std::int64_t ProgramWalk::byte_stride(const ir::Op& access, std::size_t axis) const {
    const ir::ValueId tensor = access.operands.front(), root = cpu::root_tensor(kernel_, tensor);
    // Views drop axes before those that a tile has.
    const std::size_t from_end = kernel_.type(tensor).shape.rank() - axis;
    const std::size_t root_axis = kernel_.type(root).shape.rank() - from_end;
    const auto found = roots_.find(root.index);
    if (found == roots_.end() || found->second.unit_axis == static_cast<int>(root_axis)) return 0;
    const double bytes = bytes_of(kernel_.type(root).element);
    return static_cast<std::int64_t>(static_cast<double>(found->second.strides[root_axis]) * bytes);
}

int ProgramWalk::unit_axis(ir::ValueId root) const {
    const auto found = roots_.find(root.index);
    return found == roots_.end() ? -1 : found->second.unit_axis;
}

}  // namespace kiln::codegen::configure
