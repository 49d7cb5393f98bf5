// Random programs through interpreter and compiled code, with the tile passes and without.
#include "random_text.h"

#include "text_edits.h"

using namespace kiln;
using namespace kiln::test;

namespace {

void check_seeds(std::uint32_t first, std::uint32_t last, Variants variants = Variants::One) {
    for (std::uint32_t seed = first; seed < last; ++seed) {
        CAPTURE(seed);
        check_case(RandomText(seed).make(), variants, seed);
    }
}

/// Each edit alone, and all of them together, which is also compiled.
void check_edits(std::uint32_t seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const KernelCase original = RandomText(seed).make();
    KernelCase all = original;
    for (const TextEdit& edit : kTextEdits) {
        CAPTURE(edit.name);
        KernelCase edited = original;
        edited.text = edit.apply(original.text, random);
        CHECK((edited.text != original.text || edit.may_do_nothing));
        check_same_meaning(original, edited);
        all.text = edit.apply(all.text, random);
    }
    check_same_meaning(original, all);
    check_case(all, Variants::One, seed);
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
    TEST_CASE("random programs, fourth hundred") {
        check_seeds(300, 400);
    }
    TEST_CASE("random programs, fifth hundred") {
        check_seeds(400, 500);
    }
    TEST_CASE("random programs without each of the tile passes") {
        check_seeds(500, 510, Variants::EachPass);
    }
    TEST_CASE("ten thousand random programs, with each pass and without: first thousand" * doctest::skip()) {
        check_seeds(1000, 2000, Variants::EachPass);
    }
    TEST_CASE("ten thousand random programs, with each pass and without: second thousand" * doctest::skip()) {
        check_seeds(2000, 3000, Variants::EachPass);
    }
    TEST_CASE("ten thousand random programs, with each pass and without: third thousand" * doctest::skip()) {
        check_seeds(3000, 4000, Variants::EachPass);
    }
    TEST_CASE("ten thousand random programs, with each pass and without: fourth thousand" * doctest::skip()) {
        check_seeds(4000, 5000, Variants::EachPass);
    }
    TEST_CASE("ten thousand random programs, with each pass and without: fifth thousand" * doctest::skip()) {
        check_seeds(5000, 6000, Variants::EachPass);
    }
    TEST_CASE("ten thousand random programs, with each pass and without: sixth thousand" * doctest::skip()) {
        check_seeds(6000, 7000, Variants::EachPass);
    }
    TEST_CASE("ten thousand random programs, with each pass and without: seventh thousand" * doctest::skip()) {
        check_seeds(7000, 8000, Variants::EachPass);
    }
    TEST_CASE("ten thousand random programs, with each pass and without: eighth thousand" * doctest::skip()) {
        check_seeds(8000, 9000, Variants::EachPass);
    }
    TEST_CASE("ten thousand random programs, with each pass and without: ninth thousand" * doctest::skip()) {
        check_seeds(9000, 10000, Variants::EachPass);
    }
    TEST_CASE("ten thousand random programs, with each pass and without: tenth thousand" * doctest::skip()) {
        check_seeds(10000, 11000, Variants::EachPass);
    }
    TEST_CASE("random programs mean the same in other words") {
        for (std::uint32_t seed = 2000; seed < 2060; ++seed) check_edits(seed);
    }
    TEST_CASE("thousands of random programs mean the same in other words" * doctest::skip()) {
        for (std::uint32_t seed = 20000; seed < 23000; ++seed) check_edits(seed);
    }
}
