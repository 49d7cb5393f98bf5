// The elementwise ops of VectorOps.
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Intrinsics.h>

#include "codegen/cpu/vector_math.h"
#include "codegen/cpu/vector_ops.h"
#include "ir/support/internal_error.h"

namespace kiln::codegen::cpu {

using ir::OpKind;
using ir::ScalarType;

namespace {

[[noreturn]] void refuse(OpKind kind, const std::string& why) {
    throw support::InternalError("vector_ops", "'" + std::string(ir::info(kind).mnemonic) + "' " + why);
}

/// Integer lanes with the bits of float or double lanes.
llvm::Value* bits_of(llvm::IRBuilder<>& builder, llvm::Value* value) {
    llvm::Type* scalar = builder.getIntNTy(value->getType()->getScalarSizeInBits());
    const unsigned count = VectorOps::lanes(value);
    return builder.CreateBitCast(value, count == 1 ? scalar : llvm::FixedVectorType::get(scalar, count));
}

/// The lesser or greater of two numbers; equal ones differ at most in the sign of zero, which the bits settle.
llvm::Value* order_numbers(llvm::IRBuilder<>& builder, bool least, llvm::Value* a, llvm::Value* b) {
    llvm::Value* first = least ? builder.CreateFCmpOLT(a, b) : builder.CreateFCmpOGT(a, b);
    llvm::Value* ordered = builder.CreateSelect(first, a, b);
    llvm::Value* a_bits = bits_of(builder, a);
    llvm::Value* b_bits = bits_of(builder, b);
    llvm::Value* zero = least ? builder.CreateOr(a_bits, b_bits) : builder.CreateAnd(a_bits, b_bits);
    return builder.CreateSelect(builder.CreateFCmpOEQ(a, b), builder.CreateBitCast(zero, a->getType()), ordered);
}

/// min, max: a number before NaN. With a NaN as `a`, no comparison holds and `b` is taken.
llvm::Value* prefer_number(llvm::IRBuilder<>& builder, bool least, llvm::Value* a, llvm::Value* b) {
    return builder.CreateSelect(builder.CreateFCmpUNO(b, b), a, order_numbers(builder, least, a, b));
}

/// minimum, maximum: NaN before a number. The sum of a NaN and anything is a quiet NaN.
llvm::Value* prefer_nan(llvm::IRBuilder<>& builder, bool least, llvm::Value* a, llvm::Value* b) {
    return builder.CreateSelect(builder.CreateFCmpUNO(a, b), builder.CreateFAdd(a, b),
                                order_numbers(builder, least, a, b));
}

/// Integer division on lanes of one type. LLVM divides vectors lane by lane; up to 32 bits a float division is exact
/// after truncation, since quotients lie at least one part in 2^17 (2^33) from the next whole number.
class Division {
public:
    Division(llvm::IRBuilder<>& builder, bool is_signed, llvm::Value* a, llvm::Value* b)
        : builder_(builder), signed_(is_signed), a_(a), b_(b), type_(a->getType()) {
        zero_ = llvm::Constant::getNullValue(type_);
        one_ = llvm::ConstantInt::get(type_, 1);
        by_zero_ = builder.CreateICmpEQ(b, zero_);
        llvm::Value* unsafe = by_zero_;
        llvm::Value* by_minus_one = nullptr;
        if (is_signed) {
            by_minus_one = builder.CreateICmpEQ(b, llvm::Constant::getAllOnesValue(type_));
            unsafe = builder.CreateOr(unsafe, by_minus_one);
        }
        quotient_ = divide(builder.CreateSelect(unsafe, one_, b));
        if (is_signed) quotient_ = builder.CreateSelect(by_minus_one, builder.CreateNeg(a), quotient_);
        quotient_ = builder.CreateSelect(by_zero_, zero_, quotient_);
        rest_ = builder.CreateSub(a, builder.CreateMul(quotient_, b));
    }

    /// Towards zero; 0 for a division by zero.
    llvm::Value* quotient() const { return quotient_; }
    /// With the sign of a; a for a division by zero.
    llvm::Value* rest() const { return rest_; }

