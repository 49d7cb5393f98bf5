#include "ir/tile_ops.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "ir/small_float.h"
#include "ir/support/internal_error.h"

namespace kiln::ir {

namespace {

/// Calls `use` with a zero of the unsigned type of that many bytes.
template <class Use>
void with_pattern(std::size_t bytes, Use use) {
    switch (bytes) {
        case 1:
            return use(std::uint8_t{0});
        case 2:
            return use(std::uint16_t{0});
        case 4:
            return use(std::uint32_t{0});
        default:
            return use(std::uint64_t{0});
    }
}

template <class T>
T* as(std::byte* tile) {
    return reinterpret_cast<T*>(tile);
}
template <class T>
const T* as(const std::byte* tile) {
    return reinterpret_cast<const T*>(tile);
}

template <class Result, class First, class Other>
void apply_typed(ElementFunction function, std::byte* result, const std::array<const std::byte*, 3>& operands,
                 std::size_t count) {
    auto* out = as<Result>(result);
    const auto* a = as<First>(operands[0]);
    const auto* b = as<Other>(operands[1]);
    const auto* c = as<Other>(operands[2]);
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<Result>(function(a[i], b[i], c[i]));
}

template <class Pattern>
void copy_strided_typed(const Pattern* operand, std::int64_t start, const Shape& strides, Pattern* result,
                        const Shape& shape) {
    const std::size_t outer = shape.rank() - 1;
    const std::int64_t inner_stride = strides[outer];
    std::array<std::int64_t, kMaxRank> counter{};
    std::int64_t offset = start;
    while (true) {
        for (std::int64_t i = 0; i < shape[outer]; ++i) *result++ = operand[offset + i * inner_stride];
        std::size_t axis = outer;
        while (axis > 0) {
            --axis;
            offset += strides[axis];
            if (++counter[axis] < shape[axis]) break;
            offset -= strides[axis] * shape[axis];
            counter[axis] = 0;
            if (axis == 0) return;
        }
        if (outer == 0) return;
    }
}

template <class T>
void add_products(T* out, T factor, const T* row, std::size_t count) {
    for (std::size_t j = 0; j < count; ++j) {
        const T product = factor * row[j];  // a statement of its own, so that no compiler contracts it
        out[j] += product;
    }
}

template <std::floating_point T>
void add_exact_products(T* out, T factor, const T* row, std::size_t count) {
    for (std::size_t j = 0; j < count; ++j) out[j] = std::fma(factor, row[j], out[j]);
}

template <class T>
T operand_value(ScalarType type, std::uint64_t bits) {
    if constexpr (std::floating_point<T>) {
        return static_cast<T>(decode_real(type, bits));
    } else {
        return static_cast<T>(integer_value(type, bits));
    }
}

template <class T>
std::vector<T> operand_values(ScalarType type, const std::byte* tile, std::size_t count) {
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = operand_value<T>(type, tile_pattern(type, tile, i));
    return values;
}

template <class T>
void dot_typed(const DotOp& op, const std::byte* a_tile, const std::byte* b_tile, const std::byte* c_tile,
               std::byte* result) {
    std::vector<T> sums(op.rows * op.columns);
    std::memcpy(sums.data(), c_tile, sums.size() * sizeof(T));
    const std::vector<T> a = operand_values<T>(op.a, a_tile, op.rows * op.depth);
    const std::vector<T> b = operand_values<T>(op.b, b_tile, op.depth * op.columns);
    for (std::size_t i = 0; i < op.rows; ++i) {
        T* row = sums.data() + i * op.columns;
        for (std::size_t k = 0; k < op.depth; ++k) {
            const T factor = a[i * op.depth + k];
            const T* other = b.data() + k * op.columns;
            if constexpr (std::floating_point<T>) {
                if (op.exact_products) {
                    add_exact_products(row, factor, other, op.columns);
                    continue;
                }
            }
            add_products(row, factor, other, op.columns);
        }
    }
    if constexpr (std::floating_point<T>) {
        for (T& sum : sums) {
            if (sum != sum) sum = std::numeric_limits<T>::quiet_NaN();
        }
    }
    std::memcpy(result, sums.data(), sums.size() * sizeof(T));
}

}  // namespace

std::uint64_t tile_pattern(ScalarType type, const std::byte* tile, std::size_t k) {
    const std::size_t bytes = tile_element_bytes(type);
    std::uint64_t pattern = 0;
    std::memcpy(&pattern, tile + k * bytes, bytes);
    return pattern;
}

void apply_elementwise(const ElementwiseOp& op, std::byte* result, const std::array<const std::byte*, 3>& operands,
                       std::size_t count) {
    if (op.first_bytes != op.other_bytes) {  // select: its first operand is bool
        return with_pattern(op.other_bytes, [&]<class Pattern>(Pattern) {
            apply_typed<Pattern, std::uint8_t, Pattern>(op.function, result, operands, count);
        });
    }
    with_pattern(op.first_bytes, [&]<class Pattern>(Pattern) {
        if (op.result_bytes == sizeof(Pattern)) {
            apply_typed<Pattern, Pattern, Pattern>(op.function, result, operands, count);
        } else {
            apply_typed<std::uint8_t, Pattern, Pattern>(op.function, result, operands, count);
        }
    });
}

void convert_tile(OpKind kind, ScalarType from, ScalarType to, const std::byte* operand, std::byte* result,
                  std::size_t count) {
    with_pattern(tile_element_bytes(from), [&]<class From>(From) {
        with_pattern(tile_element_bytes(to), [&]<class To>(To) {
            const auto* in = as<From>(operand);
            auto* out = as<To>(result);
            for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<To>(convert_bits(kind, in[i], from, to));
        });
    });
}

Shape dense_strides(const Shape& shape, bool broadcast) {
    Shape strides = shape;
    std::int64_t stride = 1;
    for (std::size_t axis = shape.rank(); axis-- > 0;) {
        strides[axis] = broadcast && shape[axis] == 1 ? 0 : stride;
        stride *= shape[axis];
    }
    return strides;
}

void copy_strided(std::size_t element_bytes, const std::byte* operand, std::int64_t start, const Shape& strides,
                  std::byte* result, const Shape& shape) {
    with_pattern(element_bytes, [&]<class Pattern>(Pattern) {
        copy_strided_typed(as<Pattern>(operand), start, strides, as<Pattern>(result), shape);
    });
}

void reduce_tile(const ReduceAttribute& reduce, ScalarType element, const std::byte* operand, const Shape& shape,
                 std::byte* result) {
    const ScalarType carrier = reduce_carrier(reduce.kind, element);
    const ElementFunction step = combine_function(reduce.kind, carrier);
    std::size_t outer = 1;
    std::size_t inner = 1;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        if (axis < reduce.axis) outer *= static_cast<std::size_t>(shape[axis]);
        if (axis > reduce.axis) inner *= static_cast<std::size_t>(shape[axis]);
    }
    const auto length = static_cast<std::size_t>(shape[reduce.axis]);
    with_pattern(tile_element_bytes(element), [&]<class Pattern>(Pattern) {
        const auto* in = as<Pattern>(operand);
        auto* out = as<Pattern>(result);
        for (std::size_t o = 0; o < outer; ++o) {
            for (std::size_t i = 0; i < inner; ++i) {
                const Pattern* column = in + o * length * inner + i;
                std::uint64_t sum = convert_bits(OpKind::Convert, column[0], element, carrier);
                for (std::size_t k = 1; k < length; ++k) {
                    sum = step(sum, convert_bits(OpKind::Convert, column[k * inner], element, carrier), 0);
                }
                *out++ = static_cast<Pattern>(convert_bits(OpKind::Convert, sum, carrier, element));
            }
        }
    });
}

