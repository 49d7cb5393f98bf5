// The stand-in for HIP's runtime library, loaded as a program loads it.

#include <dlfcn.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/emulated_gpu/hip_tests/clang.h"
#include "tests/emulated_gpu/hip_tests/hip_kernels.h"
#include "tests/emulated_gpu/hip_tests/machine.h"

namespace emulated_gpu::hip {
namespace {

/// Functions by name, each an int of its arguments.
class Library {
public:
    explicit Library(const std::string& name = "libamdhip64.so.5")
        : handle_(dlopen((std::string(EMULATED_HIP_FOLDER) + "/" + name).c_str(), RTLD_NOW | RTLD_LOCAL)) {
        if (handle_ == nullptr) FAIL(dlerror());
    }
    template <class... Arguments>
    int call(const char* name, Arguments... arguments) {
        const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(handle_, name));
        if (function == nullptr) FAIL("the library lacks " << name);
        return function(arguments...);
    }
    void* symbol(const char* name) { return dlsym(handle_, name); }

private:
    void* handle_;
};

constexpr int kToDevice = 1;
constexpr int kToHost = 2;
void* const kNoStream = nullptr;
void** const kNoExtra = nullptr;

struct Addition {
    Library& hip;
    void* module = nullptr;
    void* function = nullptr;
    void* a = nullptr;
    void* c = nullptr;
    int n = 1000;

