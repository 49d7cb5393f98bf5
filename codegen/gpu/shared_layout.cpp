#include "codegen/gpu/shared_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <map>

#include "ir/support/internal_error.h"

namespace kiln::codegen::gpu {
namespace {

constexpr int kBankBytes = 4;

/// Rows that one step along each axis but the last moves.
std::vector<std::int64_t> row_steps(const ir::Shape& shape) {
    std::vector<std::int64_t> steps(shape.rank(), 0);
    std::int64_t rows = 1;
    for (std::size_t axis = shape.rank() > 0 ? shape.rank() - 1 : 0; axis-- > 0;) {
        steps[axis] = rows;
        rows *= shape[axis];
    }
    return steps;
}

std::int64_t rows(const ir::Shape& shape) {
    return shape.empty() ? 1 : shape.count() / shape.back();
}

std::int64_t row_bytes(const ir::Shape& shape, int element_bytes) {
    return (shape.empty() ? 1 : shape.back()) * element_bytes;
}

std::int64_t rounded_up(std::int64_t value, std::int64_t step) {
    return (value + step - 1) / step * step;
}

std::int64_t column_byte(const SharedLayout& shared, const Coordinates& element) {
    return (element.empty() ? 0 : element.back()) * shared.element_bytes;
}

std::int64_t swapped(const SharedLayout& shared, std::int64_t row) {
    return (row >> shared.shift) % (std::int64_t{1} << shared.bits) * shared.unit;
}

/// Rounds that a group of lanes takes: the most different words wanted of one bank.
int rounds(std::vector<std::int64_t>& words, int banks) {
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    std::array<int, 64> wanted{};
    for (const std::int64_t word : words) ++wanted[static_cast<std::size_t>(word % banks)];
    return *std::max_element(wanted.begin(), wanted.end());
}

/// What lanes, warps and registers add to the coordinates, apart: their sums are then had without taking numbers apart.
struct Moves {
    std::vector<Coordinates> lanes, warps, registers;
};

Moves moves_of(const SharedAccess& access) {
    Moves moves;
    for (int lane = 0; lane < access.layout.lanes(); ++lane) moves.lanes.push_back(access.layout.at({0, lane, 0}));
    for (int warp = 0; warp < access.layout.warps(); ++warp) moves.warps.push_back(access.layout.at({0, 0, warp}));
    for (int reg = 0; reg < access.layout.registers(); ++reg) moves.registers.push_back(access.layout.at({reg, 0, 0}));
    return moves;
}

/// Row number and column of an element under one shared layout.
struct Position {
    std::int64_t row = 0, column = 0;
    bool inside = true;
};

/// Extra rounds of one access of a warp. `first` is its first register.
std::int64_t warp_conflicts(const SharedAccess& access, const Moves& moves, const SharedLayout& shared,
                            const LaneGroups& groups, std::size_t first, std::size_t warp) {
    const ir::Shape& shape = access.layout.shape();
    const auto position_of = [&](int lane) {
        Position position;
        for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
            const std::int64_t at = moves.lanes[static_cast<std::size_t>(lane)][axis] + moves.warps[warp][axis] +
                                    moves.registers[first][axis];
            position.inside = position.inside && at < shape[axis];
            position.row = axis + 1 < shape.rank() ? position.row * shape[axis] + at : position.row;
            position.column = at;
        }
        return position;
    };
    std::int64_t extra = 0;
    std::vector<std::int64_t> words;
    for (const std::vector<int>& group : groups.groups) {
        words.clear();
        for (const int lane : group) {
            const Position position = position_of(lane);
            if (!position.inside) continue;
            const std::int64_t byte = position.row * shared.pitch +
                                      ((position.column * shared.element_bytes) ^ swapped(shared, position.row));
            const std::int64_t last = byte + access.vector * shared.element_bytes - 1;
            for (std::int64_t word = byte / kBankBytes; word <= last / kBankBytes; ++word) words.push_back(word);
        }
        if (!words.empty()) extra += rounds(words, groups.banks) - 1;
    }
    return extra;
}

std::int64_t total(const std::vector<SharedAccess>& accesses, const SharedLayout& shared, const Target& target,
                   std::int64_t enough) {
    std::int64_t sum = 0;
    for (const SharedAccess& access : accesses) {
        if (sum < enough) sum += conflicts(access, shared, target);
    }
    return sum;
}

/// Targets whose order of lanes was measured and stands in no document: what suits consecutive lanes as well is better.
std::vector<Target> orders_of(const Target& target) {
    std::vector<Target> result = {target};
    if (target.wide_shared_loads == WideSharedLoads::InOrder) return result;
    result.push_back(target);
    result.back().wide_shared_loads = WideSharedLoads::InOrder;
    return result;
}

/// In order of preference: plain, swizzled with ever more bits, padded by ever more units.
std::vector<SharedLayout> candidates(const ir::Shape& shape, int element_bytes, int unit, const SharedForms& forms) {
    SharedLayout plain{shape, element_bytes, rounded_up(row_bytes(shape, element_bytes), unit), unit, 0, 0};
    std::vector<SharedLayout> result = {plain};
    const auto units = static_cast<std::uint64_t>(plain.pitch / unit);
    const int most_bits = forms.swizzles ? std::min(4, std::countr_zero(units)) : 0;
    for (int bits = 1; bits <= most_bits; ++bits) {
        for (int shift = 0; shift <= 4; ++shift) {
            SharedLayout swizzled = plain;
            swizzled.bits = bits;
            swizzled.shift = shift;
            result.push_back(swizzled);
        }
    }
    if (!forms.pads) return result;
    for (const int padding : {1, 2, 4}) {
        SharedLayout padded = plain;
        padded.pitch += padding * unit;
        result.push_back(padded);
    }
    return result;
}

/// Bits that a sum of moves may have set. Where moves have bits in common they may carry: then all bits from there on.
class OccupiedBits {
public:
    void add(std::int64_t move, int count) {
        std::uint64_t bits = 0;
        for (int step = 1; step < count; ++step)
            bits |= static_cast<std::uint64_t>(move) * static_cast<std::uint64_t>(step);
        const std::uint64_t common = bits & bits_;
        bits_ |= bits;
        if (common != 0) bits_ |= ~std::uint64_t{0} << std::countr_zero(common);
    }
    std::uint64_t value() const { return bits_; }

private:
    std::uint64_t bits_ = 0;
};

/// Bits of the row and of the column's byte that the threads of a part move by.
struct ThreadBits {
    OccupiedBits row, column;
};

ThreadBits thread_bits(const Part& part, const SharedLayout& shared) {
    const std::vector<std::int64_t> steps = row_steps(shared.shape);
    ThreadBits result;
    const auto add = [&](int axis, std::int64_t move, int count) {
        if (axis == kBroadcast) return;
        const auto along = static_cast<std::size_t>(axis);
        if (along + 1 == shared.shape.rank()) {
            result.column.add(move * shared.element_bytes, count);
        } else {
            result.row.add(move * steps[along], count);
        }
    };
    for (std::size_t axis = 0; axis < part.origin.rank(); ++axis) add(static_cast<int>(axis), part.origin[axis], 2);
    for (const Digits* digits : {&part.lanes, &part.warps}) {
        for (const Digit& digit : *digits) add(digit.axis, digit.stride, digit.count);
    }
    return result;
}

std::uint64_t low_bits(int bits) {
    return (std::uint64_t{1} << bits) - 1;
}

/// The swizzle looks at bits of the row and changes bits of the column. Below and within them the register may only set
/// bits that no thread has: then its share of the sum is an exclusive or. Above them it is added.
std::optional<SharedOffset> split_register(const SharedLayout& shared, const ThreadBits& threads, std::int64_t row,
                                           std::int64_t column) {
    const std::int64_t linear = row * shared.pitch + column;
    if (shared.bits == 0) return SharedOffset{0, linear};
    const int unit_bits = std::countr_zero(static_cast<unsigned>(shared.unit));
    const std::uint64_t row_window = low_bits(shared.bits + shared.shift),
                        column_window = low_bits(shared.bits + unit_bits);
    const auto row_bits = static_cast<std::uint64_t>(row), column_bits = static_cast<std::uint64_t>(column);
    if ((row_bits & threads.row.value() & row_window) != 0 ||
        (column_bits & threads.column.value() & column_window) != 0) {
        return std::nullopt;
    }
    const auto flipped_column = static_cast<std::int64_t>(column_bits & column_window & ~low_bits(unit_bits));
    return SharedOffset{flipped_column ^ swapped(shared, row), linear - flipped_column};
}

}  // namespace

