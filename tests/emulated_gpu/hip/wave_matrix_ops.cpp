// WMMA: products of matrices of 16x16 spread over a wave's lanes (RDNA3 ISA, "WMMA"; RDNA4 ISA, "Wave Matrix Multiply
// Accumulate"; where elements sit is what AMD's "How to accelerate AI applications on RDNA 3 using WMMA" and "Using the
// Matrix Cores of AMD RDNA 4 architecture GPUs" tell).

#include <algorithm>
#include <cmath>

#include "tests/emulated_gpu/hip/decode.h"
#include "tests/emulated_gpu/hip/execution.h"
#include "tests/emulated_gpu/hip/fp8.h"
#include "tests/emulated_gpu/hip/lane_math.h"

namespace emulated_gpu::hip {
namespace {

constexpr uint32_t kEdge = 16;
constexpr uint32_t kMostDepth = 32;

enum class WaveElement : uint8_t { F16, Bf16, F32, Fp8, Bf8, I8, I4, I32 };

struct WaveMatrixShape {
    const char* name;
    WaveElement a;
    WaveElement b;
    WaveElement result;
    uint32_t depth;
};
constexpr WaveMatrixShape kWaveShapes[] = {
    {"v_wmma_f32_16x16x16_f16", WaveElement::F16, WaveElement::F16, WaveElement::F32, 16},
    {"v_wmma_f32_16x16x16_bf16", WaveElement::Bf16, WaveElement::Bf16, WaveElement::F32, 16},
    {"v_wmma_f16_16x16x16_f16", WaveElement::F16, WaveElement::F16, WaveElement::F16, 16},
    {"v_wmma_bf16_16x16x16_bf16", WaveElement::Bf16, WaveElement::Bf16, WaveElement::Bf16, 16},
    {"v_wmma_i32_16x16x16_iu8", WaveElement::I8, WaveElement::I8, WaveElement::I32, 16},
    {"v_wmma_i32_16x16x16_iu4", WaveElement::I4, WaveElement::I4, WaveElement::I32, 16},
    {"v_wmma_i32_16x16x32_iu4", WaveElement::I4, WaveElement::I4, WaveElement::I32, 32},
    {"v_wmma_f32_16x16x16_fp8_fp8", WaveElement::Fp8, WaveElement::Fp8, WaveElement::F32, 16},
    {"v_wmma_f32_16x16x16_fp8_bf8", WaveElement::Fp8, WaveElement::Bf8, WaveElement::F32, 16},
    {"v_wmma_f32_16x16x16_bf8_fp8", WaveElement::Bf8, WaveElement::Fp8, WaveElement::F32, 16},
    {"v_wmma_f32_16x16x16_bf8_bf8", WaveElement::Bf8, WaveElement::Bf8, WaveElement::F32, 16},
};

// Op::detail: the shape's number, then a bit for each source.
uint32_t modifier(const Op& op, uint32_t first, uint32_t source) {
    return static_cast<uint32_t>(op.detail >> (first + source)) & 1;
}
constexpr uint32_t kNegateLow = 8;    // of integers: the operand is signed
constexpr uint32_t kNegateHigh = 12;  // of C: its absolute value
constexpr uint32_t kUpperHalf = 16;   // RDNA3: f16 results are in the upper halves
constexpr uint32_t kCopies = 17;      // RDNA3: each half of a wave holds all of A and B

uint32_t element_bits(WaveElement element) {
    switch (element) {
        case WaveElement::F16:
        case WaveElement::Bf16:
            return 16;
        case WaveElement::F32:
        case WaveElement::I32:
            return 32;
        case WaveElement::Fp8:
        case WaveElement::Bf8:
        case WaveElement::I8:
            return 8;
        case WaveElement::I4:
            return 4;
    }
    return 32;
}

bool is_integer(WaveElement element) {
    return element == WaveElement::I8 || element == WaveElement::I4;
}
bool is_half(WaveElement element) {
    return element == WaveElement::F16 || element == WaveElement::Bf16;
}

double half_value(WaveElement element, uint32_t bits) {
    return double{element == WaveElement::F16 ? half_to_float(bits) : bf16_to_float(bits & 0xffff)};
}

/// An element of A or B.
double operand_value(WaveElement element, uint32_t bits, bool is_signed) {
    switch (element) {
        case WaveElement::Fp8:
            return decode_fp8(bits, Fp8::E4M3);
        case WaveElement::Bf8:
            return decode_fp8(bits, Fp8::E5M2);
        case WaveElement::I8:
            return is_signed ? static_cast<double>(static_cast<int8_t>(bits)) : static_cast<double>(bits);
        case WaveElement::I4:
            return is_signed && (bits & 8) != 0 ? static_cast<double>(bits) - 16 : static_cast<double>(bits);
        default:
            return half_value(element, bits);
    }
}

/// Rows of A, or columns of B, and whether each is wholly initialised.
struct WaveOperand {
    double values[kEdge][kMostDepth];
    std::array<bool, kEdge> known;
};

/// How many elements of A or B a lane holds, and of which depth on.
struct WaveLayout {
    uint32_t per_lane;
    uint32_t registers;
};
WaveLayout wave_layout(const Op& op, const WaveMatrixShape& shape, WaveElement element, uint32_t lanes) {
    const uint32_t groups = modifier(op, kCopies, 0) != 0 ? 1 : lanes / kEdge;
    const uint32_t per_lane = shape.depth / groups;
    return {per_lane, per_lane * element_bits(element) / 32};
}

/// RDNA3 reads A and B from lanes 0 to 15, and again from those of each other sixteen: all have to hold the same.
void check_copies(const Step& step, size_t source, uint32_t registers) {
    const uint32_t first = step.op.sources[source].index;
    for (uint32_t i = 0; i < registers; ++i) {
        const uint32_t* words = step.wave.vector[first + i].at;
        for (uint32_t lane = kEdge; lane < step.lanes(); ++lane) {
            if (words[lane] == words[lane % kEdge]) continue;
            throw Fault{FaultKind::Trap,
                        std::string("operand ") + (source == 0 ? "A" : "B") +
                            " of the product is not the same in lane " + std::to_string(lane % kEdge) + " as in lane " +
                            std::to_string(lane) + ", which hold copies",
                        static_cast<int>(lane)};
        }
    }
}

void read_wave_operand(const Step& step, const WaveMatrixShape& shape, size_t source, WaveOperand& operand) {
    const WaveElement element = source == 0 ? shape.a : shape.b;
    const auto number = static_cast<uint32_t>(source);
    const WaveLayout layout = wave_layout(step.op, shape, element, step.lanes());
    const bool has_copies = modifier(step.op, kCopies, 0) != 0;
    const uint64_t known = step.known(source, layout.registers);
    if (has_copies && (known & step.wave.all_lanes) == step.wave.all_lanes) {
        check_copies(step, source, layout.registers);
    }
    const bool low_flag = modifier(step.op, kNegateLow, number) != 0;
    const bool high_flag = modifier(step.op, kNegateHigh, number) != 0;
    const uint32_t bits = element_bits(element);
    const uint32_t first = step.op.sources[source].index;
    operand.known.fill(true);
    for (uint32_t lane = 0; lane < (has_copies ? kEdge : step.lanes()); ++lane) {
        if (((known >> lane) & 1) == 0) operand.known[lane % kEdge] = false;
        for (uint32_t i = 0; i < layout.per_lane; ++i) {
            const uint32_t word = step.wave.vector[first + i * bits / 32].at[lane];
            const uint32_t raw = word >> (i * bits % 32) & ((1U << bits) - 1);
            const double value = operand_value(element, raw, low_flag);
            const bool negates = is_half(element) && (i % 2 == 0 ? low_flag : high_flag);
            operand.values[lane % kEdge][lane / kEdge * layout.per_lane + i] = negates ? -value : value;
        }
    }
}

/// The row of C and D of a lane's element; its column is the lane's number modulo 16.
uint32_t result_row(const Step& step, uint32_t element, uint32_t lane) {
    const uint32_t groups = step.lanes() / kEdge;
    if (modifier(step.op, kCopies, 0) != 0) return element * groups + lane / kEdge;  // RDNA3: rows alternate
    return lane / kEdge * (kEdge / groups) + element;
}

/// Where an element of C and D is: its register, and the shift of a half in it.
struct ResultPlace {
    uint32_t part;
    uint32_t shift;
};
ResultPlace result_place(const Op& op, WaveElement element, uint32_t index) {
    if (!is_half(element)) return {index, 0};
    if (modifier(op, kCopies, 0) == 0) return {index / 2, 16 * (index % 2)};
    return {index, modifier(op, kUpperHalf, 0) != 0 ? 16U : 0U};
}

double addend(const Step& step, const WaveMatrixShape& shape, uint32_t word) {
    double value = 0;
    if (shape.result == WaveElement::I32)
        value = static_cast<double>(static_cast<int32_t>(word));
    else if (shape.result == WaveElement::F32)
        value = double{std::bit_cast<float>(word)};
    else
        value = half_value(shape.result, word & 0xffff);
    if (shape.result == WaveElement::I32) return value;
    if (modifier(step.op, kNegateHigh, 2) != 0) value = std::fabs(value);
    return modifier(step.op, kNegateLow, 2) != 0 ? -value : value;
}

uint32_t result_bits(const Step& step, WaveElement element, double sum) {
    switch (element) {
        case WaveElement::I32: {
            constexpr double kLow = -2147483648.0;
            constexpr double kHigh = 2147483647.0;
            if (step.op.clamp) sum = std::clamp(sum, kLow, kHigh);
            return static_cast<uint32_t>(static_cast<int64_t>(sum));
        }
        case WaveElement::F16:
            return double_to_half(sum);
        case WaveElement::Bf16:
            return encode_float(sum, kBF16, Rounding::NearestEven);
        default:
            return std::bit_cast<uint32_t>(static_cast<float>(sum));
    }
}

using WaveProduct = std::array<std::array<double, kEdge>, kEdge>;

/// A times B, all products exact in double.
WaveProduct multiply_waves(const WaveMatrixShape& shape, const WaveOperand& a, const WaveOperand& b) {
    double columns[kMostDepth][kEdge];
    for (uint32_t column = 0; column < kEdge; ++column) {
        for (uint32_t k = 0; k < shape.depth; ++k) columns[k][column] = b.values[column][k];
    }
    WaveProduct product{};
    for (uint32_t row = 0; row < kEdge; ++row) {
        double sums[kEdge] = {};
        for (uint32_t k = 0; k < shape.depth; ++k) {
            for (uint32_t column = 0; column < kEdge; ++column) sums[column] += a.values[row][k] * columns[k][column];
        }
        std::copy(std::begin(sums), std::end(sums), product[row].begin());
    }
    return product;
}

/// Element `index` of each lane: C plus the product of its row and column.
void add_element(const Step& step, const WaveMatrixShape& shape, const WaveProduct& product, uint32_t index,
                 Lanes32& out) {
    const Source& c = step.op.sources[2];
    const ResultPlace place = result_place(step.op, shape.result, index);
    const bool is_vector = c.kind == Source::Kind::Vector;
    for (uint32_t lane = 0; lane < step.lanes(); ++lane) {
        const uint32_t row = result_row(step, index, lane);
        const uint32_t column = lane % kEdge;
        const uint32_t word = is_vector ? step.wave.vector[c.index + place.part].at[lane] >> place.shift
                                        : static_cast<uint32_t>(step.scalar(2));
        out.at[lane] = result_bits(step, shape.result, addend(step, shape, word) + product[row][column]);
    }
}

/// The lanes in which element `index` is initialised: their row of A, their column of B, and C.
uint64_t known_element(const Step& step, const WaveMatrixShape& shape, const WaveOperand& a, const WaveOperand& b,
                       uint32_t index) {
    const Source& c = step.op.sources[2];
    const uint32_t part = result_place(step.op, shape.result, index).part;
    uint64_t known = c.kind == Source::Kind::Vector ? step.wave.vector_known[c.index + part] : kAllLanes;
    for (uint32_t lane = 0; lane < step.lanes(); ++lane) {
        const bool both = a.known[result_row(step, index, lane)] && b.known[lane % kEdge];
        if (!both) known &= ~(uint64_t{1} << lane);
    }
    return known;
}

/// EXEC does not matter: every lane takes part.
void run_wmma(Step& step) {
    const WaveMatrixShape& shape = kWaveShapes[step.op.detail & 0xff];
    WaveOperand a;
    WaveOperand b;
    read_wave_operand(step, shape, 0, a);
    read_wave_operand(step, shape, 1, b);
    const uint32_t elements = kEdge * kEdge / step.lanes();
    std::array<Lanes32, 8> results;
    std::array<uint64_t, 8> known;
    const WaveProduct product = multiply_waves(shape, a, b);
    for (uint32_t i = 0; i < elements; ++i) {
        add_element(step, shape, product, i, results[i]);
        known[i] = known_element(step, shape, a, b, i);
    }
    for (uint32_t i = 0; i < elements; ++i) {
        const ResultPlace place = result_place(step.op, shape.result, i);
        const uint32_t index = step.op.result.index + place.part;
        const uint32_t mask = is_half(shape.result) ? 0xffffU << place.shift : ~0U;
        uint32_t* to = step.wave.vector[index].at;
        for (uint32_t lane = 0; lane < step.lanes(); ++lane) {
            to[lane] = (to[lane] & ~mask) | (results[i].at[lane] << place.shift & mask);
        }
        const bool continues = place.shift != 0 && modifier(step.op, kCopies, 0) == 0;
        step.wave.vector_known[index] = continues ? step.wave.vector_known[index] & known[i] : known[i];
    }
    ++step.launch.counters.matrix_operations;
    step.launch.counters.matrix_multiply_adds += uint64_t{kEdge} * kEdge * shape.depth;
}

uint32_t wave_result_registers(const Op& op, WaveElement element, uint32_t lanes) {
    const uint32_t elements = kEdge * kEdge / lanes;
    const bool is_packed = is_half(element) && modifier(op, kCopies, 0) == 0;
    return is_packed ? elements / 2 : elements;
}

void decode_wmma(Decode& decode, uint32_t number) {
    const WaveMatrixShape& shape = kWaveShapes[number];
    const Architecture& architecture = decode.architecture();
    const bool has_copies = architecture.family == Family::Rdna3;
    // The RDNA4 document leaves open which rows of C the lanes of a wave of 64 hold.
    if (!has_copies && architecture.wave_lanes == 64) decode.refuse("the wave of 64 lanes");
    decode.expect_operands(4, 4);
    Op& op = decode.op();
    op.klass = InstructionClass::Matrix;
    op.detail = number | uint64_t{decode.take_bits("neg_lo", 0)} << kNegateLow |
                uint64_t{decode.take_bits("neg_hi", 0)} << kNegateHigh | uint64_t{has_copies} << kCopies;
    const uint32_t selected = decode.take_bits("op_sel", 0);
    if ((selected & 3) != 0 || (selected != 0 && (!has_copies || !is_half(shape.result)))) decode.refuse("op_sel");
    if ((selected & 4) != 0) op.detail |= uint64_t{1} << kUpperHalf;
    op.clamp = decode.take_flag("clamp");
    if (op.clamp && !is_integer(shape.a)) decode.refuse("clamp");
    const uint32_t results = wave_result_registers(op, shape.result, architecture.wave_lanes);
    decode.vector_register(0, results);
    decode.result(0, ValueType::Wide);
    decode.vector_register(1, wave_layout(op, shape, shape.a, architecture.wave_lanes).registers);
    decode.source(1, ValueType::Wide);
    decode.vector_register(2, wave_layout(op, shape, shape.b, architecture.wave_lanes).registers);
    decode.source(2, ValueType::Wide);
    if (decode.has_vector(3)) decode.vector_register(3, results);
    decode.source(3, decode.has_vector(3) ? ValueType::Wide : is_half(shape.result) ? ValueType::F16 : ValueType::F32);
    op.run = run_wmma;
}

}  // namespace

void add_wave_matrix_ops(DecoderTable& table) {
    for (uint32_t number = 0; number < std::size(kWaveShapes); ++number) {
        table[kWaveShapes[number].name] = [number](Decode& decode) { decode_wmma(decode, number); };
    }
}

}  // namespace emulated_gpu::hip
