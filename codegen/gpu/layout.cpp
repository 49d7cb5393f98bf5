#include "codegen/gpu/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "ir/support/internal_error.h"

namespace kiln::codegen::gpu {
namespace {

[[noreturn]] void broken(const std::string& what) {
    throw support::InternalError("codegen::gpu::layout", what);
}

Coordinates zeros(std::size_t rank) {
    Coordinates result;
    for (std::size_t axis = 0; axis < rank; ++axis) result.push_back(0);
    return result;
}

template <class Function>
void for_each_digit(const Part& part, Function function) {
    for (const Digits* digits : {&part.registers, &part.lanes, &part.warps}) {
        for (const Digit& digit : *digits) function(digit);
    }
}

template <class Function>
void change_digits(Part& part, Function function) {
    for (Digits* digits : {&part.registers, &part.lanes, &part.warps}) {
        for (Digit& digit : *digits) function(digit);
    }
}

/// Extent of the part's box along an axis.
std::int64_t box(const Part& part, int axis) {
    std::int64_t extent = 1;
    for_each_digit(part, [&](const Digit& digit) {
        if (digit.axis == axis) extent *= digit.count;
    });
    return extent;
}

bool continues(const Digit& inner, const Digit& outer) {
    return inner.axis == outer.axis && outer.stride == inner.stride * inner.count;
}

Digits joined(const Digits& digits) {
    Digits result;
    for (const Digit& digit : digits) {
        if (digit.count == 1) continue;
        if (!result.empty() && continues(result.back(), digit)) {
            result.back().count *= digit.count;
        } else {
            result.push_back(digit);
        }
    }
    return result;
}

void add_moves(Coordinates& element, const Digits& digits, int number) {
    for (const Digit& digit : digits) {
        if (digit.axis != kBroadcast)
            element[static_cast<std::size_t>(digit.axis)] += number % digit.count * digit.stride;
        number /= digit.count;
    }
}

/// The number whose digits move to `offset` from the part's origin.
int number_of(const Digits& digits, const Coordinates& offset) {
    int number = 0, weight = 1;
    for (const Digit& digit : digits) {
        if (digit.axis != kBroadcast) {
            number +=
                weight * static_cast<int>(offset[static_cast<std::size_t>(digit.axis)] / digit.stride % digit.count);
        }
        weight *= digit.count;
    }
    return number;
}

bool inside(const Part& part, const Coordinates& element) {
    for (std::size_t axis = 0; axis < element.rank(); ++axis) {
        const std::int64_t offset = element[axis] - part.origin[axis];
        if (offset < 0 || offset >= box(part, static_cast<int>(axis))) return false;
    }
    return true;
}

bool overlap(const Part& a, const Part& b) {
    for (std::size_t axis = 0; axis < a.origin.rank(); ++axis) {
        const int which = static_cast<int>(axis);
        if (a.origin[axis] + box(a, which) <= b.origin[axis]) return false;
        if (b.origin[axis] + box(b, which) <= a.origin[axis]) return false;
    }
    return true;
}

/// Whether the digits along each axis are a mixed radix.
bool nested(const Part& part) {
    for (std::size_t axis = 0; axis < part.origin.rank(); ++axis) {
        std::vector<Digit> along;
        for_each_digit(part, [&](const Digit& digit) {
            if (digit.axis == static_cast<int>(axis)) along.push_back(digit);
        });
        std::sort(along.begin(), along.end(), [](const Digit& a, const Digit& b) { return a.stride < b.stride; });
        std::int64_t expected = 1;
        for (const Digit& digit : along) {
            if (digit.stride != expected) return false;
            expected *= digit.count;
        }
    }
    return true;
}

void verify_part(const Layout& layout, const Part& part) {
    const int rank = static_cast<int>(layout.shape().rank());
    for_each_digit(part, [&](const Digit& digit) {
        const bool valid = digit.axis == kBroadcast ? digit.stride == 0 : digit.axis >= 0 && digit.axis < rank;
        if (!valid || digit.count < 2) broken("digit of no axis or count in " + to_string(layout));
    });
    for (const Digit& lane : part.lanes) {
        if (lane.count != 2) broken("lane digit that is no bit in " + to_string(layout));
    }
    if (count(part.lanes) != layout.lanes() || count(part.warps) != layout.warps()) {
        broken("parts of different threads in " + to_string(layout));
    }
    if (!nested(part)) broken("overlapping digits in " + to_string(layout));
}

void require_axis(const Layout& layout, int axis) {
    if (axis < 0 || static_cast<std::size_t>(axis) >= layout.shape().rank()) broken("no such axis");
}

std::string text(const Digits& digits) {
    std::string result;
    for (const Digit& digit : digits) {
        result += digit.axis == kBroadcast ? fmt::format(" {}@*", digit.count)
                                           : fmt::format(" {}@{}*{}", digit.count, digit.axis, digit.stride);
    }
    return result;
}

}  // namespace

int count(const Digits& digits) {
    int product = 1;
    for (const Digit& digit : digits) product *= digit.count;
    return product;
}

Layout::Layout(ir::Shape shape, std::vector<Part> parts) : shape_(shape), parts_(std::move(parts)) {
    for (Part& part : parts_) {
        part.registers = joined(part.registers);
        part.warps = joined(part.warps);
    }
    verify(*this);
}

int Layout::registers() const {
    int total = 0;
    for (const Part& part : parts_) total += count(part.registers);
    return total;
}

int Layout::lanes() const {
    return count(parts_.front().lanes);
}

int Layout::warps() const {
    return count(parts_.front().warps);
}

Coordinates Layout::at(Place place) const {
    for (const Part& part : parts_) {
        const int registers = count(part.registers);
        if (place.reg >= registers) {
            place.reg -= registers;
            continue;
        }
        Coordinates element = part.origin;
        add_moves(element, part.registers, place.reg);
        add_moves(element, part.lanes, place.lane);
        add_moves(element, part.warps, place.warp);
        return element;
    }
    broken(fmt::format("no such register in {}", to_string(*this)));
}

std::optional<Place> Layout::find(const Coordinates& element) const {
    int first = 0;
    for (const Part& part : parts_) {
        if (inside(part, element)) {
            Coordinates offset = element;
            for (std::size_t axis = 0; axis < offset.rank(); ++axis) offset[axis] -= part.origin[axis];
            return Place{first + number_of(part.registers, offset), number_of(part.lanes, offset),
                         number_of(part.warps, offset)};
        }
        first += count(part.registers);
    }
    return std::nullopt;
}

bool Layout::contains(const Coordinates& element) const {
    for (std::size_t axis = 0; axis < shape_.rank(); ++axis) {
        if (element[axis] < 0 || element[axis] >= shape_[axis]) return false;
    }
    return true;
}

std::int64_t Layout::covered(int axis) const {
    std::int64_t end = 0;
    for (const Part& part : parts_) end = std::max(end, part.origin[static_cast<std::size_t>(axis)] + box(part, axis));
    return end;
}

bool Layout::exact() const {
    for (std::size_t axis = 0; axis < shape_.rank(); ++axis) {
        if (covered(static_cast<int>(axis)) != shape_[axis]) return false;
    }
    return true;
}

int Layout::repeated_lanes() const {
    // A lane repeats only if it does so in every part; what only one part repeats is written twice, with equal values.
    int mask = lanes() - 1;
    for (const Part& part : parts_) {
        for (std::size_t bit = 0; bit < part.lanes.size(); ++bit) {
            if (part.lanes[bit].axis != kBroadcast) mask &= ~(1 << bit);
        }
    }
    return mask;
}

Digits Layout::repeated_warps() const {
    Digits result;
    std::int64_t weight = 1;
    for (const Digit& digit : parts_.front().warps) {
        if (digit.axis == kBroadcast) result.push_back({digit.count, kBroadcast, weight});
        weight *= digit.count;
    }
    return result;
}

void verify(const Layout& layout) {
    if (layout.parts().empty()) broken("layout without parts");
    std::int64_t covered = 0;
    for (const Part& part : layout.parts()) {
        if (part.origin.rank() != layout.shape().rank()) broken("part of another rank in " + to_string(layout));
        verify_part(layout, part);
        std::int64_t volume = 1;
        for (std::size_t axis = 0; axis < layout.shape().rank(); ++axis) {
            const std::int64_t end = part.origin[axis] + box(part, static_cast<int>(axis));
            volume *= std::max<std::int64_t>(0, std::min(end, layout.shape()[axis]) - part.origin[axis]);
        }
        covered += volume;
        for (const Part& other : layout.parts()) {
            if (&part != &other && overlap(part, other)) broken("overlapping parts in " + to_string(layout));
        }
    }
    if (covered != layout.shape().count()) broken("elements without a place in " + to_string(layout));
}

std::string to_string(const Layout& layout) {
    std::string result = ir::to_string(layout.shape());
    for (const Part& part : layout.parts()) {
        if (layout.parts().size() > 1) result += " from " + ir::to_string(part.origin);
        result += " registers" + text(part.registers) + " lanes" + text(part.lanes) + " warps" + text(part.warps);
    }
    return result;
}

Layout atom(const ir::Shape& shape, const Digits& registers, const Digits& lanes) {
    return Layout(shape, {{zeros(shape.rank()), registers, lanes, {}}});
}

Layout box_atom(const ir::Shape& registers, const ir::Shape& lanes) {
    Digits register_digits, lane_digits;
    ir::Shape shape = registers;
    for (std::size_t axis = shape.rank(); axis-- > 0;) {
        register_digits.push_back({static_cast<int>(registers[axis]), static_cast<int>(axis), 1});
        std::int64_t& stride = shape[axis];
        for (std::int64_t left = lanes[axis]; left > 1; left /= 2, stride *= 2) {
            lane_digits.push_back({2, static_cast<int>(axis), stride});
        }
    }
    return atom(shape, register_digits, lane_digits);
}

Layout repeated(const ir::Shape& shape, int lanes, int warps) {
    Part part{zeros(shape.rank()), {}, {}, {{warps, kBroadcast, 0}}};
    for (std::size_t axis = shape.rank(); axis-- > 0;) {
        part.registers.push_back({static_cast<int>(shape[axis]), static_cast<int>(axis), 1});
    }
    for (int left = lanes; left > 1; left /= 2) part.lanes.push_back({2, kBroadcast, 0});
    return Layout(shape, {part});
}

Layout cover(const Layout& atom, const std::vector<WarpAxis>& warps, const ir::Shape& shape) {
    Part part = atom.parts().front();
    if (atom.parts().size() != 1 || !part.warps.empty() || shape.rank() != part.origin.rank())
        broken("no atom to cover with");
    const auto extent = [&](std::size_t axis) { return box(part, static_cast<int>(axis)); };
    for (const WarpAxis& warp : warps) {
        const bool repeats = warp.axis == kBroadcast;
        part.warps.push_back({warp.count, warp.axis, repeats ? 0 : extent(static_cast<std::size_t>(warp.axis))});
    }
    for (std::size_t axis = shape.rank(); axis-- > 0;) {
        const std::int64_t inner = extent(axis);
        const std::int64_t repeats = (shape[axis] + inner - 1) / inner;
        part.registers.push_back({static_cast<int>(repeats), static_cast<int>(axis), inner});
    }
    return Layout(shape, {part});
}

std::optional<Layout> tile(const Layout& atom, const std::vector<WarpAxis>& warps, const ir::Shape& shape) {
    Layout layout = cover(atom, warps, shape);
    return layout.exact() ? std::optional(std::move(layout)) : std::nullopt;
}

Layout join(const Layout& first, const Layout& second, int axis) {
    require_axis(first, axis);
    const auto along = static_cast<std::size_t>(axis);
    ir::Shape shape = first.shape();
    if (first.covered(axis) != shape[along]) broken("join behind a layout that covers more than its tile");
    std::vector<Part> parts = first.parts();
    for (Part part : second.parts()) {
        part.origin[along] += shape[along];
        parts.push_back(std::move(part));
    }
    shape[along] += second.shape()[along];
    return Layout(shape, std::move(parts));
}

Layout relabel(const Layout& layout, int axis) {
    require_axis(layout, axis);
    std::vector<Part> parts = layout.parts();
    for (Part& part : parts) {
        std::int64_t stride = 1;
        for (Digits* digits : {&part.registers, &part.lanes, &part.warps}) {
            std::vector<Digit*> along;
            for (Digit& digit : *digits) {
                if (digit.axis == axis) along.push_back(&digit);
            }
            std::sort(along.begin(), along.end(), [](const Digit* a, const Digit* b) { return a->stride < b->stride; });
            for (Digit* digit : along) {
                digit->stride = stride;
                stride *= digit->count;
            }
        }
    }
    return Layout(layout.shape(), std::move(parts));
}

Layout permute(const Layout& layout, const ir::Shape& axes) {
    std::vector<int> to(axes.rank());
    ir::Shape shape = layout.shape();
    for (std::size_t axis = 0; axis < axes.rank(); ++axis) {
        to[static_cast<std::size_t>(axes[axis])] = static_cast<int>(axis);
        shape[axis] = layout.shape()[static_cast<std::size_t>(axes[axis])];
    }
    std::vector<Part> parts = layout.parts();
    for (Part& part : parts) {
        const Coordinates origin = part.origin;
        for (std::size_t axis = 0; axis < axes.rank(); ++axis) {
            part.origin[axis] = origin[static_cast<std::size_t>(axes[axis])];
        }
        change_digits(part, [&](Digit& digit) {
            if (digit.axis != kBroadcast) digit.axis = to[static_cast<std::size_t>(digit.axis)];
        });
    }
    return Layout(shape, std::move(parts));
}

Layout broadcast(const Layout& layout, int axis, std::int64_t extent) {
    require_axis(layout, axis);
    ir::Shape shape = layout.shape();
    if (shape[static_cast<std::size_t>(axis)] != 1) broken("broadcast of an axis that is not of length 1");
    shape[static_cast<std::size_t>(axis)] = extent;
    std::vector<Part> parts = layout.parts();
    for (Part& part : parts) part.registers.push_back({static_cast<int>(extent), axis, box(part, axis)});
    return Layout(shape, std::move(parts));
}

namespace {

std::vector<std::size_t> long_axes(const ir::Shape& shape) {
    std::vector<std::size_t> axes;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        if (shape[axis] != 1) axes.push_back(axis);
    }
    return axes;
}

/// Only axes of length 1 come or go.
std::optional<Layout> with_unit_axes(const Layout& layout, const ir::Shape& shape) {
    const std::vector<std::size_t> from = long_axes(layout.shape()), to = long_axes(shape);
    std::vector<int> renamed(layout.shape().rank(), kBroadcast);
    for (std::size_t i = 0; i < from.size(); ++i) renamed[from[i]] = static_cast<int>(to[i]);
    std::vector<Part> parts = layout.parts();
    bool possible = true;
    for (Part& part : parts) {
        const Coordinates origin = part.origin;
        part.origin = zeros(shape.rank());
        for (std::size_t i = 0; i < from.size(); ++i) part.origin[to[i]] = origin[from[i]];
        change_digits(part, [&](Digit& digit) {
            if (digit.axis == kBroadcast) return;
            digit.axis = renamed[static_cast<std::size_t>(digit.axis)];
            possible &= digit.axis != kBroadcast;
        });
    }
    if (!possible) return std::nullopt;
    return Layout(shape, std::move(parts));
}

/// A digit that moves by `stride` in row-major order, split at the axes of `shape`. False where it does not split.
bool split_digit(int count, std::int64_t stride, const ir::Shape& shape, Digits& result) {
    std::int64_t inner = 1;
    for (std::size_t axis = shape.rank(); axis-- > 0 && count > 1; inner *= shape[axis]) {
        const std::int64_t outer = inner * shape[axis];
        if (stride >= outer) continue;
        if (stride % inner != 0 || outer % stride != 0) return false;
        const auto here = static_cast<int>(std::min<std::int64_t>(count, outer / stride));
        if (count % here != 0) return false;
        result.push_back({here, static_cast<int>(axis), stride / inner});
        stride *= here;
        count /= here;
    }
    return count == 1;
}

std::optional<Digits> split_digits(const Digits& digits, const ir::Shape& from, const ir::Shape& to) {
    std::vector<std::int64_t> row_stride(from.rank(), 1);
    for (std::size_t axis = from.rank(); axis-- > 1;) row_stride[axis - 1] = row_stride[axis] * from[axis];
    Digits result;
    for (const Digit& digit : digits) {
        if (digit.axis == kBroadcast) {
            result.push_back(digit);
        } else if (!split_digit(digit.count, digit.stride * row_stride[static_cast<std::size_t>(digit.axis)], to,
                                result)) {
            return std::nullopt;
        }
    }
    return result;
}

}  // namespace