    explicit Addition(Library& library, const std::string& processor = "gfx90a") : hip(library) {
        const std::vector<uint8_t> object = compile_hip(kVectorAdd, processor);
        REQUIRE(hip.call("hipModuleLoadData", &module, static_cast<const void*>(object.data())) == 0);
        REQUIRE(hip.call("hipModuleGetFunction", &function, module, "vector_add") == 0);
        REQUIRE(hip.call("hipMalloc", &a, size_t{4000}) == 0);
        REQUIRE(hip.call("hipMalloc", &c, size_t{4000}) == 0);
        std::vector<float> values(1000);
        for (size_t i = 0; i < 1000; ++i) values[i] = static_cast<float>(i);
        REQUIRE(hip.call("hipMemcpy", a, static_cast<const void*>(values.data()), size_t{4000}, kToDevice) == 0);
    }
    int launch(void* stream = nullptr) {
        void* arguments[] = {&a, &a, &c, &n};
        return hip.call("hipModuleLaunchKernel", function, 5U, 1U, 1U, 256U, 1U, 1U, 0U, stream,
                        static_cast<void**>(arguments), kNoExtra);
    }
    bool right() {
        std::vector<float> sums(1000);
        if (hip.call("hipMemcpy", static_cast<void*>(sums.data()), static_cast<const void*>(c), size_t{4000},
                     kToHost) != 0)
            return false;
        for (size_t i = 0; i < 1000; ++i) {
            if (sums[i] != 2 * static_cast<float>(i)) return false;
        }
        return true;
    }
    void clear() { REQUIRE(hip.call("hipMemset", c, 0, size_t{4000}) == 0); }
};

/// Compiles through the installed hipRTC, loaded beside the stand-in by its own name.
std::vector<char> compile_by_hiprtc(const std::string& source) {
    void* library = nullptr;
    for (const char* name : {"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5", "libamdhip64.so.5"}) {
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (library != nullptr) break;
    }
    void* create = library == nullptr ? nullptr : dlsym(library, "hiprtcCreateProgram");
    if (create == nullptr) {
        std::printf("skipped: hiprtc: no library with hiprtcCreateProgram can be loaded\n");
        std::fflush(stdout);
        std::exit(77);
    }
    void* program = nullptr;
    const auto call = [&](const char* name, auto... arguments) {
        return reinterpret_cast<int (*)(decltype(arguments)...)>(dlsym(library, name))(arguments...);
    };
    const char** const none = nullptr;
    REQUIRE(call("hiprtcCreateProgram", &program, source.c_str(), "kernel.hip", 0, none, none) == 0);
    const char* options[] = {"--gpu-architecture=gfx90a"};
    REQUIRE(call("hiprtcCompileProgram", program, 1, static_cast<const char**>(options)) == 0);
    size_t bytes = 0;
    REQUIRE(call("hiprtcGetCodeSize", program, &bytes) == 0);
    std::vector<char> code(bytes);
    REQUIRE(call("hiprtcGetCode", program, code.data()) == 0);
    return code;
}

TEST_SUITE("emulated_gpu") {
    TEST_CASE("hip: code of the run-time compiler loaded beside the stand-in") {
        Library hip;
        REQUIRE(hip.call("hipInit", 0U) == 0);
        const std::vector<char> code = compile_by_hiprtc(
            "extern \"C\" __global__ void scale(float* x, float by) {\n"
            "    __shared__ float part[256];\n    part[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x] * by;\n"
            "    __syncthreads();\n    x[blockIdx.x * blockDim.x + threadIdx.x] = part[255 - threadIdx.x];\n}\n");
        void* module = nullptr;
        void* function = nullptr;
        REQUIRE(hip.call("hipModuleLoadData", &module, static_cast<const void*>(code.data())) == 0);
        REQUIRE(hip.call("hipModuleGetFunction", &function, module, "scale") == 0);
        std::vector<float> values(512);
        for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
        void* memory = nullptr;
        REQUIRE(hip.call("hipMalloc", &memory, size_t{2048}) == 0);
        REQUIRE(hip.call("hipMemcpy", memory, static_cast<const void*>(values.data()), size_t{2048}, kToDevice) == 0);
        float by = 3;
        void* arguments[] = {&memory, &by};
        REQUIRE(hip.call("hipModuleLaunchKernel", function, 2U, 1U, 1U, 256U, 1U, 1U, 0U, kNoStream,
                         static_cast<void**>(arguments), kNoExtra) == 0);
        REQUIRE(hip.call("hipMemcpy", static_cast<void*>(values.data()), static_cast<const void*>(memory), size_t{2048},
                         kToHost) == 0);
        for (size_t i = 0; i < 512; ++i) REQUIRE(values[i] == 3 * static_cast<float>(i / 256 * 256 + 255 - i % 256));
    }

    TEST_CASE("hip: devices of the stand-in") {
        setenv("EMULATED_GPU_PROCESSORS", "gfx90a,gfx942", 1);
        Library hip;
        REQUIRE(hip.call("hipInit", 0U) == 0);
        int value = 0;
        CHECK(hip.call("hipGetDeviceCount", &value) == 0);
        CHECK(value == 2);
        CHECK(hip.call("hipRuntimeGetVersion", &value) == 0);
        CHECK(value / 10'000'000 == 5);
        CHECK(hip.call("hipDeviceGetAttribute", &value, 87, 0) == 0);  // warp size
        CHECK(value == 64);
        CHECK(hip.call("hipDeviceGetAttribute", &value, 74, 1) == 0);  // LDS of a workgroup
        CHECK(value == 65536);
        CHECK(hip.call("hipDeviceGetAttribute", &value, 9999, 0) == 1);
        CHECK(hip.call("hipDeviceGetAttribute", &value, 87, 2) == 101);
        char name[64];
        CHECK(hip.call("hipDeviceGetName", static_cast<char*>(name), 64, 1) == 0);
        CHECK(std::string(name) == "Emulated GPU gfx942");
        CHECK(hip.call("hipSetDevice", 2) == 101);
        CHECK(hip.call("hipGetLastError") == 101);
        CHECK(hip.call("hipGetLastError") == 0);
        std::vector<char> properties(1472);
        CHECK(hip.call("hipGetDeviceProperties", static_cast<void*>(properties.data()), 0) == 0);
        CHECK(std::string(properties.data() + 396).starts_with("gfx90a:"));
        CHECK(hip.call("hipGetDevicePropertiesR0600", static_cast<void*>(properties.data()), 1) == 0);
        CHECK(std::string(properties.data() + 1160).starts_with("gfx942:"));
        CHECK(hip.symbol("hiprtcCreateProgram") == nullptr);
    }

    TEST_CASE("hip: devices of RDNA tell their waves and run their code") {
        setenv("EMULATED_GPU_PROCESSORS", "gfx1100,gfx1201", 1);
        Library hip("libamdhip64.so.6");
        const char* const names[] = {"gfx1100", "gfx1201"};
        for (int number = 0; number < 2; ++number) {
            std::vector<char> properties(1472);
            REQUIRE(hip.call("hipGetDevicePropertiesR0600", static_cast<void*>(properties.data()), number) == 0);
            int lanes = 0;
            int version[2] = {};
            std::memcpy(&lanes, properties.data() + 308, sizeof lanes);
            std::memcpy(version, properties.data() + 360, sizeof version);
            CHECK(lanes == 32);
            CHECK(version[0] == (number == 0 ? 11 : 12));
            CHECK(version[1] == 0);
            CHECK(std::string(properties.data() + 1160) == names[number]);
            REQUIRE(hip.call("hipSetDevice", number) == 0);
            Addition addition(hip, names[number]);
            CHECK(addition.launch() == 0);
            CHECK(hip.call("hipDeviceSynchronize") == 0);
            CHECK(addition.right());
        }
    }

    TEST_CASE("hip: memory, launches, streams and events") {
        Library hip;
        Addition addition(hip);
        CHECK(addition.launch() == 0);
        CHECK(hip.call("hipDeviceSynchronize") == 0);
        CHECK(addition.right());

        void* stream = nullptr;
        void* start = nullptr;
        void* end = nullptr;
        REQUIRE(hip.call("hipStreamCreateWithFlags", &stream, 1U) == 0);
        REQUIRE(hip.call("hipEventCreate", &start) == 0);
        REQUIRE(hip.call("hipEventCreate", &end) == 0);
        addition.clear();
        CHECK(hip.call("hipEventRecord", start, stream) == 0);
        CHECK(addition.launch(stream) == 0);
        CHECK(hip.call("hipEventRecord", end, stream) == 0);
        CHECK(hip.call("hipEventSynchronize", end) == 0);
        float milliseconds = -1;
        CHECK(hip.call("hipEventElapsedTime", &milliseconds, start, end) == 0);
        CHECK(milliseconds >= 0);
        CHECK(hip.call("hipStreamSynchronize", stream) == 0);
        CHECK(hip.call("hipStreamQuery", stream) == 0);
        CHECK(addition.right());
        CHECK(hip.call("hipStreamDestroy", stream) == 0);
        CHECK(hip.call("hipStreamSynchronize", stream) == 400);
        CHECK(hip.call("hipFree", addition.a) == 0);
        CHECK(hip.call("hipFree", addition.a) == 1);
    }

    TEST_CASE("hip: arguments in one buffer, function attributes and occupancy") {
        Library hip;
        Addition addition(hip);
        struct {
            void* a;
            void* b;
            void* c;
            int n;
        } packed{addition.a, addition.a, addition.c, 1000};
        size_t bytes = 28;
        void* extra[] = {reinterpret_cast<void*>(1), &packed, reinterpret_cast<void*>(2), &bytes,
                         reinterpret_cast<void*>(3)};
        void** const none = nullptr;
        CHECK(hip.call("hipModuleLaunchKernel", addition.function, 4U, 1U, 1U, 256U, 1U, 1U, 0U, kNoStream, none,
                       static_cast<void**>(extra)) == 0);
        CHECK(addition.right());
        bytes = 24;
        CHECK(hip.call("hipModuleLaunchKernel", addition.function, 4U, 1U, 1U, 256U, 1U, 1U, 0U, kNoStream, none,
                       static_cast<void**>(extra)) == 1);
        int value = -1;
        CHECK(hip.call("hipFuncGetAttribute", &value, 0, addition.function) == 0);
        CHECK(value == 1024);
        CHECK(hip.call("hipFuncGetAttribute", &value, 1, addition.function) == 0);
        CHECK(value == 0);
        CHECK(hip.call("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", &value, addition.function, 256,
                       size_t{32768}) == 0);
        CHECK(value == 2);
        // More LDS than a workgroup can have, and more work items.
        void* arguments[] = {&addition.a, &addition.a, &addition.c, &addition.n};
        CHECK(hip.call("hipModuleLaunchKernel", addition.function, 1U, 1U, 1U, 256U, 1U, 1U, 70000U, kNoStream,
                       static_cast<void**>(arguments), kNoExtra) != 0);
        CHECK(hip.call("hipModuleLaunchKernel", addition.function, 1U, 1U, 1U, 2048U, 1U, 1U, 0U, kNoStream,
                       static_cast<void**>(arguments), kNoExtra) != 0);
    }

    TEST_CASE("hip: capture into a graph") {
        Library hip;
        Addition addition(hip);
        void* stream = nullptr;
        void* graph = nullptr;
        void* executable = nullptr;
        REQUIRE(hip.call("hipStreamCreateWithFlags", &stream, 1U) == 0);
        REQUIRE(hip.call("hipStreamBeginCapture", stream, 0) == 0);
        int status = 0;
        CHECK(hip.call("hipStreamIsCapturing", stream, &status) == 0);
        CHECK(status == 1);
        CHECK(addition.launch(stream) == 0);
        REQUIRE(hip.call("hipStreamEndCapture", stream, &graph) == 0);
        addition.clear();
        CHECK_FALSE(addition.right());  // nothing has run
        char* const log = nullptr;
        void** const node = nullptr;
        REQUIRE(hip.call("hipGraphInstantiate", &executable, graph, node, log, size_t{0}) == 0);
        for (int i = 0; i < 2; ++i) {
            addition.clear();
            CHECK(hip.call("hipGraphLaunch", executable, stream) == 0);
            CHECK(hip.call("hipStreamSynchronize", stream) == 0);
            CHECK(addition.right());
        }
        REQUIRE(hip.call("hipStreamBeginCapture", stream, 0) == 0);
        CHECK(hip.call("hipStreamSynchronize", stream) == 900);
        CHECK(hip.call("hipStreamEndCapture", stream, &graph) == 901);
    }

    TEST_CASE("hip: a fault stays until the device is reset") {
        Library hip;
        Addition addition(hip);
        addition.n = 1001;
        CHECK(addition.launch() == 0);
        CHECK(hip.call("hipDeviceSynchronize") == 700);
        void* more = nullptr;
        CHECK(hip.call("hipMalloc", &more, size_t{4}) == 700);
        CHECK(hip.call("hipGetLastError") == 700);
        const auto name = reinterpret_cast<const char* (*)(int)>(hip.symbol("hipGetErrorName"));
        CHECK(std::string(name(700)) == "hipErrorIllegalAddress");
        CHECK(hip.call("hipDeviceReset") == 0);
        CHECK(hip.call("hipMalloc", &more, size_t{4}) == 0);
    }

    TEST_CASE("hip: images that cannot be loaded") {
        setenv("EMULATED_GPU_PROCESSORS", "gfx942", 1);
        Library hip;
        void* module = nullptr;
        const std::vector<uint8_t> object = compile_hip(kVectorAdd, "gfx90a");
        CHECK(hip.call("hipModuleLoadData", &module, static_cast<const void*>(object.data())) == 209);
        const std::string text = "no code object at all, and long enough to look at";
        CHECK(hip.call("hipModuleLoadData", &module, static_cast<const void*>(text.data())) == 200);
        void* function = nullptr;
        CHECK(hip.call("hipModuleGetFunction", &function, module, "vector_add") == 400);
    }

    TEST_CASE("hip: a code object cut short or damaged is an error, not a crash") {
        const std::vector<uint8_t> object = compile_hip(kVectorAdd, "gfx90a");
        for (size_t size = 0; size < object.size(); size += 97) {
            DeviceMemory memory(1 << 26);
            const std::vector<uint8_t> part(object.begin(), object.begin() + static_cast<ptrdiff_t>(size));
            CHECK_THROWS_AS(load_module(part, memory, "gfx90a"), LoadError);
        }
        uint32_t seed = 12345;
        for (int round = 0; round < 300; ++round) {
            std::vector<uint8_t> damaged = object;
            for (int i = 0; i < 4; ++i) {
                seed = seed * 1664525 + 1013904223;
                damaged[seed % 4096 % damaged.size()] ^= static_cast<uint8_t>(seed >> 24);
            }
            DeviceMemory memory(1 << 26);
            try {
                load_module(damaged, memory, "gfx90a");
            } catch (const LoadError&) {
            }
        }
    }

    TEST_CASE("hip: the name of the library tells HIP's version") {
        Library hip("libamdhip64.so.6");
        int version = 0;
        CHECK(hip.call("hipDriverGetVersion", &version) == 0);
        CHECK(version / 10'000'000 == 6);
        void* memory = nullptr;
        REQUIRE(hip.call("hipMalloc", &memory, size_t{64}) == 0);
        int attributes[8] = {};
        CHECK(hip.call("hipPointerGetAttributes", static_cast<void*>(attributes), static_cast<const void*>(memory)) ==
              0);
        CHECK(attributes[0] == 2);  // hipMemoryTypeDevice of HIP 6
    }
}

}  // namespace
}  // namespace emulated_gpu::hip
