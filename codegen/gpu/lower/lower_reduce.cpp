// Reductions and folds: over the registers of a thread, then over lanes by exchanges, then over warps through shared
// memory. All threads end with the result, and with the same bits: an exchange combines the same two values in both
// lanes, in one order.
#include <algorithm>

#include "codegen/gpu/lower/phase_lowering.h"
#include "codegen/gpu/lower/register_text.h"
#include "ir/element_function.h"
#include "ir/semantics.h"
#include "ir/support/internal_error.h"
#include "ir/tile_ops.h"

namespace kiln::codegen::gpu {

using namespace ir;

namespace {

/// The number that the given digits of the warp number spell; "" if they are none.
std::string digits_text(const Digits& digits, int warps) {
    std::string text;
    int below = 1;
    for (const Digit& digit : digits) {
        std::string one = digit.stride > 1 ? "warp / " + std::to_string(digit.stride) + "u" : "warp";
        if (digit.stride * digit.count < warps) one += " % " + std::to_string(digit.count) + "u";
        text = sum_text(text, product_text(one, std::to_string(below) + "u"));
        below *= digit.count;
    }
    return text == "0" ? "" : text;
}

/// Source registers to result registers.
std::vector<int> targets_of(const Reduction& reduction, int registers) {
    std::vector<int> target(static_cast<std::size_t>(registers));
    for (std::size_t result = 0; result < reduction.registers.size(); ++result) {
        for (const int source : reduction.registers[result])
            target[static_cast<std::size_t>(source)] = static_cast<int>(result);
    }
    return target;
}

}  // namespace

/// What a reduction and a fold share: elements of several tiles, and how two sets of them become one.
struct PhaseLowering::Combination {
    std::vector<ScalarType> types;   ///< of the elements while they are combined
    std::vector<std::string> parts;  ///< C arrays of the combined elements so far
    bool ordered = true;             ///< the bits of a result may depend on which operand comes first
    std::function<std::vector<std::string>(Lines&, const std::vector<std::string>&, const std::vector<std::string>&)>
        combine;
};

/// parts[to] = combine(parts[to], values), the values being expressions.
void PhaseLowering::combine_into(Lines& lines, const Combination& all, const std::string& to,
                                 const std::vector<std::string>& values, bool values_first) {
    std::vector<std::string> own, other;
    for (std::size_t i = 0; i < values.size(); ++i) {
        own.push_back(all.parts[i] + "[" + to + "]");
        other.push_back(fresh("other"));
        lines.add("const " + std::string(gpu::c_type(all.types[i])) + " " + other[i] + " = " + values[i] + ";");
    }
    const std::vector<std::string> results =
        values_first ? all.combine(lines, other, own) : all.combine(lines, own, other);
    if (results.size() == 1) {
        lines.add(own[0] + " = " + results[0] + ";");
        return;
    }
    std::vector<std::string> next;
    for (std::size_t i = 0; i < results.size(); ++i) {
        next.push_back(fresh("next"));
        lines.add("const " + std::string(gpu::c_type(all.types[i])) + " " + next[i] + " = " + results[i] + ";");
    }
    for (std::size_t i = 0; i < results.size(); ++i) lines.add(own[i] + " = " + next[i] + ";");
}

/// Lanes, then warps. `valid` says of a thread that it holds anything at all ("" if all do); it is an array like the
/// parts.
void PhaseLowering::combine_lanes(const Combination& all, const Reduction& reduction, const std::string& valid) {
    const int count = reduction.result.registers();
    for (const int mask : reduction.lane_masks) {
        Lines lines;
        lines.open_unrolled("r", count);
        const std::string number = std::to_string(mask);
        std::vector<std::string> lower, upper;
        for (std::size_t i = 0; i < all.parts.size(); ++i) {
            const std::string type(gpu::c_type(all.types[i]));
            const std::string other = fresh("other"), a = fresh("lower"), b = fresh("upper");
            const std::string own = all.parts[i] + "[r]";
            lines.add("const " + type + " " + other + " = kiln_shuffle_xor(" + own + ", " + number + ");");
            if (!all.ordered) {
                lower.push_back(own);
                upper.push_back(other);
                continue;
            }
            lines.add("const " + type + " " + a + " = (lane & " + number + "u) == 0 ? " + own + " : " + other + ";");
            lines.add("const " + type + " " + b + " = (lane & " + number + "u) == 0 ? " + other + " : " + own + ";");
            lower.push_back(a);
            upper.push_back(b);
        }
        if (valid.empty()) {
            const std::vector<std::string> results = all.combine(lines, lower, upper);
            for (std::size_t i = 0; i < results.size(); ++i) lines.add(all.parts[i] + "[r] = " + results[i] + ";");
        } else {
            const std::string there = fresh("there"), low = fresh("has_lower"), high = fresh("has_upper");
            lines.add("const bool " + there + " = kiln_shuffle_xor(" + valid + "[r], " + number + ");");
            lines.add("const bool " + low + " = (lane & " + number + "u) == 0 ? " + valid + "[r] : " + there + ";");
            lines.add("const bool " + high + " = (lane & " + number + "u) == 0 ? " + there + " : " + valid + "[r];");
            const std::vector<std::string> results = all.combine(lines, lower, upper);
            for (std::size_t i = 0; i < results.size(); ++i) {
                lines.add(all.parts[i] + "[r] = " + low + " && " + high + " ? " + results[i] + " : " + low + " ? " +
                          lower[i] + " : " + upper[i] + ";");
            }
            lines.add(valid + "[r] = " + low + " || " + high + ";");
        }
        lines.close();
        emit(std::move(lines));
    }
}

void PhaseLowering::combine_warps(const Combination& all, const Layout& source, const Reduction& reduction,
                                  const std::string& valid) {
    int warps = 1;
    for (const Digit& digit : reduction.warps) warps *= digit.count;
    if (warps == 1) return;
    const Layout& layout = reduction.result;
    const std::int64_t elements = layout.shape().count();
    const Shape strides = dense_strides(layout.shape());
    std::vector<std::string> types, arrays = all.parts;
    for (const ScalarType type : all.types) types.emplace_back(gpu::c_type(type));
    if (!valid.empty()) {
        types.emplace_back("bool");
        arrays.push_back(valid);
    }
    std::vector<std::string> shared;
    std::vector<Touch> writes, reads;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        const std::uint32_t buffer = add_buffer("partial", types[i], warps * elements * 8);
        placed_.buffers[buffer].bytes =
            warps * elements * (i < all.types.size() ? std::max(1, bit_width(all.types[i]) / 8) : 1);
        shared.push_back(placed_.buffers[buffer].name);
        writes.push_back({Touch::Space::Shared, buffer, true});
        reads.push_back({Touch::Space::Shared, buffer, false});
    }
    Loop write{layout};
    const std::string at = linear(write, whole({}, layout), strides);
    std::string condition = first_copy(layout.repeated_lanes(), source.repeated_warps());
    const std::string inside = guard(write);
    if (!inside.empty()) condition += (condition.empty() ? "" : " && ") + inside;
    const std::string mine = hoisted(
        "int", "part", "(int)((" + digits_text(reduction.warps, warps_) + ") * " + std::to_string(elements) + "u)");
    Lines lines;
    lines.open_unrolled("r", layout.registers());
    if (!condition.empty()) write.lines.open("if (" + condition + ")");
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        write.lines.add(shared[i] + "[" + sum_text(mine, at) + "] = " + arrays[i] + "[r];");
    }
    if (!condition.empty()) write.lines.close();
    lines.append(std::move(write.lines));
    lines.close();
    emit(std::move(lines), writes);

    Loop read{layout};
    const std::string from = linear(read, whole({}, layout), strides);
    const std::string there = guard(read);
    Lines result;
    result.open_unrolled("r", layout.registers());
    if (!there.empty()) read.lines.open("if (" + there + ")");
    for (std::size_t i = 0; i < arrays.size(); ++i)
        read.lines.add(arrays[i] + "[r] = " + shared[i] + "[" + from + "];");
    read.lines.open_unrolled("w", warps - 1);
    std::vector<std::string> values;
    const std::string place = "(w + 1) * " + std::to_string(elements) + (from == "0" ? "" : " + " + from);
    for (std::size_t i = 0; i < all.parts.size(); ++i) values.push_back(shared[i] + "[" + place + "]");
    if (valid.empty()) {
        combine_into(read.lines, all, "r", values, false);
    } else {
        const std::string has = shared.back() + "[" + place + "]";
        read.lines.open("if (" + has + " && !" + valid + "[r])");
        for (std::size_t i = 0; i < all.parts.size(); ++i) read.lines.add(all.parts[i] + "[r] = " + values[i] + ";");
        read.lines.add(valid + "[r] = true;");
        read.lines.close();
        read.lines.open("else if (" + has + ")");
        combine_into(read.lines, all, "r", values, false);
        read.lines.close();
    }
    read.lines.close();
    if (!there.empty()) read.lines.close();
    result.append(std::move(read.lines));
    result.close();
    emit(std::move(result), reads);
}

