// Loops over registers, and what an element of any tile is in such a loop.
#include <algorithm>

#include "codegen/gpu/lower/phase_lowering.h"
#include "codegen/gpu/lower/register_text.h"
#include "ir/support/internal_error.h"

namespace kiln::codegen::gpu {

using namespace ir;

namespace {

const Part& only_part(const Layout& layout) {
    if (layout.parts().size() != 1) throw support::InternalError("gpu::lower", "a layout of several parts");
    return layout.parts().front();
}

std::int64_t covered(const Part& part, int axis) {
    std::int64_t reach = 1;
    for (const Digits* digits : {&part.registers, &part.lanes, &part.warps}) {
        for (const Digit& digit : *digits) {
            if (digit.axis == axis) reach += (digit.count - 1) * digit.stride;
        }
    }
    return reach;
}

}  // namespace

std::string PhaseLowering::array(ScalarType type, const std::string& name, const Layout& layout) const {
    return std::string(gpu::c_type(type)) + " " + name + "[" + std::to_string(layout.registers()) + "]";
}

Layout PhaseLowering::natural_layout(const Shape& shape) const {
    return coalesced(shape, 1, target_.lanes, warps_);
}

/// Under which an op reads a tile if nothing else decides.
Layout PhaseLowering::natural_layout(ValueId value) const {
    if (values_[value] == TileForm::Kept && layouts_.has(value)) return layouts_[value];
    const Op* op = values_[value] == TileForm::View ? kernel_.definition(value) : nullptr;
    if (op != nullptr && op->kind == OpKind::Permute) {
        return permute(natural_layout(op->operands[0]), attribute<AxesAttribute>(*op).axes);
    }
    if (op != nullptr && op->kind == OpKind::Reshape) {
        const std::optional<Layout> layout = reshape(natural_layout(op->operands[0]), kernel_.type(value).shape);
        if (layout) return *layout;
    }
    return natural_layout(kernel_.type(value).shape);
}

// Coordinates

std::string PhaseLowering::thread_coordinate(const Layout& layout, std::size_t axis) {
    const std::string text = gpu::expression(only_part(layout), static_cast<int>(axis), "lane", "warp");
    return text == "0" ? "" : hoisted("int", "at", "(int)(" + text + ")");
}

std::vector<std::int64_t> PhaseLowering::register_coordinates(const Layout& layout, std::size_t axis) const {
    const Part& part = only_part(layout);
    std::vector<std::int64_t> values;
    for (int reg = 0; reg < layout.registers(); ++reg)
        values.push_back(offset(part.registers, static_cast<int>(axis), reg));
    return values;
}

std::string PhaseLowering::table(Loop& loop, const std::vector<std::int64_t>& values) {
    std::string text = register_expression(values, loop.counter);
    if (!text.empty()) return text;
    std::string entries;
    for (const std::int64_t value : values) entries += (entries.empty() ? "" : ", ") + std::to_string(value);
    const std::string known = fresh("table");
    loop.lines.add("constexpr int " + known + "[" + std::to_string(values.size()) + "] = {" + entries + "};");
    return known + "[" + loop.counter + "]";
}

std::string PhaseLowering::index_text(Loop& loop, const std::vector<int>& registers) {
    return table(loop, {registers.begin(), registers.end()});
}

std::string PhaseLowering::coordinate(Loop& loop, const Reach& reach, std::size_t axis) {
    const std::vector<std::int64_t> all = register_coordinates(reach.layout, axis);
    std::vector<std::int64_t> values;
    for (const int reg : reach.registers) values.push_back(all[static_cast<std::size_t>(reg)]);
    return sum_text(thread_coordinate(reach.layout, axis), table(loop, values));
}

std::string PhaseLowering::linear(Loop& loop, const Reach& reach, const Shape& strides, std::int64_t start) {
    std::string thread;
    std::vector<std::int64_t> values(reach.registers.size(), start);
    for (std::size_t axis = 0; axis < strides.rank(); ++axis) {
        const std::string text = gpu::expression(only_part(reach.layout), static_cast<int>(axis), "lane", "warp");
        if (text != "0") thread = sum_text(thread, product_text(text, std::to_string(strides[axis]) + "u"));
        const std::vector<std::int64_t> all = register_coordinates(reach.layout, axis);
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] += all[static_cast<std::size_t>(reach.registers[i])] * strides[axis];
        }
    }
    if (!thread.empty()) thread = hoisted("int", "at", "(int)(" + thread + ")");
    return sum_text(thread, table(loop, values));
}

std::string PhaseLowering::guard(Loop& loop) {
    std::string text;
    const Reach all{{}, loop.layout, whole({}, loop.layout).registers};
    for (std::size_t axis = 0; axis < loop.layout.shape().rank(); ++axis) {
        const std::int64_t extent = loop.layout.shape()[axis];
        if (covered(only_part(loop.layout), static_cast<int>(axis)) <= extent) continue;
        text += (text.empty() ? "" : " && ") + coordinate(loop, all, axis) + " < " + std::to_string(extent);
    }
    return text;
}

