// Tuning with a store that fails: the best good configuration is found all the same, what others wrote stays, and one
// warning says what happened. The store's own tests are in tests/runtime/tuning_store_faults_test.cpp.
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>

#include "tests/autotune/fake_task.h"

namespace kiln::tests {
namespace {

namespace fs = std::filesystem;
using autotune::TuneResult;
using runtime::StoreOptions;
using runtime::TuningStore;
using runtime::Verdict;

std::string bytes_of(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

void write_bytes(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

void execute(const std::string& file, const std::string& sql) {
    sqlite3* handle = nullptr;
    REQUIRE(sqlite3_open(file.c_str(), &handle) == SQLITE_OK);
    REQUIRE_MESSAGE(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK, sqlite3_errmsg(handle));
    sqlite3_close(handle);
}

const std::vector<int> kValues = {30, fake::kWrong, fake::kBest, 50};

/// Tunes kValues, as a process would that opens the store anew.
TuneResult tune_with(const TemporaryFolder& folder, const std::vector<int>& values = kValues) {
    StoreOptions options;
    options.file = folder.in("tuning.db");
    TuningStore store(options);
    return autotune::tune(fake_task(values), store, fake_options(folder.in("log")));
}

/// The same, and what it printed to stderr.
std::string printed_by_tuning(const TemporaryFolder& folder, TuneResult& result) {
    const int before = ::dup(2);
    const int file = ::open(folder.in("stderr").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(file, 2);
    ::close(file);
    result = tune_with(folder);
    std::fflush(stderr);
    ::dup2(before, 2);
    ::close(before);
    return bytes_of(folder.in("stderr"));
}

void check_warned_once(const std::string& printed) {
    const std::string mark = "kiln: warning: ";
    CHECK_MESSAGE(printed.find(mark) != std::string::npos, printed);
    CHECK_MESSAGE(printed.find(mark) == printed.rfind(mark), printed);
}

std::size_t tries(const TemporaryFolder& folder) {
    const std::vector<std::string> lines = log_lines(folder.in("log"));
    return static_cast<std::size_t>(
        std::count_if(lines.begin(), lines.end(), [](const std::string& line) { return line.ends_with("try"); }));
}

}  // namespace

TEST_SUITE("tuner") {
    TEST_CASE("fault: tuning with a damaged store: it is set aside, its rows are kept, the search goes on from them") {
        const TemporaryFolder folder;
        tune_with(folder);
        const std::string whole = bytes_of(folder.in("tuning.db"));
        std::string damaged = whole;
        std::fill(damaged.begin() + 20, damaged.begin() + 40, '\x5a');  // in the header of the file
        write_bytes(folder.in("tuning.db"), damaged);
        TuneResult result;
        check_warned_once(printed_by_tuning(folder, result));
        CHECK(best_of(result) == "X=37");
        CHECK(result.failed == 1);
        CHECK(tune_with(folder).remembered == kValues.size());
    }

    TEST_CASE("fault: tuning with a store of nonsense, or a folder in its place: set aside, a new one has the rows") {
        const TemporaryFolder folder;
        SUBCASE("nonsense") {
            write_bytes(folder.in("tuning.db"), std::string(5000, 'x'));
        }
        SUBCASE("a folder") {
            fs::create_directory(folder.in("tuning.db"));
            write_bytes(folder.in("tuning.db/inside"), "kept");
        }
        TuneResult result;
        check_warned_once(printed_by_tuning(folder, result));
        CHECK(best_of(result) == "X=37");
        CHECK(tune_with(folder).remembered == kValues.size());
        CHECK(tries(folder) == kValues.size());
    }

    TEST_CASE("fault: tuning with another program's database: not a byte of it changes") {
        const TemporaryFolder folder;
        execute(folder.in("tuning.db"), "CREATE TABLE songs(title TEXT); INSERT INTO songs VALUES ('x');");
        const std::string before = bytes_of(folder.in("tuning.db"));
        TuneResult result;
        check_warned_once(printed_by_tuning(folder, result));
        CHECK(best_of(result) == "X=37");
        CHECK(bytes_of(folder.in("tuning.db")) == before);
    }

    TEST_CASE("fault: tuning with a read-only store: its rows are used, and not a byte of it changes") {
        const TemporaryFolder folder;
        tune_with(folder, {30, 50});
        ::chmod(folder.in("tuning.db").c_str(), 0444);
        const std::string before = bytes_of(folder.in("tuning.db"));
        TuneResult result;
        check_warned_once(printed_by_tuning(folder, result));
        CHECK(best_of(result) == "X=37");
        CHECK(result.remembered == 2);
        CHECK(bytes_of(folder.in("tuning.db")) == before);
    }

    TEST_CASE("fault: tuning on a full disk: the winner is found, and rows from before stay") {
        const TemporaryFolder folder;
        tune_with(folder, {30});
        const pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            ::signal(SIGXFSZ, SIG_IGN);
            const int nowhere = ::open("/dev/null", O_WRONLY);
            ::dup2(nowhere, 2);
            // The workers inherit the limit; their log is short enough for it.
            const rlimit limit{4096, 4096};
            if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(2);
            const TuneResult result = tune_with(folder);
            ::_exit(best_of(result) == "X=37" && result.remembered == 1 ? 0 : 1);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        CHECK(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == 0);
        const TuneResult after = tune_with(folder);
        CHECK(after.remembered == 1);
        CHECK(after.rows.size() == kValues.size());
    }

    TEST_CASE("fault: tuning while another process holds the store's lock: no trial is lost") {
        const TemporaryFolder folder;
        tune_with(folder, {30});
        int locked[2];
        REQUIRE(::pipe(locked) == 0);
        const pid_t holder = ::fork();
        REQUIRE(holder >= 0);
        if (holder == 0) {
            sqlite3* handle = nullptr;
            sqlite3_open(folder.in("tuning.db").c_str(), &handle);
            const int code = sqlite3_exec(handle, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr);
            if (code != SQLITE_OK || ::write(locked[1], "x", 1) != 1) ::_exit(1);
            ::usleep(2'000'000);
            ::_exit(sqlite3_exec(handle, "COMMIT", nullptr, nullptr, nullptr) == SQLITE_OK ? 0 : 1);
        }
        char byte = 0;
        REQUIRE(::read(locked[0], &byte, 1) == 1);
        CHECK(best_of(tune_with(folder)) == "X=37");
        int status = 0;
        ::waitpid(holder, &status, 0);
        CHECK(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == 0);
        CHECK(tune_with(folder).remembered == kValues.size());
    }

    TEST_CASE("fault: two tuners on one store: both end with the best, no configuration lacks its row") {
        const TemporaryFolder folder;
        const std::vector<int> values = range(20, 52);
        std::vector<pid_t> children;
        for (int tuner = 0; tuner < 2; ++tuner) {
            children.push_back(::fork());
            REQUIRE(children.back() >= 0);
            if (children.back() != 0) continue;
            const TuneResult result = tune_with(folder, values);
            ::_exit(best_of(result) == "X=37" && result.trials == values.size() ? 0 : 1);
        }
        for (const pid_t child : children) {
            int status = 0;
            ::waitpid(child, &status, 0);
            CHECK(WIFEXITED(status));
            CHECK(WEXITSTATUS(status) == 0);
        }
        StoreOptions options;
        options.file = folder.in("tuning.db");
        // Rows of two tuners that agree in everything, the millisecond included, are one.
        const std::size_t rows = TuningStore(options).rows({}).size();
        CHECK(rows >= values.size());
        CHECK(rows <= tries(folder));
        CHECK(tune_with(folder, values).remembered == values.size());
    }

    TEST_CASE("fault: a clock that jumped: rows dated far in the past or future count like others") {
        for (const std::int64_t taken_ms : {std::int64_t{1}, std::int64_t{4'102'444'800'000}}) {  // 1970, 2100
            const TemporaryFolder folder;
            const autotune::Task task = fake_task({30, fake::kBest, 50});
            StoreOptions options;
            options.file = folder.in("tuning.db");
            TuningStore store(options);
            for (const std::size_t place : {0, 1}) {
                runtime::Measurement row;
                row.problem = task.problem;
                row.device = task.device;
                row.configuration = task.stored[place];
                row.build = runtime::tuning_build();
                row.verdict = place == 0 ? Verdict::Crashed : Verdict::Verified;
                row.reason = place == 0 ? "crashed when the clock was wrong" : "";
                row.seconds = place == 0 ? 0 : fake::seconds(fake::kBest);
                row.runs = 1;
                row.taken_ms = taken_ms;
                REQUIRE(store.record(row));
            }
            const TuneResult result = autotune::tune(task, store, fake_options(folder.in("log")));
            CHECK(result.remembered == 2);
            CHECK(best_of(result) == "X=37");
            CHECK(tries(folder) == 1);
            const auto match = store.find(task.problem, task.device);
            REQUIRE(match);
            CHECK(runtime::to_string(match->measurement.configuration) == "X=37");
        }
    }
}

}  // namespace kiln::tests
