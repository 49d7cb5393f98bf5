// Loads, stores and atomics.
#include "codegen/gpu/lower/access.h"
#include "codegen/gpu/lower/register_text.h"
#include "ir/builder.h"
#include "ir/support/internal_error.h"

namespace kiln::codegen::gpu {

using namespace ir;

namespace {

/// The element at an index from the base.
std::string load_text(ScalarType type, const std::string& base, const std::string& at, bool four_bits) {
    if (four_bits) return load_4_bits(base, at);
    return from_memory(type, base + "[" + at + "]");
}

}  // namespace

/// `target` gets the elements of an access: all that is inside, the fill elsewhere.
void PhaseLowering::load_loop(Lines& lines, Access& access, const std::string& target, bool edges, int vector) {
    const Op& op = *access.op;
    const AccessAttribute& attribute = access_of(op);
    const ScalarType type = kernel_.type(op.operands[0]).element;
    const std::size_t fill_operand = attribute.axes.size() + 1;
    const std::string fill = scalar_as(op.operands[fill_operand], stored(op.result()));
    Loop loop{access.layout};
    read_indices(loop, access);
    std::string condition = inside(loop, access, edges);
    if (attribute.masked) {
        const std::string mask = element(loop, op.operands[fill_operand + 1]);
        condition += (condition.empty() ? "" : " && ") + mask;
    }
    const std::string at = address(loop, access);
    lines.open_unrolled("r", access.layout.registers(), vector);
    if (vector > 1) {
        const std::string pack = "kiln_pack<" + std::string(memory_type(type)) + ", " + std::to_string(vector) + ">";
        loop.lines.add(pack + " pack;");
        const std::string read = "pack = *(const " + pack + "*)(" + sum_text(access.base, at) + ");";
        loop.lines.add((condition.empty() ? "" : "if (" + condition + ") ") + read);
        loop.lines.open_unrolled("k", vector);
        std::string value = from_memory(type, "pack.items[k]");
        if (!condition.empty()) value = condition + " ? " + value + " : " + fill;
        loop.lines.add(target + "[r + k] = " + value + ";");
        loop.lines.close();
    } else {
        std::string value = access.four_bits ? load_text(type, access.tensor.data, sum_text(access.base, at), true)
                                             : load_text(type, access.base, at, false);
        if (stored(op.result()) != type) value = "(" + c_type(op.result()) + ")" + value;
        if (condition.empty()) {
            loop.lines.add(target + "[r] = " + value + ";");
        } else {
            loop.lines.add(target + "[r] = " + fill + ";");
            loop.lines.add("if (" + condition + ") " + target + "[r] = " + value + ";");
        }
    }
    lines.append(std::move(loop.lines));
    lines.close();
}

namespace {

/// Whether the innermost registers of a layout are `vector` neighbours along an axis.
bool has_vectors(const Layout& layout, std::size_t axis, int vector) {
    if (layout.parts().size() != 1 || layout.parts().front().registers.empty()) return false;
    const Digit& first = layout.parts().front().registers.front();
    return first.axis == static_cast<int>(axis) && first.stride == 1 && first.count % vector == 0;
}

}  // namespace

/// How many elements of the layout can be moved at once.
int PhaseLowering::vector_of(const Op& op, const Layout& layout) const {
    if (access_of(op).masked) return 1;
    const std::optional<MemoryRun> run = tensors_.run_of(op);
    int vector = run ? run->vector : 1;
    while (vector > 1 && !has_vectors(layout, run->tile_axis, vector)) vector /= 2;
    return vector;
}

void PhaseLowering::lower_load(const Op& op) {
    flush();
    const ValueId result = op.result();
    if (values_[result] == TileForm::Staged) return;  // copied where a product needs it
    std::vector<Touch> touches;
    if (written_.contains(tensors_[op.operands[0]].root.index)) touches.push_back(touch(op, false));
    Lines lines;
    if (kernel_.type(result).is_scalar()) {
        Access access = plan_access(op, repeated(Shape{1}, target_.lanes, warps_), lines);
        Loop loop{access.layout};
        std::string condition = inside(loop, access, true);
        const std::size_t fill = access.axes.size() + 1;
        if (access_of(op).masked) condition += (condition.empty() ? "" : " && ") + scalar(op.operands[fill + 1]);
        const ScalarType type = kernel_.type(op.operands[0]).element;
        std::string value = access.four_bits ? load_text(type, access.tensor.data, access.base, true)
                                             : load_text(type, access.base, "0", false);
        if (stored(result) != type) value = "(" + c_type(result) + ")" + value;
        if (!condition.empty())
            value = condition + " ? " + value + " : " + scalar_as(op.operands[fill], stored(result));
        lines.add("const " + c_type(result) + " " + name(result) + " = " + value + ";");
        return emit(std::move(lines), std::move(touches));
    }
    const Layout& layout = layouts_[result];
    lines.add(array(stored(result), name(result), layout) + ";");
    Access access = plan_access(op, layout, lines);
    load_tile(lines, access, name(result), vector_of(op, layout));
    emit(std::move(lines), std::move(touches));
}

/// Vectors without conditions where all of the tile lies inside, else element by element.
void PhaseLowering::load_tile(Lines& lines, Access& access, const std::string& target, int vector) {
    if (access_of(*access.op).masked) return load_loop(lines, access, target, true, 1);
    const std::string inside = whole_inside(access);
    if (inside.empty()) return load_loop(lines, access, target, false, vector);
    lines.open("if (" + inside + ")");
    load_loop(lines, access, target, false, vector);
    lines.otherwise();
    load_loop(lines, access, target, true, 1);
    lines.close();
}

void PhaseLowering::store_loop(Lines& lines, Access& access, bool edges, int vector) {
    const Op& op = *access.op;
    const std::size_t value_operand = access.axes.size() + 1;
    const ValueId value = op.operands[value_operand];
    const ScalarType type = kernel_.type(op.operands[0]).element;
    Loop loop{access.layout};
    read_indices(loop, access);
    std::string condition = inside(loop, access, edges);
    if (access_of(op).masked) {
        const std::string mask = element(loop, op.operands[value_operand + 1]);
        condition += (condition.empty() ? "" : " && ") + mask;
    }
    const std::string at = address(loop, access);
    lines.open_unrolled("r", access.layout.registers(), vector);
    if (vector > 1) {
        Loop items{access.layout};
        items.counter = "k";
        std::string item = element(items, value);
        const std::string pack = "kiln_pack<" + std::string(memory_type(type)) + ", " + std::to_string(vector) + ">";
        loop.lines.add(pack + " pack;");
        loop.lines.add("#pragma unroll");
        loop.lines.open("for (int k = r; k < r + " + std::to_string(vector) + "; ++k)");
        if (stored(value) != type) item = conversion(OpKind::Convert, stored(value), type, item);
        loop.lines.append(std::move(items.lines));
        loop.lines.add("pack.items[k - r] = " + to_memory(type, item) + ";");
        loop.lines.close();
        const std::string write = "kiln_write_pack((" + pack + "*)(" + sum_text(access.base, at) + "), pack);";
        loop.lines.add((condition.empty() ? "" : "if (" + condition + ") ") + write);
    } else {
        std::string item = element(loop, value);
        if (stored(value) != type) item = conversion(OpKind::Convert, stored(value), type, item);
        const std::string write = access.four_bits ? store_4_bits(access.tensor.data, sum_text(access.base, at), item)
                                                   : access.base + "[" + at + "] = " + to_memory(type, item);
        loop.lines.add((condition.empty() ? "" : "if (" + condition + ") ") + write + ";");
    }
    lines.append(std::move(loop.lines));
    lines.close();
}

void PhaseLowering::lower_store(const Op& op) {
    flush();
    const std::size_t value_operand = access_of(op).axes.size() + 1;
    const ValueId value = op.operands[value_operand];
    const ScalarType type = kernel_.type(op.operands[0]).element;
    Lines lines;
    if (kernel_.type(value).is_scalar()) {
        Access access = plan_access(op, repeated(Shape{1}, target_.lanes, warps_), lines);
        Loop loop{access.layout};
        std::string condition = "kiln_thread() == 0";
        const std::string edges = inside(loop, access, true);
        if (!edges.empty()) condition += " && " + edges;
        if (access_of(op).masked) condition += " && " + scalar(op.operands[value_operand + 1]);
        const std::string item = scalar_as(value, type);
        lines.add("if (" + condition + ") " +
                  (access.four_bits ? store_4_bits(access.tensor.data, access.base, item)
                                    : access.base + "[0] = " + to_memory(type, item)) +
                  ";");
        return emit(std::move(lines), {touch(op, true)});
    }
    const Layout layout = store_layout(op);
    // Two threads must not share a byte: one holds both halves of each.
    Access access = plan_access(op, layout, lines);
    const int vector = vector_of(op, layout);
    const std::string first = first_copy(layout);
    if (!first.empty()) lines.open("if (" + first + ")");
    const std::string inside = access_of(op).masked ? "false" : whole_inside(access);
    if (inside == "false") {
        store_loop(lines, access, true, 1);
    } else if (inside.empty()) {
        store_loop(lines, access, false, vector);
    } else {
        lines.open("if (" + inside + ")");
        store_loop(lines, access, false, vector);
        lines.otherwise();
        store_loop(lines, access, true, 1);
        lines.close();
    }
    if (!first.empty()) lines.close();
    emit(std::move(lines), {touch(op, true)});
}

/// Bytes next to each other that the lanes of a warp write at once.
std::int64_t PhaseLowering::bytes_at_once(const Op& op, const Layout& layout) const {
    const std::optional<MemoryRun> run = tensors_.run_of(op);
    if (!run) return 0;
    std::int64_t elements = vector_of(op, layout);
    const Digits& lanes = layout.parts().front().lanes;
    const auto continues = [&](const Digit& lane) {
        return lane.axis == static_cast<int>(run->tile_axis) && lane.stride == elements;
    };
    while (std::any_of(lanes.begin(), lanes.end(), continues)) elements *= 2;
    return elements * bit_width(kernel_.type(op.operands[0]).element) / 8;
}

/// The value's own layout, unless it is that of a product whose lanes write less than a sector each time and the tile
/// can change it in shared memory; of a value that lies nowhere, the one that suits memory.
Layout PhaseLowering::store_layout(const Op& op) const {
    const ValueId value = op.operands[access_of(op).axes.size() + 1];
    const bool four_bits = bit_width(kernel_.type(op.operands[0]).element) < 8;
    if (values_[value] != TileForm::Kept || four_bits) return memory_layout(op);
    const Layout& own = layouts_[value];
    const std::int64_t bytes = kernel_.type(value).shape.count() * bit_width(stored(value)) / 8;
    if (!layouts_.is_of_matrix_product(value) || bytes > target_.shared_bytes_per_block / 2) return own;
    if (bytes_at_once(op, own) >= target_.sector_bytes) return own;
    const Layout wide = memory_layout(op);
    return bytes_at_once(op, wide) > bytes_at_once(op, own) ? wide : own;
}

Layout PhaseLowering::memory_layout(const Op& op) const {
    const ValueId value = op.operands[access_of(op).axes.size() + 1];
    const bool four_bits = bit_width(kernel_.type(op.operands[0]).element) < 8;
    const Shape& shape = kernel_.type(value).shape;
    const std::optional<MemoryRun> run = tensors_.run_of(op);
    std::vector<int> order;
    int vector = run ? run->vector : 1;
    while (vector > 1 && shape.count() < std::int64_t{vector} * placed_.threads) vector /= 2;
    if (four_bits) {
        if (shape.back() % 2 != 0) refuse_four_bit_rows();
        vector = 2;
    }
    const std::size_t first = run ? run->tile_axis : shape.rank() - 1;
    order.push_back(static_cast<int>(first));
    for (std::size_t axis = shape.rank(); axis-- > 0;) {
        if (axis != first) order.push_back(static_cast<int>(axis));
    }
    return coalesced(shape, vector, target_.lanes, warps_, order);
}

void PhaseLowering::refuse_four_bit_rows() const {
    refuse(
        "a store of 4-bit elements has rows of an odd number of them, and two threads cannot share a byte: an even "
        "number works");
}

/// A store names other elements each time its loop comes round if one of its slices moves on by at least its length.
bool PhaseLowering::is_disjoint(const Op& op) const {
    const auto& axes = access_of(op).axes;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        if (axes[i].kind == AxisKind::Gather) continue;
        const ValueId start = op.operands[i + 1];
        const BlockId block = kernel_[start].block;
        if (!block.valid() || !kernel_[block].parent.valid()) continue;
        const Op& loop = kernel_[kernel_[block].parent];
        if (loop.kind != OpKind::For || kernel_[block].arguments.front() != start || op.parent != block) continue;
        // The only loop round it: an outer one would come back to the same elements.
        if (kernel_[loop.parent].parent.valid()) continue;
        const Fact& step = facts_[loop.operands[2]];
        if (step.lo >= std::max<std::int64_t>(1, axes[i].length)) return true;
    }
    return false;
}

