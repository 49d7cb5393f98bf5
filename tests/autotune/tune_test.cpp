#include "autotune/tune.h"

#include <algorithm>
#include <set>

#include "tests/autotune/fake_task.h"

namespace kiln::tests {
namespace {

using autotune::TuneOptions;
using autotune::TuneResult;
using runtime::TuningStore;
using runtime::Verdict;

TuneResult tune_in(TuningStore& store, const TemporaryFolder& folder, const std::vector<int>& values,
                   const autotune::SearchOptions& search = {}) {
    TuneOptions options = fake_options(folder.in("log"));
    options.search = search;
    return autotune::tune(fake_task(values), store, options);
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("tune: every configuration once, the best confirmed before it may win") {
        const TemporaryFolder folder;
        TuningStore store({.off = true});
        const TuneResult result = tune_in(store, folder, range(20, 50));
        CHECK(best_of(result) == "X=37");
        CHECK(result.trials == 30);
        CHECK(result.remembered == 0);
        const std::vector<std::string> lines = log_lines(folder.in("log"));
        CHECK(std::count(lines.begin(), lines.end(), "37 try") == 1);
        CHECK(std::count(lines.begin(), lines.end(), "37 confirm") == 1);
        CHECK(std::set<std::string>(lines.begin(), lines.end()).size() == lines.size());
    }

    TEST_CASE("tune: a second run with the same store does no trial") {
        const TemporaryFolder folder;
        TuningStore store({.off = true});
        const TuneResult first = tune_in(store, folder, range(20, 50));
        const std::size_t lines = log_lines(folder.in("log")).size();
        const TuneResult second = tune_in(store, folder, range(20, 50));
        CHECK(log_lines(folder.in("log")).size() == lines);
        CHECK(second.remembered == 30);
        CHECK(best_of(second) == best_of(first));
    }

    TEST_CASE("tune: no trials at all reads the store, and starts no process") {
        const TemporaryFolder folder;
        TuningStore store({.off = true});
        CHECK_FALSE(tune_in(store, folder, range(20, 50), {.trials = 0}).best);
        tune_in(store, folder, {30, 37});
        TuneOptions options = fake_options(folder.in("log"));
        options.search.trials = 0;
        options.worker_command = {"/nonexistent/kiln"};
        const TuneResult result = autotune::tune(fake_task(range(20, 50)), store, options);
        CHECK(best_of(result) == "X=37");
        CHECK(result.trials == 0);
    }

    TEST_CASE("tune: the same seed gives the same trials in the same order") {
        std::vector<std::vector<std::string>> logs;
        for (int run = 0; run < 2; ++run) {
            const TemporaryFolder folder;
            TuningStore store({.off = true});
            tune_in(store, folder, range(0, 60), {.seed = 11, .trials = 20});
            logs.push_back(log_lines(folder.in("log")));
        }
        CHECK(logs[0] == logs[1]);
        CHECK(logs[0].size() >= 20);
    }

    TEST_CASE("tune: a failure is remembered and not tried again") {
        const TemporaryFolder folder;
        TuningStore store({.off = true});
        tune_in(store, folder, {fake::kCrashes, 40});
        const TuneResult again = tune_in(store, folder, {fake::kCrashes, 40});
        const std::vector<std::string> lines = log_lines(folder.in("log"));
        CHECK(std::count(lines.begin(), lines.end(), std::to_string(fake::kCrashes) + " try") == 1);
        CHECK(verdict_of(again, fake::kCrashes).first == Verdict::Crashed);
        CHECK(best_of(again) == "X=40");
    }

    TEST_CASE("tune: a row that was never checked does not count (K15)") {
        const TemporaryFolder folder;
        TuningStore store({.off = true});
        const autotune::Task task = fake_task({40, 41});
        runtime::Measurement row;
        row.problem = task.problem;
        row.device = task.device;
        row.configuration = task.stored[1];
        row.build = runtime::tuning_build();
        row.verdict = Verdict::Unchecked;
        row.seconds = 1e-6;
        row.runs = 1;
        row.taken_ms = runtime::now_ms();
        store.record(row);
        const TuneResult result = tune_in(store, folder, {40, 41});
        CHECK(best_of(result) == "X=40");
        CHECK(result.remembered == 0);
    }

    TEST_CASE("tune: what is excluded by computation is recorded with its reason and never tried") {
        const TemporaryFolder folder;
        TuningStore store({.off = true});
        autotune::Task task = fake_task({37, 38});
        task.candidates.list[0].exclusion = "phase 1 needs too much";
        const TuneResult result = autotune::tune(task, store, fake_options(folder.in("log")));
        CHECK(best_of(result) == "X=38");
        CHECK(result.excluded == 1);
        const auto rows = store.measurements(task.problem, task.device);
        CHECK(std::any_of(rows.begin(), rows.end(), [](const runtime::Measurement& row) {
            return row.verdict == Verdict::Excluded && row.reason == "phase 1 needs too much";
        }));
    }

    TEST_CASE("tune: shards, merged, have the best of the whole") {
        const TemporaryFolder folder;
        TuningStore whole({.off = true}), merged({.off = true});
        for (std::size_t shard = 0; shard < 4; ++shard) {
            TuningStore part({.off = true});
            const TuneResult result = tune_in(part, folder, range(20, 50), {.shard = {shard, 4}});
            CHECK(result.trials >= 7);
            std::stringstream lines;
            part.export_lines(lines);
            merged.merge_lines(lines, "part");
        }
        const std::size_t tries = log_lines(folder.in("log")).size();
        const TuneResult together = tune_in(merged, folder, range(20, 50));
        CHECK(together.remembered == 30);
        CHECK(log_lines(folder.in("log")).size() == tries);
        CHECK(best_of(together) == best_of(tune_in(whole, folder, range(20, 50))));
    }

    TEST_CASE("tune: a budget in seconds ends it") {
        const TemporaryFolder folder;
        TuningStore store({.off = true});
        TuneOptions options = fake_options(folder.in("log"));
        options.seconds = 0.0;
        CHECK(autotune::tune(fake_task(range(20, 50)), store, options).trials == 0);
    }

    TEST_CASE("tune: progress names each trial and the best so far") {
        const TemporaryFolder folder;
        TuningStore store({.off = true});
        std::vector<autotune::TuneProgress> seen;
        autotune::tune(fake_task({40, fake::kWrong, 37}), store, fake_options(folder.in("log")),
                       [&](const autotune::TuneProgress& progress) { seen.push_back(progress); });
        REQUIRE(seen.size() == 3);
        CHECK(seen[0].trial == 1);
        CHECK(seen[0].trials == 3);
        CHECK(seen[1].verdict == Verdict::Wrong);
        CHECK(seen[1].best == "X=40");
        CHECK(seen[2].best == "X=37");
    }
}

}  // namespace kiln::tests
