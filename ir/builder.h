// The only way to create ops. A builder appends to one block of a kernel; `span` is given to every op it makes.
#pragma once

#include "ir/kernel.h"

namespace kiln::ir {

class Builder {
public:
    Builder(Kernel& kernel, BlockId block) : kernel_(&kernel), block_(block) {}

    Kernel& kernel() const { return *kernel_; }
    BlockId block() const { return block_; }
    void set_block(BlockId block) { block_ = block; }
    void set_span(support::Span span) { span_ = span; }
    support::Span span() const { return span_; }

    ValueId constant(Scalar value);
    ValueId constant_int(std::int64_t value) { return constant(Scalar::int64(value)); }
    /// A constant of any shape: the scalar, broadcast if the type is a tile.
    ValueId splat(Scalar value, const Type& type);
    ValueId iota(std::int64_t length);
    /// To `shape` from a scalar or from a tile of equal rank; the operand itself if it has that shape.
    ValueId broadcast(ValueId operand, const Shape& shape);
    /// The operand itself if it has that shape.
    ValueId reshape(ValueId operand, const Shape& shape);
    ValueId permute(ValueId operand, const Shape& axes);
    ValueId extract(ValueId operand, const Shape& starts, const Shape& lengths);

    /// An elementwise op whose result follows from its row (First, Second, Flag). Operands have one shape.
    ValueId elementwise(OpKind kind, std::vector<ValueId> operands);
    /// Convert, Saturate or Bitcast to another element type.
    ValueId convert(OpKind kind, ValueId operand, ScalarType element);

    ValueId reduce(ReduceKind kind, ValueId operand, std::uint32_t axis);
    ValueId dot(ValueId a, ValueId b, ValueId accumulator, DotPrecision precision);

    ValueId join(std::vector<ValueId> operands, std::uint32_t axis);
    /// Fold or Scan with its block: arguments are the combined elements so far, then the next ones. The caller fills
    /// the block and ends it with `yield`.
    OpId combine_elements(OpKind kind, std::vector<ValueId> operands, std::uint32_t axis);
    /// The sorted tile and where its elements stood.
    OpId sort(ValueId operand, SortAttribute attribute);
    ValueId bincount(ValueId operand, std::int64_t bins, std::optional<ValueId> mask);

    ValueId view(ValueId tensor, AccessAttribute access, std::vector<ValueId> axis_operands);
    ValueId size(ValueId tensor, std::uint32_t axis);
    ValueId load(ValueId tensor, AccessAttribute access, std::vector<ValueId> axis_operands, ValueId fill,
                 std::optional<ValueId> mask);
    void store(ValueId tensor, AccessAttribute access, std::vector<ValueId> axis_operands, ValueId value,
               std::optional<ValueId> mask);

    /// `values`: what the kind takes, in the order of AtomicAttribute.
    ValueId atomic(ValueId tensor, AtomicAttribute attribute, std::vector<ValueId> axis_operands,
                   std::vector<ValueId> values, ValueId fill, std::optional<ValueId> mask);

    /// A loop with its block: arguments are the index (i64) and the carried values. The caller fills the block and ends
    /// it with `yield`.
    OpId for_loop(ValueId lower, ValueId upper, ValueId step, std::vector<ValueId> initial);
    /// Two blocks, both with the carried values as arguments: the first yields the condition followed by the values the
    /// second receives; the second yields the next values. Results are the values yielded with a false condition.
    OpId while_loop(std::vector<ValueId> initial);
    OpId if_else(ValueId condition, const std::vector<Type>& results);
    void yield(std::vector<ValueId> values);

    void print(std::string message, std::vector<ValueId> arguments);
    void check(ValueId condition, std::string message, std::vector<ValueId> arguments);

    ValueId units();
    void require(ValueId condition, std::string message, std::vector<ValueId> arguments);

    /// Appends an op with stated result types. For code that rebuilds ops; the functions above are the usual way.
    OpId append(OpKind kind, std::vector<ValueId> operands, const std::vector<Type>& results, Attribute attribute = {});

private:
    ValueId one(OpKind kind, std::vector<ValueId> operands, const Type& result, Attribute attribute = {});

    Kernel* kernel_;
    BlockId block_;
    support::Span span_;
};

/// The shape that a load with this access reads; `gather` is the gather tiles' shape (empty if there are none).
Shape access_shape(const AccessAttribute& access, const Shape& gather);
/// The type of a view of a tensor of type `tensor`.
Type view_type(const Type& tensor, const AccessAttribute& access);
/// Number of axis operands an access takes.
std::size_t axis_operand_count(const AccessAttribute& access);
/// The type in which dot of these element types accumulates; none if dot does not take them.
std::optional<ScalarType> dot_accumulator(ScalarType a, ScalarType b);

/// Whether an atomic of this kind takes elements of the type, and which types it takes, for messages.
bool atomic_updates(AtomicKind kind, ScalarType element);
std::string_view atomic_types(AtomicKind kind);

}  // namespace kiln::ir