    llvm::Value* floor_quotient() const {
        return signed_ ? adjust(quotient_, signs_differ(), builder_.CreateSub(quotient_, one_)) : quotient_;
    }
    llvm::Value* ceil_quotient() const {
        llvm::Value* agree =
            signed_ ? builder_.CreateNot(signs_differ()) : llvm::Constant::getAllOnesValue(by_zero_->getType());
        return adjust(quotient_, agree, builder_.CreateAdd(quotient_, one_));
    }
    llvm::Value* modulus() const {
        return signed_ ? adjust(rest_, signs_differ(), builder_.CreateAdd(rest_, b_)) : rest_;
    }

private:
    llvm::Value* divide(llvm::Value* divisor) const {
        const unsigned bits = type_->getScalarSizeInBits();
        if (!type_->isVectorTy() || bits > 32 || llvm::isa<llvm::Constant>(divisor)) {
            return signed_ ? builder_.CreateSDiv(a_, divisor) : builder_.CreateUDiv(a_, divisor);
        }
        llvm::Type* real = bits == 32 ? builder_.getDoubleTy() : builder_.getFloatTy();
        real = llvm::FixedVectorType::get(real, VectorOps::lanes(a_));
        if (!signed_) {
            llvm::Value* ratio =
                builder_.CreateFDiv(builder_.CreateUIToFP(a_, real), builder_.CreateUIToFP(divisor, real));
            return builder_.CreateFPToUI(ratio, type_);
        }
        llvm::Value* ratio = builder_.CreateFDiv(builder_.CreateSIToFP(a_, real), builder_.CreateSIToFP(divisor, real));
        return builder_.CreateFPToSI(ratio, type_);
    }

    llvm::Value* signs_differ() const { return builder_.CreateICmpSLT(builder_.CreateXor(rest_, b_), zero_); }

    /// `changed` where something is left over, the division was possible and the condition holds.
    llvm::Value* adjust(llvm::Value* value, llvm::Value* condition, llvm::Value* changed) const {
        llvm::Value* needed = builder_.CreateAnd(builder_.CreateICmpNE(rest_, zero_), condition);
        needed = builder_.CreateAnd(needed, builder_.CreateNot(by_zero_));
        return builder_.CreateSelect(needed, changed, value);
    }

