// Operands of matrix instructions as layouts: the algebra carries them, and finds where they fit without movement.
#include <doctest/doctest.h>

#include "codegen/gpu/layout.h"
#include "layout_support.h"

using namespace kiln;
using namespace kiln::codegen::gpu;
using namespace kiln::test;

namespace {

Digits bits(int axis, std::initializer_list<std::int64_t> strides) {
    Digits result;
    for (const std::int64_t stride : strides) result.push_back({2, axis, stride});
    return result;
}

Digits operator+(Digits a, const Digits& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

const Digits kRepeat = {{2, kBroadcast, 0}};

// NVIDIA mma.m16n8k16, 16-bit operands (PTX ISA, "Matrix Fragments for mma.m16n8k16"): A is [M, K], B [N, K], C [M, N].
Layout mma_a() {
    return atom({16, 16}, bits(1, {1}) + bits(0, {8}) + bits(1, {8}), bits(1, {2, 4}) + bits(0, {1, 2, 4}));
}
Layout mma_b() {
    return atom({8, 16}, bits(1, {1, 8}), bits(1, {2, 4}) + bits(0, {1, 2, 4}));
}
Layout mma_c() {
    return atom({16, 8}, bits(1, {1}) + bits(0, {8}), bits(1, {2, 4}) + bits(0, {1, 2, 4}));
}

// AMD V_MFMA_F32_16X16X16 and 32X32X8, 16-bit operands (CDNA 3 ISA, chapter 7): A is [M, K], C [M, N].
Layout mfma16_a() {
    return atom({16, 16}, bits(1, {1, 2}), bits(0, {1, 2, 4, 8}) + bits(1, {4, 8}));
}
Layout mfma16_c() {
    return atom({16, 16}, bits(0, {1, 2}), bits(1, {1, 2, 4, 8}) + bits(0, {4, 8}));
}
Layout mfma32_a() {
    return atom({32, 8}, bits(1, {1, 2}), bits(0, {1, 2, 4, 8, 16}) + bits(1, {4}));
}
Layout mfma32_c() {
    return atom({32, 32}, bits(0, {1, 2, 8, 16}), bits(1, {1, 2, 4, 8, 16}) + bits(0, {4}));
}

// AMD V_WMMA_F32_16X16X16_F16, 32 lanes: RDNA 3 repeats A in the upper lanes (RDNA 3 ISA, section 7.9), RDNA 4 does
// not.
Layout rdna3_a() {
    return atom({16, 16}, bits(1, {1, 2, 4, 8}), bits(0, {1, 2, 4, 8}) + kRepeat);
}
Layout rdna3_c() {
    return atom({16, 16}, bits(0, {2, 4, 8}), bits(1, {1, 2, 4, 8}) + bits(0, {1}));
}
Layout rdna4_a() {
    return atom({16, 16}, bits(1, {1, 2, 4}), bits(0, {1, 2, 4, 8}) + bits(1, {8}));
}
Layout rdna4_c() {
    return atom({16, 16}, bits(0, {1, 2, 4}), bits(1, {1, 2, 4, 8}) + bits(0, {8}));
}

bool moves_right(const Layout& source, const Layout& destination) {
    return convert(Spread::numbered(source), plan(source, destination), destination) == Spread::numbered(destination);
}

}  // namespace

TEST_SUITE_BEGIN("unit");

TEST_CASE("atoms: fragments as the documents write them") {
    for (int lane = 0; lane < 32; ++lane) {
        const int group = lane / 4, thread = lane % 4;
        for (int i = 0; i < 8; ++i) {
            const int row = group + (i % 4 < 2 ? 0 : 8), k = thread * 2 + i % 2 + (i < 4 ? 0 : 8);
            CHECK(mma_a().at({i, lane, 0}) == Coordinates{row, k});
        }
        for (int i = 0; i < 4; ++i) {
            CHECK(mma_b().at({i, lane, 0}) == Coordinates{group, thread * 2 + i % 2 + (i < 2 ? 0 : 8)});
            CHECK(mma_c().at({i, lane, 0}) == Coordinates{group + (i < 2 ? 0 : 8), thread * 2 + i % 2});
        }
        for (int i = 0; i < 8; ++i) {
            CHECK(rdna3_c().at({i, lane, 0}) == Coordinates{2 * i + lane / 16, lane % 16});
            CHECK(rdna4_c().at({i, lane, 0}) == Coordinates{8 * (lane / 16) + i, lane % 16});
        }
        for (int i = 0; i < 16; ++i) CHECK(rdna3_a().at({i, lane, 0}) == Coordinates{lane % 16, i});
    }
    for (int lane = 0; lane < 64; ++lane) {
        for (int i = 0; i < 4; ++i) {
            CHECK(mfma16_a().at({i, lane, 0}) == Coordinates{lane % 16, lane / 16 * 4 + i});
            CHECK(mfma16_c().at({i, lane, 0}) == Coordinates{lane / 16 * 4 + i, lane % 16});
            CHECK(mfma32_a().at({i, lane, 0}) == Coordinates{lane % 32, lane / 32 * 4 + i});
        }
        for (int i = 0; i < 16; ++i) {
            CHECK(mfma32_c().at({i, lane, 0}) == Coordinates{i / 4 * 8 + lane / 32 * 4 + i % 4, lane % 32});
        }
    }
}

TEST_CASE("atoms: a product becomes an operand") {
    // NVIDIA: C of [16, 16] is A already.
    CHECK(plan(*tile(mma_c(), {}, {16, 16}), mma_a()).movement == Movement::Same);
    CHECK(plan(*tile(mma_c(), {{4, 0}}, {64, 96}), *tile(mma_a(), {{4, 0}}, {64, 96})).movement == Movement::Same);
    CHECK(moves_right(*tile(mma_c(), {{4, 0}}, {64, 96}), *tile(mma_a(), {{4, 0}}, {64, 96})));

    // AMD: lanes exchange; with the operands swapped (the product transposed) nothing moves.
    CHECK(plan(mfma16_c(), mfma16_a()).movement == Movement::Shuffles);
    CHECK(moves_right(mfma16_c(), mfma16_a()));
    CHECK(plan(permute(mfma16_c(), {1, 0}), mfma16_a()).movement == Movement::Same);
    CHECK(plan(mfma32_c(), *tile(mfma32_a(), {}, {32, 32})).movement ==
          Movement::Shared);  // 16 registers to select from
    CHECK(plan(permute(mfma32_c(), {1, 0}), *tile(mfma32_a(), {}, {32, 32})).movement == Movement::Same);

    CHECK(plan(permute(rdna4_c(), {1, 0}), rdna4_a()).movement == Movement::Same);
    const Conversion rdna3 = plan(permute(rdna3_c(), {1, 0}), rdna3_a());
    CHECK(rdna3.movement == Movement::Shuffles);
    CHECK(moves_right(permute(rdna3_c(), {1, 0}), rdna3_a()));
}

TEST_CASE("atoms: row statistics of a swapped product need fewer rounds") {
    CHECK(reduce(mfma16_c(), 1)->lane_masks.size() == 4);
    CHECK(reduce(permute(mfma16_c(), {1, 0}), 1)->lane_masks.size() == 2);
    CHECK(reduce(mfma32_c(), 1)->lane_masks.size() == 5);
    CHECK(reduce(permute(mfma32_c(), {1, 0}), 1)->lane_masks.size() == 1);
}

TEST_CASE("atoms: two steps along k are read as one after relabelling") {
    const Layout steps = *tile(mfma16_a(), {}, {16, 32});
    const Layout read = relabel(steps, 1);
    CHECK(read.at({4, 0, 0}) == Coordinates{0, 4});
    CHECK(read.at({0, 16, 0}) == Coordinates{0, 8});
    std::vector<int> held(16 * 32, 0);
    for_each_place(read, [&](Place place) { ++held[static_cast<std::size_t>(row_major({16, 32}, read.at(place)))]; });
    CHECK(std::all_of(held.begin(), held.end(), [](int times) { return times == 1; }));
    // B has the same digits along k, so that the elements still meet.
    const Layout other = relabel(*tile(mfma16_a(), {{2, 0}}, {64, 32}), 1);
    for (int lane = 0; lane < 64; ++lane) {
        for (int number = 0; number < 8; ++number) {
            CHECK(other.at({number, lane, 0})[1] == read.at({number, lane, 0})[1]);
        }
    }
    CHECK(relabel(read, 1) == read);
}

TEST_CASE("atoms: any extent is whole repeats") {
    for (const std::int64_t columns : {80, 96, 112, 160, 192}) {
        const Layout c = *tile(mma_c(), {{2, 0}}, {64, columns});
        CHECK(c.registers() == columns / 8 * 2 * 4);
        CHECK(plan(c, permute(permute(c, {1, 0}), {1, 0})).movement == Movement::Same);
    }
    CHECK_FALSE(tile(mma_c(), {{2, 0}}, {64, 111}).has_value());
    CHECK(cover(mma_c(), {{2, 0}}, {64, 111}).covered(1) == 112);
}

TEST_SUITE_END();
