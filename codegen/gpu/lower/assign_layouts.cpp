#include "codegen/gpu/lower/assign_layouts.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace kiln::codegen::gpu {

using namespace ir;

namespace {

// Elements of one tile that a thread should hold, and the most it may: beyond, more warps share the work.
constexpr std::int64_t kElementsPerThread = 8, kProductElementsPerThread = 32, kMostElementsPerThread = 64;
constexpr int kUsualThreads = 256;
// The same where matrix instructions compute the products; and warps that such a block has at least, if there is work.
constexpr std::int64_t kMatrixElementsPerThread = 128;
constexpr int kFewestMatrixWarps = 4;

template <class Visit>
void for_each_op(const Kernel& kernel, BlockId block, const Visit& visit) {
    for (const OpId id : kernel[block].ops) {
        visit(kernel[id]);
        for (const BlockId inner : kernel[id].blocks) for_each_op(kernel, inner, visit);
    }
}

int log2_of(std::int64_t power) {
    return std::countr_zero(static_cast<std::uint64_t>(power));
}

/// Bits that may be shared out along an axis of `count` units: without a rest where that gives 8 threads or more.
int bits_along(std::int64_t count) {
    const int exact = log2_of(count);
    return exact >= 3 ? exact : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(count - 1)));
}

}  // namespace

namespace {

/// What decides the number of warps: the sizes of the largest tile and product, and the most warps that have matrix
/// instructions of their own in it (0: it has none).
struct Work {
    std::int64_t largest = 1, product = 0;
    int matrix_warps = 0;
};

Work work_of(const Kernel& kernel, const Phase& phase, const TileValues& values, const Target& target) {
    Work work;
    for_each_op(kernel, phase.block, [&](const Op& op) {
        for (const ValueId result : op.results) {
            if (!kernel.type(result).is_tile() || values[result] != TileForm::Kept) continue;
            const Shape& shape = kernel.type(result).shape;
            work.largest = std::max(work.largest, shape.count());
            if (op.kind != OpKind::Dot || shape.count() <= work.product) continue;
            work.product = shape.count();
            const std::optional<MatrixProduct> product = choose_matrix_product(kernel, op, target);
            work.matrix_warps = product ? most_matrix_warps(*product, shape) : 0;
        }
    });
    return work;
}

}  // namespace

int choose_warps(const Kernel& kernel, const Phase& phase, const TileValues& values, const Target& target) {
    const Work work = work_of(kernel, phase, values, target);
    const int most = target.threads_per_block / target.lanes;
    int warps = 1;
    const auto threads = [&] { return std::int64_t{warps} * target.lanes; };
    const auto grow = [&](std::int64_t elements, std::int64_t each, std::int64_t limit) {
        while (warps < most && threads() < limit && elements > each * threads()) warps *= 2;
    };
    if (work.matrix_warps > 0) {
        while (warps < kFewestMatrixWarps && warps * 2 <= work.matrix_warps) warps *= 2;
        grow(work.largest, kMatrixElementsPerThread, target.threads_per_block);
        return warps;
    }
    grow(work.product > 0 ? work.product : work.largest,
         work.product > 0 ? kProductElementsPerThread : kElementsPerThread, kUsualThreads);
    grow(work.largest, kMostElementsPerThread, target.threads_per_block);
    return warps;
}

namespace {

/// Numbers of bits: how the threads of a product stand along rows and columns.
struct ProductGrid {
    int lane_rows = 0, lane_columns = 0, warp_rows = 0, warp_columns = 0;
};

ProductGrid product_grid(const Shape& shape, int vector, int lanes, int warps, bool by_rows) {
    const int rows = bits_along(shape[0]);
    const int columns = bits_along((shape[1] + vector - 1) / vector);
    ProductGrid grid;
    // 8 lanes along the columns read 8 vectors of a row of the right operand; the others read other rows of the left.
    const int lane_bits = log2_of(lanes);
    grid.lane_columns = std::min({3, columns, lane_bits});
    grid.lane_rows = std::min(lane_bits - grid.lane_columns, rows);
    grid.lane_columns = std::min(lane_bits - grid.lane_rows, columns);
    for (int left = log2_of(warps); left > 0; --left) {
        const int row_bits = rows - grid.lane_rows - grid.warp_rows;
        const int column_bits = columns - grid.lane_columns - grid.warp_columns;
        const bool wide =
            shape[1] >> (grid.lane_columns + grid.warp_columns) > shape[0] >> (grid.lane_rows + grid.warp_rows);
        const bool take_columns = column_bits > 0 && (row_bits <= 0 || (!by_rows && wide));
        if (!take_columns && row_bits <= 0) break;
        ++(take_columns ? grid.warp_columns : grid.warp_rows);
    }
    return grid;
}

}  // namespace

