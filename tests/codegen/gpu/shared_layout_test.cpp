// Shared memory: conflicts as the documents count them, swizzles that leave none, addresses as base ^ flip + add.
#include "codegen/gpu/shared_layout.h"

#include <doctest/doctest.h>

#include <set>

#include "c_expression.h"
#include "layout_support.h"

using namespace kiln;
using namespace kiln::codegen::gpu;
using namespace kiln::test;

namespace {

const Target& target(const char* name) {
    return *find_target(name).target;
}

SharedLayout plain(const ir::Shape& shape, int element_bytes) {
    return {shape, element_bytes, shape.back() * element_bytes, 16, 0, 0};
}

/// What ldmatrix reads at a time: 16 rows of two units of 16 bytes, a row of one unit a lane.
Layout ldmatrix_rows(const ir::Shape& shape) {
    const Layout rows = atom({16, 16}, {{8, 1, 1}}, {{2, 0, 1}, {2, 0, 2}, {2, 0, 4}, {2, 0, 8}, {2, 1, 8}});
    return cover(rows, {}, shape);
}

bool bytes_are_distinct(const SharedLayout& shared) {
    std::set<std::int64_t> seen;
    bool inside = true;
    for_each_element(shared.shape, [&](const Coordinates& element) {
        seen.insert(shared.byte(element));
        inside = inside && shared.byte(element) + shared.element_bytes <= shared.bytes();
    });
    return inside && static_cast<std::int64_t>(seen.size()) == shared.shape.count();
}

/// Whether split() gives the true address of every place; where it declines, nothing is claimed.
bool split_is_right(const Layout& layout, const SharedLayout& shared) {
    const std::optional<std::vector<SharedOffset>> offsets = split(layout, shared);
    if (!offsets) return true;
    return at_all_places(layout, [&](Place place) {
        if (!layout.contains(layout.at(place))) return true;
        const std::int64_t base = shared.byte(layout.at({0, place.lane, place.warp}));
        const SharedOffset& offset = (*offsets)[static_cast<std::size_t>(place.reg)];
        return (base ^ offset.flip) + offset.add == shared.byte(layout.at(place));
    });
}

}  // namespace

TEST_SUITE_BEGIN("unit");

TEST_CASE("shared layout: the worked example of the header") {
    const SharedLayout shared{{4, 32}, 2, 64, 16, 2, 0};
    const int expected[4][4] = {{0, 1, 2, 3}, {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 1, 0}};
    for (int row = 0; row < 4; ++row) {
        for (int place = 0; place < 4; ++place) {
            CHECK(shared.byte({row, expected[row][place] * 8}) == row * 64 + place * 16);
        }
    }
}

TEST_CASE("shared layout: conflicts of plain rows") {
    // 32 lanes that read one column of 32 words each: all in one bank, 31 rounds too many.
    const Layout column = cover(box_atom({1, 1}, {32, 1}), {}, {32, 32});
    CHECK(conflicts({column, 1}, plain({32, 32}, 4), target("sm_80")) == 31 * 32);
    const SharedLayout padded{{32, 32}, 4, 33 * 4, 4, 0, 0};
    CHECK(conflicts({column, 1}, padded, target("sm_80")) == 0);
    // The same word for all lanes is one round, also where lanes lie outside the tile.
    CHECK(conflicts({repeated({4}, 32, 1), 1}, plain({4}, 4), target("sm_80")) == 0);
    CHECK(conflicts({cover(box_atom({1, 1}, {32, 1}), {}, {20, 1}), 1}, {{20, 1}, 4, 128, 4, 0, 0}, target("sm_80")) ==
          19);
    // Rows of 16 units of 16 bytes: a quarter warp reads 8 rows in the same banks.
    const Layout rows = ldmatrix_rows({64, 128});
    CHECK(conflicts({rows, 8}, plain({64, 128}, 2), target("sm_80")) == 7 * 4 * 4 * 8);
}