// Atomics

std::string PhaseLowering::atomic_text(const Op& op, const std::string& address,
                                       const std::vector<std::string>& operands) {
    const AtomicAttribute& atomic = attribute<AtomicAttribute>(op);
    const ScalarType type = kernel_.type(op.operands[0]).element;
    const std::string c(gpu::c_type(type));
    if (atomic.kind == AtomicKind::Cas)
        return "kiln_atomic_cas(" + address + ", " + operands[0] + ", " + operands[1] + ")";
    if (atomic.kind == AtomicKind::Exchange) return "kiln_atomic_exchange(" + address + ", " + operands[0] + ")";
    const bool plain_add = atomic.kind == AtomicKind::Add && bit_width(type) >= 32;
    if (plain_add) return "kiln_atomic_add_" + std::string(ir::name(type)) + "(" + address + ", " + operands[0] + ")";
    OpKind kind = OpKind::Add;
    switch (atomic.kind) {
        case AtomicKind::Min:
            kind = OpKind::Min;
            break;
        case AtomicKind::Max:
            kind = OpKind::Max;
            break;
        case AtomicKind::And:
            kind = OpKind::And;
            break;
        case AtomicKind::Or:
            kind = OpKind::Or;
            break;
        case AtomicKind::Xor:
            kind = OpKind::Xor;
            break;
        case AtomicKind::Add:
        case AtomicKind::Exchange:
        case AtomicKind::Cas:
            break;
    }
    const std::vector<std::string> sides = {"old", operands[0]};
    return "kiln_atomic_update<" + c + ">(" + address + ", [&](" + c + " old) { return " +
           gpu::expression(kind, type, sides, {}) + "; })";
}

