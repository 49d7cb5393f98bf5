// The laws of layouts, on random ones.
#include "codegen/gpu/layout.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "c_expression.h"
#include "ir/support/internal_error.h"
#include "layout_support.h"

using namespace kiln;
using namespace kiln::codegen::gpu;
using namespace kiln::test;

namespace {

constexpr int kRounds = 150;

int copies(const Layout& layout) {
    int product = 1;
    const Part& part = layout.parts().front();
    for (const Digits* digits : {&part.registers, &part.lanes, &part.warps}) {
        for (const Digit& digit : *digits) product *= digit.axis == kBroadcast ? digit.count : 1;
    }
    return product;
}

std::map<std::int64_t, int> holders(const Layout& layout) {
    std::map<std::int64_t, int> result;
    for_each_place(layout, [&](Place place) {
        const Coordinates element = layout.at(place);
        if (layout.contains(element)) ++result[row_major(layout.shape(), element)];
    });
    return result;
}

bool every_element_is_held(const Layout& layout, int times) {
    const std::map<std::int64_t, int> held = holders(layout);
    if (static_cast<std::int64_t>(held.size()) != layout.shape().count()) return false;
    return std::all_of(held.begin(), held.end(), [&](const auto& entry) { return entry.second == times; });
}

}  // namespace

TEST_SUITE_BEGIN("unit");

TEST_CASE("layout: the worked example of the header") {
    const Layout layout({4, 12}, {{{0, 0}, {{2, 1, 1}, {3, 1, 4}}, {{2, 1, 2}, {2, 0, 1}}, {{2, 0, 2}}}});
    CHECK(layout.registers() == 6);
    CHECK(layout.at({3, 2, 1}) == Coordinates{3, 5});
    CHECK(layout.find({1, 3}) == Place{1, 3, 0});
    CHECK(to_string(layout) == "[4, 12] registers 2@1*1 3@1*4 lanes 2@1*2 2@0*1 warps 2@0*2");
}

TEST_CASE("layout: every element has one place and its repetitions") {
    RandomLayouts random(1);
    for (int round = 0; round < kRounds; ++round) {
        const Layout layout = random.next();
        CAPTURE(to_string(layout));
        CHECK(every_element_is_held(layout, copies(layout)));
        const bool unique = copies(layout) == 1;
        CHECK(at_all_places(layout, [&](Place place) {
            const std::optional<Place> found = layout.find(layout.at(place));
            return found && layout.at(*found) == layout.at(place) && (found->lane & layout.repeated_lanes()) == 0 &&
                   (!unique || *found == place);
        }));
        if (layout.exact()) {
            CHECK(layout.registers() * layout.lanes() * layout.warps() == layout.shape().count() * copies(layout));
        }
    }
}

TEST_CASE("layout: the threads that need not repeat hold every element once") {
    RandomLayouts random(2);
    for (int round = 0; round < kRounds; ++round) {
        const Layout layout = random.next();
        CAPTURE(to_string(layout));
        std::map<std::int64_t, int> written;
        for_each_place(layout, [&](Place place) {
            if ((place.lane & layout.repeated_lanes()) != 0) return;
            for (const Digit& digit : layout.repeated_warps()) {
                if (place.warp / digit.stride % digit.count != 0) return;
            }
            const Coordinates element = layout.at(place);
            if (layout.contains(element)) ++written[row_major(layout.shape(), element)];
        });
        CHECK(static_cast<std::int64_t>(written.size()) == layout.shape().count());
        for (const auto& [element, times] : written) CHECK(times == 1);
    }
}