std::optional<Layout> reshape(const Layout& layout, const ir::Shape& shape) {
    const std::vector<std::size_t> from = long_axes(layout.shape()), to = long_axes(shape);
    const bool units_only = std::equal(from.begin(), from.end(), to.begin(), to.end(),
                                       [&](std::size_t a, std::size_t b) { return layout.shape()[a] == shape[b]; });
    if (units_only) return with_unit_axes(layout, shape);
    if (layout.parts().size() != 1 || !layout.exact()) return std::nullopt;
    const Part& part = layout.parts().front();
    auto registers = split_digits(part.registers, layout.shape(), shape);
    auto lanes = split_digits(part.lanes, layout.shape(), shape);
    auto warps = split_digits(part.warps, layout.shape(), shape);
    if (!registers || !lanes || !warps) return std::nullopt;
    Part result{zeros(shape.rank()), std::move(*registers), std::move(*lanes), std::move(*warps)};
    if (!nested(result)) return std::nullopt;
    return Layout(shape, {std::move(result)});
}

namespace {

/// Register digits without the axis, and for each number of the whole its number without.
std::vector<int> without_axis(Digits& digits, int axis) {
    std::vector<int> numbers(static_cast<std::size_t>(count(digits)));
    for (std::size_t number = 0; number < numbers.size(); ++number) {
        int left = static_cast<int>(number), weight = 1;
        for (const Digit& digit : digits) {
            if (digit.axis != axis) {
                numbers[number] += left % digit.count * weight;
                weight *= digit.count;
            }
            left /= digit.count;
        }
    }
    std::erase_if(digits, [&](const Digit& digit) { return digit.axis == axis; });
    return numbers;
}

Part without_axis(Part part, int axis, std::vector<int>& numbers) {
    numbers = without_axis(part.registers, axis);
    change_digits(part, [&](Digit& digit) {
        if (digit.axis == axis) digit = {digit.count, kBroadcast, 0};
    });
    part.origin[static_cast<std::size_t>(axis)] = 0;
    part.warps = joined(part.warps);
    part.registers = joined(part.registers);
    return part;
}

}  // namespace

