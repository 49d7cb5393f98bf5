// libcuda.so.1 that pretends (fake_driver.h). Compiled with FAKE_IDLE it notes nothing: what is left of a launch on it
// is the host's own cost. With FAKE_WITHOUT_CAPTURE it lacks a function that Kiln needs, as older drivers do.
#include <cstring>

#include "runtime/cuda/api.h"
#include "tests/programs/fake_driver.h"

namespace {

using kiln::test::FakeDriver;
using namespace kiln::runtime::cuda;

FakeDriver& fake() {
    static auto* const driver = [] {
        auto* made = new FakeDriver;
        made->version = 13000;
        return made;
    }();
    return *driver;
}

/// Notes the call and gives the result that a test asked for.
int enter(const char* name) {
#ifdef FAKE_IDLE
    static_cast<void>(name);
    return 0;
#else
    FakeDriver& driver = fake();
    const std::lock_guard lock(driver.mutex);
    ++driver.counts[name];
    driver.trace.emplace_back(name);
    const auto found = driver.failures.find(name);
    return found == driver.failures.end() ? 0 : found->second;
#endif
}

void* handle(std::uintptr_t number) {
    return reinterpret_cast<void*>(number);
}

#ifdef FAKE_IDLE
void* idle_context = nullptr;
#endif

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

FAKE(cuInit, (unsigned)) END FAKE(cuDriverGetVersion, (int* version)) * version = fake().version;
END FAKE(cuDeviceGetCount, (int* count)) * count = fake().devices;
END FAKE(cuDeviceGet, (int* device, int index)) * device = index;
END FAKE(cuDeviceGetName, (char* name, int bytes, int)) std::strncpy(name, "Fake GPU", static_cast<std::size_t>(bytes));
END FAKE(cuDeviceTotalMem_v2, (std::size_t * bytes, int)) * bytes = std::size_t{1} << 30;
END FAKE(cuDevicePrimaryCtxRetain, (void** context, int device)) * context = handle(0x1000 + device);
END

    extern "C" int
    cuGetErrorName(int code, const char** text) {
    *text = code == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
            : code == 719 ? "CUDA_ERROR_LAUNCH_FAILED"
                          : "CUDA_ERROR_OF_THE_FAKE";
    return 0;
}
extern "C" int cuGetErrorString(int code, const char** text) {
    *text = code == 2 ? "out of memory" : "words of the driver";
    return 0;
}

FAKE(cuDeviceGetAttribute, (int* value, int attribute, int))
switch (attribute) {
    case kMaxGridX:
        *value = fake().blocks_per_launch;
        break;
    case kMultiprocessors:
        *value = 7;
        break;
    case kMajor:
        *value = 8;
        break;
    case kMinor:
        *value = 0;
        break;
    case kSharedBytesOptIn:
        *value = fake().shared_bytes;
        break;
    case kPageableMemoryAccess:
        *value = 0;
        break;
    default:
        return kInvalidValue;
}
END

#ifdef FAKE_IDLE
FAKE(cuCtxGetCurrent, (void** context)) *context = idle_context;
END FAKE(cuCtxPushCurrent_v2, (void* context)) idle_context = context;
END FAKE(cuCtxPopCurrent_v2, (void** context)) * context = idle_context;
END
#else
FAKE(cuCtxGetCurrent, (void** context)) *context = fake().contexts.empty() ? nullptr : fake().contexts.back();
END FAKE(cuCtxPushCurrent_v2, (void* context)) fake().contexts.push_back(context);
END FAKE(cuCtxPopCurrent_v2, (void** context)) * context = fake().contexts.back();
fake().contexts.pop_back();
END
#endif

FAKE(cuMemAlloc_v2, (DevicePointer* address, std::size_t bytes))
*address = reinterpret_cast<DevicePointer>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
#ifndef FAKE_IDLE
fake().allocations[*address] = {bytes,
                                static_cast<int>(reinterpret_cast<std::uintptr_t>(fake().contexts.back()) & 0xf)};
#endif
END FAKE(cuMemFree_v2, (DevicePointer address)) std::free(handle(address));
fake().allocations.erase(address);
END FAKE(cuMemAllocAsync,
         (DevicePointer * address, std::size_t bytes,
          void*)) * address = reinterpret_cast<DevicePointer>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
END FAKE(cuMemFreeAsync, (DevicePointer address, void*)) std::free(handle(address));
END FAKE(cuMemcpyHtoDAsync_v2, (DevicePointer to, const void* from, std::size_t bytes, void*)) std::memcpy(handle(to),
                                                                                                           from, bytes);
END FAKE(cuMemcpyDtoHAsync_v2, (void* to, DevicePointer from, std::size_t bytes, void*)) std::memcpy(to, handle(from),
                                                                                                     bytes);
END FAKE(cuMemsetD8Async, (DevicePointer to, unsigned char value, std::size_t count, void*)) std::memset(handle(to),
                                                                                                         value, count);
END FAKE(cuMemsetD16Async, (DevicePointer to, unsigned short value, std::size_t count,
                            void*)) for (std::size_t i = 0; i < count;
                                         ++i) static_cast<unsigned short*>(handle(to))[i] = value;
END FAKE(cuMemsetD32Async, (DevicePointer to, unsigned value, std::size_t count,
                            void*)) for (std::size_t i = 0; i < count;
                                         ++i) static_cast<unsigned*>(handle(to))[i] = value;
END FAKE(cuMemsetD2D32Async, (DevicePointer to, std::size_t pitch, unsigned value, std::size_t width, std::size_t rows,
                              void*)) for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < width; ++i) static_cast<unsigned*>(handle(to + row * pitch))[i] = value;
}
END

