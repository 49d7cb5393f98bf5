#include "codegen/gpu/lower/tile_values.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace kiln::codegen::gpu {

using namespace ir;

namespace {

/// Free values of more ops than this are kept: repeating them costs more than moving them.
constexpr int kMostFreeOps = 8;

/// Ops that take an instruction or two on integers and bools.
bool is_cheap(const Kernel& kernel, const Op& op) {
    if (op.kind == OpKind::Div || op.kind == OpKind::Rem || op.kind == OpKind::CeilDiv || op.kind == OpKind::FloorDiv ||
        op.kind == OpKind::Mod) {
        return false;
    }
    for (const ValueId operand : op.operands) {
        const ScalarClass kind = scalar_class(kernel.type(operand).element);
        if (kind == ScalarClass::Float || kind == ScalarClass::Storage) return false;
    }
    return true;
}

}  // namespace

TileValues::TileValues(const Kernel& kernel, BlockId phase)
    : kernel_(kernel), forms_(kernel.values.size(), TileForm::Kept), cost_(kernel.values.size(), 0) {
    walk(phase);
    stage_operands(phase);
}

void TileValues::walk(BlockId block) {
    for (const OpId id : kernel_[block].ops) {
        const Op& op = kernel_[id];
        for (const BlockId inner : op.blocks) walk(inner);
        if (!op.results.empty() && kernel_.type(op.result()).is_tile()) classify(op);
    }
}

bool TileValues::is_free(ValueId value) const {
    return kernel_.type(value).is_scalar() || forms_[value.index] == TileForm::Free;
}

void TileValues::classify(const Op& op) {
    TileForm& form = forms_[op.result().index];
    int& cost = cost_[op.result().index];
    if (op.kind == OpKind::Iota) form = TileForm::Free;
    if (op.kind == OpKind::Broadcast || op.kind == OpKind::Permute || op.kind == OpKind::Reshape) {
        form = is_free(op.operands[0]) && op.kind != OpKind::Reshape ? TileForm::Free : TileForm::View;
        if (kernel_.type(op.operands[0]).is_scalar()) form = TileForm::Free;
        cost = cost_[op.operands[0].index];
    }
    if (op.kind == OpKind::Extract || op.kind == OpKind::Join) form = TileForm::Part;
    if (!is_elementwise(op.kind) || !is_cheap(kernel_, op)) return;
    int sum = 1;
    for (const ValueId operand : op.operands) {
        if (!is_free(operand)) return;
        sum += cost_[operand.index];
    }
    if (sum > kMostFreeOps) return;
    form = TileForm::Free;
    cost = sum;
}

namespace {

/// Who uses each value of a phase, and what memory the phase writes.
struct Uses {
    std::vector<std::vector<const Op*>> of;
    std::set<std::uint32_t> written;
    std::vector<const Op*> loads;

    Uses(const Kernel& kernel, BlockId phase) : of(kernel.values.size()) { walk(kernel, phase); }

private:
    void walk(const Kernel& kernel, BlockId block) {
        for (const OpId id : kernel[block].ops) {
            const Op& op = kernel[id];
            for (const ValueId operand : op.operands) of[operand.index].push_back(&op);
            if (op.kind == OpKind::Store || op.kind == OpKind::Atomic)
                written.insert(memory_of(kernel, op.operands[0]).index);
            if (op.kind == OpKind::Load) loads.push_back(&op);
            for (const BlockId inner : op.blocks) walk(kernel, inner);
        }
    }

public:
    static ValueId memory_of(const Kernel& kernel, ValueId tensor) {
        while (const Op* view = kernel.definition(tensor)) tensor = view->operands[0];
        return tensor;
    }
    bool only_in_products(ValueId value, bool turned) const {
        const std::vector<const Op*>& users = of[value.index];
        return !users.empty() && std::all_of(users.begin(), users.end(), [&](const Op* user) {
            // A transposed right operand is read where it lies (reads_along_depth).
            if (user->kind == OpKind::Permute) return !turned && only_in_products(user->result(), true);
            if (user->kind != OpKind::Dot || user->operands[2] == value) return false;
            return !turned || user->operands[0] != value;
        });
    }
};

}  // namespace

