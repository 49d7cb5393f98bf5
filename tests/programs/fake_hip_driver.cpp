// libamdhip64.so that pretends (fake_driver.h), as of HIP 5.2 or, with FAKE_HIP_7, of HIP 7: the older one has no
// hipGetDevicePropertiesR0600 and, here, no memory in stream order; their hipDeviceProp_t put the architecture's name
// at different places; HIP 7 keeps both functions.
#include <cstring>

#include "runtime/hip/api.h"
#include "tests/programs/fake_driver.h"

namespace {

using kiln::test::FakeDriver;
using namespace kiln::runtime::hip;

FakeDriver& fake() {
    static auto* const driver = [] {
        auto* made = new FakeDriver;
#ifdef FAKE_HIP_7
        made->version = 70051831;
#else
        made->version = 50221153;
#endif
        return made;
    }();
    return *driver;
}

int enter(const char* name) {
    FakeDriver& driver = fake();
    const std::lock_guard lock(driver.mutex);
    ++driver.counts[name];
    driver.trace.emplace_back(name);
    const auto found = driver.failures.find(name);
    return found == driver.failures.end() ? 0 : found->second;
}

/// What a function does, unless a test asked for another result.
template <class Action>
int answer(const char* name, const Action& action) {
    const int code = enter(name);
    return code != 0 ? code : action();
}

void* handle(std::uintptr_t number) {
    return reinterpret_cast<void*>(number);
}

/// hipDeviceProp_t as a version lays it out: the device's name first, the architecture's far behind.
void describe(void* properties, std::size_t bytes, std::size_t architecture) {
    std::memset(properties, 0, bytes);
    std::strcpy(static_cast<char*>(properties), "Fake gfx card");
    std::strcpy(static_cast<char*>(properties) + architecture, fake().architecture.c_str());
}

}  // namespace

extern "C" FakeDriver* fake_driver() {
    return &fake();
}

extern "C" int hipInit(unsigned) {
    return answer(__func__, [&]() -> int { return 0; });
}

extern "C" int hipRuntimeGetVersion(int* version) {
    return answer(__func__, [&]() -> int {
        *version = fake().version;
        return 0;
    });
}

extern "C" int hipGetDeviceCount(int* count) {
    return answer(__func__, [&]() -> int {
        *count = fake().devices;
        return 0;
    });
}

extern "C" int hipGetDevice(int* device) {
    return answer(__func__, [&]() -> int {
        *device = fake().current;
        return 0;
    });
}

extern "C" int hipSetDevice(int device) {
    return answer(__func__, [&]() -> int {
        fake().current = device;
        return 0;
    });
}

extern "C" int hipDeviceGetName(char* name, int bytes, int) {
    return answer(__func__, [&]() -> int {
        std::strncpy(name, "Fake GPU", static_cast<std::size_t>(bytes));
        return 0;
    });
}

extern "C" int hipDeviceTotalMem(std::size_t* bytes, int) {
    return answer(__func__, [&]() -> int {
        *bytes = std::size_t{1} << 30;
        return 0;
    });
}

extern "C" int hipGetDeviceProperties(void* properties, int) {
    return answer(__func__, [&]() -> int {
        describe(properties, 792, 396);
        return 0;
    });
}

#ifdef FAKE_HIP_7
extern "C" int hipGetDevicePropertiesR0600(void* properties, int) {
    return answer(__func__, [&]() -> int {
        describe(properties, 1472, 1160);
        return 0;
    });
}

extern "C" int hipMallocAsync(void** address, std::size_t bytes, void*) {
    return answer(__func__, [&]() -> int {
        *address = std::malloc(bytes);
        return 0;
    });
}

extern "C" int hipFreeAsync(void* address, void*) {
    return answer(__func__, [&]() -> int {
        std::free(address);
        return 0;
    });
}

#endif

extern "C" const char* hipGetErrorName(int code) {
    return code == 2 ? "hipErrorOutOfMemory" : "hipErrorOfTheFake";
}
extern "C" const char* hipGetErrorString(int code) {
    return code == 2 ? "out of memory" : "words of the driver";
}

extern "C" int hipDeviceGetAttribute(int* value, int attribute, int) {
    return answer(__func__, [&]() -> int {
        switch (attribute) {
            case kMaxGridX:
                *value = fake().blocks_per_launch;
                break;
            case kMultiprocessors:
                *value = 7;
                break;
            case kPageableMemoryAccess:
                *value = 0;
                break;
            case kSharedBytesPerBlock:
                *value = 65536;
                break;
            default:
                return kInvalidValue;
        }
        return 0;
    });
}

extern "C" int hipMalloc(void** address, std::size_t bytes) {
    return answer(__func__, [&]() -> int {
        *address = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
        fake().allocations[reinterpret_cast<std::uintptr_t>(*address)] = {bytes, fake().current};
        return 0;
    });
}

extern "C" int hipFree(void* address) {
    return answer(__func__, [&]() -> int {
        fake().allocations.erase(reinterpret_cast<std::uintptr_t>(address));
        std::free(address);
        return 0;
    });
}

extern "C" int hipMemcpyHtoDAsync(void* to, const void* from, std::size_t bytes, void*) {
    return answer(__func__, [&]() -> int {
        std::memcpy(to, from, bytes);
        return 0;
    });
}

