#include "runtime/tuning_store.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <sstream>

#include "ir/support/internal_error.h"
#include "runtime/tuning_problem.h"
#include "store_support.h"

namespace kiln::runtime {
namespace {

std::string export_of(TuningStore& store) {
    std::ostringstream out;
    store.export_lines(out);
    return out.str();
}

/// The configuration that a look-up gives, "" if none.
std::string found(TuningStore& store, const TuningProblem& problem, const TuningDevice& device = cpu_device()) {
    const auto match = store.find(problem, device);
    return match == nullptr ? "" : to_string(match->measurement.configuration);
}

TEST_SUITE("unit") {
    TEST_CASE("tuning store: a row is the same after a trip through its line") {
        Measurement row = measured(gemm_problem(97), blocks(64, 256), 1.25e-3);
        row.configuration["P"] = {"16", "units() * 2"};
        row.numerics = Numerics::Unordered;
        row.contended = true;
        row.clock_mhz = 3100.5;
        row.seed = ~std::uint64_t{0};
        row.reason = "quote \" and line\nbreak";
        const std::string line = to_line(row);
        CHECK(line.find('\n') == std::string::npos);
        std::string reason;
        const auto back = parse_line(line, reason);
        REQUIRE(back);
        CHECK(to_line(*back) == line);
        CHECK(back->configuration == row.configuration);
        CHECK(back->seed == row.seed);
        CHECK(back->problem.sizes == row.problem.sizes);
    }

    TEST_CASE("tuning store: lines that are no rows are refused with a reason") {
        const std::string line = to_line(measured(gemm_problem(97), blocks(64, 256), 1e-3));
        const auto changed = [&](const std::string& from, const std::string& to) {
            std::string text = line;
            text.replace(text.find(from), from.size(), to);
            return text;
        };
        const std::string bad[] = {"",
                                   "{",
                                   "[]",
                                   "{}",
                                   "null",
                                   "\xff\xfe",
                                   line.substr(0, line.size() - 1),
                                   changed("\"kiln_tuning\":1", "\"kiln_tuning\":2"),
                                   changed("\"M\":97", "\"M\":-97"),
                                   changed("\"M\":97", "\"M\":1.5"),
                                   changed("verified", "perfect"),
                                   changed("\"seconds\":0.001", "\"seconds\":0"),
                                   changed("ordered", "sideways"),
                                   changed("\"units\":8", "\"units\":0"),
                                   std::string(200000, '[')};
        for (const std::string& text : bad) {
            std::string reason;
            CHECK_MESSAGE(!parse_line(text, reason), text);
            CHECK(!reason.empty());
        }
    }

    TEST_CASE("tuning store: the fastest verified row wins, and failures are passed over") {
        const TemporaryFolder folder;
        TuningStore store(store_in(folder.in("tuning.db")));
        const TuningProblem problem = gemm_problem(512);
        CHECK(found(store, problem).empty());
        CHECK(store.record(measured(problem, blocks(64, 64), 3e-3)));
        CHECK(store.record(measured(problem, blocks(128, 64), 2e-3)));
        CHECK(store.record(measured(problem, blocks(256, 64), 1e-3, Verdict::Unchecked)));
        for (const Verdict verdict : {Verdict::Wrong, Verdict::FailedToCompile, Verdict::Refused, Verdict::Crashed,
                                      Verdict::TimedOut, Verdict::Excluded}) {
            CHECK(store.record(measured(problem, blocks(1, static_cast<int>(verdict)), 1e-4, verdict)));
        }
        CHECK(found(store, problem) == "BM=128, BN=64");
        CHECK(store.find(problem, cpu_device())->kind == MatchKind::Exact);
        CHECK(store.find(problem, cpu_device())->measurement.seconds == 2e-3);
        CHECK(store.measurements(problem, cpu_device()).size() == 9);

        SUBCASE("one that was wrong once is never taken again, whatever came before or after") {
            store.record(measured(problem, blocks(128, 64), 2e-3, Verdict::Wrong, 500));
            CHECK(found(store, problem) == "BM=64, BN=64");
        }
        SUBCASE("one that crashed later is not taken until it is verified again") {
            store.record(measured(problem, blocks(128, 64), 0, Verdict::Crashed, 2000));
            CHECK(found(store, problem) == "BM=64, BN=64");
            store.record(measured(problem, blocks(128, 64), 2e-3, Verdict::Verified, 3000));
            CHECK(found(store, problem) == "BM=128, BN=64");
        }
        SUBCASE("what this process drops stays dropped") {
            store.drop(problem, cpu_device(), blocks(128, 64));
            CHECK(found(store, problem) == "BM=64, BN=64");
            TuningStore other(store_in(folder.in("tuning.db")));
            CHECK(found(other, problem) == "BM=128, BN=64");
        }
        SUBCASE("many failed rows before the good one do not hide it") {
            for (int i = 0; i < 40; ++i) {
                store.record(measured(problem, blocks(7, i), 1e-6));
                store.record(measured(problem, blocks(7, i), 1e-6, Verdict::Wrong));
            }
            CHECK(found(store, problem) == "BM=128, BN=64");
        }
        SUBCASE("another problem, type or kernel has nothing of it") {
            TuningProblem other = problem;
            other.arguments["a"] = "bf16";
            CHECK(found(store, other).empty());
            other = problem;
            other.arguments["a"] = "f32@0";
            CHECK(found(store, other).empty());
            other = problem;
            other.kernel[0] = 'f';
            CHECK(found(store, other).empty());
            other = problem;
            other.generics["T"] = "f64";
            CHECK(found(store, other).empty());
        }
    }

    TEST_CASE("tuning store: a verified row without a time, or a device without units, is a broken invariant") {
        TuningStore store{StoreOptions{.off = true}};
        CHECK_THROWS_AS(store.record(measured(gemm_problem(512), blocks(1, 1), 0)), support::InternalError);
        Measurement row = measured(gemm_problem(512), blocks(1, 1), 1e-3);
        row.device.units = 0;
        CHECK_THROWS_AS(store.record(row), support::InternalError);
    }

    TEST_CASE("tuning store: rows of another build are ignored, row by row") {
        const TemporaryFolder folder;
        TuningStore store(store_in(folder.in("tuning.db")));
        Measurement old = measured(gemm_problem(512), blocks(256, 256), 1e-5);
        old.build = "kiln 0.0.1";
        store.record(old);
        CHECK(found(store, gemm_problem(512)).empty());
        store.record(measured(gemm_problem(512), blocks(64, 64), 1e-3));
        CHECK(found(store, gemm_problem(512)) == "BM=64, BN=64");
        CHECK(store.statistics().rows == 2);
        CHECK(store.statistics().other_builds == 1);
    }

    TEST_CASE("tuning store: without an exact row the nearest sizes answer, by the distance of their logarithms") {
        TuningStore store{StoreOptions{.off = true}};
        store.record(measured(gemm_problem(64), blocks(1, 64), 1e-3));
        store.record(measured(gemm_problem(1024), blocks(1, 1024), 1e-3));
        store.record(measured(gemm_problem(4096), blocks(1, 4096), 1e-3));
        const auto at = [&](std::int64_t m) { return store.find(gemm_problem(m), cpu_device()); };
        CHECK(to_string(at(100)->measurement.configuration) == "BM=1, BN=64");
        CHECK(to_string(at(1500)->measurement.configuration) == "BM=1, BN=1024");
        CHECK(to_string(at(2500)->measurement.configuration) == "BM=1, BN=4096");
        CHECK(at(2048)->kind == MatchKind::NearestShape);
        CHECK(at(2048)->distance == doctest::Approx(1));
        CHECK(at(0)->kind == MatchKind::NearestShape);
        CHECK(at(4096)->kind == MatchKind::Exact);
        SUBCASE("a configuration that failed for the asked sizes is not taken from others") {
            store.record(measured(gemm_problem(100), blocks(1, 64), 0, Verdict::Refused, 1));
            CHECK(to_string(at(100)->measurement.configuration) == "BM=1, BN=1024");
        }
    }

    TEST_CASE("tuning store: the nearest device of the family answers last") {
        TuningStore store{StoreOptions{.off = true}};
        const auto record = [&](const TuningDevice& device, int bm) {
            Measurement row = measured(gemm_problem(512), blocks(bm, 1), 1e-3);
            row.device = device;
            store.record(row);
        };
        TuningDevice gpu = cpu_device();
        gpu.targets = {"gpu", "nvidia", "sm_90a"};
        gpu.fingerprint = "features of sm_90a";
        record(gpu, 1);
        CHECK(found(store, gemm_problem(512)).empty());
        record(cpu_device(64, "x86_64_v3"), 2);
        CHECK(found(store, gemm_problem(512)) == "BM=2, BN=1");
        CHECK(store.find(gemm_problem(512), cpu_device())->kind == MatchKind::NearestDevice);
        record(cpu_device(64, "x86_64_v4"), 3);  // more targets in common
        CHECK(found(store, gemm_problem(512)) == "BM=3, BN=1");
        record(cpu_device(16, "x86_64_v4"), 4);  // units nearer to 8
        CHECK(found(store, gemm_problem(512)) == "BM=4, BN=1");
        store.record(measured(gemm_problem(64), blocks(5, 1), 1e-3));  // this device at last, of other sizes
        CHECK(found(store, gemm_problem(512)) == "BM=5, BN=1");
        CHECK(store.find(gemm_problem(512), cpu_device())->kind == MatchKind::NearestShape);
    }

    TEST_CASE("tuning store: a choice in units() is computed again for another number of units") {
        TuningStore store{StoreOptions{.off = true}};
        Measurement row = measured(gemm_problem(512), {{"P", {"16", "units() * 2"}}, {"BM", {"64", ""}}}, 1e-3);
        store.record(row);
        CHECK(found(store, gemm_problem(512)) == "BM=64, P=16 (units() * 2)");
        CHECK(found(store, gemm_problem(512), cpu_device(6)) == "BM=64, P=12 (units() * 2)");
    }

    TEST_CASE("tuning store: one numerics class only, if asked") {
        TuningStore store{StoreOptions{.off = true}};
        Measurement row = measured(gemm_problem(512), blocks(1, 1), 1e-3);
        row.numerics = Numerics::Unordered;
        store.record(row);
        store.record(measured(gemm_problem(512), blocks(2, 2), 2e-3));
        CHECK(found(store, gemm_problem(512)) == "BM=1, BN=1");
        const auto ordered = store.find(gemm_problem(512), cpu_device(), Numerics::Ordered);
        REQUIRE(ordered);
        CHECK(to_string(ordered->measurement.configuration) == "BM=2, BN=2");
    }

    TEST_CASE("tuning store: merging is idempotent, and order does not count") {
        std::mt19937 random(1);
        std::vector<std::string> lines;
        for (int i = 0; i < 60; ++i) {
            const auto verdict = static_cast<Verdict>(random() % 8);
            lines.push_back(
                to_line(measured(gemm_problem(1 << (random() % 4)), blocks(static_cast<int>(random() % 5), 1),
                                 1e-3 + 1e-6 * static_cast<double>(random() % 100), verdict,
                                 static_cast<std::int64_t>(random() % 1000))));
        }
        std::string whole;
        for (int round = 0; round < 6; ++round) {
            const TemporaryFolder folder;
            TuningStore store(store_in(folder.in("tuning.db")));
            std::shuffle(lines.begin(), lines.end(), random);
            const std::size_t cut = random() % lines.size();
            for (const auto& [first, last] :
                 {std::pair{std::size_t{0}, cut}, {cut, lines.size()}, {cut / 2, lines.size()}}) {
                std::string text;
                for (std::size_t i = first; i < last; ++i) text += lines[i] + "\n";
                std::istringstream in(text);
                CHECK(store.merge_lines(in, "rows").bad == 0);
            }
            if (whole.empty()) whole = export_of(store);
            CHECK(export_of(store) == whole);
            std::istringstream again(whole);
            const MergeReport report = store.merge_lines(again, "rows");
            CHECK(report.added == 0);
            CHECK(report.known == static_cast<std::size_t>(std::count(whole.begin(), whole.end(), '\n')));
        }
    }

    TEST_CASE("tuning store: bad lines are counted and named, and the others are kept") {
        TuningStore store{StoreOptions{.off = true}};
        const std::string line = to_line(measured(gemm_problem(512), blocks(1, 1), 1e-3));
        std::istringstream in("nonsense\n" + line + "\n\n" + line.substr(0, 100) + "\n\xff\n");
        const MergeReport report = store.merge_lines(in, "rows.jsonl");
        CHECK(report.added == 1);
        CHECK(report.bad == 3);
        REQUIRE(report.problems.size() == 3);
        CHECK(report.problems[0].starts_with("rows.jsonl:1: "));
        CHECK(report.problems[1].starts_with("rows.jsonl:4: "));
        CHECK(found(store, gemm_problem(512)) == "BM=1, BN=1");
        CHECK(store.merge_file("/nonexistent/rows.jsonl").bad == 1);
    }

    TEST_CASE("tuning store: fields of a newer Kiln survive in the text") {
        TuningStore store{StoreOptions{.off = true}};
        std::string line = to_line(measured(gemm_problem(512), blocks(1, 1), 1e-3));
        line.insert(line.size() - 1, ",\"zeal\":42");
        std::istringstream in(line + "\n");
        CHECK(store.merge_lines(in, "rows").added == 1);
        CHECK(export_of(store).find("\"zeal\":42") != std::string::npos);
    }

    TEST_CASE("tuning store: stores beside the user's own are read, as databases and as text, and never written") {
        const TemporaryFolder folder;
        {
            TuningStore shared(store_in(folder.in("shared.db")));
            shared.record(measured(gemm_problem(512), blocks(3, 3), 3e-3));
            TuningStore second(store_in(folder.in("second.db")));
            second.record(measured(gemm_problem(512), blocks(2, 2), 2e-3));
            std::ofstream text(folder.in("second.jsonl"));
            second.export_lines(text);
        }
        const std::string database = read_bytes(folder.in("shared.db")), text = read_bytes(folder.in("second.jsonl"));
        StoreOptions options = store_in(folder.in("own.db"));
        options.read_only_files = {folder.in("shared.db"), folder.in("second.jsonl"), folder.in("missing.db")};
        TuningStore store(options);
        std::string configuration;
        const std::string printed = printed_by([&] { configuration = found(store, gemm_problem(512)); });
        CHECK(configuration == "BM=2, BN=2");
        CHECK(warnings_in(printed) == 1);
        CHECK(printed.find("missing.db") != std::string::npos);
        store.record(measured(gemm_problem(512), blocks(1, 1), 1e-3));
        CHECK(found(store, gemm_problem(512)) == "BM=1, BN=1");
        CHECK(store.rows({}).size() == 3);
        CHECK(store.prune({}) == 1);
        CHECK(read_bytes(folder.in("shared.db")) == database);
        CHECK(read_bytes(folder.in("second.jsonl")) == text);
        CHECK(store.merge_file(folder.in("shared.db")).added == 1);
    }

    TEST_CASE("tuning store: pruning removes by age, build and kernel, and says how many") {
        const TemporaryFolder folder;
        TuningStore store(store_in(folder.in("tuning.db")));
        Measurement other = measured(gemm_problem(1), blocks(1, 1), 1e-3);
        other.build = "kiln 0.0.1";
        Measurement softmax = measured(gemm_problem(1), blocks(1, 1), 1e-3);
        softmax.problem.name = "softmax";
        softmax.problem.kernel[0] = 'f';
        const Measurement rows[] = {other, softmax,
                                    measured(gemm_problem(1), blocks(1, 1), 1e-3, Verdict::Verified, 50),
                                    measured(gemm_problem(1), blocks(1, 1), 1e-3, Verdict::Wrong, 5000)};
        CHECK(store.record(rows));
        CHECK(store.prune({.before_ms = 51}) == 1);
        CHECK(store.prune({.not_build = tuning_build()}) == 1);
        CHECK(store.prune({.kernel = "softmax"}) == 1);
        CHECK(store.prune({.kernel = "gemm", .verdict = Verdict::Verified}) == 0);
        const StoreStatistics statistics = store.statistics();
        CHECK(statistics.rows == 1);
        CHECK(statistics.verdicts.at("wrong") == 1);
        CHECK(statistics.kernels.at("gemm") == 1);
        CHECK(statistics.bytes > 0);
    }

    TEST_CASE("tuning store: the environment names the place") {
        const ScopedEnvironment clean{{"KILN_TUNING", nullptr},
                                      {"KILN_TUNING_PATH", nullptr},
                                      {"XDG_DATA_HOME", nullptr},
                                      {"HOME", "/home/someone"}};
        CHECK(StoreOptions::from_environment().file == "/home/someone/.local/share/kiln/tuning.db");
        CHECK(StoreOptions::from_environment().private_folder);
        const ScopedEnvironment data{{"XDG_DATA_HOME", "/data"}, {"KILN_TUNING_PATH", "/a.db::/b.jsonl:"}};
        CHECK(StoreOptions::from_environment().file == "/data/kiln/tuning.db");
        CHECK(StoreOptions::from_environment().read_only_files == std::vector<std::string>{"/a.db", "/b.jsonl"});
        const ScopedEnvironment named{{"KILN_TUNING", "/a b'\"\xc3\xbc/t.db"}};
        CHECK(StoreOptions::from_environment().file == "/a b'\"\xc3\xbc/t.db");
        const ScopedEnvironment off{{"KILN_TUNING", "off"}};
        CHECK(StoreOptions::from_environment().file.empty());
        CHECK(StoreOptions::from_environment().off);
    }

    TEST_CASE("tuning store: a name with any characters is a place like others") {
        const TemporaryFolder folder;
        const std::string file = folder.in("a b'\"%41?#\xc3\xbc.db");
        {
            TuningStore store(store_in(file));
            CHECK(store.record(measured(gemm_problem(512), blocks(1, 1), 1e-3)));
        }
        StoreOptions options;
        options.off = true;
        options.read_only_files = {file};
        TuningStore reader(options);
        CHECK(found(reader, gemm_problem(512)) == "BM=1, BN=1");
    }

    TEST_CASE("tuning problem: expressions over units() are computed, others are not") {
        CHECK(evaluate_units("units()", 6) == 6);
        CHECK(evaluate_units("2 * units() + 1", 6) == 13);
        CHECK(evaluate_units("max(1, units() / 4) % 3", 20) == 2);
        CHECK(evaluate_units("(units() - 8) / 2", 5) == -2);
        CHECK(evaluate_units(" min( 128 ,units()*64)", 1) == 64);
        for (const char* text :
             {"", "units", "units() 2", "1 / 0", "M", "-1", "1 +", "9223372036854775807 + 1", "min(1)"}) {
            CHECK_MESSAGE(!evaluate_units(text, 6), text);
        }
        CHECK(!evaluate_units(std::string(100000, '('), 6));
    }

    TEST_CASE("tuning store: a look-up that was made before is served from memory") {
        const TemporaryFolder folder;
        TuningStore store(store_in(folder.in("tuning.db")));
        store.record(measured(gemm_problem(512), blocks(1, 1), 1e-3));
        const auto first = store.find(gemm_problem(512), cpu_device());
        CHECK(store.find(gemm_problem(512), cpu_device()) == first);
        const std::uint64_t before = tuning_generation();
        store.record(measured(gemm_problem(512), blocks(2, 2), 5e-4));
        CHECK(tuning_generation() != before);
        CHECK(found(store, gemm_problem(512)) == "BM=2, BN=2");
    }
}

}  // namespace
}  // namespace kiln::runtime
