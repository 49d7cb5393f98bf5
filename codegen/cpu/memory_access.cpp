// Loads and stores of tensors at a point.
#include "codegen/cpu/evaluate.h"
#include "ir/builder.h"
#include "ir/support/internal_error.h"

namespace kiln::codegen::cpu {

using ir::AxisKind;

namespace {

const TensorHandle& tensor_of(const PhaseState& state, const ir::Op& op) {
    const auto found = state.tensors.find(op.operands.front());
    if (found == state.tensors.end()) throw support::InternalError("codegen::cpu", "an access to an unknown tensor");
    return found->second;
}

ir::ScalarType element_of(const PhaseState& state, const ir::Op& op) {
    return state.kernel.type(op.operands.front()).element;
}

/// The coordinates along the axes of the gather tiles.
std::size_t gather_rank(const PhaseState& state, const ir::AccessAttribute& access, const ir::Op& op) {
    for (std::size_t axis = 0; axis < access.axes.size(); ++axis) {
        if (access.axes[axis].kind == AxisKind::Gather) {
            return state.kernel.type(op.operands[axis_operand(access, axis)]).shape.rank();
        }
    }
    return 0;
}

}  // namespace

Coordinates Evaluator::gather_coordinates(const ir::AccessAttribute& access, const ir::Op& op,
                                          const Coordinates& at) const {
    std::size_t first = 0;
    for (const ir::AxisAccess& axis : access.axes) {
        if (axis.kind == AxisKind::Gather) break;
        if (axis.kind == AxisKind::Slice) ++first;
    }
    const std::size_t rank = gather_rank(state_, access, op);
    if (rank == 0) return {};
    const auto begin = at.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(rank)};
}

void Evaluator::restrict(AccessPoint& point, llvm::Value* condition) {
    llvm::IRBuilder<>& builder = state_.builder();
    if (is_one(condition)) return;
    if (point.mask == nullptr) {
        point.mask = condition;
        return;
    }
    const unsigned a = VectorOps::lanes(point.mask), b = VectorOps::lanes(condition);
    if (a < b) point.mask = state_.ops.splat(point.mask, b);
    if (b < a) condition = state_.ops.splat(condition, a);
    point.mask = builder.CreateAnd(point.mask, condition, "mask");
}

/// Unsigned, so that negative indices and sums that wrapped are outside.
void Evaluator::require_inside(AccessPoint& point, llvm::Value* index, llvm::Value* size) {
    size = state_.ops.splat(size, VectorOps::lanes(index));
    restrict(point, state_.builder().CreateICmpULT(index, size, "inside"));
}

void Evaluator::locate_axis(const ir::Op& op, std::size_t axis, const Coordinates& at, std::size_t& tile_axis,
                            AccessPoint& point) {
    const auto& access = ir::access_of(op);
    const TensorHandle& tensor = tensor_of(state_, op);
    const ir::ValueId operand = op.operands[axis_operand(access, axis)];
    llvm::Value *size = tensor.sizes[axis], *stride = tensor.strides[axis];
    if (access.axes[axis].kind == AxisKind::Index) {
        llvm::Value* index = state_.scalar(operand);
        if (!inside_) require_inside(point, index, size);
        point.offset = add(point.offset, multiply(index, stride));
        return;
    }
    if (access.axes[axis].kind == AxisKind::Slice) {
        const Coordinate& coordinate = at[tile_axis++];
        llvm::Value* index = add(state_.scalar(operand), coordinate.base);
        point.offset = add(point.offset, multiply(index, stride));
        const bool lanes = coordinate.lanes && lanes_ > 1;
        if (lanes) {
            point.lanes = true;
            point.stride = stride;
        }
        if (inside_) return;
        if (lanes) {
            index = state_.builder().CreateAdd(state_.ops.splat(index, lanes_), state_.ops.iota(lanes_), "index");
        }
        require_inside(point, index, size);
        return;
    }
    const Coordinates gather = gather_coordinates(access, op, at);
    const Element element = evaluate(operand, gather);
    const ir::ScalarType type = state_.kernel.type(operand).element;
    llvm::Value* index = state_.ops.convert(ir::OpKind::Convert, element.value, type, ir::kInt);
    require_inside(point, index, size);
    if (element.uniform) {
        point.offset = state_.builder().CreateAdd(point.offset, state_.builder().CreateMul(index, stride));
        return;
    }
    llvm::Value* offsets = state_.builder().CreateMul(index, state_.ops.splat(stride, lanes_), "offsets");
    point.lane_offsets =
        point.lane_offsets == nullptr ? offsets : state_.builder().CreateAdd(point.lane_offsets, offsets, "offsets");
    point.lanes = true;
}