Line::Line(const Shape& shape, std::size_t axis) : length(static_cast<std::size_t>(shape[axis])) {
    for (std::size_t i = 0; i < shape.rank(); ++i) {
        if (i < axis) outer *= static_cast<std::size_t>(shape[i]);
        if (i > axis) inner *= static_cast<std::size_t>(shape[i]);
    }
}

void set_tile_pattern(ScalarType type, std::byte* tile, std::size_t k, std::uint64_t bits) {
    const std::size_t bytes = tile_element_bytes(type);
    std::memcpy(tile + k * bytes, &bits, bytes);
}

void sort_tile(const SortAttribute& sort, ScalarType element, const std::byte* operand, const Shape& shape,
               std::byte* result, std::byte* indices) {
    const ElementFunction less = element_function(OpKind::Less, element);
    const ElementFunction is_nan = element_function(OpKind::IsNan, element);
    const auto before = [&](std::uint64_t a, std::uint64_t b) {
        return less(a, b, 0) != 0 || (is_nan(a, 0, 0) == 0 && is_nan(b, 0, 0) != 0);
    };
    const Line line(shape, sort.axis);
    std::vector<std::uint64_t> values(line.length);
    std::vector<std::size_t> order(line.length);
    for (std::size_t at = 0; at < line.count(); ++at) {
        for (std::size_t k = 0; k < line.length; ++k) values[k] = tile_pattern(element, operand, line.element(at, k));
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return sort.descending ? before(values[b], values[a]) : before(values[a], values[b]);
        });
        for (std::size_t k = 0; k < line.length; ++k) {
            set_tile_pattern(element, result, line.element(at, k), values[order[k]]);
            set_tile_pattern(kInt, indices, line.element(at, k), order[k]);
        }
    }
}

void dot_tiles(const DotOp& op, const std::byte* a, const std::byte* b, const std::byte* c, std::byte* result) {
    if (op.accumulator == ScalarType::F32) return dot_typed<float>(op, a, b, c, result);
    if (op.accumulator == ScalarType::F64) return dot_typed<double>(op, a, b, c, result);
    if (op.accumulator == ScalarType::I32) return dot_typed<std::uint32_t>(op, a, b, c, result);
    throw support::InternalError("ir::interpret", "`dot` accumulates in " + std::string(name(op.accumulator)));
}

}  // namespace kiln::ir
