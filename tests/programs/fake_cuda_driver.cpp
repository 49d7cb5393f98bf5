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

/// What a function does, unless a test asked for another result.
template <class Action>
int answer(const char* name, const Action& action) {
    const int code = enter(name);
    return code != 0 ? code : action();
}

void* handle(std::uintptr_t number) {
    return reinterpret_cast<void*>(number);
}

#ifdef FAKE_IDLE
void* idle_context = nullptr;
#endif

}  // namespace

extern "C" FakeDriver* fake_driver() {
    return &fake();
}

extern "C" int cuInit(unsigned) {
    return answer(__func__, [&]() -> int { return 0; });
}

extern "C" int cuDriverGetVersion(int* version) {
    return answer(__func__, [&]() -> int {
        *version = fake().version;
        return 0;
    });
}

extern "C" int cuDeviceGetCount(int* count) {
    return answer(__func__, [&]() -> int {
        *count = fake().devices;
        return 0;
    });
}

extern "C" int cuDeviceGet(int* device, int index) {
    return answer(__func__, [&]() -> int {
        *device = index;
        return 0;
    });
}

extern "C" int cuDeviceGetName(char* name, int bytes, int) {
    return answer(__func__, [&]() -> int {
        std::strncpy(name, "Fake GPU", static_cast<std::size_t>(bytes));
        return 0;
    });
}

extern "C" int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
    return answer(__func__, [&]() -> int {
        *bytes = std::size_t{1} << 30;
        return 0;
    });
}

extern "C" int cuDevicePrimaryCtxRetain(void** context, int device) {
    return answer(__func__, [&]() -> int {
        *context = handle(0x1000 + device);
        return 0;
    });
}

extern "C" int cuGetErrorName(int code, const char** text) {
    *text = code == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
            : code == 719 ? "CUDA_ERROR_LAUNCH_FAILED"
                          : "CUDA_ERROR_OF_THE_FAKE";
    return 0;
}
extern "C" int cuGetErrorString(int code, const char** text) {
    *text = code == 2 ? "out of memory" : "words of the driver";
    return 0;
}

extern "C" int cuDeviceGetAttribute(int* value, int attribute, int) {
    return answer(__func__, [&]() -> int {
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
        return 0;
    });
}

#ifdef FAKE_IDLE
extern "C" int cuCtxGetCurrent(void** context) {
    return answer(__func__, [&]() -> int {
        *context = idle_context;
        return 0;
    });
}

extern "C" int cuCtxPushCurrent_v2(void* context) {
    return answer(__func__, [&]() -> int {
        idle_context = context;
        return 0;
    });
}

extern "C" int cuCtxPopCurrent_v2(void** context) {
    return answer(__func__, [&]() -> int {
        *context = idle_context;
        return 0;
    });
}

#else
extern "C" int cuCtxGetCurrent(void** context) {
    return answer(__func__, [&]() -> int {
        *context = fake().contexts.empty() ? nullptr : fake().contexts.back();
        return 0;
    });
}

extern "C" int cuCtxPushCurrent_v2(void* context) {
    return answer(__func__, [&]() -> int {
        fake().contexts.push_back(context);
        return 0;
    });
}

extern "C" int cuCtxPopCurrent_v2(void** context) {
    return answer(__func__, [&]() -> int {
        *context = fake().contexts.back();
        fake().contexts.pop_back();
        return 0;
    });
}

#endif

extern "C" int cuMemAlloc_v2(DevicePointer* address, std::size_t bytes) {
    return answer(__func__, [&]() -> int {
        *address = reinterpret_cast<DevicePointer>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
#ifdef FAKE_IDLE
        fake().allocations[*address] = {bytes, 0};
#else
fake().allocations[*address] = {bytes,
                                static_cast<int>(reinterpret_cast<std::uintptr_t>(fake().contexts.back()) & 0xf)};
#endif
        return 0;
    });
}

extern "C" int cuMemFree_v2(DevicePointer address) {
    return answer(__func__, [&]() -> int {
        std::free(handle(address));
        fake().allocations.erase(address);
        return 0;
    });
}

extern "C" int cuMemAllocAsync(DevicePointer* address, std::size_t bytes, void*) {
    return answer(__func__, [&]() -> int {
        *address = reinterpret_cast<DevicePointer>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
        return 0;
    });
}

extern "C" int cuMemFreeAsync(DevicePointer address, void*) {
    return answer(__func__, [&]() -> int {
        std::free(handle(address));
        return 0;
    });
}

extern "C" int cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, std::size_t bytes, void*) {
    return answer(__func__, [&]() -> int {
        std::memcpy(handle(to), from, bytes);
        return 0;
    });
}

extern "C" int cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, std::size_t bytes, void*) {
    return answer(__func__, [&]() -> int {
        std::memcpy(to, handle(from), bytes);
        return 0;
    });
}

extern "C" int cuMemsetD8Async(DevicePointer to, unsigned char value, std::size_t count, void*) {
    return answer(__func__, [&]() -> int {
        std::memset(handle(to), value, count);
        return 0;
    });
}