/// A result without the axis that was reduced, from a part that has it with length 1.
void PhaseLowering::finish_reduction(ValueId value, const Layout& part_layout, const std::string& part,
                                     ScalarType type) {
    const auto text = [&](const std::string& index) {
        const std::string element = part + "[" + index + "]";
        return type == stored(value) ? element : conversion(OpKind::Convert, type, stored(value), element);
    };
    Lines lines;
    if (kernel_.type(value).is_scalar()) {
        lines.add("const " + c_type(value) + " " + name(value) + " = " + text("0") + ";");
        return emit(std::move(lines));
    }
    const std::optional<Layout> layout = reshape(part_layout, kernel_.type(value).shape);
    if (!layout) throw support::InternalError("gpu::lower", "the layout of a reduction");
    std::string at = part;
    if (type != stored(value)) {
        at = result_name(value, *layout);
        lines.add(array(stored(value), at, *layout) + ";");
        lines.open_unrolled("r", layout->registers());
        lines.add(at + "[r] = " + text("r") + ";");
        lines.close();
        emit(std::move(lines));
    }
    if (layouts_[value] == *layout) {
        names_[value.index] = at;
    } else {
        finish(value, *layout, at);
    }
}

void PhaseLowering::lower_reduce(const Op& op) {
    flush();
    const ReduceAttribute& attribute = ir::attribute<ReduceAttribute>(op);
    const ValueId operand = op.operands[0];
    const Layout layout = natural_layout(operand);
    const std::optional<Reduction> reduction = reduce(layout, static_cast<int>(attribute.axis));
    if (!reduction) throw support::InternalError("gpu::lower", "a reduction over an axis of several parts");
    const bool narrow = stored(operand) == ScalarType::I32 && stored(op.result()) == ScalarType::I32;
    const ScalarType element_type = kernel_.type(operand).element;
    const ScalarType carrier = narrow ? ScalarType::I32 : reduce_carrier(attribute.kind, element_type);
    const std::string identity = literal(reduce_identity(attribute.kind, narrow ? ScalarType::I32 : element_type));
    Combination all{{carrier}, {fresh("part")}, false, {}};
    all.combine = [&](Lines&, const std::vector<std::string>& a, const std::vector<std::string>& b) {
        return std::vector<std::string>{gpu::combine(attribute.kind, carrier, a[0], b[0])};
    };
    const int count = reduction->result.registers();
    Lines lines;
    lines.add(std::string(gpu::c_type(carrier)) + " " + all.parts[0] + "[" + std::to_string(count) + "];");
    lines.open_unrolled("r", count);
    lines.add(all.parts[0] + "[r] = " + identity + ";");
    lines.close();
    Loop loop{layout};
    std::string value = element(loop, operand);
    if (stored(operand) != carrier) value = conversion(OpKind::Convert, stored(operand), carrier, value);
    const std::string inside = guard(loop);
    if (!inside.empty()) value = inside + " ? " + value + " : " + identity;
    combine_into(loop.lines, all, index_text(loop, targets_of(*reduction, layout.registers())), {value}, false);
    lines.open_unrolled("r", layout.registers());
    lines.append(std::move(loop.lines));
    lines.close();
    emit(std::move(lines));
    combine_lanes(all, *reduction, "");
    combine_warps(all, layout, *reduction, "");
    finish_reduction(op.result(), reduction->result, all.parts[0], carrier);
}

