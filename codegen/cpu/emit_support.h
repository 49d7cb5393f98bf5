// Small helpers for emitting functions, loops and branches.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <initializer_list>
#include <string>

#include "codegen/cpu/object_emit.h"
#include "codegen/cpu/target.h"

namespace kiln::codegen::cpu {

using Values = llvm::SmallVector<llvm::Value*, 32>;

/// An internal function of no result with an entry block, at whose end `builder` then stands. It is never inlined:
/// callers keep their registers apart, and the code exists once.
inline llvm::Function* begin_function(llvm::Module& module, const Target& target, const std::string& name,
                                      std::initializer_list<llvm::Type*> parameters, llvm::IRBuilder<>& builder) {
    auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(module.getContext()), parameters, false);
    auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
    set_target_attributes(*function, target);
    function->addFnAttr(llvm::Attribute::NoInline);
    builder.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", function));
    return function;
}

/// for (i = begin; i < end; i += step), signed, with values carried from round to round. `body` gets i and the carried
/// values and gives the next ones. The result is the carried values after the loop.
inline Values emit_loop(llvm::IRBuilder<>& builder, llvm::Value* begin, llvm::Value* end, std::int64_t step,
                        llvm::ArrayRef<llvm::Value*> carried,
                        llvm::function_ref<Values(llvm::Value*, llvm::ArrayRef<llvm::Value*>)> body) {
    llvm::Function* function = builder.GetInsertBlock()->getParent();
    llvm::BasicBlock* before = builder.GetInsertBlock();
    auto* loop = llvm::BasicBlock::Create(builder.getContext(), "loop", function);
    auto* after = llvm::BasicBlock::Create(builder.getContext(), "after", function);
    builder.CreateCondBr(builder.CreateICmpSLT(begin, end), loop, after);

    builder.SetInsertPoint(loop);
    auto* index = builder.CreatePHI(begin->getType(), 2);
    index->addIncoming(begin, before);
    llvm::SmallVector<llvm::PHINode*, 32> phis;
    for (llvm::Value* value : carried) {
        phis.push_back(builder.CreatePHI(value->getType(), 2));
        phis.back()->addIncoming(value, before);
    }
    const Values arguments(phis.begin(), phis.end());
    const Values next = body(index, arguments);
    llvm::BasicBlock* last = builder.GetInsertBlock();
    auto* next_index = builder.CreateAdd(index, llvm::ConstantInt::get(begin->getType(), step), "", true, true);
    index->addIncoming(next_index, last);
    for (std::size_t i = 0; i < phis.size(); ++i) phis[i]->addIncoming(next[i], last);
    builder.CreateCondBr(builder.CreateICmpSLT(next_index, end), loop, after);

    builder.SetInsertPoint(after);
    Values results;
    for (std::size_t i = 0; i < phis.size(); ++i) {
        auto* result = builder.CreatePHI(carried[i]->getType(), 2);
        result->addIncoming(carried[i], before);
        result->addIncoming(next[i], last);
        results.push_back(result);
    }
    return results;
}

/// The same without carried values.
inline void emit_loop(llvm::IRBuilder<>& builder, llvm::Value* begin, llvm::Value* end, std::int64_t step,
                      llvm::function_ref<void(llvm::Value*)> body) {
    emit_loop(builder, begin, end, step, {}, [&](llvm::Value* index, llvm::ArrayRef<llvm::Value*>) {
        body(index);
        return Values();
    });
}

/// if (condition) then() else otherwise(), each of which gives the same number of values of the same types.
inline Values emit_if(llvm::IRBuilder<>& builder, llvm::Value* condition, llvm::function_ref<Values()> then,
                      llvm::function_ref<Values()> otherwise) {
    llvm::Function* function = builder.GetInsertBlock()->getParent();
    auto* then_block = llvm::BasicBlock::Create(builder.getContext(), "then", function);
    auto* else_block = llvm::BasicBlock::Create(builder.getContext(), "else", function);
    auto* after = llvm::BasicBlock::Create(builder.getContext(), "after", function);
    builder.CreateCondBr(condition, then_block, else_block);
    builder.SetInsertPoint(then_block);
    const Values then_values = then();
    then_block = builder.GetInsertBlock();
    builder.CreateBr(after);
    builder.SetInsertPoint(else_block);
    const Values else_values = otherwise();
    else_block = builder.GetInsertBlock();
    builder.CreateBr(after);
    builder.SetInsertPoint(after);
    Values results;
    for (std::size_t i = 0; i < then_values.size(); ++i) {
        auto* result = builder.CreatePHI(then_values[i]->getType(), 2);
        result->addIncoming(then_values[i], then_block);
        result->addIncoming(else_values[i], else_block);
        results.push_back(result);
    }
    return results;
}

/// The same without values; either part may do nothing.
inline void emit_branch(llvm::IRBuilder<>& builder, llvm::Value* condition, llvm::function_ref<void()> then,
                        llvm::function_ref<void()> otherwise) {
    emit_if(
        builder, condition,
        [&] {
            then();
            return Values();
        },
        [&] {
            otherwise();
            return Values();
        });
}

inline llvm::Value* minimum_of(llvm::IRBuilder<>& builder, llvm::Value* a, llvm::Value* b) {
    return builder.CreateSelect(builder.CreateICmpSLT(a, b), a, b);
}

/// Address `bytes` (i64) beyond a pointer.
inline llvm::Value* offset_bytes(llvm::IRBuilder<>& builder, llvm::Value* pointer, llvm::Value* bytes) {
    return builder.CreateGEP(builder.getInt8Ty(), pointer, bytes);
}
inline llvm::Value* offset_bytes(llvm::IRBuilder<>& builder, llvm::Value* pointer, std::int64_t bytes) {
    return bytes == 0 ? pointer : offset_bytes(builder, pointer, builder.getInt64(bytes));
}

}  // namespace kiln::codegen::cpu
