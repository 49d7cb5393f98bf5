#include "codegen/cpu/lower_phase.h"

#include <llvm/IR/Module.h>

#include <algorithm>

#include "codegen/cpu/evaluate.h"
#include "codegen/cpu/lower_dot.h"
#include "codegen/cpu/lower_elements.h"
#include "codegen/cpu/object_emit.h"
#include "codegen/cpu/tile_loop.h"
#include "ir/builder.h"
#include "ir/support/internal_error.h"

namespace kiln::codegen::cpu {

using ir::AxisKind;
using ir::OpKind;

namespace {

constexpr unsigned kFrameArgument = 0, kGridArgument = 1, kFirstArgument = 2, kLastArgument = 3, kScratchArgument = 4;

class PhaseLowering {
public:
    PhaseLowering(llvm::Module& module, const Target& target, const ir::Kernel& kernel, const ir::Phase& phase,
                  const std::string& symbol)
        : module_(module),
          kernel_(kernel),
          phase_(phase),
          symbol_(symbol),
          plan_(make_plan(kernel, phase)),
          builder_(module.getContext()),
          ops_(builder_, target, kernel.freedoms),
          dots_(module, target, symbol),
          state_{kernel, plan_, ops_, nullptr, {}, {}} {
        state_.scalars.assign(kernel.values.size(), nullptr);
    }

    PhaseCode run();

private:
    llvm::Function* make_function();
    void load_launch();
    void collect_used(ir::BlockId block);
    void use(ir::ValueId value);
    void load_tensor(ir::ValueId tensor, unsigned number);
    void load_scalar(ir::ValueId value);
    void emit_programs();
    void emit_offsets(llvm::Value* program);
    void emit_offset(std::size_t axis, llvm::Value* place);
    llvm::Value* emit_group(llvm::Value* program, llvm::Value* group);
    llvm::Value* program_count(std::size_t axis);

    void emit_block(ir::BlockId block);
    void emit_op(ir::OpId op);
    void emit_scalar(const ir::Op& op);
    void emit_view(const ir::Op& op);
    void emit_scalar_access(const ir::Op& op);
    void emit_for(ir::OpId op);
    void emit_while(ir::OpId op);
    void emit_if(ir::OpId op);
    void emit_moves(ir::OpId op);
    llvm::Value* trip_count(const ir::Op& op);

    std::vector<ir::ValueId> scalars_of(const std::vector<ir::ValueId>& values, std::size_t skip) const;
    std::vector<llvm::Value*> operands_of(const ir::Op& op, std::size_t skip) const;
    std::vector<llvm::PHINode*> make_phis(const std::vector<ir::ValueId>& values);
    llvm::BasicBlock* new_block(const char* name) {
        return llvm::BasicBlock::Create(builder_.getContext(), name, builder_.GetInsertBlock()->getParent());
    }
    void set(ir::ValueId value, llvm::Value* scalar);

    llvm::Module& module_;
    const ir::Kernel& kernel_;
    const ir::Phase& phase_;
    std::string symbol_;
    Plan plan_;
    llvm::IRBuilder<> builder_;
    VectorOps ops_;
    DotFunctions dots_;
    PhaseState state_;
    llvm::Function* function_ = nullptr;
    std::vector<bool> used_;  ///< by value
    std::vector<ir::ValueId> launch_values_;
    llvm::Value* dot_scratch_ = nullptr;
};

llvm::Function* PhaseLowering::make_function() {
    llvm::Type *pointer = builder_.getPtrTy(), *index = builder_.getInt64Ty();
    auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {pointer, pointer, index, index, pointer}, false);
    auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol_, module_);
    set_target_attributes(*function, ops_.target());
    const char* names[] = {"frame", "grid", "first", "last", "scratch"};
    for (unsigned i = 0; i < 5; ++i) function->getArg(i)->setName(names[i]);
    function->getArg(kScratchArgument)
        ->addAttr(llvm::Attribute::getWithAlignment(builder_.getContext(), llvm::Align(64)));
    return function;
}

PhaseCode PhaseLowering::run() {
    function_ = make_function();
    builder_.SetInsertPoint(llvm::BasicBlock::Create(builder_.getContext(), "entry", function_));
    state_.scratch = function_->getArg(kScratchArgument);
    dot_scratch_ =
        builder_.CreateConstGEP1_64(builder_.getInt8Ty(), state_.scratch, plan_.scratch_bytes, "dot_scratch");
    load_launch();
    emit_programs();
    return {symbol_, launch_values_, plan_.scratch_bytes + dots_.scratch_bytes()};
}

