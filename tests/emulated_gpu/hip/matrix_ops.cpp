// MFMA: products of matrices spread over a wave's lanes (CDNA3 ISA, "Matrix Arithmetic Instructions"; where elements
// sit is what AMD's matrix instruction calculator tells).

#include <algorithm>
#include <cmath>

#include "tests/emulated_gpu/hip/decode.h"
#include "tests/emulated_gpu/hip/execution.h"
#include "tests/emulated_gpu/hip/fp8.h"
#include "tests/emulated_gpu/hip/lane_math.h"

namespace emulated_gpu::hip {
namespace {

enum class Element : uint8_t { F16, Bf16, F32, Xf32, F64, I8, Fp8, Bf8 };

struct MatrixShape {
    const char* name;
    Element a;
    Element b;
    uint32_t rows;
    uint32_t columns;
    uint32_t depth;
    uint32_t blocks;
};

// In the order of the CDNA2 ISA, then what CDNA3 and CDNA4 add; behind `|` the name of CDNA3 where it differs.
constexpr MatrixShape kShapes[] = {
    {"v_mfma_f32_32x32x1f32|v_mfma_f32_32x32x1_2b_f32", Element::F32, Element::F32, 32, 32, 1, 2},
    {"v_mfma_f32_16x16x1f32|v_mfma_f32_16x16x1_4b_f32", Element::F32, Element::F32, 16, 16, 1, 4},
    {"v_mfma_f32_4x4x1f32|v_mfma_f32_4x4x1_16b_f32", Element::F32, Element::F32, 4, 4, 1, 16},
    {"v_mfma_f32_32x32x2f32|v_mfma_f32_32x32x2_f32", Element::F32, Element::F32, 32, 32, 2, 1},
    {"v_mfma_f32_16x16x4f32|v_mfma_f32_16x16x4_f32", Element::F32, Element::F32, 16, 16, 4, 1},
    {"v_mfma_f32_32x32x4f16|v_mfma_f32_32x32x4_2b_f16", Element::F16, Element::F16, 32, 32, 4, 2},
    {"v_mfma_f32_16x16x4f16|v_mfma_f32_16x16x4_4b_f16", Element::F16, Element::F16, 16, 16, 4, 4},
    {"v_mfma_f32_4x4x4f16|v_mfma_f32_4x4x4_16b_f16", Element::F16, Element::F16, 4, 4, 4, 16},
    {"v_mfma_f32_32x32x8f16|v_mfma_f32_32x32x8_f16", Element::F16, Element::F16, 32, 32, 8, 1},
    {"v_mfma_f32_16x16x16f16|v_mfma_f32_16x16x16_f16", Element::F16, Element::F16, 16, 16, 16, 1},
    {"v_mfma_i32_32x32x4i8|v_mfma_i32_32x32x4_2b_i8", Element::I8, Element::I8, 32, 32, 4, 2},
    {"v_mfma_i32_16x16x4i8|v_mfma_i32_16x16x4_4b_i8", Element::I8, Element::I8, 16, 16, 4, 4},
    {"v_mfma_i32_4x4x4i8|v_mfma_i32_4x4x4_16b_i8", Element::I8, Element::I8, 4, 4, 4, 16},
    {"v_mfma_i32_32x32x8i8", Element::I8, Element::I8, 32, 32, 8, 1},
    {"v_mfma_i32_16x16x16i8", Element::I8, Element::I8, 16, 16, 16, 1},
    {"v_mfma_f32_32x32x2bf16", Element::Bf16, Element::Bf16, 32, 32, 2, 2},
    {"v_mfma_f32_16x16x2bf16", Element::Bf16, Element::Bf16, 16, 16, 2, 4},
    {"v_mfma_f32_4x4x2bf16", Element::Bf16, Element::Bf16, 4, 4, 2, 16},
    {"v_mfma_f32_32x32x4bf16", Element::Bf16, Element::Bf16, 32, 32, 4, 1},
    {"v_mfma_f32_16x16x8bf16", Element::Bf16, Element::Bf16, 16, 16, 8, 1},
    {"v_mfma_f32_32x32x4bf16_1k|v_mfma_f32_32x32x4_2b_bf16", Element::Bf16, Element::Bf16, 32, 32, 4, 2},
    {"v_mfma_f32_16x16x4bf16_1k|v_mfma_f32_16x16x4_4b_bf16", Element::Bf16, Element::Bf16, 16, 16, 4, 4},
    {"v_mfma_f32_4x4x4bf16_1k|v_mfma_f32_4x4x4_16b_bf16", Element::Bf16, Element::Bf16, 4, 4, 4, 16},
    {"v_mfma_f32_32x32x8bf16_1k|v_mfma_f32_32x32x8_bf16", Element::Bf16, Element::Bf16, 32, 32, 8, 1},
    {"v_mfma_f32_16x16x16bf16_1k|v_mfma_f32_16x16x16_bf16", Element::Bf16, Element::Bf16, 16, 16, 16, 1},
    {"v_mfma_f64_16x16x4f64|v_mfma_f64_16x16x4_f64", Element::F64, Element::F64, 16, 16, 4, 1},
    {"v_mfma_f64_4x4x4f64|v_mfma_f64_4x4x4_4b_f64", Element::F64, Element::F64, 4, 4, 4, 4},
    {"v_mfma_i32_32x32x16_i8", Element::I8, Element::I8, 32, 32, 16, 1},
    {"v_mfma_i32_16x16x32_i8", Element::I8, Element::I8, 16, 16, 32, 1},
    {"v_mfma_f32_16x16x8_xf32", Element::Xf32, Element::Xf32, 16, 16, 8, 1},
    {"v_mfma_f32_32x32x4_xf32", Element::Xf32, Element::Xf32, 32, 32, 4, 1},
    {"v_mfma_f32_16x16x32_bf8_bf8", Element::Bf8, Element::Bf8, 16, 16, 32, 1},
    {"v_mfma_f32_16x16x32_bf8_fp8", Element::Bf8, Element::Fp8, 16, 16, 32, 1},
    {"v_mfma_f32_16x16x32_fp8_bf8", Element::Fp8, Element::Bf8, 16, 16, 32, 1},
    {"v_mfma_f32_16x16x32_fp8_fp8", Element::Fp8, Element::Fp8, 16, 16, 32, 1},
    {"v_mfma_f32_32x32x16_bf8_bf8", Element::Bf8, Element::Bf8, 32, 32, 16, 1},
    {"v_mfma_f32_32x32x16_bf8_fp8", Element::Bf8, Element::Fp8, 32, 32, 16, 1},
    {"v_mfma_f32_32x32x16_fp8_bf8", Element::Fp8, Element::Bf8, 32, 32, 16, 1},
    {"v_mfma_f32_32x32x16_fp8_fp8", Element::Fp8, Element::Fp8, 32, 32, 16, 1},
    {"v_mfma_f32_16x16x32_f16", Element::F16, Element::F16, 16, 16, 32, 1},
    {"v_mfma_f32_32x32x16_f16", Element::F16, Element::F16, 32, 32, 16, 1},
    {"v_mfma_f32_16x16x32_bf16", Element::Bf16, Element::Bf16, 16, 16, 32, 1},
    {"v_mfma_f32_32x32x16_bf16", Element::Bf16, Element::Bf16, 32, 32, 16, 1},
    {"v_mfma_i32_16x16x64_i8", Element::I8, Element::I8, 16, 16, 64, 1},
    {"v_mfma_i32_32x32x32_i8", Element::I8, Element::I8, 32, 32, 32, 1},
};

// Op::detail: the shape's number, then the modifiers.
constexpr uint64_t kFlushes = uint64_t{1} << 24;
constexpr uint64_t kOcpFp8 = uint64_t{1} << 25;
uint32_t broadcast_size(const Op& op) {
    return (op.detail >> 8) & 7;
}
uint32_t broadcast_block(const Op& op) {
    return (op.detail >> 12) & 15;
}
uint32_t lane_pattern(const Op& op) {
    return (op.detail >> 16) & 7;
}

uint32_t element_bytes(Element element) {
    switch (element) {
        case Element::F64:
            return 8;
        case Element::F32:
        case Element::Xf32:
            return 4;
        case Element::F16:
        case Element::Bf16:
            return 2;
        case Element::I8:
        case Element::Fp8:
        case Element::Bf8:
            return 1;
    }
    return 4;
}

/// How a matrix with `edge` rows (A) or columns (B) lies in the lanes: lane = group * edge * blocks + block * edge +
/// at, and each lane holds `per_lane` elements along the depth, those of its group.
struct OperandLayout {
    uint32_t groups;
    uint32_t per_lane;
    uint32_t registers;
};
OperandLayout operand_layout(const MatrixShape& shape, uint32_t edge, Element element) {
    OperandLayout layout{};
    layout.groups = kLanes / (edge * shape.blocks);
    layout.per_lane = shape.depth / layout.groups;
    layout.registers = std::max(1U, layout.per_lane * element_bytes(element) / 4);
    return layout;
}

uint32_t result_registers(const MatrixShape& shape) {
    const uint32_t words = shape.a == Element::F64 ? 2 : 1;
    return shape.rows * shape.columns * shape.blocks / kLanes * words;
}

/// Row, column and block of element `part` (a register, or a pair of them for f64) of a lane's share of C or D.
struct Place {
    uint32_t row;
    uint32_t column;
    uint32_t block;
};
Place place_of(const MatrixShape& shape, uint32_t part, uint32_t lane) {
    const uint32_t column = lane % shape.columns;
    if (shape.a == Element::F64) {
        const uint32_t block = lane / shape.columns % shape.blocks;
        return {4 * part + lane / (shape.columns * shape.blocks), column, block};
    }
    if (shape.rows == 4) return {part, column, lane / 4};
    // Four rows in a row for each group of lanes, then the next four rows of all groups.
    const uint32_t groups = kLanes / shape.columns;
    const uint32_t parts_of_block = shape.rows * shape.columns / kLanes;
    const uint32_t in_block = part % parts_of_block;
    return {in_block / 4 * 4 * groups + lane / shape.columns * 4 + in_block % 4, column, part / parts_of_block};
}

float round_to_xf32(float value) {  // the ten upper bits of the mantissa count
    return decode_float(encode_float(double{value}, kTF32, Rounding::NearestEven), kTF32);
}

Fp8 format_of(Element element, bool ocp) {
    if (element == Element::Fp8) return ocp ? Fp8::E4M3 : Fp8::E4M3Fnuz;
    return ocp ? Fp8::E5M2 : Fp8::E5M2Fnuz;
}

constexpr uint32_t kMostElements = 32 * 64;  // of an operand, all blocks

/// An operand, A as [block][row][depth] and B as [block][depth][column], and whether each row or column is wholly
/// initialised.
struct OperandMatrix {
    std::array<double, kMostElements> values;
    std::array<bool, 64> known;  // by block * edge + at
    bool all_known;
};

/// The lane whose registers `lane` uses instead of its own: cbsz and abid make 2^cbsz blocks of A share one, blgp makes
/// groups of 16 or 32 lanes of B stand in for others.
uint32_t a_lane(const MatrixShape& shape, const Op& op, uint32_t lane) {
    const uint32_t size = broadcast_size(op);
    if (size == 0) return lane;
    const uint32_t block = lane / shape.rows % shape.blocks;
    const uint32_t from = (block >> size << size) + (broadcast_block(op) & ((1U << size) - 1));
    return lane + (from - block) * shape.rows;
}
uint32_t b_lane(const MatrixShape& shape, const Op& op, uint32_t lane) {
    const uint32_t pattern = shape.a == Element::F64 ? 0 : lane_pattern(op);  // f64: signs
    if (pattern == 1) return lane % 32;
    if (pattern == 2) return lane % 32 + 32;
    if (pattern == 3) return (lane + 16) % kLanes;
    if (pattern >= 4) return lane % 16 + 16 * (pattern - 4);
    return lane;
}

/// Reads every lane's elements of type T, which `value` turns into numbers.
template <class T, class F>
void read_lanes(const Step& step, const MatrixShape& shape, bool is_a, OperandMatrix& matrix, F value) {
    const uint32_t edge = is_a ? shape.rows : shape.columns;
    const OperandLayout layout = operand_layout(shape, edge, is_a ? shape.a : shape.b);
    const Source& from = step.op.sources[is_a ? 0 : 1];
    const uint64_t known = step.known(is_a ? 0 : 1, layout.registers);
    const uint32_t apart = is_a ? 1 : edge;  // of elements along the depth
    const uint32_t lines = edge * shape.blocks;
    const int edge_bits = std::countr_zero(edge);  // all these are powers of two
    const int line_bits = std::countr_zero(lines);
    matrix.known.fill(true);
    matrix.all_known = known == kAllLanes;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const uint32_t source_lane = is_a ? a_lane(shape, step.op, lane) : b_lane(shape, step.op, lane);
        alignas(8) uint32_t words[8];
        for (uint32_t i = 0; i < layout.registers; ++i) words[i] = step.wave.vector[from.index + i].at[source_lane];
        const uint32_t line = lane & (lines - 1);  // block * edge + at
        const uint32_t block = line >> edge_bits;
        const uint32_t first = (lane >> line_bits) * layout.per_lane;
        double* to = matrix.values.data() + block * edge * shape.depth + first * apart +
                     (line & (edge - 1)) * (is_a ? shape.depth : 1);
        for (uint32_t i = 0; i < layout.per_lane; ++i) {
            T element;
            std::memcpy(&element, reinterpret_cast<const uint8_t*>(words) + i * sizeof(T), sizeof(T));
            to[i * apart] = value(element);
        }
        if (((known >> source_lane) & 1) == 0) matrix.known[line] = false;
    }
}

void read_operand(const Step& step, const MatrixShape& shape, bool is_a, OperandMatrix& matrix) {
    const Element element = is_a ? shape.a : shape.b;
    const bool flushes = (step.op.detail & kFlushes) != 0;
    const Fp8 format = format_of(element, (step.op.detail & kOcpFp8) != 0);
    switch (element) {
        case Element::F16:
            return read_lanes<uint16_t>(step, shape, is_a, matrix, [flushes](uint16_t bits) {
                return double{half_to_float(flushes ? flush_f16(bits) : bits)};
            });
        case Element::Bf16:
            return read_lanes<uint16_t>(step, shape, is_a, matrix, [flushes](uint16_t bits) {
                return double{bf16_to_float(flushes && (bits & 0x7f80) == 0 ? bits & 0x8000 : bits)};
            });
        case Element::F32:
            return read_lanes<float>(step, shape, is_a, matrix, [](float value) { return double{value}; });
        case Element::Xf32:
            return read_lanes<float>(step, shape, is_a, matrix,
                                     [](float value) { return double{round_to_xf32(value)}; });
        case Element::F64:
            return read_lanes<double>(step, shape, is_a, matrix, [](double value) { return value; });
        case Element::I8:
            return read_lanes<int8_t>(step, shape, is_a, matrix, [](int8_t value) { return double{1} * value; });
        case Element::Fp8:
        case Element::Bf8:
            return read_lanes<uint8_t>(step, shape, is_a, matrix,
                                       [format](uint8_t bits) { return decode_fp8(bits, format); });
    }
}

/// sum[i][j] += a[i][k] * b[k][j]; all products of types up to f32 are exact in double. As many columns at once as
/// registers hold.
template <uint32_t kColumns>
inline __attribute__((always_inline)) void multiply_columns(const MatrixShape& shape, const double* a, const double* b,
                                                            double* sum) {
    for (uint32_t i = 0; i < shape.rows; ++i) {
        for (uint32_t j = 0; j < shape.columns; j += kColumns) {
            double sums[kColumns];
            double* to = sum + i * shape.columns + j;
            std::memcpy(sums, to, sizeof sums);
            for (uint32_t k = 0; k < shape.depth; ++k) {
                const double factor = a[i * shape.depth + k];
                const double* row = b + k * shape.columns + j;
                for (uint32_t u = 0; u < kColumns; ++u) sums[u] += factor * row[u];
            }
            std::memcpy(to, sums, sizeof sums);
        }
    }
}
inline __attribute__((always_inline)) void multiply(const MatrixShape& shape, const double* a, const double* b,
                                                    double* sum) {
    if (shape.columns == 4)
        multiply_columns<4>(shape, a, b, sum);
    else
        multiply_columns<16>(shape, a, b, sum);
}

void multiply_plainly(const MatrixShape& shape, const double* a, const double* b, double* sum) {
    multiply(shape, a, b, sum);
}
#if defined(__x86_64__)
__attribute__((target("avx2"))) void multiply_with_avx2(const MatrixShape& shape, const double* a, const double* b,
                                                        double* sum) {
    multiply(shape, a, b, sum);
}
#endif

using Multiply = void (*)(const MatrixShape&, const double*, const double*, double*);
Multiply best_multiply() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return multiply_with_avx2;
#endif
    return multiply_plainly;
}

