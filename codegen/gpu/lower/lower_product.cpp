// dot by multiply-adds: both operands lie in shared memory, each thread holds a block of rows x columns of the result.
//
// For a step along the contraction the thread reads a few elements of each of its rows (which lie along the
// contraction) and of its columns, and multiplies all by all. The step is a run-time number, hence rows may be padded
// but not swizzled.
#include "codegen/gpu/lower/phase_lowering.h"
#include "codegen/gpu/lower/register_text.h"
#include "ir/builder.h"
#include "ir/support/internal_error.h"

namespace kiln::codegen::gpu {

using namespace ir;

namespace {

/// The type in which an operand lies in shared memory: small floats are decoded once, when they are written there.
ScalarType staged_type(ScalarType element) {
    switch (element) {
        case ScalarType::F8E4M3:
        case ScalarType::F8E5M2:
        case ScalarType::F4E2M1:
            return ScalarType::F16;  // which holds all their values
        case ScalarType::I4:
            return ScalarType::I8;
        case ScalarType::U4:
            return ScalarType::U8;
        case ScalarType::Bool:
        case ScalarType::I8:
        case ScalarType::I16:
        case ScalarType::I32:
        case ScalarType::I64:
        case ScalarType::U8:
        case ScalarType::U16:
        case ScalarType::U32:
        case ScalarType::U64:
        case ScalarType::F16:
        case ScalarType::BF16:
        case ScalarType::F32:
        case ScalarType::F64:
        case ScalarType::F8E8M0:
            return element;
    }
    throw support::InternalError("gpu::lower", "the type of an operand of dot");
}

/// Elements of a row that are read at once: up to 4, and 16 bytes.
int most_at_once(ScalarType type) {
    return bit_width(type) == 64 ? 2 : 4;
}

/// Elements along the contraction that are read at once.
int step_of(std::int64_t depth, ScalarType type) {
    return depth % 4 == 0 ? most_at_once(type) : depth % 2 == 0 ? 2 : 1;
}

std::string pack_of(const std::string& type, int count) {
    return "kiln_pack<" + type + ", " + std::to_string(count) + ">";
}

/// The elements of an operand that a thread of the product reads: along `axis` those of the product's axis `side`,
/// along the other, the contraction, all.
Layout read_layout(const Layout& product, int side, const Shape& operand, int axis, int step) {
    const Part& part = product.parts().front();
    const int contraction = 1 - axis;
    const auto threads = [&](Digits digits) {
        for (Digit& digit : digits)
            digit = digit.axis == side ? Digit{digit.count, axis, digit.stride} : Digit{digit.count};
        return digits;
    };
    Part read{Coordinates{0, 0}, {{step, contraction, 1}}, threads(part.lanes), threads(part.warps)};
    for (const Digit& digit : part.registers) {
        if (digit.axis == side) read.registers.push_back({digit.count, axis, digit.stride});
    }
    const auto depth = static_cast<int>(operand[static_cast<std::size_t>(contraction)]);
    read.registers.push_back({depth / step, contraction, step});
    return Layout(operand, {read});
}

std::string pitch_of(const StagedOperand& operand) {
    return std::to_string(in_elements(operand.layout).pitch);
}

}  // namespace

PhaseLowering::ProductBlock PhaseLowering::product_block(const Op& op) const {
    const Layout& layout = layouts_[op.result()];
    const std::vector<std::int64_t> rows = register_coordinates(layout, 0), columns = register_coordinates(layout, 1);
    ProductBlock block;
    block.depth = kernel_.type(op.operands[0]).shape[1];
    block.step = step_of(block.depth, kernel_.type(op.result()).element);
    block.along_depth = reads_along_depth(kernel_, op);
    // Registers run along the columns first (see product_layout).
    int across = 1;
    while (across < layout.registers() && rows[static_cast<std::size_t>(across)] == rows[0]) ++across;
    const int down = layout.registers() / across;
    while (!block.along_depth && block.vector < most_at_once(kernel_.type(op.result()).element) &&
           block.vector * 2 <= across && across % (block.vector * 2) == 0 &&
           columns[static_cast<std::size_t>(block.vector)] == block.vector &&
           kernel_.type(op.result()).shape[1] % (block.vector * 2) == 0) {
        block.vector *= 2;
    }
    for (int i = 0; i < down; ++i) block.rows.push_back(rows[static_cast<std::size_t>(i * across)]);
    for (int j = 0; j < across; j += block.vector) block.columns.push_back(columns[static_cast<std::size_t>(j)]);
    return block;
}

/// What the threads of a product read of its left (0) or right (1) operand.
OperandReads PhaseLowering::operand_reads(const Op& op, std::size_t operand) const {
    const MatrixProduct* product = layouts_.matrix_product(op.result());
    return product != nullptr ? matrix_reads(op, *product, operand) : multiply_add_reads(op, operand);
}

OperandReads PhaseLowering::multiply_add_reads(const Op& op, std::size_t operand) const {
    const ProductBlock block = product_block(op);
    const bool along_depth = operand == 0 || block.along_depth;
    ValueId value = op.operands[operand];
    if (operand == 1 && block.along_depth) value = kernel_.definition(value)->operands[0];
    const int step = along_depth ? block.step : 1;
    const Layout layout = read_layout(layouts_[op.result()], static_cast<int>(operand), kernel_.type(value).shape,
                                      along_depth ? 0 : 1, step);
    return {value, staged_type(kernel_.type(value).element), {{layout, along_depth ? step : block.vector, false}}};
}

/// The sums begin with the third operand.
void PhaseLowering::start_sums(const Op& op) {
    const Layout& layout = layouts_[op.result()];
    Lines lines;
    lines.add(array(stored(op.result()), name(op.result()), layout) + ";");
    Loop start{layout};
    const std::string initial = element(start, op.operands[2]);
    lines.open_unrolled("r", layout.registers());
    lines.append(std::move(start.lines));
    lines.add(name(op.result()) + "[r] = " + initial + ";");
    lines.close();
    emit(std::move(lines));
}

void PhaseLowering::lower_product(const Op& op) {
    flush();
    start_sums(op);
    if (const MatrixProduct* product = layouts_.matrix_product(op.result())) return lower_matrix_product(op, *product);
    ProductBlock block = product_block(op);
    const int pieces = block.depth % (std::int64_t{shared_.pieces} * block.step) == 0 ? shared_.pieces : 1;
    block.depth /= pieces;
    for (int piece = 0; piece < pieces; ++piece) {
        const auto part = [&](std::size_t axis) {
            return pieces == 1 ? Window{} : Window{axis, piece * block.depth, block.depth};
        };
        const StagedOperand a = stage_operand(op, 0, part(1)),
                            b = stage_operand(op, 1, part(block.along_depth ? 1 : 0));
        Lines product;
        multiply(product, op, a, b, block);
        emit(std::move(product), {{Touch::Space::Shared, a.buffer, false}, {Touch::Space::Shared, b.buffer, false}});
    }
}

/// Row or column of the operand for a register; beyond the tile the last one, which is written.
std::string PhaseLowering::product_place(Loop& loop, const Layout& layout, std::size_t axis,
                                         const std::vector<std::int64_t>& values, std::int64_t unit) {
    const std::string thread = thread_coordinate(layout, axis);
    const std::string text = sum_text(thread, table(loop, values));
    const std::int64_t extent = layout.shape()[axis];
    std::int64_t reach = values.back();
    for (const std::int64_t value : values) reach = std::max(reach, value);
    const Part& part = layout.parts().front();
    for (const Digits* digits : {&part.lanes, &part.warps}) {
        for (const Digit& digit : *digits) {
            if (digit.axis == static_cast<int>(axis)) reach += (digit.count - 1) * digit.stride;
        }
    }
    if (reach + unit <= extent) return text;
    return "kiln_least(" + text + ", " + std::to_string(extent - unit) + ")";
}

/// `right` gets one row of the right operand, in vectors along it.
void PhaseLowering::read_columns(Lines& lines, const Op& op, const StagedOperand& b, const ProductBlock& block) {
    const ScalarType type = kernel_.type(op.result()).element;
    const std::string pack = pack_of(std::string(gpu::c_type(b.type)), block.vector),
                      vector = std::to_string(block.vector);
    lines.add(std::string(gpu::c_type(type)) + " right[" +
              std::to_string(block.columns.size() * static_cast<std::size_t>(block.vector)) + "];");
    Loop columns{layouts_[op.result()]};
    columns.counter = "j";
    const std::string column = product_place(columns, columns.layout, 1, block.columns, block.vector);
    lines.open_unrolled("j", static_cast<std::int64_t>(block.columns.size()));
    lines.append(std::move(columns.lines));
    lines.add("const " + pack + " pack = *(const " + pack + "*)(" + b.place + " + (k + s) * " + pitch_of(b) +
              (column == "0" ? "" : " + " + column) + ");");
    lines.open_unrolled("v", block.vector);
    lines.add("right[j * " + vector + " + v] = " + conversion(OpKind::Convert, b.type, type, "pack.items[v]") + ";");
    lines.close();
    lines.close();
}

/// `right` gets a few elements along the contraction for each column.
void PhaseLowering::read_columns_along_depth(Lines& lines, const Op& op, const StagedOperand& b,
                                             const ProductBlock& block) {
    const ScalarType type = kernel_.type(op.result()).element;
    const std::string pack = pack_of(std::string(gpu::c_type(b.type)), block.step), step = std::to_string(block.step);
    lines.add(std::string(gpu::c_type(type)) + " right[" +
              std::to_string(block.columns.size() * static_cast<std::size_t>(block.step)) + "];");
    Loop columns{layouts_[op.result()]};
    columns.counter = "j";
    const std::string column = product_place(columns, columns.layout, 1, block.columns, 1);
    lines.open_unrolled("j", static_cast<std::int64_t>(block.columns.size()));
    lines.append(std::move(columns.lines));
    lines.add("const " + pack + " pack = *(const " + pack + "*)(" + b.place + " + " +
              product_text(column, pitch_of(b)) + " + k);");
    lines.open_unrolled("s", block.step);
    lines.add("right[j * " + step + " + s] = " + conversion(OpKind::Convert, b.type, type, "pack.items[s]") + ";");
    lines.close();
    lines.close();
}

void PhaseLowering::multiply(Lines& lines, const Op& op, const StagedOperand& a, const StagedOperand& b,
                             const ProductBlock& block) {
    const Layout& layout = layouts_[op.result()];
    const ScalarType type = kernel_.type(op.result()).element;
    const std::string c(gpu::c_type(type)), step = std::to_string(block.step);
    const auto down = static_cast<std::int64_t>(block.rows.size()),
               across = static_cast<std::int64_t>(block.columns.size()) * block.vector;
    const std::string a_type(gpu::c_type(a.type));
    lines.add("#pragma unroll 1");
    lines.open("for (int k = 0; k < " + std::to_string(block.depth) + "; k += " + step + ")");
    lines.add(c + " left[" + std::to_string(down * block.step) + "];");
    Loop rows{layout};
    rows.counter = "i";
    const std::string row = product_place(rows, layout, 0, block.rows, 1);
    lines.open_unrolled("i", down);
    lines.append(std::move(rows.lines));
    lines.add("const " + pack_of(a_type, block.step) + " pack = *(const " + pack_of(a_type, block.step) + "*)(" +
              a.place + " + " + product_text(row, pitch_of(a)) + " + k);");
    lines.open_unrolled("s", block.step);
    lines.add("left[i * " + step + " + s] = " + conversion(OpKind::Convert, a.type, type, "pack.items[s]") + ";");
    lines.close();
    lines.close();
    if (block.along_depth) read_columns_along_depth(lines, op, b, block);
    lines.open_unrolled("s", block.step);
    if (!block.along_depth) read_columns(lines, op, b, block);
    lines.open_unrolled("i", down);
    lines.open_unrolled("j", across);
    const std::string sum = name(op.result()) + "[i * " + std::to_string(across) + " + j]";
    const std::vector<std::string> factors = {"left[i * " + step + " + s]",
                                              block.along_depth ? "right[j * " + step + " + s]" : "right[j]", sum};
    if (is_float(type)) {
        lines.add(sum + " = " + gpu::expression(OpKind::Fma, type, factors, {}) + ";");
    } else {
        lines.add(sum + " = " +
                  gpu::expression(OpKind::Add, type,
                                  std::vector<std::string>{
                                      sum, gpu::expression(OpKind::Mul, type,
                                                           std::vector<std::string>{factors[0], factors[1]}, {})},
                                  {}) +
                  ";");
    }
    for (int i = 0; i < 4; ++i) lines.close();
}

}  // namespace kiln::codegen::gpu
