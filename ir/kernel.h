// The tile program: one specialised kernel, with no syntax and no target.
//
// SSA values in blocks; control flow is structured (for, while, if own blocks). All parts live in arenas of the Kernel
// and name each other by typed ids. A kernel has a *host* block, run once a launch, and *phases*, whose block is run
// once for each point of their grid. Values of the host block, the parameters and the sizes may be used in every phase:
// they are the launch values.
//
// Worked example: `kernel k(x: in f32[N], y: out f32[N]) grid i in 0 .. N by 4 { y[i :+ 4] = x[i :+ 4] * 2 }`
//
//   kernel @k(%x: in f32<?>, %y: out f32<?>) {
//     size %N = extent(%x, 0)
//     check extent(%y, 0) = %N
//     host {
//       %lo = constant 0 : i64
//       %step = constant 4 : i64
//     }
//     phase (%i in %lo .. %N by %step) {
//       %zero = constant 0 : f32
//       %tile = load %x[%i :+ 4] fill %zero : f32[4]
//       %two = constant 2 : f32
//       %twos = broadcast %two : f32[4]
//       %product = mul %tile, %twos : f32[4]
//       store %y[%i :+ 4], %product
//     }
//   }
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/configuration.h"
#include "ir/op.h"
#include "ir/scalar.h"
#include "ir/support/span.h"
#include "ir/type.h"

namespace kiln::ir {

/// An index into one arena; the tag keeps ids of different arenas apart.
template <class Tag>
struct Id {
    std::uint32_t index = std::numeric_limits<std::uint32_t>::max();

    bool valid() const { return index != std::numeric_limits<std::uint32_t>::max(); }
    friend bool operator==(Id, Id) = default;
    friend auto operator<=>(Id, Id) = default;
};
using ValueId = Id<struct ValueTag>;
using OpId = Id<struct OpTag>;
using BlockId = Id<struct BlockTag>;

/// How one axis of a tensor is named in a load, store or view.
enum class AxisKind : std::uint8_t {
    Index,   ///< one scalar operand; the axis is dropped
    Slice,   ///< load, store: one scalar operand, the start; `length` elements
    Gather,  ///< load, store: one integer tile operand; all gather axes of an op have tiles of one shape
    Range,   ///< view: two scalar operands, lo and hi; lo clamps to 0 ... n, then hi to lo ... n
    All,     ///< view: no operand; the whole axis
};
struct AxisAccess {
    AxisKind kind = AxisKind::Index;
    std::int64_t length = 0;  ///< Slice only
    friend bool operator==(const AxisAccess&, const AxisAccess&) = default;
};

/// Load, Store, View. One entry an axis of the tensor. Operands in order:
///   View:  tensor, axis operands...
///   Load:  tensor, axis operands..., fill (scalar of the element type) [, mask]
///   Store: tensor, axis operands..., value [, mask]
/// The shape of a load's result, of a store's value and of the mask: the Slice axes' lengths in order, with the gather
/// tiles' shape standing where the first Gather axis stands. No axis left: a scalar.
struct AccessAttribute {
    std::vector<AxisAccess> axes;
    bool masked = false;
    friend bool operator==(const AccessAttribute&, const AccessAttribute&) = default;
};

enum class ReduceKind : std::uint8_t { Sum, Min, Max, Minimum, Maximum, Any, All };
struct ReduceAttribute {
    ReduceKind kind = ReduceKind::Sum;
    std::uint32_t axis = 0;
    friend bool operator==(const ReduceAttribute&, const ReduceAttribute&) = default;
};

/// `precision =` of dot; section "Numbers" of the language says what each admits.
enum class DotPrecision : std::uint8_t { Default, Exact, Tf32, Tf32x3, Bf16x3, Fast };
struct DotAttribute {
    DotPrecision precision = DotPrecision::Default;
    friend bool operator==(const DotAttribute&, const DotAttribute&) = default;
};

/// Size, Join, Fold, Scan: the axis.
struct AxisAttribute {
    std::uint32_t axis = 0;
    friend bool operator==(const AxisAttribute&, const AxisAttribute&) = default;
};

/// Sort: equal elements keep their order, also if `descending`.
struct SortAttribute {
    std::uint32_t axis = 0;
    bool descending = false;
    friend bool operator==(const SortAttribute&, const SortAttribute&) = default;
};

/// What an atomic leaves in memory. Min and Max of floats are those of ir/semantics.h; Cas compares bits.
enum class AtomicKind : std::uint8_t { Add, Min, Max, And, Or, Xor, Exchange, Cas };
/// Operands in order: tensor, axis operands..., [the value that Cas expects,] value, fill [, mask].
struct AtomicAttribute {
    AtomicKind kind = AtomicKind::Add;
    bool publishes = false;  ///< acquire and release order; else relaxed
    AccessAttribute access;
    friend bool operator==(const AtomicAttribute&, const AtomicAttribute&) = default;
};

/// Permute: result axis i is operand axis axes[i]. Extract: the start along each axis.
struct AxesAttribute {
    Shape axes;
    friend bool operator==(const AxesAttribute&, const AxesAttribute&) = default;
};

/// Require, Assert, Print: `{}` in the message stand for the op's operands, without the condition.
struct MessageAttribute {
    std::string text;
    friend bool operator==(const MessageAttribute&, const MessageAttribute&) = default;
};

using Attribute = std::variant<std::monostate, Scalar /* Constant */, AccessAttribute, ReduceAttribute, DotAttribute,
                               AxisAttribute, AxesAttribute, MessageAttribute, SortAttribute, AtomicAttribute>;

struct Value {
    Type type;
    OpId definition;   ///< invalid for parameters, sizes and block arguments
    BlockId block;     ///< of a block argument; invalid otherwise
    std::string name;  ///< a hint for printing; need not be unique, may be empty
};

struct Op {
    OpKind kind = OpKind::Constant;
    support::Span span;
    BlockId parent;
    std::vector<ValueId> operands;
    std::vector<ValueId> results;
    std::vector<BlockId> blocks;
    Attribute attribute;