/// f64 is a chain of fused multiply-adds; blgp negates A, B and C.
void multiply_f64(const MatrixShape& shape, const double* a, const double* b, double* sum) {
    for (uint32_t i = 0; i < shape.rows; ++i) {
        for (uint32_t j = 0; j < shape.columns; ++j) {
            double& to = sum[i * shape.columns + j];
            for (uint32_t k = 0; k < shape.depth; ++k)
                to = std::fma(a[i * shape.depth + k], b[k * shape.columns + j], to);
        }
    }
}

uint32_t index_of(const MatrixShape& shape, const Place& place) {
    return (place.block * shape.rows + place.row) * shape.columns + place.column;
}

/// For each part and lane of C and D: where the element is in [block][row][column].
using ResultPlaces = std::vector<uint16_t>;

const ResultPlaces& result_places(uint32_t number) {
    static const std::vector<ResultPlaces> all = [] {
        std::vector<ResultPlaces> tables;
        for (const MatrixShape& shape : kShapes) {
            ResultPlaces& places = tables.emplace_back();
            const uint32_t parts = shape.rows * shape.columns * shape.blocks / kLanes;
            for (uint32_t i = 0; i < parts * kLanes; ++i) {
                places.push_back(static_cast<uint16_t>(index_of(shape, place_of(shape, i / kLanes, i % kLanes))));
            }
        }
        return tables;
    }();
    return all[number];
}

