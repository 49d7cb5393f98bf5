#include "codegen/cpu/lower_dot.h"

#include <algorithm>

#include "codegen/cpu/tile_loop.h"
#include "ir/builder.h"

namespace kiln::codegen::cpu {

using ir::AxisKind;

const BlockDot& DotFunctions::get(const BlockDotSpecification& specification) {
    for (const auto& [known, functions] : functions_) {
        if (known == specification) return functions;
    }
    const std::string name = prefix_ + "_dot" + std::to_string(functions_.size());
    functions_.emplace_back(specification, emit_block_dot(module_, target_, specification, name.c_str()));
    scratch_bytes_ = std::max(scratch_bytes_, functions_.back().second.scratch_bytes);
    return functions_.back().second;
}

namespace {

/// An operand in memory. Elements [i, j] with i < extents[0] and j < extents[1] exist.
struct Matrix {
    llvm::Value* data = nullptr;
    llvm::Value* strides[2] = {};
    llvm::Value* extents[2] = {};

    void transpose() {
        std::swap(strides[0], strides[1]);
        std::swap(extents[0], extents[1]);
    }
};

MatrixLayout layout_of(const Matrix& matrix) {
    if (is_one(matrix.strides[1])) return MatrixLayout::RowMajor;
    return is_one(matrix.strides[0]) ? MatrixLayout::ColumnMajor : MatrixLayout::Any;
}

class DotLowering {
public:
    DotLowering(PhaseState& state, const DotPlan& dot, const ir::Op* loop)
        : state_(state), dot_(dot), loop_(loop), op_(state.kernel[dot.op]) {}

    void run(DotFunctions& functions, llvm::Value* dot_scratch);

private:
    Matrix operand(const DotOperand& operand);
    Matrix buffer_matrix(BufferId buffer, const ir::Shape& shape);
    Matrix view_matrix(const ir::Op& load);
    Matrix view_or_copy(const DotOperand& operand);
    llvm::Value* available(llvm::Value* size, llvm::Value* start, llvm::Value* most);
    llvm::Value* loop_depth(llvm::Value* rows);
    llvm::Value* prepare_result(llvm::Value* rows, llvm::Value* columns, const ir::Shape& shape);

    llvm::IRBuilder<>& builder() const { return state_.builder(); }

