// The meaning of elementwise ops on bit patterns, for code that applies one op to many elements: the interpreter looks
// a function up once an op and then calls it for each element. ir/semantics.h wraps the same functions for scalars.
#pragma once

#include <cstdint>

#include "ir/kernel.h"

namespace kiln::ir {

/// Takes the patterns of up to three operands, in the form of Scalar::bits; operands an op lacks are ignored.
using ElementFunction = std::uint64_t (*)(std::uint64_t, std::uint64_t, std::uint64_t);

/// The function of an elementwise op other than Convert, Saturate and Bitcast. `element` is the type of operand 0, of
/// Select that of operand 1. Throws InternalError where the op does not take the type.
ElementFunction element_function(OpKind kind, ScalarType element);

/// One step of a reduction over elements of type `carrier`.
ElementFunction combine_function(ReduceKind kind, ScalarType carrier);

/// The type in which a reduction of elements of a type is carried: f32 for sums of f16 and bf16, else the type itself.
ScalarType reduce_carrier(ReduceKind kind, ScalarType element);

/// Convert, Saturate or Bitcast of one pattern.
std::uint64_t convert_bits(OpKind kind, std::uint64_t bits, ScalarType from, ScalarType to);

/// The value of a pattern of bool, an integer type, i4 or u4, sign-extended; u64 above 2^63 wraps to negative.
std::int64_t integer_value(ScalarType type, std::uint64_t bits);

}  // namespace kiln::ir