bool reads_along_depth(const Kernel& kernel, const Op& dot) {
    const Op* right = kernel.definition(dot.operands[1]);
    return right != nullptr && right->kind == OpKind::Permute;
}

Layout product_layout(const Shape& shape, int lanes, int warps, bool by_rows, bool vectors) {
    int vector = vectors ? 4 : 1;
    while (vector > 1 && (shape[1] % vector != 0 || shape.count() < std::int64_t{vector} * lanes * warps)) vector /= 2;
    const ProductGrid grid = product_grid(shape, vector, lanes, warps, by_rows);
    Digits registers, lane_digits;
    for (int v = 1; v < vector; v *= 2) registers.push_back({2, 1, v});
    for (int bit = 0; bit < grid.lane_columns; ++bit) lane_digits.push_back({2, 1, std::int64_t{vector} << bit});
    for (int bit = 0; bit < grid.lane_rows; ++bit) lane_digits.push_back({2, 0, std::int64_t{1} << bit});
    while (static_cast<int>(lane_digits.size()) < log2_of(lanes)) lane_digits.push_back({2, kBroadcast, 0});
    const Shape box{std::int64_t{1} << grid.lane_rows, std::int64_t{vector} << grid.lane_columns};
    const int rest = log2_of(warps) - grid.warp_rows - grid.warp_columns;
    return cover(atom(box, registers, lane_digits),
                 {{1 << grid.warp_columns, 1}, {1 << grid.warp_rows, 0}, {1 << rest, kBroadcast}}, shape);
}

Layout scan_layout(const Shape& shape, std::size_t axis, int lanes, int warps) {
    // Lanes along the axis first; what they leave goes to the other axes, the last first.
    Part part{Shape(shape), {}, {}, {}};
    std::vector<std::int64_t> taken(shape.rank(), 1);
    for (std::size_t i = 0; i < shape.rank(); ++i) part.origin[i] = 0;
    const int along =
        std::min(log2_of(lanes), static_cast<int>(std::bit_width(static_cast<std::uint64_t>(shape[axis] - 1))));
    int lane_bits = log2_of(lanes) - along;
    int warp_count = warps;
    Digits other_lanes, other_warps;
    for (std::size_t i = shape.rank(); i-- > 0;) {
        if (i == axis) continue;
        for (; lane_bits > 0 && taken[i] < shape[i]; --lane_bits, taken[i] *= 2) {
            other_lanes.push_back({2, static_cast<int>(i), taken[i]});
        }
        for (; warp_count > 1 && taken[i] < shape[i]; warp_count /= 2, taken[i] *= 2) {
            other_warps.push_back({2, static_cast<int>(i), taken[i]});
        }
    }
    int warps_along = 1;
    while (warp_count > 1 && (std::int64_t{warps_along} << along) < shape[axis]) warp_count /= 2, warps_along *= 2;
    const std::int64_t threads = std::int64_t{warps_along} << along;
    const std::int64_t run = (shape[axis] + threads - 1) / threads;
    const int axis_number = static_cast<int>(axis);
    if (run > 1) part.registers.push_back({static_cast<int>(run), axis_number, 1});
    for (int bit = 0; bit < along; ++bit) part.lanes.push_back({2, axis_number, run << bit});
    if (warps_along > 1) part.warps.push_back({warps_along, axis_number, run << along});
    part.lanes.insert(part.lanes.end(), other_lanes.begin(), other_lanes.end());
    while (static_cast<int>(part.lanes.size()) < log2_of(lanes)) part.lanes.push_back({2, kBroadcast, 0});
    part.warps.insert(part.warps.end(), other_warps.begin(), other_warps.end());
    if (warp_count > 1) part.warps.push_back({warp_count, kBroadcast, 0});
    for (std::size_t i = shape.rank(); i-- > 0;) {
        const std::int64_t repeats = (shape[i] + taken[i] - 1) / taken[i];
        if (i != axis && repeats > 1)
            part.registers.push_back({static_cast<int>(repeats), static_cast<int>(i), taken[i]});
    }
    return Layout(shape, {part});
}

