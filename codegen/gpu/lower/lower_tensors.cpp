// Tensors and views as C text, and what an access names: its address and the conditions for an element to be inside.
#include <limits>

#include "codegen/gpu/lower/access.h"
#include "codegen/gpu/lower/register_text.h"
#include "ir/support/internal_error.h"

namespace kiln::codegen::gpu {

using namespace ir;

PhaseLowering::TensorText& PhaseLowering::tensor(ValueId value) {
    const auto found = texts_.find(value.index);
    if (found != texts_.end()) return found->second;
    add_parameter(value);
    return texts_.at(value.index);
}

std::string PhaseLowering::pointer_type(ValueId tensor) const {
    const bool written = written_.contains(tensors_[tensor].root.index);
    return (written ? "" : "const ") + std::string(memory_type(kernel_.type(tensor).element)) + "*";
}

/// Address, sizes and strides in slots; what is known at compile time is written out instead of read.
void PhaseLowering::add_parameter(ValueId value) {
    placed_.values.push_back(value);
    const TensorKnowledge& known = tensors_[value];
    const Type& type = kernel_.type(value);
    const std::string& local = name(value);
    TensorText text;
    text.wide = !known.fits_32_bits;
    text.data = local;
    const std::string pointer = pointer_type(value);
    placed_.prologue.push_back(pointer + " const " + local + " = " + parameter_slot(pointer, local) + ";");
    const std::string size_type = text.wide ? "long long" : "int";
    const auto field = [&](const std::string& type, const std::string& what, std::size_t axis, std::int64_t constant) {
        const std::string slot = local + "_" + what + std::to_string(axis);
        const std::string read = parameter_slot("long long", slot);
        if (constant >= 0) return std::to_string(constant);
        placed_.prologue.push_back("const " + type + " " + slot + " = " + (type == "int" ? "(int)" : "") + read + ";");
        return slot;
    };
    for (std::size_t axis = 0; axis < type.shape.rank(); ++axis) {
        text.sizes.push_back(field(size_type, "size", axis, type.shape[axis] == kDynamic ? -1 : type.shape[axis]));
    }
    // Strides are 64 bits wide also where offsets fit 32: compilers then step a pointer from register to register,
    // where 32-bit offsets are extended one by one (gemm f32 64x64x32 on sm_80: 88 registers and 784 instructions, 128
    // and 912).
    for (std::size_t axis = 0; axis < type.shape.rank(); ++axis) {
        text.strides.push_back(field("long long", "stride", axis, static_cast<int>(axis) == known.unit_axis ? 1 : -1));
    }
    texts_[value.index] = std::move(text);
}

void PhaseLowering::lower_view(const Op& op) {
    flush();
    const ValueId source = op.operands[0];
    const TensorText from = tensor(source);
    const Type& type = kernel_.type(op.result());
    const std::string& local = name(op.result());
    const std::string integer = from.wide ? "long long" : "int";
    TensorText view;
    view.wide = from.wide;
    std::string moved, outside;
    Lines lines;
    std::vector<std::string> sizes;
    std::size_t operand = 1;
    const auto& axes = attribute<AccessAttribute>(op).axes;
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        if (axes[axis].kind == AxisKind::All) {
            sizes.push_back(from.sizes[axis]);
            view.strides.push_back(from.strides[axis]);
            continue;
        }
        const ValueId at = op.operands[operand++];
        if (axes[axis].kind == AxisKind::Index) {
            const std::string index = "(long long)" + scalar(at);
            moved = sum_text(moved, product_text(index, from.strides[axis]));
            if (!tensors_.proves_inside(source, axis, at, 1)) {
                outside += (outside.empty() ? "" : " && ") + inside_text(at, from.sizes[axis], from.wide);
            }
            continue;
        }
        const ValueId end = op.operands[operand++];
        const std::string lower = fresh("lower"), size = fresh("length");
        lines.add("const " + integer + " " + lower + " = kiln_clamp((long long)" + scalar(at) + ", 0, " +
                  from.sizes[axis] + ");");
        lines.add("const " + integer + " " + size + " = kiln_clamp((long long)" + scalar(end) + ", " + lower + ", " +
                  from.sizes[axis] + ") - " + lower + ";");
        moved = sum_text(moved, product_text(lower, from.strides[axis]));
        sizes.push_back(size);
        view.strides.push_back(from.strides[axis]);
    }
    view.data = from.data;
    if (bit_width(type.element) < 8) {
        view.skip = from.skip;
        if (!moved.empty()) {
            view.skip = fresh("skip");
            lines.add("const long long " + view.skip + " = " + sum_text(from.skip, moved) + ";");
        }
    } else if (!moved.empty()) {
        view.data = local;
        lines.add(pointer_type(op.result()) + " const " + local + " = " + from.data + " + (" + moved + ");");
    }
    std::string holds;
    if (!outside.empty()) {
        holds = fresh("inside");
        lines.add("const bool " + holds + " = " + outside + ";");
    }
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
        if (holds.empty()) {
            view.sizes.push_back(sizes[axis]);
            continue;
        }
        const std::string size = local + "_size" + std::to_string(axis);
        lines.add("const " + integer + " " + size + " = " + holds + " ? " + sizes[axis] + " : 0;");
        view.sizes.push_back(size);
    }
    texts_[op.result().index] = std::move(view);
    emit(std::move(lines));
}