TEST_CASE("shared layout: the choice has no conflicts, for whole ranges of extents") {
    for (const char* name : {"sm_80", "gfx942", "gfx950"}) {
        for (const std::int64_t columns : {64, 80, 96, 112, 128, 160, 192, 256}) {
            const Target& on = target(name);
            const ir::Shape shape = {64, columns};
            const Layout write = coalesced(shape, 8, on.lanes, 4);
            const Layout read = on.lanes == 32
                                    ? ldmatrix_rows(shape)
                                    : cover(atom({16, 32}, {{8, 1, 1}},
                                                 {{2, 0, 1}, {2, 0, 2}, {2, 0, 4}, {2, 0, 8}, {2, 1, 8}, {2, 1, 16}}),
                                            {}, shape);
            const std::vector<SharedAccess> accesses = {{write, 8, true}, {read, 8, false}};
            const SharedLayout shared = choose(shape, 2, accesses, on);
            CAPTURE(name);
            CAPTURE(columns);
            CAPTURE(shared.bits);
            CAPTURE(shared.shift);
            CAPTURE(shared.pitch);
            CHECK(bytes_are_distinct(shared));
            if (on.vendor == Vendor::Nvidia) {
                CHECK(conflicts(accesses[0], plain(shape, 2), on) + conflicts(accesses[1], plain(shape, 2), on) > 0);
                CHECK(conflicts(accesses[0], shared, on) + conflicts(accesses[1], shared, on) == 0);
                CHECK(shared.pitch == columns * 2);
            }
            CHECK(split_is_right(write, shared));
            CHECK(split_is_right(read, shared));
        }
    }
}

TEST_CASE("shared layout: a tile is written by rows and read by columns") {
    for (const char* name : {"sm_80", "sm_90a", "gfx942", "gfx1100"}) {
        for (const int element_bytes : {1, 2, 4, 8}) {
            const Target& on = target(name);
            const ir::Shape shape = {64, 64};
            const Layout write = coalesced(shape, 1, on.lanes, 4), read = coalesced(shape, 1, on.lanes, 4, {0, 1});
            const std::vector<SharedAccess> accesses = {{write, 1, true}, {read, 1, false}};
            const SharedLayout shared = choose(shape, element_bytes, accesses, on);
            CAPTURE(name);
            CAPTURE(element_bytes);
            CHECK(bytes_are_distinct(shared));
            const SharedLayout rows = plain(shape, element_bytes);
            CHECK(conflicts(accesses[0], shared, on) + conflicts(accesses[1], shared, on) <
                  conflicts(accesses[0], rows, on) + conflicts(accesses[1], rows, on));
            if (element_bytes == 4) CHECK(conflicts(accesses[0], shared, on) + conflicts(accesses[1], shared, on) == 0);
        }
    }
}

TEST_CASE("shared layout: base ^ flip + add is the true address, for interleaved warps always") {
    for (const std::int64_t columns : {64, 80, 96, 128, 160, 192}) {
        for (int bits = 0; bits <= 3; ++bits) {
            for (int shift = 0; shift <= 2; ++shift) {
                if (columns * 2 / 16 % (1 << bits) != 0) continue;
                const SharedLayout shared{{64, columns}, 2, columns * 2, 16, bits, shift};
                const Layout read =
                    *tile(atom({16, 16}, {{8, 1, 1}}, {{2, 0, 1}, {2, 0, 2}, {2, 0, 4}, {2, 0, 8}, {2, 1, 8}}),
                          {{2, 0}}, {64, columns});
                CHECK(split(read, shared).has_value());
                CHECK(split_is_right(read, shared));
            }
        }
    }
}

TEST_CASE("shared layout: split is right wherever it answers, on random layouts") {
    RandomLayouts random(11);
    int answered = 0;
    for (int round = 0; round < 400; ++round) {
        const Layout layout = random.next();
        for (int bits = 0; bits <= 2; ++bits) {
            SharedLayout shared{layout.shape(), 4, 0, 4 << random.below(3), bits, random.below(3)};
            const std::int64_t step = shared.unit << bits;
            shared.pitch = (layout.shape().back() * 4 + step - 1) / step * step;
            CAPTURE(to_string(layout));
            CHECK(bytes_are_distinct(shared));
            CHECK(split_is_right(layout, shared));
            answered += split(layout, shared).has_value() ? 1 : 0;
        }
    }
    CHECK(answered > 400);
}

TEST_CASE("shared layout: printed addresses are the addresses") {
    RandomLayouts random(12);
    for (int round = 0; round < 150; ++round) {
        const Layout layout = random.next();
        SharedLayout shared{layout.shape(), 2, 0, 8, random.below(3), random.below(3)};
        const std::int64_t step = shared.unit << shared.bits;
        shared.pitch = (layout.shape().back() * 2 + step - 1) / step * step;
        const std::string text = base_expression(layout.parts().front(), shared, "lane", "warp");
        CAPTURE(text);
        CHECK(at_all_places(layout, [&](Place place) {
            if (place.reg != 0) return true;
            const auto lane = static_cast<std::uint64_t>(place.lane), warp = static_cast<std::uint64_t>(place.warp);
            return static_cast<std::int64_t>(c_value(text, {{"lane", lane}, {"warp", warp}})) ==
                   shared.byte(layout.at({0, place.lane, place.warp}));
        }));
    }
}

TEST_SUITE_END();
