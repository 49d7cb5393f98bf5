// A tile from one layout to another through shared memory, where it lies so that neither side's threads meet in one
// bank.
#include <algorithm>

#include "codegen/gpu/lower/phase_lowering.h"
#include "codegen/gpu/lower/register_text.h"
#include "codegen/gpu/shared_layout.h"
#include "ir/support/internal_error.h"

namespace kiln::codegen::gpu {

using namespace ir;

namespace {

/// Elements of a row that a thread moves at once. Where the layout covers more than the tile each is moved by itself.
int row_vector(const Layout& layout, int element_bytes) {
    constexpr int kWidest = 16;
    return layout.exact() ? contiguous_along_rows(layout, kWidest / element_bytes) : 1;
}

/// A layout with neighbours in front, and which register of the given one each of its registers is.
struct ExchangeSide {
    Layout layout;
    std::vector<int> registers;
};

ExchangeSide exchange_side(const Layout& given) {
    ExchangeSide side{given.parts().size() == 1 ? neighbours_first(given) : given, {}};
    for (int number = 0; number < side.layout.registers(); ++number) {
        side.registers.push_back(given.find(side.layout.at({number, 0, 0}))->reg);
    }
    return side;
}

}  // namespace

/// The layout with the fewest conflicts whose addresses are a base and constants of the register for both sides; padded
/// rows always are that.
SharedLayout PhaseLowering::exchange_layout(ScalarType type, const Layout& from, const Layout& to) const {
    const int bytes = std::max(1, bit_width(type) / 8);
    // Padding is the first thing to go where shared memory is short.
    if (!shared_.pads || from.parts().size() != 1 || to.parts().size() != 1) return dense(from.shape(), bytes);
    return choose(from.shape(), bytes, {{from, row_vector(from, bytes), true}, {to, row_vector(to, bytes), false}},
                  target_);
}

/// Subscript of the loop's register in shared memory; `shared` counts in elements.
std::string PhaseLowering::shared_subscript(Loop& loop, const Layout& layout, const SharedLayout& shared) {
    std::vector<std::int64_t> flips, adds;
    const std::optional<std::vector<SharedOffset>> offsets = split(layout, shared);
    if (!offsets)
        throw support::InternalError("gpu::move_through_shared", "no constant offsets in " + to_string(layout));
    for (const SharedOffset& offset : *offsets) {
        flips.push_back(offset.flip);
        adds.push_back(offset.add);
    }
    const std::string place = base_expression(layout.parts().front(), shared, "lane", "warp");
    std::string base = hoisted("int", "place", "(int)(" + place + ")");
    const bool flipped = std::any_of(flips.begin(), flips.end(), [](std::int64_t flip) { return flip != 0; });
    if (flipped) base = "(" + base + " ^ (" + table(loop, flips) + "))";
    return sum_text(base, table(loop, adds));
}

void PhaseLowering::move_through_shared(Statements& out, ScalarType type, const std::string& source, const Layout& from,
                                        const std::string& target, const Layout& to) {
    const ExchangeSide writes = exchange_side(from), reads = exchange_side(to);
    const SharedLayout chosen = exchange_layout(type, writes.layout, reads.layout), shared = in_elements(chosen);
    const std::string element(gpu::c_type(type));
    const std::uint32_t buffer = add_buffer("shared", element, chosen.bytes());
    const std::string& memory = placed_.buffers[buffer].name;
    const auto add_loop = [&](Loop& loop, int vector, bool is_write) {
        Lines lines;
        lines.open_unrolled("r", loop.layout.registers(), vector);
        lines.append(std::move(loop.lines));
        lines.close();
        Statement statement;
        statement.lines = lines.take();
        statement.touches = {{Touch::Space::Shared, buffer, is_write}};
        statement.span = span_;
        out.push_back(std::move(statement));
    };
    // Element k of the pack at the loop's register, or the element where there are no packs.
    const auto register_text = [&](Loop& loop, const ExchangeSide& side, int vector) {
        Loop inner{side.layout};
        inner.counter = vector == 1 ? "r" : "(r + k)";
        const std::string text = index_text(inner, side.registers);
        loop.lines.append(std::move(inner.lines));
        return text;
    };
    const auto pack_of = [&](int vector) { return "kiln_pack<" + element + ", " + std::to_string(vector) + ">"; };

    const int written = row_vector(writes.layout, chosen.element_bytes);
    Loop write{writes.layout};
    std::string condition = first_copy(from);
    const std::string place = shared_subscript(write, writes.layout, shared), exists = guard(write);
    if (!exists.empty()) condition += (condition.empty() ? "" : " && ") + exists;
    const std::string when = condition.empty() ? "" : "if (" + condition + ") ";
    const std::string value = source + "[" + register_text(write, writes, written) + "]";
    if (written == 1) {
        write.lines.add(when + memory + "[" + place + "] = " + value + ";");
    } else {
        write.lines.add(pack_of(written) + " pack;");
        write.lines.open_unrolled("k", written);
        write.lines.add("pack.items[k] = " + value + ";");
        write.lines.close();
        write.lines.add(when + "*(" + pack_of(written) + "*)(" + memory + " + " + place + ") = pack;");
    }
    add_loop(write, written, true);

    const int read_at_once = row_vector(reads.layout, chosen.element_bytes);
    Loop read{reads.layout};
    const std::string at = shared_subscript(read, reads.layout, shared), inside = guard(read);
    const std::string result = target + "[" + register_text(read, reads, read_at_once) + "]";
    if (read_at_once == 1) {
        const std::string found = memory + "[" + at + "]";
        const std::string text = inside.empty() ? found : inside + " ? " + found + " : kiln_zero<" + element + ">()";
        read.lines.add(result + " = " + text + ";");
    } else {
        const std::string pack = pack_of(read_at_once);
        read.lines.add("const " + pack + " pack = *(const " + pack + "*)(" + memory + " + " + at + ");");
        read.lines.open_unrolled("k", read_at_once);
        read.lines.add(result + " = pack.items[k];");
        read.lines.close();
    }
    add_loop(read, read_at_once, false);
}

}  // namespace kiln::codegen::gpu