std::string PhaseLowering::first_copy(int lanes, const Digits& warps) {
    std::string text;
    if (lanes != 0) text = "(lane & " + std::to_string(lanes) + "u) == 0";
    for (const Digit& digit : warps) {
        if (digit.count <= 1) continue;
        std::string one = digit.stride > 1 ? "warp / " + std::to_string(digit.stride) + "u" : "warp";
        if (digit.stride * digit.count < warps_) one += " % " + std::to_string(digit.count) + "u";
        text += (text.empty() ? "" : " && ") + one + " == 0";
    }
    return text.empty() ? "" : hoisted("bool", "owner", text);
}

std::string PhaseLowering::first_copy(const Layout& layout) {
    return first_copy(layout.repeated_lanes(), layout.repeated_warps());
}

// Elements

std::string PhaseLowering::element(Loop& loop, ValueId value) {
    if (kernel_.type(value).is_scalar()) return scalar(value);
    return element(loop, whole(value, loop.layout));
}

std::string PhaseLowering::element(Loop& loop, const Reach& view) {
    if (kernel_.type(view.value).is_scalar()) return scalar(view.value);
    const auto overridden = overrides_.find(view.value.index);
    if (overridden != overrides_.end()) return overridden->second;
    const Reach reach = resolve(kernel_, values_, view);
    for (const Loop::Local& local : loop.locals) {
        if (local.value == reach.value && local.registers == reach.registers && local.layout == reach.layout)
            return local.text;
    }
    if (values_[reach.value] == TileForm::Free) return free_element(loop, reach);
    const bool kept = values_[reach.value] == TileForm::Kept && layouts_[reach.value] == reach.layout;
    const std::string& source = kept ? name(reach.value) : materialise(reach.value, reach.layout);
    return source + "[" + index_text(loop, reach.registers) + "]";
}

std::string PhaseLowering::free_element(Loop& loop, const Reach& reach) {
    const Op& op = *kernel_.definition(reach.value);
    std::string text;
    if (op.kind == OpKind::Iota) {
        text = coordinate(loop, reach, 0);
        if (stored(reach.value) != ScalarType::I32) text = "(long long)(" + text + ")";
    } else if (is_elementwise(op.kind)) {
        std::vector<std::string> operands;
        for (const ValueId operand : op.operands)
            operands.push_back(element(loop, Reach{operand, reach.layout, reach.registers}));
        text = elementwise_text(op, operands);
    } else if (kernel_.type(op.operands[0]).is_scalar()) {
        return scalar(op.operands[0]);
    } else {
        const std::optional<Reach> next = below(kernel_, reach);
        if (!next) throw support::InternalError("gpu::lower", "a free tile that cannot be reached");
        return element(loop, *next);
    }
    const std::string local = fresh(kernel_[reach.value].name.empty() ? "t" : kernel_[reach.value].name);
    loop.lines.add("const " + c_type(reach.value) + " " + local + " = " + text + ";");
    loop.locals.push_back({reach.value, reach.layout, reach.registers, local});
    return local;
}

// Elementwise ops are gathered while they have one layout, and become one loop.

bool PhaseLowering::is_pending(ValueId value) const {
    return std::any_of(pending_.begin(), pending_.end(), [&](const Op* op) { return op->result() == value; });
}

void PhaseLowering::add_pending(const Op& op) {
    const Layout& layout = layouts_[op.result()];
    bool joins = !pending_.empty() && pending_layout_ == layout;
    for (const ValueId operand : op.operands) {
        if (!joins || kernel_.type(operand).is_scalar()) continue;
        const std::function<bool(const Reach&)> direct = [&](const Reach& view) {
            const Reach reach = resolve(kernel_, values_, view);
            if (is_pending(reach.value)) return reach.layout == layout && reach.registers == view.registers;
            if (values_[reach.value] != TileForm::Part && values_[reach.value] != TileForm::View) return true;
            // Read through shared memory: whatever it is made of must have been computed.
            return false;
        };
        joins = direct(whole(operand, layout));
    }
    if (!joins) flush();
    pending_layout_ = layout;
    pending_.push_back(&op);
}

void PhaseLowering::flush() {
    if (pending_.empty()) return;
    const std::vector<const Op*> ops = std::move(pending_);
    pending_.clear();
    const auto inside = [&](const Op* user) { return std::find(ops.begin(), ops.end(), user) != ops.end(); };
    Loop loop{pending_layout_};
    const Reach all = whole({}, loop.layout);
    Lines lines;
    for (const Op* op : ops) {
        std::vector<std::string> operands;
        for (const ValueId operand : op->operands) operands.push_back(element(loop, operand));
        const std::string text = elementwise_text(*op, operands);
        const ValueId result = op->result();
        const std::vector<const Op*>& users = uses_[result.index];
        if (std::all_of(users.begin(), users.end(), inside)) {
            const std::string local = fresh(kernel_[result].name.empty() ? "t" : kernel_[result].name);
            loop.lines.add("const " + c_type(result) + " " + local + " = " + text + ";");
            loop.locals.push_back({result, loop.layout, all.registers, local});
        } else {
            lines.add(array(stored(result), name(result), loop.layout) + ";");
            loop.lines.add(name(result) + "[r] = " + text + ";");
        }
    }
    lines.open_unrolled("r", loop.layout.registers());
    for (const std::string& line : loop.lines.take()) lines.add(line);
    lines.close();
    const support::Span span = span_;
    span_ = ops.front()->span;
    emit(std::move(lines));
    span_ = span;
}

}  // namespace kiln::codegen::gpu