std::string PhaseLowering::inside_text(ValueId index, const std::string& size, bool wide) {
    const bool narrow = !wide && bit_width(stored(index)) <= 32 && stored(index) != ScalarType::U32;
    const std::string unsigned_type = narrow ? "(unsigned)" : "(unsigned long long)";
    return unsigned_type + scalar(index) + " < " + unsigned_type + size;
}

Touch PhaseLowering::touch(const Op& op, bool writes) const {
    Touch touch{Touch::Space::Global, tensors_[op.operands[0]].root.index, writes};
    const bool scalar = op.kind == OpKind::Store &&
                        kernel_.type(op.operands[op.operands.size() - (access_of(op).masked ? 2 : 1)]).is_scalar();
    touch.by_one_thread = scalar;
    touch.disjoint = writes && is_disjoint(op);
    return touch;
}

/// Prepares an access: what does not depend on the register is computed once, in `lines`.
PhaseLowering::Access PhaseLowering::plan_access(const Op& op, const Layout& layout, Lines& lines,
                                                 const Window& window) {
    Access access{&op, tensor(op.operands[0]), layout};
    const auto& axes = access_of(op).axes;
    access.four_bits = bit_width(kernel_.type(op.operands[0]).element) < 8;
    std::size_t tile_axis = 0;
    bool gathers = false;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const ValueId value = op.operands[i + 1];
        AccessAxis axis{axes[i].kind, value, i, tile_axis, axes[i].length};
        if (axes[i].kind == AxisKind::Gather && !gathers) {
            gathers = true;
            tile_axis += kernel_.type(value).shape.rank();
        }
        if (axes[i].kind == AxisKind::Slice) {
            if (window.length > 0 && window.axis == tile_axis) axis.begin = window.begin;
            ++tile_axis;
        }
        if (axes[i].kind != AxisKind::Gather) {
            axis.proven = tensors_.proves_inside(op.operands[0], i, value, std::max<std::int64_t>(1, axes[i].length));
        }
        access.axes.push_back(axis);
    }
    add_base(access, lines);
    return access;
}

/// The pointer to the thread's part of the access, and for each slice the index of its first element.
void PhaseLowering::add_base(Access& access, Lines& lines) {
    std::string moved;
    for (AccessAxis& axis : access.axes) {
        if (axis.kind == AxisKind::Gather) continue;
        const std::string& stride = access.tensor.strides[axis.tensor_axis];
        std::string index = scalar(axis.value);
        // Where a size may exceed 32 bits, so may an index, even if its start does not.
        const bool narrow = stored(axis.value) == ScalarType::I32 && !access.tensor.wide;
        if (axis.kind == AxisKind::Slice) {
            std::string at = thread_coordinate(access.layout, axis.tile_axis);
            if (axis.begin > 0) at = "(" + sum_text(at, std::to_string(axis.begin)) + ")";
            // Unsigned, so that no sum overflows: what is negative becomes large, and outside.
            axis.counter = narrow ? "unsigned" : "unsigned long long";
            axis.first = fresh("first");
            lines.add("const " + axis.counter + " " + axis.first + " = " +
                      sum_text(index == "0" ? "" : "(" + axis.counter + ")" + index,
                               at.empty() ? "" : (narrow ? at : "(unsigned long long)" + at)) +
                      ";");
            index = (narrow ? "(int)" : "(long long)") + axis.first;
        }
        if (index == "0") continue;
        moved = sum_text(moved, product_text(index, stride));
    }
    access.base = fresh("base");
    if (access.four_bits) {  // an index, since a pointer has no half bytes
        lines.add("const long long " + access.base + " = " + sum_text(access.tensor.skip, moved) + ";");
        return;
    }
    lines.add(pointer_type(access.op->operands[0]) + " const " + access.base + " = " +
              sum_text(access.tensor.data, moved.empty() ? "" : "(" + moved + ")") + ";");
}