/// Tiles that are loaded for products alone need no registers. Memory that the phase writes is read when its load says.
void TileValues::stage_operands(BlockId phase) {
    const Uses uses(kernel_, phase);
    for (const Op* load : uses.loads) {
        const Type& type = kernel_.type(load->result());
        const bool bytes = bit_width(kernel_.type(load->operands[0]).element) >= 8;
        if (!type.is_tile() || type.shape.rank() != 2 || !bytes || access_of(*load).masked) continue;
        if (uses.written.contains(Uses::memory_of(kernel_, load->operands[0]).index)) continue;
        if (uses.only_in_products(load->result(), false)) forms_[load->result().index] = TileForm::Staged;
    }
}

Reach whole(ValueId value, const Layout& layout) {
    Reach reach{value, layout, std::vector<int>(static_cast<std::size_t>(layout.registers()))};
    std::iota(reach.registers.begin(), reach.registers.end(), 0);
    return reach;
}

namespace {

std::optional<Reach> below_broadcast(const Kernel& kernel, const Reach& view, ValueId operand) {
    Reach reach{operand, view.layout, view.registers};
    const Shape& from = kernel.type(operand).shape;
    for (std::size_t axis = 0; axis < from.rank(); ++axis) {
        if (from[axis] == reach.layout.shape()[axis]) continue;
        const std::optional<Slice> part = slice(reach.layout, static_cast<int>(axis));
        if (!part) return std::nullopt;
        for (int& reg : reach.registers) reg = part->register_of[static_cast<std::size_t>(reg)];
        reach.layout = part->layout;
    }
    return reach;
}

Layout below_permute(const Op& op, const Layout& layout) {
    const Shape& axes = attribute<AxesAttribute>(op).axes;
    Shape inverse = axes;
    for (std::size_t i = 0; i < axes.rank(); ++i) {
        inverse[static_cast<std::size_t>(axes[i])] = static_cast<std::int64_t>(i);
    }
    return permute(layout, inverse);
}

}  // namespace

std::optional<Reach> below(const Kernel& kernel, const Reach& view) {
    const Op* op = kernel.definition(view.value);
    if (op == nullptr || op->operands.empty()) return std::nullopt;
    const ValueId operand = op->operands[0];
    if (!kernel.type(operand).is_tile()) return std::nullopt;
    if (op->kind == OpKind::Broadcast) return below_broadcast(kernel, view, operand);
    if (op->kind == OpKind::Permute) return Reach{operand, below_permute(*op, view.layout), view.registers};
    if (op->kind != OpKind::Reshape) return std::nullopt;
    std::optional<Layout> layout = reshape(view.layout, kernel.type(operand).shape);
    if (!layout) return std::nullopt;
    return Reach{operand, std::move(*layout), view.registers};
}

Reach resolve(const Kernel& kernel, const TileValues& values, Reach reach) {
    while (values[reach.value] == TileForm::View) {
        std::optional<Reach> next = below(kernel, reach);
        if (!next) return reach;
        reach = std::move(*next);
    }
    return reach;
}

std::size_t gather_axis(const AccessAttribute& access) {
    std::size_t axis = 0;
    for (const AxisAccess& entry : access.axes) {
        if (entry.kind == AxisKind::Gather) return axis;
        if (entry.kind == AxisKind::Slice) ++axis;
    }
    return axis;
}

std::optional<Reach> gather_layout(const Kernel& kernel, const Op& op, const Layout& layout, ValueId index) {
    const Shape& shape = kernel.type(index).shape;
    const std::size_t first = gather_axis(access_of(op));
    Reach reach = whole(index, layout);
    for (std::size_t axis = 0; axis < layout.shape().rank(); ++axis) {
        if (axis >= first && axis < first + shape.rank()) continue;
        const std::optional<Slice> part = slice(reach.layout, static_cast<int>(axis));
        if (!part) return std::nullopt;
        for (int& reg : reach.registers) reg = part->register_of[static_cast<std::size_t>(reg)];
        reach.layout = part->layout;
    }
    std::optional<Layout> narrowed = reshape(reach.layout, shape);
    if (!narrowed) return std::nullopt;
    reach.layout = std::move(*narrowed);
    return reach;
}

}  // namespace kiln::codegen::gpu
