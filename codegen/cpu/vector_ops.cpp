#include "codegen/cpu/vector_ops.h"

#include <llvm/ADT/APFloat.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Intrinsics.h>

#include <algorithm>

#include "codegen/cpu/emit_support.h"
#include "ir/support/internal_error.h"

namespace kiln::codegen::cpu {

using ir::OpKind;
using ir::ScalarType;

unsigned VectorOps::lanes(const llvm::Value* value) {
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
    return vector ? vector->getNumElements() : 1;
}

unsigned VectorOps::natural_lanes(ScalarType element) const {
    const int bits = std::max(8, ir::bit_width(element));
    return static_cast<unsigned>(target_.vector_bytes * 8 / bits);
}

llvm::Type* VectorOps::register_type(ScalarType element, unsigned lanes) const {
    llvm::Type* scalar = nullptr;
    switch (element) {
        case ScalarType::Bool:
            scalar = builder_.getInt1Ty();
            break;
        case ScalarType::F32:
            scalar = builder_.getFloatTy();
            break;
        case ScalarType::F64:
            scalar = builder_.getDoubleTy();
            break;
        case ScalarType::I8:
        case ScalarType::I16:
        case ScalarType::I32:
        case ScalarType::I64:
        case ScalarType::U8:
        case ScalarType::U16:
        case ScalarType::U32:
        case ScalarType::U64:
        case ScalarType::F16:
        case ScalarType::BF16:
        case ScalarType::I4:
        case ScalarType::U4:
        case ScalarType::F4E2M1:
        case ScalarType::F8E4M3:
        case ScalarType::F8E5M2:
        case ScalarType::F8E8M0:
            scalar = builder_.getIntNTy(static_cast<unsigned>(std::max(8, ir::bit_width(element))));
            break;
    }
    return lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, lanes);
}

llvm::Type* VectorOps::memory_type(ScalarType element) const {
    if (ir::bit_width(element) < 8) {
        throw support::InternalError("vector_ops", std::string(ir::name(element)) + " has no element of whole bytes");
    }
    return element == ScalarType::Bool ? builder_.getInt8Ty() : register_type(element);
}

llvm::Value* VectorOps::constant(ir::Scalar scalar, unsigned lanes) const {
    llvm::Type* type = register_type(scalar.type);
    auto* integer = builder_.getIntNTy(static_cast<unsigned>(type->getScalarSizeInBits()));
    llvm::Constant* bits = llvm::ConstantInt::get(integer, scalar.bits);
    if (type->isFloatTy()) {
        bits = llvm::ConstantFP::get(type->getContext(),
                                     llvm::APFloat(llvm::APFloat::IEEEsingle(), llvm::APInt(32, scalar.bits)));
    } else if (type->isDoubleTy()) {
        bits = llvm::ConstantFP::get(type->getContext(),
                                     llvm::APFloat(llvm::APFloat::IEEEdouble(), llvm::APInt(64, scalar.bits)));
    }
    return splat(bits, lanes);
}

llvm::Value* VectorOps::splat(llvm::Value* scalar, unsigned lanes) const {
    return lanes == 1 ? scalar : builder_.CreateVectorSplat(lanes, scalar);
}

llvm::Value* VectorOps::iota(unsigned lanes, ScalarType element) const {
    auto* type = llvm::cast<llvm::IntegerType>(register_type(element));
    if (lanes == 1) return llvm::ConstantInt::get(type, 0);
    llvm::SmallVector<llvm::Constant*, 64> numbers;
    for (unsigned lane = 0; lane < lanes; ++lane) numbers.push_back(llvm::ConstantInt::get(type, lane));
    return llvm::ConstantVector::get(numbers);
}

llvm::Value* VectorOps::i64(std::int64_t value) const {
    return builder_.getInt64(static_cast<std::uint64_t>(value));
}

// Memory

namespace {

llvm::Align alignment_of(ScalarType element, unsigned alignment) {
    return llvm::Align(alignment == 0 ? static_cast<unsigned>(ir::byte_width(element)) : alignment);
}

llvm::Type* widened(llvm::Type* scalar, unsigned lanes) {
    return lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, lanes);
}

/// What lies in memory to register form, and back.
llvm::Value* from_memory(llvm::IRBuilder<>& builder, ScalarType element, llvm::Value* value) {
    if (element != ScalarType::Bool) return value;
    return builder.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
}
llvm::Value* to_memory(llvm::IRBuilder<>& builder, ScalarType element, llvm::Value* value) {
    if (element != ScalarType::Bool) return value;
    return builder.CreateZExt(value, widened(builder.getInt8Ty(), VectorOps::lanes(value)));
}

}  // namespace

llvm::Value* VectorOps::element_address(ScalarType element, llvm::Value* base, llvm::Value* offset) const {
    return builder_.CreateGEP(memory_type(element), base, offset);
}

llvm::Value* VectorOps::load(ScalarType element, llvm::Value* pointer, unsigned lanes, unsigned alignment) const {
    llvm::Type* type = widened(memory_type(element), lanes);
    return from_memory(builder_, element, builder_.CreateAlignedLoad(type, pointer, alignment_of(element, alignment)));
}

