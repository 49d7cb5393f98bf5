// Tiles into shared memory, for products and for whoever else reads them there.
#include "codegen/gpu/lower/stage_operand.h"

#include <algorithm>

#include "codegen/gpu/lower/phase_lowering.h"
#include "codegen/gpu/lower/register_text.h"

namespace kiln::codegen::gpu {

using namespace ir;

namespace {

constexpr int kWidestAccess = 16;  // bytes

/// Elements along the last axis that a thread of the layout can write at once.
int vector_along_rows(const Layout& layout, int element_bytes) {
    const int last = static_cast<int>(layout.shape().rank()) - 1;
    if (layout.parts().size() != 1 || layout.parts().front().registers.empty()) return 1;
    const Digit& first = layout.parts().front().registers.front();
    if (first.axis != last || first.stride != 1) return 1;
    int vector = 1;
    const auto divides = [&](int count) {
        return first.count % count == 0 && layout.shape()[static_cast<std::size_t>(last)] % count == 0;
    };
    while (vector * 2 * element_bytes <= kWidestAccess && divides(vector * 2)) vector *= 2;
    return vector;
}

}  // namespace

/// What all products of the phase read of a value.
OperandReads PhaseLowering::all_reads(const OperandReads& reads) const {
    OperandReads all{reads.value, reads.type, {}, true};
    const auto add = [&](const Op& product) {
        for (const std::size_t operand : {0u, 1u}) {
            const OperandReads one = operand_reads(product, operand);
            if (one.value != reads.value || one.type != reads.type) continue;
            all.accesses.insert(all.accesses.end(), one.accesses.begin(), one.accesses.end());
            all.swizzles = all.swizzles && one.swizzles;
        }
    };
    for (const Op* user : uses_[reads.value.index]) {
        if (user->kind == OpKind::Dot) add(*user);
        if (user->kind != OpKind::Permute) continue;
        for (const Op* turned : uses_[user->result().index]) {
            if (turned->kind == OpKind::Dot) add(*turned);
        }
    }
    return all;
}

/// How the tile is written, and where it lies: what suits its reads and its writes together.
OperandWrite PhaseLowering::plan_write(const OperandReads& reads, const Window& window) const {
    Shape shape = kernel_.type(reads.value).shape;
    if (window.length > 0) shape[window.axis] = window.length;
    const int bytes = std::max(1, bit_width(reads.type) / 8);
    const bool is_copy = values_[reads.value] == TileForm::Staged;
    OperandWrite write = is_copy ? plan_copy(reads, shape) : OperandWrite{natural_layout(reads.value)};
    const auto access = [&](const Layout& layout) {
        return SharedAccess{layout, write.asynchronous ? write.vector : vector_along_rows(layout, bytes), true};
    };
    // Memory is short: neither gaps nor swizzles.
    if (window.length > 0) {
        write.shared = dense(shape, bytes);
        return write;
    }
    std::vector<SharedAccess> writers = {access(write.layout)};
    if (is_copy) {
        writers.clear();
        for (const Layout& order : lane_orders(write.layout)) writers.push_back(access(order));
    }
    const OperandReads all = all_reads(reads);
    const SharedChoice choice = choose(shape, bytes, all.accesses, writers, target_, {all.swizzles, shared_.pads});
    write.layout = writers[choice.writer].layout;
    write.shared = choice.shared;
    return write;
}

StagedOperand PhaseLowering::stage_operand(const Op& product, std::size_t operand, const Window& window) {
    const OperandReads reads = operand_reads(product, operand);
    if (const StagedOperand* found = find_staged(reads.value, reads.type, window)) return *found;
    return stage(reads.value, reads.type, plan_write(reads, window), window);
}

/// In any layout if none is given.
const StagedOperand* PhaseLowering::find_staged(ValueId value, ScalarType type, const Window& window,
                                                const SharedLayout* layout) const {
    for (const Staged& staged : staged_) {
        const bool same = staged.value == value && staged.operand.type == type && staged.window == window;
        if (same && (layout == nullptr || staged.operand.layout == *layout)) return &staged.operand;
    }
    return nullptr;
}

StagedOperand PhaseLowering::stage(ValueId value, ScalarType type, const OperandWrite& write, const Window& window) {
    std::size_t depth = 0;
    Statements& out = statements_for(value, depth);
    const StagedOperand operand = add_operand(value, type, write.shared, 1);
    staged_.push_back({value, window, operand, depth});
    if (values_[value] == TileForm::Staged) {
        copy_operand(out, value, operand, write, window);
    } else {
        write_operand(out, value, operand, window);
    }
    return operand;
}

/// Memory for a tile, or for one in each slot of a ring.
StagedOperand PhaseLowering::add_operand(ValueId value, ScalarType type, const SharedLayout& layout, int slots) {
    const std::string hint = (kernel_[value].name.empty() ? "t" : kernel_[value].name) + "_shared";
    const std::int64_t bytes = slots == 1 ? layout.bytes() : slots * slot_bytes(layout);
    StagedOperand operand{add_buffer(hint, std::string(gpu::c_type(type)), bytes), "", type, layout};
    operand.place = placed_.buffers[operand.buffer].name;
    placed_.buffers[operand.buffer].slots = slots;
    return operand;
}

/// From the registers that hold the tile.
void PhaseLowering::write_operand(Statements& out, ValueId value, const StagedOperand& operand, const Window& window) {
    const Layout layout = natural_layout(value);
    const auto item = [&](Loop& loop) {
        const std::string text = element(loop, whole(value, layout));
        return operand.type == stored(value) ? text : conversion(OpKind::Convert, stored(value), operand.type, text);
    };
    write_registers(out, layout, operand, window, item);
}

/// The registers of a layout, in vectors where they lie along the tile's rows.
void PhaseLowering::write_registers(Statements& out, const Layout& layout, const StagedOperand& operand,
                                    const Window& window, const std::function<std::string(Loop&)>& item) {
    const SharedLayout shared = in_elements(operand.layout);
    const int vector = window.length > 0 ? 1 : vector_along_rows(layout, operand.layout.element_bytes);
    Loop loop{layout};
    std::string at;
    std::string condition = first_copy(layout);
    const auto also = [&](const std::string& text) {
        if (!text.empty()) condition += (condition.empty() ? "" : " && ") + text;
    };
    if (window.length > 0) {
        const Shape strides{shared.pitch, 1};
        at = linear(loop, whole({}, layout), strides, -window.begin * strides[window.axis]);
        also("(unsigned)(" + coordinate(loop, whole({}, layout), window.axis) + " - " + std::to_string(window.begin) +
             ") < " + std::to_string(window.length) + "u");
    } else {
        at = shared_subscript(loop, layout, shared);
    }
    also(guard(loop));
    const std::string guarded = condition.empty() ? "" : "if (" + condition + ") ";
    if (vector == 1) {
        loop.lines.add(guarded + operand.place + "[" + at + "] = " + item(loop) + ";");
    } else {
        Loop items{layout};
        items.counter = "k";
        const std::string text = item(items), count = std::to_string(vector);
        const std::string pack = "kiln_pack<" + std::string(gpu::c_type(operand.type)) + ", " + count + ">";
        loop.lines.add(pack + " pack;");
        loop.lines.add("#pragma unroll");
        loop.lines.open("for (int k = r; k < r + " + count + "; ++k)");
        loop.lines.append(std::move(items.lines));
        loop.lines.add("pack.items[k - r] = " + text + ";");
        loop.lines.close();
        loop.lines.add(guarded + "*(" + pack + "*)(" + sum_text(operand.place, at) + ") = pack;");
    }
    Lines lines;
    lines.open_unrolled("r", layout.registers(), vector);
    lines.append(std::move(loop.lines));
    lines.close();
    Statement statement;
    statement.lines = lines.take();
    statement.touches = {{Touch::Space::Shared, operand.buffer, true}};
    statement.touches.front().slot = operand.slot;
    statement.span = span_;
    out.push_back(std::move(statement));
}

}  // namespace kiln::codegen::gpu