namespace {

class LayoutAssignment {
public:
    LayoutAssignment(const Kernel& kernel, const Phase& phase, const TileValues& values, const TensorFacts& tensors,
                     const Target& target, int warps)
        : kernel_(kernel),
          phase_(phase),
          values_(values),
          tensors_(tensors),
          target_(target),
          lanes_(target.lanes),
          warps_(warps),
          class_of_(kernel.values.size()),
          layouts_(kernel.values.size()) {
        std::iota(class_of_.begin(), class_of_.end(), 0u);
    }

    TileLayouts run() {
        for_each_op(kernel_, phase_.block, [&](const Op& op) { tie(op); });
        collect();
        assign_products();
        for (const std::uint32_t id : order_) {
            if (!assigned_[id].shape().empty()) continue;
            assign(id, memory_layout(id));
        }
        for (const ValueId value : kept_) layouts_.set(value, assigned_[find(value)]);
        return std::move(layouts_);
    }

private:
    std::uint32_t find(ValueId value) {
        std::uint32_t at = value.index;
        while (class_of_[at] != at) at = class_of_[at] = class_of_[class_of_[at]];
        return at;
    }
    bool is_kept(ValueId value) const { return kernel_.type(value).is_tile() && values_[value] == TileForm::Kept; }
    void tie(ValueId a, ValueId b) {
        if (is_kept(a) && is_kept(b) && kernel_.type(a).shape == kernel_.type(b).shape) class_of_[find(a)] = find(b);
    }
    void tie_all(std::span<const ValueId> a, std::span<const ValueId> b) {
        for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) tie(a[i], b[i]);
    }
    const Op& end_of(BlockId block) const { return kernel_[kernel_[block].ops.back()]; }

    void tie(const Op& op) {
        if (is_elementwise(op.kind) || op.kind == OpKind::Load || op.kind == OpKind::Atomic) {
            for (const ValueId operand : op.operands) tie(op.result(), operand);
        }
        if (op.kind == OpKind::Dot) tie(op.result(), op.operands[2]);
        if (op.kind == OpKind::Fold || op.kind == OpKind::Scan || op.kind == OpKind::Sort) {
            for (const ValueId result : op.results) tie(op.results[0], result);
            if (op.kind != OpKind::Sort) {
                for (const ValueId operand : op.operands) tie(op.operands[0], operand);
            }
        }
        if (op.kind == OpKind::For) {
            const std::span<const ValueId> carried = std::span(kernel_[op.blocks[0]].arguments).subspan(1);
            tie_all(op.results, carried);
            tie_all(op.results, std::span(op.operands).subspan(3));
            tie_all(op.results, end_of(op.blocks[0]).operands);
        }
        if (op.kind == OpKind::While) tie_while(op);
        if (op.kind == OpKind::If) {
            for (const BlockId block : op.blocks) tie_all(op.results, end_of(block).operands);
        }
    }
    void tie_while(const Op& op) {
        const std::span<const ValueId> decided = std::span(end_of(op.blocks[0]).operands).subspan(1);
        tie_all(kernel_[op.blocks[0]].arguments, op.operands);
        tie_all(kernel_[op.blocks[0]].arguments, end_of(op.blocks[1]).operands);
        tie_all(kernel_[op.blocks[1]].arguments, decided);
        tie_all(op.results, decided);
        tie_all(op.results, kernel_[op.blocks[1]].arguments);
    }