AccessPoint Evaluator::locate(const ir::Op& op, const Coordinates& at) {
    const auto& access = ir::access_of(op);
    const TensorHandle& tensor = tensor_of(state_, op);
    AccessPoint point;
    point.offset = tensor.origin;
    std::size_t tile_axis = 0;
    bool gathered = false;
    for (std::size_t axis = 0; axis < access.axes.size(); ++axis) {
        locate_axis(op, axis, at, tile_axis, point);
        if (access.axes[axis].kind == AxisKind::Gather && !gathered) {
            gathered = true;
            tile_axis += gather_rank(state_, access, op);
        }
    }
    if (access.masked) restrict(point, evaluate(op.operands.back(), at).value);
    if (point.mask != nullptr && VectorOps::lanes(point.mask) > 1) point.lanes = true;
    if (point.lanes && point.stride == nullptr && point.lane_offsets == nullptr) point.stride = constant(0);
    const bool one_mask = point.mask != nullptr && VectorOps::lanes(point.mask) == 1;
    if (point.lanes && one_mask) point.mask = state_.ops.splat(point.mask, lanes_);
    if (ir::bit_width(element_of(state_, op)) >= 8) {
        point.address = state_.ops.element_address(element_of(state_, op), tensor.data, point.offset);
    }
    return point;
}

Element Evaluator::emit_load(const ir::Op& op, const Coordinates& at) {
    const auto& access = ir::access_of(op);
    const AccessPoint point = locate(op, at);
    llvm::Value* fill = state_.scalar(op.operands[1 + ir::axis_operand_count(access)]);
    return {load_at(element_of(state_, op), tensor_of(state_, op), point, fill), !point.lanes};
}

llvm::Value* Evaluator::load_at(ir::ScalarType element, const TensorHandle& tensor, const AccessPoint& point,
                                llvm::Value* fill) {
    const VectorOps& ops = state_.ops;
    const unsigned lanes = point.lanes ? lanes_ : 1;
    fill = ops.splat(fill, lanes);
    if (ir::bit_width(element) < 8) return load_nibbles(tensor, point, fill);
    if (point.lane_offsets != nullptr) {
        llvm::Value* offsets = point.lane_offsets;
        if (point.stride != nullptr) offsets = element_offsets(point);
        return ops.gather(element, point.stride != nullptr ? tensor.data : point.address, offsets, point.mask, fill);
    }
    if (lanes > 1 && !is_one(point.stride)) {
        return ops.load_strided(element, point.address, point.stride, lanes, point.mask, fill);
    }
    if (point.mask == nullptr) return ops.load(element, point.address, lanes);
    return ops.load_masked(element, point.address, point.mask, fill);
}

/// Offsets of all lanes from the tensor's data.
llvm::Value* Evaluator::element_offsets(const AccessPoint& point) {
    llvm::IRBuilder<>& builder = state_.builder();
    if (!point.lanes) return point.offset;
    llvm::Value* offsets = state_.ops.splat(point.offset, lanes_);
    if (point.lane_offsets != nullptr) offsets = builder.CreateAdd(offsets, point.lane_offsets);
    if (point.stride != nullptr) {
        llvm::Value* steps = builder.CreateMul(state_.ops.iota(lanes_), state_.ops.splat(point.stride, lanes_));
        offsets = builder.CreateAdd(offsets, steps);
    }
    return offsets;
}

llvm::Value* Evaluator::load_nibbles(const TensorHandle& tensor, const AccessPoint& point, llvm::Value* fill) {
    llvm::IRBuilder<>& builder = state_.builder();
    const VectorOps& ops = state_.ops;
    llvm::Value* offsets = element_offsets(point);
    const unsigned lanes = VectorOps::lanes(offsets);
    llvm::Value* bytes = builder.CreateAShr(offsets, ops.splat(builder.getInt64(1), lanes));
    llvm::Value* loaded;
    if (lanes > 1) {
        loaded = ops.gather(ir::ScalarType::U8, tensor.data, bytes, point.mask, nullptr);
    } else {
        llvm::Value* address = ops.element_address(ir::ScalarType::U8, tensor.data, bytes);
        loaded = point.mask == nullptr ? ops.load(ir::ScalarType::U8, address, 1)
                                       : ops.load_masked(ir::ScalarType::U8, address, point.mask);
    }
    llvm::Value* odd = builder.CreateTrunc(offsets, loaded->getType());
    odd = builder.CreateAnd(odd, ops.splat(builder.getInt8(1), lanes));
    llvm::Value* shift = builder.CreateShl(odd, ops.splat(builder.getInt8(2), lanes));
    llvm::Value* code = builder.CreateAnd(builder.CreateLShr(loaded, shift), ops.splat(builder.getInt8(15), lanes));
    return point.mask == nullptr ? code : builder.CreateSelect(point.mask, code, fill);
}

