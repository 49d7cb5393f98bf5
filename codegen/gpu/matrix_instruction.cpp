#include "codegen/gpu/matrix_instruction.h"

#include <fmt/format.h>

#include <initializer_list>
#include <map>

#include "codegen/gpu/scalar_text.h"
#include "ir/support/internal_error.h"

namespace kiln::codegen::gpu {
namespace {

using enum ir::ScalarType;
using enum MatrixUnit;

constexpr int kRow = 0, kColumn = 1, kDepth = 1;  ///< axes: `a` and `b` have the contraction second
constexpr int kWordBits = 32;

void add_bits(Digits& digits, int axis, std::initializer_list<int> strides) {
    for (const int stride : strides) digits.push_back({2, axis, stride});
}
/// Bits with strides `from`, 2 * from, ... below `to`.
void add_range(Digits& digits, int axis, int from, int to) {
    for (int stride = from; stride < to; stride *= 2) digits.push_back({2, axis, stride});
}

/// Of the device function, and of its operands where the compiler wants more than a pointer.
std::string signature(const MatrixInstruction& row) {
    return fmt::format("KILN_DEVICE void {}({}* c, const {}* a, const {}* b)", row.name, c_type(row.accumulator),
                       fragment_type(row.left), fragment_type(row.right));
}

int words(const Layout& operand, ir::ScalarType element) {
    return operand.registers() / elements_per_word(element);
}

// NVIDIA

std::string_view ptx_type(ir::ScalarType type) {
    switch (type) {
        case F16:
            return "f16";
        case BF16:
            return "bf16";
        case F32:
            return "f32";
        case F64:
            return "f64";
        case I8:
            return "s8";
        case U8:
            return "u8";
        case I32:
            return "s32";
        case F8E4M3:
            return "e4m3";
        case F8E5M2:
            return "e5m2";
        case Bool:
        case I16:
        case I64:
        case U16:
        case U32:
        case U64:
        case I4:
        case U4:
        case F4E2M1:
        case F8E8M0:
            break;
    }
    throw support::InternalError("gpu::matrix_instruction", "no operand of mma");
}

/// PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f64 floating point type" to "... for mma.m16n8k32": a lane holds
/// words of consecutive elements along the contraction, four lanes a row; then, if there are more words, 8 rows
/// further, then four words further.
Layout mma_operand(int rows, int depth, ir::ScalarType element) {
    const int word = elements_per_word(element);
    Digits registers, lanes;
    add_range(registers, kDepth, 1, word);
    if (rows > 8) add_bits(registers, kRow, {8});
    add_range(registers, kDepth, 4 * word, depth);
    add_range(lanes, kDepth, word, 4 * word);
    add_range(lanes, kRow, 1, 8);
    return atom({rows, depth}, registers, lanes);
}

Layout mma_result(int rows) {
    Digits registers, lanes;
    add_bits(registers, kColumn, {1});
    if (rows > 8) add_bits(registers, kRow, {8});
    add_range(lanes, kColumn, 2, 8);
    add_range(lanes, kRow, 1, 8);
    return atom({rows, 8}, registers, lanes);
}

std::string operand_list(int first, int count) {
    std::string text;
    for (int i = first; i < first + count; ++i) text += fmt::format("{}%{}", text.empty() ? "" : ", ", i);
    return "{" + text + "}";
}

std::string constraint_list(std::string_view constraint, std::string_view name, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
        text += fmt::format("{}\"{}\"({}[{}])", text.empty() ? "" : ", ", constraint, name, i);
    }
    return text;
}

std::string mma_function(const MatrixInstruction& row, std::string_view shape) {
    const auto operand_type = [&](ir::ScalarType type) { return row.tf32 ? "tf32" : ptx_type(type); };
    const int a = words(row.a, row.left), b = words(row.b, row.right), c = row.c.registers();
    const std::string_view operand = row.left == F64 ? "d" : "r";
    const std::string_view result = row.accumulator == F64 ? "+d" : row.accumulator == F32 ? "+f" : "+r";
    const std::string_view accumulator = ptx_type(row.accumulator);
    const std::string sums = operand_list(0, c);
    return fmt::format(
        "{} {{\n    asm(\"mma.sync.aligned.{}.row.col.{}.{}.{}.{} {}, {}, {}, {};\"\n        : {}\n        : {}, "
        "{});\n}}\n",
        signature(row), shape, accumulator, operand_type(row.left), operand_type(row.right), accumulator, sums,
        operand_list(c, a), operand_list(c + a, b), sums, constraint_list(result, "c", c),
        constraint_list(operand, "a", a), constraint_list(operand, "b", b));
}

MatrixInstruction mma(int rows, int depth, ir::ScalarType left, ir::ScalarType right, ir::ScalarType accumulator) {
    MatrixInstruction row;
    row.left = left;
    row.right = right;
    row.accumulator = accumulator;
    row.tf32 = left == F32;
    row.a = mma_operand(rows, depth, left);
    row.b = mma_operand(8, depth, right);
    row.c = mma_result(rows);
    const std::string shape = fmt::format("m{}n8k{}", rows, depth);
    row.name = fmt::format("kiln_mma_{}_{}_{}", shape, row.tf32 ? "tf32" : ptx_type(left),
                           row.tf32 ? "tf32" : ptx_type(right));
    row.function = mma_function(row, shape);
    return row;
}

void add_mma(std::vector<MatrixInstruction>& rows) {
    for (const ir::ScalarType type : {F16, BF16}) {
        for (const int depth : {16, 8}) rows.push_back(mma(16, depth, type, type, F32));
    }
    for (const ir::ScalarType left : {I8, U8}) {
        for (const ir::ScalarType right : {I8, U8}) {
            for (const int depth : {32, 16}) rows.push_back(mma(16, depth, left, right, I32));
        }
    }
    for (const int depth : {8, 4}) rows.push_back(mma(16, depth, F32, F32, F32));
    rows.push_back(mma(8, 4, F64, F64, F64));
}

/// Sums of fp8 products are kept in fewer bits than f32 has on sm_89 and sm_90 (DeepSeek-V3 Technical Report, section
/// 3.3.2), and the language admits 128 products between additions in f32.
constexpr int kMostFp8Products = 128;

void add_fp8_mma(std::vector<MatrixInstruction>& rows) {
    for (const ir::ScalarType left : {F8E4M3, F8E5M2}) {
        for (const ir::ScalarType right : {F8E4M3, F8E5M2}) {
            rows.push_back(mma(16, 32, left, right, F32));
            rows.back().most_products = kMostFp8Products;
        }
    }
}

// AMD

/// How clang's builtin takes the registers of a lane.
struct AmdOperand {
    std::string_view type;
    int count = 1;  ///< of a vector
};

std::string type_definition(AmdOperand operand, std::string_view name) {
    const std::string vector = operand.count > 1 ? fmt::format("ext_vector_type({}), ", operand.count) : "";
    return fmt::format("    typedef {} {} __attribute__(({}aligned(4), may_alias));\n", operand.type, name, vector);
}

AmdOperand result_operand(const MatrixInstruction& row) {
    return {c_type(row.accumulator), row.c.registers()};
}

/// `call` is the builtin with its arguments, in which `left`, `right` and `sums` stand for the operands.
std::string amd_function(const MatrixInstruction& row, AmdOperand operand, const std::string& call) {
    return fmt::format(
        "{} {{\n{}{}    const operand left = *(const operand*)a, right = *(const operand*)b;\n    const result sums = "
        "*(const result*)c;\n    *(result*)c = {};\n}}\n",
        signature(row), type_definition(operand, "operand"), type_definition(result_operand(row), "result"), call);
}

/// AMD CDNA 2, CDNA 3 and CDNA 4 ISA, chapter "Matrix Arithmetic Instructions", and AMD Matrix Instruction Calculator:
/// the lanes stand along the rows, then along the contraction, each with as many consecutive elements as are left.
Layout mfma_operand(int rows, int depth) {
    const int each = depth * rows / 64;
    Digits registers, lanes;
    add_range(registers, kDepth, 1, each);
    add_range(lanes, kRow, 1, rows);
    add_range(lanes, kDepth, each, depth);
    return atom({rows, depth}, registers, lanes);
}

/// The same documents: lanes along the columns, then rows in groups of four registers; of f64 in groups of one.
Layout mfma_result(int rows, ir::ScalarType accumulator) {
    const int group = accumulator == F64 ? 1 : 4, next = group * 64 / rows;
    Digits registers, lanes;
    add_range(registers, kRow, 1, group);
    add_range(registers, kRow, next, rows);
    add_range(lanes, kColumn, 1, rows);
    add_range(lanes, kRow, group, next);
    return atom({rows, rows}, registers, lanes);
}

struct MfmaRow {
    int rows, depth;
    ir::ScalarType left, right;
    std::string_view builtin;  ///< behind __builtin_amdgcn_mfma_
    AmdOperand operand;
};

MatrixInstruction mfma(const MfmaRow& data) {
    MatrixInstruction row;
    row.left = data.left;
    row.right = data.right;
    row.accumulator = data.left == I8 ? I32 : data.left == F64 ? F64 : F32;
    row.a = mfma_operand(data.rows, data.depth);
    row.b = row.a;
    row.c = mfma_result(data.rows, row.accumulator);
    row.name = fmt::format("kiln_mfma_{}", data.builtin);
    row.function = amd_function(row, data.operand,
                                fmt::format("__builtin_amdgcn_mfma_{}(left, right, sums, 0, 0, 0)", data.builtin));
    return row;
}

/// CDNA 3 has fp8 in a format of its own (no infinity, another bias), which is not the language's: it is left out.
constexpr MfmaRow kMfmaCdna4[] = {
    {16, 32, F16, F16, "f32_16x16x32_f16", {"_Float16", 8}},
    {32, 16, F16, F16, "f32_32x32x16_f16", {"_Float16", 8}},
    {16, 32, BF16, BF16, "f32_16x16x32_bf16", {"__bf16", 8}},
    {32, 16, BF16, BF16, "f32_32x32x16_bf16", {"__bf16", 8}},
    {16, 64, I8, I8, "i32_16x16x64_i8", {"int", 4}},
    {32, 32, I8, I8, "i32_32x32x32_i8", {"int", 4}},
    {16, 32, F8E4M3, F8E4M3, "f32_16x16x32_fp8_fp8", {"long"}},
    {16, 32, F8E4M3, F8E5M2, "f32_16x16x32_fp8_bf8", {"long"}},
    {16, 32, F8E5M2, F8E4M3, "f32_16x16x32_bf8_fp8", {"long"}},
    {16, 32, F8E5M2, F8E5M2, "f32_16x16x32_bf8_bf8", {"long"}},
};
constexpr MfmaRow kMfmaCdna3[] = {
    {16, 32, I8, I8, "i32_16x16x32_i8", {"long"}},
    {32, 16, I8, I8, "i32_32x32x16_i8", {"long"}},
};
constexpr MfmaRow kMfmaCdna2[] = {
    {16, 16, I8, I8, "i32_16x16x16i8", {"int"}},
    {32, 8, I8, I8, "i32_32x32x8i8", {"int"}},
};
constexpr MfmaRow kMfmaCommon[] = {
    {16, 16, F16, F16, "f32_16x16x16f16", {"_Float16", 4}},
    {32, 8, F16, F16, "f32_32x32x8f16", {"_Float16", 4}},
    {16, 16, BF16, BF16, "f32_16x16x16bf16_1k", {"short", 4}},
    {32, 8, BF16, BF16, "f32_32x32x8bf16_1k", {"short", 4}},
    {16, 4, F32, F32, "f32_16x16x4f32", {"float"}},
    {32, 2, F32, F32, "f32_32x32x2f32", {"float"}},
    {16, 4, F64, F64, "f64_16x16x4f64", {"double"}},
};

template <std::size_t Count>
void add_mfma(std::vector<MatrixInstruction>& rows, const MfmaRow (&data)[Count]) {
    for (const MfmaRow& row : data) rows.push_back(mfma(row));
}

/// Products of f16 and bf16 take subnormal numbers for zeros on CDNA 2 (AMD, MIOpen, "MI200 MFMA behavior specifics"),
/// and those of CDNA 3 on do not.
std::vector<MatrixInstruction> cdna2() {
    std::vector<MatrixInstruction> rows;
    add_mfma(rows, kMfmaCdna2);
    add_mfma(rows, kMfmaCommon);
    for (MatrixInstruction& row : rows) row.flushes_subnormals = row.left == F16 || row.left == BF16;
    return rows;
}

/// AMD RDNA 3 ISA, section 7.9, and RDNA 4 ISA, section 7.12: 32 lanes; a lane holds a row, on RDNA 4 half of one. RDNA
/// 3 wants each row twice, and has the rows of a result alternate between the halves of the lanes, where RDNA 4 has 8
/// in each.
Layout wmma_operand(MatrixUnit unit) {
    Digits registers, lanes;
    const int each = unit == Rdna3 ? 16 : 8;
    add_range(registers, kDepth, 1, each);
    add_range(lanes, kRow, 1, 16);
    lanes.push_back(unit == Rdna3 ? Digit{2, kBroadcast, 0} : Digit{2, kDepth, each});
    return atom({16, 16}, registers, lanes);
}

Layout wmma_result(MatrixUnit unit) {
    Digits registers, lanes;
    const int first = unit == Rdna3 ? 2 : 1;
    add_range(registers, kRow, first, 8 * first);
    add_range(lanes, kColumn, 1, 16);
    add_bits(lanes, kRow, {unit == Rdna3 ? 1 : 8});
    return atom({16, 16}, registers, lanes);
}

MatrixInstruction wmma(MatrixUnit unit, ir::ScalarType left, ir::ScalarType right, std::string_view types,
                       AmdOperand operand) {
    MatrixInstruction row;
    row.left = left;
    row.right = right;
    row.accumulator = ir::is_integer(left) ? I32 : F32;
    row.a = wmma_operand(unit);
    row.b = row.a;
    row.c = wmma_result(unit);
    const std::string_view generation = unit == Rdna3 ? "w32" : "w32_gfx12";
    const std::string builtin =
        fmt::format("{}_16x16x16_{}_{}", row.accumulator == I32 ? "i32" : "f32", types, generation);
    const auto sign = [](ir::ScalarType type) { return type == I8 ? "true" : "false"; };
    const std::string arguments = row.accumulator == I32
                                      ? fmt::format("{}, left, {}, right, sums, false", sign(left), sign(right))
                                      : "left, right, sums";
    row.name = fmt::format("kiln_wmma_{}", builtin);
    if (row.accumulator == I32) row.name += fmt::format("_{}_{}", ptx_type(left), ptx_type(right));
    row.function = amd_function(row, operand, fmt::format("__builtin_amdgcn_wmma_{}({})", builtin, arguments));
    return row;
}

std::vector<MatrixInstruction> rdna(MatrixUnit unit) {
    const int halves = unit == Rdna3 ? 16 : 8, words = unit == Rdna3 ? 4 : 2;
    std::vector<MatrixInstruction> rows = {wmma(unit, F16, F16, "f16", {"_Float16", halves}),
                                           wmma(unit, BF16, BF16, "bf16", {"short", halves})};
    for (const ir::ScalarType left : {I8, U8}) {
        for (const ir::ScalarType right : {I8, U8}) rows.push_back(wmma(unit, left, right, "iu8", {"int", words}));
    }
    if (unit == Rdna3) return rows;
    rows.push_back(wmma(unit, F8E4M3, F8E4M3, "fp8_fp8", {"int", words}));
    rows.push_back(wmma(unit, F8E4M3, F8E5M2, "fp8_bf8", {"int", words}));
    rows.push_back(wmma(unit, F8E5M2, F8E4M3, "bf8_fp8", {"int", words}));
    rows.push_back(wmma(unit, F8E5M2, F8E5M2, "bf8_bf8", {"int", words}));
    return rows;
}

std::vector<MatrixInstruction> rows_of(MatrixUnit unit) {
    std::vector<MatrixInstruction> rows;
    switch (unit) {
        case None:
            return rows;
        case Ada:
            add_fp8_mma(rows);
            add_mma(rows);
            return rows;
        case Ampere:
            add_mma(rows);
            return rows;
        case Cdna2:
            return cdna2();
        case Cdna4:
            add_mfma(rows, kMfmaCdna4);
            [[fallthrough]];
        case Cdna3:
            add_mfma(rows, kMfmaCdna3);
            add_mfma(rows, kMfmaCommon);
            return rows;
        case Rdna3:
        case Rdna4:
            return rdna(unit);
    }
    throw support::InternalError("gpu::matrix_instruction", "no such unit");
}

}  // namespace

const std::vector<MatrixInstruction>& matrix_instructions(MatrixUnit unit) {
    static const std::map<MatrixUnit, std::vector<MatrixInstruction>> rows = [] {
        std::map<MatrixUnit, std::vector<MatrixInstruction>> all;
        for (const MatrixUnit each : kMatrixUnits) all.emplace(each, rows_of(each));
        return all;
    }();
    return rows.at(unit);
}

std::string_view fragment_type(ir::ScalarType element) {
    return element == F64 ? "double" : "unsigned";
}

int elements_per_word(ir::ScalarType element) {
    return element == F64 ? 1 : kWordBits / ir::bit_width(element);
}

}  // namespace kiln::codegen::gpu