void PhaseLowering::lower_atomic(const Op& op) {
    flush();
    const AtomicAttribute& atomic = attribute<AtomicAttribute>(op);
    const std::size_t first = atomic.access.axes.size() + 1;
    const std::size_t fill = first + (atomic.kind == AtomicKind::Cas ? 2 : 1);
    const ValueId result = op.result();
    const ScalarType type = kernel_.type(op.operands[0]).element;
    const bool used = !uses_[result.index].empty();
    const bool is_scalar = kernel_.type(result).is_scalar();
    const Layout layout = is_scalar ? repeated(Shape{1}, target_.lanes, warps_) : layouts_[result];
    if (atomic.publishes) {
        Lines fence;
        fence.add("kiln_fence();");
        emit(std::move(fence));
        emit_barrier(true);
    }
    Lines lines;
    const std::string old = fresh("old");
    if (used) lines.add(array(type, old, layout) + ";");
    Access access = plan_access(op, layout, lines);
    Loop loop{layout};
    read_indices(loop, access);
    std::string condition = first_copy(layout);
    const auto also = [&](const std::string& text) {
        if (!text.empty()) condition += (condition.empty() ? "" : " && ") + text;
    };
    also(inside(loop, access, true));
    if (atomic.access.masked) also(element(loop, op.operands[fill + 1]));
    std::vector<std::string> operands;
    for (std::size_t i = first; i < fill; ++i) {
        const ValueId operand = op.operands[i];
        std::string text = element(loop, operand);
        if (stored(operand) != type) text = "(" + std::string(gpu::c_type(type)) + ")(" + text + ")";
        operands.push_back(text);
    }
    const std::string call = atomic_text(op, "&" + access.base + "[" + address(loop, access) + "]", operands);
    if (used) loop.lines.add(old + "[r] = " + scalar_as(op.operands[fill], type) + ";");
    loop.lines.add((condition.empty() ? "" : "if (" + condition + ") ") + (used ? old + "[r] = " : "") + call + ";");
    lines.open_unrolled("r", layout.registers());
    lines.append(std::move(loop.lines));
    lines.close();
    emit(std::move(lines), {touch(op, true)});
    if (atomic.publishes) {
        emit_barrier(true);
        Lines fence;
        fence.add("kiln_fence();");
        emit(std::move(fence));
    }
    if (used) share_old_values(op, layout, old);
}

/// The thread that updated an element knows what stood there; all that hold the element must.
void PhaseLowering::share_old_values(const Op& op, const Layout& layout, const std::string& old) {
    const ValueId result = op.result();
    const std::string shared = first_copy(layout).empty() ? old : fresh("old");
    Statements& out = *scopes_.back().out;
    if (shared != old) {
        Lines lines;
        lines.add(array(kernel_.type(result).element, shared, layout) + ";");
        emit(std::move(lines));
        move_through_shared(out, kernel_.type(result).element, old, layout, shared, layout);
    }
    Lines lines;
    if (kernel_.type(result).is_scalar()) {
        lines.add("const " + c_type(result) + " " + name(result) + " = (" + c_type(result) + ")" + shared + "[0];");
    } else {
        lines.add(array(stored(result), name(result), layout) + ";");
        lines.open_unrolled("r", layout.registers());
        lines.add(name(result) + "[r] = (" + c_type(result) + ")" + shared + "[r];");
        lines.close();
    }
    emit(std::move(lines));
}

}  // namespace kiln::codegen::gpu