/// The block of a fold or scan as text: what it makes of two sets of elements.
std::vector<std::string> PhaseLowering::combine(Lines& lines, const Op& op, const std::vector<std::string>& first,
                                                const std::vector<std::string>& second) {
    const Block& block = kernel_[op.blocks[0]];
    const std::size_t parts = first.size();
    for (std::size_t i = 0; i < parts; ++i) {
        overrides_[block.arguments[i].index] = first[i];
        overrides_[block.arguments[parts + i].index] = second[i];
    }
    std::vector<std::uint32_t> made;
    std::function<void(BlockId)> walk_block;
    for (const OpId id : block.ops) {
        const Op& step = kernel_[id];
        if (step.kind == OpKind::Constant || step.kind == OpKind::Yield) continue;
        if (!is_elementwise(step.kind)) {
            refuse("the function of a reduce or scan has `" + std::string(info(step.kind).mnemonic) +
                   "`, and on a GPU it takes elementwise operations only: `select` in place of control flow works, and "
                   "so does what is read before");
        }
        std::vector<std::string> operands;
        for (const ValueId operand : step.operands) operands.push_back(scalar(operand));
        const std::string local = fresh("t");
        lines.add("const " + c_type(step.result()) + " " + local + " = " + elementwise_text(step, operands) + ";");
        overrides_[step.result().index] = local;
        made.push_back(step.result().index);
    }
    std::vector<std::string> results;
    const std::vector<ValueId>& yielded = kernel_[block.ops.back()].operands;
    for (std::size_t i = 0; i < yielded.size(); ++i)
        results.push_back(scalar_as(yielded[i], stored(block.arguments[i])));
    for (const std::uint32_t value : made) overrides_.erase(value);
    for (const ValueId argument : block.arguments) overrides_.erase(argument.index);
    return results;
}

