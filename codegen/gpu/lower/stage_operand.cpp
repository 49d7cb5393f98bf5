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

int element_bytes(ScalarType type) {
    return std::max(1, bit_width(type) / 8);
}

}  // namespace

/// The layout that suits the reads and the writes of the threads that hold the tile.
SharedLayout PhaseLowering::operand_layout(const OperandReads& reads, const Window& window) const {
    const int bytes = element_bytes(reads.type);
    Shape shape = kernel_.type(reads.value).shape;
    if (window.length > 0) {  // memory is short: neither gaps nor swizzles
        shape[window.axis] = window.length;
        return dense(shape, bytes);
    }
    const Layout natural = natural_layout(reads.value);
    std::vector<SharedAccess> accesses = reads.accesses;
    accesses.push_back({natural, vector_along_rows(natural, bytes), true});
    const SharedLayout chosen = choose(shape, bytes, accesses, target_, {reads.swizzles, shared_.pads});
    const bool is_followed = std::all_of(accesses.begin(), accesses.end(), [&](const SharedAccess& access) {
        return split(access.layout, chosen).has_value();
    });
    if (is_followed) return chosen;
    return choose(shape, bytes, accesses, target_, {false, shared_.pads});
}

StagedOperand PhaseLowering::stage_operand(const Op& product, std::size_t operand, const Window& window) {
    const OperandReads reads = operand_reads(product, operand);
    return stage(reads.value, reads.type, operand_layout(reads, window), window);
}

StagedOperand PhaseLowering::stage(ValueId value, ScalarType type, const SharedLayout& layout, const Window& window) {
    for (const Staged& staged : staged_) {
        const bool same = staged.value == value && staged.operand.type == type && staged.operand.layout == layout;
        if (same && staged.window == window) return staged.operand;
    }
    std::size_t depth = 0;
    Statements& out = statements_for(value, depth);
    const std::string hint = (kernel_[value].name.empty() ? "t" : kernel_[value].name) + "_shared";
    StagedOperand operand{add_buffer(hint, std::string(gpu::c_type(type)), layout.bytes()), "", type, layout};
    operand.place = placed_.buffers[operand.buffer].name;
    staged_.push_back({value, window, operand, depth});
    write_operand(out, value, operand, window);
    return operand;
}

/// From the registers that hold the tile, in vectors where they lie along its rows.
void PhaseLowering::write_operand(Statements& out, ValueId value, const StagedOperand& operand, const Window& window) {
    const Reach natural = whole(value, natural_layout(value));
    const SharedLayout shared = in_elements(operand.layout);
    const int vector = window.length > 0 ? 1 : vector_along_rows(natural.layout, operand.layout.element_bytes);
    Loop loop{natural.layout};
    std::string at;
    std::string condition = first_copy(natural.layout);
    const auto also = [&](const std::string& text) {
        if (!text.empty()) condition += (condition.empty() ? "" : " && ") + text;
    };
    if (window.length > 0) {
        const std::string begin = std::to_string(window.begin);
        const Shape strides{shared.pitch, 1};
        at = linear(loop, natural, strides, -window.begin * strides[window.axis]);
        also("(unsigned)(" + coordinate(loop, natural, window.axis) + " - " + begin + ") < " +
             std::to_string(window.length) + "u");
    } else {
        at = shared_subscript(loop, natural.layout, shared);
    }
    also(guard(loop));
    const std::string guarded = condition.empty() ? "" : "if (" + condition + ") ";
    const auto converted = [&](const std::string& text) {
        return operand.type == stored(value) ? text : conversion(OpKind::Convert, stored(value), operand.type, text);
    };
    if (vector == 1) {
        const std::string text = converted(element(loop, natural));
        loop.lines.add(guarded + operand.place + "[" + at + "] = " + text + ";");
    } else {
        Loop items{natural.layout};
        items.counter = "k";
        const std::string item = converted(element(items, natural)), count = std::to_string(vector);
        const std::string pack = "kiln_pack<" + std::string(gpu::c_type(operand.type)) + ", " + count + ">";
        loop.lines.add(pack + " pack;");
        loop.lines.add("#pragma unroll");
        loop.lines.open("for (int k = r; k < r + " + count + "; ++k)");
        loop.lines.append(std::move(items.lines));
        loop.lines.add("pack.items[k - r] = " + item + ";");
        loop.lines.close();
        loop.lines.add(guarded + "*(" + pack + "*)(" + sum_text(operand.place, at) + ") = pack;");
    }
    Lines lines;
    lines.open_unrolled("r", natural.layout.registers(), vector);
    lines.append(std::move(loop.lines));
    lines.close();
    Statement statement;
    statement.lines = lines.take();
    statement.touches = {{Touch::Space::Shared, operand.buffer, true}};
    statement.span = span_;
    out.push_back(std::move(statement));
}

}  // namespace kiln::codegen::gpu