TEST_CASE("layout: permuting moves coordinates, and transposing twice is nothing") {
    RandomLayouts random(3);
    for (int round = 0; round < kRounds; ++round) {
        const Layout layout = random.next();
        CAPTURE(to_string(layout));
        ir::Shape axes, back;
        std::vector<std::int64_t> order(layout.shape().rank());
        for (std::size_t axis = 0; axis < order.size(); ++axis) order[axis] = static_cast<std::int64_t>(axis);
        std::shuffle(order.begin(), order.end(), random.engine());
        for (const std::int64_t axis : order) axes.push_back(axis);
        back = axes;
        for (std::size_t axis = 0; axis < order.size(); ++axis) {
            back[static_cast<std::size_t>(axes[axis])] = static_cast<std::int64_t>(axis);
        }
        const Layout permuted = permute(layout, axes);
        CHECK(at_all_places(layout, [&](Place place) {
            const Coordinates from = layout.at(place), to = permuted.at(place);
            for (std::size_t axis = 0; axis < order.size(); ++axis) {
                if (to[axis] != from[static_cast<std::size_t>(axes[axis])]) return false;
            }
            return true;
        }));
        CHECK(permute(permuted, back) == layout);
        if (layout.shape().rank() == 2) CHECK(permute(permute(layout, {1, 0}), {1, 0}) == layout);
    }
}

TEST_CASE("layout: reshaping keeps the row-major number") {
    RandomLayouts random(4);
    int done = 0;
    const std::vector<ir::Shape> shapes = {{64},      {8, 8}, {4, 16}, {2, 2, 16}, {1, 64}, {4, 4, 4},
                                           {8, 1, 8}, {48},   {3, 16}, {6, 8},     {12, 4}};
    for (int round = 0; round < 10 * kRounds; ++round) {
        const Layout layout = random.next();
        for (const ir::Shape& shape : shapes) {
            if (shape.count() != layout.shape().count()) continue;
            const std::optional<Layout> reshaped = reshape(layout, shape);
            if (!reshaped) continue;
            ++done;
            CAPTURE(to_string(layout));
            CAPTURE(to_string(*reshaped));
            CHECK(at_all_places(layout, [&](Place place) {
                const Coordinates from = layout.at(place), to = reshaped->at(place);
                if (!layout.contains(from)) return !reshaped->contains(to);
                return reshaped->contains(to) && row_major(layout.shape(), from) == row_major(shape, to);
            }));
            CHECK(reshape(*reshaped, layout.shape()) == layout);
        }
    }
    CHECK(done > 100);
}

TEST_CASE("layout: axes of length 1 come and go, also where the box is larger than the tile") {
    const Layout layout = coalesced({37}, 1, 32, 4);
    const std::optional<Layout> column = reshape(layout, {37, 1});
    REQUIRE(column.has_value());
    CHECK(column->at({0, 5, 0}) == Coordinates{5, 0});
    CHECK(reshape(*column, {37}) == layout);
    // Digits along an axis that goes: elements outside the tile would come into it.
    CHECK_FALSE(reshape(cover(box_atom({1, 4}, {1, 1}), {}, {8, 1}), {8}).has_value());
}

TEST_CASE("layout: slices drop an axis and nothing else") {
    RandomLayouts random(5);
    for (int round = 0; round < kRounds; ++round) {
        const Layout layout = random.next();
        const int axis = random.below(static_cast<int>(layout.shape().rank()));
        const std::optional<Slice> result = slice(layout, axis);
        REQUIRE(result.has_value());
        CAPTURE(to_string(layout));
        CHECK(result->layout.shape()[static_cast<std::size_t>(axis)] == 1);
        CHECK(at_all_places(layout, [&](Place place) {
            Coordinates expected = layout.at(place);
            expected[static_cast<std::size_t>(axis)] = 0;
            place.reg = result->register_of[static_cast<std::size_t>(place.reg)];
            return result->layout.at(place) == expected;
        }));
        const Layout wide = broadcast(result->layout, axis, 5);
        CHECK(slice(wide, axis)->layout == result->layout);
        CHECK(every_element_is_held(wide, copies(wide)));
    }
}