std::optional<Slice> slice(const Layout& layout, int axis) {
    require_axis(layout, axis);
    std::vector<Part> parts;
    std::vector<int> first_register, register_of;
    int registers = 0;
    for (const Part& whole : layout.parts()) {
        std::vector<int> numbers;
        const Part part = without_axis(whole, axis, numbers);
        const auto same = std::find(parts.begin(), parts.end(), part);
        const auto index = static_cast<std::size_t>(same - parts.begin());
        if (same == parts.end()) {
            if (std::any_of(parts.begin(), parts.end(), [&](const Part& other) { return overlap(part, other); })) {
                return std::nullopt;
            }
            parts.push_back(part);
            first_register.push_back(registers);
            registers += count(part.registers);
        }
        for (const int number : numbers) register_of.push_back(first_register[index] + number);
    }
    ir::Shape shape = layout.shape();
    shape[static_cast<std::size_t>(axis)] = 1;
    return Slice{Layout(shape, std::move(parts)), std::move(register_of)};
}

namespace {

struct Crossed {
    std::vector<int> lane_masks;
    Digits warps;
    friend bool operator==(const Crossed&, const Crossed&) = default;
};

/// Lanes and warps among which the elements along an axis are spread.
Crossed crossed(const Part& part, int axis) {
    Crossed result;
    for (std::size_t bit = 0; bit < part.lanes.size(); ++bit) {
        if (part.lanes[bit].axis == axis) result.lane_masks.push_back(1 << bit);
    }
    std::int64_t weight = 1;
    for (const Digit& digit : part.warps) {
        if (digit.axis == axis) result.warps.push_back({digit.count, axis, weight});
        weight *= digit.count;
    }
    return result;
}

}  // namespace

