// The CUDA half of the runtime on a driver that pretends: what is called, in which order, and what becomes of failures.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "runtime/cuda/cuda_backend.h"
#include "runtime/cuda/driver.h"
#include "tests/runtime/gpu/gpu_support.h"

namespace kiln::test {
namespace {

struct FakeCuda {
    FakeLibrary driver{"KILN_CUDA_DRIVER", FAKE_CUDA_DRIVER};

    std::shared_ptr<runtime::DeviceBackend> device(std::size_t index = 0) const {
        const runtime::gpu::FoundBackends& found = runtime::cuda::backends();
        REQUIRE_MESSAGE(found.devices.size() > index, found.reason);
        REQUIRE_MESSAGE(found.devices[index].backend != nullptr, found.devices[index].reason);
        return found.devices[index].backend;
    }
    std::shared_ptr<HandWrittenBackend> hand(std::size_t index = 0, std::int64_t shared_bytes = 0) const {
        return std::make_shared<HandWrittenBackend>(
            device(index), [=](const ir::Kernel& kernel) { return fake_artifact(kernel, shared_bytes); });
    }
    /// Where in the trace the calls of a function are.
    std::vector<std::string> calls_since(std::size_t begin) const {
        return {driver->trace.begin() + static_cast<std::ptrdiff_t>(begin), driver->trace.end()};
    }
};

/// Everything that a launch with scratch does, from allocation to the result.
void use_all(const runtime::DeviceBackend& backend) {
    const std::shared_ptr<runtime::DeviceStream> stream = backend.make_stream();
    const DeviceVector x(backend, {1, 2, 3, 4, 5}), y(backend, {0, 0, 0, 0, 0});
    const auto prepared =
        hand_kernel("reversed")->prepare({backend, stream}, std::vector<Argument>{x.tensor(), y.tensor()});
    prepared->bound().run();
    prepared->bound().run();
    const auto first = stream->record(), last = stream->record();
    stream->wait(*first);
    last->synchronise();
    const double seconds = last->seconds_since(*first);
    CHECK(seconds == doctest::Approx(2e-3));
    stream->synchronise();
    y.values();
}

std::string why_no_driver() {
    const runtime::gpu::FoundDriver& found = runtime::cuda::driver();
    return found.driver == nullptr ? found.reason : "there is one";
}

TEST_SUITE("unit") {
    TEST_CASE("cuda driver: a file that is not there is a reason that names it") {
        ::setenv("KILN_CUDA_DRIVER", "/nowhere/lib.so", 1);
        CHECK(contains(why_no_driver(), "KILN_CUDA_DRIVER is `/nowhere/lib.so`: /nowhere/lib.so"));
        CHECK(runtime::cuda::backends().devices.empty());
    }

    TEST_CASE("cuda driver: a folder without a driver is a reason that names it") {
        ::setenv("KILN_CUDA_DRIVER", "/tmp", 1);
        CHECK(contains(why_no_driver(), "/tmp/libcuda.so.1"));
    }

    TEST_CASE("cuda driver: a library that is no driver is a reason that names what it lacks") {
        ::setenv("KILN_CUDA_DRIVER", FAKE_HIP_5_DRIVER, 1);
        CHECK(contains(why_no_driver(), "is too old or no CUDA driver: it lacks cuInit"));
    }

    TEST_CASE("cuda driver: one that lacks a function is a reason that names it") {
        ::setenv("KILN_CUDA_DRIVER", FAKE_CUDA_OLD_DRIVER, 1);
        CHECK(contains(why_no_driver(), "it lacks cuStreamIsCapturing"));
    }

    TEST_CASE("cuda driver: one that does not start is a reason") {
        const FakeCuda fake;
        fake.driver->failures["cuInit"] = 100;
        CHECK(contains(why_no_driver(), "does not start: CUDA_ERROR_OF_THE_FAKE"));
        CHECK(runtime::cuda::backends().devices.empty());
    }

    TEST_CASE("cuda driver: one that is too old is a reason") {
        const FakeCuda fake;
        fake.driver->version = 11010;
        CHECK(contains(why_no_driver(), "is version 11.1, and Kiln needs 11.2 or newer"));
    }

    TEST_CASE("cuda driver: one that has no device is a reason") {
        const FakeCuda fake;
        fake.driver->devices = 0;
        CHECK(contains(why_no_driver(), "finds no device"));
    }

    TEST_CASE("cuda device: what it is, and the two parts of a launch in order with their slots") {
        const FakeCuda fake;
        const auto backend = fake.hand();
        CHECK(backend->name() == "cuda:0");
        CHECK(contains(backend->description(), "Fake GPU (sm_80, 7 units, 1024 MiB"));
        CHECK(contains(backend->fingerprint(), "sm_80"));
        CHECK(backend->units() == 7);
        const DeviceVector x(*backend, {1, 2, 3, 4, 5}), y(*backend, {0, 0, 0, 0, 0});
        fake.driver->slots = 9;
        const std::vector<Argument> arguments = {x.tensor(), y.tensor(), 2.0};
        hand_kernel("twice")->prepare(*backend, arguments)->bound().run();
        REQUIRE(fake.driver->launches.size() == 1);
        const FakeLaunch launch = fake.driver->launches[0];
        CHECK(launch.function == "twice");
        CHECK(launch.blocks == 2);
        CHECK(launch.threads == 64);
        CHECK(launch.stream == nullptr);
        const auto address = [](const DeviceVector& v) { return reinterpret_cast<std::uint64_t>(v.memory.get()); };
        CHECK(launch.slots == std::vector<std::uint64_t>{0, 2, address(x), 5, 1, address(y), 5, 1, 0x40000000});
        fake.driver->slots = 8;
        hand_kernel("reversed")->prepare(*backend, std::vector<Argument>{x.tensor(), y.tensor()})->bound().run();
        REQUIRE(fake.driver->launches.size() == 3);
        const FakeLaunch &first = fake.driver->launches[1], &second = fake.driver->launches[2];
        CHECK(first.function == "reversed_0");
        CHECK(second.function == "reversed_1");
        CHECK(second.blocks == 5);
        CHECK(first.slots[5] == second.slots[2]);  // the scratch tensor
        CHECK(first.slots[5] % 256 == 0);
        CHECK(std::vector<std::uint64_t>(first.slots.begin() + 6, first.slots.end()) ==
              std::vector<std::uint64_t>{5, 1});
        const auto* scratch = reinterpret_cast<const float*>(first.slots[5]);
        CHECK(std::vector<float>(scratch, scratch + 5) == std::vector<float>(5, 7));
    }

    TEST_CASE("cuda device: a prepared launch calls the driver twice, and three times from a foreign context") {
        const FakeCuda fake;
        const auto backend = fake.hand();
        const DeviceVector x(*backend, {1, 2, 3}), y(*backend, {0, 0, 0});
        const auto prepared =
            hand_kernel("twice")->prepare(*backend, std::vector<Argument>{x.tensor(), y.tensor(), 2.0});
        fake.driver->contexts = {reinterpret_cast<void*>(0x1000)};
        std::size_t begin = fake.driver->trace.size();
        prepared->bound().run();
        CHECK(fake.calls_since(begin) == std::vector<std::string>{"cuCtxGetCurrent", "cuLaunchKernel"});
        for (const std::uintptr_t foreign : {0x9999, 0x1001}) {
            fake.driver->contexts = {reinterpret_cast<void*>(foreign)};
            begin = fake.driver->trace.size();
            prepared->bound().run();
            CHECK(fake.calls_since(begin) == std::vector<std::string>{"cuCtxGetCurrent", "cuCtxPushCurrent_v2",
                                                                      "cuLaunchKernel", "cuCtxPopCurrent_v2"});
            CHECK(fake.driver->contexts == std::vector<void*>{reinterpret_cast<void*>(foreign)});
        }
        const auto far = fake.hand(1);
        const DeviceVector other(*far, {1});
        CHECK(fake.driver->contexts == std::vector<void*>{reinterpret_cast<void*>(0x1001)});
    }

    TEST_CASE("cuda device: more programs than a launch has blocks are several launches") {
        const FakeCuda fake;
        fake.driver->blocks_per_launch = 2;
        fake.driver->slots = 9;
        const auto backend = fake.hand();
        const DeviceVector x(*backend, std::vector<float>(18)), y(*backend, std::vector<float>(18));
        const auto prepared =
            hand_kernel("twice")->prepare(*backend, std::vector<Argument>{x.tensor(), y.tensor(), 2.0});
        prepared->bound().run();
        std::vector<std::pair<std::uint64_t, unsigned>> parts;
        for (const FakeLaunch& launch : fake.driver->launches) parts.emplace_back(launch.slots[0], launch.blocks);
        CHECK(parts == std::vector<std::pair<std::uint64_t, unsigned>>{{0, 2}, {2, 2}, {4, 1}});
        fake.driver->launches.clear();
        prepared->bound().run_programs(0, 3, 4);
        REQUIRE(fake.driver->launches.size() == 1);
        CHECK(fake.driver->launches[0].slots[0] == 3);
        CHECK(fake.driver->launches[0].blocks == 1);
    }

    TEST_CASE("cuda device: an empty tensor launches nothing, and needs no pointer") {
        const FakeCuda fake;
        const auto backend = fake.hand();
        const Tensor empty = tensor(f32, nullptr, {0});
        hand_kernel("twice")->prepare(*backend, std::vector<Argument>{empty, empty, 2.0})->bound().run();
        CHECK(fake.driver->launches.empty());
    }

    TEST_CASE("cuda device: shared memory above 48 KiB is asked for, and too much of a resource is named") {
        const FakeCuda fake;
        const DeviceVector x(*fake.device(), {1}), y(*fake.device(), {1});
        const std::vector<Argument> arguments = {x.tensor(), y.tensor(), 2.0};
        hand_kernel("twice")->prepare(*fake.hand(0, 48 << 10), arguments);
        CHECK(fake.driver->counts["cuFuncSetAttribute"] == 0);
        hand_kernel("twice")->prepare(*fake.hand(0, 100 << 10), arguments);
        CHECK(fake.driver->counts["cuFuncSetAttribute"] == 1);
        const auto refusal = [&](std::int64_t shared) {
            return error_of([&] { hand_kernel("twice")->prepare(*fake.hand(0, shared), arguments); });
        };
        CHECK(contains(refusal(200 << 10), "twice needs 204800 bytes of shared memory a block, and cuda:0 has 166912"));
        fake.driver->threads_per_block = 32;
        CHECK(contains(refusal(0), "twice has 64 threads a block, and its registers leave room for 32"));
    }

    TEST_CASE("cuda device: code in its portable form where the driver refuses the binary, and both refusals else") {
        const FakeCuda fake;
        fake.driver->refuses_binary = true;
        const auto backend = fake.hand();
        const DeviceVector x(*backend, {1}), y(*backend, {1});
        const std::vector<Argument> arguments = {x.tensor(), y.tensor(), 2.0};
        hand_kernel("twice")->prepare(*backend, arguments)->bound().run();
        CHECK(fake.driver->counts["cuModuleLoadDataEx"] == 2);
        // The same code is loaded once, whoever asks.
        hand_kernel("twice")->prepare(*backend, arguments)->bound().run();
        CHECK(fake.driver->counts["cuModuleLoadDataEx"] == 2);
        fake.driver->refuses_all = true;
        const std::string error = error_of([&] { hand_kernel("reversed")->prepare(*fake.hand(1), {}); });
        CHECK(contains(error, "`x` of `reversed` was not given"));
        const DeviceVector far_x(*fake.device(1), {1}), far_y(*fake.device(1), {1});
        const std::string refused = error_of([&] {
            hand_kernel("twice")->prepare(*fake.hand(1), std::vector<Argument>{far_x.tensor(), far_y.tensor(), 2.0});
        });
        CHECK(contains(refused, "compiler: the code of `twice` does not load: CUDA_ERROR_OF_THE_FAKE"));
        CHECK(contains(refused, "of its PTX: CUDA_ERROR_OF_THE_FAKE (words of the driver): no such instruction"));
    }

    TEST_CASE("cuda device: a pointer of the host or of another device is an error of the caller") {
        const FakeCuda fake;
        const auto backend = fake.hand();
        const DeviceVector x(*backend, {1}), y(*backend, {1}), far(*fake.device(1), {1});
        std::vector<float> host(1);
        const auto launch = [&](const Tensor& first) {
            return error_of([&] {
                hand_kernel("twice")->prepare(*backend, std::vector<Argument>{first, y.tensor(), 2.0});
            });
        };
        CHECK(contains(launch(tensor(host.data(), {1})),
                       "user: `x` lies in the memory of the host, and the launch is on cuda:0"));
        CHECK(contains(launch(far.tensor()), "user: `x` lies in the memory of cuda:1, and the launch is on cuda:0"));
        Tensor foreign = x.tensor();
        foreign.home = MemoryHome::hip;
        CHECK(contains(launch(foreign), "user: `x` lies in the memory of another GPU"));
        CHECK(launch(x.tensor()).empty());
    }

    TEST_CASE(
        "cuda device: each function that fails is a device error in the driver's words, and contexts are restored") {
        const FakeCuda fake;
        const auto backend = fake.hand();
        use_all(*backend);
        const std::vector<std::string> functions = [&] {
            std::vector<std::string> names;
            for (const auto& [name, count] : fake.driver->counts) names.push_back(name);
            return names;
        }();
        REQUIRE(functions.size() > 20);
        const auto foreign = reinterpret_cast<void*>(0x9999);
        std::size_t failing = 0;
        for (const std::string& function : functions) {
            for (const int code : {2, 719}) {
                CAPTURE(function);
                fake.driver->contexts = {foreign};
                fake.driver->failures = {{function, code}};
                const std::string error = error_of([&] { use_all(*fake.hand()); });
                fake.driver->failures.clear();
                if (function != "cuCtxPopCurrent_v2") CHECK(fake.driver->contexts == std::vector<void*>{foreign});
                if (error.empty()) continue;
                ++failing;
                CHECK(contains(error, "device: the CUDA driver could not "));
                CHECK(contains(error,
                               code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY (out of memory)" : "CUDA_ERROR_LAUNCH_FAILED"));
            }
        }
        CHECK(failing > 24);
        fake.driver->contexts = {foreign};
        use_all(*fake.hand());
    }

    TEST_CASE("cuda scratch: one block serves launch after launch, and too much is refused before anything runs") {
        const FakeCuda fake;
        const auto backend = fake.hand();
        const DeviceVector x(*backend, {1, 2}), y(*backend, {0, 0});
        const std::vector<Argument> arguments = {x.tensor(), y.tensor()};
        const auto prepared = hand_kernel("reversed")->prepare(*backend, arguments);
        const int before = fake.driver->counts["cuMemAlloc_v2"];
        for (int i = 0; i < 5; ++i) prepared->bound().run();
        CHECK(fake.driver->counts["cuMemAlloc_v2"] == before + 1);
        fake.driver->failures["cuEventQuery"] = 600;  // still in use, as far as another stream can tell
        hand_kernel("reversed")->prepare({*backend, backend->make_stream()}, arguments)->bound().run();
        CHECK(fake.driver->counts["cuMemAlloc_v2"] == before + 2);
        Tensor huge = x.tensor(), out = y.tensor();
        huge.sizes = out.sizes = {std::int64_t{1} << 28};
        huge.strides = {0};
        const std::string error = error_of([&] {
            hand_kernel("reversed")->prepare(*backend, std::vector<Argument>{huge, out});
        });
        CHECK(contains(error, "device: `reversed` needs 1073741824 bytes of scratch memory"));
        CHECK(contains(error, "cuda:0 allows 536870912, half of what it has"));
    }

    TEST_CASE("cuda capture: a cold launch is refused untouched; a warm one takes its scratch from the graph") {
        const FakeCuda fake;
        const auto backend = fake.hand();
        const DeviceVector x(*backend, {1, 2}), y(*backend, {0, 0});
        const std::vector<Argument> arguments = {x.tensor(), y.tensor()};
        const auto stream = backend->make_stream();
        const auto kernel = hand_kernel("reversed");
        fake.driver->capturing = stream->native();
        const std::size_t begin = fake.driver->trace.size();
        const std::string error = error_of([&] { kernel->prepare({*backend, stream}, arguments); });
        CHECK(contains(error,
                       "user: `reversed` is not loaded yet for these arguments, and its stream is being captured"));
        for (const std::string& call : fake.calls_since(begin)) {
            CHECK_MESSAGE((call.starts_with("cuCtx") || call == "cuStreamIsCapturing"), call);
        }
        fake.driver->capturing = reinterpret_cast<void*>(-1);
        kernel->prepare(*backend, arguments);
        fake.driver->capturing = stream->native();
        kernel->prepare({*backend, stream}, arguments)->bound().run();
        CHECK(fake.driver->counts["cuMemAllocAsync"] == 1);
        CHECK(fake.driver->counts["cuMemFreeAsync"] == 1);
        CHECK(fake.driver->launches.size() == 2);
        CHECK(fake.driver->launches[0].stream == stream->native());
    }

    TEST_CASE("cuda device: in a child of a fork it is an error that says so") {
        const FakeCuda fake;
        const auto backend = fake.hand();
        const DeviceVector x(*backend, {1}), y(*backend, {1});
        const auto prepared =
            hand_kernel("twice")->prepare(*backend, std::vector<Argument>{x.tensor(), y.tensor(), 2.0});
        const pid_t child = ::fork();
        if (child == 0) {
            const std::string error = error_of([&] { prepared->bound().run(); });
            ::_exit(contains(error, "device: cuda:0 was opened before this process was forked") ? 7 : 1);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        CHECK(WEXITSTATUS(status) == 7);
        prepared->bound().run();
    }
}

}  // namespace
}  // namespace kiln::test