struct ResultMatrix {
    std::array<double, 32 * 32 * 2> sums;    // [block][row][column]
    std::array<int32_t, 32 * 32 * 2> start;  // of i8: C, added modulo 2^32
};

/// C, as the sums to add to; integers start at 0 and get C at the end.
void read_addend(const Step& step, const MatrixShape& shape, ResultMatrix& matrix) {
    const Source& from = step.op.sources[2];
    const uint32_t words = shape.a == Element::F64 ? 2 : 1;
    const uint32_t parts = result_registers(shape) / words;
    const bool negates = shape.a == Element::F64 && (lane_pattern(step.op) & 4) != 0;
    const uint16_t* places = result_places(step.op.detail & 0xff).data();
    for (uint32_t part = 0; part < parts; ++part) {
        Lanes32 rooms[2];
        const uint32_t* low = step.raw_words(from, rooms[0], from.kind == Source::Kind::Vector ? part * words : 0);
        const uint32_t* high =
            words == 2 ? step.raw_words(from, rooms[1], from.kind == Source::Kind::Vector ? part * words + 1 : 1) : low;
        for (uint32_t lane = 0; lane < kLanes; ++lane) {
            const uint32_t at = places[part * kLanes + lane];
            if (shape.a == Element::I8) {
                matrix.start[at] = static_cast<int32_t>(low[lane]);
                matrix.sums[at] = 0;
            } else if (words == 2) {
                const double value = std::bit_cast<double>(low[lane] | uint64_t{high[lane]} << 32);
                matrix.sums[at] = negates ? -value : value;
            } else {
                matrix.sums[at] = double{std::bit_cast<float>(low[lane])};
            }
        }
    }
}

