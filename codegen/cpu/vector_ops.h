// Element operations on LLVM values, with the exact meaning of ir/semantics.h.
//
// A value of n elements is a fixed LLVM vector of n lanes; of one element, a plain scalar. Its lanes have the *register
// form* of the element type:
//
//   bool                      i1                         (memory: i8; non-zero reads as true, true writes 1)
//   i8 ... i64, u8 ... u64    i8 ... i64
//   f16, bf16                 i16, the bit pattern; arithmetic decodes to f32, computes, and rounds once. A sum that is
//                             to be carried in f32 is first converted: convert(OpKind::Convert, v, F16, F32)
//   f32, f64                  float, double
//   f8e4m3, f8e5m2, f8e8m0    i8, the code
//   i4, u4, f4e2m1            i8, the code in the low four bits
//
// No instruction ever carries a fast-math flag. Nothing here traps, and nothing is poison for any operand.
#pragma once

#include <cstdint>
#include <span>

#include "codegen/cpu/target.h"
#include "ir/kernel.h"
#include "ir/op.h"
#include "ir/scalar.h"
#include "ir/type.h"

// LLVM's own headers are large, so that only what stands in signatures is named here.
#include <llvm/IR/IRBuilder.h>

namespace kiln::codegen::cpu {

/// Emits at the insertion point of `builder`, for the module that point lies in. Some operations add blocks or internal
/// functions: read builder.GetInsertBlock() anew afterwards. The builder must carry no fast-math flags.
class VectorOps {
public:
    VectorOps(llvm::IRBuilder<>& builder, const Target& target, ir::Freedoms freedoms = {})
        : builder_(builder), target_(target), freedoms_(freedoms) {}

    llvm::IRBuilder<>& builder() const { return builder_; }
    const Target& target() const { return target_; }
    const ir::Freedoms& freedoms() const { return freedoms_; }

    /// Lanes of a value: 1 for a scalar.
    static unsigned lanes(const llvm::Value* value);
    /// The number of elements of the type that fill the target's widest vector; for bool that of i8, for storage types
    /// of one code a byte.
    unsigned natural_lanes(ir::ScalarType element) const;
    /// The register form; lanes = 1 is the scalar.
    llvm::Type* register_type(ir::ScalarType element, unsigned lanes = 1) const;
    /// The form of one element in memory. Throws support::InternalError for types of four bits.
    llvm::Type* memory_type(ir::ScalarType element) const;

    llvm::Value* constant(ir::Scalar scalar, unsigned lanes = 1) const;
    /// A scalar in register form to all lanes (lanes = 1: itself).
    llvm::Value* splat(llvm::Value* scalar, unsigned lanes) const;
    /// 0 ... lanes - 1 in an integer type.
    llvm::Value* iota(unsigned lanes, ir::ScalarType element = ir::kInt) const;
    llvm::Value* i64(std::int64_t value) const;

    // Memory. `alignment` in bytes, 0: that of one element. Offsets and strides count elements of the type (64 bits).
    // A mask is i1 lanes; lanes where it is false touch no memory and read as `fill` (register form, same lanes; null:
    // all bits zero). Types of four bits throw support::InternalError.

    /// Address of the element at `offset` (i64).
    llvm::Value* element_address(ir::ScalarType element, llvm::Value* base, llvm::Value* offset) const;
    llvm::Value* load(ir::ScalarType element, llvm::Value* pointer, unsigned lanes, unsigned alignment = 0) const;
    llvm::Value* load_masked(ir::ScalarType element, llvm::Value* pointer, llvm::Value* mask,
                             llvm::Value* fill = nullptr, unsigned alignment = 0) const;
    void store(ir::ScalarType element, llvm::Value* value, llvm::Value* pointer, unsigned alignment = 0) const;
    void store_masked(ir::ScalarType element, llvm::Value* value, llvm::Value* pointer, llvm::Value* mask,
                      unsigned alignment = 0) const;
    /// Lane l from base[offsets[l]]; offsets are i64 lanes. A null mask is all true.
    llvm::Value* gather(ir::ScalarType element, llvm::Value* base, llvm::Value* offsets, llvm::Value* mask = nullptr,
                        llvm::Value* fill = nullptr) const;
    void scatter(ir::ScalarType element, llvm::Value* value, llvm::Value* base, llvm::Value* offsets,
                 llvm::Value* mask = nullptr) const;
    /// Lane l from pointer[l * stride].
    llvm::Value* load_strided(ir::ScalarType element, llvm::Value* pointer, llvm::Value* stride, unsigned lanes,
                              llvm::Value* mask = nullptr, llvm::Value* fill = nullptr) const;
    void store_strided(ir::ScalarType element, llvm::Value* value, llvm::Value* pointer, llvm::Value* stride,
                       llvm::Value* mask = nullptr) const;

