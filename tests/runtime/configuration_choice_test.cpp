// How a launch comes to its tunables: the caller, the lock file, the store, the model, the default.
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "kiln/kiln.hpp"
#include "runtime/state.h"
#include "runtime/tuning_hooks.h"
#include "runtime/tuning_lock.h"
#include "runtime/tuning_problem.h"
#include "store_support.h"
#include "tests/support/temporary_folder.h"

namespace kiln::runtime {
namespace {

constexpr const char* kText = R"(kernel scale<T: float>(x: in T[N], y: out T[N], factor: f32 = 2)
  tune BLOCK in {16, 32, 64, 1024}, FAST in {true, false}
  where BLOCK <= 64 || FAST
  where N % BLOCK == 0 || BLOCK == 16
grid i in 0 .. N by BLOCK {
    static if FAST { y[i :+ BLOCK] = T(factor) * x[i :+ BLOCK] } else { y[i :+ BLOCK] = x[i :+ BLOCK] * T(factor) }
}
)";

/// A store, a model and a tuner of the test's own, until the end of the scope; and launches of `scale`.
class Launches {
public:
    Launches() {
        StoreOptions options;
        options.off = true;
        store = std::make_shared<TuningStore>(options);
        replace_tuning_store(store);
    }
    ~Launches() {
        replace_tuning_store(nullptr);
        install_model(nullptr);
        install_tuner(nullptr);
        use_tuning_lock("");
    }

    LaunchInfo launch(std::int64_t n, const std::vector<Generic>& generics = {}) {
        std::vector<float> x(static_cast<std::size_t>(n), 3), y(static_cast<std::size_t>(n), 0);
        const Kernel kernel = generics.empty() ? kernel_ : module_.kernel("scale", generics);
        const PreparedLaunch prepared = kernel.prepare(device_.stream(), tensor(x.data(), {n}), tensor(y.data(), {n}));
        prepared.launch();
        for (const float value : y) REQUIRE(value == 6);
        return prepared.info();
    }

    TuningProblem problem(std::int64_t n) const {
        TuningProblem problem;
        problem.kernel = identity;
        problem.name = "scale";
        problem.generics = {{"T", "f32"}};
        problem.arguments = {{"x", "f32"}, {"y", "f32"}};
        problem.sizes = {{"N", n}};
        return problem;
    }

    Measurement row(std::int64_t n, const std::string& block, const std::string& fast, double seconds) const {
        Measurement row = measured(problem(n), {{"BLOCK", {block, ""}}, {"FAST", {fast, ""}}}, seconds);
        row.device = describe_device(*device_.stream().backend());
        return row;
    }

