// Warp-level matrix instructions: PTX ISA, chapter "Warp Level Matrix Multiply-Accumulate Instructions". The fragment
// layouts of all shapes of mma.sync but m8n8k4.f16 follow one rule, stated at `fragment_a` and `fragment_b`.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/emulated_gpu/cuda/lanewise.h"
#include "tests/emulated_gpu/cuda/matrix_elements.h"
#include "tests/emulated_gpu/cuda/memory_access.h"

namespace emulated_gpu {
namespace {

constexpr int kMostM = 16;
constexpr int kMostN = 8;
constexpr int kMostK = 256;

/// A by rows, B by columns turned into rows of k, so that sums over n run through neighbouring elements.
template <class T>
struct Operands {
    alignas(16) std::array<T, size_t{kMostM} * kMostK> a;  // [row][k]
    alignas(16) std::array<T, size_t{kMostK} * kMostN> b;  // [k][column]

    explicit Operands(const Step& step) {
        const MatrixShape& s = step.op.matrix;
        const int count_a = registers_a(s);
        const int count_b = registers_b(s);
        const int each = per_register(s.a);  // of B too
        for (int r = 0; r < count_a; ++r) {
            const MatrixPlace first = fragment_a(s, 0, r, 0);
            T* to = a.data() + first.row * s.k + first.column;
            read(step.source(static_cast<size_t>(r)), s.a, to, s.k, each, 1);
        }
        for (int r = 0; r < count_b; ++r) {
            const MatrixPlace first = fragment_b(s, 0, r, 0);
            T* to = b.data() + first.row * kMostN + first.column;
            read(step.source(static_cast<size_t>(count_a + r)), s.b, to, 1, each * kMostN, kMostN);
        }
    }

private:
    /// One register of all lanes: 8 groups of 4 lanes, `group` and `lane` elements apart, `next` from one to the next.
    static void read(const uint64_t* bits, Type type, T* to, int group, int lane, int next) {
        with_elements<T>(type, [&](auto element_of) {
            const int each = per_register(type);
            for (int i = 0; i < 8; ++i, to += group) {
                for (int j = 0; j < 4; ++j) {
                    T* at = to + j * lane;
                    const uint64_t word = *bits++;
                    if (each == 2) {  // most types: spares the loop
                        at[0] = element_of(word, 0);
                        at[next] = element_of(word, 1);
                        continue;
                    }
                    for (int e = 0; e < each; ++e) at[e * next] = element_of(word, e);
                }
            }
        });
    }
};

/// Calls `visit(row, column, old bits) -> new bits` for each element of C and stores D.
template <class Visit>
void for_accumulators(Step& step, Visit visit) {
    const MatrixShape& s = step.op.matrix;
    const auto first_c = static_cast<size_t>(registers_a(s) + registers_b(s));
    const bool packed_c = s.c == Type::F16;
    const bool packed_d = s.d == Type::F16;
    const int elements = s.m * s.n / kLanes;
    for (int lane = 0; lane < kLanes; ++lane) {
        std::array<uint64_t, 8> values{};
        for (int j = 0; j < elements; ++j) {
            const uint64_t raw = step.source(first_c + static_cast<size_t>(packed_c ? j / 2 : j))[lane];
            const uint64_t old = packed_c ? (raw >> (16 * (j % 2))) & 0xffff : raw;
            const MatrixPlace at = fragment_c(lane, j);
            values[static_cast<size_t>(j)] = visit(static_cast<size_t>(at.row), static_cast<size_t>(at.column), old);
        }
        for (size_t r = 0; r < step.op.result_count; ++r) {
            step.result(r)[lane] = packed_d ? values[2 * r] | (values[2 * r + 1] << 16) : values[r];
        }
    }
}

using Sums = std::array<double, size_t{kMostM} * kMostN>;  // [row][column]

/// Two columns at once, which every host that matters has instructions for.
using Pair = double __attribute__((vector_size(2 * sizeof(double))));
static_assert(kMostN == 8);

void multiply_all(const Operands<double>& operands, const MatrixShape& s, Sums& sums) {
    const auto* b = reinterpret_cast<const Pair*>(operands.b.data());
    for (int row = 0; row < s.m; ++row) {
        const double* a = operands.a.data() + row * s.k;
        Pair sum0{}, sum1{}, sum2{}, sum3{};
        for (int k = 0; k < s.k; ++k) {
            const Pair left{a[k], a[k]};
            const Pair* right = b + static_cast<ptrdiff_t>(k) * 4;
            sum0 += left * right[0];
            sum1 += left * right[1];
            sum2 += left * right[2];
            sum3 += left * right[3];
        }
        const std::array<Pair, 4> sum{sum0, sum1, sum2, sum3};
        std::memcpy(sums.data() + row * kMostN, sum.data(), sizeof sum);
    }
}

uint64_t rounded_f32(double sum) {
    return std::isnan(sum) ? 0x7fffffffU : std::bit_cast<uint32_t>(static_cast<float>(sum));
}

/// f32 accumulators, a register of all lanes at a time.
void add_f32(Step& step, const Sums& sums) {
    const MatrixShape& s = step.op.matrix;
    const auto first_c = static_cast<size_t>(registers_a(s) + registers_b(s));
    std::array<std::array<uint64_t, kLanes>, 4> values;  // D may be C in another order
    for (int j = 0; j < 4; ++j) {
        const uint64_t* c = step.source(first_c + static_cast<size_t>(j));
        const double* sum = sums.data() + 8 * (j / 2) * kMostN + j % 2;
        for (int lane = 0; lane < kLanes; ++lane) {
            values[static_cast<size_t>(j)][static_cast<size_t>(lane)] =
                rounded_f32(as_f32(c[lane]) + sum[lane / 4 * kMostN + lane % 4 * 2]);
        }
    }
    for (size_t j = 0; j < 4; ++j) std::copy(values[j].begin(), values[j].end(), step.result(j));
}

/// Products are exact and summed in double; the sum is rounded once. The document promises no order and at least the
/// precision of the accumulator.
Flow multiply_float(Step& step) {
    const MatrixShape& s = step.op.matrix;
    Sums sums;
    multiply_all(Operands<double>(step), s, sums);
    if (s.c == Type::F32 && s.d == Type::F32) {  // all of them have 16 rows
        add_f32(step, sums);
        return Flow::Next;
    }
    for_accumulators(step, [&](size_t row, size_t column, uint64_t old) -> uint64_t {
        const double before = s.c == Type::F16 ? f16_values()[old & 0xffff] : as_f32(old);
        const double sum = before + sums[row * kMostN + column];
        return s.d == Type::F16 ? encode_float(sum, kF16, Rounding::NearestEven) : rounded_f32(sum);
    });
    return Flow::Next;
}

Flow multiply_f64(Step& step) {
    const MatrixShape& s = step.op.matrix;
    const Operands<double> operands(step);
    for_accumulators(step, [&](size_t row, size_t column, uint64_t old) -> uint64_t {
        double sum = as_f64(old);
        for (size_t k = 0; k < static_cast<size_t>(s.k); ++k) {
            sum = fma_f64(operands.a[row * static_cast<size_t>(s.k) + k], operands.b[k * kMostN + column], sum,
                          step.op.mode.rounding);
        }
        return std::bit_cast<uint64_t>(sum);
    });
    return Flow::Next;
}

Flow multiply_integer(Step& step) {
    const MatrixShape& s = step.op.matrix;
    const Operands<int64_t> operands(step);
    for_accumulators(step, [&](size_t row, size_t column, uint64_t old) -> uint64_t {
        int64_t sum = static_cast<int32_t>(old);
        for (size_t k = 0; k < static_cast<size_t>(s.k); ++k) {
            const int64_t a = operands.a[row * static_cast<size_t>(s.k) + k];
            const int64_t b = operands.b[k * kMostN + column];
            sum += s.a == Type::B1 ? (s.xor_popc ? a ^ b : a & b) : a * b;
        }
        if (s.saturate) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
        return static_cast<uint32_t>(sum);
    });
    return Flow::Next;
}

template <Handler kProduct>
Flow multiply(Step& step) {
    if (!gathered(step, kAllLanes)) return Flow::Blocked;
    if (step.mask != kAllLanes) {
        throw Fault{FaultKind::DivergentBarrier, "'" + step.op.instruction->text + "' needs all 32 lanes of the warp"};
    }
    const MatrixShape& s = step.op.matrix;
    ++step.launch.counters.matrix_operations;
    step.launch.counters.matrix_multiply_adds +=
        static_cast<uint64_t>(s.m) * static_cast<uint64_t>(s.n) * static_cast<uint64_t>(s.k);
    uint32_t ready = kAllLanes;
    for (size_t i = 0; i < step.op.source_count; ++i) ready &= step.ready(i);
    kProduct(step);
    // A lane's result depends on other lanes' operands.
    for (size_t i = 0; i < step.op.result_count; ++i) step.mark(i, ready == kAllLanes ? kAllLanes : 0);
    return Flow::Next;
}

struct ShapeRow {
    int m, n, k;
    const char* types;  // that A and B may have
};
/// The shapes that sm_80 and (fp8) sm_89 have.
constexpr ShapeRow kShapes[] = {
    {16, 8, 8, "f16 bf16"}, {16, 8, 16, "f16 bf16"}, {16, 8, 4, "tf32"},   {16, 8, 8, "tf32"},
    {8, 8, 4, "f64"},       {8, 8, 16, "s8 u8"},     {16, 8, 16, "s8 u8"}, {16, 8, 32, "s8 u8 e4m3 e5m2"},
    {8, 8, 32, "s4 u4"},    {16, 8, 32, "s4 u4"},    {16, 8, 64, "s4 u4"}, {8, 8, 128, "b1"},
    {16, 8, 128, "b1"},     {16, 8, 256, "b1"},
};

bool names_type(const char* types, Type type) {
    return (" " + std::string(types) + " ").find(" " + type_name(type) + " ") != std::string::npos;
}

bool is_known(const MatrixShape& s) {
    return std::any_of(std::begin(kShapes), std::end(kShapes), [&](const ShapeRow& row) {
        return row.m == s.m && row.n == s.n && row.k == s.k && names_type(row.types, s.a) && names_type(row.types, s.b);
    });
}

bool accumulates(const MatrixShape& s) {
    if (s.a == Type::F64) return s.c == Type::F64 && s.d == Type::F64;
    if (!is_float(s.a)) return s.c == Type::S32 && s.d == Type::S32;
    const bool half = s.a == Type::F16 && s.c == Type::F16 && s.d == Type::F16;
    return half || (s.c == Type::F32 && s.d == Type::F32);
}

void read_shape(Decode& decode, MatrixShape& shape) {
    for (const std::string& modifier : decode.instruction().modifiers) {
        if (std::sscanf(modifier.c_str(), "m%dn%dk%d", &shape.m, &shape.n, &shape.k) != 3) continue;
        decode.expect(modifier);
        return;
    }
    decode.fail("'" + decode.instruction().text + "' lacks a shape");
}

void check_count(Decode& decode, const Operand& operand, int expected) {
    const size_t given = operand.kind == Operand::Kind::Vector ? operand.parts.size() : 1;
    if (given == static_cast<size_t>(expected)) return;
    decode.fail("a fragment of '" + decode.instruction().text + "' has " + std::to_string(expected) +
                " registers, not " + std::to_string(given));
}

void decode_mma(Decode& decode) {
    Op& op = decode.op();
    op.klass = InstructionClass::Matrix;
    op.keeps_track = false;
    MatrixShape& s = op.matrix;
    decode.expect("sync");
    decode.expect("aligned");
    read_shape(decode, s);
    if (decode.has("sp") || decode.has("block_scale")) decode.refuse();
    decode.expect("row");
    decode.expect("col");
    decode.rounding(op.mode.rounding);
    s.saturate = decode.accept("satfinite");
    s.d = decode.type();
    s.a = decode.type();
    s.b = decode.type();
    s.c = decode.type();
    if (s.a == Type::B1) {
        s.xor_popc = decode.accept("xor");
        if (!s.xor_popc) decode.expect("and");
        decode.expect("popc");
    }
    const bool same = s.a == s.b || (!is_float(s.a) && !is_float(s.b)) || type_bits(s.a) == 8;
    if (!same || !is_known(s) || !accumulates(s)) decode.refuse();
    decode.expect_operands(4, 4);
    check_count(decode, decode.operand(0), registers_c(s, s.d));
    check_count(decode, decode.operand(1), registers_a(s));
    check_count(decode, decode.operand(2), registers_b(s));
    check_count(decode, decode.operand(3), registers_c(s, s.c));
    decode.results_of(decode.operand(0));
    const Type word = s.a == Type::F64 ? Type::F64 : Type::B32;
    for (size_t i = 1; i <= 3; ++i) decode.sources_of(decode.operand(i), word);
    if (s.a == Type::F64)
        op.run = &multiply<&multiply_f64>;
    else
        op.run = is_float(s.a) ? &multiply<&multiply_float> : &multiply<&multiply_integer>;
}

/// Which 16-bit element of an 8x8 matrix is the `half`th of a lane.
MatrixPlace matrix_element(int lane, int half, bool transposed) {
    const MatrixPlace at{lane / 4, lane % 4 * 2 + half};
    return transposed ? MatrixPlace{at.column, at.row} : at;
}

/// Lanes 8i..8i+7 give the addresses of the rows of matrix i.
Flow load_matrices(Step& step) {
    if (!gathered(step, kAllLanes)) return Flow::Blocked;
    const Op& op = step.op;
    const int rows = 8 * op.elements;
    LaneAddresses access;
    access.bytes = 16;
    std::array<std::array<uint16_t, 8>, kLanes> row_data{};
    for (int row = 0; row < rows; ++row) {
        const uint64_t address = step.source(0)[row] + static_cast<uint64_t>(op.offset);
        const Target target = resolve(step, row, op.space, address, 16, Access::Load);
        if (target.space != Space::Shared)
            throw Fault{FaultKind::IllegalAddress, "ldmatrix reads from no shared memory", row};
        if (SharedShadow* shadow = target.shadow()) {
            shadow->read(target.offset, 16, step.warp.agent, step.warp.clock, step.line(), row);
        }
        std::memcpy(row_data[static_cast<size_t>(row)].data(), target.data, 16);
        access.mask |= 1U << row;
        access.address[static_cast<size_t>(row)] = target.offset;
    }
    for_lanes(step.mask, [&](int lane) {
        for (int matrix = 0; matrix < op.elements; ++matrix) {
            uint32_t packed = 0;
            for (int half = 0; half < 2; ++half) {
                const MatrixPlace at = matrix_element(lane, half, op.flag);
                const uint16_t value =
                    row_data[static_cast<size_t>(8 * matrix + at.row)][static_cast<size_t>(at.column)];
                packed |= static_cast<uint32_t>(value) << (16 * half);
            }
            step.result(static_cast<size_t>(matrix))[lane] = packed;
        }
    });
    for (size_t i = 0; i < op.result_count; ++i) step.mark(i, kAllLanes);
    count_shared(step.launch.counters, access, false);
    return Flow::Next;
}
/// Lanes 8i..8i+7 give the addresses of the rows of matrix i, all lanes its elements.
Flow store_matrices(Step& step) {
    if (!gathered(step, kAllLanes)) return Flow::Blocked;
    const Op& op = step.op;
    std::array<std::array<uint16_t, 8>, kLanes> row_data{};
    for (int matrix = 0; matrix < op.elements; ++matrix) {
        const size_t source = 1 + static_cast<size_t>(matrix);
        if (step.launch.options.check_registers && step.ready(source) != kAllLanes) {
            throw Fault{FaultKind::UninitialisedRegister, "stores a register that was never written",
                        std::countr_zero(~step.ready(source))};
        }
        for (int lane = 0; lane < kLanes; ++lane) {
            for (int half = 0; half < 2; ++half) {
                const MatrixPlace at = matrix_element(lane, half, op.flag);
                row_data[static_cast<size_t>(8 * matrix + at.row)][static_cast<size_t>(at.column)] =
                    static_cast<uint16_t>(step.source(source)[lane] >> (16 * half));
            }
        }
    }
    LaneAddresses access;
    access.bytes = 16;
    for (int row = 0; row < 8 * op.elements; ++row) {
        const uint64_t address = step.source(0)[row] + static_cast<uint64_t>(op.offset);
        const Target target = resolve(step, row, op.space, address, 16, Access::Store);
        if (target.space != Space::Shared)
            throw Fault{FaultKind::IllegalAddress, "stmatrix writes to no shared memory", row};
        if (SharedShadow* shadow = target.shadow()) {
            shadow->write(target.offset, 16, step.warp.agent, step.warp.clock, step.line(), row);
        }
        std::memcpy(target.data, row_data[static_cast<size_t>(row)].data(), 16);
        access.mask |= 1U << row;
        access.address[static_cast<size_t>(row)] = target.offset;
    }
    count_shared(step.launch.counters, access, true);
    return Flow::Next;
}

/// ldmatrix and stmatrix: `registers` are the operand with the elements, `address` the other.
void decode_matrix_access(Decode& decode, const Operand& address, const Operand& registers, bool stores) {
    Op& op = decode.op();
    op.klass = InstructionClass::Memory;
    op.keeps_track = false;
    decode.expect("sync");
    decode.expect("aligned");
    if (!decode.accept("m8n8")) decode.refuse();
    if (decode.accept("x4"))
        op.elements = 4;
    else if (decode.accept("x2"))
        op.elements = 2;
    else
        decode.expect("x1");
    op.flag = decode.accept("trans");
    op.space = decode.accept("shared") || decode.accept("shared::cta") ? Space::Shared : Space::Generic;
    decode.expect("b16");
    decode.expect_operands(2, 2);
    check_count(decode, registers, op.elements);
    decode.address(address);
    op.strict = 0;  // only the lanes that give rows need an address
    if (stores)
        decode.sources_of(registers, Type::B32);
    else
        decode.results_of(registers);
    op.run = stores ? &store_matrices : &load_matrices;
}

Flow transpose_matrix(Step& step) {
    if (!gathered(step, kAllLanes)) return Flow::Blocked;
    std::array<std::array<uint16_t, 8>, 8> matrix{};
    const uint64_t* a = step.source(0);
    for (int lane = 0; lane < kLanes; ++lane) {
        for (int half = 0; half < 2; ++half) {
            const MatrixPlace at = matrix_element(lane, half, true);
            matrix[static_cast<size_t>(at.row)][static_cast<size_t>(at.column)] =
                static_cast<uint16_t>(a[lane] >> (16 * half));
        }
    }
    for_lanes(step.mask, [&](int lane) {
        const auto row = static_cast<size_t>(lane / 4);
        const auto column = static_cast<size_t>(lane % 4 * 2);
        step.result()[lane] = matrix[row][column] | (static_cast<uint32_t>(matrix[row][column + 1]) << 16);
    });
    step.mark(0, step.ready(0) == kAllLanes ? kAllLanes : 0);
    return Flow::Next;
}
void decode_ldmatrix(Decode& decode) {
    decode.expect_operands(2, 2);
    decode_matrix_access(decode, decode.operand(1), decode.operand(0), false);
}
void decode_stmatrix(Decode& decode) {
    decode.needs(90);
    decode.expect_operands(2, 2);
    decode_matrix_access(decode, decode.operand(0), decode.operand(1), true);
}

void decode_movmatrix(Decode& decode) {
    Op& op = decode.op();
    op.klass = InstructionClass::Warp;
    op.keeps_track = false;
    for (const char* word : {"sync", "aligned", "m8n8", "trans", "b16"}) decode.expect(word);
    plain_operands(decode, Type::B32, 1);
    op.run = &transpose_matrix;
}

}  // namespace

void add_matrix_decoders(std::map<std::string, Decoder>& decoders) {
    decoders["mma"] = &decode_mma;
    decoders["ldmatrix"] = &decode_ldmatrix;
    decoders["stmatrix"] = &decode_stmatrix;
    decoders["movmatrix"] = &decode_movmatrix;
}

}  // namespace emulated_gpu
