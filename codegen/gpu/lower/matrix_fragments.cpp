#include "codegen/gpu/lower/matrix_fragments.h"

#include <algorithm>
#include <bit>

namespace kiln::codegen::gpu {

namespace {

constexpr int kDepthAxis = 1;  ///< of an instruction's operand
constexpr int kReadBytes = 16;
constexpr int kMatricesOfRead = 4;

int log2_exactly(std::int64_t power) {
    return std::countr_zero(static_cast<std::uint64_t>(power));
}

/// Digits of powers of two as bits; other factors stay.
Digits as_bits(const Digits& digits) {
    Digits result;
    for (Digit digit : digits) {
        for (; digit.count % 2 == 0; digit.count /= 2, digit.stride *= 2) {
            result.push_back({2, digit.axis, digit.stride});
        }
        if (digit.count > 1) result.push_back(digit);
    }
    return result;
}

/// The digits of an instruction's operand in the tile, where its rows stand `apart`.
Digits in_tile(const Digits& digits, int own, int apart, const DepthOrder& order) {
    Digits result = as_bits(digits);
    for (Digit& digit : result) {
        if (digit.axis == kBroadcast) continue;
        const bool is_depth = digit.axis == kDepthAxis;
        digit.axis = is_depth ? 1 - own : own;
        digit.stride =
            is_depth ? order.bits[static_cast<std::size_t>(log2_exactly(digit.stride))] : digit.stride * apart;
    }
    return result;
}

/// How often an operand's instructions repeat along the rows or columns within a warp.
int repeats_of(const MatrixProduct& product, std::size_t side, const Layout& sums) {
    std::int64_t repeats = sums.shape()[side] / product.extent(side);
    for (const Digit& digit : sums.parts().front().warps) {
        if (digit.axis == static_cast<int>(side)) repeats /= digit.count;
    }
    return static_cast<int>(repeats);
}

/// Warps of the product's result that stand along a side of it; the others repeat.
Digits warps_along(const Layout& sums, std::size_t side, int own) {
    Digits result = sums.parts().front().warps;
    for (Digit& digit : result) {
        digit = digit.axis == static_cast<int>(side) ? Digit{digit.count, own, digit.stride}
                                                     : Digit{digit.count, kBroadcast, 0};
    }
    return result;
}

/// How many registers from the first on hold neighbours along the last axis, at most `most`.
int contiguous_registers(const Digits& registers, int most) {
    int run = 1;
    for (const Digit& digit : as_bits(registers)) {
        if (digit.count != 2 || digit.axis != 1 || digit.stride != run || run * 2 > most) break;
        run *= 2;
    }
    return run;
}

bool are(const Digits& digits, std::size_t first, std::size_t end, int axis, std::int64_t stride) {
    for (std::size_t i = first; i < end; ++i, stride *= 2) {
        if (digits[i].axis != axis || (stride > 0 && digits[i].stride != stride)) return false;
    }
    return true;
}

/// `ldmatrix` gives word w of a row (or, transposed, of a column) to lane w of four, and rows to groups of four lanes
/// (PTX ISA, "ldmatrix"). Nothing else is asked of the layout; rows need not be neighbours.
std::optional<FragmentRead> matrix_read(const Digits& registers, const Digits& lanes, int word) {
    constexpr std::int64_t kAny = 0;
    const auto bits = static_cast<std::size_t>(log2_exactly(word));
    if (are(registers, 0, bits, 1, 1) && are(lanes, 0, 2, 1, word) && are(lanes, 2, 5, 0, kAny)) {
        return FragmentRead::Matrices;
    }
    if (word == 2 && are(registers, 0, 1, 0, kAny) && are(lanes, 0, 2, 0, kAny) && are(lanes, 2, 5, 1, 1)) {
        return FragmentRead::TransposedMatrices;
    }
    return std::nullopt;
}

/// Lanes 0-7 name the rows of the first matrix, the next 8 those of the second: of the next words, and so on.
void read_matrices(Fragments& result, const Digits& registers, std::size_t of_group, const Digits& lanes, int word) {
    const bool transposed = result.read == FragmentRead::TransposedMatrices;
    const auto bits = static_cast<std::size_t>(log2_exactly(word));
    Part part{{0, 0}, {{4 * word, 1, 1}}, {}, result.elements.parts().front().warps};
    if (transposed) {
        part.lanes = {registers[0], lanes[0], lanes[1]};
    } else {
        part.lanes = {lanes[2], lanes[3], lanes[4]};
    }
    std::size_t next = bits;
    int matrices = 1;
    for (; matrices < kMatricesOfRead && next < of_group && registers[next].count == 2; ++next, matrices *= 2) {
        part.lanes.push_back(registers[next]);
    }
    while (part.lanes.size() < lanes.size()) part.lanes.push_back({2, kBroadcast, 0});
    part.registers.insert(part.registers.end(), registers.begin() + static_cast<std::ptrdiff_t>(next), registers.end());
    result.registers_of_read = word * matrices;
    result.addresses = {Layout(result.elements.shape(), {part}), 4 * word, false};
}

/// The order without relabelling.
DepthOrder plain_order(const MatrixProduct& product, std::int64_t depth) {
    const int step = product.instruction->depth();
    DepthOrder order;
    for (int place = 1; place < step; place *= 2) order.bits.push_back(place);
    order.steps = {{static_cast<int>(depth / step), kDepthAxis, step}};
    return order;
}

}  // namespace

DepthOrder depth_order(const MatrixProduct& product, std::int64_t depth, bool reads_along_depth, const Target& target) {
    const DepthOrder plain = plain_order(product, depth);
    if (loads_matrices(target) || !reads_along_depth) return plain;
    // A lane's places are the lowest bits of the contraction; behind them come those of further steps, then lanes.
    const int bytes = std::max(ir::bit_width(product.left), ir::bit_width(product.right)) / 8;
    int held = 1;
    for (const Digit& digit : as_bits(product.operand(0).parts().front().registers)) {
        if (digit.axis == kDepthAxis) held *= 2;
    }
    DepthOrder order = plain;
    int steps = 1;
    while (steps * 2 * held * bytes <= kReadBytes && plain.step_count() % (steps * 2) == 0) steps *= 2;
    for (std::int64_t& stride : order.bits) {
        if (stride >= held) stride *= steps;
    }
    const int step = product.instruction->depth();
    order.steps = {{steps, kDepthAxis, held}, {plain.step_count() / steps, kDepthAxis, std::int64_t{step} * steps}};
    order.steps_of_group = steps;
    return order;
}

std::optional<DepthOrder> held_order(const MatrixProduct& product, std::size_t side, const Layout& sums,
                                     const Layout& held, int own) {
    if (held.parts().size() != 1 || !held.exact()) return std::nullopt;
    const Part &part = held.parts().front(), &wanted = product.operand(side).parts().front();
    const Digits warps = warps_along(sums, side, own);
    for (int warp = 0; warp < held.warps(); ++warp) {
        if (offset(part.warps, 1 - own, warp) != 0) return std::nullopt;
        if (offset(part.warps, own, warp) != offset(warps, own, warp)) return std::nullopt;
    }
    DepthOrder order = plain_order(product, held.shape()[static_cast<std::size_t>(1 - own)]);
    const int apart = product.neighbours(side, repeats_of(product, side, sums));
    for (std::size_t i = 0; i < wanted.lanes.size(); ++i) {
        const Digit &has = part.lanes[i], &wants = wanted.lanes[i];
        const bool is_depth = wants.axis == kDepthAxis;
        const int axis = wants.axis == kBroadcast ? kBroadcast : is_depth ? 1 - own : own;
        if (has.axis != axis || (!is_depth && has.stride != wants.stride * apart)) return std::nullopt;
        if (is_depth) order.bits[static_cast<std::size_t>(log2_exactly(wants.stride))] = has.stride;
    }
    // The thread's own places along the contraction, in the order of its registers, then the steps.
    Digits left;
    for (const Digit& digit : as_bits(part.registers)) {
        if (digit.axis == 1 - own) left.push_back({digit.count, kDepthAxis, digit.stride});
    }
    for (const Digit& digit : as_bits(wanted.registers)) {
        if (digit.axis != kDepthAxis) continue;
        if (left.empty() || left.front().count != 2) return std::nullopt;
        order.bits[static_cast<std::size_t>(log2_exactly(digit.stride))] = left.front().stride;
        left.erase(left.begin());
    }
    order.steps = left;
    const bool is_all = std::int64_t{order.step_count()} * product.instruction->depth() ==
                        held.shape()[static_cast<std::size_t>(1 - own)];
    return is_all ? std::optional(order) : std::nullopt;
}

Fragments fragments(const MatrixProduct& product, std::size_t side, const Layout& sums, const ir::Shape& tile, int own,
                    const DepthOrder& order, const Target& target) {
    const Part& atom = product.operand(side).parts().front();
    const int word = elements_per_word(product.type(side));
    const Digits warps = warps_along(sums, side, own);
    Fragments result;
    result.per_instruction = product.operand(side).registers();
    result.repeats = repeats_of(product, side, sums);
    const int neighbours = product.neighbours(side, result.repeats);
    std::int64_t box = std::int64_t{product.extent(side)} * neighbours;
    for (const Digit& digit : warps) {
        if (digit.axis == own) box *= digit.count;
    }
    // The elements of an instruction, the steps of a group, the repeats, the groups.
    Digits registers = in_tile(atom.registers, own, neighbours, order), groups;
    int steps = 1;
    for (Digit digit : as_bits(order.steps)) {
        digit.axis = 1 - own;
        (steps < order.steps_of_group ? registers : groups).push_back(digit);
        steps *= digit.count;
    }
    const std::size_t of_steps = registers.size();
    const Digits repeats = as_bits({{neighbours, own, 1}, {result.repeats / neighbours, own, box}});
    registers.insert(registers.end(), repeats.begin(), repeats.end());
    const std::size_t of_group = registers.size();
    registers.insert(registers.end(), groups.begin(), groups.end());
    const Digits lanes = in_tile(atom.lanes, own, neighbours, order);
    result.elements = Layout(tile, {{{0, 0}, registers, lanes, warps}});
    if (neighbours > 1 && own == 1) {
        // The neighbours first, then all else in order.
        const auto bits = static_cast<std::ptrdiff_t>(log2_exactly(neighbours));
        const auto first = registers.begin() + static_cast<std::ptrdiff_t>(of_steps);
        std::rotate(registers.begin(), first, first + bits);
        result.read = FragmentRead::Turned;
        result.registers_of_read = neighbours;
        result.addresses = {Layout(tile, {{{0, 0}, registers, lanes, warps}}), neighbours, false};
        return result;
    }
    const std::optional<FragmentRead> matrices =
        loads_matrices(target) ? matrix_read(registers, lanes, word) : std::nullopt;
    if (matrices && product.instruction->accumulator != ir::ScalarType::F64) {
        result.read = *matrices;
        read_matrices(result, registers, of_group, lanes, word);
        return result;
    }
    const int bytes = ir::bit_width(product.type(side)) / 8;
    registers.resize(of_group);  // those of the next group belong to another array
    const int run = contiguous_registers(registers, kReadBytes / bytes);
    // What is less than a word is put together from elements.
    result.registers_of_read = run % word == 0 ? run : 1;
    result.addresses = {result.elements, result.registers_of_read, false};
    return result;
}

}  // namespace kiln::codegen::gpu