TEST_CASE("layout: a reduction combines every element once, and all threads hold the result") {
    RandomLayouts random(6);
    for (int round = 0; round < kRounds; ++round) {
        const Layout layout = random.next();
        const int axis = random.below(static_cast<int>(layout.shape().rank()));
        const std::optional<Reduction> reduction = reduce(layout, axis);
        REQUIRE(reduction.has_value());
        CAPTURE(to_string(layout));
        std::set<int> grouped;
        for (const std::vector<int>& group : reduction->registers) {
            for (const int number : group) CHECK(grouped.insert(number).second);
        }
        CHECK(static_cast<int>(grouped.size()) == layout.registers());

        Spread numbers = Spread::numbered(layout);
        const Layout& result = reduction->result;
        Spread sums(result, 0);
        for_each_place(result, [&](Place place) {
            for (const int number : reduction->registers[static_cast<std::size_t>(place.reg)]) {
                sums[place] += std::max<std::int64_t>(0, numbers[{number, place.lane, place.warp}]);
            }
        });
        for (const int mask : reduction->lane_masks) {
            Spread next = sums;
            for_each_place(result, [&](Place place) {
                next[place] += sums[{place.reg, place.lane ^ mask, place.warp}];
            });
            sums = next;
        }
        for (const Digit& digit : reduction->warps) {
            Spread next(result, 0);
            for_each_place(result, [&](Place place) {
                const int own = place.warp / static_cast<int>(digit.stride) % digit.count;
                for (int other = 0; other < digit.count; ++other) {
                    const int warp = place.warp + (other - own) * static_cast<int>(digit.stride);
                    next[place] += sums[{place.reg, place.lane, warp}];
                }
            });
            sums = next;
        }
        std::map<std::int64_t, std::int64_t> expected;
        for_each_element(layout.shape(), [&](Coordinates element) {
            const std::int64_t number = row_major(layout.shape(), element);
            element[static_cast<std::size_t>(axis)] = 0;
            expected[row_major(result.shape(), element)] += number;
        });
        CHECK(at_all_places(result, [&](Place place) {
            const Coordinates element = result.at(place);
            return !result.contains(element) || sums[place] == expected[row_major(result.shape(), element)];
        }));
    }
}

TEST_CASE("layout: plans move each element to its place, and back") {
    RandomLayouts random(7);
    std::map<Movement, int> seen;
    for (int round = 0; round < 3 * kRounds; ++round) {
        const Layout source = random.next();
        const Layout destination = round % 4 == 0   ? random.same_shape(source)
                                   : round % 4 == 1 ? random.same_threads(source)
                                                    : random.same_warps(source);
        CAPTURE(to_string(source));
        CAPTURE(to_string(destination));
        const Conversion there = plan(source, destination), back = plan(destination, source);
        ++seen[there.movement];
        CHECK((there.movement == Movement::Same) == (source == destination));
        if (there.movement == Movement::Shared) continue;
        const Spread moved = convert(Spread::numbered(source), there, destination);
        CHECK(moved == Spread::numbered(destination));
        if (back.movement != Movement::Shared) CHECK(convert(moved, back, source) == Spread::numbered(source));
        if (round % 4 == 1) CHECK(there.movement != Movement::Shuffles);
    }
    CHECK(seen[Movement::Same] > 10);
    CHECK(seen[Movement::Registers] > 50);
    CHECK(seen[Movement::Shuffles] > 50);
    CHECK(seen[Movement::Shared] > 50);
}