std::int64_t SharedLayout::bytes() const {
    return rows(shape) * pitch;
}

std::int64_t SharedLayout::row(const Coordinates& element) const {
    const std::vector<std::int64_t> steps = row_steps(shape);
    std::int64_t result = 0;
    for (std::size_t axis = 0; axis < element.rank(); ++axis) result += element[axis] * steps[axis];
    return result;
}

std::int64_t SharedLayout::byte(const Coordinates& element) const {
    const std::int64_t row_number = row(element);
    return row_number * pitch + (column_byte(*this, element) ^ swapped(*this, row_number));
}

std::int64_t conflicts(const SharedAccess& access, const SharedLayout& shared, const Target& target) {
    const LaneGroups groups = shared_groups(target, access.vector * shared.element_bytes, access.is_store);
    const Moves moves = moves_of(access);
    // What warp and register add moves all lanes alike; only its bits below the swizzle's reach change who collides.
    const bool exact = access.layout.exact();
    const std::int64_t rows_alike = std::int64_t{1} << (shared.bits + shared.shift);
    const std::int64_t bytes_alike = std::max<std::int64_t>(kBankBytes, std::int64_t{shared.unit} << shared.bits);
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> known;
    std::int64_t extra = 0;
    for (std::size_t warp = 0; warp < moves.warps.size(); ++warp) {
        for (std::size_t first = 0; first < moves.registers.size(); first += static_cast<std::size_t>(access.vector)) {
            if (!exact) {
                extra += warp_conflicts(access, moves, shared, groups, first, warp);
                continue;
            }
            Coordinates moved = moves.warps[warp];
            for (std::size_t axis = 0; axis < moved.rank(); ++axis) moved[axis] += moves.registers[first][axis];
            const std::pair key(shared.row(moved) % rows_alike, column_byte(shared, moved) % bytes_alike);
            const auto [entry, is_new] = known.try_emplace(key, 0);
            if (is_new) entry->second = warp_conflicts(access, moves, shared, groups, first, warp);
            extra += entry->second;
        }
    }
    return extra;
}

