// Sorts: a bitonic network over keys and places in shared memory. The place breaks ties, which makes the order total
// and the sort stable; a line is padded to a power of two with places beyond its end, which sort behind everything.
// Bincount: bins in shared memory, counted by atomics.
#include <bit>

#include "codegen/gpu/lower/phase_lowering.h"
#include "codegen/gpu/lower/register_text.h"
#include "ir/support/internal_error.h"

namespace kiln::codegen::gpu {

using namespace ir;

namespace {

/// Row-major over the other axes, with the elements along `axis` next to each other and `padded` from line to line.
Shape line_strides(const Shape& shape, std::size_t axis, std::int64_t padded) {
    Shape strides = shape;
    std::int64_t stride = padded;
    for (std::size_t i = shape.rank(); i-- > 0;) {
        strides[i] = i == axis ? 1 : stride;
        if (i != axis) stride *= shape[i];
    }
    return strides;
}

}  // namespace

/// Whether key and place `a` come before `b`, as statements that set `name`.
void PhaseLowering::add_order(Lines& lines, const Op& op, const std::string& name, std::int64_t length) {
    const SortAttribute& sort = attribute<SortAttribute>(op);
    const ScalarType type = stored(op.operands[0]);
    const auto before = [&](const std::string& a, const std::string& b) {
        std::string text = gpu::expression(OpKind::Less, type, std::vector<std::string>{a, b}, {});
        if (!is_float(type)) return text;
        return "(" + text + " || (" + gpu::expression(OpKind::IsNan, type, std::vector<std::string>{b}, {}) + " && !" +
               gpu::expression(OpKind::IsNan, type, std::vector<std::string>{a}, {}) + "))";
    };
    const std::string first = sort.descending ? before("high_key", "low_key") : before("low_key", "high_key");
    const std::string second = sort.descending ? before("low_key", "high_key") : before("high_key", "low_key");
    const std::string end = std::to_string(length);
    lines.add("bool " + name + " = low_place < high_place;");
    lines.open("if (low_place < " + end + " && high_place < " + end + ")");
    lines.add("if (" + first + ") " + name + " = true;");
    lines.add("if (" + second + ") " + name + " = false;");
    lines.close();
}

void PhaseLowering::lower_sort(const Op& op) {
    flush();
    const Shape& shape = kernel_.type(op.operands[0]).shape;
    const std::size_t axis = attribute<SortAttribute>(op).axis;
    const std::int64_t length = shape[axis], lines_of_tile = shape.count() / length;
    const auto padded = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(length)));
    const ScalarType type = stored(op.operands[0]);
    const std::string key(gpu::c_type(type));
    const Shape strides = line_strides(shape, axis, padded);
    const std::int64_t bytes = std::max(1, bit_width(type) / 8);
    const std::uint32_t keys = add_buffer("keys", key, lines_of_tile * padded * bytes);
    const std::uint32_t places = add_buffer("places", "int", lines_of_tile * padded * 4);
    const std::string keys_name = placed_.buffers[keys].name, places_name = placed_.buffers[places].name;
    write_shared(*scopes_.back().out, op.operands[0], strides, 0, keys, type);
    Lines fill;
    const std::string threads = std::to_string(placed_.threads), width = std::to_string(padded);
    fill.open("for (int e = (int)kiln_thread(); e < " + std::to_string(lines_of_tile * padded) + "; e += " + threads +
              ")");
    fill.add(places_name + "[e] = e % " + width + ";");
    if (padded > length)
        fill.add("if (e % " + width + " >= " + std::to_string(length) + ") " + keys_name + "[e] = kiln_zero<" + key +
                 ">();");
    fill.close();
    // What fills up is no element that another thread writes: no barrier is needed before it.
    emit(std::move(fill), {{Touch::Space::Shared, places, true}});
    if (padded > 1) emit_network(op, keys, places, padded, lines_of_tile);
    Statements& out = *scopes_.back().out;
    for (std::size_t i = 0; i < 2; ++i) {
        const ValueId result = op.results[i];
        if (uses_[result.index].empty()) continue;
        Lines lines;
        lines.add(array(stored(result), name(result), layouts_[result]) + ";");
        emit(std::move(lines));
        read_shared(out, i == 0 ? keys : places, strides, 0, layouts_[result], c_type(result), name(result));
    }
}