extern "C" int cuMemsetD16Async(DevicePointer to, unsigned short value, std::size_t count, void*) {
    return answer(__func__, [&]() -> int {
        for (std::size_t i = 0; i < count; ++i) static_cast<unsigned short*>(handle(to))[i] = value;
        return 0;
    });
}

extern "C" int cuMemsetD32Async(DevicePointer to, unsigned value, std::size_t count, void*) {
    return answer(__func__, [&]() -> int {
        for (std::size_t i = 0; i < count; ++i) static_cast<unsigned*>(handle(to))[i] = value;
        return 0;
    });
}

extern "C" int cuMemsetD2D32Async(DevicePointer to, std::size_t pitch, unsigned value, std::size_t width,
                                  std::size_t rows, void*) {
    return answer(__func__, [&]() -> int {
        for (std::size_t row = 0; row < rows; ++row) {
            for (std::size_t i = 0; i < width; ++i) static_cast<unsigned*>(handle(to + row * pitch))[i] = value;
        }
        return 0;
    });
}

extern "C" int cuPointerGetAttribute(void* data, int attribute, DevicePointer address) {
    return answer(__func__, [&]() -> int {
        for (const auto& [begin, allocation] : fake().allocations) {
            if (address < begin || address >= begin + allocation.first) continue;
            *static_cast<int*>(data) = attribute == kPointerDeviceOrdinal ? allocation.second : 2;
            return 0;
        }
        return kInvalidValue;
    });
}

extern "C" int cuStreamCreate(void** stream, unsigned) {
    return answer(__func__, [&]() -> int {
        *stream = handle(0x2000 + static_cast<unsigned>(fake().trace.size()));
        return 0;
    });
}

extern "C" int cuStreamDestroy_v2(void*) {
    return answer(__func__, [&]() -> int { return 0; });
}

extern "C" int cuStreamSynchronize(void*) {
    return answer(__func__, [&]() -> int { return 0; });
}

extern "C" int cuStreamWaitEvent(void*, void*, unsigned) {
    return answer(__func__, [&]() -> int { return 0; });
}

#ifndef FAKE_WITHOUT_CAPTURE
extern "C" int cuStreamIsCapturing(void* stream, int* status) {
    return answer(__func__, [&]() -> int {
        *status = fake().capturing == stream;
        return 0;
    });
}

#endif
extern "C" int cuThreadExchangeStreamCaptureMode(int* mode) {
    return answer(__func__, [&]() -> int {
        std::swap(*mode, fake().exchanged_modes);
        return 0;
    });
}

extern "C" int cuEventCreate(void** event, unsigned) {
    return answer(__func__, [&]() -> int {
        *event = handle(0x3000);
        return 0;
    });
}

extern "C" int cuEventDestroy_v2(void*) {
    return answer(__func__, [&]() -> int { return 0; });
}

extern "C" int cuEventRecord(void*, void*) {
    return answer(__func__, [&]() -> int { return 0; });
}

extern "C" int cuEventQuery(void*) {
    return answer(__func__, [&]() -> int { return 0; });
}

extern "C" int cuEventSynchronize(void*) {
    return answer(__func__, [&]() -> int { return 0; });
}

extern "C" int cuEventElapsedTime(float* milliseconds, void*, void*) {
    return answer(__func__, [&]() -> int {
        *milliseconds = 2;
        return 0;
    });
}

extern "C" int cuModuleLoadDataEx(void** module, const void* image, unsigned options, int* names, void** values) {
    return answer(__func__, [&]() -> int {
        const bool is_text = static_cast<const char*>(image)[0] == '.';
        if (fake().refuses_all || (fake().refuses_binary && !is_text)) {
            if (options == 2 && names[0] == kJitErrorLog)
                std::strcpy(static_cast<char*>(values[0]), "no such instruction");
            return is_text ? kInvalidPtx : kNoBinaryForGpu;
        }
        *module = handle(is_text ? 0x4001 : 0x4000);
        return 0;
    });
}

extern "C" int cuModuleGetFunction(void** function, void*, const char* name) {
    return answer(__func__, [&]() -> int {
        if (std::strcmp(name, "missing") == 0) return kNotFound;
        *function = new std::string(name);
        return 0;
    });
}

extern "C" int cuFuncGetAttribute(int* value, int attribute, void*) {
    return answer(__func__, [&]() -> int {
        *value = attribute == kFunctionMaxThreads ? fake().threads_per_block : fake().static_shared_bytes;
        return 0;
    });
}

extern "C" int cuFuncSetAttribute(void*, int, int) {
    return answer(__func__, [&]() -> int { return 0; });
}

extern "C" int cuLaunchKernel(void* function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                              unsigned shared, void* stream, void** parameters, void**) {
    return answer(__func__, [&]() -> int {
#ifdef FAKE_IDLE
        static_cast<void>(function), static_cast<void>(blocks), static_cast<void>(threads), static_cast<void>(shared),
            static_cast<void>(stream), static_cast<void>(parameters);
#else
        const auto* slots = static_cast<const std::uint64_t*>(parameters[0]);
const std::lock_guard lock(fake().mutex);
fake().launches.push_back(
    {*static_cast<std::string*>(function), blocks, threads, shared, stream, {slots, slots + fake().slots}});
#endif
        return 0;
    });
}