void PhaseLowering::use(ir::ValueId value) {
    used_[value.index] = true;
}

void PhaseLowering::collect_used(ir::BlockId block) {
    for (const ir::OpId id : kernel_[block].ops) {
        for (const ir::ValueId operand : kernel_[id].operands) use(operand);
        for (const ir::BlockId inner : kernel_[id].blocks) collect_used(inner);
    }
}

void PhaseLowering::load_tensor(ir::ValueId tensor, unsigned number) {
    llvm::Type *pointer = builder_.getPtrTy(), *index = builder_.getInt64Ty();
    const auto field = [&](llvm::Value* base, unsigned at, const char* name) {
        return builder_.CreateLoad(pointer, builder_.CreateConstGEP1_64(pointer, base, at), name);
    };
    const ir::Type& type = kernel_.type(tensor);
    const std::string name = kernel_[tensor].name;
    llvm::Value* tensors = field(function_->getArg(kFrameArgument), 0, "tensors");
    constexpr unsigned kFields = 3;
    TensorHandle handle;
    handle.data = field(tensors, kFields * number, (name + ".data").c_str());
    handle.origin = ops_.i64(0);
    llvm::Value* sizes = field(tensors, kFields * number + 1, "sizes");
    llvm::Value* strides = field(tensors, kFields * number + 2, "strides");
    int unit_axis = -1;
    for (const ir::Parameter& parameter : kernel_.parameters) {
        if (parameter.value == tensor) unit_axis = parameter.facts.unit_axis;
    }
    for (const ir::Scratch& scratch : kernel_.scratch) {
        if (scratch.value == tensor) unit_axis = static_cast<int>(type.shape.rank()) - 1;
    }
    for (unsigned axis = 0; axis < type.shape.rank(); ++axis) {
        const std::int64_t size = type.shape[axis];
        const auto element = [&](llvm::Value* base, const char* what) {
            return builder_.CreateLoad(index, builder_.CreateConstGEP1_64(index, base, axis), name + what);
        };
        handle.sizes.push_back(size == ir::kDynamic ? element(sizes, ".size") : ops_.i64(size));
        const bool unit = static_cast<int>(axis) == unit_axis;
        handle.strides.push_back(unit ? ops_.i64(1) : static_cast<llvm::Value*>(element(strides, ".stride")));
    }
    state_.tensors[tensor] = std::move(handle);
}

void PhaseLowering::load_scalar(ir::ValueId value) {
    llvm::Type* index = builder_.getInt64Ty();
    llvm::Value* frame = function_->getArg(kFrameArgument);
    llvm::Value* values =
        builder_.CreateLoad(builder_.getPtrTy(), builder_.CreateConstGEP1_64(builder_.getPtrTy(), frame, 1), "values");
    const auto number = static_cast<unsigned>(launch_values_.size());
    llvm::Value* bits = builder_.CreateLoad(index, builder_.CreateConstGEP1_64(index, values, number), "bits");
    const ir::ScalarType element = kernel_.type(value).element;
    llvm::Type* type = ops_.register_type(element);
    llvm::Value* scalar = builder_.CreateTrunc(bits, builder_.getIntNTy(type->getScalarSizeInBits()));
    set(value, builder_.CreateBitCast(scalar, type));
    launch_values_.push_back(value);
}

/// Parameters, sizes and values of the host block that the phase uses.
void PhaseLowering::load_launch() {
    used_.assign(kernel_.values.size(), false);
    collect_used(phase_.block);
    for (const ir::GridAxis& axis : phase_.axes) {
        use(axis.lower);
        use(axis.step);
    }
    const auto is_used = [&](ir::ValueId value) { return value.valid() && used_[value.index]; };
    unsigned number = 0;
    for (const ir::Parameter& parameter : kernel_.parameters) {
        // Only tensors may be absent; they keep their place in the frame.
        if (!parameter.present || kernel_.type(parameter.value).is_tensor()) {
            if (parameter.present && is_used(parameter.value)) load_tensor(parameter.value, number);
            ++number;
        } else if (is_used(parameter.value)) {
            load_scalar(parameter.value);
        }
    }
    for (const ir::Scratch& scratch : kernel_.scratch) {
        if (is_used(scratch.value)) load_tensor(scratch.value, number);
        ++number;
    }
    for (const ir::SizeBinding& size : kernel_.sizes) {
        if (is_used(size.value)) load_scalar(size.value);
    }
    for (const ir::OpId id : kernel_[kernel_.host].ops) {
        for (const ir::ValueId result : kernel_[id].results) {
            if (is_used(result) && kernel_[id].kind != OpKind::Constant) load_scalar(result);
        }
    }
}

