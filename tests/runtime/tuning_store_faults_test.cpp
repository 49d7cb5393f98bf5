// The tuning store against the world: damage, foreign files, folders without permission, disks without room or locks,
// many processes, and processes killed at any moment. Whatever happens costs one warning and no more.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "runtime/tuning_store.h"
#include "store_support.h"

namespace kiln::runtime {
namespace {

namespace fs = std::filesystem;

Measurement row_number(int number) {
    return measured(gemm_problem(512), blocks(number, 1), 1e-3 + 1e-6 * number, Verdict::Verified, number);
}

/// A database with ten rows, and no connection to it.
std::string make_database(const std::string& file) {
    TuningStore store(store_in(file));
    for (int i = 0; i < 10; ++i) store.record(row_number(i));
    return file;
}

/// The store must serve and keep rows, in the file or in memory; returns what it printed.
std::string check_works(const StoreOptions& options) {
    return printed_by([&] {
        TuningStore store(options);
        store.find(gemm_problem(512), cpu_device());
        store.record(row_number(99));
        store.record(measured(gemm_problem(77), blocks(77, 1), 1e-3));
        const auto match = store.find(gemm_problem(77), cpu_device());
        REQUIRE(match);
        CHECK(match->kind == MatchKind::Exact);
        CHECK(to_string(match->measurement.configuration) == "BM=77, BN=1");
    });
}

std::vector<std::string> set_aside_in(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) {
        const std::string name = entry.path().filename();
        const bool part = name.ends_with("-wal") || name.ends_with("-shm") || name.ends_with("-journal");
        if (name.find(".set-aside-") != std::string::npos && !part) names.push_back(name);
    }
    return names;
}

/// Runs `action(index)` in processes of their own; how many of them ended well.
template <class Action>
int in_processes(int count, const Action& action) {
    std::vector<pid_t> children;
    for (int i = 0; i < count; ++i) {
        const pid_t child = ::fork();
        if (child == 0) {
            bool well = false;
            try {
                well = action(i);
            } catch (...) {
            }
            ::_exit(well ? 0 : 1);
        }
        children.push_back(child);
    }
    int well = 0;
    for (const pid_t child : children) {
        int status = 0;
        ::waitpid(child, &status, 0);
        well += WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 1 : 0;
    }
    return well;
}

void execute(const std::string& file, const std::string& sql) {
    sqlite3* handle = nullptr;
    REQUIRE(sqlite3_open(file.c_str(), &handle) == SQLITE_OK);
    CHECK_MESSAGE(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK, sqlite3_errmsg(handle));
    sqlite3_close(handle);
}

TEST_SUITE("tuner") {
    TEST_CASE("fault: tuning store: four processes record 25 rows each, and all 100 stay") {
        const TemporaryFolder folder;
        const int well = in_processes(4, [&](int writer) {
            TuningStore store(store_in(folder.in("tuning.db")));
            bool kept = true;
            for (int i = 0; i < 25; ++i) kept &= store.record(row_number(writer * 25 + i));
            return kept;
        });
        CHECK(well == 4);
        TuningStore store(store_in(folder.in("tuning.db")));
        CHECK(store.rows({}).size() == 100);
        CHECK(set_aside_in(folder.path()).empty());
    }

    TEST_CASE("fault: tuning store: writers killed at any of 200 moments lose nothing that was recorded") {
        const TemporaryFolder folder;
        std::size_t before = 0, total = 0;
        for (int round = 0; round < 200; ++round) {
            int acknowledged[2];
            REQUIRE(::pipe(acknowledged) == 0);
            const pid_t child = ::fork();
            if (child == 0) {
                TuningStore store(store_in(folder.in("tuning.db")));
                for (int i = 0;; ++i) {
                    const bool kept = store.record(row_number(round * 100000 + i));
                    if (!kept || ::write(acknowledged[1], "x", 1) != 1) ::_exit(1);
                }
            }
            ::close(acknowledged[1]);
            ::usleep(static_cast<useconds_t>(2000 + 173 * (round % 50)));
            ::kill(child, SIGKILL);
            ::waitpid(child, nullptr, 0);
            std::size_t written = 0;
            char byte = 0;
            while (::read(acknowledged[0], &byte, 1) == 1) ++written;
            ::close(acknowledged[0]);
            TuningStore store(store_in(folder.in("tuning.db")));
            const std::size_t now = store.rows({}).size();
            CHECK(now >= before + written);
            total += written;
            before = now < 100 ? now : now - store.prune({});
        }
        CHECK(total > 0);
        CHECK(set_aside_in(folder.path()).empty());
    }

    TEST_CASE("fault: tuning store: eight processes begin in an empty folder") {
        const TemporaryFolder folder;
        const auto work = [&](int writer) {
            TuningStore store(store_in(folder.in("new/tuning.db")));
            return store.record(row_number(writer)) && store.find(gemm_problem(512), cpu_device()) != nullptr;
        };
        CHECK(in_processes(8, work) == 8);
        {
            TuningStore store(store_in(folder.in("new/tuning.db")));
            CHECK(store.rows({}).size() == 8);
        }
        SUBCASE("and again when the database is random bytes: one sets it aside, all go on") {
            std::mt19937 random(3);
            std::string bytes(20000, '\0');
            for (char& byte : bytes) byte = static_cast<char>(random());
            write_bytes(folder.in("new/tuning.db"), bytes);
            const std::string printed = printed_by([&] { CHECK(in_processes(8, work) == 8); });
            CHECK(warnings_in(printed) <= 8);
            CHECK(set_aside_in(folder.in("new")).size() == 1);
            TuningStore store(store_in(folder.in("new/tuning.db")));
            CHECK(store.rows({}).size() == 8);
        }
    }

    TEST_CASE("fault: tuning store: cut at any length, the file costs one warning and only the rows that were cut off") {
        const TemporaryFolder folder;
        const std::string whole = read_bytes(make_database(folder.in("whole.db")));
        for (std::size_t length = 0; length < whole.size(); length += length < 300 ? 23 : 1021) {
            const TemporaryFolder place;
            write_bytes(place.in("tuning.db"), whole.substr(0, length));
            CHECK(warnings_in(check_works(store_in(place.in("tuning.db")))) <= 1);
            TuningStore store(store_in(place.in("tuning.db")));
            CHECK(store.rows({}).size() >= 2);
            CHECK(store.is_on_disk());
        }
    }

    TEST_CASE("fault: tuning store: with a bit flipped, no row is served that was not recorded") {
        const TemporaryFolder folder;
        const std::string whole = read_bytes(make_database(folder.in("whole.db")));
        std::set<std::string> recorded;
        for (int i = 0; i < 10; ++i) recorded.insert(to_line(row_number(i)));
        for (std::size_t at = 0; at < whole.size(); at += 487) {
            const TemporaryFolder place;
            std::string damaged = whole;
            damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
            write_bytes(place.in("tuning.db"), damaged);
            const std::string printed = printed_by([&] {
                TuningStore store(store_in(place.in("tuning.db")));
                const auto match = store.find(gemm_problem(512), cpu_device());
                if (match != nullptr) CHECK(recorded.contains(to_line(match->measurement)));
                for (const Measurement& row : store.rows({})) CHECK(recorded.contains(to_line(row)));
                for (const Measurement& row : store.measurements(gemm_problem(512), cpu_device())) {
                    CHECK(recorded.contains(to_line(row)));
                }
                store.record(row_number(99));
                CHECK(store.rows({}).size() >= 1);
            });
            CHECK(warnings_in(printed) <= 1);
        }
    }

    TEST_CASE("fault: tuning store: pages overwritten in the middle: what can be read is kept") {
        const TemporaryFolder folder;
        std::string bytes;
        {
            TuningStore store(store_in(folder.in("tuning.db")));
            std::vector<Measurement> rows;
            for (int i = 0; i < 200; ++i) rows.push_back(row_number(i));
            store.record(rows);
        }
        bytes = read_bytes(folder.in("tuning.db"));
        REQUIRE(bytes.size() > 100000);
        for (std::size_t at = bytes.size() - 8192; at < bytes.size(); ++at) bytes[at] = static_cast<char>(at * 31);
        write_bytes(folder.in("tuning.db"), bytes);
        const std::string printed = printed_by([&] {
            TuningStore store(store_in(folder.in("tuning.db")));
            store.find(gemm_problem(512), cpu_device());
            CHECK(store.record(row_number(1000)));
            CHECK(store.rows({}).size() > 20);
        });
        CHECK(warnings_in(printed) <= 1);
    }

    TEST_CASE("fault: tuning store: other things in the file's place are set aside, a folder as well") {
        const TemporaryFolder folder;
        SUBCASE("text") {
            write_bytes(folder.in("tuning.db"), "these are \xff\xfe notes, and no database at all\n");
        }
        SUBCASE("a folder") {
            fs::create_directory(folder.in("tuning.db"));
            write_bytes(folder.in("tuning.db/inside"), "kept");
        }
        const std::string printed = check_works(store_in(folder.in("tuning.db")));
        CHECK(warnings_in(printed) == 1);
        CHECK(set_aside_in(folder.path()).size() == 1);
        CHECK(printed.find(set_aside_in(folder.path())[0]) != std::string::npos);
        TuningStore store(store_in(folder.in("tuning.db")));
        CHECK(store.rows({}).size() == 2);
    }

    TEST_CASE("fault: tuning store: a sound database of another program or of a newer Kiln is left alone and not used") {
        const TemporaryFolder folder;
        const std::string file = folder.in("tuning.db");
        SUBCASE("another program's") {
            execute(file, "CREATE TABLE songs(title TEXT); INSERT INTO songs VALUES ('x');");
        }
        SUBCASE("a newer Kiln's") {
            make_database(file);
            execute(file, "PRAGMA user_version = 1000");
        }
        const std::string before = read_bytes(file);
        CHECK(warnings_in(check_works(store_in(file))) == 1);
        CHECK(read_bytes(file) == before);
        CHECK(set_aside_in(folder.path()).empty());
    }

    TEST_CASE("fault: tuning store: a database with an older schema is brought up to date, with its rows") {
        const TemporaryFolder folder;
        const std::string file = folder.in("tuning.db");
        execute(file,
                "CREATE TABLE measurement(row TEXT); PRAGMA application_id = 1263291988; PRAGMA user_version = 0;");
        for (int i = 0; i < 5; ++i) {
            std::string line = to_line(row_number(i));
            execute(file, "INSERT INTO measurement VALUES ('" + line + "')");
        }
        execute(file, "INSERT INTO measurement VALUES ('no row')");
        CHECK(check_works(store_in(file)).empty());
        TuningStore store(store_in(file));
        CHECK(store.rows({}).size() == 7);
        CHECK(store.find(gemm_problem(512), cpu_device())->measurement.seconds == row_number(0).seconds);
    }

    TEST_CASE("fault: tuning store: a disk whose locks fail, or never return, is not used") {
        const TemporaryFolder folder;
        StoreOptions options = store_in(folder.in("tuning.db"));
        SUBCASE("no locks") {
            options.lock_probe = [](int) { return ENOLCK; };
        }
        SUBCASE("an error") {
            options.lock_probe = [](int) { return EIO; };
        }
        SUBCASE("a lock that never returns") {
            options.lock_probe = [](int) {
                for (;;) ::pause();
                return 0;
            };
        }
        const auto start = std::chrono::steady_clock::now();
        CHECK(warnings_in(check_works(options)) == 1);
        CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
        CHECK(!fs::exists(folder.in("tuning.db")));
    }

    TEST_CASE("fault: tuning store: a lock that another process holds is waited for") {
        const TemporaryFolder folder;
        const std::string file = make_database(folder.in("tuning.db"));
        sqlite3* handle = nullptr;
        REQUIRE(sqlite3_open(file.c_str(), &handle) == SQLITE_OK);
        REQUIRE(sqlite3_exec(handle, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) == SQLITE_OK);
        TuningStore store(store_in(file));
        CHECK(store.find(gemm_problem(512), cpu_device()) != nullptr);  // readers do not wait
        std::thread holder([&] {
            ::usleep(300000);
            sqlite3_exec(handle, "COMMIT", nullptr, nullptr, nullptr);
        });
        CHECK(store.record(row_number(50)));
        holder.join();
        sqlite3_close(handle);
    }

    TEST_CASE("fault: tuning store: no place for it is one warning, and none while nothing is recorded") {
        const ScopedEnvironment clean{{"KILN_TUNING", nullptr}, {"XDG_DATA_HOME", nullptr}, {"HOME", nullptr}};
        const TemporaryFolder folder;
        StoreOptions options = StoreOptions::from_environment();
        SUBCASE("no HOME") {}
        SUBCASE("a folder that cannot be made") {
            options = store_in("/proc/kiln-tuning/tuning.db");
        }
        SUBCASE("below a file") {
            write_bytes(folder.in("file"), "");
            options = store_in(folder.in("file/kiln/tuning.db"));
        }
        SUBCASE("a folder without permission") {
            fs::permissions(folder.path(), fs::perms(0555));
            options = store_in(folder.in("tuning.db"));
            if (::geteuid() == 0) return;  // root may write there
        }
        CHECK(printed_by([&] {
                  TuningStore store(options);
                  CHECK(store.find(gemm_problem(512), cpu_device()) == nullptr);
              }).empty());
        CHECK(warnings_in(check_works(options)) == 1);
    }

    TEST_CASE("fault: tuning store: off keeps rows in memory and says nothing") {
        StoreOptions options;
        options.off = true;
        CHECK(check_works(options).empty());
    }

    TEST_CASE("fault: tuning store: a full disk is one warning, and rows stay in memory") {
        const TemporaryFolder folder;
        const std::string file = make_database(folder.in("tuning.db"));
        const int well = in_processes(1, [&](int) {
            ::signal(SIGXFSZ, SIG_IGN);
            const rlimit limit{4096, 4096};
            if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
            // stderr may be a file that is larger than that by now
            const int nowhere = ::open("/dev/null", O_WRONLY);
            ::dup2(nowhere, 2);
            TuningStore store(store_in(file));
            bool kept = false;
            for (int i = 100; i < 120; ++i) kept |= store.record(row_number(i));
            const bool served = store.find(gemm_problem(512), cpu_device()) != nullptr;
            return !kept && served && store.rows({}).size() == 30;
        });
        CHECK(well == 1);
        TuningStore store(store_in(file));
        CHECK(store.rows({}).size() == 10);
        CHECK(store.record(row_number(200)));
    }

    TEST_CASE("fault: tuning store: the folder is made for this user alone; a link or another user's is refused") {
        const TemporaryFolder folder;
        StoreOptions options = store_in(folder.in("kiln/tuning.db"));
        options.private_folder = true;
        SUBCASE("new") {
            CHECK(check_works(options).empty());
            struct stat status {};
            REQUIRE(::stat(folder.in("kiln").c_str(), &status) == 0);
            CHECK((status.st_mode & 0777) == 0700);
        }
        SUBCASE("a link") {
            fs::create_directory(folder.in("elsewhere"));
            fs::create_directory_symlink(folder.in("elsewhere"), folder.in("kiln"));
            CHECK(warnings_in(check_works(options)) == 1);
            CHECK(fs::is_empty(folder.in("elsewhere")));
        }
        SUBCASE("another user's") {
            fs::create_directory(folder.in("kiln"));
            if (::chown(folder.in("kiln").c_str(), 65534, 65534) != 0) return;  // only root may give folders away
            CHECK(warnings_in(check_works(options)) == 1);
            CHECK(fs::is_empty(folder.in("kiln")));
        }
        SUBCASE("another user's file") {
            fs::create_directory(folder.in("kiln"));
            make_database(folder.in("kiln/tuning.db"));
            if (::chown(folder.in("kiln/tuning.db").c_str(), 65534, 65534) != 0) return;
            const std::string before = read_bytes(folder.in("kiln/tuning.db"));
            CHECK(warnings_in(check_works(options)) == 1);
            CHECK(read_bytes(folder.in("kiln/tuning.db")) == before);
        }
        SUBCASE("a link to a database") {
            fs::create_directory(folder.in("kiln"));
            make_database(folder.in("other.db"));
            fs::create_symlink(folder.in("other.db"), folder.in("kiln/tuning.db"));
            const std::string before = read_bytes(folder.in("other.db"));
            CHECK(warnings_in(check_works(options)) == 1);
            CHECK(read_bytes(folder.in("other.db")) == before);
        }
    }

    TEST_CASE("fault: tuning store: a database with mode 0444 is read and not written") {
        const TemporaryFolder folder;
        const std::string file = make_database(folder.in("tuning.db"));
        ::chmod(file.c_str(), 0444);
        const std::string before = read_bytes(file);
        std::set<std::string> names;
        for (const auto& entry : fs::directory_iterator(folder.path())) names.insert(entry.path().filename());
        CHECK(printed_by([&] {
                  TuningStore store(store_in(file));
                  REQUIRE(store.find(gemm_problem(512), cpu_device()) != nullptr);
                  CHECK(!store.is_on_disk());
              }).empty());
        CHECK(warnings_in(check_works(store_in(file))) == 1);
        CHECK(warnings_in(printed_by([&] {
                  TuningStore store(store_in(file));
                  CHECK(store.prune({}) == 0);
              })) == 1);
        CHECK(read_bytes(file) == before);
        for (const auto& entry : fs::directory_iterator(folder.path())) CHECK(names.contains(entry.path().filename()));
    }

    TEST_CASE("fault: tuning store: a forked child opens the file anew, and parent and child both go on") {
        const TemporaryFolder folder;
        TuningStore store(store_in(folder.in("tuning.db")));
        CHECK(store.record(row_number(1)));
        const int well = in_processes(3, [&](int child) {
            return store.record(row_number(10 + child)) && store.find(gemm_problem(512), cpu_device()) != nullptr;
        });
        CHECK(well == 3);
        CHECK(store.record(row_number(2)));
        CHECK(store.rows({}).size() == 5);
    }

    TEST_CASE("fault: tuning store: eight threads record and look up at once") {
        const TemporaryFolder folder;
        TuningStore store(store_in(folder.in("tuning.db")));
        std::vector<std::thread> threads;
        for (int t = 0; t < 8; ++t) {
            threads.emplace_back([&store, t] {
                for (int i = 0; i < 10; ++i) {
                    store.record(row_number(t * 10 + i));
                    store.find(gemm_problem(512 + i), cpu_device());
                }
            });
        }
        for (std::thread& thread : threads) thread.join();
        CHECK(store.rows({}).size() == 80);
    }
}

}  // namespace
}  // namespace kiln::runtime