std::optional<Reduction> reduce(const Layout& layout, int axis) {
    std::optional<Slice> result = slice(layout, axis);
    if (!result) return std::nullopt;
    Crossed among = crossed(layout.parts().front(), axis);
    for (const Part& part : layout.parts()) {
        if (!(crossed(part, axis) == among)) return std::nullopt;
    }
    std::vector<std::vector<int>> groups(static_cast<std::size_t>(result->layout.registers()));
    for (std::size_t number = 0; number < result->register_of.size(); ++number) {
        groups[static_cast<std::size_t>(result->register_of[number])].push_back(static_cast<int>(number));
    }
    return Reduction{std::move(result->layout), std::move(groups), std::move(among.lane_masks), std::move(among.warps)};
}

namespace {

std::vector<int> prime_factors(int number) {
    std::vector<int> result;
    for (int factor = 2; number > 1; ++factor) {
        for (; number % factor == 0; number /= factor) result.push_back(factor);
    }
    return result;
}

/// Shares lanes and warps out to the axes of a tile, which are numbered by their order in memory, the fastest first.
class CoalescedSearch {
public:
    CoalescedSearch(const ir::Shape& shape, int vector, int lanes, int warps, const std::vector<int>& order)
        : order_(order), vector_(vector), lanes_(lanes), factors_(prime_factors(warps)) {
        for (const int axis : order) extents_.push_back(shape[static_cast<std::size_t>(axis)]);
        inner_.assign(order.size(), 1);
        if (!inner_.empty()) inner_.front() = vector;
        lanes_along_.assign(order.size(), 1);
        share_lanes(0, lanes);
    }

