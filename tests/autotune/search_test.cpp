#include "autotune/search.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>

namespace kiln::autotune {
namespace {

using codegen::configure::Configuration;

constexpr std::int64_t kSide = 12;

/// X and Y from 0 to 11.
Space grid_space() {
    std::vector<Configuration> list;
    for (std::int64_t x = 0; x < kSide; ++x) {
        for (std::int64_t y = 0; y < kSide; ++y)
            list.push_back({{{"X", ir::Scalar::int64(x)}, {"Y", ir::Scalar::int64(y)}}, {}});
    }
    return Space(std::move(list));
}

double bowl(const Space& space, std::size_t i, double x, double y) {
    const auto& places = space.places(i);
    return 1e-3 * (1 + 0.05 * std::pow(static_cast<double>(places[0]) - x, 2) +
                   0.03 * std::pow(static_cast<double>(places[1]) - y, 2));
}

/// The model is wrong about where the best lies, but not by much.
std::vector<double> predictions(const Space& space) {
    std::vector<double> list;
    for (std::size_t i = 0; i < space.size(); ++i) list.push_back(bowl(space, i, 5, 6));
    return list;
}

std::vector<std::size_t> run(const Space& space, const SearchOptions& options) {
    Search search(space, predictions(space), options);
    std::vector<std::size_t> order;
    while (const auto next = search.next()) {
        order.push_back(*next);
        search.note(*next, bowl(space, *next, 8, 3));
    }
    return order;
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("search: the same seed gives the same trials, another seed others") {
        const Space space = grid_space();
        CHECK(run(space, {.seed = 7}) == run(space, {.seed = 7}));
        CHECK(run(space, {.seed = 7}) != run(space, {.seed = 8}));
    }

    TEST_CASE("search: never more trials than configurations, and none twice (K27)") {
        const Space space = grid_space();
        for (const std::size_t trials :
             {std::size_t{0}, std::size_t{1}, std::size_t{5}, space.size(), std::size_t{97600}}) {
            for (const bool exhaustive : {false, true}) {
                const auto order = run(space, {.trials = trials, .exhaustive = exhaustive});
                CHECK(order.size() == std::min(trials, space.size()));
                CHECK(std::set<std::size_t>(order.begin(), order.end()).size() == order.size());
            }
        }
    }

    TEST_CASE("search: it begins with the model's best") {
        const Space space = grid_space();
        const auto order = run(space, {.trials = 16});
        CHECK(space.places(order[0]) == std::vector<std::size_t>{5, 6});
    }

    TEST_CASE("search: it finds a best that the model has elsewhere, with few of the trials") {
        const Space space = grid_space();
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            double best = 1;
            for (const std::size_t i : run(space, {.seed = seed, .trials = 32}))
                best = std::min(best, bowl(space, i, 8, 3));
            CHECK_MESSAGE(1e-3 / best > 0.97, "seed ", seed, ": ", 1e-3 / best);
        }
    }

    TEST_CASE("search: excluded configurations are never proposed") {
        const Space space = grid_space();
        std::vector<double> seconds = predictions(space);
        for (std::size_t i = 0; i < space.size(); i += 2) seconds[i] = std::numeric_limits<double>::infinity();
        Search search(space, seconds, {});
        std::size_t count = 0;
        while (const auto next = search.next()) {
            CHECK(*next % 2 == 1);
            search.note(*next, std::nullopt);
            ++count;
        }
        CHECK(count == space.size() / 2);
    }

    TEST_CASE("search: shards are disjoint and together the space") {
        const Space space = grid_space();
        std::set<std::size_t> all;
        std::size_t sum = 0;
        for (std::size_t shard = 0; shard < 5; ++shard) {
            const auto order = run(space, {.shard = {shard, 5}});
            sum += order.size();
            all.insert(order.begin(), order.end());
        }
        CHECK(sum == space.size());
        CHECK(all.size() == space.size());
    }

    TEST_CASE("search: patience ends it, and only when nothing is gained") {
        const Space space = grid_space();
        Search search(space, predictions(space), {.patience = 10});
        std::size_t count = 0;
        while (const auto next = search.next()) {
            search.note(*next, 1.0);
            ++count;
        }
        CHECK(search.lost_patience());
        CHECK(count <= 20);
    }

    TEST_CASE("space: neighbours differ in one tunable, nearest first") {
        const Space space = grid_space();
        const auto middle = space.find({{{"X", ir::Scalar::int64(5)}, {"Y", ir::Scalar::int64(5)}}, {}});
        REQUIRE(middle);
        CHECK(space.neighbours(*middle, 1).size() == 4);
        CHECK(space.neighbours(*middle, 2).size() == 8);
        CHECK(space.unconditioned_size() == 144);
    }

    TEST_CASE("space: a configuration given twice is one") {
        const auto with_x = [](std::int64_t x) { return Configuration{{{"X", ir::Scalar::int64(x)}}, {}}; };
        const Space space({with_x(1), with_x(2), with_x(1)});
        CHECK(space.size() == 2);
    }
}

}  // namespace kiln::autotune
