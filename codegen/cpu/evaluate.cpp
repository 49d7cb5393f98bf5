#include "codegen/cpu/evaluate.h"

#include <algorithm>

#include "ir/builder.h"
#include "ir/support/internal_error.h"

namespace kiln::codegen::cpu {

using ir::OpKind;

llvm::Value* PhaseState::scalar(ir::ValueId value) const {
    if (const auto constant = kernel.constant(value)) return ops.constant(*constant);
    if (scalars[value.index] == nullptr) {
        throw support::InternalError("codegen::cpu", "%" + kernel[value].name + " is used before it is computed");
    }
    return scalars[value.index];
}

llvm::Value* PhaseState::buffer_address(BufferId buffer) const {
    return builder().CreateConstGEP1_64(builder().getInt8Ty(), scratch, plan.buffers[buffer].offset, "tile");
}

Evaluator::Evaluator(PhaseState& state, bool inside) : state_(state), inside_(inside) {
    levels_.emplace_back();
    levels_.back().point = state.builder().saveIP();
}

unsigned Evaluator::level_of(llvm::Value* value) const {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
    if (instruction == nullptr) return 0;
    const auto found = block_levels_.find(instruction->getParent());
    return found == block_levels_.end() ? 0 : found->second;
}

unsigned Evaluator::level_of(const Coordinates& at) const {
    unsigned level = 0;
    for (const Coordinate& coordinate : at) level = std::max(level, level_of(coordinate.base));
    return level;
}

template <class Emit>
llvm::Value* Evaluator::at_level(unsigned level, Emit emit) {
    llvm::IRBuilder<>& builder = state_.builder();
    const unsigned previous = current_level_;
    if (level != previous) {
        levels_[previous].point = builder.saveIP();
        builder.restoreIP(levels_[level].point);
        current_level_ = level;
    }
    llvm::Value* value = emit();
    block_levels_[builder.GetInsertBlock()] = level;
    if (level != previous) {
        levels_[level].point = builder.saveIP();
        builder.restoreIP(levels_[previous].point);
        current_level_ = previous;
    }
    return value;
}

llvm::Value* Evaluator::arithmetic(int kind, llvm::Value* a, llvm::Value* b) {
    const unsigned level = std::max(level_of(a), level_of(b));
    llvm::Value*& known = levels_[level].arithmetic[{kind, {a, b}}];
    if (known != nullptr) return known;
    llvm::IRBuilder<>& builder = state_.builder();
    return known = at_level(level, [&] {
               if (kind == 0) {
                   if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(b); constant != nullptr && constant->isZero())
                       return a;
                   if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(a); constant != nullptr && constant->isZero())
                       return b;
                   return builder.CreateAdd(a, b);
               }
               if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(b); constant != nullptr && constant->isOne())
                   return a;
               return builder.CreateMul(a, b);
           });
}

llvm::Value* Evaluator::add(llvm::Value* a, llvm::Value* b) {
    return arithmetic(0, a, b);
}
llvm::Value* Evaluator::multiply(llvm::Value* a, llvm::Value* b) {
    return arithmetic(1, a, b);
}

llvm::Value* Evaluator::open_loop(std::int64_t count, std::int64_t step, const char* name) {
    llvm::IRBuilder<>& builder = state_.builder();
    levels_.back().point = builder.saveIP();
    llvm::Function* function = builder.GetInsertBlock()->getParent();
    llvm::BasicBlock* body = llvm::BasicBlock::Create(builder.getContext(), name, function);
    levels_.emplace_back();
    current_level_ = static_cast<unsigned>(levels_.size()) - 1;
    builder.SetInsertPoint(body);
    block_levels_[body] = current_level_;
    llvm::PHINode* index = builder.CreatePHI(builder.getInt64Ty(), 2, name);
    loops_.push_back({body, index, count, step, {}, {}});
    return index;
}

llvm::PHINode* Evaluator::carry(llvm::Value* initial, const char* name) {
    llvm::PHINode* phi = state_.builder().CreatePHI(initial->getType(), 2, name);
    loops_.back().carried.push_back(phi);
    loops_.back().initial.push_back(initial);
    return phi;
}