    PhaseState& state_;
    const DotPlan& dot_;
    const ir::Op* loop_;
    const ir::Op& op_;
};

Matrix DotLowering::buffer_matrix(BufferId buffer, const ir::Shape& shape) {
    const VectorOps& ops = state_.ops;
    return {state_.buffer_address(buffer), {ops.i64(shape[1]), ops.i64(1)}, {ops.i64(shape[0]), ops.i64(shape[1])}};
}

/// How many of `most` elements from `start`, which is not negative, exist in an axis of `size`.
llvm::Value* DotLowering::available(llvm::Value* size, llvm::Value* start, llvm::Value* most) {
    llvm::Value* left = builder().CreateSub(size, start, "left");
    left = builder().CreateBinaryIntrinsic(llvm::Intrinsic::smax, left, state_.ops.i64(0));
    return builder().CreateBinaryIntrinsic(llvm::Intrinsic::smin, left, most, nullptr, "extent");
}

Matrix DotLowering::view_matrix(const ir::Op& load) {
    const auto& access = ir::attribute<ir::AccessAttribute>(load);
    const TensorHandle& tensor = state_.tensors.at(load.operands.front());
    Matrix matrix;
    llvm::Value* offset = tensor.origin;
    llvm::Value* inside = builder().getTrue();
    std::size_t tile_axis = 0;
    for (std::size_t axis = 0; axis < access.axes.size(); ++axis) {
        llvm::Value* start = state_.scalar(load.operands[axis_operand(access, axis)]);
        offset = builder().CreateAdd(offset, builder().CreateMul(start, tensor.strides[axis]), "offset");
        if (access.axes[axis].kind == AxisKind::Index) {
            inside = builder().CreateAnd(inside, builder().CreateICmpULT(start, tensor.sizes[axis]), "inside");
            continue;
        }
        matrix.strides[tile_axis] = tensor.strides[axis];
        llvm::Value* most = state_.ops.i64(access.axes[axis].length);
        const bool walked = loop_ != nullptr && load.operands[axis_operand(access, axis)] ==
                                                    state_.kernel[loop_->blocks.front()].arguments.front();
        if (walked) most = state_.ops.i64(std::numeric_limits<std::int64_t>::max());
        matrix.extents[tile_axis++] = available(tensor.sizes[axis], start, most);
    }
    matrix.extents[0] = builder().CreateSelect(inside, matrix.extents[0], state_.ops.i64(0));
    matrix.data = state_.ops.element_address(state_.kernel.type(load.operands.front()).element, tensor.data, offset);
    return matrix;
}

/// A view that may begin before its tensor is copied in that case: views are clipped at their ends only.
Matrix DotLowering::view_or_copy(const DotOperand& operand) {
    const ir::Op& load = *state_.kernel.definition(operand.base);
    const auto& access = ir::attribute<ir::AccessAttribute>(load);
    llvm::Value* begins_inside = builder().getTrue();
    for (std::size_t axis = 0; axis < access.axes.size(); ++axis) {
        if (access.axes[axis].kind != AxisKind::Slice) continue;
        llvm::Value* start = state_.scalar(load.operands[axis_operand(access, axis)]);
        begins_inside = builder().CreateAnd(begins_inside, builder().CreateICmpSGE(start, state_.ops.i64(0)));
    }
    llvm::Function* function = builder().GetInsertBlock()->getParent();
    const auto block = [&](const char* name) {
        return llvm::BasicBlock::Create(builder().getContext(), name, function);
    };
    llvm::BasicBlock *in_place = block("in_place"), *copied = block("copied"), *join = block("operand");
    builder().CreateCondBr(begins_inside, in_place, copied);
    builder().SetInsertPoint(in_place);
    const Matrix view = view_matrix(load);
    in_place = builder().GetInsertBlock();
    builder().CreateBr(join);
    builder().SetInsertPoint(copied);
    emit_assignment(state_, operand.base, operand.copy);
    const Matrix copy = buffer_matrix(operand.copy, state_.kernel.type(operand.base).shape);
    copied = builder().GetInsertBlock();
    builder().CreateBr(join);
    builder().SetInsertPoint(join);
    const auto merge = [&](llvm::Value* a, llvm::Value* b) -> llvm::Value* {
        if (a == b) return a;
        llvm::PHINode* phi = builder().CreatePHI(a->getType(), 2);
        phi->addIncoming(a, in_place);
        phi->addIncoming(b, copied);
        return phi;
    };
    Matrix matrix;
    matrix.data = merge(view.data, copy.data);
    for (int axis = 0; axis < 2; ++axis) {
        matrix.strides[axis] = merge(view.strides[axis], copy.strides[axis]);
        matrix.extents[axis] = merge(view.extents[axis], copy.extents[axis]);
    }
    return matrix;
}

Matrix DotLowering::operand(const DotOperand& operand) {
    Matrix matrix;
    if (operand.view) {
        matrix =
            operand.copy == kNoBuffer ? view_matrix(*state_.kernel.definition(operand.base)) : view_or_copy(operand);
    } else {
        BufferId buffer = operand.copy;
        if (buffer == kNoBuffer) {
            buffer = state_.plan.value_buffers[operand.base.index];
        } else {
            emit_assignment(state_, operand.base, buffer);
        }
        matrix = buffer_matrix(buffer, state_.kernel.type(operand.base).shape);
    }
    if (operand.transposed) matrix.transpose();
    return matrix;
}

/// How far a sunk loop walks: its steps are whole, and what lies behind the tensors' ends is zero.
llvm::Value* DotLowering::loop_depth(llvm::Value* left) {
    llvm::Value *lower = state_.scalar(loop_->operands[0]), *upper = state_.scalar(loop_->operands[1]);
    llvm::Value *step = state_.scalar(loop_->operands[2]), *one = state_.ops.i64(1);
    llvm::Value* runs = builder().CreateICmpSGT(upper, lower, "runs");
    llvm::Value* span = builder().CreateSub(upper, lower, "span");
    llvm::Value* steps = builder().CreateAdd(builder().CreateUDiv(builder().CreateSub(span, one), step), one, "steps");
    llvm::Value* walked = builder().CreateMul(steps, step, "walked");
    walked = builder().CreateSelect(builder().CreateICmpUGE(span, left), left, walked);
    llvm::Value* depth = builder().CreateBinaryIntrinsic(llvm::Intrinsic::umin, walked, left);
    return builder().CreateSelect(runs, depth, state_.ops.i64(0), "depth");
}

/// Makes the result buffer hold what the sum starts from; returns whether the call has to add to it.
llvm::Value* DotLowering::prepare_result(llvm::Value* rows, llvm::Value* columns, const ir::Shape& shape) {
    if (dot_.accumulator.valid()) {
        const BufferId start = state_.plan.value_buffers[dot_.accumulator.index];
        if (state_.plan.buffers[start].offset != state_.plan.buffers[dot_.result].offset) {
            emit_copy(state_, dot_.result, start);
        }
        return builder().getTrue();
    }
    // The call writes only the rows and columns that exist; the others have to be zero.
    llvm::Value* clipped = builder().CreateOr(builder().CreateICmpNE(rows, state_.ops.i64(shape[0])),
                                              builder().CreateICmpNE(columns, state_.ops.i64(shape[1])), "clipped");
    if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(clipped); constant != nullptr && constant->isZero()) {
        return clipped;
    }
    llvm::Function* function = builder().GetInsertBlock()->getParent();
    llvm::BasicBlock* clear = llvm::BasicBlock::Create(builder().getContext(), "clear", function);
    llvm::BasicBlock* ready = llvm::BasicBlock::Create(builder().getContext(), "ready", function);
    builder().CreateCondBr(clipped, clear, ready);
    builder().SetInsertPoint(clear);
    emit_zero(state_, dot_.result);
    builder().CreateBr(ready);
    builder().SetInsertPoint(ready);
    return clipped;
}

void DotLowering::run(DotFunctions& functions, llvm::Value* dot_scratch) {
    // A view begins where the loop does.
    if (loop_ != nullptr) {
        state_.scalars[state_.kernel[loop_->blocks.front()].arguments.front().index] =
            state_.scalar(loop_->operands.front());
    }
    const Matrix a = operand(dot_.a), b = operand(dot_.b);
    llvm::Value* depth = builder().CreateBinaryIntrinsic(llvm::Intrinsic::umin, a.extents[1], b.extents[0]);
    if (loop_ != nullptr) depth = loop_depth(depth);

    const ir::Shape& shape = state_.kernel.type(op_.result()).shape;
    const ir::Type &a_type = state_.kernel.type(op_.operands[0]), &b_type = state_.kernel.type(op_.operands[1]);
    BlockDotSpecification specification;
    specification.rows = shape[0];
    specification.columns = shape[1];
    specification.depth = loop_ != nullptr ? 0 : a_type.shape[1];
    specification.a = dot_operand_element(a_type.element);
    specification.b = dot_operand_element(b_type.element);
    specification.a_layout = layout_of(a);
    specification.b_layout = layout_of(b);
    specification.precision = ir::attribute<ir::DotAttribute>(op_).precision;
    const BlockDot& code = functions.get(specification);

    llvm::Value* accumulate = prepare_result(a.extents[0], b.extents[1], shape);
    builder().CreateCall(code.dot, {a.data, a.strides[0], a.strides[1], b.data, b.strides[0], b.strides[1],
                                    state_.buffer_address(dot_.result), state_.ops.i64(shape[1]), a.extents[0], depth,
                                    b.extents[1], accumulate, dot_scratch});
}

}  // namespace

void emit_dot(PhaseState& state, DotFunctions& functions, const DotPlan& dot, const ir::Op* loop,
              llvm::Value* dot_scratch) {
    DotLowering(state, dot, loop).run(functions, dot_scratch);
}

}  // namespace kiln::codegen::cpu
