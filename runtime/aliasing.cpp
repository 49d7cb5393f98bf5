#include "runtime/aliasing.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace kiln::runtime {

namespace {

using Wide = __int128;  // sums of extent * stride may leave 64 bits

/// The bits [first, last) that a tensor's elements lie in, relative to address 0.
struct BitRange {
    Wide first, last;
};

BitRange bit_range(const ir::TensorView& tensor) {
    const Wide width = ir::bit_width(tensor.element);
    const Wide base = static_cast<Wide>(reinterpret_cast<std::uintptr_t>(tensor.data)) * 8;
    BitRange range{base, base + width};
    for (std::size_t axis = 0; axis < tensor.sizes.rank(); ++axis) {
        const Wide reach = Wide{tensor.sizes[axis] - 1} * tensor.strides[axis] * width;
        (reach < 0 ? range.first : range.last) += reach;
    }
    return range;
}

bool is_empty(const ir::TensorView& tensor) {
    return std::any_of(tensor.sizes.begin(), tensor.sizes.end(), [](std::int64_t size) { return size == 0; });
}

/// An axis of the search for an index difference: |stride|, and the differences lo ... hi that are possible.
struct Step {
    Wide stride, lo, hi;
};

/// Whether sum(d[i] * steps[i].stride) = target has a solution with each d within its bounds. Steps are sorted by
/// falling stride. `budget` bounds the search; it runs out only on strides that do not nest.
Overlap solvable(const std::vector<Step>& steps, std::size_t at, Wide target, bool allow_zero, int& budget) {
    if (--budget < 0) return Overlap::Undecided;
    if (at == steps.size()) return target == 0 && allow_zero ? Overlap::Some : Overlap::None;
    Wide rest_lo = 0, rest_hi = 0;
    for (std::size_t i = at + 1; i < steps.size(); ++i) {
        rest_lo += steps[i].lo * steps[i].stride;
        rest_hi += steps[i].hi * steps[i].stride;
    }
    const Step& step = steps[at];
    bool undecided = false;
    // Only d with target - d * stride inside what the rest can reach.
    const auto floor_div = [](Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); };
    const Wide first = step.stride == 0 ? step.lo : std::max(step.lo, -floor_div(rest_hi - target, step.stride));
    const Wide last = step.stride == 0 ? step.hi : std::min(step.hi, floor_div(target - rest_lo, step.stride));
    for (Wide d = first; d <= last; ++d) {
        const Overlap result = solvable(steps, at + 1, target - d * step.stride, allow_zero || d != 0, budget);
        if (result == Overlap::Some) return result;
        undecided |= result == Overlap::Undecided;
        if (budget < 0) break;
    }
    return undecided || budget < 0 ? Overlap::Undecided : Overlap::None;
}

constexpr int kSearchBudget = 4096;

void sort_by_falling_stride(std::vector<Step>& steps) {
    std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.stride > b.stride; });
}

}  // namespace

Overlap overlap(const ir::TensorView& a, const ir::TensorView& b) {
    if (is_empty(a) || is_empty(b)) return Overlap::None;
    const BitRange range_a = bit_range(a), range_b = bit_range(b);
    if (range_a.last <= range_b.first || range_b.last <= range_a.first) return Overlap::None;
    const int width = ir::bit_width(a.element);
    if (width != ir::bit_width(b.element) || width < 8 || a.sizes.rank() != b.sizes.rank()) return Overlap::Undecided;
    const std::int64_t bytes = b.data - a.data;
    std::vector<Step> steps;
    for (std::size_t axis = 0; axis < a.sizes.rank(); ++axis) {
        if (a.strides[axis] != b.strides[axis]) return Overlap::Undecided;
        // An index i of `a` and j of `b` differ by d = i - j; a negative stride turns the sign around.
        Step step{a.strides[axis], -(Wide{b.sizes[axis]} - 1), Wide{a.sizes[axis]} - 1};
        if (step.stride < 0) step = {-step.stride, -step.hi, -step.lo};
        steps.push_back(step);
    }
    // Elements that start at no multiple of their size from each other overlap in part.
    if (bytes % (width / 8) != 0) return Overlap::Undecided;
    sort_by_falling_stride(steps);
    int budget = kSearchBudget;
    return solvable(steps, 0, bytes / (width / 8), true, budget);
}

Overlap self_overlap(const ir::TensorView& tensor) {
    if (is_empty(tensor)) return Overlap::None;
    std::vector<Step> steps;
    for (std::size_t axis = 0; axis < tensor.sizes.rank(); ++axis) {
        const Wide reach = Wide{tensor.sizes[axis]} - 1;
        if (reach > 0) steps.push_back({std::abs(tensor.strides[axis]), -reach, reach});
    }
    sort_by_falling_stride(steps);
    int budget = kSearchBudget;
    return solvable(steps, 0, 0, false, budget);
}

}  // namespace kiln::runtime
