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

}  // namespace

/// The layout with the fewest conflicts whose addresses are a base and constants of the register for both sides; padded
/// rows always are that.
SharedLayout PhaseLowering::exchange_layout(ScalarType type, const Layout& from, const Layout& to) const {
    const int bytes = std::max(1, bit_width(type) / 8);
    // Padding is the first thing to go where shared memory is short.
    if (!shared_.pads || from.parts().size() != 1 || to.parts().size() != 1) return dense(from.shape(), bytes);
    SharedLayout chosen = choose(from.shape(), bytes,
                                 {{from, row_vector(from, bytes), true}, {to, row_vector(to, bytes), false}}, target_);
    if (!split(from, chosen) || !split(to, chosen)) {
        chosen.bits = 0;
        chosen.pitch += chosen.unit;
    }
    return chosen;
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
    const SharedLayout chosen = exchange_layout(type, from, to), shared = in_elements(chosen);
    const std::string element(gpu::c_type(type));
    const std::uint32_t buffer = add_buffer("shared", element, chosen.bytes());
    const std::string& memory = placed_.buffers[buffer].name;
    const int bytes = chosen.element_bytes, written_at_once = row_vector(from, bytes),
              read_at_once = row_vector(to, bytes);
    const auto pack_of = [&](int vector) { return "kiln_pack<" + element + ", " + std::to_string(vector) + ">"; };
    const auto add_loop = [&](Loop& loop, bool writes) {
        Lines lines;
        lines.open_unrolled("r", loop.layout.registers(), writes ? written_at_once : read_at_once);
        lines.append(std::move(loop.lines));
        lines.close();
        Statement statement;
        statement.lines = lines.take();
        statement.touches = {{Touch::Space::Shared, buffer, writes}};
        statement.span = span_;
        out.push_back(std::move(statement));
    };
    const auto copy_items = [&](Lines& lines, int vector, const std::string& assignment) {
        lines.open_unrolled("k", vector);
        lines.add(assignment);
        lines.close();
    };

    Loop write{from};
    std::string condition = first_copy(from);
    const std::string written = shared_subscript(write, from, shared), exists = guard(write);
    if (!exists.empty()) condition += (condition.empty() ? "" : " && ") + exists;
    const std::string when = condition.empty() ? "" : "if (" + condition + ") ";
    if (written_at_once == 1) {
        write.lines.add(when + memory + "[" + written + "] = " + source + "[r];");
    } else {
        write.lines.add(pack_of(written_at_once) + " pack;");
        copy_items(write.lines, written_at_once, "pack.items[k] = " + source + "[r + k];");
        write.lines.add(when + "*(" + pack_of(written_at_once) + "*)(" + memory + " + " + written + ") = pack;");
    }
    add_loop(write, true);

    Loop read{to};
    const std::string at = shared_subscript(read, to, shared), inside = guard(read);
    if (read_at_once == 1) {
        const std::string found = memory + "[" + at + "]";
        const std::string value = inside.empty() ? found : inside + " ? " + found + " : kiln_zero<" + element + ">()";
        read.lines.add(target + "[r] = " + value + ";");
    } else {
        const std::string pack = pack_of(read_at_once);
        read.lines.add("const " + pack + " pack = *(const " + pack + "*)(" + memory + " + " + at + ");");
        copy_items(read.lines, read_at_once, target + "[r + k] = pack.items[k];");
    }
    add_loop(read, false);
}

}  // namespace kiln::codegen::gpu