void PhaseLowering::emit_programs() {
    llvm::Value *first = function_->getArg(kFirstArgument), *last = function_->getArg(kLastArgument);
    llvm::BasicBlock *entry = builder_.GetInsertBlock(), *body = new_block("program"), *exit = new_block("exit");
    builder_.CreateCondBr(builder_.CreateICmpSLT(first, last), body, exit);
    builder_.SetInsertPoint(body);
    llvm::PHINode* program = builder_.CreatePHI(builder_.getInt64Ty(), 2, "program_number");
    program->addIncoming(first, entry);
    emit_offsets(program);
    emit_block(phase_.block);
    llvm::Value* next = builder_.CreateAdd(program, ops_.i64(1), "next_program");
    program->addIncoming(next, builder_.GetInsertBlock());
    builder_.CreateCondBr(builder_.CreateICmpSLT(next, last), body, exit);
    builder_.SetInsertPoint(exit);
    builder_.CreateRetVoid();
}

/// In the order of ir::grid_group(), which is the definition.
void PhaseLowering::emit_offsets(llvm::Value* program) {
    std::size_t axis = phase_.axes.size();
    const auto order = kernel_.schedule.find("grid_order");
    const bool columns = order != kernel_.schedule.end() && order->second.word == "columns";
    const bool grouped = order != kernel_.schedule.end() && order->second.word == "grouped";
    if (axis >= 2 && (columns || grouped)) {
        program = emit_group(program, grouped ? builder_.getInt64(order->second.numbers.front()) : nullptr);
        axis -= 2;
    }
    while (axis-- > 0) {
        llvm::Value* along = program;
        if (axis > 0) {
            llvm::Value* count = program_count(axis);
            along = builder_.CreateURem(program, count);
            program = builder_.CreateUDiv(program, count);
        }
        emit_offset(axis, along);
    }
}

llvm::Value* PhaseLowering::program_count(std::size_t axis) {
    llvm::Type* index = builder_.getInt64Ty();
    llvm::Value* address = builder_.CreateConstGEP1_64(index, function_->getArg(kGridArgument), axis);
    return builder_.CreateLoad(index, address, "programs");
}

void PhaseLowering::emit_offset(std::size_t axis, llvm::Value* place) {
    llvm::Value* offset = builder_.CreateMul(place, state_.scalar(phase_.axes[axis].step));
    set(kernel_[phase_.block].arguments[axis], builder_.CreateAdd(offset, state_.scalar(phase_.axes[axis].lower)));
}

/// Offsets along the last two axes, of which `group` places of the first stand together (null: all of them). Returns
/// the number that is left for the axes before.
llvm::Value* PhaseLowering::emit_group(llvm::Value* program, llvm::Value* group) {
    const std::size_t last = phase_.axes.size() - 1;
    llvm::Value *rows = program_count(last - 1), *columns = program_count(last);
    group = group == nullptr ? rows : builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, group, rows);
    llvm::Value* plane = builder_.CreateMul(rows, columns);
    llvm::Value* within = builder_.CreateURem(program, plane);
    llvm::Value* first = builder_.CreateMul(builder_.CreateUDiv(within, builder_.CreateMul(group, columns)), group);
    llvm::Value* height = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, group, builder_.CreateSub(rows, first));
    llvm::Value* rest = builder_.CreateSub(within, builder_.CreateMul(first, columns));
    emit_offset(last - 1, builder_.CreateAdd(first, builder_.CreateURem(rest, height)));
    emit_offset(last, builder_.CreateUDiv(rest, height));
    return builder_.CreateUDiv(program, plane);
}

