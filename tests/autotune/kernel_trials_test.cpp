// Real kernels in real worker processes.
#include <chrono>
#include <cstdlib>

#include "autotune/background.h"
#include "autotune/inputs.h"
#include "autotune/worker.h"
#include "kiln/kiln.hpp"
#include "kiln/tuning.hpp"
#include "runtime/tuning_problem.h"
#include "tests/autotune/fake_task.h"

namespace kiln::tests {
namespace {

using autotune::Task;
using autotune::TuneOptions;
using autotune::TuneResult;
using runtime::CapturedLaunch;
using runtime::TuningStore;
using runtime::Verdict;

// MODE 1 does less and has one element off; MODE 2 does not end.
constexpr const char* kText = R"(kernel twice(x: in f32[N], y: out f32[N])
  tune MODE in {0, 1, 2}, B in {64, 256}
  reference twice_naive
grid i in 0 .. N by B {
    static if MODE == 1 {
        y[i :+ B] = x[i :+ B] * 2 + f32(i + iota(B) == 7)
    } else {
        var n: int = 0
        static if MODE == 2 { while n < N { n = min(n, 0) } }
        y[i :+ B] = x[i :+ B] * 2 + f32(n)
    }
}
// MODE 1 leaves what is not a multiple of 64 unwritten, MODE 2 writes a NaN that a bound alone would let pass, MODE 3
// writes past its own part.
kernel careless(x: in f32[N], y: out f32[N])
  tune MODE in {0, 1, 2, 3}
  reference twice_naive
grid i in 0 .. N by 64 {
    let t = x[i :+ 64] * 2
    static if MODE == 0 { y[i :+ 64] = t }
    static if MODE == 1 { if i + 64 <= N { y[i :+ 64] = t } }
    static if MODE == 2 { y[i :+ 64] = select(i + iota(64) == N - 1, nan, t) }
    static if MODE == 3 {
        y[i :+ 64] = t
        if i == 64 { y[0 :+ 64] = t }
    }
}
kernel twice_naive(x: in f32[N], y: out f32[N])
grid i in 0 .. N { y[i] = x[i] * 2 }

kernel halve(x: inout f32[N])
  tune B in {64, 128, 256}
  reference halve_naive
grid i in 0 .. N by B { x[i :+ B] = x[i :+ B] * 0.5 }
kernel halve_naive(x: inout f32[N])
grid i in 0 .. N { x[i] = x[i] * 0.5 }
)";

std::shared_ptr<const runtime::ModuleState> test_module() {
    return std::make_shared<runtime::ModuleState>("twice.kiln",
                                                  [](const std::string& path) -> std::optional<std::string> {
                                                      if (path == "twice.kiln") return kText;
                                                      return std::nullopt;
                                                  });
}

CapturedLaunch launch(const std::string& kernel, const std::vector<std::string>& tensors, std::int64_t n) {
    CapturedLaunch result;
    result.file = "twice.kiln";
    result.kernel = kernel;
    result.device = "cpu";
    for (const std::string& name : tensors) result.tensors.push_back({name, f32, {n}, {1}});
    return result;
}

TuneOptions real_options() {
    TuneOptions options;
    options.worker_command = autotune::worker_command(KILN_PROGRAM);
    options.trial_seconds = 20;
    return options;
}

}  // namespace