SharedChoice choose(const ir::Shape& shape, int element_bytes, const std::vector<SharedAccess>& readers,
                    const std::vector<SharedAccess>& writers, const Target& target, const SharedForms& forms) {
    int unit = kBankBytes;
    for (const std::vector<SharedAccess>* accesses : {&readers, &writers}) {
        for (const SharedAccess& access : *accesses) unit = std::max(unit, access.vector * element_bytes);
    }
    const std::vector<Target> orders = orders_of(target);
    std::optional<SharedChoice> best;
    std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
    for (const SharedLayout& candidate : candidates(shape, element_bytes, unit, forms)) {
        const auto splits = [&](const SharedAccess& access) { return split(access.layout, candidate).has_value(); };
        if (!std::all_of(readers.begin(), readers.end(), splits)) continue;
        std::int64_t read = 0;
        for (const Target& order : orders) read += total(readers, candidate, order, fewest);
        for (std::size_t writer = 0; writer < writers.size() && read < fewest; ++writer) {
            if (!splits(writers[writer])) continue;
            std::int64_t extra = read;
            for (const Target& order : orders) extra += conflicts(writers[writer], candidate, order);
            if (extra >= fewest) continue;
            best = {candidate, writer};
            fewest = extra;
        }
        if (fewest == 0) break;
    }
    return *best;
}