/// Index tiles of a gather, as locals of the loop.
void PhaseLowering::read_indices(Loop& loop, Access& access) {
    for (AccessAxis& axis : access.axes) {
        if (axis.kind != AxisKind::Gather) continue;
        const std::optional<Reach> reach = gather_layout(kernel_, *access.op, access.layout, axis.value);
        if (!reach) throw support::InternalError("gpu::lower", "an index tile without a layout");
        axis.index = fresh("index");
        loop.lines.add("const " + c_type(axis.value) + " " + axis.index + " = " + element(loop, *reach) + ";");
    }
}

/// Elements from the base, for each step of the loop.
std::string PhaseLowering::address(Loop& loop, Access& access) {
    std::string moved;
    for (const AccessAxis& axis : access.axes) {
        const std::string& stride = access.tensor.strides[axis.tensor_axis];
        if (axis.kind == AxisKind::Slice) {
            moved =
                sum_text(moved, product_text(table(loop, register_coordinates(access.layout, axis.tile_axis)), stride));
        } else if (axis.kind == AxisKind::Gather) {
            moved = sum_text(moved, product_text("(long long)" + axis.index, stride));
        }
    }
    return moved.empty() ? "0" : moved;
}

/// Condition for an element to be read or written; with `edges` also that slices lie inside the tensor.
std::string PhaseLowering::inside(Loop& loop, Access& access, bool edges) {
    const std::string exists = guard(loop), lies = inside_tensor(loop, access, edges, nullptr);
    return exists.empty() || lies.empty() ? exists + lies : exists + " && " + lies;
}

/// The part of it that speaks of the tensor, and not of the axis `except`.
std::string PhaseLowering::inside_tensor(Loop& loop, Access& access, bool edges, const AccessAxis* except) {
    std::string text;
    const auto also = [&](const std::string& condition) { text += (text.empty() ? "" : " && ") + condition; };
    for (const AccessAxis& axis : access.axes) {
        if (&axis == except) continue;
        const std::string& size = access.tensor.sizes[axis.tensor_axis];
        if (axis.kind == AxisKind::Gather) {
            const ScalarType type = stored(axis.value);
            const bool narrow = bit_width(type) <= 32 && type != ScalarType::U32;
            const std::string integer = narrow && !access.tensor.wide ? "unsigned" : "unsigned long long";
            also("(" + integer + ")" + (integer == "unsigned" ? "" : "(long long)") + axis.index + " < (" + integer +
                 ")" + size);
        }
        if (!edges || axis.proven || axis.kind == AxisKind::Gather) continue;
        if (axis.kind == AxisKind::Index) {
            also(inside_text(axis.value, size, access.tensor.wide));
            continue;
        }
        const std::string index =
            sum_text(axis.first, table(loop, register_coordinates(access.layout, axis.tile_axis)));
        also(index + " < (" + axis.counter + ")" + size);
    }
    return text;
}

/// Condition, the same for all threads, for all of a tile's slices to lie inside; empty if that is proven.
std::string PhaseLowering::whole_inside(const Access& access) {
    std::string text;
    const auto also = [&](const std::string& condition) { text += (text.empty() ? "" : " && ") + condition; };
    for (const AccessAxis& axis : access.axes) {
        if (axis.kind == AxisKind::Gather || axis.proven) continue;
        const std::string& size = access.tensor.sizes[axis.tensor_axis];
        if (axis.kind == AxisKind::Index) {
            also(inside_text(axis.value, size, access.tensor.wide));
            continue;
        }
        const bool narrow = stored(axis.value) == ScalarType::I32 && !access.tensor.wide;
        const std::string start = (narrow ? "" : "(long long)") + scalar(axis.value);
        if (facts_[axis.value].lo < 0) also(start + " >= 0");
        also(start + " <= " + (narrow ? "" : "(long long)") + size + " - " + std::to_string(axis.length));
    }
    return text;
}

}  // namespace kiln::codegen::gpu