void PhaseLowering::emit_network(const Op& op, std::uint32_t keys, std::uint32_t places, std::int64_t padded,
                                 std::int64_t count) {
    const std::string keys_name = placed_.buffers[keys].name, places_name = placed_.buffers[places].name;
    const std::string half = std::to_string(padded / 2), width = std::to_string(padded);
    const std::string key(gpu::c_type(stored(op.operands[0])));
    Lines step;
    step.open("for (int e = (int)kiln_thread(); e < " + std::to_string(count * padded / 2) +
              "; e += " + std::to_string(placed_.threads) + ")");
    step.add("const int place = e % " + half + ";");
    step.add("const int low = e / " + half + " * " + width + " + place / distance * 2 * distance + place % distance;");
    step.add("const int high = low + distance;");
    step.add("const " + key + " low_key = " + keys_name + "[low], high_key = " + keys_name + "[high];");
    step.add("const int low_place = " + places_name + "[low], high_place = " + places_name + "[high];");
    add_order(step, op, "ordered", kernel_.type(op.operands[0]).shape[attribute<SortAttribute>(op).axis]);
    step.open("if (ordered != ((low % " + width + " & size) == 0))");
    step.add(keys_name + "[low] = high_key;");
    step.add(keys_name + "[high] = low_key;");
    step.add(places_name + "[low] = high_place;");
    step.add(places_name + "[high] = low_place;");
    step.close();
    step.close();
    Statement lines, inner, outer;
    lines.lines = step.take();
    lines.span = inner.span = span_;
    lines.touches = {{Touch::Space::Shared, keys, true}, {Touch::Space::Shared, places, true}};
    inner.kind = outer.kind = Statement::Kind::Loop;
    inner.head = "for (int distance = size / 2; distance > 0; distance /= 2)";
    outer.head = "for (int size = 2; size <= " + width + "; size *= 2)";
    inner.body.push_back(std::move(lines));
    outer.body.push_back(std::move(inner));
    emit(std::move(outer));
}

void PhaseLowering::lower_bincount(const Op& op) {
    flush();
    const ValueId operand = op.operands[0], result = op.result();
    const std::int64_t bins = kernel_.type(result).shape.count();
    const std::uint32_t buffer = add_buffer("bins", "unsigned", bins * 4);
    const std::string shared = placed_.buffers[buffer].name;
    Lines clear;
    clear.open("for (int e = (int)kiln_thread(); e < " + std::to_string(bins) +
               "; e += " + std::to_string(placed_.threads) + ")");
    clear.add(shared + "[e] = 0;");
    clear.close();
    emit(std::move(clear), {{Touch::Space::Shared, buffer, true}});
    const Layout layout = natural_layout(operand);
    Loop loop{layout};
    const std::string value = fresh("bin");
    loop.lines.add("const " + c_type(operand) + " " + value + " = " + element(loop, whole(operand, layout)) + ";");
    const bool narrow = bit_width(stored(operand)) <= 32;
    std::string condition =
        narrow && is_signed(stored(operand)) ? "(unsigned)" + value + " < " : "(unsigned long long)" + value + " < ";
    condition += std::to_string(bins) + "u";
    const auto also = [&](const std::string& text) {
        if (!text.empty()) condition += " && " + text;
    };
    also(first_copy(layout));
    also(guard(loop));
    if (op.operands.size() == 2) also(element(loop, whole(op.operands[1], layout)));
    loop.lines.add("if (" + condition + ") kiln_atomic_add_u32(&" + shared + "[" + value + "], 1u);");
    Lines lines;
    lines.open_unrolled("r", layout.registers());
    lines.append(std::move(loop.lines));
    lines.close();
    emit(std::move(lines), {{Touch::Space::Shared, buffer, true}});
    Lines declaration;
    declaration.add(array(stored(result), name(result), layouts_[result]) + ";");
    emit(std::move(declaration));
    read_shared(*scopes_.back().out, buffer, Shape{1}, 0, layouts_[result], c_type(result), name(result));
}

}  // namespace kiln::codegen::gpu