void PhaseLowering::set(ir::ValueId value, llvm::Value* scalar) {
    if (!kernel_[value].name.empty() && !llvm::isa<llvm::Constant>(scalar) && !scalar->hasName()) {
        scalar->setName(kernel_[value].name);
    }
    state_.scalars[value.index] = scalar;
}

void PhaseLowering::emit_block(ir::BlockId block) {
    for (const Step& step : plan_.blocks[block.index]) {
        switch (step.kind) {
            case StepKind::Op:
                emit_op(step.op);
                break;
            case StepKind::Nest:
                emit_nest(state_, plan_.nests[step.nest]);
                break;
            case StepKind::SunkDot: {
                const DotPlan& dot = plan_.dots[plan_.dot_of_op[step.op.index]];
                emit_dot(state_, dots_, dot, &kernel_[step.op], dot_scratch_);
                break;
            }
        }
    }
}

void PhaseLowering::emit_op(ir::OpId id) {
    const ir::Op& op = kernel_[id];
    if (works_on_buffers(op.kind)) {
        return emit_elements(state_, op, [this](ir::BlockId block) { emit_block(block); });
    }
    switch (ir::info(op.kind).group) {
        case ir::OpGroup::Elementwise:
            return emit_scalar(op);
        case ir::OpGroup::Shape:
            return set(op.result(), Evaluator(state_, false).evaluate_first(op.operands.front()));
        case ir::OpGroup::Contraction:
            return emit_dot(state_, dots_, plan_.dots[plan_.dot_of_op[id.index]], nullptr, dot_scratch_);
        case ir::OpGroup::Memory:
            if (op.kind == OpKind::View) return emit_view(op);
            if (op.kind == OpKind::Size) {
                const std::uint32_t axis = ir::attribute<ir::AxisAttribute>(op).axis;
                return set(op.result(), state_.tensors.at(op.operands.front()).sizes[axis]);
            }
            return emit_scalar_access(op);
        case ir::OpGroup::Control:
            if (op.kind == OpKind::For) return emit_for(id);
            if (op.kind == OpKind::While) return emit_while(id);
            if (op.kind == OpKind::If) return emit_if(id);
            return emit_moves(id);  // of a yield
        case ir::OpGroup::Host:
            break;
    }
    throw support::InternalError("codegen::cpu", "`" + std::string(ir::info(op.kind).mnemonic) + "` in a phase");
}

void PhaseLowering::emit_scalar(const ir::Op& op) {
    const std::vector<llvm::Value*> operands = operands_of(op, 0);
    const std::size_t typed = op.kind == OpKind::Select ? 1 : 0;
    const ir::ScalarType element = kernel_.type(op.operands[typed]).element;
    if (op.kind == OpKind::Convert || op.kind == OpKind::Saturate || op.kind == OpKind::Bitcast) {
        set(op.result(), ops_.convert(op.kind, operands.front(), element, kernel_.type(op.result()).element));
    } else {
        set(op.result(), ops_.elementwise(op.kind, element, operands));
    }
}

void PhaseLowering::emit_scalar_access(const ir::Op& op) {
    Evaluator evaluator(state_, false);
    if (op.kind == OpKind::Load) {
        set(op.result(), evaluator.load_scalar(op));
    } else {
        const auto& access = ir::attribute<ir::AccessAttribute>(op);
        evaluator.store(op, {}, {state_.scalar(op.operands[1 + ir::axis_operand_count(access)]), true});
    }
}

void PhaseLowering::emit_view(const ir::Op& op) {
    const auto& access = ir::attribute<ir::AccessAttribute>(op);
    const TensorHandle& tensor = state_.tensors.at(op.operands.front());
    TensorHandle view{tensor.data, tensor.origin, {}, {}};
    llvm::Value* inside = builder_.getTrue();
    const auto clamp = [&](llvm::Value* value, llvm::Value* low, llvm::Value* high) {
        value = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, value, low);
        return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, value, high);
    };
    for (std::size_t axis = 0; axis < access.axes.size(); ++axis) {
        llvm::Value *size = tensor.sizes[axis], *stride = tensor.strides[axis];
        const std::size_t operand = axis_operand(access, axis);
        if (access.axes[axis].kind == AxisKind::All) {
            view.sizes.push_back(size);
            view.strides.push_back(stride);
            continue;
        }
        llvm::Value* start = state_.scalar(op.operands[operand]);
        if (access.axes[axis].kind == AxisKind::Index) {
            inside = builder_.CreateAnd(inside, builder_.CreateICmpULT(start, size), "inside");
        } else {
            start = clamp(start, ops_.i64(0), size);
            // hi clamps to lo ... n.
            llvm::Value* end = clamp(state_.scalar(op.operands[operand + 1]), start, size);
            view.sizes.push_back(builder_.CreateSub(end, start, "view_size"));
            view.strides.push_back(stride);
        }
        view.origin = builder_.CreateAdd(view.origin, builder_.CreateMul(start, stride), "view_origin");
    }
    // Nothing is inside a view whose scalar index is outside.
    for (llvm::Value*& size : view.sizes) {
        if (!is_one(inside)) size = builder_.CreateSelect(inside, size, ops_.i64(0), "view_size");
    }
    state_.tensors[op.result()] = std::move(view);
}