    std::shared_ptr<TuningStore> store;
    std::string identity = [] {
        const ModuleState module("scale.kiln", [](const std::string&) { return std::optional<std::string>(kText); });
        return kernel_identity(module.program(), "scale");
    }();

private:
    Module module_ = Module::from_text(kText, "scale.kiln");
    Kernel kernel_ = module_.kernel("scale");
    Device device_ = Device::open("cpu");
};

using Choice = LaunchInfo::Choice;

class FixedModel final : public ConfigurationModel {
public:
    explicit FixedModel(std::int64_t block) : block_(block) {}
    std::optional<ir::Configuration> choose(const frontend::Program&, const frontend::Request& request,
                                            const TuningProblem& problem, const DeviceBackend&) const override {
        CHECK(request.tunables.empty());
        CHECK(problem.name == "scale");
        ++calls;
        if (block_ == 0) throw Error(ErrorKind::user, "cannot tell");
        return ir::Configuration{
            {{"BLOCK", ir::Scalar::integer(ir::kInt, block_)}, {"FAST", ir::Scalar::boolean(false)}}, {}};
    }
    mutable int calls = 0;

private:
    std::int64_t block_;
};

class RecordingTuner final : public Tuner {
public:
    void consider(const TuningRequest& request) override { requests.push_back(request); }
    std::vector<TuningRequest> requests;
};

TEST_SUITE("unit") {
    TEST_CASE("choice: the default, the caller's, the exact and the nearest, and how they were chosen") {
        Launches launches;
        LaunchInfo info = launches.launch(64);
        CHECK(info.choice == Choice::by_default);
        CHECK(info.tunables.at("BLOCK") == "16");
        info = launches.launch(64, {{"BLOCK", 64}});
        CHECK(info.choice == Choice::given);
        CHECK(info.tunables.at("BLOCK") == "64");

        launches.store->record(launches.row(64, "32", "false", 1e-3));
        info = launches.launch(64);  // swapped by what was recorded in the meantime
        CHECK(info.choice == Choice::exact);
        CHECK(info.chosen_from == "N=64");
        CHECK(info.tunables.at("BLOCK") == "32");
        CHECK(info.tunables.at("FAST") == "false");
        info = launches.launch(64);
        CHECK(info.choice == Choice::exact);
        CHECK(info.source == LaunchInfo::Source::memory);
        info = launches.launch(96);
        CHECK(info.choice == Choice::nearest_shape);
        CHECK(info.chosen_from == "N=64");
        CHECK(info.tunables.at("BLOCK") == "32");
        CHECK(name(info.choice) == "nearest_shape");
    }

    TEST_CASE("choice: rows of another device of the family serve when there are no others") {
        Launches launches;
        Measurement row = launches.row(64, "64", "true", 1e-3);
        row.device.units += 1;
        row.device.fingerprint += " and more";
        launches.store->record(row);
        const LaunchInfo info = launches.launch(64);
        CHECK(info.choice == Choice::nearest_device);
        CHECK(info.tunables.at("BLOCK") == "64");
        CHECK(info.chosen_from.starts_with("cpu ("));
    }

    TEST_CASE("choice: a stored configuration that the kernel does not have, or that is illegal here, costs nothing") {
        Launches launches;
        SUBCASE("a value that is not in the lists") {
            launches.store->record(launches.row(64, "1000000007", "true", 1e-6));
        }
        SUBCASE("a value that is no number") {
            launches.store->record(launches.row(64, "wide", "true", 1e-6));
        }
        SUBCASE("one that a `where` excludes") {
            launches.store->record(launches.row(64, "1024", "false", 1e-6));
        }
        SUBCASE("a tunable of another kernel") {
            Measurement row = launches.row(64, "32", "true", 1e-6);
            row.configuration["WARPS"] = {"4", ""};
            launches.store->record(row);
        }
        SUBCASE("a tunable without a value") {
            Measurement row = launches.row(64, "32", "true", 1e-6);
            row.configuration.erase("FAST");
            launches.store->record(row);
        }
        SUBCASE("one that these sizes do not allow") {
            launches.store->record(launches.row(1024, "1024", "true", 1e-6));
        }
        LaunchInfo info = launches.launch(64);
        CHECK(info.choice == Choice::by_default);
        CHECK(info.tunables.at("BLOCK") == "16");
        info = launches.launch(64);
        CHECK(info.choice == Choice::by_default);
        launches.store->record(launches.row(64, "64", "true", 1e-3));
        CHECK(launches.launch(64).tunables.at("BLOCK") == "64");
    }

    TEST_CASE("choice: illegal rows are passed over until a legal one comes") {
        Launches launches;
        for (const char* value : {"17", "18", "19"}) launches.store->record(launches.row(64, value, "true", 1e-6));
        launches.store->record(launches.row(64, "64", "false", 1e-3));
        CHECK(launches.launch(64).tunables.at("BLOCK") == "64");
    }

    TEST_CASE("choice: without rows the model answers, once a problem; what it gets wrong is not used") {
        Launches launches;
        SUBCASE("an answer") {
            const auto model = std::make_shared<FixedModel>(32);
            install_model(model);
            for (int i = 0; i < 3; ++i) {
                const LaunchInfo info = launches.launch(64);
                CHECK(info.choice == Choice::model);
                CHECK(info.tunables.at("BLOCK") == "32");
            }
            CHECK(model->calls == 1);
            launches.store->record(launches.row(64, "64", "true", 1e-3));
            CHECK(launches.launch(64).choice == Choice::exact);
            CHECK(model->calls == 1);
        }
        SUBCASE("an answer that these sizes do not allow") {
            install_model(std::make_shared<FixedModel>(64));
            CHECK(launches.launch(96).choice == Choice::by_default);
            CHECK(launches.launch(96).choice == Choice::by_default);
        }
        SUBCASE("an error") {
            install_model(std::make_shared<FixedModel>(0));
            CHECK(launches.launch(64).choice == Choice::by_default);
        }
    }

    TEST_CASE("choice: the model's answer is kept in the cache, and asked for anew where its entry is damaged") {
        const tests::TemporaryFolder folder;
        ::setenv("KILN_CACHE", folder.path().c_str(), 1);
        const auto model = std::make_shared<FixedModel>(32);
        const auto launch_anew = [&] {
            Launches launches;
            install_model(model);
            const LaunchInfo info = launches.launch(64);
            CHECK(info.choice == Choice::model);
            CHECK(info.tunables.at("BLOCK") == "32");
        };
        launch_anew();
        launch_anew();
        CHECK(model->calls == 1);
        for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
            std::filesystem::resize_file(entry.path(), std::filesystem::file_size(entry.path()) / 2);
        launch_anew();
        CHECK(model->calls == 2);
    }

    TEST_CASE("choice: the tuner hears once of each problem that has no exact row") {
        Launches launches;
        const auto tuner = std::make_shared<RecordingTuner>();
        install_tuner(tuner);
        launches.store->record(launches.row(64, "32", "true", 1e-3));
        launches.launch(64);
        CHECK(tuner->requests.empty());
        for (int i = 0; i < 3; ++i) launches.launch(96);
        launches.launch(128);
        launches.launch(160, {{"BLOCK", 32}});  // the caller chose
        REQUIRE(tuner->requests.size() == 2);
        const TuningRequest& request = tuner->requests[0];
        CHECK(request.problem.sizes == std::map<std::string, std::int64_t>{{"N", 96}});
        CHECK(request.problem.kernel == launches.identity);
        CHECK(request.launch.kernel == "scale");
        REQUIRE(request.launch.tensors.size() == 2);
        CHECK(request.launch.tensors[0].sizes == std::vector<std::int64_t>{96});
        launches.store->record(launches.row(96, "32", "false", 1e-3));  // what the tuner found
        CHECK(launches.launch(96).choice == Choice::exact);
    }

    TEST_CASE("choice: a launch that is wrong by itself says so, whatever is stored or pinned") {
        Launches launches;
        launches.store->record(launches.row(64, "64", "true", 1e-3));
        const Module module = Module::from_text(kText, "scale.kiln");
        std::vector<float> x(64), y(64);
        const auto wrong = module.kernel("scale").try_launch(Device::open("cpu").stream(), tensor(x.data(), {64}),
                                                             tensor(y.data(), {32}));
        REQUIRE(!wrong);
        CHECK(std::string(wrong.error().what()).find("N") != std::string::npos);
        CHECK(launches.launch(64).choice == Choice::exact);  // nothing was dropped for it
    }

    TEST_CASE("choice: finding what was chosen before is a look-up in memory") {
        const Launches launches;
        const ModuleState module("scale.kiln", [](const std::string&) { return std::optional<std::string>(kText); });
        const frontend::KernelSignature& signature = module.find("scale");
        std::vector<float> memory(64);
        SelectionMemo<int> memo;
        for (std::int64_t n = 1; n <= 64; ++n) {
            const Argument arguments[] = {tensor(memory.data(), {n}), tensor(memory.data(), {n})};
            const std::vector<const Argument*> matched = match_arguments(signature, arguments);
            memo.keep(launch_key(signature, matched, false), 1, std::make_shared<const int>(static_cast<int>(n)));
        }
        const Argument arguments[] = {tensor(memory.data(), {48}), tensor(memory.data(), {48})};
        const std::vector<const Argument*> matched = match_arguments(signature, arguments);
        CHECK(*memo.find(launch_key(signature, matched, false), 1) == 48);
        CHECK(memo.find(launch_key(signature, matched, false), 2) == nullptr);
        double best = 1;
        for (int round = 0; round < 50; ++round) {
            const auto start = std::chrono::steady_clock::now();
            int sum = 0;
            for (int i = 0; i < 1000; ++i) sum += *memo.find(launch_key(signature, matched, false), 1);
            const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
            CHECK(sum == 48000);
            best = std::min(best, seconds / 1000);
        }
        MESSAGE("a look-up in memory: ", best * 1e9, " ns");
        CHECK(best < 2e-5);  // the aim is 50 ns; sanitizers and busy machines are slower, but asking again takes 200 us
    }

    TEST_CASE("choice: eight threads launch one cold problem, and agree") {
        Launches launches;
        launches.store->record(launches.row(64, "32", "true", 1e-3));
        std::vector<std::thread> threads;
        std::vector<std::string> blocks(8);
        for (std::size_t t = 0; t < 8; ++t) {
            threads.emplace_back([&, t] { blocks[t] = launches.launch(64).tunables.at("BLOCK"); });
        }
        for (std::thread& thread : threads) thread.join();
        for (const std::string& block : blocks) CHECK(block == "32");
    }
}

TEST_SUITE("tuner") {
    TEST_CASE("fault: lock: a pin holds for what it names, the most specific first, before the store") {
        Launches launches;
        const TemporaryFolder folder;
        launches.store->record(launches.row(64, "16", "true", 1e-6));
        write_bytes(folder.in("kiln.lock"), R"({"kiln_lock": 1, "pins": [
            {"kernel": "scale", "configuration": {"BLOCK": 32, "FAST": true}},
            {"kernel": "scale", "sizes": {"N": 64}, "arguments": {"x": "f32"}, "target": "cpu", "file": "scale.kiln",
             "configuration": {"BLOCK": "64", "FAST": false}},
            {"kernel": "other", "configuration": {}}]})");
        use_tuning_lock(folder.in("kiln.lock"));
        LaunchInfo info = launches.launch(64);
        CHECK(info.choice == Choice::pinned);
        CHECK(info.chosen_from == folder.in("kiln.lock") + ":3");
        CHECK(info.tunables.at("BLOCK") == "64");
        CHECK(launches.launch(96).tunables.at("BLOCK") == "32");
        CHECK(launches.launch(96, {{"BLOCK", 16}}).choice == Choice::given);
    }

    TEST_CASE("fault: lock: a pin that is illegal is an error with file and line") {
        Launches launches;
        const TemporaryFolder folder;
        std::string expected;
        SUBCASE("for these sizes") {
            write_bytes(folder.in("kiln.lock"),
                        "{\"kiln_lock\": 1, \"pins\": [\n\n{\"kernel\": \"scale\", \"configuration\": {\"BLOCK\": 64, "
                        "\"FAST\": true}}]}");
            expected = "illegal here";
        }
        SUBCASE("for its kernel") {
            write_bytes(folder.in("kiln.lock"),
                        "{\"kiln_lock\": 1,\n\"pins\": [\n{\"kernel\": \"scale\", \"configuration\": {\"BLOK\": 64, "
                        "\"FAST\": true}}]}");
            expected = "no tunable `BLOK`";
        }
        SUBCASE("by a `where`") {
            write_bytes(folder.in("kiln.lock"),
                        "{\"kiln_lock\": 1,\n\"pins\": [\n{\"kernel\": \"scale\", \"configuration\": {\"BLOCK\": 1024, "
                        "\"FAST\": false}}]}");
            expected = "illegal here";
        }
        use_tuning_lock(folder.in("kiln.lock"));
        std::string message;
        try {
            launches.launch(96);
        } catch (const Error& error) {
            message = error.what();
            CHECK(error.kind() == ErrorKind::user);
        }
        CHECK_MESSAGE(message.starts_with(folder.in("kiln.lock") + ":3: "), message);
        CHECK_MESSAGE(message.find(expected) != std::string::npos, message);
    }

    TEST_CASE("fault: lock: damaged lock files are errors with file and line, never a silent other choice") {
        const std::pair<const char*, const char*> cases[] = {
            {"", "kiln.lock:1: "},
            {"{\n\n\"kiln_lock\": 1,\n \"pins\": [}", "kiln.lock:4: "},
            {"[]", "lacks `\"kiln_lock\": 1`"},
            {"{\"kiln_lock\": 2, \"pins\": []}", "newer Kiln"},
            {"{\"kiln_lock\": 1, \"pin\": []}", "no field `pin`"},
            {"{\"kiln_lock\": 1, \"pins\": [\n{\"kernel\": \"a\"}]}",
             "kiln.lock:2: the pin for `a` has no `configuration`"},
            {"{\"kiln_lock\": 1, \"pins\": [\n{}]}", "kiln.lock:2: a pin names no `kernel`"},
            {"{\"kiln_lock\": 1, \"pins\": [\n{\"kernel\": \"a\", \"size\": {}, \"configuration\": {}}]}",
             "no field `size`"},
            {"{\"kiln_lock\": 1, \"pins\": [\n{\"kernel\": \"a\", \"configuration\": {\"X\": 1.5}}]}", "kiln.lock:2: "},
            {"{\"kiln_lock\": 1, \"pins\": [\n{\"kernel\": \"a\", \"sizes\": {\"N\": \"x\"}, \"configuration\": {}}]}",
             "kiln.lock:2: "},
            {"{\"kiln_lock\": 1, \"pins\": [\n{\"kernel\": \"a\", \"configuration\": {\"X\": 1}},\n"
             "{\"kernel\": \"a\", \"configuration\": {\"X\": 2}}]}",
             "kiln.lock:3: `a` is pinned to another configuration in line 2"},
        };
        for (const auto& [text, expected] : cases) {
            std::string message;
            try {
                TuningLock::parse(text, "kiln.lock");
            } catch (const Error& error) {
                message = error.what();
            }
            CHECK_MESSAGE(message.find(expected) != std::string::npos, text, " gave: ", message);
        }
        CHECK_THROWS_AS(TuningLock::read("/nonexistent/kiln.lock"), Error);
    }

    TEST_CASE("fault: lock: one made of rows pins the fastest of each problem, and is read back") {
        Launches launches;
        const std::vector<Measurement> rows = {launches.row(64, "16", "true", 2e-3),
                                               launches.row(64, "32", "false", 1e-3),
                                               launches.row(96, "32", "true", 1e-3)};
        const TuningLock lock = TuningLock::parse(make_lock(rows), "made.lock");
        REQUIRE(lock.pins().size() == 2);
        const Pin* pin = lock.find(launches.problem(64), rows[0].device);
        REQUIRE(pin != nullptr);
        CHECK(pin->configuration == rows[1].configuration);
        CHECK(make_lock({rows[2], rows[1], rows[0]}) == make_lock(rows));
        CHECK(lock.find(launches.problem(128), rows[0].device) == nullptr);
    }
}

}  // namespace
}  // namespace kiln::runtime
