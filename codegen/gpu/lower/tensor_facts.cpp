#include "codegen/gpu/lower/tensor_facts.h"

#include <numeric>

namespace kiln::codegen::gpu {

using namespace ir;

TensorFacts::TensorFacts(const Kernel& kernel, const Facts& facts, const Phase& phase)
    : kernel_(kernel), facts_(facts) {
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
        const Parameter& parameter = kernel.parameters[i];
        if (parameter.present && kernel.type(parameter.value).is_tensor()) {
            known_[parameter.value.index] = of_parameter(i);
        }
    }
    for (const Scratch& scratch : kernel.scratch) {
        const int bits = bit_width(kernel.type(scratch.value).element);
        // Dense, so all strides but the last are multiples of the last extent.
        const std::int64_t row = facts[scratch.extents.back()].divisor * bits;
        const std::int64_t alignment = std::gcd<std::int64_t>(kScratchAlignment, row % 8 == 0 ? row / 8 : 1);
        known_[scratch.value.index] = {scratch.value, static_cast<int>(scratch.extents.size()) - 1, alignment, false,
                                       scratch.extents};
    }
    add_arguments(phase);
    add_blocks(phase.block);
}

TensorKnowledge TensorFacts::of_parameter(std::size_t index) const {
    const Parameter& parameter = kernel_.parameters[index];
    TensorKnowledge known{
        parameter.value, parameter.facts.unit_axis, parameter.facts.alignment, kernel_.fits_32_bits, {}};
    known.extents.resize(kernel_.type(parameter.value).shape.rank());
    for (const SizeBinding& size : kernel_.sizes) {
        if (size.parameter == index && size.scale == 1 && size.offset == 0) known.extents[size.axis] = size.value;
    }
    for (const ExtentCheck& check : kernel_.checks) {
        if (check.parameter == index && !known.extents[check.axis].valid()) known.extents[check.axis] = check.expected;
    }
    return known;
}

void TensorFacts::add_arguments(const Phase& phase) {
    const std::vector<ValueId>& arguments = kernel_[phase.block].arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i) upper_[arguments[i].index] = phase.axes[i].upper;
}

void TensorFacts::add_blocks(BlockId block) {
    for (const OpId id : kernel_[block].ops) {
        const Op& op = kernel_[id];
        if (op.kind == OpKind::View) add_view(op);
        if (op.kind == OpKind::For) upper_[kernel_[op.blocks.front()].arguments.front().index] = op.operands[1];
        for (const BlockId inner : op.blocks) add_blocks(inner);
    }
}

void TensorFacts::add_view(const Op& op) {
    const TensorKnowledge& tensor = known_.at(op.operands[0].index);
    const int bits = bit_width(kernel_.type(op.operands[0]).element);
    TensorKnowledge view{tensor.root, -1, tensor.alignment, tensor.fits_32_bits, {}};
    const auto moves_along_unit_axis = [&](ValueId by) {
        const std::int64_t moved = facts_[by].divisor * bits;
        if (moved % 8 == 0) view.alignment = std::gcd(view.alignment, moved / 8);
        if (moved % 8 != 0) view.alignment = 1;
    };
    std::size_t operand = 1;
    const auto& axes = attribute<AccessAttribute>(op).axes;
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        const bool unit = static_cast<int>(axis) == tensor.unit_axis;
        if (axes[axis].kind == AxisKind::All) {
            if (unit) view.unit_axis = static_cast<int>(view.extents.size());
            view.extents.push_back(tensor.extents[axis]);
            continue;
        }
        if (unit) moves_along_unit_axis(op.operands[operand]);
        if (axes[axis].kind == AxisKind::Range) {
            if (unit) view.unit_axis = static_cast<int>(view.extents.size());
            view.extents.emplace_back();
            ++operand;
        }
        ++operand;
    }
    known_[op.result().index] = std::move(view);
}

std::optional<MemoryRun> TensorFacts::run_of(const Op& op) const {
    const TensorKnowledge& tensor = known_.at(op.operands[0].index);
    const int bits = bit_width(kernel_.type(op.operands[0]).element);
    const auto& axes = access_of(op).axes;
    MemoryRun run;
    std::uint32_t tile_axis = 0;
    bool gathers = false;
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        const AxisAccess& access = axes[axis];
        if (access.kind == AxisKind::Gather && !gathers) {
            gathers = true;
            tile_axis += static_cast<std::uint32_t>(kernel_.type(op.operands[axis + 1]).shape.rank());
        }
        if (access.kind != AxisKind::Slice) continue;
        if (static_cast<int>(axis) == tensor.unit_axis) {
            run.tile_axis = tile_axis;
            const std::int64_t start = facts_[op.operands[axis + 1]].divisor;
            while (bits >= 8 && run.vector * 2 * bits <= 128 && access.length % (run.vector * 2) == 0 &&
                   start % (run.vector * 2) == 0 && tensor.alignment % (run.vector * 2 * bits / 8) == 0) {
                run.vector *= 2;
            }
            return run;
        }
        ++tile_axis;
    }
    return std::nullopt;
}

bool TensorFacts::proves_inside(ValueId tensor, std::size_t axis, ValueId start, std::int64_t length) const {
    const Fact& first = facts_[start];
    if (first.lo < 0) return false;
    const std::int64_t extent = kernel_.type(tensor).shape[axis];
    if (extent != kDynamic)
        return first.hi <= extent - length ||
               (first.hi < extent && extent % length == 0 && first.divisor % length == 0);
    const ValueId value = known_.at(tensor.index).extents[axis];
    return value.valid() && stays_below(start, length, value);
}

/// A start that is below the extent, both multiples of the length, leaves room for the whole length.
bool TensorFacts::stays_below(ValueId start, std::int64_t length, ValueId extent) const {
    const auto upper = upper_.find(start.index);
    if (upper == upper_.end()) return false;
    return upper->second == extent && facts_[start].divisor % length == 0 && facts_[extent].divisor % length == 0;
}

}  // namespace kiln::codegen::gpu
