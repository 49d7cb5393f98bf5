// dot by multiply-adds: both operands lie in shared memory, each thread holds a block of rows x columns of the result.
//
// For a step along the contraction the thread reads a few elements of each of its rows (which lie along the
// contraction) and of its columns, and multiplies all by all. Rows of the left operand are padded by one vector, so
// that lanes that read neighbouring rows meet different banks.
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

/// Elements along the contraction that are read at once.
int step_of(std::int64_t depth) {
    return depth % 4 == 0 ? 4 : depth % 2 == 0 ? 2 : 1;
}

std::string pack_of(const std::string& type, int count) {
    return "kiln_pack<" + type + ", " + std::to_string(count) + ">";
}

}  // namespace

/// An operand in shared memory, with rows padded; `unit` elements are read at once.
PhaseLowering::ProductOperand PhaseLowering::stage_operand(ValueId value, int unit, bool padded, const Window& window) {
    Shape shape = kernel_.type(value).shape;
    if (window.length > 0) shape[window.axis] = window.length;
    ProductOperand operand;
    operand.type = staged_type(kernel_.type(value).element);
    operand.unit = unit;
    operand.pitch = (shape[1] + unit - 1) / unit * unit;
    const std::int64_t bytes = std::max(1, bit_width(operand.type) / 8);
    // An odd number of vectors of 4 bytes or more walks through all banks.
    if (padded && shared_.pads) operand.pitch += unit * std::max<std::int64_t>(1, 4 / (unit * bytes));
    operand.buffer = stage(value, Shape{operand.pitch, 1}, operand.type, shape[0] * operand.pitch, window);
    operand.name = placed_.buffers[operand.buffer].name;
    return operand;
}

void PhaseLowering::lower_product(const Op& op) {
    flush();
    const ValueId result = op.result();
    const std::int64_t depth = kernel_.type(op.operands[0]).shape[1];
    const Layout& layout = layouts_[result];
    const std::vector<std::int64_t> rows = register_coordinates(layout, 0), columns = register_coordinates(layout, 1);
    const int step = step_of(depth);
    // Registers run along the columns first (see product_layout).
    int across = 1;
    while (across < layout.registers() && rows[static_cast<std::size_t>(across)] == rows[0]) ++across;
    const int down = layout.registers() / across;
    const bool along_depth = reads_along_depth(kernel_, op);
    int vector = 1;
    while (!along_depth && vector < 4 && vector * 2 <= across && across % (vector * 2) == 0 &&
           columns[static_cast<std::size_t>(vector)] == vector && kernel_.type(result).shape[1] % (vector * 2) == 0) {
        vector *= 2;
    }
    Lines lines;
    lines.add(array(stored(result), name(result), layout) + ";");
    Loop start{layout};
    const std::string initial = element(start, op.operands[2]);
    lines.open_unrolled("r", layout.registers());
    for (const std::string& line : start.lines.take()) lines.add(line);
    lines.add(name(result) + "[r] = " + initial + ";");
    lines.close();
    emit(std::move(lines));

    ProductBlock block{{}, {}, step, vector, depth};
    for (int i = 0; i < down; ++i) block.rows.push_back(rows[static_cast<std::size_t>(i * across)]);
    for (int j = 0; j < across; j += vector) block.columns.push_back(columns[static_cast<std::size_t>(j)]);
    const int pieces = depth % (shared_.pieces * step) == 0 ? shared_.pieces : 1;
    block.depth = depth / pieces;
    for (int piece = 0; piece < pieces; ++piece) {
        const auto part = [&](std::size_t axis) {
            return pieces == 1 ? Window{} : Window{axis, piece * block.depth, block.depth};
        };
        const ProductOperand a = stage_operand(op.operands[0], step, true, part(1));
        ProductOperand b = along_depth
                               ? stage_operand(kernel_.definition(op.operands[1])->operands[0], step, true, part(1))
                               : stage_operand(op.operands[1], vector, false, part(0));
        b.along_depth = along_depth;
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
void PhaseLowering::read_columns(Lines& lines, const Op& op, const ProductOperand& b, const ProductBlock& block) {
    const ScalarType type = kernel_.type(op.result()).element;
    const std::string pack = pack_of(std::string(gpu::c_type(b.type)), block.vector),
                      vector = std::to_string(block.vector);
    lines.add(std::string(gpu::c_type(type)) + " right[" +
              std::to_string(block.columns.size() * static_cast<std::size_t>(block.vector)) + "];");
    Loop columns{layouts_[op.result()]};
    columns.counter = "j";
    const std::string column = product_place(columns, columns.layout, 1, block.columns, block.vector);
    lines.open_unrolled("j", static_cast<std::int64_t>(block.columns.size()));
    for (const std::string& line : columns.lines.take()) lines.add(line);
    lines.add("const " + pack + " pack = *(const " + pack + "*)(" + b.name + " + (k + s) * " + std::to_string(b.pitch) +
              (column == "0" ? "" : " + " + column) + ");");
    lines.open_unrolled("v", block.vector);
    lines.add("right[j * " + vector + " + v] = " + conversion(OpKind::Convert, b.type, type, "pack.items[v]") + ";");
    lines.close();
    lines.close();
}

/// `right` gets a few elements along the contraction for each column.
void PhaseLowering::read_columns_along_depth(Lines& lines, const Op& op, const ProductOperand& b,
                                             const ProductBlock& block) {
    const ScalarType type = kernel_.type(op.result()).element;
    const std::string pack = pack_of(std::string(gpu::c_type(b.type)), block.step), step = std::to_string(block.step);
    lines.add(std::string(gpu::c_type(type)) + " right[" +
              std::to_string(block.columns.size() * static_cast<std::size_t>(block.step)) + "];");
    Loop columns{layouts_[op.result()]};
    columns.counter = "j";
    const std::string column = product_place(columns, columns.layout, 1, block.columns, 1);
    lines.open_unrolled("j", static_cast<std::int64_t>(block.columns.size()));
    for (const std::string& line : columns.lines.take()) lines.add(line);
    lines.add("const " + pack + " pack = *(const " + pack + "*)(" + b.name + " + " +
              product_text(column, std::to_string(b.pitch)) + " + k);");
    lines.open_unrolled("s", block.step);
    lines.add("right[j * " + step + " + s] = " + conversion(OpKind::Convert, b.type, type, "pack.items[s]") + ";");
    lines.close();
    lines.close();
}

void PhaseLowering::multiply(Lines& lines, const Op& op, const ProductOperand& a, const ProductOperand& b,
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
    for (const std::string& line : rows.lines.take()) lines.add(line);
    lines.add("const " + pack_of(a_type, block.step) + " pack = *(const " + pack_of(a_type, block.step) + "*)(" +
              a.name + " + " + product_text(row, std::to_string(a.pitch)) + " + k);");
    lines.open_unrolled("s", block.step);
    lines.add("left[i * " + step + " + s] = " + conversion(OpKind::Convert, a.type, type, "pack.items[s]") + ";");
    lines.close();
    lines.close();
    if (b.along_depth) read_columns_along_depth(lines, op, b, block);
    lines.open_unrolled("s", block.step);
    if (!b.along_depth) read_columns(lines, op, b, block);
    lines.open_unrolled("i", down);
    lines.open_unrolled("j", across);
    const std::string sum = name(op.result()) + "[i * " + std::to_string(across) + " + j]";
    const std::vector<std::string> factors = {"left[i * " + step + " + s]",
                                              b.along_depth ? "right[j * " + step + " + s]" : "right[j]", sum};
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