TEST_CASE("layout: printed expressions equal at()") {
    RandomLayouts random(8);
    for (int round = 0; round < kRounds; ++round) {
        const Layout layout = random.next();
        const Part& part = layout.parts().front();
        CAPTURE(to_string(layout));
        for (std::size_t axis = 0; axis < layout.shape().rank(); ++axis) {
            const std::string threads = expression(part, static_cast<int>(axis), "lane", "warp");
            const std::string registers = expression(part.registers, static_cast<int>(axis), "r");
            CAPTURE(threads);
            CHECK(at_all_places(layout, [&](Place place) {
                // The sum of both is at(): each text is evaluated once for each of its values.
                if (place.reg != 0 && (place.lane != 0 || place.warp != 0)) return true;
                const auto lane = static_cast<std::uint64_t>(place.lane), warp = static_cast<std::uint64_t>(place.warp);
                const auto reg = static_cast<std::uint64_t>(place.reg);
                const std::uint64_t by_thread = c_value(threads, {{"lane", lane}, {"warp", warp}});
                const std::uint64_t by_register = c_value(registers, {{"r", reg}});
                const auto move = offset(part.registers, static_cast<int>(axis), place.reg);
                return static_cast<std::int64_t>(by_thread + by_register) == layout.at(place)[axis] &&
                       by_register == static_cast<std::uint64_t>(move);
            }));
        }
    }
}

TEST_CASE("layout: expressions are as short as a person would write them") {
    const Layout layout = cover(box_atom({1, 4}, {4, 8}), {{2, 1}, {2, 0}}, {64, 128});
    const Part& part = layout.parts().front();
    CHECK(expression(part, 0, "lane", "warp") == "(lane >> 3) + (warp >> 1) * 4u");
    CHECK(expression(part, 1, "lane", "warp") == "(lane & 7u) * 4u + (warp & 1u) * 32u");
    CHECK(expression(part.registers, 1, "r") == "(r % 4u) + ((r / 4u) % 2u) * 64u");
}

TEST_CASE("layout: tiling succeeds exactly where extents divide") {
    const Layout atom = box_atom({1, 2}, {8, 4});
    for (const std::int64_t rows : {1, 8, 15, 16, 17, 31, 32, 48, 64}) {
        for (const std::int64_t columns : {8, 12, 16, 24, 32, 40, 80, 96, 111, 112}) {
            const std::optional<Layout> tiled = tile(atom, {{2, 0}, {3, kBroadcast}}, {rows, columns});
            const Layout covering = cover(atom, {{2, 0}, {3, kBroadcast}}, {rows, columns});
            CHECK(tiled.has_value() == (rows % 16 == 0 && columns % 8 == 0));
            CHECK(covering.exact() == tiled.has_value());
            CHECK(every_element_is_held(covering, 3));
            CHECK(covering.warps() == 6);
        }
    }
}

TEST_CASE("layout: warps stand directly outside the atom and repeats outermost") {
    const Layout layout = *tile(box_atom({1, 2}, {8, 4}), {{2, 1}}, {8, 160});
    CHECK(layout.at({0, 0, 1}) == Coordinates{0, 8});
    CHECK(layout.at({2, 0, 0}) == Coordinates{0, 16});
    CHECK(layout.registers() == 20);
}

TEST_CASE("layout: coalesced access covers any shape with the fewest registers") {
    const std::vector<ir::Shape> shapes = {{1},    {7},       {111},     {1000},    {32, 112},  {160, 32},  {64, 80},
                                           {3, 5}, {128, 64}, {1, 4096}, {4096, 1}, {2, 3, 40}, {111, 111}, {16, 16}};
    for (const ir::Shape& shape : shapes) {
        for (const int vector : {1, 2, 4, 8}) {
            for (const int lanes : {32, 64}) {
                for (const int warps : {1, 2, 3, 4, 8}) {
                    const Layout layout = coalesced(shape, vector, lanes, warps);
                    CAPTURE(to_string(layout));
                    CHECK(layout.lanes() == lanes);
                    CHECK(layout.warps() == warps);
                    CHECK(every_element_is_held(layout, copies(layout)));
                    const Coordinates first = layout.at({0, 0, 0}), last = layout.at({vector - 1, 0, 0});
                    CHECK(last.back() - first.back() == vector - 1);
                    const std::int64_t threads = lanes * warps, elements = shape.count();
                    // A quarter more than an even share at worst, once there is work for all.
                    if (elements >= 16 * threads * vector && shape.back() % vector == 0) {
                        CHECK(layout.registers() * threads * 4 <= elements * 5);
                    }
                }
            }
        }
    }
}