/// Which lanes of a part are initialised: their row of A, their column of B, and C.
uint64_t known_lanes(const Step& step, const MatrixShape& shape, const OperandMatrix& a, const OperandMatrix& b,
                     uint32_t part, uint32_t words) {
    uint64_t known = kAllLanes;
    const Source& c = step.op.sources[2];
    if (c.kind == Source::Kind::Vector) {
        for (uint32_t i = 0; i < words; ++i) known &= step.wave.vector_known[c.index + part * words + i];
    }
    if (a.all_known && b.all_known) return known;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const Place at = place_of(shape, part, lane);
        const bool both = a.known[at.block * shape.rows + at.row] && b.known[at.block * shape.columns + at.column];
        if (!both) known &= ~(uint64_t{1} << lane);
    }
    return known;
}

void write_result(Step& step, const MatrixShape& shape, const OperandMatrix& a, const OperandMatrix& b,
                  const ResultMatrix& matrix) {
    const uint32_t words = shape.a == Element::F64 ? 2 : 1;
    const uint32_t parts = result_registers(shape) / words;
    const bool flushes = (step.op.detail & kFlushes) != 0;
    const uint16_t* places = result_places(step.op.detail & 0xff).data();
    std::array<uint64_t, 32> known{};
    for (uint32_t part = 0; part < parts; ++part) known[part] = known_lanes(step, shape, a, b, part, words);
    for (uint32_t part = 0; part < parts; ++part) {
        const uint32_t index = step.op.result.index + part * words;
        for (uint32_t lane = 0; lane < kLanes; ++lane) {
            const uint32_t at = places[part * kLanes + lane];
            const double sum = matrix.sums[at];
            if (words == 2) {
                const auto bits = std::bit_cast<uint64_t>(sum);
                step.wave.vector[index].at[lane] = static_cast<uint32_t>(bits);
                step.wave.vector[index + 1].at[lane] = static_cast<uint32_t>(bits >> 32);
            } else if (shape.a == Element::I8) {
                const auto product = static_cast<uint32_t>(static_cast<int64_t>(sum));
                step.wave.vector[index].at[lane] = static_cast<uint32_t>(matrix.start[at]) + product;
            } else {
                const auto bits = std::bit_cast<uint32_t>(static_cast<float>(sum));
                step.wave.vector[index].at[lane] = flushes ? flush_f32(bits) : bits;
            }
        }
        for (uint32_t i = 0; i < words; ++i) step.wave.vector_known[index + i] = known[part];
    }
}

