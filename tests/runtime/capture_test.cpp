#include "runtime/capture.h"

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cmath>
#include <limits>

#include "kiln/kiln.hpp"
#include "store_support.h"

namespace kiln::runtime {
namespace {

CapturedLaunch gemm_launch() {
    CapturedLaunch launch;
    launch.file = "kiln/gemm.kiln";
    launch.identity = "0123";
    launch.kernel = "gemm";
    launch.device = "cpu";
    launch.generics = {{"T", "bf16"}};
    launch.tensors = {{"a", DType::bf16, {97, 64}, {64, 1}}, {"b", DType::bf16, {64, 0}, {-1, 64}}};
    launch.numbers = {{"alpha", 0.1},
                      {"count", std::int64_t{3}},
                      {"causal", true},
                      {"huge", std::numeric_limits<double>::infinity()}};
    return launch;
}

TEST_SUITE("unit") {
    TEST_CASE("capture: a launch is the same after a trip through its line") {
        const CapturedLaunch launch = gemm_launch();
        std::string reason;
        const auto back = parse_captured(to_line(launch), reason);
        REQUIRE_MESSAGE(back, reason);
        CHECK(*back == launch);
        CHECK(to_line(launch).find('\n') == std::string::npos);
    }

    TEST_CASE("capture: launches of an application are recorded once, whatever their numbers, and never their data") {
        const TemporaryFolder folder;
        const std::string path = folder.in("capture.jsonl");
        const Module module = Module::from_text(
            "kernel scale<T: float>(x: in T[N], y: out T[N], factor: f32 = 2)\n  tune BLOCK in {16, 32}\n"
            "grid i in 0 .. N by BLOCK { y[i :+ BLOCK] = T(factor) * x[i :+ BLOCK] }\n",
            "scale.kiln");
        const Stream stream = Device::open("cpu").stream();
        std::vector<float> x(64, 12345), y(64);
        const auto launch = [&](std::int64_t n, double factor) {
            module.kernel("scale", {{"T", f32}}).launch(stream, tensor(x.data(), {n}), tensor(y.data(), {n}), factor);
        };
        launch(64, 1);  // before: not recorded
        capture(path);
        launch(64, 1);
        launch(64, 2);
        launch(32, 2);
        Tensor strided = tensor(x.data(), {32});
        strided.strides[0] = 2;
        module.kernel("scale").launch(stream, strided, tensor(y.data(), {32}));
        CHECK(!module.kernel("scale").try_launch(stream, tensor(x.data(), {64})));
        capture("");
        launch(16, 1);
        const auto file = read_capture(path);
        REQUIRE(file);
        CHECK(file->problems.empty());
        REQUIRE(file->launches.size() == 3);
        const CapturedLaunch& first = file->launches[0];
        CHECK(first.file == "scale.kiln");
        CHECK(first.kernel == "scale");
        CHECK(first.device == "cpu");
        CHECK(first.generics == std::map<std::string, std::string>{{"T", "f32"}});
        CHECK(first.tunables.empty());
        REQUIRE(first.tensors.size() == 2);
        CHECK(first.tensors[0] == CapturedTensor{"x", DType::f32, {64}, {1}});
        CHECK(first.numbers == std::map<std::string, CapturedNumber>{{"factor", 1.0}});
        CHECK(file->launches[1].tensors[0].sizes[0] == 32);
        CHECK(file->launches[2].tensors[0].strides[0] == 2);
        CHECK(file->launches[2].numbers.empty());
        CHECK(read_bytes(path).find("12345") == std::string::npos);
    }

    TEST_CASE("capture: a file of a kernel is named so that another folder's process finds it") {
        const TemporaryFolder folder;
        write_bytes(folder.in("copy.kiln"),
                    "kernel copy(x: in f32[N], y: out f32[N])\ngrid i in 0 .. N { y[i] = x[i] }\n");
        capture(folder.in("capture.jsonl"));
        std::vector<float> x(4, 1), y(4);
        const auto relative = std::filesystem::relative(folder.in("copy.kiln")).string();
        Module::from_file(relative).kernel("copy").launch(Device::open("cpu").stream(), tensor(x.data(), {4}),
                                                          tensor(y.data(), {4}));
        capture("");
        const auto file = read_capture(folder.in("capture.jsonl"));
        REQUIRE(file);
        REQUIRE(file->launches.size() == 1);
        CHECK(std::filesystem::equivalent(file->launches[0].file, folder.in("copy.kiln")));
        CHECK(file->launches[0].file.starts_with("/"));
    }
}

TEST_SUITE("faults") {
    TEST_CASE("capture: damaged lines are passed over and named, doubled ones are one") {
        const TemporaryFolder folder;
        const std::string line = to_line(gemm_launch());
        CapturedLaunch other_number = gemm_launch();
        other_number.numbers["alpha"] = 7.0;
        std::string newer = line;
        newer.replace(newer.find("\"kiln_capture\":1"), 16, "\"kiln_capture\":9");
        write_bytes(folder.in("c.jsonl"), line + "\n" + to_line(other_number) + "\n" + line.substr(0, 50) + "\n{}\n" +
                                              newer + "\n\n\xff\n" + line);
        const auto file = read_capture(folder.in("c.jsonl"));
        REQUIRE(file);
        CHECK(file->launches.size() == 1);
        CHECK(file->problems.size() == 4);
        CHECK(file->problems[0].starts_with(folder.in("c.jsonl") + ":3: "));
        CHECK(!read_capture("/nonexistent.jsonl"));
        for (std::size_t length = 0; length < line.size(); ++length) {
            std::string reason;
            CHECK(!parse_captured(line.substr(0, length), reason));
        }
    }

    TEST_CASE("capture: several processes append to one file, and every line is whole") {
        const TemporaryFolder folder;
        std::vector<pid_t> children;
        for (int child = 0; child < 4; ++child) {
            children.push_back(::fork());
            if (children.back() != 0) continue;
            start_capture(folder.in("c.jsonl"));
            for (int i = 0; i < 100; ++i) {
                CapturedLaunch launch = gemm_launch();
                launch.tensors[0].sizes[0] = child * 100 + i;
                record_launch(launch);
            }
            ::_exit(0);
        }
        for (const pid_t child : children) ::waitpid(child, nullptr, 0);
        const auto file = read_capture(folder.in("c.jsonl"));
        REQUIRE(file);
        CHECK(file->problems.empty());
        CHECK(file->launches.size() == 400);
    }

    TEST_CASE("capture: a file that cannot be written is one warning, and launches go on") {
        const TemporaryFolder folder;
        const std::string printed = printed_by([&] {
            start_capture(folder.in("missing/c.jsonl"));
            CHECK(is_capturing());
            record_launch(gemm_launch());
            CHECK(!is_capturing());
            record_launch(gemm_launch());
        });
        CHECK(warnings_in(printed) == 1);
        start_capture("/dev/full");
        CHECK(warnings_in(printed_by([&] { record_launch(gemm_launch()); })) == 1);
        start_capture("");
    }
}

}  // namespace
}  // namespace kiln::runtime
