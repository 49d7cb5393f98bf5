// Random programs through interpreter and compiled code, with the tile passes and without.
#include "random_text.h"

using namespace kiln;
using namespace kiln::test;

namespace {

void check_seeds(std::uint32_t first, std::uint32_t last, Variants variants = Variants::One) {
    for (std::uint32_t seed = first; seed < last; ++seed) {
        CAPTURE(seed);
        check_case(RandomText(seed).make(), variants, seed);
    }
}

}  // namespace

TEST_SUITE("differential") {
    TEST_CASE("random programs, first hundred") {
        check_seeds(0, 100);
    }
    TEST_CASE("random programs, second hundred") {
        check_seeds(100, 200);
    }
    TEST_CASE("random programs, third hundred") {
        check_seeds(200, 300);
    }
    TEST_CASE("thousands of random programs" * doctest::skip()) {
        check_seeds(1000, 5000, Variants::All);
    }
}