    /// Members of each class, and the classes, largest tiles first.
    void collect() {
        assigned_.resize(kernel_.values.size());
        members_.resize(kernel_.values.size());
        for_each_op(kernel_, phase_.block, [&](const Op& op) {
            for (const ValueId result : op.results) note(result);
            for (const BlockId block : op.blocks) {
                for (const ValueId argument : kernel_[block].arguments) note(argument);
            }
        });
        for (const ValueId value : kept_) {
            const std::uint32_t id = find(value);
            if (members_[id].empty()) order_.push_back(id);
            members_[id].push_back(value);
        }
        std::stable_sort(order_.begin(), order_.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return size(a) > size(b); });
        for_each_op(kernel_, phase_.block, [&](const Op& op) { note_uses(op); });
    }
    void note(ValueId value) {
        if (is_kept(value)) kept_.push_back(value);
    }
    std::int64_t size(std::uint32_t id) const { return kernel_.type(members_[id].front()).shape.count(); }

    /// The ops whose layout is that of a class: it decides what they read.
    void note_uses(const Op& op) {
        if (op.kind == OpKind::Store) {
            const ValueId value = op.operands[op.operands.size() - (access_of(op).masked ? 2 : 1)];
            if (is_kept(value)) users_[find(value)].push_back(&op);
            return;
        }
        if (op.kind == OpKind::Reduce || op.kind == OpKind::Fold) {
            if (is_kept(op.operands[0])) users_[find(op.operands[0])].push_back(&op);
            return;
        }
        if (!op.results.empty() && is_kept(op.result())) users_[find(op.result())].push_back(&op);
    }

    void assign_products() {
        bool by_rows = false;
        // Reductions of rows should stay within a warp, and so should a product's result that is an operand of the
        // next.
        const auto is_product = [&](ValueId value) { return is_kept(value) && holds_product(find(value)); };
        for_each_op(kernel_, phase_.block, [&](const Op& op) {
            if (op.kind == OpKind::Reduce || op.kind == OpKind::Fold) by_rows |= is_product(op.operands[0]);
            if (op.kind == OpKind::Dot) by_rows |= is_product(op.operands[0]) || is_product(op.operands[1]);
        });
        for (const std::uint32_t id : order_) {
            if (!assigned_[id].shape().empty() || !holds_product(id)) continue;
            const Shape& shape = kernel_.type(members_[id].front()).shape;
            if (const std::optional<MatrixProduct> product = matrix_product(id)) {
                assign(id, matrix_layout(*product, shape, warps_, by_rows));
                continue;
            }
            assign(id, product_layout(shape, lanes_, warps_, by_rows,
                                      !reads_along_depth(kernel_, *definition_of(id, OpKind::Dot))));
        }
        for (const std::uint32_t id : order_) {
            const Op* scan = definition_of(id, OpKind::Scan);
            if (!assigned_[id].shape().empty() || scan == nullptr) continue;
            assign(id, scan_layout(kernel_.type(scan->result()).shape, attribute<AxisAttribute>(*scan).axis, lanes_,
                                   warps_));
        }
    }
    /// By which matrix instructions all products of the class are computed: their sums have one layout.
    std::optional<MatrixProduct> matrix_product(std::uint32_t id) {
        std::map<std::uint32_t, MatrixProduct> products;
        for (const ValueId value : members_[id]) {
            const Op* op = kernel_.definition(value);
            if (op == nullptr || op->kind != OpKind::Dot) continue;
            const std::optional<MatrixProduct> product = choose_matrix_product(kernel_, *op, target_);
            if (!product) return std::nullopt;
            products.emplace(value.index, *product);
            if (!(product->sums() == products.begin()->second.sums())) return std::nullopt;
        }
        for (auto& [value, product] : products) {
            std::copy(std::begin(products.begin()->second.turns), std::end(products.begin()->second.turns),
                      std::begin(product.turns));
            layouts_.set_product(ValueId{value}, product);
        }
        return products.begin()->second;
    }
    bool holds_product(std::uint32_t id) const { return definition_of(id, OpKind::Dot) != nullptr; }
    const Op* definition_of(std::uint32_t id, OpKind kind) const {
        for (const ValueId value : members_[id]) {
            const Op* op = kernel_.definition(value);
            if (op != nullptr && op->kind == kind) return op;
        }
        return nullptr;
    }

    /// For the class's reads and writes: those of most elements decide.
    Layout memory_layout(std::uint32_t id) {
        const Shape& shape = kernel_.type(members_[id].front()).shape;
        std::optional<MemoryRun> best;
        for (const Op* op : users_[id]) {
            if (op->kind != OpKind::Load && op->kind != OpKind::Store && op->kind != OpKind::Atomic) continue;
            const std::optional<MemoryRun> run = tensors_.run_of(*op);
            if (run && (!best || run->vector > best->vector)) best = run;
        }
        int vector = best ? best->vector : 1;
        // Every thread should have something to do before one has several elements.
        while (vector > 1 && shape.count() < std::int64_t{vector} * lanes_ * warps_) vector /= 2;
        std::vector<int> order;
        if (best) {
            order.push_back(static_cast<int>(best->tile_axis));
            for (std::size_t axis = shape.rank(); axis-- > 0;) {
                if (axis != best->tile_axis) order.push_back(static_cast<int>(axis));
            }
        }
        return coalesced(shape, vector, lanes_, warps_, order);
    }

    void assign(std::uint32_t id, const Layout& layout) {
        if (!assigned_[id].shape().empty()) return;
        assigned_[id] = layout;
        for (const Op* op : users_[id]) spread(*op, layout);
    }
    void offer(ValueId value, const Layout& layout) {
        const Reach reach = resolve(kernel_, values_, whole(value, layout));
        if (is_kept(reach.value)) assign(find(reach.value), reach.layout);
    }

    /// What an op whose own layout is known reads or leaves.
    void spread(const Op& op, const Layout& layout) {
        if (op.kind == OpKind::Reduce || op.kind == OpKind::Fold) {
            const auto axis = static_cast<int>(op.kind == OpKind::Reduce ? attribute<ReduceAttribute>(op).axis
                                                                         : attribute<AxisAttribute>(op).axis);
            const std::optional<Reduction> reduction = reduce(layout, axis);
            if (!reduction || kernel_.type(op.result()).is_scalar()) return;
            if (const auto left = reshape(reduction->result, kernel_.type(op.result()).shape))
                offer(op.result(), *left);
            return;
        }
        if (op.kind == OpKind::Load || op.kind == OpKind::Store || op.kind == OpKind::Atomic) {
            return spread_access(op, layout);
        }
        if (is_elementwise(op.kind)) {
            for (const ValueId operand : op.operands) {
                if (kernel_.type(operand).is_tile()) offer(operand, layout);
            }
        }
    }
    void spread_access(const Op& op, const Layout& layout) {
        const auto& axes = access_of(op).axes;
        for (std::size_t axis = 0; axis < axes.size(); ++axis) {
            if (axes[axis].kind != AxisKind::Gather) continue;
            const ValueId index = op.operands[axis + 1];
            if (const auto part = gather_layout(kernel_, op, layout, index)) offer(index, part->layout);
        }
        for (std::size_t i = axes.size() + 1; i < op.operands.size(); ++i) {
            if (kernel_.type(op.operands[i]).is_tile()) offer(op.operands[i], layout);
        }
    }

    const Kernel& kernel_;
    const Phase& phase_;
    const TileValues& values_;
    const TensorFacts& tensors_;
    const Target& target_;
    int lanes_, warps_;
    std::vector<std::uint32_t> class_of_;
    std::vector<ValueId> kept_;
    std::vector<std::uint32_t> order_;
    std::vector<std::vector<ValueId>> members_;
    std::map<std::uint32_t, std::vector<const Op*>> users_;
    std::vector<Layout> assigned_;
    TileLayouts layouts_;
};

}  // namespace

TileLayouts assign_layouts(const Kernel& kernel, const Phase& phase, const TileValues& values,
                           const TensorFacts& tensors, const Target& target, int warps) {
    return LayoutAssignment(kernel, phase, values, tensors, target, warps).run();
}

}  // namespace kiln::codegen::gpu
