// The comparison itself: it must see every byte that differs.
#include <limits>

#include "kernel_case.h"

using namespace kiln;
using namespace kiln::test;
using enum ir::ScalarType;

TEST_SUITE("differential") {
    TEST_CASE("a changed element, a written gap and a write beyond a tensor are seen") {
        for (const Guard guard : {Guard::Behind, Guard::Before}) {
            const TensorSpec spec = strided(tensor(F32, {3, 5}), {7, 1});
            const GuardedTensor expected(spec), actual(spec, guard);
            std::byte* data = actual.view().data;
            const auto seen_at = [&](std::ptrdiff_t offset) {
                data[offset] ^= std::byte{1};
                const bool seen = !difference(actual, expected, {}).empty();
                data[offset] ^= std::byte{1};
                return seen;
            };
            CHECK(difference(actual, expected, {}).empty());
            CHECK(seen_at(0));
            CHECK(seen_at((2 * 7 + 4) * 4));
            CHECK(seen_at(5 * 4));                                              // between two rows
            CHECK(seen_at(guard == Guard::Behind ? -1 : (2 * 7 + 5) * 4 + 1));  // beyond the tensor
        }
    }

    TEST_CASE("a tolerance admits what it says and nothing else") {
        const GuardedTensor expected(tensor(F32, {4})), actual(tensor(F32, {4}));
        auto* element = reinterpret_cast<float*>(actual.view().data);
        element[2] += 0.25f;
        CHECK(!difference(actual, expected, {}).empty());
        CHECK(!difference(actual, expected, {0, 0.2}).empty());
        CHECK(difference(actual, expected, {0, 0.3}).empty());
        element[2] = std::numeric_limits<float>::quiet_NaN();
        CHECK(!difference(actual, expected, {1, 1000}).empty());
    }
}