TEST_SUITE("tuner") {
    TEST_CASE("fault: kernels: one element off does not win, and a loop without end is stopped (K19, K23)") {
        TuningStore store({.off = true});
        TuneOptions options = real_options();
        options.trial_seconds = 3;
        const Task task = autotune::make_task(test_module(), launch("twice", {"x", "y"}, 100003), {});
        const TuneResult result = autotune::tune(task, store, options);
        REQUIRE(result.best);
        CHECK(result.best->configuration.at("MODE").value == "0");
        CHECK(result.trials == 6);
        CHECK(result.failed == 4);
        for (const runtime::Measurement& row : result.rows) {
            const std::string mode = row.configuration.at("MODE").value;
            CHECK(row.verdict == (mode == "0" ? Verdict::Verified : mode == "1" ? Verdict::Wrong : Verdict::TimedOut));
            if (mode == "1") CHECK_MESSAGE(row.reason.starts_with("`y[7]`"), row.reason);
        }
    }

    TEST_CASE("fault: kernels: poison that is left, a NaN, a store into another's part: all are wrong, none wins") {
        TuningStore store({.off = true});
        const Task task = autotune::make_task(test_module(), launch("careless", {"x", "y"}, 1000), {});
        const TuneResult result = autotune::tune(task, store, real_options());
        REQUIRE(result.best);
        CHECK(result.best->configuration.at("MODE").value == "0");
        CHECK(result.failed == 3);
        for (const runtime::Measurement& row : result.rows) {
            if (row.configuration.at("MODE").value == "0") continue;
            CHECK(row.verdict == Verdict::Wrong);
            CHECK_MESSAGE(row.reason.find("elements are wrong") != std::string::npos, row.reason);
        }
    }

    TEST_CASE("fault: kernels: a reference that cannot run ends it with the reason, and no row") {
        TuningStore store({.off = true});
        const auto module = std::make_shared<runtime::ModuleState>("broken.kiln", [](const std::string&) {
            return std::optional<std::string>(
                "kernel k(y: out f32[N]) tune B in {32, 64} reference r grid i in 0 .. N by B { y[i :+ B] = 0 }\n"
                "kernel r(y: out f32[N]) require N < 10 grid i in 0 .. N { y[i] = 0 }\n");
        });
        CapturedLaunch broken = launch("k", {"y"}, 64);
        broken.file = "broken.kiln";
        const Task task = autotune::make_task(module, broken, {});
        CHECK_THROWS_WITH_AS(autotune::tune(task, store, real_options()),
                             doctest::Contains("the reference cannot be run"), Error);
        CHECK(store.rows({}).empty());
    }

    TEST_CASE("fault: kernels: an in-place kernel is verified on fresh copies, each time (K17)") {
        TuningStore store({.off = true});
        const Task task = autotune::make_task(test_module(), launch("halve", {"x"}, 1000), {});
        const TuneResult result = autotune::tune(task, store, real_options());
        CHECK(result.failed == 0);
        CHECK(result.rows.size() == 3);
    }

    TEST_CASE("fault: background: launches keep their data, and change to what is measured") {
        ::setenv("KILN_CACHE", "off", 1);
        const auto store = std::make_shared<TuningStore>(runtime::StoreOptions{.off = true});
        runtime::replace_tuning_store(store);
        BackgroundTuning options;
        options.program = KILN_PROGRAM;
        tune_in_background(options);
        const Device device = Device::open("cpu");
        const Kernel halve = Module::from_text(kText, "twice.kiln").kernel("halve");
        std::vector<float> x(1000, 1.0f);
        halve.launch(device.stream(), tensor(x.data(), {1000}));
        wait_for_background_tuning();
        for (const float value : x) REQUIRE(value == 0.5f);
        const PreparedLaunch again = halve.prepare(device.stream(), tensor(x.data(), {1000}));
        CHECK(again.info().choice == LaunchInfo::Choice::exact);
        stop_background_tuning();
        runtime::replace_tuning_store(nullptr);
    }

    TEST_CASE("fault: background: without a program for the trials it says so") {
        BackgroundTuning options;
        ::setenv("KILN_PROGRAM", "", 1);
        if (!autotune::worker_program().empty()) return;  // an installed or built program stands beside this one
        CHECK_THROWS_WITH_AS(tune_in_background(options), doctest::Contains("KILN_PROGRAM"), Error);
    }
}

