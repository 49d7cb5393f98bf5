// dot by matrix instructions. Operands lie in shared memory, or one of them in registers already as the instructions
// want it: the result of an earlier product, such as the weights of attention.
#include <algorithm>

#include "codegen/gpu/lower/phase_lowering.h"
#include "codegen/gpu/lower/register_text.h"
#include "ir/support/internal_error.h"

namespace kiln::codegen::gpu {

using namespace ir;

namespace {

/// The number of a read or word of all groups, in the loops over groups and over those of one group.
std::string number_text(int groups, int of_group, const std::string& counter) {
    if (groups == 1) return counter;
    if (of_group == 1) return "g";
    return "(g * " + std::to_string(of_group) + " + " + counter + ")";
}

std::string storage_type(int bytes) {
    return bytes == 1 ? "unsigned char" : bytes == 2 ? "unsigned short" : bytes == 4 ? "unsigned" : "double";
}

std::string shifted(const std::string& element, int bits, const std::string& place) {
    return "(unsigned)" + element + " << (" + std::to_string(bits) + " * " + place + ")";
}

}  // namespace

PhaseLowering::MatrixOrder PhaseLowering::matrix_order(const Op& op, const MatrixProduct& product,
                                                       std::int64_t depth) const {
    const Layout& sums = layouts_[op.result()];
    const OperandTile tiles[] = {operand_tile(kernel_, op, 0), operand_tile(kernel_, op, 1)};
    for (const std::size_t side : {0u, 1u}) {
        const auto& [value, own] = tiles[side];
        const bool is_whole = kernel_.type(value).shape[static_cast<std::size_t>(1 - own)] == depth;
        if (!is_whole || values_[value] != TileForm::Kept) continue;
        if (auto order = held_order(product, side, sums, layouts_[value], own)) return {*order, side};
    }
    const bool along_depth = tiles[0].own == 0 || tiles[1].own == 0;
    return {depth_order(product, depth, along_depth, target_), std::nullopt};
}

/// What an operand's tile is read as where it is staged.
OperandReads PhaseLowering::matrix_reads(const Op& op, const MatrixProduct& product, std::size_t side) const {
    const OperandTile tile = operand_tile(kernel_, op, side);
    const Shape& shape = kernel_.type(tile.value).shape;
    const std::int64_t depth = shape[static_cast<std::size_t>(1 - tile.own)];
    const DepthOrder order = matrix_order(op, product, depth).depth;
    const Fragments reads = fragments(product, side, layouts_[op.result()], shape, tile.own, order, target_);
    return {tile.value, product.type(side), {reads.addresses}, true};
}

PhaseLowering::MatrixOperand PhaseLowering::matrix_operand(const Op& op, const MatrixProduct& product, std::size_t side,
                                                           const MatrixOrder& order, const Window& window) {
    MatrixOperand operand;
    operand.name = side == 0 ? "left" : "right";
    operand.tile = operand_tile(kernel_, op, side);
    operand.type = product.type(side);
    Shape shape = kernel_.type(operand.tile.value).shape;
    if (window.length > 0) shape[window.axis] = window.length;
    operand.fragments = fragments(product, side, layouts_[op.result()], shape, operand.tile.own, order.depth, target_);
    const int registers = operand.fragments.elements.registers() / order.depth.groups();
    operand.words = registers / elements_per_word(operand.type);
    operand.reads = registers / operand.fragments.registers_of_read;
    if (order.held == side) return operand;
    operand.staged = stage_operand(op, side, window);
    const FragmentRead read = operand.fragments.read;
    const bool by_matrices = read == FragmentRead::Matrices || read == FragmentRead::TransposedMatrices;
    if (by_matrices) operand.address = fresh(operand.name);
    return operand;
}

void PhaseLowering::lower_matrix_product(const Op& op, const MatrixProduct& product) {
    const std::int64_t all = kernel_.type(op.operands[0]).shape[1];
    const bool is_held = matrix_order(op, product, all).held.has_value();
    // One piece after another where shared memory is short.
    const std::int64_t step = product.instruction->depth();
    const int pieces = !is_held && all % (shared_.pieces * step) == 0 ? shared_.pieces : 1;
    const std::int64_t depth = all / pieces;
    const MatrixOrder order = matrix_order(op, product, depth);
    for (int piece = 0; piece < pieces; ++piece) {
        MatrixOperand operands[2];
        std::vector<Touch> touches;
        for (const std::size_t side : {0u, 1u}) {
            const auto axis = static_cast<std::size_t>(1 - operand_tile(kernel_, op, side).own);
            const Window window = pieces == 1 ? Window{} : Window{axis, piece * depth, depth};
            operands[side] = matrix_operand(op, product, side, order, window);
            if (operands[side].staged) touches.push_back({Touch::Space::Shared, operands[side].staged->buffer, false});
        }
        Lines lines;
        multiply_groups(lines, op, product, operands[0], operands[1], order.depth);
        emit(std::move(lines), touches);
    }
}

/// Sums of few bits are added to the result again and again.
void PhaseLowering::multiply_groups(Lines& lines, const Op& op, const MatrixProduct& product, const MatrixOperand& left,
                                    const MatrixOperand& right, const DepthOrder& order) {
    const int groups = order.groups(), most = product.instruction->most_products;
    const bool has_parts = most > 0 && attribute<DotAttribute>(op).precision != DotPrecision::Fast;
    int of_part = groups;
    const int group_depth = product.instruction->depth() * order.steps_of_group;
    while (has_parts && (of_part * group_depth > most || groups % of_part != 0)) --of_part;
    const std::string& sums = name(op.result());
    const std::string registers = std::to_string(layouts_[op.result()].registers());
    for (const MatrixOperand* operand : {&left, &right}) {
        if (operand->address.empty()) continue;
        lines.add("const unsigned " + operand->address + " = kiln_shared_address(" + operand->staged->place + ");");
    }
    const std::string element(gpu::c_type(product.instruction->accumulator));
    if (has_parts) {
        lines.open_unrolled("part", groups / of_part);
        lines.add(element + " partial[" + registers + "] = {};");
    }
    lines.add("#pragma unroll");
    const std::string first = has_parts ? "part * " + std::to_string(of_part) : "0";
    const std::string end = sum_text(first, std::to_string(of_part));
    lines.open("for (int g = " + first + "; g < " + end + "; ++g)");
    for (const MatrixOperand* operand : {&left, &right}) read_group(lines, *operand, groups);
    multiply_group(lines, product, left, right, order.steps_of_group, has_parts ? "partial" : sums);
    lines.close();
    if (has_parts) {
        lines.open_unrolled("r", layouts_[op.result()].registers());
        lines.add(sums + "[r] += partial[r];");
        lines.close();
        lines.close();
    }
}

void PhaseLowering::multiply_group(Lines& lines, const MatrixProduct& product, const MatrixOperand& left,
                                   const MatrixOperand& right, int steps, const std::string& sums) {
    const auto fragment = [&](const MatrixOperand& operand, const std::string& repeat) {
        const int words = operand.fragments.per_instruction / elements_per_word(operand.type);
        const std::string at = steps == 1 ? repeat : "(" + repeat + " * " + std::to_string(steps) + " + s)";
        return operand.name + " + " + at + " * " + std::to_string(words);
    };
    if (steps > 1) lines.open_unrolled("s", steps);
    lines.open_unrolled("i", left.fragments.repeats);
    lines.open_unrolled("j", right.fragments.repeats);
    const std::string sum = sums + " + (i * " + std::to_string(right.fragments.repeats) + " + j) * " +
                            std::to_string(product.instruction->c.registers());
    const std::string a = fragment(left, "i"), b = fragment(right, "j");
    lines.add(product.instruction->name + "(" + sum + ", " + (product.swapped ? b : a) + ", " +
              (product.swapped ? a : b) + ");");
    lines.close();
    lines.close();
    if (steps > 1) lines.close();
}

/// The words of a group, number `g` of the loop around.
void PhaseLowering::read_group(Lines& lines, const MatrixOperand& operand, int groups) {
    lines.add(std::string(fragment_type(operand.type)) + " " + operand.name + "[" + std::to_string(operand.words) +
              "];");
    if (!operand.staged) {
        pack_held(lines, operand, groups);
    } else if (!operand.address.empty()) {
        read_matrices(lines, operand, groups);
    } else if (operand.fragments.read == FragmentRead::Turned) {
        read_turned(lines, operand, groups);
    } else if (operand.fragments.registers_of_read >= elements_per_word(operand.type)) {
        read_vectors(lines, operand, groups);
    } else {
        gather_words(lines, operand, groups);
    }
}

/// Bytes from the staged tile's place to what a lane names, for the number of a read that the loop counts.
std::string PhaseLowering::read_offset(Loop& loop, const MatrixOperand& operand) {
    const SharedAccess& access = operand.fragments.addresses;
    const SharedLayout& shared = operand.staged->layout;
    const std::optional<std::vector<SharedOffset>> offsets = split(access.layout, shared);
    if (!offsets) {
        throw support::InternalError("gpu::lower_matrix_product", "no constant offsets in " + to_string(access.layout));
    }
    std::vector<std::int64_t> flips, adds;
    for (std::size_t i = 0; i < offsets->size(); i += static_cast<std::size_t>(access.vector)) {
        flips.push_back((*offsets)[i].flip);
        adds.push_back((*offsets)[i].add);
    }
    const std::string place = base_expression(access.layout.parts().front(), shared, "lane", "warp");
    std::string base = hoisted("unsigned", "place", place);
    const bool flipped = std::any_of(flips.begin(), flips.end(), [](std::int64_t flip) { return flip != 0; });
    if (flipped) base = "(" + base + " ^ (" + table(loop, flips) + "))";
    return sum_text(base, table(loop, adds));
}

void PhaseLowering::read_matrices(Lines& lines, const MatrixOperand& operand, int groups) {
    const int words = operand.fragments.registers_of_read / elements_per_word(operand.type);
    Loop loop{operand.fragments.addresses.layout};
    loop.counter = number_text(groups, operand.reads, "q");
    const std::string offset = read_offset(loop, operand);
    const bool is_transposed = operand.fragments.read == FragmentRead::TransposedMatrices;
    lines.open_unrolled("q", operand.reads);
    lines.append(std::move(loop.lines));
    lines.add("kiln_load_matrices_" + std::to_string(words) + (is_transposed ? "_transposed(" : "(") + operand.name +
              " + q * " + std::to_string(words) + ", " + operand.address + " + " + offset + ");");
    lines.close();
}

void PhaseLowering::read_vectors(Lines& lines, const MatrixOperand& operand, int groups) {
    const int words = operand.fragments.registers_of_read / elements_per_word(operand.type);
    Loop loop{operand.fragments.addresses.layout};
    loop.counter = number_text(groups, operand.reads, "q");
    const std::string offset = read_offset(loop, operand);
    const std::string pack =
        "kiln_pack<" + std::string(fragment_type(operand.type)) + ", " + std::to_string(words) + ">";
    lines.open_unrolled("q", operand.reads);
    lines.append(std::move(loop.lines));
    lines.add("const " + pack + " pack = *(const " + pack + "*)((const unsigned char*)(" + operand.staged->place +
              ") + " + offset + ");");
    lines.open_unrolled("w", words);
    lines.add(operand.name + "[q * " + std::to_string(words) + " + w] = pack.items[w];");
    lines.close();
    lines.close();
}

/// Vectors along the rows or columns, one for each element of a word; word for word they become those of the repeats.
void PhaseLowering::read_turned(Lines& lines, const MatrixOperand& operand, int groups) {
    const int elements = elements_per_word(operand.type), bits = bit_width(operand.type);
    const int neighbours = operand.fragments.registers_of_read, reads = operand.reads / elements;
    // Words of an instruction's repeat, all steps of the group together.
    const int of_repeat = operand.words / operand.fragments.repeats;
    const std::string type = storage_type(bits / 8), per = std::to_string(of_repeat),
                      count = std::to_string(neighbours);
    Loop loop{operand.fragments.addresses.layout};
    loop.counter = "(" + number_text(groups, reads, "q") + " * " + std::to_string(elements) + " + e)";
    const std::string offset = read_offset(loop, operand);
    const std::string pack = "kiln_pack<" + type + ", " + count + ">";
    lines.open_unrolled("q", reads);
    lines.add(pack + " rows[" + std::to_string(elements) + "];");
    lines.open_unrolled("e", elements);
    lines.append(std::move(loop.lines));
    lines.add("rows[e] = *(const " + pack + "*)((const unsigned char*)(" + operand.staged->place + ") + " + offset +
              ");");
    lines.close();
    lines.open_unrolled("v", neighbours);
    lines.add(std::string(fragment_type(operand.type)) + " word = rows[0].items[v];");
    if (elements > 1) {
        lines.add("#pragma unroll");
        lines.open("for (int e = 1; e < " + std::to_string(elements) + "; ++e)");
        lines.add("word |= " + shifted("rows[e].items[v]", bits, "e") + ";");
        lines.close();
    }
    lines.add(operand.name + "[q % " + per + " + (q / " + per + " * " + count + " + v) * " + per + "] = word;");
    lines.close();
    lines.close();
}

/// Words whose elements do not lie side by side.
void PhaseLowering::gather_words(Lines& lines, const MatrixOperand& operand, int groups) {
    const int elements = elements_per_word(operand.type), bits = bit_width(operand.type);
    Loop loop{operand.fragments.addresses.layout};
    const std::string number = number_text(groups, operand.words, "w");
    loop.counter = "(" + number + " * " + std::to_string(elements) + " + e)";
    const std::string offset = read_offset(loop, operand);
    const std::string type = storage_type(bits / 8);
    lines.open_unrolled("w", operand.words);
    lines.add(operand.name + "[w] = 0;");
    lines.open_unrolled("e", elements);
    lines.append(std::move(loop.lines));
    const std::string element =
        "*(const " + type + "*)((const unsigned char*)(" + operand.staged->place + ") + " + offset + ")";
    lines.add(operand.name + "[w] |= " + shifted(element, bits, "e") + ";");
    lines.close();
    lines.close();
}

/// From the registers of a tile that lies as the instructions want it.
void PhaseLowering::pack_held(Lines& lines, const MatrixOperand& operand, int groups) {
    const Layout& held = layouts_[operand.tile.value];
    const Layout& wanted = operand.fragments.elements;
    std::vector<int> registers;
    for (int i = 0; i < wanted.registers(); ++i) {
        const std::optional<Place> place = held.find(wanted.at({i, 0, 0}));
        if (!place || place->lane != 0 || place->warp != 0) {
            throw support::InternalError("gpu::lower_matrix_product", "no operand: " + to_string(held));
        }
        registers.push_back(place->reg);
    }
    const int elements = elements_per_word(operand.type), bits = bit_width(operand.type);
    const std::string number = number_text(groups, operand.words, "w");
    Loop loop{held};
    loop.counter = elements == 1 ? number : "(" + number + " * " + std::to_string(elements) + " + e)";
    const std::string text = element(loop, Reach{operand.tile.value, held, registers});
    const std::string value = conversion(OpKind::Convert, stored(operand.tile.value), operand.type, text);
    lines.open_unrolled("w", operand.words);
    if (elements == 1) {
        lines.append(std::move(loop.lines));
        lines.add(operand.name + "[w] = " + (bits == 64 ? value : "kiln_bits_of_f32(" + value + ")") + ";");
        lines.close();
        return;
    }
    lines.add(operand.name + "[w] = 0;");
    lines.open_unrolled("e", elements);
    lines.append(std::move(loop.lines));
    const std::string element = bits == 8 ? "(unsigned char)" + value : value;
    lines.add(operand.name + "[w] |= " + shifted(element, bits, "e") + ";");
    lines.close();
    lines.close();
}

}  // namespace kiln::codegen::gpu