void Evaluator::close_loop(const std::vector<llvm::Value*>& next) {
    llvm::IRBuilder<>& builder = state_.builder();
    const Loop loop = std::move(loops_.back());
    loops_.pop_back();
    llvm::Value* following =
        builder.CreateAdd(loop.index, builder.getInt64(static_cast<std::uint64_t>(loop.step)), "next");
    llvm::Value* more =
        builder.CreateICmpULT(following, builder.getInt64(static_cast<std::uint64_t>(loop.count)), "more");
    llvm::BasicBlock* latch = builder.GetInsertBlock();
    llvm::BasicBlock* after = llvm::BasicBlock::Create(builder.getContext(), "done", latch->getParent());
    builder.CreateCondBr(more, loop.body, after);
    levels_.pop_back();
    current_level_ = static_cast<unsigned>(levels_.size()) - 1;
    builder.restoreIP(levels_.back().point);
    llvm::BasicBlock* before = builder.GetInsertBlock();
    builder.CreateBr(loop.body);
    loop.index->addIncoming(builder.getInt64(0), before);
    loop.index->addIncoming(following, latch);
    for (std::size_t i = 0; i < loop.carried.size(); ++i) {
        loop.carried[i]->addIncoming(loop.initial[i], before);
        loop.carried[i]->addIncoming(next[i], latch);
    }
    builder.SetInsertPoint(after);
    block_levels_[after] = current_level_;
    levels_.back().point = builder.saveIP();
}

const Element* Evaluator::known(const Key& key) const {
    const std::map<Key, Element>& elements = levels_[level_of(key.at)].elements;
    const auto found = elements.find(key);
    return found == elements.end() ? nullptr : &found->second;
}

void Evaluator::remember(const Key& key, const Element& element) {
    levels_[level_of(key.at)].elements.insert_or_assign(key, element);
}

Element Evaluator::evaluate(ir::ValueId value, const Coordinates& at) {
    // An explicit stack: chains of inline values may be long.
    std::vector<Key> pending{{value, at}};
    std::vector<Key> operands;
    while (true) {
        const Key key = pending.back();
        if (const Element* element = known(key)) {
            pending.pop_back();
            if (pending.empty()) return *element;
            continue;
        }
        operands.clear();
        operands_of(key, operands);
        const std::size_t before = pending.size();
        for (const Key& operand : operands) {
            if (known(operand) == nullptr) pending.push_back(operand);
        }
        if (pending.size() > before) continue;
        remember(key, emit(key, operands));
    }
}

llvm::Value* Evaluator::evaluate_first(ir::ValueId value) {
    return evaluate(value, Coordinates(state_.kernel.type(value).shape.rank(), {constant(0), false})).value;
}

llvm::Value* Evaluator::to_lanes(const Element& element) {
    if (!element.uniform || lanes_ == 1) return element.value;
    const unsigned level = level_of(element.value);
    llvm::Value*& splat = levels_[level].splats[element.value];
    if (splat == nullptr || VectorOps::lanes(splat) != lanes_) {
        splat = at_level(level, [&] { return state_.ops.splat(element.value, lanes_); });
    }
    return splat;
}

/// The tiles, at their points, that `key` is made of.
void Evaluator::operands_of(const Key& key, std::vector<Key>& operands) {
    const ir::Type& type = state_.kernel.type(key.value);
    if (type.is_scalar() && key.at.empty()) return;
    if (reads_buffer(key.value)) return;
    const ir::Op& op = *state_.kernel.definition(key.value);
    const Coordinates& at = key.at;
    const Coordinate zero{constant(0), false};
    if (ir::is_elementwise(op.kind)) {
        for (const ir::ValueId operand : op.operands) operands.push_back({operand, at});
    } else if (op.kind == OpKind::Broadcast || op.kind == OpKind::Reshape) {
        const ir::Type& from = state_.kernel.type(op.operands.front());
        Coordinates inner(from.shape.rank(), zero);
        std::vector<int> axes;
        if (op.kind == OpKind::Reshape) unit_reshape(from.shape, type.shape, axes);
        for (std::size_t axis = 0; axis < inner.size(); ++axis) {
            const int source = axes.empty() ? static_cast<int>(axis) : axes[axis];
            if (from.shape[axis] != 1 && source >= 0) inner[axis] = at[static_cast<std::size_t>(source)];
        }
        operands.push_back({op.operands.front(), std::move(inner)});
    } else if (op.kind == OpKind::Permute) {
        const ir::Shape& axes = ir::attribute<ir::AxesAttribute>(op).axes;
        Coordinates inner(at.size());
        for (std::size_t axis = 0; axis < at.size(); ++axis) inner[static_cast<std::size_t>(axes[axis])] = at[axis];
        operands.push_back({op.operands.front(), std::move(inner)});
    } else if (op.kind == OpKind::Extract) {
        Coordinates inner = at;
        const ir::Shape& starts = ir::attribute<ir::AxesAttribute>(op).axes;
        for (std::size_t axis = 0; axis < inner.size(); ++axis) {
            inner[axis].base = add(inner[axis].base, constant(starts[axis]));
        }
        operands.push_back({op.operands.front(), std::move(inner)});
    } else if (op.kind == OpKind::Load) {
        const auto& access = ir::access_of(op);
        const Coordinates gather = gather_coordinates(access, op, at);
        for (std::size_t axis = 0; axis < access.axes.size(); ++axis) {
            if (access.axes[axis].kind != ir::AxisKind::Gather) continue;
            operands.push_back({op.operands[axis_operand(access, axis)], gather});
        }
        if (access.masked) operands.push_back({op.operands.back(), at});
    }
}

