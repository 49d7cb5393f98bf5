// Operands of products from global into shared memory.
#include <algorithm>

#include "codegen/gpu/lower/access.h"
#include "codegen/gpu/lower/register_text.h"

namespace kiln::codegen::gpu {

using namespace ir;

namespace {

constexpr int kLeastAsyncBytes = 4;  // PTX ISA, `cp.async`
constexpr std::int64_t kSlotAlignment = 16;

bool is_zero(const Kernel& kernel, ValueId value) {
    const std::optional<Scalar> constant = kernel.constant(value);
    return constant && constant->bits == 0;
}

}  // namespace

std::int64_t slot_bytes(const SharedLayout& layout) {
    return (layout.bytes() + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
}

/// Vectors along memory's unit axis; past the registers if they lie along the rows of the tile, too, and nothing has to
/// be done to the elements.
OperandWrite PhaseLowering::plan_copy(const OperandReads& reads, const Shape& shape) const {
    const Op& load = *kernel_.definition(reads.value);
    const ScalarType element = kernel_.type(load.operands[0]).element;
    const int bytes = bit_width(element) / 8;
    const std::optional<MemoryRun> run = tensors_.run_of(load);
    OperandWrite write;
    const auto fits = [&](int vector) { return run && vector <= run->vector && shape[run->tile_axis] % vector == 0; };
    // Every thread should have something to do before one has several elements.
    while (fits(write.vector * 2) && (shape.count() >= std::int64_t{write.vector} * 2 * placed_.threads ||
                                      write.vector * bytes < kLeastAsyncBytes)) {
        write.vector *= 2;
    }
    const int along = run ? static_cast<int>(run->tile_axis) : 1;
    write.layout = coalesced(shape, write.vector, target_.lanes, warps_, {along, 1 - along});
    const bool unchanged = reads.type == element && stored(reads.value) == element;
    const std::size_t fill = access_of(load).axes.size() + 1;
    write.asynchronous = target_.async_copy_bytes > 0 && run && run->tile_axis == 1 && unchanged &&
                         write.vector * bytes >= kLeastAsyncBytes && is_zero(kernel_, load.operands[fill]);
    return write;
}

void PhaseLowering::copy_operand(Statements& out, ValueId value, const StagedOperand& operand,
                                 const OperandWrite& write, const Window& window) {
    if (write.asynchronous) {
        begin_copy(out, value, operand, write, window);
        Statement commit;
        commit.kind = Statement::Kind::Commit;
        out.push_back(std::move(commit));
        return;
    }
    const std::string held = declare_held(out, value, write);
    load_held(out, value, held, write, window);
    store_held(out, value, held, operand, write);
}

/// A register for each element on its way.
std::string PhaseLowering::declare_held(Statements& out, ValueId value, const OperandWrite& write) {
    const std::string held = fresh(kernel_[value].name.empty() ? "t" : kernel_[value].name);
    Statement statement;
    statement.lines = {array(stored(value), held, write.layout) + ";"};
    statement.span = span_;
    out.push_back(std::move(statement));
    return held;
}

void PhaseLowering::load_held(Statements& out, ValueId value, const std::string& held, const OperandWrite& write,
                              const Window& window) {
    Lines lines;
    Access access = plan_access(*kernel_.definition(value), write.layout, lines, window);
    load_tile(lines, access, held, write.vector);
    Statement statement;
    statement.lines = lines.take();
    statement.span = span_;
    out.push_back(std::move(statement));
}

void PhaseLowering::store_held(Statements& out, ValueId value, const std::string& held, const StagedOperand& operand,
                               const OperandWrite& write) {
    write_registers(out, write.layout, operand, {}, [&](Loop& loop) {
        const std::string text = held + "[" + loop.counter + "]";
        return operand.type == stored(value) ? text : conversion(OpKind::Convert, stored(value), operand.type, text);
    });
}

/// One asynchronous copy for each vector; beyond the tensor's edge nothing is read and zero is written.
void PhaseLowering::begin_copy(Statements& out, ValueId value, const StagedOperand& operand, const OperandWrite& write,
                               const Window& window) {
    Lines lines;
    Access access = plan_access(*kernel_.definition(value), write.layout, lines, window);
    const std::string inside = whole_inside(access), first = first_copy(write.layout);
    if (!first.empty()) lines.open("if (" + first + ")");
    if (inside.empty()) {
        copy_loop(lines, access, operand, write, false);
    } else {
        lines.open("if (" + inside + ")");
        copy_loop(lines, access, operand, write, false);
        lines.otherwise();
        copy_loop(lines, access, operand, write, true);
        lines.close();
    }
    if (!first.empty()) lines.close();
    Statement statement;
    statement.lines = lines.take();
    Touch touch{Touch::Space::Shared, operand.buffer, true};
    touch.asynchronous = true;
    touch.slot = operand.slot;
    statement.touches = {touch};
    statement.span = span_;
    out.push_back(std::move(statement));
}

void PhaseLowering::copy_loop(Lines& lines, Access& access, const StagedOperand& operand, const OperandWrite& write,
                              bool edges) {
    const int element_bytes = operand.layout.element_bytes, bytes = write.vector * element_bytes;
    Loop loop{write.layout};
    read_indices(loop, access);
    const std::string to = sum_text(operand.place, shared_subscript(loop, write.layout, in_elements(operand.layout)));
    std::string from = sum_text(access.base, address(loop, access));
    const auto run = std::find_if(access.axes.begin(), access.axes.end(), [](const AccessAxis& axis) {
        return axis.kind == AxisKind::Slice && axis.tile_axis == 1;
    });
    std::string count;
    const std::string rows = inside_tensor(loop, access, edges, &*run);
    if (edges && !run->proven) {
        const std::string at = sum_text(run->first, table(loop, register_coordinates(access.layout, run->tile_axis)));
        count = "kiln_places_inside<" + run->counter + ">(" + at + ", " + access.tensor.sizes[run->tensor_axis] + ", " +
                std::to_string(write.vector) + ")" +
                (element_bytes == 1 ? "" : " * " + std::to_string(element_bytes) + "u");
    }
    if (!rows.empty()) count = rows + " ? " + (count.empty() ? std::to_string(bytes) + "u" : count) + " : 0u";
    const std::string exists = guard(loop);
    loop.lines.add((exists.empty() ? "" : "if (" + exists + ") ") + "kiln_copy_async<" + std::to_string(bytes) + ">(" +
                   to + ", " + from + (count.empty() ? "" : ", " + count) + ");");
    lines.open_unrolled("r", write.layout.registers(), write.vector);
    lines.append(std::move(loop.lines));
    lines.close();
}

}  // namespace kiln::codegen::gpu
