#include "autotune/measure.h"

#include <doctest/doctest.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <thread>

#include "autotune/statistics.h"

namespace kiln::autotune {
namespace {

/// Works until the thread has used so much processor time.
void work(double seconds) {
    timespec start{}, now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while (static_cast<double>(now.tv_sec - start.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec - start.tv_nsec) <
             seconds);
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("measure: a run of known length") {
        const Timing timing = measure([] { work(2e-3); }, nullptr, {});
        CHECK(timing.seconds >= 2e-3);
        CHECK(timing.runs >= 5);
        if (!timing.contended) CHECK(timing.seconds < 20e-3);
    }

    TEST_CASE("measure: waiting for a processor is marked as contention") {
        // A run that sleeps has the wall time of one that waits, and as little processor time.
        const Timing timing = measure([] { ::usleep(2000); }, nullptr, {.most = 10, .seconds = 0.1});
        CHECK(timing.contended);
    }

    TEST_CASE("measure: restore comes before every run, and is not timed") {
        int restored = 0, runs = 0;
        const Timing timing = measure([&] { CHECK(restored == ++runs); }, [&] { ++restored, work(1e-3); }, {.most = 8});
        CHECK(timing.seconds < 0.5e-3);
    }

    TEST_CASE("measure: threads that wait for each other's processor are contention, though the caller is busy") {
        if (std::thread::hardware_concurrency() < 2) return;
        const auto crowd = [] {
            const auto pinned = [] {
                cpu_set_t one;
                CPU_ZERO(&one);
                CPU_SET(0, &one);
                ::sched_setaffinity(0, sizeof one, &one);
                work(4e-3);
            };
            std::thread first(pinned), second(pinned);
            work(10e-3);
            first.join();
            second.join();
        };
        CHECK(measure(crowd, nullptr, {.most = 10, .seconds = 0.1}).contended);
    }

    TEST_CASE("measure: a hopeless run is timed no more often than it takes to be sure") {
        int runs = 0;
        const Timing timing = measure([&] { ++runs, work(2e-3); }, nullptr, {.give_up_above = 1e-3});
        CHECK(runs >= 2);
        CHECK(runs <= 3);
        CHECK(timing.runs == 1);
        CHECK(timing.seconds >= 2e-3);
    }

    TEST_CASE("measure: one long run, the machine's fault, is not held against the others") {
        int runs = 0;
        const auto run = [&] { work(++runs == 1 ? 50e-3 : 1e-3); };
        const Timing timing = measure(run, nullptr, {.seconds = 0.2, .give_up_above = 20e-3});
        CHECK(timing.runs >= 5);
        CHECK(timing.seconds < 20e-3);
    }

    TEST_CASE("measure: the limit in time holds") {
        int runs = 0;
        measure([&] { ++runs, work(1e-3); }, nullptr, {.most = 100000, .precision = 0, .seconds = 0.05});
        CHECK(runs < 60);
    }

    TEST_CASE("summarise: median and interval by order statistics") {
        const Timing odd = summarise({5, 1, 3});
        CHECK(odd.seconds == 3);
        const Timing even = summarise({4, 1, 2, 3});
        CHECK(even.seconds == 2.5);
        std::vector<double> many(100, 1.0);
        many[0] = 50;  // an outlier moves neither
        const Timing steady = summarise(many);
        CHECK(steady.seconds == 1);
        CHECK(steady.spread_seconds == 0);
    }

    TEST_CASE("statistics: rank correlation") {
        CHECK(*rank_correlation({1, 2, 3, 4}, {10, 20, 30, 40}) == doctest::Approx(1));
        CHECK(*rank_correlation({1, 2, 3, 4}, {4, 3, 2, 1}) == doctest::Approx(-1));
        CHECK_FALSE(rank_correlation({1, 1, 1}, {1, 2, 3}));
        CHECK_FALSE(rank_correlation({1, 2}, {1, 2}));
        CHECK(*pick_quality({2, 1, 3}, {5, 10, 20}) == doctest::Approx(0.5));
    }
}

}  // namespace kiln::autotune
