// Tiles under another layout, and parts of tiles: by renaming registers where that does, else through shared memory.
#include <algorithm>

#include "codegen/gpu/lower/phase_lowering.h"
#include "codegen/gpu/lower/register_text.h"
#include "ir/support/internal_error.h"
#include "ir/tile_ops.h"

namespace kiln::codegen::gpu {

using namespace ir;

std::uint32_t PhaseLowering::add_buffer(const std::string& hint, const std::string& element, std::int64_t bytes) {
    placed_.buffers.push_back({fresh(hint), element, bytes});
    return static_cast<std::uint32_t>(placed_.buffers.size() - 1);
}

/// Where to compute something of a value that is the same wherever it is used: as far outside of loops as it is
/// defined.
Statements& PhaseLowering::statements_for(ValueId value, std::size_t& depth) {
    std::function<std::size_t(ValueId)> defined = [&](ValueId id) -> std::size_t {
        std::size_t at = depth_of_[id.index];
        const Op* op = kernel_.definition(id);
        // A part or a view may be defined far outside of what it is made of only in text, never in truth.
        if (op != nullptr && values_[id] != TileForm::Kept) {
            for (const ValueId operand : op->operands) at = std::max(at, defined(operand));
        }
        return at;
    };
    const std::size_t lowest = defined(value);
    depth = scopes_.size() - 1;
    while (depth > lowest && scopes_[depth].repeats) --depth;
    return *scopes_[depth].out;
}

std::string PhaseLowering::materialise(ValueId value, const Layout& layout) {
    for (const Copy& copy : copies_) {
        if (copy.value == value && copy.layout == layout) return copy.name;
    }
    std::size_t depth = 0;
    Statements& out = statements_for(value, depth);
    const std::string copy = fresh(kernel_[value].name.empty() ? "t" : kernel_[value].name);
    Statement declaration;
    declaration.lines = {array(stored(value), copy, layout) + ";"};
    declaration.span = span_;
    out.push_back(std::move(declaration));
    copies_.push_back({value, layout, copy, depth});
    if (values_[value] == TileForm::Kept) {
        move(out, stored(value), name(value), layouts_[value], copy, layout);
    } else {
        read_part(out, value, layout, copy);
    }
    return copy;
}

void PhaseLowering::move(Statements& out, ScalarType type, const std::string& source, const Layout& from,
                         const std::string& target, const Layout& to) {
    const Conversion conversion = plan(from, to);
    Loop loop{to};
    if (conversion.movement == Movement::Same || conversion.movement == Movement::Registers) {
        std::vector<int> registers =
            conversion.movement == Movement::Same ? whole({}, to).registers : conversion.registers;
        for (int& reg : registers) reg = std::max(reg, 0);  // outside the tile anything will do
        loop.lines.add(target + "[r] = " + source + "[" + index_text(loop, registers) + "];");
        Lines lines;
        lines.open_unrolled("r", to.registers());
        lines.append(std::move(loop.lines));
        lines.close();
        Statement statement;
        statement.lines = lines.take();
        statement.span = span_;
        out.push_back(std::move(statement));
        return;
    }
    move_through_shared(out, type, source, from, target, to);
}

void PhaseLowering::read_shared(Statements& out, std::uint32_t buffer, const Shape& strides, std::int64_t start,
                                const Layout& layout, const std::string& type, const std::string& target) {
    Loop loop{layout};
    const std::string at = linear(loop, whole({}, layout), strides, start);
    const std::string inside = guard(loop);
    const std::string value = placed_.buffers[buffer].name + "[" + at + "]";
    loop.lines.add(target +
                   "[r] = " + (inside.empty() ? value : inside + " ? " + value + " : kiln_zero<" + type + ">()") + ";");
    Lines lines;
    lines.open_unrolled("r", layout.registers());
    lines.append(std::move(loop.lines));
    lines.close();
    Statement statement;
    statement.lines = lines.take();
    statement.touches = {{Touch::Space::Shared, buffer, false}};
    statement.span = span_;
    out.push_back(std::move(statement));
}

void PhaseLowering::write_shared(Statements& out, ValueId value, const Shape& strides, std::int64_t start,
                                 std::uint32_t buffer, ScalarType element) {
    const Reach natural = whole(value, natural_layout(value));
    Loop loop{natural.layout};
    std::string text = this->element(loop, natural);
    if (element != stored(value)) text = conversion(OpKind::Convert, stored(value), element, text);
    const std::string at = linear(loop, natural, strides, start);
    std::string condition = first_copy(natural.layout);
    const std::string inside = guard(loop);
    if (!inside.empty()) condition += (condition.empty() ? "" : " && ") + inside;
    loop.lines.add((condition.empty() ? "" : "if (" + condition + ") ") + placed_.buffers[buffer].name + "[" + at +
                   "] = " + text + ";");
    Lines lines;
    lines.open_unrolled("r", natural.layout.registers());
    lines.append(std::move(loop.lines));
    lines.close();
    Statement statement;
    statement.lines = lines.take();
    statement.touches = {{Touch::Space::Shared, buffer, true}};
    statement.span = span_;
    out.push_back(std::move(statement));
}

/// Extract, Join, and reshapes that no layout follows. All read the operands' elements in row-major order.
void PhaseLowering::read_part(Statements& out, ValueId value, const Layout& layout, const std::string& target) {
    const Op& op = *kernel_.definition(value);
    const Shape& shape = kernel_.type(value).shape;
    if (op.kind == OpKind::Join) {
        const Shape strides = dense_strides(shape);
        const std::size_t axis = attribute<AxisAttribute>(op).axis;
        const std::int64_t bytes = shape.count() * std::max(1, bit_width(stored(value)) / 8);
        const std::uint32_t buffer = add_buffer("joined", c_type(value), bytes);
        std::int64_t start = 0;
        for (const ValueId part : op.operands) {
            write_shared(out, part, strides, start, buffer, stored(value));
            start += kernel_.type(part).shape[axis] * strides[axis];
        }
        return read_shared(out, buffer, strides, 0, layout, c_type(value), target);
    }
    const ValueId operand = op.operands[0];
    const Shape& from = kernel_.type(operand).shape;
    const int bytes = std::max(1, bit_width(stored(value)) / 8);
    const SharedLayout rows = dense(from, bytes);
    const StagedOperand* found = find_staged(operand, stored(value), {}, &rows);
    const OperandWrite write{natural_layout(operand), 1, false, rows};
    const std::uint32_t buffer = (found != nullptr ? *found : stage(operand, stored(value), write, {})).buffer;
    if (op.kind == OpKind::Reshape)
        return read_shared(out, buffer, dense_strides(shape), 0, layout, c_type(value), target);
    if (op.kind != OpKind::Extract)
        throw support::InternalError("gpu::lower", "a part that is neither extract, join nor reshape");
    const Shape& starts = attribute<AxesAttribute>(op).axes;
    std::int64_t start = 0;
    for (std::size_t axis = 0; axis < from.rank(); ++axis) start += starts[axis] * dense_strides(from)[axis];
    read_shared(out, buffer, dense_strides(from), start, layout, c_type(value), target);
}

std::string PhaseLowering::result_name(ValueId value, const Layout& layout) {
    if (kernel_.type(value).is_scalar() || layouts_[value] == layout) return name(value);
    return fresh(kernel_[value].name.empty() ? "t" : kernel_[value].name);
}

void PhaseLowering::finish(ValueId value, const Layout& layout, const std::string& at) {
    if (at == name(value)) return;
    Lines lines;
    lines.add(array(stored(value), name(value), layouts_[value]) + ";");
    emit(std::move(lines));
    move(*scopes_.back().out, stored(value), at, layout, name(value), layouts_[value]);
}

}  // namespace kiln::codegen::gpu
