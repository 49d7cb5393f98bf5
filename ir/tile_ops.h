// What the interpreter does with whole tiles. A tile is a dense, row-major buffer of patterns, each in the width of its
// type (4-bit types and bool in a byte). A scalar is a tile of one element.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ir/element_function.h"
#include "ir/kernel.h"

namespace kiln::ir {

/// Bytes of an element in a tile.
inline std::size_t tile_element_bytes(ScalarType type) {
    return bit_width(type) < 8 ? 1 : bit_width(type) / 8u;
}

/// The k-th pattern of a tile.
std::uint64_t tile_pattern(ScalarType type, const std::byte* tile, std::size_t k);

/// Writes the k-th pattern of a tile.
void set_tile_pattern(ScalarType type, std::byte* tile, std::size_t k, std::uint64_t bits);

/// The lines of a tile along an axis. Example: f32[2, 3, 4] along axis 1 has 8 lines of length 3; line 5 is [1, :, 1].
struct Line {
    Line(const Shape& shape, std::size_t axis);
    std::size_t count() const { return outer * inner; }
    /// Where the k-th element of a line stands in the tile.
    std::size_t element(std::size_t line, std::size_t k) const {
        return (line / inner * length + k) * inner + line % inner;
    }
    std::size_t outer = 1;  ///< elements before the axis, along it, behind it
    std::size_t length = 1;
    std::size_t inner = 1;
};

/// An elementwise function over `count` elements. Operands an op lacks repeat operand 0.
struct ElementwiseOp {
    ElementFunction function = nullptr;
    std::size_t result_bytes = 0;
    std::size_t first_bytes = 0;  ///< of operand 0
    std::size_t other_bytes = 0;  ///< of operands 1 and 2
};
void apply_elementwise(const ElementwiseOp& op, std::byte* result, const std::array<const std::byte*, 3>& operands,
                       std::size_t count);

/// Convert, Saturate or Bitcast of `count` elements.
void convert_tile(OpKind kind, ScalarType from, ScalarType to, const std::byte* operand, std::byte* result,
                  std::size_t count);

/// result[i, j, ...] = operand[start + i * strides[0] + j * strides[1] + ...], in elements.
void copy_strided(std::size_t element_bytes, const std::byte* operand, std::int64_t start, const Shape& strides,
                  std::byte* result, const Shape& shape);

/// Strides of a dense tile; with `broadcast`, 0 along axes of length 1.
Shape dense_strides(const Shape& shape, bool broadcast = false);

/// Combines a tile of the given shape along an axis, in index order.
void reduce_tile(const ReduceAttribute& reduce, ScalarType element, const std::byte* operand, const Shape& shape,
                 std::byte* result);

/// Sorts a tile along an axis; `indices` (int) gets the place of each element along it.
void sort_tile(const SortAttribute& sort, ScalarType element, const std::byte* operand, const Shape& shape,
               std::byte* result, std::byte* indices);

/// result = c + a @ b, where c and result have the accumulation type of the elements. Starts from c and adds products
/// in order of the contraction index; each product is rounded before it is added, but with DotPrecision::Exact.
struct DotOp {
    ScalarType a = ScalarType::F32;
    ScalarType b = ScalarType::F32;
    ScalarType accumulator = ScalarType::F32;
    std::size_t rows = 0;     ///< M
    std::size_t columns = 0;  ///< N
    std::size_t depth = 0;    ///< K
    bool exact_products = false;
};
void dot_tiles(const DotOp& op, const std::byte* a, const std::byte* b, const std::byte* c, std::byte* result);

}  // namespace kiln::ir
