// A tile from one layout to another through shared memory, where it lies so that neither side's threads meet in one
// bank.
#include <algorithm>

#include "codegen/gpu/lower/phase_lowering.h"
#include "codegen/gpu/lower/register_text.h"
#include "codegen/gpu/shared_layout.h"
#include "ir/support/internal_error.h"

namespace kiln::codegen::gpu {

using namespace ir;

/// The layout with the fewest conflicts whose addresses are a base and constants of the register for both sides; padded
/// rows always are that.
SharedLayout PhaseLowering::exchange_layout(ScalarType type, const Layout& from, const Layout& to) const {
    const int bytes = std::max(1, bit_width(type) / 8);
    // Padding is the first thing to go where shared memory is short.
    if (!shared_.pads || from.parts().size() != 1 || to.parts().size() != 1) return dense(from.shape(), bytes);
    SharedLayout chosen = choose(from.shape(), bytes, {{from, 1, true}, {to, 1, false}}, target_);
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
    const auto add_loop = [&](Loop& loop, bool writes) {
        Lines lines;
        lines.open_unrolled("r", loop.layout.registers());
        lines.append(std::move(loop.lines));
        lines.close();
        Statement statement;
        statement.lines = lines.take();
        statement.touches = {{Touch::Space::Shared, buffer, writes}};
        statement.span = span_;
        out.push_back(std::move(statement));
    };

    Loop write{from};
    std::string condition = first_copy(from);
    const std::string written = memory + "[" + shared_subscript(write, from, shared) + "]", exists = guard(write);
    if (!exists.empty()) condition += (condition.empty() ? "" : " && ") + exists;
    write.lines.add((condition.empty() ? "" : "if (" + condition + ") ") + written + " = " + source + "[r];");
    add_loop(write, true);

    Loop read{to};
    const std::string found = memory + "[" + shared_subscript(read, to, shared) + "]", inside = guard(read);
    const std::string value = inside.empty() ? found : inside + " ? " + found + " : kiln_zero<" + element + ">()";
    read.lines.add(target + "[r] = " + value + ";");
    add_loop(read, false);
}

}  // namespace kiln::codegen::gpu
