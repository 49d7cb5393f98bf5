#include "codegen/gpu/lower/choose_matrix_product.h"

#include <tuple>
#include <vector>

namespace kiln::codegen::gpu {

using namespace ir;

namespace {

using OperandTypes = std::pair<ScalarType, ScalarType>;

bool is_byte_float(ScalarType type) {
    return type == ScalarType::F8E4M3 || type == ScalarType::F8E5M2;
}

/// The next wider type that holds all values, of those that instructions take; the type itself if there is none.
ScalarType wider(ScalarType type) {
    if (type == ScalarType::I4) return ScalarType::I8;
    if (type == ScalarType::U4) return ScalarType::U8;
    if (is_byte_float(type) || type == ScalarType::F4E2M1) return ScalarType::F16;
    if (type == ScalarType::F16 || type == ScalarType::BF16) return ScalarType::F32;
    return type;
}

/// What the operands may be widened to, the narrowest first.
std::vector<OperandTypes> operand_types(const Kernel& kernel, const Op& dot) {
    OperandTypes types{kernel.type(dot.operands[0]).element, kernel.type(dot.operands[1]).element};
    std::vector<OperandTypes> result = {types};
    while (true) {
        const OperandTypes next{wider(types.first), wider(types.second)};
        if (next == types) return result;
        types = next;
        result.push_back(types);
    }
}

/// Whether the language lets the product be computed by the instruction.
bool is_allowed(const MatrixInstruction& instruction, DotPrecision precision, const Freedoms& freedoms) {
    if (instruction.flushes_subnormals && !freedoms.flush) return false;
    if (instruction.tf32) return precision == DotPrecision::Tf32;
    return precision != DotPrecision::Exact || instruction.accumulator == ScalarType::I32;
}

bool is_whole(const MatrixProduct& product, const Shape& result, std::int64_t depth) {
    return result[0] % product.extent(0) == 0 && result[1] % product.extent(1) == 0 &&
           depth % product.instruction->depth() == 0;
}

bool takes(const MatrixProduct& product) {
    const MatrixInstruction& instruction = *product.instruction;
    return instruction.left == (product.swapped ? product.right : product.left) &&
           instruction.right == (product.swapped ? product.left : product.right);
}

void note_turns(const Kernel& kernel, const Op& dot, const Target& target, MatrixProduct& product) {
    for (const std::size_t side : {0u, 1u}) {
        const bool loads = loads_matrices(target) && bit_width(product.type(side)) == 16;
        product.turns[side] = operand_tile(kernel, dot, side).own == 1 && !loads;
    }
}

}  // namespace

bool loads_matrices(const Target& target) {
    return target.matrix_unit == MatrixUnit::Ampere || target.matrix_unit == MatrixUnit::Ada;
}

OperandTile operand_tile(const Kernel& kernel, const Op& dot, std::size_t side) {
    const ValueId value = dot.operands[side];
    const int own = static_cast<int>(side);
    const Op* op = kernel.definition(value);
    if (op != nullptr && op->kind == OpKind::Permute) return {op->operands[0], 1 - own};
    return {value, own};
}

int MatrixProduct::neighbours(std::size_t side, std::int64_t repeats) const {
    constexpr int kWidestRead = 16;
    int count = 1;
    const int most = kWidestRead * 8 / bit_width(type(side));
    while (turns[side] && count * 2 <= most && repeats % (count * 2) == 0) count *= 2;
    return count;
}

Layout MatrixProduct::sums() const {
    return swapped ? permute(instruction->c, {1, 0}) : instruction->c;
}

std::optional<MatrixProduct> choose_matrix_product(const Kernel& kernel, const Op& dot, const Target& target) {
    const DotPrecision precision = attribute<DotAttribute>(dot).precision;
    const std::int64_t depth = kernel.type(dot.operands[0]).shape[1];
    const bool usual = target.vendor == Vendor::Amd;
    for (const OperandTypes& types : operand_types(kernel, dot)) {
        for (const MatrixInstruction& instruction : matrix_instructions(target.matrix_unit)) {
            for (const bool swapped : {usual, !usual}) {
                MatrixProduct product{&instruction, swapped, types.first, types.second};
                const bool suits = takes(product) && is_allowed(instruction, precision, kernel.freedoms) &&
                                   is_whole(product, kernel.type(dot.result()).shape, depth);
                if (!suits) continue;
                note_turns(kernel, dot, target, product);
                return product;
            }
        }
    }
    return std::nullopt;
}

int most_matrix_warps(const MatrixProduct& product, const Shape& shape) {
    return static_cast<int>(shape[0] / product.extent(0) * (shape[1] / product.extent(1)));
}

Layout matrix_layout(const MatrixProduct& product, const Shape& shape, int warps, bool by_rows) {
    const std::int64_t rows = shape[0] / product.extent(0), columns = shape[1] / product.extent(1);
    // More is better: warps with work (first those along the rows, if so wanted), then the less is read.
    std::tuple<int, int, std::int64_t> best{0, 0, 0};
    int along_rows = 1, along_columns = 1;
    for (int r = 1; r <= warps; ++r) {
        for (int c = 1; r * c <= warps; ++c) {
            if (rows % r != 0 || columns % c != 0 || warps % (r * c) != 0) continue;
            const std::tuple<int, int, std::int64_t> worth{by_rows ? r : r * c, r * c, -(shape[0] / r + shape[1] / c)};
            if (worth <= best) continue;
            best = worth;
            along_rows = r;
            along_columns = c;
        }
    }
    const int warps_along[] = {along_rows, along_columns};
    Part part = product.sums().parts().front();
    std::int64_t box[2];
    Digits repeats[2];
    for (const std::size_t side : {0u, 1u}) {
        const int axis = static_cast<int>(side);
        const std::int64_t count = shape[side] / product.extent(side) / warps_along[side];
        const int neighbours = product.neighbours(side, count);
        for (Digits* digits : {&part.registers, &part.lanes}) {
            for (Digit& digit : *digits) {
                if (digit.axis == axis) digit.stride *= neighbours;
            }
        }
        box[side] = std::int64_t{product.extent(side)} * neighbours;
        repeats[side] = {{neighbours, axis, 1},
                         {static_cast<int>(count) / neighbours, axis, box[side] * warps_along[side]}};
    }
    part.warps = {
        {along_columns, 1, box[1]}, {along_rows, 0, box[0]}, {warps / (along_rows * along_columns), kBroadcast, 0}};
    for (const std::size_t side : {1u, 0u}) {
        part.registers.insert(part.registers.end(), repeats[side].begin(), repeats[side].end());
    }
    return Layout(shape, {part});
}

}  // namespace kiln::codegen::gpu