/// One lane after another, since two share a byte.
void Evaluator::store_nibbles(const TensorHandle& tensor, const AccessPoint& point, llvm::Value* value) {
    llvm::IRBuilder<>& builder = state_.builder();
    const VectorOps& ops = state_.ops;
    llvm::Value* offsets = element_offsets(point);
    const unsigned lanes = VectorOps::lanes(offsets);
    for (unsigned lane = 0; lane < lanes; ++lane) {
        const auto at = [&](llvm::Value* vector) {
            return lanes == 1 ? vector : builder.CreateExtractElement(vector, lane);
        };
        llvm::Value* offset = at(offsets);
        llvm::Value* address =
            ops.element_address(ir::ScalarType::U8, tensor.data, builder.CreateAShr(offset, builder.getInt64(1)));
        llvm::Value* mask = point.mask == nullptr ? nullptr : at(point.mask);
        llvm::Value* old = mask == nullptr ? ops.load(ir::ScalarType::U8, address, 1)
                                           : ops.load_masked(ir::ScalarType::U8, address, mask);
        llvm::Value* odd = builder.CreateTrunc(builder.CreateAnd(offset, builder.getInt64(1)), builder.getInt8Ty());
        llvm::Value* shift = builder.CreateShl(odd, builder.getInt8(2));
        llvm::Value* kept = builder.CreateAnd(old, builder.CreateNot(builder.CreateShl(builder.getInt8(15), shift)));
        llvm::Value* code = builder.CreateShl(builder.CreateAnd(at(value), builder.getInt8(15)), shift);
        llvm::Value* merged = builder.CreateOr(kept, code);
        if (mask == nullptr) {
            ops.store(ir::ScalarType::U8, merged, address);
        } else {
            ops.store_masked(ir::ScalarType::U8, merged, address, mask);
        }
    }
}

void Evaluator::store(const ir::Op& op, const Coordinates& at, const Element& value) {
    const VectorOps& ops = state_.ops;
    const ir::ScalarType element = element_of(state_, op);
    const AccessPoint point = locate(op, at);
    llvm::Value* stored = point.lanes ? to_lanes(value) : value.value;
    if (ir::bit_width(element) < 8) return store_nibbles(tensor_of(state_, op), point, stored);
    if (point.lane_offsets != nullptr) {
        const bool mixed = point.stride != nullptr;
        ops.scatter(element, stored, mixed ? tensor_of(state_, op).data : point.address,
                    mixed ? element_offsets(point) : point.lane_offsets, point.mask);
    } else if (point.lanes && !is_one(point.stride)) {
        ops.store_strided(element, stored, point.address, point.stride, point.mask);
    } else if (point.mask == nullptr) {
        ops.store(element, stored, point.address);
    } else {
        ops.store_masked(element, stored, point.address, point.mask);
    }
}

llvm::Value* access_inside(PhaseState& state, const ir::Op& op) {
    llvm::IRBuilder<>& builder = state.builder();
    const auto& access = ir::access_of(op);
    const TensorHandle& tensor = tensor_of(state, op);
    llvm::Value* all = builder.getTrue();
    for (std::size_t axis = 0; axis < access.axes.size(); ++axis) {
        const ir::AxisAccess& kind = access.axes[axis];
        if (kind.kind != AxisKind::Index && kind.kind != AxisKind::Slice) continue;
        llvm::Value* start = state.scalar(op.operands[axis_operand(access, axis)]);
        llvm::Value* size = tensor.sizes[axis];
        const std::int64_t length = kind.kind == AxisKind::Index ? 1 : kind.length;
        // size - length cannot wrap: sizes are not negative. Negative starts fail the first test, all else the second.
        llvm::Value* last = builder.CreateSub(size, builder.getInt64(static_cast<std::uint64_t>(length)));
        llvm::Value* above = builder.CreateICmpSGE(start, builder.getInt64(0));
        llvm::Value* below = builder.CreateICmpSLE(start, last);
        all = builder.CreateAnd(all, builder.CreateAnd(above, below), "inside");
    }
    return all;
}

}  // namespace kiln::codegen::cpu
