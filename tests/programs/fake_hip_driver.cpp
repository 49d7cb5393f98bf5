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

#define FAKE(name, parameters)       \
    extern "C" int name parameters { \
        if (const int code = enter(#name)) return code;
#define END   \
    return 0; \
    }

extern "C" FakeDriver* fake_driver() {
    return &fake();
}

FAKE(hipInit, (unsigned)) END FAKE(hipRuntimeGetVersion, (int* version)) * version = fake().version;
END FAKE(hipGetDeviceCount, (int* count)) * count = fake().devices;
END FAKE(hipGetDevice, (int* device)) * device = fake().current;
END FAKE(hipSetDevice, (int device)) fake().current = device;
END FAKE(hipDeviceGetName, (char* name, int bytes, int)) std::strncpy(name, "Fake GPU",
                                                                      static_cast<std::size_t>(bytes));
END FAKE(hipDeviceTotalMem, (std::size_t * bytes, int)) * bytes = std::size_t{1} << 30;
END FAKE(hipGetDeviceProperties, (void* properties, int)) describe(properties, 792, 396);
END
#ifdef FAKE_HIP_7
    FAKE(hipGetDevicePropertiesR0600, (void* properties, int)) describe(properties, 1472, 1160);
END FAKE(hipMallocAsync, (void** address, std::size_t bytes, void*)) * address = std::malloc(bytes);
END FAKE(hipFreeAsync, (void* address, void*)) std::free(address);
END
#endif

    extern "C" const char*
    hipGetErrorName(int code) {
    return code == 2 ? "hipErrorOutOfMemory" : "hipErrorOfTheFake";
}
extern "C" const char* hipGetErrorString(int code) {
    return code == 2 ? "out of memory" : "words of the driver";
}

FAKE(hipDeviceGetAttribute, (int* value, int attribute, int))
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
END

FAKE(hipMalloc, (void** address, std::size_t bytes))
*address = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
fake().allocations[reinterpret_cast<std::uintptr_t>(*address)] = {bytes, fake().current};
END FAKE(hipFree, (void* address)) fake().allocations.erase(reinterpret_cast<std::uintptr_t>(address));
std::free(address);
END FAKE(hipMemcpyHtoDAsync, (void* to, const void* from, std::size_t bytes, void*)) std::memcpy(to, from, bytes);
END FAKE(hipMemcpyDtoHAsync, (void* to, const void* from, std::size_t bytes, void*)) std::memcpy(to, from, bytes);
END FAKE(hipMemsetD8Async, (void* to, unsigned char value, std::size_t count, void*)) std::memset(to, value, count);
END FAKE(hipMemsetD16Async, (void* to, unsigned short value, std::size_t count,
                             void*)) for (std::size_t i = 0; i < count;
                                          ++i) static_cast<unsigned short*>(to)[i] = value;
END FAKE(hipMemsetD32Async, (void* to, int value, std::size_t count, void*)) for (std::size_t i = 0; i < count;
                                                                                  ++i) static_cast<int*>(to)[i] = value;
END FAKE(hipMemset2DAsync, (void* to, std::size_t pitch, int value, std::size_t width, std::size_t rows,
                            void*)) for (std::size_t row = 0; row < rows;
                                         ++row) std::memset(static_cast<char*>(to) + row * pitch, value, width);
END FAKE(hipMemGetAddressRange, (void** base, std::size_t* bytes, void* address)) const
    auto number = reinterpret_cast<std::uintptr_t>(address);
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
}
FAKE(hipPointerGetAttribute, (void* data, int, void* address))
const auto number = reinterpret_cast<std::uintptr_t>(address);
for (const auto& [begin, allocation] : fake().allocations) {
    if (number >= begin && number < begin + allocation.first) *static_cast<int*>(data) = allocation.second;
}
END

FAKE(hipStreamCreateWithFlags, (void** stream, unsigned)) *stream = handle(0x2000 + static_cast<unsigned>(fake().trace.size()));
END FAKE(hipStreamDestroy, (void*)) END FAKE(hipStreamSynchronize, (void*)) END
    FAKE(hipStreamWaitEvent, (void*, void*, unsigned)) END
    FAKE(hipStreamIsCapturing, (void* stream, int* status)) * status = fake().capturing == stream;
END FAKE(hipThreadExchangeStreamCaptureMode, (int* mode)) std::swap(*mode, fake().exchanged_modes);
END FAKE(hipEventCreateWithFlags, (void** event, unsigned)) * event = handle(0x3000);
END FAKE(hipEventDestroy, (void*)) END FAKE(hipEventRecord, (void*, void*)) END FAKE(hipEventQuery, (void*)) END
    FAKE(hipEventSynchronize, (void*)) END
    FAKE(hipEventElapsedTime, (float* milliseconds, void*, void*)) * milliseconds = 2;
END FAKE(hipModuleLoadData, (void** module, const void*)) if (fake().refuses_all) return kNoBinaryForGpu;
*module = handle(0x4000);
END FAKE(hipModuleGetFunction,
         (void** function, void*, const char* name)) if (std::strcmp(name, "missing") == 0) return kNotFound;
*function = new std::string(name);
END FAKE(hipFuncGetAttribute, (int* value, int attribute, void*)) * value = attribute == kFunctionMaxThreads
                                                                                ? fake().threads_per_block
                                                                                : fake().static_shared_bytes;
END FAKE(hipModuleLaunchKernel, (void* function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned,
                                 unsigned, unsigned shared, void* stream, void** parameters, void**)) const
    auto* slots = static_cast<const std::uint64_t*>(parameters[0]);
fake().launches.push_back(
    {*static_cast<std::string*>(function), blocks, threads, shared, stream, {slots, slots + fake().slots}});
END
