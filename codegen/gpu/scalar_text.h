// Scalars in generated source: types, literals, and what every elementwise op and conversion is in C. The meaning is
// that of ir/semantics.h, to the bit but for the payload of NaNs and the transcendental functions, which stay within
// their bounds.
//
// Expressions call functions whose names begin with `kiln_` where C has none or leaves something open; `prelude` has
// the text of those that a program uses. Operands are names or parenthesised expressions, and may be repeated. Both
// dialects are compiled without contraction: with --fmad=false, and by a pragma in the prelude.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ir/kernel.h"

namespace kiln::codegen::gpu {

enum class Dialect : std::uint8_t { Cuda, Hip };

/// Type of a value in a register. bool and numbers of C are themselves; 16-bit floats and storage types are their
/// patterns
/// (`kiln_bf16`, `kiln_f8e4m3`), those of 4 bits in the low bits of a byte.
std::string_view c_type(ir::ScalarType type);

/// Type of an element in memory: for bool and 4-bit types (of which a byte holds two) unsigned char.
std::string_view memory_type(ir::ScalarType type);

/// A C expression of type c_type with exactly these bits.
std::string literal(ir::Scalar scalar);

/// An elementwise op other than Convert, Saturate and Bitcast. `element` is the type of operand 0, of Select that of
/// operand 1. With `flush` or `approximate` exp and exp2 of f32, f16 and bf16 are the hardware's.
std::string expression(ir::OpKind kind, ir::ScalarType element, std::span<const std::string> operands,
                       const ir::Freedoms& freedoms = {});

/// Convert, Saturate or Bitcast.
std::string conversion(ir::OpKind kind, ir::ScalarType from, ir::ScalarType to, const std::string& operand);

/// One step of a reduction over elements of type `carrier` (ir::reduce_carrier).
std::string combine(ir::ReduceKind kind, ir::ScalarType carrier, const std::string& accumulated,
                    const std::string& next);

/// A value of memory_type as one of c_type, and back; not for 4-bit types.
std::string from_memory(ir::ScalarType type, const std::string& value);
std::string to_memory(ir::ScalarType type, const std::string& value);

/// An element of a 4-bit type, given the tensor's first byte and the element's number. A store changes the byte that
/// the element shares with its neighbour, so that no other thread may store there at the time.
std::string load_4_bits(const std::string& bytes, const std::string& index);
std::string store_4_bits(const std::string& bytes, const std::string& index, const std::string& value);

/// The functions and types whose names (`kiln_...`) occur in a program, and those they use in turn, each before its
/// uses.
std::string prelude(std::string_view program, Dialect dialect);

}  // namespace kiln::codegen::gpu