/// EXEC does not matter: every lane takes part.
void run_mfma(Step& step) {
    const MatrixShape& shape = kShapes[step.op.detail & 0xff];
    static const Multiply fast_multiply = best_multiply();
    OperandMatrix a;
    OperandMatrix b;
    ResultMatrix matrix;
    read_operand(step, shape, true, a);
    read_operand(step, shape, false, b);
    read_addend(step, shape, matrix);
    if (shape.a == Element::F64) {
        if ((lane_pattern(step.op) & 1) != 0) {
            for (double& value : a.values) value = -value;
        }
        if ((lane_pattern(step.op) & 2) != 0) {
            for (double& value : b.values) value = -value;
        }
    }
    for (uint32_t block = 0; block < shape.blocks; ++block) {
        const double* rows = a.values.data() + block * shape.rows * shape.depth;
        const double* columns = b.values.data() + block * shape.columns * shape.depth;
        double* sums = matrix.sums.data() + block * shape.rows * shape.columns;
        (shape.a == Element::F64 ? multiply_f64 : fast_multiply)(shape, rows, columns, sums);
    }
    write_result(step, shape, a, b, matrix);
    ++step.launch.counters.matrix_operations;
    step.launch.counters.matrix_multiply_adds += uint64_t{shape.rows} * shape.columns * shape.depth * shape.blocks;
}