void PhaseLowering::lower_fold(const Op& op) {
    flush();
    const auto axis = attribute<AxisAttribute>(op).axis;
    ValueId leader = op.operands[0];
    for (const ValueId operand : op.operands) {
        if (values_[operand] == TileForm::Kept) leader = operand;
    }
    const Layout layout = natural_layout(leader);
    const std::optional<Reduction> reduction = reduce(layout, static_cast<int>(axis));
    if (!reduction) throw support::InternalError("gpu::lower", "a fold over an axis of several parts");
    const std::vector<ValueId>& arguments = kernel_[op.blocks[0]].arguments;
    Combination all;
    const int count = reduction->result.registers();
    Lines lines;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
        all.types.push_back(stored(arguments[i]));
        all.parts.push_back(fresh("part"));
        lines.add(std::string(gpu::c_type(all.types[i])) + " " + all.parts[i] + "[" + std::to_string(count) + "];");
    }
    all.combine = [&](Lines& to, const std::vector<std::string>& a, const std::vector<std::string>& b) {
        return combine(to, op, a, b);
    };
    // There is no neutral element: each thread keeps account of whether it has an element yet.
    const std::string valid = fresh("valid");
    lines.add("bool " + valid + "[" + std::to_string(count) + "];");
    lines.open_unrolled("r", count);
    lines.add(valid + "[r] = false;");
    lines.close();
    Loop loop{layout};
    std::vector<std::string> values;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
        std::string value = element(loop, whole(op.operands[i], layout));
        if (stored(op.operands[i]) != all.types[i])
            value = "(" + std::string(gpu::c_type(all.types[i])) + ")(" + value + ")";
        values.push_back(value);
    }
    const std::string to = index_text(loop, targets_of(*reduction, layout.registers()));
    const std::string inside = guard(loop);
    if (!inside.empty()) loop.lines.open("if (" + inside + ")");
    loop.lines.open("if (" + valid + "[" + to + "])");
    combine_into(loop.lines, all, to, values, false);
    loop.lines.otherwise();
    for (std::size_t i = 0; i < values.size(); ++i) loop.lines.add(all.parts[i] + "[" + to + "] = " + values[i] + ";");
    loop.lines.close();
    loop.lines.add(valid + "[" + to + "] = true;");
    if (!inside.empty()) loop.lines.close();
    lines.open_unrolled("r", layout.registers());
    lines.append(std::move(loop.lines));
    lines.close();
    emit(std::move(lines));
    const std::string account = layout.exact() ? "" : valid;
    combine_lanes(all, *reduction, account);
    combine_warps(all, layout, *reduction, account);
    for (std::size_t i = 0; i < op.results.size(); ++i) {
        finish_reduction(op.results[i], reduction->result, all.parts[i], all.types[i]);
    }
}

}  // namespace kiln::codegen::gpu