llvm::Value* VectorOps::load_masked(ScalarType element, llvm::Value* pointer, llvm::Value* mask, llvm::Value* fill,
                                    unsigned alignment) const {
    const unsigned count = lanes(mask);
    llvm::Type* type = widened(memory_type(element), count);
    llvm::Value* other = fill ? to_memory(builder_, element, fill) : llvm::Constant::getNullValue(type);
    const llvm::Align align = alignment_of(element, alignment);
    if (count > 1) {
        return from_memory(builder_, element, builder_.CreateMaskedLoad(type, pointer, align, mask, other));
    }
    const Values loaded = emit_if(
        builder_, mask, [&] { return Values{builder_.CreateAlignedLoad(type, pointer, align)}; },
        [&] { return Values{other}; });
    return from_memory(builder_, element, loaded.front());
}

void VectorOps::store(ScalarType element, llvm::Value* value, llvm::Value* pointer, unsigned alignment) const {
    memory_type(element);  // refuses what has no bytes of its own
    builder_.CreateAlignedStore(to_memory(builder_, element, value), pointer, alignment_of(element, alignment));
}

void VectorOps::store_masked(ScalarType element, llvm::Value* value, llvm::Value* pointer, llvm::Value* mask,
                             unsigned alignment) const {
    memory_type(element);
    llvm::Value* stored = to_memory(builder_, element, value);
    const llvm::Align align = alignment_of(element, alignment);
    if (lanes(mask) > 1) {
        builder_.CreateMaskedStore(stored, pointer, align, mask);
        return;
    }
    emit_branch(
        builder_, mask, [&] { builder_.CreateAlignedStore(stored, pointer, align); }, [] {});
}

llvm::Value* VectorOps::gather(ScalarType element, llvm::Value* base, llvm::Value* offsets, llvm::Value* mask,
                               llvm::Value* fill) const {
    const unsigned count = lanes(offsets);
    llvm::Value* addresses = element_address(element, base, offsets);
    if (count == 1) return mask ? load_masked(element, addresses, mask, fill) : load(element, addresses, 1);
    llvm::Type* type = widened(memory_type(element), count);
    llvm::Value* other = fill ? to_memory(builder_, element, fill) : llvm::Constant::getNullValue(type);
    llvm::Value* all = llvm::Constant::getAllOnesValue(widened(builder_.getInt1Ty(), count));
    llvm::Value* gathered =
        builder_.CreateMaskedGather(type, addresses, alignment_of(element, 0), mask ? mask : all, other);
    return from_memory(builder_, element, gathered);
}

void VectorOps::scatter(ScalarType element, llvm::Value* value, llvm::Value* base, llvm::Value* offsets,
                        llvm::Value* mask) const {
    llvm::Value* addresses = element_address(element, base, offsets);
    if (lanes(offsets) == 1) {
        if (mask) {
            store_masked(element, value, addresses, mask);
        } else {
            store(element, value, addresses);
        }
        return;
    }
    llvm::Value* all = llvm::Constant::getAllOnesValue(widened(builder_.getInt1Ty(), lanes(offsets)));
    builder_.CreateMaskedScatter(to_memory(builder_, element, value), addresses, alignment_of(element, 0),
                                 mask ? mask : all);
}

llvm::Value* VectorOps::load_strided(ScalarType element, llvm::Value* pointer, llvm::Value* stride, unsigned lanes,
                                     llvm::Value* mask, llvm::Value* fill) const {
    return gather(element, pointer, builder_.CreateMul(iota(lanes), splat(stride, lanes)), mask, fill);
}

void VectorOps::store_strided(ScalarType element, llvm::Value* value, llvm::Value* pointer, llvm::Value* stride,
                              llvm::Value* mask) const {
    const unsigned count = lanes(value);
    scatter(element, value, pointer, builder_.CreateMul(iota(count), splat(stride, count)), mask);
}

llvm::Value* VectorOps::lanes_below(llvm::Value* count, unsigned lanes) const {
    if (lanes == 1) return builder_.CreateICmpSGT(count, i64(0));
    // Compared in 32 bits, so that a mask takes one comparison of a register.
    llvm::Value* few = builder_.CreateSelect(builder_.CreateICmpSLT(count, i64(lanes)), count, i64(lanes));
    few = builder_.CreateSelect(builder_.CreateICmpSGT(few, i64(0)), few, i64(0));
    llvm::Value* narrow = builder_.CreateTrunc(few, builder_.getInt32Ty());
    return builder_.CreateICmpULT(iota(lanes, ScalarType::I32), splat(narrow, lanes));
}

// Reductions