    Part part(std::size_t rank) const {
        Part result{zeros(rank), {}, {}, {}};
        if (!order_.empty()) result.registers.push_back({vector_, order_.front(), 1});
        int given = 1;
        for (std::size_t i = 0; i < order_.size(); ++i) {
            for (int left = best_lanes_[i]; left > 1; left /= 2) {
                result.lanes.push_back({2, order_[i], box(result, order_[i])});
            }
            given *= best_lanes_[i];
        }
        for (; given < lanes_; given *= 2) result.lanes.push_back({2, kBroadcast, 0});
        for (std::size_t i = 0; i < factors_.size(); ++i) {
            const int axis = best_warps_[i] < 0 ? kBroadcast : order_[static_cast<std::size_t>(best_warps_[i])];
            result.warps.push_back({factors_[i], axis, axis == kBroadcast ? 0 : box(result, axis)});
        }
        for (std::size_t i = 0; i < order_.size(); ++i) {
            const std::int64_t inner = box(result, order_[i]);
            result.registers.push_back({static_cast<int>((extents_[i] + inner - 1) / inner), order_[i], inner});
        }
        return result;
    }

private:
    std::int64_t repeats(std::size_t i) const { return (extents_[i] + inner_[i] - 1) / inner_[i]; }

    /// More lanes along the fastest axis are tried first, so that of equals they win.
    void share_lanes(std::size_t i, int left) {
        if (i == order_.size()) return share_warps(0);
        const auto units = static_cast<std::uint64_t>(repeats(i));
        const auto useful = std::min<std::int64_t>(left, std::int64_t{1} << std::bit_width(units - 1));
        for (int here = static_cast<int>(useful); here >= 1; here /= 2) {
            lanes_along_[i] = here;
            inner_[i] *= here;
            share_lanes(i + 1, left / here);
            inner_[i] /= here;
        }
    }