void decode_mfma(Decode& decode, uint32_t number) {
    const MatrixShape& shape = kShapes[number];
    decode.expect_operands(4, 4);
    Op& op = decode.op();
    op.klass = InstructionClass::Matrix;
    decode.vector_register(0, result_registers(shape));
    decode.result(0, ValueType::Wide);
    decode.vector_register(1, operand_layout(shape, shape.rows, shape.a).registers);
    decode.source(1, ValueType::Wide);
    decode.vector_register(2, operand_layout(shape, shape.columns, shape.b).registers);
    decode.source(2, ValueType::Wide);
    if (decode.has_vector(3)) decode.vector_register(3, result_registers(shape));
    decode.source(3, decode.has_vector(3)      ? ValueType::Wide
                     : shape.a == Element::F64 ? ValueType::F64
                                               : ValueType::F32);
    const auto size = static_cast<uint64_t>(decode.take_number("cbsz").value_or(0));
    const auto block = static_cast<uint64_t>(decode.take_number("abid").value_or(0));
    auto pattern = static_cast<uint64_t>(decode.take_number("blgp").value_or(0));
    if (shape.a == Element::F64) pattern |= decode.take_bits("neg", 0);
    op.detail = number | size << 8 | block << 12 | pattern << 16;
    // CDNA2 flushes subnormal f16 and bf16 operands and results (PyTorch, "Numerical accuracy", on MI200).
    const bool is_half = shape.a == Element::F16 || shape.a == Element::Bf16;
    if (is_half && decode.architecture().processor == "gfx90a") op.detail |= kFlushes;
    if (decode.architecture().has_ocp_fp8()) op.detail |= kOcpFp8;
    op.run = run_mfma;
}

}  // namespace

void add_matrix_ops(DecoderTable& table) {
    for (uint32_t number = 0; number < std::size(kShapes); ++number) {
        const std::string names = kShapes[number].name;
        const size_t bar = names.find('|');
        table[names.substr(0, bar)] = [number](Decode& decode) { decode_mfma(decode, number); };
        if (bar != std::string::npos) table[names.substr(bar + 1)] = table[names.substr(0, bar)];
    }
}

}  // namespace emulated_gpu::hip