TEST_SUITE("unit") {
    TEST_CASE("inputs: a launch's strides, holes included, and the same bytes for the same seed") {
        CapturedLaunch strided = launch("twice", {}, 0);
        strided.tensors = {{"x", bf16, {3, 5}, {-8, 1}}, {"y", i32, {4}, {0}}, {"z", f32, {0, 7}, {7, 1}}};
        const auto cpu = runtime::open_backend("cpu");
        autotune::LaunchArguments first = autotune::LaunchArguments::filled(strided, 5, *cpu);
        autotune::LaunchArguments second = autotune::LaunchArguments::filled(strided, 5, *cpu);
        CHECK(first.bytes() == (2 * 8 + 5) * 2 + 4);
        const auto& x = std::get<Tensor>(first.arguments()[0].value);
        const auto& same = std::get<Tensor>(second.arguments()[0].value);
        auto* element = static_cast<std::uint16_t*>(x.data) - 2 * 8;  // the last row stands first
        CHECK(*element == *(static_cast<std::uint16_t*>(same.data) - 2 * 8));
        const std::uint16_t before = *element;
        *element = static_cast<std::uint16_t>(before + 1);
        first.restore("x");
        CHECK(*element == before);
    }

    TEST_CASE("candidates: a space without a legal configuration is an error with the reason") {
        const auto module = std::make_shared<runtime::ModuleState>("none.kiln", [](const std::string&) {
            return std::optional<std::string>(
                "kernel none(y: out f32[N]) tune B in {32, 64} where B > 100 grid i in 0 .. N by B { y[i :+ B] = 0 }\n"
                "kernel huge(y: out f32[N]) tune B in {67108864} grid i in 0 .. N by B { y[i :+ B] = 0 }\n");
        });
        CHECK_THROWS_WITH_AS(autotune::make_task(module, launch("none", {"y"}, 64), {}), doctest::Contains("B > 100"),
                             Error);
        CHECK_THROWS_WITH_AS(autotune::make_task(module, launch("huge", {"y"}, 64), {}),
                             doctest::Contains("are the most"), Error);
    }

    TEST_CASE("candidates: a search of one numerics class leaves the others out, and rows say which they are") {
        const auto module = std::make_shared<runtime::ModuleState>("total.kiln", [](const std::string&) {
            return std::optional<std::string>(
                "kernel total(x: in f32[N], y: inout f32[1])\n"
                "  tune ATOMIC in {false, true}, B in {32, 64}\n"
                "grid i in 0 .. cdiv(N, B * 4) {\n"
                "    var s: f32 = 0\n"
                "    for j in i * B * 4 .. (i + 1) * B * 4 by B { s += sum(x[j :+ B]) }\n"
                "    static if ATOMIC { atomic_add(y[0], s) } else { y[0] = s }\n"
                "}\n");
        });
        CapturedLaunch total = launch("total", {"x"}, 100);
        total.file = "total.kiln";
        total.tensors.push_back({"y", f32, {1}, {1}});
        using Wanted = autotune::NumericsWanted;
        const auto task_of = [&](Wanted wanted) { return autotune::make_task(module, total, {.numerics = wanted}); };
        const Task all = task_of(Wanted::Any), ordered = task_of(Wanted::Ordered);
        const Task unordered = task_of(Wanted::Unordered), same = task_of(Wanted::SameAsDefault);
        CHECK(all.stored.size() == 4);
        CHECK(all.candidates.other_numerics == 0);
        CHECK(ordered.stored == same.stored);
        CHECK(ordered.candidates.other_numerics == 2);
        for (const auto& configuration : ordered.stored) CHECK(configuration.at("ATOMIC").value == "false");
        for (const auto& configuration : unordered.stored) CHECK(configuration.at("ATOMIC").value == "true");
        TuningStore store({.off = true});
        for (const runtime::Measurement& row : autotune::tune(all, store, real_options()).rows) {
            const bool atomic = row.configuration.at("ATOMIC").value == "true";
            CHECK(row.numerics == (atomic ? runtime::Numerics::Unordered : runtime::Numerics::Ordered));
        }
        // What was tried in the whole space is not tried again in a part of it.
        CHECK(autotune::tune(ordered, store, real_options()).remembered == 2);
        total.tunables["ATOMIC"] = "false";
        CHECK_THROWS_WITH_AS(autotune::make_task(module, total, {.numerics = Wanted::Unordered}),
                             doctest::Contains("no configuration of `total` is of the numerics class `unordered`"),
                             Error);
    }

    TEST_CASE("launch model: the problem of a row gives the launch back") {
        const auto module = std::make_shared<runtime::ModuleState>("kiln/gemm.kiln",
                                                                   runtime::with_standard_library(frontend::read_file));
        runtime::TuningProblem problem;
        problem.file = "kiln/gemm.kiln";
        problem.name = "gemm";
        problem.arguments = {{"a", "f32"}, {"b", "f32@0"}, {"c", "f32"}};
        problem.sizes = {{"M", 64}, {"N", 96}, {"K", 32}};
        const auto launch = autotune::launch_of(problem, module->find("gemm"), "cpu");
        REQUIRE(launch);
        CHECK(launch->tensors[1].sizes == std::vector<std::int64_t>{32, 96});
        CHECK(launch->tensors[1].strides == std::vector<std::int64_t>{1, 32});
        problem.sizes.erase("K");
        CHECK_FALSE(autotune::launch_of(problem, module->find("gemm"), "cpu"));
    }
}

}  // namespace kiln::tests
