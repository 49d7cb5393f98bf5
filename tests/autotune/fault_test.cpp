// Trials that crash, hang, lie or refuse: the search ends with the best good configuration, and each fault is named.
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "kiln/error.hpp"
#include "tests/autotune/fake_task.h"

namespace kiln::tests {
namespace {

using autotune::TuneResult;
using runtime::TuningStore;
using runtime::Verdict;

/// Tunes everything once.
TuneResult tune_all(const std::vector<int>& values, double trial_seconds = 20) {
    const TemporaryFolder folder;
    TuningStore store({.off = true});
    autotune::TuneOptions options = fake_options(folder.in("log"));
    options.trial_seconds = trial_seconds;
    return autotune::tune(fake_task(values), store, options);
}

struct Fault {
    int x;
    Verdict verdict;
    const char* reason;  ///< a part of it
};
// One row a kind of fault. Each fake is ten times faster than any good configuration.
const Fault kFaults[] = {
    {fake::kAbortsInCompiler, Verdict::Crashed, "SIGABRT (Aborted) while compiling"},
    {fake::kCrashes, Verdict::Crashed, "SIGSEGV (Segmentation fault) while verifying"},
    {fake::kRefusedByCompiler, Verdict::FailedToCompile, "the compiler refused it"},
    {fake::kWrong, Verdict::Wrong, "`y[7]`: 1, reference 2"},
    {fake::kWrongOnSecondInput, Verdict::Wrong, "on a second input: `y[7]`"},
    {fake::kTooLarge, Verdict::Refused, "out of memory"},
    {fake::kLeaves, Verdict::Crashed, "ended with exit code 0 while verifying"},
    {fake::kBabbles, Verdict::Crashed, "no sensible answer while verifying"},
    {fake::kLosesDevice, Verdict::Refused, "the device was lost"},
};

}  // namespace

TEST_SUITE("tuner") {
    TEST_CASE(
        "fault: trials: a crash, a lie, a refusal, a lost device: each is named, and the best good configuration wins "
        "(K19 to K22)") {
        for (const Fault& fault : kFaults) {
            CAPTURE(fault.x);
            const TuneResult result = tune_all({30, fault.x, fake::kBest, 50});
            CHECK(best_of(result) == "X=37");
            CHECK(result.failed == 1);
            const auto [verdict, reason] = verdict_of(result, fault.x);
            CHECK(verdict == fault.verdict);
            CHECK_MESSAGE(reason.find(fault.reason) != std::string::npos, reason);
        }
    }

    TEST_CASE("fault: trials: a trial that hangs is stopped after its limit, alone (K23)") {
        const auto start = std::chrono::steady_clock::now();
        const TuneResult result = tune_all({30, fake::kHangs, fake::kBest}, 1.5);
        CHECK(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < 20);
        CHECK(best_of(result) == "X=37");
        const auto [verdict, reason] = verdict_of(result, fake::kHangs);
        CHECK(verdict == Verdict::TimedOut);
        CHECK(reason == "took more than 1.5 s while verifying");
    }

    TEST_CASE("fault: trials: one of five aborts, one throws, one does not build (K21)") {
        const TuneResult result =
            tune_all({fake::kAbortsInCompiler, fake::kRefusedByCompiler, fake::kLeaves, fake::kBest, 40});
        CHECK(best_of(result) == "X=37");
        CHECK(result.trials == 5);
        CHECK(result.failed == 3);
    }

    TEST_CASE("fault: trials: with nothing but faults there is no winner, and no crash") {
        const TuneResult result = tune_all({fake::kAbortsInCompiler, fake::kWrong, fake::kTooLarge});
        CHECK_FALSE(result.best);
        CHECK(result.failed == 3);
    }

    TEST_CASE("fault: trials: a reference that fails ends it with its reason") {
        CHECK_THROWS_WITH_AS(tune_all({fake::kReferenceFails, fake::kBest}),
                             doctest::Contains("the reference cannot be run"), Error);
    }

    TEST_CASE("fault: trials: a worker that does not start is an error that names it") {
        TuningStore store({.off = true});
        autotune::TuneOptions options = fake_options("unused");
        options.worker_command = {"/nonexistent/kiln"};
        CHECK_THROWS_WITH_AS(autotune::tune(fake_task({1}), store, options), doctest::Contains("/nonexistent/kiln"),
                             Error);
        options.worker_command = {"/bin/true"};
        CHECK_THROWS_WITH_AS(autotune::tune(fake_task({1}), store, options),
                             doctest::Contains("ended with exit code 0"), Error);
        options.worker_command = {"/bin/cat"};
        CHECK_THROWS_WITH_AS(autotune::tune(fake_task({1}), store, options), doctest::Contains("no sensible answer"),
                             Error);
    }

    TEST_CASE("fault: trials: killed at any of 50 moments, it goes on where it was") {
        const TemporaryFolder folder;
        const std::string log = folder.in("log");
        const std::vector<int> values = range(20, 52);
        const auto run = [&] {
            runtime::StoreOptions store_options;
            store_options.file = folder.in("tuning.db");
            TuningStore store(store_options);
            return autotune::tune(fake_task(values), store, fake_options(log));
        };
        std::size_t kills = 0;
        for (; kills < 50; ++kills) {
            const pid_t child = ::fork();
            REQUIRE(child >= 0);
            if (child == 0) {
                run();
                ::_exit(0);
            }
            ::usleep(static_cast<useconds_t>(1000 * (1 + kills * 7 % 50)));
            ::kill(child, SIGKILL);
            int status = 0;
            ::waitpid(child, &status, 0);
            if (WIFEXITED(status)) break;
        }
        const TuneResult result = run();
        CHECK(best_of(result) == "X=37");
        CHECK(result.trials == values.size());
        CHECK(result.rows.size() == values.size());
        // What was lost is one trial a kill, at most.
        const std::vector<std::string> lines = log_lines(log);
        const auto tries =
            std::count_if(lines.begin(), lines.end(), [](const auto& line) { return line.ends_with("try"); });
        CHECK(static_cast<std::size_t>(tries) <= values.size() + kills);
        CHECK(std::set<std::string>(lines.begin(), lines.end()).size() >= values.size());
    }
}

}  // namespace kiln::tests