std::vector<ir::ValueId> PhaseLowering::scalars_of(const std::vector<ir::ValueId>& values, std::size_t skip) const {
    std::vector<ir::ValueId> scalars;
    for (std::size_t i = skip; i < values.size(); ++i) {
        if (kernel_.type(values[i]).is_scalar()) scalars.push_back(values[i]);
    }
    return scalars;
}

/// The scalars among an op's operands.
std::vector<llvm::Value*> PhaseLowering::operands_of(const ir::Op& op, std::size_t skip) const {
    std::vector<llvm::Value*> operands;
    for (const ir::ValueId operand : scalars_of(op.operands, skip)) operands.push_back(state_.scalar(operand));
    return operands;
}

std::vector<llvm::PHINode*> PhaseLowering::make_phis(const std::vector<ir::ValueId>& values) {
    std::vector<llvm::PHINode*> phis;
    for (const ir::ValueId value : values) {
        phis.push_back(builder_.CreatePHI(ops_.register_type(kernel_.type(value).element), 2));
        set(value, phis.back());
    }
    return phis;
}

void add_incoming(const std::vector<llvm::PHINode*>& phis, const std::vector<llvm::Value*>& values,
                  llvm::BasicBlock* from) {
    for (std::size_t i = 0; i < phis.size(); ++i) phis[i]->addIncoming(values[i], from);
}

void PhaseLowering::emit_moves(ir::OpId id) {
    const std::vector<Move>& moves = plan_.moves[id.index];
    for (const Move& move : moves) {
        if (move.temporary != kNoBuffer) emit_copy(state_, move.temporary, plan_.value_buffers[move.from.index]);
    }
    for (const Move& move : moves) {
        const BufferId from = plan_.value_buffers[move.from.index];
        if (from == kNoBuffer) {
            emit_assignment(state_, move.from, move.to);
        } else {
            emit_copy(state_, move.to, move.temporary != kNoBuffer ? move.temporary : from);
        }
    }
}

/// Without a positive step there is none; differences are taken unsigned, so that none overflows.
llvm::Value* PhaseLowering::trip_count(const ir::Op& op) {
    llvm::Value *lower = state_.scalar(op.operands[0]), *upper = state_.scalar(op.operands[1]);
    llvm::Value *step = state_.scalar(op.operands[2]), *one = ops_.i64(1);
    llvm::Value* runs =
        builder_.CreateAnd(builder_.CreateICmpSLT(lower, upper), builder_.CreateICmpSGT(step, ops_.i64(0)));
    llvm::Value* divisor = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, step, one);
    llvm::Value* span = builder_.CreateSub(builder_.CreateSub(upper, lower), one);
    llvm::Value* count = builder_.CreateAdd(builder_.CreateUDiv(span, divisor), one);
    return builder_.CreateSelect(runs, count, ops_.i64(0), "trips");
}

