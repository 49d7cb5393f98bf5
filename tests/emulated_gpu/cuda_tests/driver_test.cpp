// The stand-in driver, loaded and called as a program loads and calls libcuda.so.1.

#include <atomic>
#include <chrono>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "tests/emulated_gpu/cuda_tests/cuda_kernels.h"
#include "tests/emulated_gpu/cuda_tests/driver_session.h"
#include "tests/emulated_gpu/cuda_tests/nvrtc.h"

namespace emulated_gpu {
namespace {

/// data[i] += add, without a bound.
const char* const kAddPtx = R"(.version 8.0
.target sm_80
.address_size 64
.global .u32 launches = 7;
.entry add(.param .u64 data, .param .u32 add)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [data];
    ld.param.u32 %r1, [add];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.u32 %r3, [%rd3];
    add.u32 %r3, %r3, %r1;
    st.global.u32 [%rd3], %r3;
    ret;
})";

/// A host function that keeps a stream busy until it is let go.
struct Gate {
    std::atomic<bool> open{false};
    static void wait(void* self) {
        while (!static_cast<Gate*>(self)->open) std::this_thread::yield();
    }
};

}  // namespace

TEST_SUITE("emulated_gpu") {
    TEST_CASE("emulated gpu driver: devices are those that the environment asks for") {
        DriverLibrary cu;
        int count = 0;
        CHECK(cu("cuDeviceGetCount", &count) == CUDA_ERROR_NOT_INITIALIZED);
        REQUIRE(cu("cuInit", 0U) == CUDA_SUCCESS);
        REQUIRE(cu("cuDeviceGetCount", &count) == CUDA_SUCCESS);
        CHECK(count == 3);
        int minor = 0;
        CHECK(cu("cuDeviceGetAttribute", &minor, 76, 1) == CUDA_SUCCESS);
        CHECK(minor == 9);
        CHECK(cu("cuDeviceGetAttribute", &minor, 9999, 0) == CUDA_ERROR_INVALID_VALUE);
        CUdevice device = 0;
        CHECK(cu("cuDeviceGet", &device, 3) == CUDA_ERROR_INVALID_DEVICE);
        char name[64];
        CHECK(cu("cuDeviceGetName", name, 64, 0) == CUDA_SUCCESS);
        CHECK(std::string(name) == "Emulated GPU sm_80");
        const char* text = nullptr;
        CHECK(cu("cuGetErrorName", CUDA_ERROR_ILLEGAL_ADDRESS, &text) == CUDA_SUCCESS);
        CHECK(std::string(text) == "CUDA_ERROR_ILLEGAL_ADDRESS");
        void* function = nullptr;
        CHECK(cu("cuGetProcAddress_v2", "cuMemAlloc", &function, 12000, uint64_t{0}, static_cast<int*>(nullptr)) ==
              CUDA_SUCCESS);
        CHECK(function != nullptr);
        CHECK(cu("cuGetProcAddress_v2", "cuNothing", &function, 12000, uint64_t{0}, static_cast<int*>(nullptr)) ==
              CUDA_ERROR_NOT_FOUND);
    }

    TEST_CASE("emulated gpu driver: contexts are pushed, popped and current for each thread") {
        Session session;
        auto& cu = session.cu;
        CUcontext other = nullptr;
        REQUIRE(cu("cuCtxCreate_v2", &other, 0U, 1) == CUDA_SUCCESS);
        CUdevice device = -1;
        CHECK(cu("cuCtxGetDevice", &device) == CUDA_SUCCESS);
        CHECK(device == 1);
        CUcontext popped = nullptr;
        CHECK(cu("cuCtxPopCurrent_v2", &popped) == CUDA_SUCCESS);
        CHECK(popped == other);
        CUcontext current = nullptr;
        CHECK(cu("cuCtxGetCurrent", &current) == CUDA_SUCCESS);
        CHECK(current == session.context);
        std::thread([&] {
            CUdeviceptr address = 0;
            CHECK(cu("cuMemAlloc_v2", &address, size_t{4}) == CUDA_ERROR_INVALID_CONTEXT);
        }).join();
        CHECK(cu("cuCtxDestroy_v2", other) == CUDA_SUCCESS);
    }

    TEST_CASE("emulated gpu driver: what no device here can run is refused as a driver refuses it") {
        Session session;
        auto& cu = session.cu;
        CUmodule module = nullptr;
        const char elf[64] = {0x7f, 'E', 'L', 'F'};
        CHECK(cu("cuModuleLoadData", &module, static_cast<const void*>(elf)) == CUDA_ERROR_NO_BINARY_FOR_GPU);
        CHECK(cu("cuModuleLoadData", &module, static_cast<const void*>("nonsense")) == CUDA_ERROR_INVALID_IMAGE);
        const std::string header = ".version 8.0\n.target sm_80\n.address_size 64\n";
        const auto load = [&](const std::string& text, std::string& log) {
            char buffer[256] = "";
            int options[] = {5, 6};
            void* values[] = {buffer, reinterpret_cast<void*>(sizeof buffer)};
            const CUresult result = cu("cuModuleLoadDataEx", &module, static_cast<const void*>(text.c_str()), 2U,
                                       static_cast<const int*>(options), static_cast<void**>(values));
            log = buffer;
            return result;
        };
        std::string log;
        CHECK(load(header + ".entry k() { tcgen05.wait::ld.sync.aligned; ret; }", log) == CUDA_ERROR_INVALID_PTX);
        CHECK(log.find("ptx:4:14: tests/emulated_gpu: 'tcgen05.wait::ld.sync.aligned' is not emulated yet") == 0);
        CHECK(load(header + ".entry k() { .reg .b32 a; add.q.u32 a, a, a; }", log) == CUDA_ERROR_INVALID_PTX);
        CHECK(log.find("'.q' of 'add.q.u32'") != std::string::npos);
        CHECK(load(".version 8.0\n.target sm_90\n.address_size 64\n", log) == CUDA_ERROR_NO_BINARY_FOR_GPU);
        REQUIRE(load(kAddPtx, log) == CUDA_SUCCESS);
        CUfunction function = nullptr;
        CHECK(cu("cuModuleGetFunction", &function, module, "nothing") == CUDA_ERROR_NOT_FOUND);
        CUdeviceptr address = 0;
        size_t bytes = 0;
        REQUIRE(cu("cuModuleGetGlobal_v2", &address, &bytes, module, "launches") == CUDA_SUCCESS);
        uint32_t value = 0;
        CHECK(cu("cuMemcpyDtoH_v2", static_cast<void*>(&value), address, bytes) == CUDA_SUCCESS);
        CHECK(value == 7);
    }

    TEST_CASE("emulated gpu driver: launches are asynchronous and in order") {
        Session session;
        auto& cu = session.cu;
        const CUfunction add = session.load(kAddPtx, "add");
        CUdeviceptr data = session.allocate(128);
        CHECK(cu("cuMemsetD32_v2", data, 5U, size_t{32}) == CUDA_SUCCESS);
        CUstream stream = nullptr;
        CUstream other = nullptr;
        REQUIRE(cu("cuStreamCreate", &stream, 1U) == CUDA_SUCCESS);
        REQUIRE(cu("cuStreamCreate", &other, 1U) == CUDA_SUCCESS);
        CUevent event = nullptr;
        REQUIRE(cu("cuEventCreate", &event, 0U) == CUDA_SUCCESS);
        Gate gate;
        uint32_t one = 1;
        REQUIRE(cu("cuLaunchHostFunc", stream, &Gate::wait, static_cast<void*>(&gate)) == CUDA_SUCCESS);
        REQUIRE(session.launch(add, 32, stream, {&data, &one}) == CUDA_SUCCESS);
        one = 100;  // the value was taken at the launch
        REQUIRE(cu("cuEventRecord", event, stream) == CUDA_SUCCESS);
        REQUIRE(cu("cuStreamWaitEvent", other, event, 0U) == CUDA_SUCCESS);
        uint32_t ten = 10;
        REQUIRE(session.launch(add, 32, other, {&data, &ten}) == CUDA_SUCCESS);
        CHECK(cu("cuStreamQuery", stream) == CUDA_ERROR_NOT_READY);
        CHECK(cu("cuEventQuery", event) == CUDA_ERROR_NOT_READY);
        CHECK(cu("cuStreamQuery", other) == CUDA_ERROR_NOT_READY);
        gate.open = true;
        CHECK(cu("cuStreamSynchronize", other) == CUDA_SUCCESS);
        CHECK(cu("cuStreamQuery", other) == CUDA_SUCCESS);
        CHECK(cu("cuEventSynchronize", event) == CUDA_SUCCESS);
        std::vector<uint32_t> values(32);
        CHECK(cu("cuMemcpyDtoH_v2", static_cast<void*>(values.data()), data, size_t{128}) == CUDA_SUCCESS);
        CHECK(values == std::vector<uint32_t>(32, 16));
        CHECK(cu("cuStreamDestroy_v2", stream) == CUDA_SUCCESS);
        CHECK(cu("cuStreamSynchronize", stream) == CUDA_ERROR_INVALID_HANDLE);
    }

    TEST_CASE("emulated gpu driver: the legacy stream waits for blocking streams and they for it") {
        Session session;
        auto& cu = session.cu;
        const CUfunction add = session.load(kAddPtx, "add");
        CUdeviceptr data = session.allocate(128);
        CUstream stream = nullptr;
        REQUIRE(cu("cuStreamCreate", &stream, 0U) == CUDA_SUCCESS);
        Gate gate;
        REQUIRE(cu("cuLaunchHostFunc", stream, &Gate::wait, static_cast<void*>(&gate)) == CUDA_SUCCESS);
        REQUIRE(cu("cuMemsetD32Async", data, 1U, size_t{32}, stream) == CUDA_SUCCESS);
        uint32_t two = 2;
        REQUIRE(session.launch(add, 32, nullptr, {&data, &two}) == CUDA_SUCCESS);
        REQUIRE(cu("cuMemsetD32Async", data, 9U, size_t{1}, stream) == CUDA_SUCCESS);
        CHECK(cu("cuStreamQuery", static_cast<CUstream>(nullptr)) == CUDA_ERROR_NOT_READY);
        gate.open = true;
        CHECK(cu("cuCtxSynchronize") == CUDA_SUCCESS);
        uint32_t values[2] = {};
        CHECK(cu("cuMemcpyDtoH_v2", static_cast<void*>(values), data, size_t{8}) == CUDA_SUCCESS);
        CHECK(values[0] == 9);
        CHECK(values[1] == 3);
    }

    TEST_CASE("emulated gpu driver: a fault ends the context for good") {
        Session session;
        auto& cu = session.cu;
        const CUfunction add = session.load(kAddPtx, "add");
        CUdeviceptr data = session.allocate(128);
        uint32_t one = 1;
        REQUIRE(session.launch(add, 33, nullptr, {&data, &one}) == CUDA_SUCCESS);
        CHECK(cu("cuCtxSynchronize") == CUDA_ERROR_ILLEGAL_ADDRESS);
        CHECK(session.launch(add, 32, nullptr, {&data, &one}) == CUDA_ERROR_ILLEGAL_ADDRESS);
        CHECK(cu("cuMemAlloc_v2", &data, size_t{4}) == CUDA_ERROR_ILLEGAL_ADDRESS);
        CHECK(cu("cuDevicePrimaryCtxReset_v2", 0) == CUDA_SUCCESS);
        Session again;
        CHECK(again.allocate(4) != 0);
        const CUfunction fresh = again.load(kAddPtx, "add");
        data = again.allocate(128) + 2;
        REQUIRE(again.launch(fresh, 1, nullptr, {&data, &one}) == CUDA_SUCCESS);
        CHECK(cu("cuCtxSynchronize") == CUDA_ERROR_MISALIGNED_ADDRESS);
        CHECK(cu("cuDevicePrimaryCtxReset_v2", 0) == CUDA_SUCCESS);
    }

    TEST_CASE("emulated gpu driver: launches that do not fit are refused") {
        Session session;
        auto& cu = session.cu;
        const CUfunction add = session.load(kAddPtx, "add");
        CUdeviceptr data = session.allocate(128);
        uint32_t one = 1;
        CHECK(session.launch(add, 0, nullptr, {&data, &one}) == CUDA_ERROR_INVALID_VALUE);
        CHECK(session.launch(add, 1025, nullptr, {&data, &one}) == CUDA_ERROR_INVALID_VALUE);
        std::vector<void*> parameters{&data, &one};
        const auto with_shared = [&](unsigned bytes) {
            return cu("cuLaunchKernel", add, 1U, 1U, 1U, 32U, 1U, 1U, bytes, static_cast<CUstream>(nullptr),
                      parameters.data(), static_cast<void**>(nullptr));
        };
        CHECK(with_shared(49153) == CUDA_ERROR_INVALID_VALUE);
        CHECK(cu("cuFuncSetAttribute", add, 8, 163 * 1024 + 1) == CUDA_ERROR_INVALID_VALUE);
        CHECK(cu("cuFuncSetAttribute", add, 8, 163 * 1024) == CUDA_SUCCESS);
        CHECK(with_shared(163 * 1024) == CUDA_SUCCESS);
        int blocks = 0;
        CHECK(cu("cuOccupancyMaxActiveBlocksPerMultiprocessor", &blocks, add, 1024, size_t{0}) == CUDA_SUCCESS);
        CHECK(blocks == 2);
        CHECK(cu("cuMemFree_v2", data + 4) == CUDA_ERROR_INVALID_VALUE);
        CHECK(cu("cuMemFree_v2", data) == CUDA_SUCCESS);
        CHECK(cu("cuMemFree_v2", data) == CUDA_ERROR_INVALID_VALUE);
        CHECK(cu("cuMemAlloc_v2", &data, size_t{1} << 40) == CUDA_ERROR_OUT_OF_MEMORY);
    }

    TEST_CASE("emulated gpu driver: page-locked memory is read when the copy runs, pageable memory at the call") {
        Session session;
        auto& cu = session.cu;
        CUdeviceptr data = session.allocate(8);
        void* locked = nullptr;
        REQUIRE(cu("cuMemHostAlloc", &locked, size_t{4}, 0U) == CUDA_SUCCESS);
        auto* locked_value = static_cast<uint32_t*>(locked);
        uint32_t pageable = 1;
        *locked_value = 1;
        CUstream stream = nullptr;
        REQUIRE(cu("cuStreamCreate", &stream, 1U) == CUDA_SUCCESS);
        Gate gate;
        REQUIRE(cu("cuLaunchHostFunc", stream, &Gate::wait, static_cast<void*>(&gate)) == CUDA_SUCCESS);
        CHECK(cu("cuMemcpyHtoDAsync_v2", data, static_cast<const void*>(locked), size_t{4}, stream) == CUDA_SUCCESS);
        CHECK(cu("cuMemcpyHtoDAsync_v2", data + 4, static_cast<const void*>(&pageable), size_t{4}, stream) ==
              CUDA_SUCCESS);
        *locked_value = 2;
        pageable = 2;
        gate.open = true;
        CHECK(cu("cuStreamSynchronize", stream) == CUDA_SUCCESS);
        uint32_t values[2] = {};
        CHECK(cu("cuMemcpyDtoH_v2", static_cast<void*>(values), data, size_t{8}) == CUDA_SUCCESS);
        CHECK(values[0] == 2);
        CHECK(values[1] == 1);
        CHECK(cu("cuMemFreeHost", locked) == CUDA_SUCCESS);
    }

    TEST_CASE("emulated gpu driver: captured work runs when its graph is launched") {
        Session session;
        auto& cu = session.cu;
        const CUfunction add = session.load(kAddPtx, "add");
        CUdeviceptr data = session.allocate(128);
        CHECK(cu("cuMemsetD32_v2", data, 0U, size_t{32}) == CUDA_SUCCESS);
        CUstream stream = nullptr;
        CUstream side = nullptr;
        CUevent fork = nullptr;
        CUevent join = nullptr;
        REQUIRE(cu("cuStreamCreate", &stream, 1U) == CUDA_SUCCESS);
        REQUIRE(cu("cuStreamCreate", &side, 1U) == CUDA_SUCCESS);
        REQUIRE(cu("cuEventCreate", &fork, 2U) == CUDA_SUCCESS);
        REQUIRE(cu("cuEventCreate", &join, 2U) == CUDA_SUCCESS);
        uint32_t one = 1;
        uint32_t ten = 10;
        const auto capture = [&](bool joins, CUgraph* graph) {
            REQUIRE(cu("cuStreamBeginCapture_v2", stream, 0) == CUDA_SUCCESS);
            CHECK(session.launch(add, 32, stream, {&data, &one}) == CUDA_SUCCESS);
            CHECK(cu("cuEventRecord", fork, stream) == CUDA_SUCCESS);
            CHECK(cu("cuStreamWaitEvent", side, fork, 0U) == CUDA_SUCCESS);
            CHECK(session.launch(add, 32, side, {&data, &ten}) == CUDA_SUCCESS);
            CHECK(cu("cuEventRecord", join, side) == CUDA_SUCCESS);
            if (joins) CHECK(cu("cuStreamWaitEvent", stream, join, 0U) == CUDA_SUCCESS);
            return cu("cuStreamEndCapture", stream, graph);
        };
        CUgraph graph = nullptr;
        CHECK(capture(false, &graph) == CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
        REQUIRE(capture(true, &graph) == CUDA_SUCCESS);
        size_t nodes = 0;
        CHECK(cu("cuGraphGetNodes", graph, static_cast<CUgraphNode*>(nullptr), &nodes) == CUDA_SUCCESS);
        CHECK(nodes == 2);
        CUgraphExec executable = nullptr;
        REQUIRE(cu("cuGraphInstantiateWithFlags", &executable, graph, 0ULL) == CUDA_SUCCESS);
        for (int i = 0; i < 3; ++i) CHECK(cu("cuGraphLaunch", executable, stream) == CUDA_SUCCESS);
        CHECK(cu("cuStreamSynchronize", stream) == CUDA_SUCCESS);
        uint32_t value = 0;
        CHECK(cu("cuMemcpyDtoH_v2", static_cast<void*>(&value), data, size_t{4}) == CUDA_SUCCESS);
        CHECK(value == 33);
        REQUIRE(cu("cuStreamBeginCapture_v2", stream, 0) == CUDA_SUCCESS);
        CHECK(cu("cuStreamSynchronize", stream) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        CHECK(cu("cuStreamEndCapture", stream, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    }

    TEST_CASE("emulated gpu driver: NVRTC is content with the stand-in, and its code runs through it") {
        Session session(1);
        const std::string ptx = compile_cuda(kSaxpySource);  // NVRTC finds the loaded libcuda.so.1 by its name
        auto& cu = session.cu;
        const CUfunction saxpy = session.load(ptx.c_str(), "saxpy");
        const std::vector<float> x{1, 2, 3, 4};
        std::vector<float> y{10, 20, 30, 40};
        CUdeviceptr device_x = session.allocate(16);
        CUdeviceptr device_y = session.allocate(16);
        CHECK(cu("cuMemcpyHtoD_v2", device_x, static_cast<const void*>(x.data()), size_t{16}) == CUDA_SUCCESS);
        CHECK(cu("cuMemcpyHtoD_v2", device_y, static_cast<const void*>(y.data()), size_t{16}) == CUDA_SUCCESS);
        float a = 0.5F;
        int n = 4;
        REQUIRE(session.launch(saxpy, 128, nullptr, {&a, &device_x, &device_y, &n}) == CUDA_SUCCESS);
        CHECK(cu("cuMemcpyDtoH_v2", static_cast<void*>(y.data()), device_y, size_t{16}) == CUDA_SUCCESS);
        CHECK(y == std::vector<float>{10.5F, 21, 31.5F, 42});
    }
}

}  // namespace emulated_gpu