SharedLayout choose(const ir::Shape& shape, int element_bytes, const std::vector<SharedAccess>& accesses,
                    const Target& target, const SharedForms& forms) {
    const std::vector<SharedAccess> others(accesses.begin() + 1, accesses.end());
    return choose(shape, element_bytes, others, {accesses.front()}, target, forms).shared;
}

std::vector<Layout> lane_orders(const Layout& layout) {
    // What counts is which three bits tell apart the lanes of a group of eight; the rest follow in their order.
    constexpr unsigned kTogether = 3;
    std::vector<Layout> orders = {layout};
    const Part& part = layout.parts().front();
    for (unsigned chosen = 0; chosen < 1u << part.lanes.size(); ++chosen) {
        if (layout.parts().size() != 1 || static_cast<unsigned>(std::popcount(chosen)) != kTogether) continue;
        Part other = part;
        other.lanes.clear();
        for (const unsigned first : {1u, 0u}) {
            for (std::size_t bit = 0; bit < part.lanes.size(); ++bit) {
                if ((chosen >> bit & 1u) == first) other.lanes.push_back(part.lanes[bit]);
            }
        }
        Layout order(layout.shape(), {std::move(other)});
        if (std::find(orders.begin(), orders.end(), order) == orders.end()) orders.push_back(std::move(order));
    }
    return orders;
}

SharedLayout dense(const ir::Shape& shape, int element_bytes) {
    return {shape, element_bytes, row_bytes(shape, element_bytes), element_bytes, 0, 0};
}

SharedLayout in_elements(SharedLayout shared) {
    shared.pitch /= shared.element_bytes;
    shared.unit /= shared.element_bytes;
    shared.element_bytes = 1;
    return shared;
}

std::optional<std::vector<SharedOffset>> split(const Layout& layout, const SharedLayout& shared) {
    const std::vector<std::int64_t> steps = row_steps(shared.shape);
    std::vector<SharedOffset> result;
    for (const Part& part : layout.parts()) {
        const ThreadBits threads = thread_bits(part, shared);
        for (int number = 0; number < count(part.registers); ++number) {
            std::int64_t row = 0, column = 0;
            for (std::size_t axis = 0; axis < steps.size(); ++axis) {
                const std::int64_t move = offset(part.registers, static_cast<int>(axis), number);
                row += move * steps[axis];
                if (axis + 1 == steps.size()) column = move * shared.element_bytes;
            }
            const std::optional<SharedOffset> address = split_register(shared, threads, row, column);
            if (!address) return std::nullopt;
            result.push_back(*address);
        }
    }
    return result;
}

std::string byte_expression(const SharedLayout& shared, const std::string& row, const std::string& column_byte) {
    const std::string start = fmt::format("({}) * {}u", row, shared.pitch);
    if (shared.bits == 0) return fmt::format("{} + ({})", start, column_byte);
    const std::string shifted =
        shared.shift == 0 ? fmt::format("({})", row) : fmt::format("(({}) >> {})", row, shared.shift);
    return fmt::format("{} + (({}) ^ (({} & {}u) * {}u))", start, column_byte, shifted, (1 << shared.bits) - 1,
                       shared.unit);
}

std::string base_expression(const Part& part, const SharedLayout& shared, std::string_view lane,
                            std::string_view warp) {
    const std::vector<std::int64_t> steps = row_steps(shared.shape);
    std::string row, column = "0";
    for (std::size_t axis = 0; axis < steps.size(); ++axis) {
        const std::string move = expression(part, static_cast<int>(axis), lane, warp);
        if (move == "0") continue;
        if (axis + 1 == steps.size()) {
            column = fmt::format("({}) * {}u", move, shared.element_bytes);
        } else {
            row +=
                (row.empty() ? "" : " + ") + (steps[axis] == 1 ? move : fmt::format("({}) * {}u", move, steps[axis]));
        }
    }
    return byte_expression(shared, row.empty() ? "0u" : row, column);
}

}  // namespace kiln::codegen::gpu
