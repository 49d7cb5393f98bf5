// Kernels written by hand on the emulated device, through the driver interface that a program sees: what they compute,
// in graphs, on two devices, and from several threads.
#include <dlfcn.h>

#include <thread>

#include "runtime/cuda/cuda_backend.h"
#include "runtime/cuda/nvrtc.h"
#include "tests/runtime/gpu/gpu_support.h"
#include "tests/skip.h"

namespace kiln::test {
namespace {

/// Functions of the driver that a program around Kiln would call itself.
class HostProgram {
public:
    HostProgram() : library_(::dlopen(EMULATED_CUDA_DRIVER, RTLD_NOW | RTLD_LOCAL)) {}
    template <class... Arguments>
    int operator()(const char* name, Arguments... arguments) const {
        void* function = ::dlsym(library_, name);
        REQUIRE_MESSAGE(function != nullptr, name);
        return reinterpret_cast<int (*)(Arguments...)>(function)(arguments...);
    }

private:
    void* library_;
};

class Emulated {
public:
    Emulated() {
        ::setenv("KILN_CUDA_DRIVER", EMULATED_CUDA_DRIVER, 1);
        ::setenv("EMULATED_GPU_CAPABILITIES", "80,80", 1);
        if (runtime::cuda::nvrtc().compiler == nullptr) skip("nvrtc", runtime::cuda::nvrtc().reason);
        compiled_ =
            runtime::cuda::nvrtc().compiler->compile(kHandCuda, "hand", *codegen::gpu::find_target("sm_80").target);
    }
    std::shared_ptr<HandWrittenBackend> device(std::size_t index = 0) const {
        const runtime::gpu::FoundBackends& found = runtime::cuda::backends();
        REQUIRE_MESSAGE(found.devices.size() > index, found.reason);
        REQUIRE_MESSAGE(found.devices[index].backend != nullptr, found.devices[index].reason);
        return std::make_shared<HandWrittenBackend>(found.devices[index].backend, [this](const ir::Kernel& kernel) {
            return runtime::gpu::to_artifact(kernel, hand_source(kernel, kHandCuda), compiled_);
        });
    }

private:
    runtime::gpu::CompiledSource compiled_;
};

std::vector<float> counted(std::size_t size) {
    std::vector<float> values(size);
    for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<float>(i);
    return values;
}

std::vector<float> expected_reversed(std::vector<float> values) {
    for (float& value : values) value += 1;
    return {values.rbegin(), values.rend()};
}

TEST_SUITE("emulated_gpu") {
    TEST_CASE("emulated runtime: both kernels compute what they say, strides and scratch included") {
        const Emulated emulated;
        const auto backend = emulated.device();
        CHECK(contains(backend->description(), "Emulated GPU"));
        const std::vector<float> values = counted(11);
        const DeviceVector x(*backend, values), y(*backend, std::vector<float>(11)),
            z(*backend, std::vector<float>(22));
        hand_kernel("reversed")->prepare(*backend, std::vector<Argument>{x.tensor(), y.tensor()})->bound().run();
        CHECK(y.values() == expected_reversed(values));
        Tensor spread = z.tensor();
        spread.sizes = {11};
        spread.strides = {2};
        hand_kernel("twice")->prepare(*backend, std::vector<Argument>{x.tensor(), spread, 3.0})->bound().run();
        const std::vector<float> result = z.values();
        for (std::size_t i = 0; i < 11; ++i) {
            CHECK(result[2 * i] == 3 * values[i]);
            CHECK(result[2 * i + 1] == 0);
        }
    }

    TEST_CASE("emulated runtime: memory and code of two devices stay apart, and the host's context stays current") {
        const Emulated emulated;
        const HostProgram cu;
        void* context = nullptr;
        REQUIRE(cu("cuInit", 0U) == 0);
        REQUIRE(cu("cuCtxCreate_v2", &context, 0U, 1) == 0);
        for (const std::size_t index : {0, 1}) {
            const auto backend = emulated.device(index);
            const std::vector<float> values = counted(5 + index);
            const DeviceVector x(*backend, values), y(*backend, std::vector<float>(values.size()));
            hand_kernel("reversed")->prepare(*backend, std::vector<Argument>{x.tensor(), y.tensor()})->bound().run();
            CHECK(y.values() == expected_reversed(values));
            void* current = nullptr;
            CHECK(cu("cuCtxGetCurrent", &current) == 0);
            CHECK(current == context);
        }
    }

    TEST_CASE("emulated runtime: a pointer of the host is an error and not a fault of the device") {
        const Emulated emulated;
        const auto backend = emulated.device();
        std::vector<float> host(4);
        const DeviceVector y(*backend, std::vector<float>(4));
        CHECK(contains(
            error_of([&] {
                hand_kernel("reversed")->prepare(*backend, std::vector<Argument>{tensor(host.data(), {4}), y.tensor()});
            }),
            "`x` lies in the memory of the host"));
    }

    TEST_CASE("emulated runtime: cold in a capture is an error that leaves it valid; warm launches are captured") {
        const Emulated emulated;
        const HostProgram cu;
        const auto backend = emulated.device();
        const auto stream = backend->make_stream();
        const std::vector<float> values = counted(9);
        const DeviceVector x(*backend, values), y(*backend, std::vector<float>(9)), z(*backend, std::vector<float>(9));
        const auto twice = hand_kernel("twice");
        const std::vector<Argument> first = {x.tensor(), y.tensor(), 2.0}, second = {y.tensor(), z.tensor(), 5.0};
        void* graph = nullptr;
        void* executable = nullptr;
        void* own = nullptr;
        REQUIRE(cu("cuDevicePrimaryCtxRetain", &own, 0) == 0);
        REQUIRE(cu("cuCtxPushCurrent_v2", own) == 0);

        REQUIRE(cu("cuStreamBeginCapture_v2", stream->native(), 0) == 0);
        CHECK(contains(error_of([&] {
                           twice->prepare({*backend, stream}, first);
                       }),
                       "call prepare() before the capture"));
        REQUIRE(cu("cuStreamEndCapture", stream->native(), &graph) == 0);

        const auto prepared = twice->prepare({*backend, stream}, first);
        REQUIRE(cu("cuStreamBeginCapture_v2", stream->native(), 0) == 0);
        prepared->bound().run();
        twice->prepare({*backend, stream}, second)->bound().run();  // warm: other numbers and tensors of the same kind
        REQUIRE(cu("cuStreamEndCapture", stream->native(), &graph) == 0);
        CHECK(y.values() == std::vector<float>(9));
        REQUIRE(cu("cuGraphInstantiateWithFlags", &executable, graph, 0ULL) == 0);
        REQUIRE(cu("cuGraphLaunch", executable, stream->native()) == 0);
        stream->synchronise();
        for (std::size_t i = 0; i < 9; ++i) CHECK(z.values()[i] == 10 * values[i]);
    }

    TEST_CASE("emulated runtime: an out-of-memory is an error, and the device goes on") {
        const Emulated emulated;
        const auto backend = emulated.device();
        CHECK(contains(error_of([&] { backend->allocate(std::size_t{1} << 45); }),
                       "device: the CUDA driver could not allocate 35184372088832 bytes: CUDA_ERROR_OUT_OF_MEMORY"));
        const DeviceVector x(*backend, {1, 2}), y(*backend, {0, 0});
        hand_kernel("reversed")->prepare(*backend, std::vector<Argument>{x.tensor(), y.tensor()})->bound().run();
        CHECK(y.values() == std::vector<float>{3, 2});
    }

    TEST_CASE("emulated runtime: a lost device is an error at this and every later call, and the host lives") {
        const Emulated emulated;
        const auto backend = emulated.device();
        const DeviceVector x(*backend, {1, 2}), y(*backend, {0, 0});
        Tensor lying = x.tensor();
        lying.sizes = {400};  // reads far behind its memory
        Tensor out = y.tensor();
        const DeviceVector large(*backend, std::vector<float>(400));
        out = large.tensor();
        hand_kernel("twice")->prepare(*backend, std::vector<Argument>{lying, out, 2.0})->bound().run();
        CHECK(contains(error_of([&] { backend->default_stream()->synchronise(); }), "CUDA_ERROR_ILLEGAL_ADDRESS"));
        CHECK(contains(error_of([&] { backend->allocate(16); }), "CUDA_ERROR_ILLEGAL_ADDRESS"));
    }

    TEST_CASE("emulated runtime: threads with streams of their own share kernels and scratch") {
        const Emulated emulated;
        const auto backend = emulated.device();
        const auto kernel = hand_kernel("reversed");
        std::vector<std::thread> threads;
        std::vector<int> wrong(4, 0);
        for (std::size_t thread = 0; thread < wrong.size(); ++thread) {
            threads.emplace_back([&, thread] {
                const auto stream = backend->make_stream();
                const std::vector<float> values = counted(10 + thread);
                const DeviceVector x(*backend, values), y(*backend, std::vector<float>(values.size()));
                for (int round = 0; round < 5; ++round) {
                    kernel->prepare({*backend, stream}, std::vector<Argument>{x.tensor(), y.tensor()})->bound().run();
                    stream->synchronise();
                    if (y.values() != expected_reversed(values)) ++wrong[thread];
                }
            });
        }
        for (std::thread& thread : threads) thread.join();
        CHECK(wrong == std::vector<int>(4, 0));
    }
}

}  // namespace
}  // namespace kiln::test
