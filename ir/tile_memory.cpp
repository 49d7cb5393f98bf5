#include "ir/tile_memory.h"

#include <algorithm>

#include "ir/support/internal_error.h"

namespace kiln::ir {

namespace {

std::uint64_t scaled(std::int64_t index, std::int64_t stride) {
    return static_cast<std::uint64_t>(index) * static_cast<std::uint64_t>(stride);
}

}  // namespace

MemoryView whole_view(const TensorView& tensor) {
    return {tensor.element, tensor.data, 0, tensor.sizes, tensor.strides};
}

MemoryView narrow_view(const MemoryView& tensor, const AccessAttribute& access,
                       const std::vector<std::int64_t>& operands) {
    MemoryView result{tensor.element, tensor.data, tensor.offset, {}, {}};
    bool outside = false;
    std::size_t operand = 0;
    for (std::size_t axis = 0; axis < access.axes.size(); ++axis) {
        const std::int64_t size = tensor.sizes[axis];
        const std::int64_t stride = tensor.strides[axis];
        switch (access.axes[axis].kind) {
            case AxisKind::Index: {
                const std::int64_t index = operands[operand++];
                if (index < 0 || index >= size) {
                    outside = true;
                } else {
                    result.offset += scaled(index, stride);
                }
                break;
            }
            case AxisKind::Range: {
                const std::int64_t lower = std::clamp<std::int64_t>(operands[operand++], 0, size);
                const std::int64_t upper = std::clamp<std::int64_t>(operands[operand++], lower, size);
                result.offset += scaled(lower, stride);
                result.sizes.push_back(upper - lower);
                result.strides.push_back(stride);
                break;
            }
            case AxisKind::All:
                result.sizes.push_back(size);
                result.strides.push_back(stride);
                break;
            case AxisKind::Slice:
            case AxisKind::Gather:
                throw support::InternalError("ir::interpret", "a view with a slice or an index tile");
        }
    }
    for (std::size_t axis = 0; outside && axis < result.sizes.rank(); ++axis) result.sizes[axis] = 0;
    return result;
}

void Footprint::begin(const MemoryView& tensor) {
    tensor_ = &tensor;
    axis_ = 0;
    base_ = tensor.offset;
    inside_ = true;
    count_ = 0;
    gather_ = kMaxRank;
}

void Footprint::add_index(std::int64_t index) {
    inside_ = inside_ && static_cast<std::uint64_t>(index) < static_cast<std::uint64_t>(tensor_->sizes[axis_]);
    base_ += scaled(index, tensor_->strides[axis_]);
    ++axis_;
}

void Footprint::add_slice(std::int64_t start, std::int64_t length) {
    Segment& segment = add_segment(static_cast<std::size_t>(length));
    for (std::size_t k = 0; k < segment.offsets.size(); ++k) {
        add_place(segment, k, static_cast<std::int64_t>(static_cast<std::uint64_t>(start) + k));
    }
    ++axis_;
}

Footprint::Segment& Footprint::add_segment(std::size_t count) {
    Segment& segment = segments_[count_++];
    segment.offsets.assign(count, 0);
    segment.inside.assign(count, 1);
    return segment;
}

Footprint::Segment& Footprint::gather_segment(std::size_t count) {
    if (gather_ == kMaxRank) {
        gather_ = count_;
        add_segment(count);
    }
    return segments_[gather_];
}

}  // namespace kiln::ir
