// Random layouts, and tiles spread over threads as a layout says.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "codegen/gpu/layout.h"

namespace kiln::test {

using codegen::gpu::Coordinates;
using codegen::gpu::Digit;
using codegen::gpu::Digits;
using codegen::gpu::kBroadcast;
using codegen::gpu::Layout;
using codegen::gpu::Part;
using codegen::gpu::Place;

template <class Function>
void for_each_place(const Layout& layout, Function function) {
    for (int warp = 0; warp < layout.warps(); ++warp) {
        for (int lane = 0; lane < layout.lanes(); ++lane) {
            for (int reg = 0; reg < layout.registers(); ++reg) function(Place{reg, lane, warp});
        }
    }
}

/// Whether it holds at every place. An assertion for each would take most of the tests' time.
template <class Predicate>
bool at_all_places(const Layout& layout, Predicate predicate) {
    bool result = true;
    for_each_place(layout, [&](Place place) { result = result && predicate(place); });
    return result;
}

template <class Function>
void for_each_element(const ir::Shape& shape, Function function) {
    Coordinates element;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) element.push_back(0);
    for (std::int64_t i = 0; i < shape.count(); ++i) {
        function(element);
        for (std::size_t axis = shape.rank(); axis-- > 0;) {
            if (++element[axis] < shape[axis]) break;
            element[axis] = 0;
        }
    }
}

inline std::int64_t row_major(const ir::Shape& shape, const Coordinates& element) {
    std::int64_t index = 0;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) index = index * shape[axis] + element[axis];
    return index;
}

/// Each axis is cut into digits, which go to registers, lanes and warps in any order; some lanes and warps repeat.
class RandomLayouts {
public:
    explicit RandomLayouts(unsigned seed) : random_(seed) {}

    int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }

    Layout next() {
        const auto rank = static_cast<std::size_t>(1 + below(3));
        return of_rank(rank, 3 + below(3), below(3));
    }

    /// A layout of the same shape and threads: the digits are dealt out anew.
    Layout same_shape(const Layout& layout) {
        const Part& part = layout.parts().front();
        Layout result = layout;
        do {
            Part dealt{part.origin, {}, {}, {}};
            Digits digits = part.registers;
            for (const Digits* more : {&part.lanes, &part.warps})
                digits.insert(digits.end(), more->begin(), more->end());
            deal(digits, static_cast<int>(part.lanes.size()), codegen::gpu::count(part.warps), dealt);
            result = Layout(layout.shape(), {dealt});
        } while (below(4) == 0);
        return result;
    }

    /// Only registers change places.
    Layout same_threads(const Layout& layout) {
        Part part = layout.parts().front();
        std::shuffle(part.registers.begin(), part.registers.end(), random_);
        return Layout(layout.shape(), {part});
    }

    /// Registers and lanes change places.
    Layout same_warps(const Layout& layout) {
        Part part = layout.parts().front();
        std::shuffle(part.lanes.begin(), part.lanes.end(), random_);
        for (Digit& digit : part.registers) {
            Digit& lane = part.lanes[static_cast<std::size_t>(below(static_cast<int>(part.lanes.size())))];
            if (digit.count == 2 && lane.axis != kBroadcast && below(2) == 0) std::swap(digit, lane);
        }
        return Layout(layout.shape(), {part});
    }

    std::mt19937& engine() { return random_; }

private:
    Layout of_rank(std::size_t rank, int lane_bits, int warp_bits) {
        Part part;
        ir::Shape shape;
        Digits digits;
        for (std::size_t axis = 0; axis < rank; ++axis) {
            std::int64_t extent = 1;
            for (int left = below(5); left > 0 && extent < 40; --left) {
                const int count = below(3) == 0 ? 3 + below(3) : 2;
                digits.push_back({count, static_cast<int>(axis), extent});
                extent *= count;
            }
            part.origin.push_back(0);
            // Sometimes the box is larger than the tile, by less than its last digit.
            shape.push_back(below(3) == 0 && extent > 1 ? extent - below(static_cast<int>(extent + 1) / 2) : extent);
        }
        deal(digits, lane_bits, below(4) == 0 ? 3 << warp_bits : 1 << warp_bits, part);
        return Layout(shape, {part});
    }

    void deal(Digits digits, int lane_bits, int warps, Part& part) {
        std::erase_if(digits, [](const Digit& digit) { return digit.axis == kBroadcast; });
        std::shuffle(digits.begin(), digits.end(), random_);
        for (const Digit& digit : digits) {
            const int choice = below(3);
            if (choice == 0 && digit.count == 2 && static_cast<int>(part.lanes.size()) < lane_bits) {
                part.lanes.push_back(digit);
            } else if (choice == 1 && warps % digit.count == 0) {
                part.warps.push_back(digit);
                warps /= digit.count;
            } else {
                part.registers.push_back(digit);
            }
        }
        while (static_cast<int>(part.lanes.size()) < lane_bits) {
            const auto place = part.lanes.begin() + below(static_cast<int>(part.lanes.size()) + 1);
            part.lanes.insert(place, Digit{2, kBroadcast, 0});
        }
        if (warps > 1) part.warps.push_back({warps, kBroadcast, 0});
    }

    std::mt19937 random_;
};

/// A value for each place, in the order of for_each_place.
class Spread {
public:
    Spread(const Layout& layout, std::int64_t value)
        : layout_(&layout),
          values_(static_cast<std::size_t>(layout.registers() * layout.lanes() * layout.warps()), value) {}

    /// The row-major number of each place's element; -1 outside the tile.
    static Spread numbered(const Layout& layout) {
        Spread result(layout, -1);
        for_each_place(layout, [&](Place place) {
            const Coordinates element = layout.at(place);
            if (layout.contains(element)) result[place] = row_major(layout.shape(), element);
        });
        return result;
    }

    std::int64_t& operator[](Place place) {
        return values_[static_cast<std::size_t>((place.warp * layout_->lanes() + place.lane) * layout_->registers() +
                                                place.reg)];
    }
    friend bool operator==(const Spread& a, const Spread& b) { return a.values_ == b.values_; }

private:
    const Layout* layout_;
    std::vector<std::int64_t> values_;
};

/// What each thread has after the exchange that `plan` asked for; not for Shared.
inline Spread convert(Spread source, const codegen::gpu::Conversion& conversion, const Layout& destination) {
    using codegen::gpu::Movement;
    Spread result(destination, -1);
    for_each_place(destination, [&](Place place) {
        Place from = place;
        if (conversion.movement == Movement::Registers) {
            from.reg = conversion.registers[static_cast<std::size_t>(place.reg)];
        } else if (conversion.movement == Movement::Shuffles) {
            const codegen::gpu::Exchange& exchange = conversion.exchanges[static_cast<std::size_t>(place.reg)];
            std::size_t choice = 0;
            for (std::size_t i = 0; i < conversion.selectors.size(); ++i) {
                if ((place.lane & conversion.selectors[i]) != 0) choice |= std::size_t{1} << i;
            }
            from.reg = exchange.registers[choice];
            from.lane = exchange.lane;
            for (std::size_t bit = 0; bit < conversion.lane_bits.size(); ++bit) {
                if ((place.lane >> bit & 1) != 0) from.lane ^= conversion.lane_bits[bit];
            }
        }
        if (from.reg >= 0) result[place] = source[from];
    });
    return result;
}

}  // namespace kiln::test