Element Evaluator::emit(const Key& key, const std::vector<Key>& operands) {
    const ir::Type& type = state_.kernel.type(key.value);
    if (type.is_scalar() && key.at.empty()) return {state_.scalar(key.value), true};
    Element element;
    at_level(level_of(key.at), [&]() -> llvm::Value* {
        if (reads_buffer(key.value)) {
            element = load_buffer(key.value, key.at);
            return element.value;
        }
        const ir::Op& op = *state_.kernel.definition(key.value);
        if (ir::is_elementwise(op.kind)) {
            element = emit_elementwise(op, operands);
        } else if (op.kind == OpKind::Iota) {
            element = emit_iota(type.element, key.at.front());
        } else if (op.kind == OpKind::Load) {
            element = emit_load(op, key.at);
        } else if (!operands.empty()) {
            element = *known(operands.front());
        } else {
            throw support::InternalError("codegen::cpu::Evaluator",
                                         "`" + std::string(ir::info(op.kind).mnemonic) + "` makes no inline tile");
        }
        return element.value;
    });
    return element;
}

Element Evaluator::emit_elementwise(const ir::Op& op, const std::vector<Key>& operands) {
    std::vector<Element> elements;
    bool uniform = true;
    for (const Key& operand : operands) {
        elements.push_back(*known(operand));
        uniform = uniform && elements.back().uniform;
    }
    std::vector<llvm::Value*> values;
    for (const Element& element : elements) values.push_back(uniform ? element.value : to_lanes(element));
    const ir::Kernel& kernel = state_.kernel;
    if (op.kind == OpKind::Convert || op.kind == OpKind::Saturate || op.kind == OpKind::Bitcast) {
        return {state_.ops.convert(op.kind, values.front(), kernel.type(op.operands.front()).element,
                                   kernel.type(op.result()).element),
                uniform};
    }
    const std::size_t typed = op.kind == OpKind::Select ? 1 : 0;
    return {state_.ops.elementwise(op.kind, kernel.type(op.operands[typed]).element, values), uniform};
}

Element Evaluator::emit_iota(ir::ScalarType type, const Coordinate& at) {
    llvm::Value* base = state_.builder().CreateTrunc(at.base, state_.ops.register_type(type));
    if (!at.lanes || lanes_ == 1) return {base, true};
    return {state_.builder().CreateAdd(to_lanes({base, true}), state_.ops.iota(lanes_, type)), false};
}

AccessPoint Evaluator::buffer_point(const Buffer& buffer, const ir::Shape& shape, const Coordinates& at) {
    AccessPoint point;
    point.offset = constant(0);
    std::int64_t stride = shape.count();
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        stride /= shape[axis];
        point.offset = add(point.offset, multiply(at[axis].base, constant(stride)));
        if (!at[axis].lanes) continue;
        point.lanes = true;
        point.stride = constant(stride);
    }
    llvm::Value* base = state_.buffer_address(static_cast<BufferId>(&buffer - state_.plan.buffers.data()));
    point.address = state_.ops.element_address(buffer.element, base, point.offset);
    return point;
}

Element Evaluator::load_buffer(ir::ValueId value, const Coordinates& at) {
    const Buffer& buffer = state_.plan.buffer(value);
    const AccessPoint point = buffer_point(buffer, state_.kernel.type(value).shape, at);
    if (!point.lanes || lanes_ == 1) return {state_.ops.load(buffer.element, point.address, 1), true};
    if (is_one(point.stride)) return {state_.ops.load(buffer.element, point.address, lanes_), false};
    return {state_.ops.load_strided(buffer.element, point.address, point.stride, lanes_), false};
}

void Evaluator::store_to_buffer(const Buffer& buffer, const ir::Shape& shape, const Coordinates& at,
                                const Element& value) {
    const AccessPoint point = buffer_point(buffer, shape, at);
    if (!point.lanes || lanes_ == 1 || is_one(point.stride)) {
        state_.ops.store(buffer.element, point.lanes ? to_lanes(value) : value.value, point.address);
    } else {
        state_.ops.store_strided(buffer.element, to_lanes(value), point.address, point.stride);
    }
}

}  // namespace kiln::codegen::cpu