    ValueId result() const { return results.front(); }
};

/// A straight list of ops, the last of which is Yield, except in the host block and in phases, which have none.
struct Block {
    std::vector<ValueId> arguments;
    std::vector<OpId> ops;
    OpId parent;  ///< the op that owns it; invalid for the host block and phases
};

/// What the caller's arguments were proven to satisfy; part of the specialisation. Nothing here is needed to be right,
/// only to be fast.
struct TensorFacts {
    int unit_axis = -1;           ///< the axis whose stride is 1, or -1 if none is known
    std::uint32_t alignment = 1;  ///< bytes that divide the base address and every stride but the unit axis's
};

/// A parameter in the order of the declaration. Tensors and scalars are values; an optional tensor the caller left out
/// keeps its place with `present` false and may not be used.
struct Parameter {
    std::string name;
    ValueId value;
    bool present = true;
    support::Span span;
    TensorFacts facts;
};

/// A named run-time size. It is solved from a tensor's axis: extent = size * scale + offset, exactly, with size >= 0.
struct SizeBinding {
    std::string name;
    ValueId value;  ///< an i64 scalar
    std::uint32_t parameter = 0;
    std::uint32_t axis = 0;
    std::int64_t scale = 1;
    std::int64_t offset = 0;
    std::int64_t divisor = 1;  ///< proven to divide the size; part of the specialisation
};

/// An axis whose extent must equal a host value (a named size used again, a compile-time size, an expression).
struct ExtentCheck {
    std::uint32_t parameter = 0;
    std::uint32_t axis = 0;
    ValueId expected;  ///< a launch value of type i64
    std::string text;  ///< the expression as written, for messages: "K", "N * 4"
};

struct Scratch {
    std::string name;
    ValueId value;                 ///< an inout tensor
    std::vector<ValueId> extents;  ///< launch values, one an axis
    std::optional<ValueId> initial;
};

/// One axis of a grid: the offsets lower, lower + step, ... below upper. All are launch values of type i64.
struct GridAxis {
    std::string name;
    ValueId lower, upper, step;
};

/// `block` has one argument an axis, the program's offset along it.
struct Phase {
    std::vector<GridAxis> axes;
    BlockId block;
    support::Span span;
};

/// What `allow` admits, for the whole kernel.
struct Freedoms {
    bool flush = false, approximate = false, contract = false, reassociate = false;
    friend bool operator==(const Freedoms&, const Freedoms&) = default;
};

struct Kernel {
    std::string name;
    std::vector<Parameter> parameters;
    std::vector<SizeBinding> sizes;
    std::vector<ExtentCheck> checks;
    std::vector<Scratch> scratch;
    BlockId host;
    std::vector<Phase> phases;
    Freedoms freedoms;
    Schedule schedule;  ///< hints to the code generator of one target: they change speed alone
    /// Of the arguments, all strides and byte offsets are proven below 2^31, and no extent above 2^29.
    bool fits_32_bits = false;

    std::vector<Value> values;
    std::vector<Op> ops;
    std::vector<Block> blocks;

    Value& operator[](ValueId id) { return values[id.index]; }
    const Value& operator[](ValueId id) const { return values[id.index]; }
    Op& operator[](OpId id) { return ops[id.index]; }
    const Op& operator[](OpId id) const { return ops[id.index]; }
    Block& operator[](BlockId id) { return blocks[id.index]; }
    const Block& operator[](BlockId id) const { return blocks[id.index]; }

    const Type& type(ValueId id) const { return values[id.index].type; }
    /// The op that defines a value, or null for parameters, sizes and block arguments.
    const Op* definition(ValueId id) const {
        const OpId op = values[id.index].definition;
        return op.valid() ? &ops[op.index] : nullptr;
    }
    /// The constant a value is, if its op is Constant.
    std::optional<Scalar> constant(ValueId id) const;

    ValueId add_value(Type type, std::string name = {});
    BlockId add_block();
    ValueId add_argument(BlockId block, Type type, std::string name = {});
};

template <class T>
const T& attribute(const Op& op) {
    return std::get<T>(op.attribute);
}

/// The places that a View, Load, Store or Atomic names.
inline const AccessAttribute& access_of(const Op& op) {
    const auto* atomic = std::get_if<AtomicAttribute>(&op.attribute);
    return atomic != nullptr ? atomic->access : attribute<AccessAttribute>(op);
}

}  // namespace kiln::ir