    /// Warps along the slowest axis are tried first. Equal factors are given out in that order only.
    void share_warps(std::size_t factor) {
        if (factor == factors_.size()) return compare();
        const bool repeated = factor > 0 && factors_[factor] == factors_[factor - 1];
        const int last = repeated ? warps_along_[factor - 1] : static_cast<int>(order_.size()) - 1;
        for (int i = last; i >= 0; --i) {
            const auto along = static_cast<std::size_t>(i);
            if (repeats(along) == 1) continue;
            warps_along_.push_back(i);
            inner_[along] *= factors_[factor];
            share_warps(factor + 1);
            inner_[along] /= factors_[factor];
            warps_along_.pop_back();
        }
        warps_along_.push_back(-1);
        share_warps(factor + 1);
        warps_along_.pop_back();
    }

    void compare() {
        std::int64_t registers = 1;
        for (std::size_t i = 0; i < order_.size(); ++i) registers *= repeats(i);
        if (registers >= fewest_) return;
        fewest_ = registers;
        best_lanes_ = lanes_along_;
        best_warps_ = warps_along_;
    }

    const std::vector<int>& order_;
    int vector_, lanes_;
    std::vector<int> factors_;
    std::vector<std::int64_t> extents_, inner_;
    std::vector<int> lanes_along_, warps_along_;
    std::int64_t fewest_ = std::numeric_limits<std::int64_t>::max();
    std::vector<int> best_lanes_, best_warps_;
};

}  // namespace