extern "C" int hipMemcpyDtoHAsync(void* to, const void* from, std::size_t bytes, void*) {
    return answer(__func__, [&]() -> int {
        std::memcpy(to, from, bytes);
        return 0;
    });
}

extern "C" int hipMemsetD8Async(void* to, unsigned char value, std::size_t count, void*) {
    return answer(__func__, [&]() -> int {
        std::memset(to, value, count);
        return 0;
    });
}

extern "C" int hipMemsetD16Async(void* to, unsigned short value, std::size_t count, void*) {
    return answer(__func__, [&]() -> int {
        for (std::size_t i = 0; i < count; ++i) static_cast<unsigned short*>(to)[i] = value;
        return 0;
    });
}

extern "C" int hipMemsetD32Async(void* to, int value, std::size_t count, void*) {
    return answer(__func__, [&]() -> int {
        for (std::size_t i = 0; i < count; ++i) static_cast<int*>(to)[i] = value;
        return 0;
    });
}

extern "C" int hipMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width, std::size_t rows, void*) {
    return answer(__func__, [&]() -> int {
        for (std::size_t row = 0; row < rows; ++row) std::memset(static_cast<char*>(to) + row * pitch, value, width);
        return 0;
    });
}

extern "C" int hipMemGetAddressRange(void** base, std::size_t* bytes, void* address) {
    return answer(__func__, [&]() -> int {
        const auto number = reinterpret_cast<std::uintptr_t>(address);
        for (const auto& [begin, allocation] : fake().allocations) {
            if (number < begin || number >= begin + allocation.first) continue;
            *base = handle(begin);
            *bytes = allocation.first;
            return 0;
        }
#ifdef FAKE_HIP_7
        return kNotFound;
#else
return kInvalidDevicePointer;
#endif
    });
}

extern "C" int hipPointerGetAttribute(void* data, int, void* address) {
    return answer(__func__, [&]() -> int {
        const auto number = reinterpret_cast<std::uintptr_t>(address);
        for (const auto& [begin, allocation] : fake().allocations) {
            if (number >= begin && number < begin + allocation.first) *static_cast<int*>(data) = allocation.second;
        }
        return 0;
    });
}

extern "C" int hipStreamCreateWithFlags(void** stream, unsigned) {
    return answer(__func__, [&]() -> int {
        *stream = handle(0x2000 + static_cast<unsigned>(fake().trace.size()));
        return 0;
    });
}

extern "C" int hipStreamDestroy(void*) {
    return answer(__func__, [&]() -> int { return 0; });
}

extern "C" int hipStreamSynchronize(void*) {
    return answer(__func__, [&]() -> int { return 0; });
}

extern "C" int hipStreamWaitEvent(void*, void*, unsigned) {
    return answer(__func__, [&]() -> int { return 0; });
}

extern "C" int hipStreamIsCapturing(void* stream, int* status) {
    return answer(__func__, [&]() -> int {
        *status = fake().capturing == stream;
        return 0;
    });
}

extern "C" int hipThreadExchangeStreamCaptureMode(int* mode) {
    return answer(__func__, [&]() -> int {
        std::swap(*mode, fake().exchanged_modes);
        return 0;
    });
}

extern "C" int hipEventCreateWithFlags(void** event, unsigned) {
    return answer(__func__, [&]() -> int {
        *event = handle(0x3000);
        return 0;
    });
}

extern "C" int hipEventDestroy(void*) {
    return answer(__func__, [&]() -> int { return 0; });
}

extern "C" int hipEventRecord(void*, void*) {
    return answer(__func__, [&]() -> int { return 0; });
}

extern "C" int hipEventQuery(void*) {
    return answer(__func__, [&]() -> int { return 0; });
}

extern "C" int hipEventSynchronize(void*) {
    return answer(__func__, [&]() -> int { return 0; });
}

extern "C" int hipEventElapsedTime(float* milliseconds, void*, void*) {
    return answer(__func__, [&]() -> int {
        *milliseconds = 2;
        return 0;
    });
}

extern "C" int hipModuleLoadData(void** module, const void*) {
    return answer(__func__, [&]() -> int {
        if (fake().refuses_all) return kNoBinaryForGpu;
        *module = handle(0x4000);
        return 0;
    });
}

extern "C" int hipModuleGetFunction(void** function, void*, const char* name) {
    return answer(__func__, [&]() -> int {
        if (std::strcmp(name, "missing") == 0) return kNotFound;
        *function = new std::string(name);
        return 0;
    });
}

extern "C" int hipFuncGetAttribute(int* value, int attribute, void*) {
    return answer(__func__, [&]() -> int {
        *value = attribute == kFunctionMaxThreads ? fake().threads_per_block : fake().static_shared_bytes;
        return 0;
    });
}

extern "C" int hipModuleLaunchKernel(void* function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned,
                                     unsigned, unsigned shared, void* stream, void** parameters, void**) {
    return answer(__func__, [&]() -> int {
        const auto* slots = static_cast<const std::uint64_t*>(parameters[0]);
        fake().launches.push_back(
            {*static_cast<std::string*>(function), blocks, threads, shared, stream, {slots, slots + fake().slots}});
        return 0;
    });
}