llvm::Value* VectorOps::combine(ir::ReduceKind kind, ScalarType element, llvm::Value* a, llvm::Value* b) const {
    const auto apply = [&](OpKind op) { return elementwise(op, element, std::initializer_list<llvm::Value*>{a, b}); };
    switch (kind) {
        case ir::ReduceKind::Sum:
            return apply(OpKind::Add);
        case ir::ReduceKind::Min:
            return apply(OpKind::Min);
        case ir::ReduceKind::Max:
            return apply(OpKind::Max);
        case ir::ReduceKind::Minimum:
            return apply(OpKind::Minimum);
        case ir::ReduceKind::Maximum:
            return apply(OpKind::Maximum);
        case ir::ReduceKind::Any:
            return apply(OpKind::LogicalOr);
        case ir::ReduceKind::All:
            return apply(OpKind::LogicalAnd);
    }
    throw support::InternalError("vector_ops", "unknown reduction");
}

llvm::Value* VectorOps::reduce_lanes(ir::ReduceKind kind, ScalarType element, llvm::Value* vector) const {
    llvm::Value* odd_lanes = nullptr;
    for (unsigned count = lanes(vector); count > 1; count = lanes(vector)) {
        if (count % 2 == 1) {
            llvm::Value* last = builder_.CreateExtractElement(vector, count - 1);
            odd_lanes = odd_lanes ? combine(kind, element, last, odd_lanes) : last;
        }
        const unsigned half = count / 2;
        if (half == 1) {
            vector = combine(kind, element, builder_.CreateExtractElement(vector, std::uint64_t{0}),
                             builder_.CreateExtractElement(vector, 1));
            break;
        }
        llvm::SmallVector<int, 64> low, high;
        for (unsigned lane = 0; lane < half; ++lane) {
            low.push_back(static_cast<int>(lane));
            high.push_back(static_cast<int>(lane + half));
        }
        vector = combine(kind, element, builder_.CreateShuffleVector(vector, low),
                         builder_.CreateShuffleVector(vector, high));
    }
    return odd_lanes ? combine(kind, element, vector, odd_lanes) : vector;
}

// Fused multiplication

namespace {

/// a + b rounded to odd: towards zero, and with the last bit set if anything was lost. Rounding that once more to half
/// the precision is as good as rounding once. Needs no infinity or overflow care: those compare as exact.
llvm::Value* add_to_odd(llvm::IRBuilder<>& builder, llvm::Value* a, llvm::Value* b) {
    llvm::Value* sum = builder.CreateFAdd(a, b);
    llvm::Value* b_part = builder.CreateFSub(sum, a);
    llvm::Value* a_lost = builder.CreateFSub(a, builder.CreateFSub(sum, b_part));
    llvm::Value* lost = builder.CreateFAdd(a_lost, builder.CreateFSub(b, b_part));

    llvm::Value* zero = llvm::Constant::getNullValue(sum->getType());
    llvm::Type* integer = widened(builder.getInt64Ty(), VectorOps::lanes(sum));
    llvm::Value* bits = builder.CreateBitCast(sum, integer);
    llvm::Value* one = llvm::ConstantInt::get(integer, 1);
    llvm::Value* even = builder.CreateICmpEQ(builder.CreateAnd(bits, one), llvm::Constant::getNullValue(integer));
    llvm::Value* inexact = builder.CreateAnd(builder.CreateFCmpONE(lost, zero), even);
    llvm::Value* outwards = builder.CreateICmpEQ(builder.CreateFCmpOGT(lost, zero), builder.CreateFCmpOGT(sum, zero));
    llvm::Value* neighbour = builder.CreateSelect(outwards, builder.CreateAdd(bits, one), builder.CreateSub(bits, one));
    return builder.CreateBitCast(builder.CreateSelect(inexact, neighbour, bits), sum->getType());
}

}  // namespace

llvm::Value* VectorOps::fma(llvm::Value* a, llvm::Value* b, llvm::Value* c) const {
    llvm::Type* type = a->getType();
    // Without the instruction LLVM calls the mathematics library, lane by lane; for floats doubles do better: their
    // product of two floats is exact.
    if (target_.has_fma || type->getScalarType()->isDoubleTy()) {
        return builder_.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {a, b, c});
    }
    llvm::Type* wide = widened(builder_.getDoubleTy(), lanes(a));
    llvm::Value* product = builder_.CreateFMul(builder_.CreateFPExt(a, wide), builder_.CreateFPExt(b, wide));
    return builder_.CreateFPTrunc(add_to_odd(builder_, product, builder_.CreateFPExt(c, wide)), type);
}

llvm::Value* VectorOps::multiply_add(llvm::Value* a, llvm::Value* b, llvm::Value* c) const {
    if (!target_.has_fma) return builder_.CreateFAdd(builder_.CreateFMul(a, b), c);
    return builder_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
}

llvm::Value* VectorOps::narrow_fma(ScalarType element, llvm::Value* a, llvm::Value* b, llvm::Value* c) const {
    llvm::Type* wide = widened(builder_.getDoubleTy(), lanes(a));
    const auto widen = [&](llvm::Value* value) { return builder_.CreateFPExt(decode(value, element), wide); };
    llvm::Value* sum = add_to_odd(builder_, builder_.CreateFMul(widen(a), widen(b)), widen(c));
    return encode(narrow_to_odd(sum), element);
}

}  // namespace kiln::codegen::cpu