    /// i1 lanes: lane l is l < count (count: i64 scalar, may be negative or large).
    llvm::Value* lanes_below(llvm::Value* count, unsigned lanes) const;

    /// An elementwise op other than Convert, Saturate and Bitcast. `element` is the type of the operands (of Select: of
    /// the two values). Comparisons, isnan and isinf give bool. A kind that is not elementwise throws InternalError.
    llvm::Value* elementwise(ir::OpKind kind, ir::ScalarType element, std::span<llvm::Value* const> operands) const;

    /// Convert, Saturate or Bitcast, for every pair the language has.
    llvm::Value* convert(ir::OpKind kind, llvm::Value* value, ir::ScalarType from, ir::ScalarType to) const;

    /// One step of a reduction. Sums of f16 and bf16 are carried in f32: convert first and pass F32.
    llvm::Value* combine(ir::ReduceKind kind, ir::ScalarType element, llvm::Value* a, llvm::Value* b) const;
    /// All lanes of a vector to a scalar, pairwise: lane l with lane l + n/2 and so on (any number of lanes).
    llvm::Value* reduce_lanes(ir::ReduceKind kind, ir::ScalarType element, llvm::Value* vector) const;

    /// f16, bf16 to f32, exactly; f32, f64 as they are.
    llvm::Value* decode(llvm::Value* value, ir::ScalarType element) const;
    /// Back to f16, bf16, rounded once to nearest even.
    llvm::Value* encode(llvm::Value* value, ir::ScalarType element) const;

    /// a * b + c of float or double lanes, rounded once, on every target.
    llvm::Value* fma(llvm::Value* a, llvm::Value* b, llvm::Value* c) const;
    /// a * b + c of float or double lanes, fused where the target is faster that way.
    llvm::Value* multiply_add(llvm::Value* a, llvm::Value* b, llvm::Value* c) const;

private:
    /// Float lanes of a double, rounded to odd: rounding those once more to f16 or less is as good as rounding once.
    llvm::Value* narrow_to_odd(llvm::Value* value) const;
    llvm::Value* narrow_fma(ir::ScalarType element, llvm::Value* a, llvm::Value* b, llvm::Value* c) const;

    llvm::Value* bitcast(llvm::Value* value, ir::ScalarType from, ir::ScalarType to) const;
    llvm::Value* convert_whole(ir::OpKind kind, llvm::Value* value, ir::ScalarType from, ir::ScalarType to) const;
    /// Of float or double lanes.
    llvm::Value* convert_real(ir::OpKind kind, llvm::Value* value, ir::ScalarType from, ir::ScalarType to) const;
    llvm::Value* real_to_whole(llvm::Value* value, ir::ScalarType to) const;
    /// Infinities become the largest number of that sign.
    llvm::Value* finite(llvm::Value* value) const;
    llvm::Value* finite_bf16(llvm::Value* code) const;

    llvm::Value* float_elementwise(ir::OpKind kind, std::span<llvm::Value* const> operands) const;
    llvm::Value* integer_elementwise(ir::OpKind kind, bool is_signed, std::span<llvm::Value* const> operands) const;

    llvm::IRBuilder<>& builder_;
    const Target& target_;
    ir::Freedoms freedoms_;
};

}  // namespace kiln::codegen::cpu