    llvm::IRBuilder<>& builder_;
    bool signed_;
    llvm::Value *a_, *b_;
    llvm::Type* type_;
    llvm::Value *zero_, *one_, *by_zero_, *quotient_, *rest_;
};

llvm::Value* shift_count(llvm::IRBuilder<>& builder, llvm::Value* count) {
    return builder.CreateAnd(count,
                             llvm::ConstantInt::get(count->getType(), count->getType()->getScalarSizeInBits() - 1));
}

llvm::Value* leading_zeros(llvm::IRBuilder<>& builder, llvm::Value* value) {
    return builder.CreateIntrinsic(llvm::Intrinsic::ctlz, {value->getType()}, {value, builder.getFalse()});
}

llvm::Value* highest_bit(llvm::IRBuilder<>& builder, bool is_signed, llvm::Value* value) {
    llvm::Type* type = value->getType();
    llvm::Value* zero = llvm::Constant::getNullValue(type);
    llvm::Value* top = llvm::ConstantInt::get(type, type->getScalarSizeInBits() - 1);
    llvm::Value* none = is_signed ? builder.CreateICmpSLE(value, zero) : builder.CreateICmpEQ(value, zero);
    return builder.CreateSelect(none, llvm::Constant::getAllOnesValue(type),
                                builder.CreateSub(top, leading_zeros(builder, value)));
}

/// Sign bit of f16 and bf16 patterns.
llvm::Value* sign_bit(llvm::Value* pattern) {
    return llvm::ConstantInt::get(pattern->getType(), 0x8000);
}

bool is_comparison(OpKind kind) {
    return ir::info(kind).result == ir::ResultRule::Flag;
}

}  // namespace

llvm::Value* VectorOps::elementwise(OpKind kind, ScalarType element, std::span<llvm::Value* const> operands) const {
    if (kind == OpKind::Select) return builder_.CreateSelect(operands[0], operands[1], operands[2]);
    switch (ir::scalar_class(element)) {
        case ir::ScalarClass::Bool:
            return integer_elementwise(kind, false, operands);
        case ir::ScalarClass::Signed:
            return integer_elementwise(kind, true, operands);
        case ir::ScalarClass::Unsigned:
            return integer_elementwise(kind, false, operands);
        case ir::ScalarClass::Storage:
            refuse(kind, "has no meaning for " + std::string(ir::name(element)));
        case ir::ScalarClass::Float:
            break;
    }
    if (element == ScalarType::F32 || element == ScalarType::F64) return float_elementwise(kind, operands);
    if (kind == OpKind::Neg) return builder_.CreateXor(operands[0], sign_bit(operands[0]));
    if (kind == OpKind::Abs) return builder_.CreateAnd(operands[0], builder_.CreateNot(sign_bit(operands[0])));
    if (kind == OpKind::Fma) return narrow_fma(element, operands[0], operands[1], operands[2]);
    llvm::SmallVector<llvm::Value*, 3> decoded;
    for (llvm::Value* operand : operands) decoded.push_back(decode(operand, element));
    llvm::Value* result = float_elementwise(kind, {decoded.data(), decoded.size()});
    return is_comparison(kind) ? result : encode(result, element);
}

llvm::Value* VectorOps::float_elementwise(OpKind kind, std::span<llvm::Value* const> operands) const {
    llvm::Value* a = operands[0];
    llvm::Value* b = operands.size() > 1 ? operands[1] : nullptr;
    const auto unary = [&](llvm::Intrinsic::ID id) { return builder_.CreateUnaryIntrinsic(id, a); };
    switch (kind) {
        case OpKind::Add:
            return builder_.CreateFAdd(a, b);
        case OpKind::Sub:
            return builder_.CreateFSub(a, b);
        case OpKind::Mul:
            return builder_.CreateFMul(a, b);
        case OpKind::Div:
            return builder_.CreateFDiv(a, b);
        case OpKind::Neg:
            return builder_.CreateFNeg(a);
        case OpKind::Equal:
            return builder_.CreateFCmpOEQ(a, b);
        case OpKind::NotEqual:
            return builder_.CreateFCmpUNE(a, b);
        case OpKind::Less:
            return builder_.CreateFCmpOLT(a, b);
        case OpKind::LessEqual:
            return builder_.CreateFCmpOLE(a, b);
        case OpKind::Greater:
            return builder_.CreateFCmpOGT(a, b);
        case OpKind::GreaterEqual:
            return builder_.CreateFCmpOGE(a, b);
        case OpKind::Abs:
            return unary(llvm::Intrinsic::fabs);
        case OpKind::Min:
            return prefer_number(builder_, true, a, b);
        case OpKind::Max:
            return prefer_number(builder_, false, a, b);
        case OpKind::Minimum:
            return prefer_nan(builder_, true, a, b);
        case OpKind::Maximum:
            return prefer_nan(builder_, false, a, b);
        case OpKind::Fma:
            return fma(a, b, operands[2]);
        case OpKind::Sqrt:
            return unary(llvm::Intrinsic::sqrt);
        case OpKind::Exp:
        case OpKind::Exp2:
        case OpKind::Log:
        case OpKind::Log2:
        case OpKind::Rsqrt:
        case OpKind::Sin:
        case OpKind::Cos:
        case OpKind::Tanh:
        case OpKind::Erf:
        case OpKind::Pow:
            return math_function(*this, kind, operands);
        case OpKind::Floor:
            return unary(llvm::Intrinsic::floor);
        case OpKind::Ceil:
            return unary(llvm::Intrinsic::ceil);
        case OpKind::Trunc:
            return unary(llvm::Intrinsic::trunc);
        case OpKind::Round:
            return unary(llvm::Intrinsic::roundeven);
        case OpKind::IsNan:
            return builder_.CreateFCmpUNO(a, a);
        case OpKind::IsInf:
            return builder_.CreateFCmpOEQ(unary(llvm::Intrinsic::fabs), llvm::ConstantFP::getInfinity(a->getType()));
        case OpKind::Rem:
        case OpKind::And:
        case OpKind::Or:
        case OpKind::Xor:
        case OpKind::Not:
        case OpKind::Shl:
        case OpKind::Shr:
        case OpKind::LogicalAnd:
        case OpKind::LogicalOr:
        case OpKind::LogicalNot:
        case OpKind::CeilDiv:
        case OpKind::FloorDiv:
        case OpKind::Mod:
        case OpKind::Ilog2:
        case OpKind::Popcount:
        case OpKind::Clz:
            refuse(kind, "takes no reals");
        case OpKind::Select:
        case OpKind::Convert:
        case OpKind::Saturate:
        case OpKind::Bitcast:
#include "ir/structural_cases.def"
            refuse(kind, "is no operation on elements of one type");
    }
    refuse(kind, "is unknown");
}

llvm::Value* VectorOps::integer_elementwise(OpKind kind, bool is_signed, std::span<llvm::Value* const> operands) const {
    llvm::Value* a = operands[0];
    llvm::Value* b = operands.size() > 1 ? operands[1] : nullptr;
    const auto lesser = [&](llvm::Value* x, llvm::Value* y) {
        return is_signed ? builder_.CreateICmpSLT(x, y) : builder_.CreateICmpULT(x, y);
    };
    const auto no_lane = [&] { return llvm::Constant::getNullValue(register_type(ScalarType::Bool, lanes(a))); };
    switch (kind) {
        case OpKind::Add:
            return builder_.CreateAdd(a, b);
        case OpKind::Sub:
            return builder_.CreateSub(a, b);
        case OpKind::Mul:
            return builder_.CreateMul(a, b);
        case OpKind::Div:
            return Division(builder_, is_signed, a, b).quotient();
        case OpKind::Rem:
            return Division(builder_, is_signed, a, b).rest();
        case OpKind::Neg:
            return builder_.CreateNeg(a);
        case OpKind::And:
        case OpKind::LogicalAnd:
            return builder_.CreateAnd(a, b);
        case OpKind::Or:
        case OpKind::LogicalOr:
            return builder_.CreateOr(a, b);
        case OpKind::Xor:
            return builder_.CreateXor(a, b);
        case OpKind::Not:
        case OpKind::LogicalNot:
            return builder_.CreateNot(a);
        case OpKind::Shl:
            return builder_.CreateShl(a, shift_count(builder_, b));
        case OpKind::Shr:
            return is_signed ? builder_.CreateAShr(a, shift_count(builder_, b))
                             : builder_.CreateLShr(a, shift_count(builder_, b));
        case OpKind::Equal:
            return builder_.CreateICmpEQ(a, b);
        case OpKind::NotEqual:
            return builder_.CreateICmpNE(a, b);
        case OpKind::Less:
            return lesser(a, b);
        case OpKind::LessEqual:
            return builder_.CreateNot(lesser(b, a));
        case OpKind::Greater:
            return lesser(b, a);
        case OpKind::GreaterEqual:
            return builder_.CreateNot(lesser(a, b));
        case OpKind::Abs:
            return is_signed ? builder_.CreateIntrinsic(llvm::Intrinsic::abs, {a->getType()}, {a, builder_.getFalse()})
                             : a;
        case OpKind::Min:
            return builder_.CreateSelect(lesser(a, b), a, b);
        case OpKind::Max:
            return builder_.CreateSelect(lesser(a, b), b, a);
        case OpKind::IsNan:
        case OpKind::IsInf:
            return no_lane();
        case OpKind::CeilDiv:
            return Division(builder_, is_signed, a, b).ceil_quotient();
        case OpKind::FloorDiv:
            return Division(builder_, is_signed, a, b).floor_quotient();
        case OpKind::Mod:
            return Division(builder_, is_signed, a, b).modulus();
        case OpKind::Ilog2:
            return highest_bit(builder_, is_signed, a);
        case OpKind::Popcount:
            return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, a);
        case OpKind::Clz:
            return leading_zeros(builder_, a);
        case OpKind::Minimum:
        case OpKind::Maximum:
        case OpKind::Fma:
        case OpKind::Sqrt:
        case OpKind::Exp:
        case OpKind::Exp2:
        case OpKind::Log:
        case OpKind::Log2:
        case OpKind::Rsqrt:
        case OpKind::Sin:
        case OpKind::Cos:
        case OpKind::Tanh:
        case OpKind::Erf:
        case OpKind::Pow:
        case OpKind::Floor:
        case OpKind::Ceil:
        case OpKind::Trunc:
        case OpKind::Round:
            refuse(kind, "takes no integers");
        case OpKind::Select:
        case OpKind::Convert:
        case OpKind::Saturate:
        case OpKind::Bitcast:
#include "ir/structural_cases.def"
            refuse(kind, "is no operation on elements of one type");
    }
    refuse(kind, "is unknown");
}

}  // namespace kiln::codegen::cpu