Layout coalesced(const ir::Shape& shape, int vector, int lanes, int warps, const std::vector<int>& order) {
    std::vector<int> axes = order;
    if (axes.empty()) {
        for (std::size_t axis = shape.rank(); axis-- > 0;) axes.push_back(static_cast<int>(axis));
    }
    return Layout(shape, {CoalescedSearch(shape, vector, lanes, warps, axes).part(shape.rank())});
}

int contiguous_along_rows(const Layout& layout, int most) {
    const int last = static_cast<int>(layout.shape().rank()) - 1;
    if (layout.parts().size() != 1 || layout.parts().front().registers.empty()) return 1;
    // Digits are joined, hence the first tells all.
    const Digit& first = layout.parts().front().registers.front();
    if (first.axis != last || first.stride != 1) return 1;
    int run = 1;
    while (run * 2 <= most && first.count % (run * 2) == 0) run *= 2;
    return run;
}

Layout neighbours_first(const Layout& layout) {
    const int last = static_cast<int>(layout.shape().rank()) - 1;
    std::vector<Part> parts = layout.parts();
    for (Part& part : parts) {
        std::int64_t stride = 1;
        for (auto front = part.registers.begin(); front != part.registers.end(); ++front) {
            const auto next = std::find_if(front, part.registers.end(), [&](const Digit& digit) {
                return digit.axis == last && digit.stride == stride;
            });
            if (next == part.registers.end()) break;
            stride *= next->count;
            std::rotate(front, next, next + 1);
        }
    }
    return Layout(layout.shape(), std::move(parts));
}

std::int64_t offset(const Digits& digits, int axis, int number) {
    std::int64_t sum = 0;
    for (const Digit& digit : digits) {
        if (digit.axis == axis) sum += number % digit.count * digit.stride;
        number /= digit.count;
    }
    return sum;
}

}  // namespace kiln::codegen::gpu