FAKE(cuPointerGetAttribute, (void* data, int attribute, DevicePointer address))
for (const auto& [begin, allocation] : fake().allocations) {
    if (address < begin || address >= begin + allocation.first) continue;
    *static_cast<int*>(data) = attribute == kPointerDeviceOrdinal ? allocation.second : 2;
    return 0;
}
return kInvalidValue;
}

FAKE(cuStreamCreate, (void** stream, unsigned)) * stream = handle(0x2000 + static_cast<unsigned>(fake().trace.size()));
END FAKE(cuStreamDestroy_v2, (void*)) END FAKE(cuStreamSynchronize, (void*)) END
    FAKE(cuStreamWaitEvent, (void*, void*, unsigned)) END
#ifndef FAKE_WITHOUT_CAPTURE
    FAKE(cuStreamIsCapturing, (void* stream, int* status)) * status = fake().capturing == stream;
END
#endif
    FAKE(cuThreadExchangeStreamCaptureMode, (int* mode)) std::swap(*mode, fake().exchanged_modes);
END FAKE(cuEventCreate, (void** event, unsigned)) * event = handle(0x3000);
END FAKE(cuEventDestroy_v2, (void*)) END FAKE(cuEventRecord, (void*, void*)) END FAKE(cuEventQuery, (void*)) END
    FAKE(cuEventSynchronize, (void*)) END
    FAKE(cuEventElapsedTime, (float* milliseconds, void*, void*)) * milliseconds = 2;
END

    FAKE(cuModuleLoadDataEx, (void** module, const void* image, unsigned options, int* names, void** values)) const
    bool is_text = static_cast<const char*>(image)[0] == '.';
if (fake().refuses_all || (fake().refuses_binary && !is_text)) {
    if (options == 2 && names[0] == kJitErrorLog) std::strcpy(static_cast<char*>(values[0]), "no such instruction");
    return is_text ? kInvalidPtx : kNoBinaryForGpu;
}
*module = handle(is_text ? 0x4001 : 0x4000);
END FAKE(cuModuleGetFunction,
         (void** function, void*, const char* name)) if (std::strcmp(name, "missing") == 0) return kNotFound;
*function = new std::string(name);
END FAKE(cuFuncGetAttribute, (int* value, int attribute, void*)) * value = attribute == kFunctionMaxThreads
                                                                               ? fake().threads_per_block
                                                                               : fake().static_shared_bytes;
END FAKE(cuFuncSetAttribute, (void*, int, int)) END

    FAKE(cuLaunchKernel, (void*function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                          unsigned shared, void*stream, void**parameters, void**))
#ifdef FAKE_IDLE
        static_cast<void>(function),
    static_cast<void>(blocks), static_cast<void>(threads), static_cast<void>(shared), static_cast<void>(stream),
    static_cast<void>(parameters);
#else
        const auto* slots = static_cast<const std::uint64_t*>(parameters[0]);
const std::lock_guard lock(fake().mutex);
fake().launches.push_back(
    {*static_cast<std::string*>(function), blocks, threads, shared, stream, {slots, slots + fake().slots}});
#endif
END
