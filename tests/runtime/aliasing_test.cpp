#include "runtime/aliasing.h"

#include <doctest/doctest.h>

#include <random>
#include <set>
#include <vector>

namespace kiln::runtime {
namespace {

ir::TensorView view(float* data, ir::Shape sizes, ir::Shape strides) {
    return {ir::ScalarType::F32, reinterpret_cast<std::byte*>(data), sizes, strides};
}

/// All addresses of a small tensor's elements, one entry an index.
std::vector<std::byte*> addresses(const ir::TensorView& tensor) {
    std::vector<std::byte*> result{tensor.data};
    for (std::size_t axis = 0; axis < tensor.sizes.rank(); ++axis) {
        std::vector<std::byte*> next;
        for (std::byte* base : result) {
            for (std::int64_t i = 0; i < tensor.sizes[axis]; ++i) next.push_back(base + i * tensor.strides[axis] * 4);
        }
        result = std::move(next);
    }
    return result;
}

TEST_SUITE("unit") {
    TEST_CASE("aliasing: columns of one packed matrix do not overlap, unless they meet") {
        std::vector<float> memory(1000);
        const auto columns = [&](std::int64_t first, std::int64_t count) {
            return view(memory.data() + first, {10, count}, {100, 1});
        };
        CHECK(overlap(columns(0, 30), columns(30, 70)) == Overlap::None);
        CHECK(overlap(columns(30, 70), columns(0, 30)) == Overlap::None);
        CHECK(overlap(columns(0, 31), columns(30, 70)) == Overlap::Some);
        CHECK(overlap(columns(0, 30), columns(0, 30)) == Overlap::Some);
    }

    TEST_CASE("aliasing: disjoint, empty and undecided") {
        std::vector<float> memory(100);
        CHECK(overlap(view(memory.data(), {50}, {1}), view(memory.data() + 50, {50}, {1})) == Overlap::None);
        CHECK(overlap(view(memory.data(), {51}, {1}), view(memory.data() + 50, {50}, {1})) == Overlap::Some);
        CHECK(overlap(view(memory.data(), {0}, {1}), view(memory.data(), {50}, {1})) == Overlap::None);
        CHECK(overlap(view(memory.data(), {10, 10}, {10, 1}), view(memory.data(), {100}, {1})) == Overlap::Undecided);
        CHECK(overlap(view(memory.data(), {10, 5}, {10, 1}), view(memory.data() + 1, {10, 5}, {5, 1})) ==
              Overlap::Undecided);
        CHECK(overlap(view(memory.data() + 99, {100}, {-1}), view(memory.data() + 99, {1}, {-1})) == Overlap::Some);
    }

    TEST_CASE("aliasing: a tensor over itself") {
        std::vector<float> memory(100);
        CHECK(self_overlap(view(memory.data(), {10, 10}, {10, 1})) == Overlap::None);
        CHECK(self_overlap(view(memory.data(), {10, 10}, {1, 10})) == Overlap::None);
        CHECK(self_overlap(view(memory.data(), {10, 10}, {0, 1})) == Overlap::Some);
        CHECK(self_overlap(view(memory.data(), {1, 10}, {0, 1})) == Overlap::None);
        CHECK(self_overlap(view(memory.data(), {10, 10}, {5, 1})) == Overlap::Some);
        CHECK(self_overlap(view(memory.data() + 99, {10, 10}, {-10, -1})) == Overlap::None);
    }

    TEST_CASE("aliasing: agrees with listing the addresses, on random small tensors") {
        std::mt19937 random(7);
        std::vector<float> memory(4096);
        int decided = 0;
        for (int round = 0; round < 4000; ++round) {
            ir::Shape strides, sizes_a, sizes_b;
            const std::size_t rank = 1 + random() % 3;
            for (std::size_t axis = 0; axis < rank; ++axis) {
                strides.push_back(static_cast<std::int64_t>(random() % 23) - 6);
                sizes_a.push_back(1 + random() % 5);
                sizes_b.push_back(1 + random() % 5);
            }
            const ir::TensorView a = view(memory.data() + 2000, sizes_a, strides);
            const ir::TensorView b = view(memory.data() + 2000 + random() % 60 - 30, sizes_b, strides);
            const auto in_a = addresses(a), in_b = addresses(b);
            const std::set<std::byte*> set_a(in_a.begin(), in_a.end());
            bool shared = false;
            for (std::byte* address : in_b) shared |= set_a.count(address) > 0;
            const Overlap both = overlap(a, b), self = self_overlap(a);
            if (both != Overlap::Undecided) CHECK((both == Overlap::Some) == shared);
            if (self != Overlap::Undecided) CHECK((self == Overlap::Some) == (set_a.size() < in_a.size()));
            decided += both != Overlap::Undecided;
        }
        CHECK(decided > 3900);
    }
}

}  // namespace
}  // namespace kiln::runtime