TEST_CASE("layout: coalesced access has long runs along the fastest axis") {
    const Layout rows = coalesced({64, 128}, 4, 32, 4);
    CHECK(rows.at({0, 31, 0}) == Coordinates{0, 124});
    const Layout columns = coalesced({64, 128}, 4, 32, 4, {0, 1});
    CHECK(columns.at({3, 0, 0}) == Coordinates{3, 0});
    CHECK(columns.at({0, 15, 0}) == Coordinates{60, 0});
    CHECK(columns.at({0, 16, 0}) == Coordinates{0, 1});
    // 14 units a row: 16 lanes and a guard take no more registers than fewer lanes would.
    CHECK(coalesced({32, 112}, 8, 32, 4).registers() == 32);
    CHECK(coalesced({64, 80}, 8, 32, 8).registers() == 24);
}

TEST_CASE("layout: parts side by side") {
    // Head size 80: two steps of 32 and one of 16.
    const Layout deep = *tile(atom({16, 32}, {{2, 1, 1}, {2, 1, 2}, {2, 1, 4}},
                                   {{2, 0, 1}, {2, 0, 2}, {2, 0, 4}, {2, 0, 8}, {2, 1, 8}, {2, 1, 16}}),
                              {}, {16, 64});
    const Layout shallow = *tile(
        atom({16, 16}, {{2, 1, 1}, {2, 1, 2}}, {{2, 0, 1}, {2, 0, 2}, {2, 0, 4}, {2, 0, 8}, {2, 1, 4}, {2, 1, 8}}), {},
        {16, 16});
    const Layout both = join(deep, shallow, 1);
    CHECK(both.shape() == ir::Shape{16, 80});
    CHECK(both.registers() == 20);
    CHECK(every_element_is_held(both, 1));
    CHECK(at_all_places(both, [&](Place place) { return both.find(both.at(place)) == place; }));
    const std::optional<Reduction> rows = reduce(both, 1);
    REQUIRE(rows.has_value());
    CHECK(rows->lane_masks == std::vector<int>{16, 32});
    CHECK(rows->registers == std::vector<std::vector<int>>{[] {
              std::vector<int> all(20);
              for (int i = 0; i < 20; ++i) all[static_cast<std::size_t>(i)] = i;
              return all;
          }()});
    CHECK(plan(both, both).movement == Movement::Same);
    CHECK(plan(both, coalesced({16, 80}, 4, 64, 1)).movement == Movement::Shared);
    CHECK(permute(permute(both, {1, 0}), {1, 0}) == both);
}

TEST_CASE("layout: broken rules are internal errors") {
    const auto make = [](const ir::Shape& shape, const Digits& registers, const Digits& lanes) {
        return Layout(shape, {{{0, 0}, registers, lanes, {}}});
    };
    CHECK_THROWS_AS(make({2, 4}, {{2, 1, 1}, {2, 1, 1}}, {{2, 0, 1}}), support::InternalError);  // twice the same move
    CHECK_THROWS_AS(make({2, 4}, {{2, 1, 2}, {2, 0, 1}}, {}), support::InternalError);           // nothing moves by 1
    CHECK_THROWS_AS(make({2, 4}, {{2, 1, 1}}, {{2, 0, 1}}), support::InternalError);             // half of it missing
    CHECK_THROWS_AS(make({2, 3}, {{2, 0, 1}}, {{3, 1, 1}}), support::InternalError);             // lanes are bits
    CHECK_THROWS_AS(make({2, 4}, {{2, 0, 1}, {4, 2, 1}}, {}), support::InternalError);           // no such axis
    CHECK_THROWS_AS(plan(coalesced({8}, 1, 32, 1), coalesced({8}, 1, 32, 2)), support::InternalError);
}

TEST_SUITE_END();