void PhaseLowering::emit_for(ir::OpId id) {
    const ir::Op& op = kernel_[id];
    const ir::BlockId inner = op.blocks.front();
    const std::vector<ir::ValueId>& arguments = kernel_[inner].arguments;
    emit_moves(id);
    llvm::Value* trips = trip_count(op);
    const std::vector<llvm::Value*> initial = operands_of(op, 3);
    llvm::BasicBlock *before = builder_.GetInsertBlock(), *head = new_block("for"), *body = new_block("for_body");
    llvm::BasicBlock* after = new_block("for_end");
    builder_.CreateBr(head);
    builder_.SetInsertPoint(head);
    llvm::PHINode* trip = builder_.CreatePHI(builder_.getInt64Ty(), 2, "trip");
    llvm::PHINode* index = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    set(arguments.front(), index);
    const std::vector<llvm::PHINode*> carried = make_phis(scalars_of(arguments, 1));
    trip->addIncoming(ops_.i64(0), before);
    index->addIncoming(state_.scalar(op.operands.front()), before);
    add_incoming(carried, initial, before);
    builder_.CreateCondBr(builder_.CreateICmpULT(trip, trips), body, after);
    builder_.SetInsertPoint(body);
    emit_block(inner);
    const std::vector<llvm::Value*> next = operands_of(kernel_[kernel_[inner].ops.back()], 0);
    llvm::BasicBlock* latch = builder_.GetInsertBlock();
    trip->addIncoming(builder_.CreateAdd(trip, ops_.i64(1)), latch);
    index->addIncoming(builder_.CreateAdd(index, state_.scalar(op.operands[2])), latch);
    add_incoming(carried, next, latch);
    builder_.CreateBr(head);
    builder_.SetInsertPoint(after);
    const std::vector<ir::ValueId> results = scalars_of(op.results, 0);
    for (std::size_t i = 0; i < results.size(); ++i) state_.scalars[results[i].index] = carried[i];
}

void PhaseLowering::emit_while(ir::OpId id) {
    const ir::Op& op = kernel_[id];
    const ir::BlockId test = op.blocks[0], inner = op.blocks[1];
    emit_moves(id);
    const std::vector<llvm::Value*> initial = operands_of(op, 0);
    llvm::BasicBlock *before = builder_.GetInsertBlock(), *head = new_block("while"), *body = new_block("while_body");
    llvm::BasicBlock* after = new_block("while_end");
    builder_.CreateBr(head);
    builder_.SetInsertPoint(head);
    const std::vector<llvm::PHINode*> carried = make_phis(scalars_of(kernel_[test].arguments, 0));
    add_incoming(carried, initial, before);
    emit_block(test);
    const std::vector<llvm::Value*> handed = operands_of(kernel_[kernel_[test].ops.back()], 0);
    builder_.CreateCondBr(handed.front(), body, after);
    const std::vector<ir::ValueId> received = scalars_of(kernel_[inner].arguments, 0);
    for (std::size_t i = 0; i < received.size(); ++i) state_.scalars[received[i].index] = handed[i + 1];
    builder_.SetInsertPoint(body);
    emit_block(inner);
    add_incoming(carried, operands_of(kernel_[kernel_[inner].ops.back()], 0), builder_.GetInsertBlock());
    builder_.CreateBr(head);
    builder_.SetInsertPoint(after);
    const std::vector<ir::ValueId> results = scalars_of(op.results, 0);
    for (std::size_t i = 0; i < results.size(); ++i) state_.scalars[results[i].index] = handed[i + 1];
}

void PhaseLowering::emit_if(ir::OpId id) {
    const ir::Op& op = kernel_[id];
    llvm::BasicBlock *branches[] = {new_block("then"), new_block("else")}, *after = new_block("end_if");
    builder_.CreateCondBr(state_.scalar(op.operands.front()), branches[0], branches[1]);
    std::vector<llvm::Value*> values[2];
    llvm::BasicBlock* ends[2];
    for (int i = 0; i < 2; ++i) {
        builder_.SetInsertPoint(branches[i]);
        emit_block(op.blocks[static_cast<std::size_t>(i)]);
        values[i] = operands_of(kernel_[kernel_[op.blocks[static_cast<std::size_t>(i)]].ops.back()], 0);
        ends[i] = builder_.GetInsertBlock();
        builder_.CreateBr(after);
    }
    builder_.SetInsertPoint(after);
    const std::vector<llvm::PHINode*> results = make_phis(scalars_of(op.results, 0));
    for (int i = 0; i < 2; ++i) add_incoming(results, values[i], ends[i]);
}

}  // namespace

PhaseCode lower_phase(llvm::Module& module, const Target& target, const ir::Kernel& kernel, std::size_t index,
                      const std::string& symbol) {
    return PhaseLowering(module, target, kernel, kernel.phases[index], symbol).run();
}

}  // namespace kiln::codegen::cpu
