// Initialisation, devices, contexts, errors and look-up by name.

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "tests/emulated_gpu/cuda/driver/driver_state.h"

using namespace emulated_gpu;

namespace {

constexpr int kDriverVersion = 13000;

struct ErrorRow {
    CUresult code;
    const char* name;
    const char* text;
};
constexpr ErrorRow kErrors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no device of this kind"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "the module's image is not valid"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no code in the image fits this device"},
    {CUDA_ERROR_UNSUPPORTED_LIMIT, "CUDA_ERROR_UNSUPPORTED_LIMIT", "this limit is not supported"},
    {CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "the PTX could not be compiled"},
    {CUDA_ERROR_FILE_NOT_FOUND, "CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid handle"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "not done yet"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "a kernel used an address it may not"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "the launch needs more than there is"},
    {CUDA_ERROR_LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT", "a kernel ran too long and was ended"},
    {CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE", "the primary context is in use"},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "the context was destroyed"},
    {CUDA_ERROR_ASSERT, "CUDA_ERROR_ASSERT", "an assertion failed in a kernel"},
    {CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "host memory is registered already"},
    {CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "host memory is not registered"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS", "a kernel used a misaligned address"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "a kernel failed"},
    {CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
     "not all blocks of the launch fit at once"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "not permitted while a stream is captured"},
    {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "the capture failed earlier"},
    {CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "the capture began in another stream"},
    {CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
     "captured work was not joined to the first stream"},
    {CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "the legacy stream would depend on a captured one"},
    {CUDA_ERROR_INVALID_CLUSTER_SIZE, "CUDA_ERROR_INVALID_CLUSTER_SIZE", "a launch in clusters of a wrong size"},
    {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

const ErrorRow* find_error(CUresult code) {
    for (const ErrorRow& row : kErrors) {
        if (row.code == code) return &row;
    }
    return nullptr;
}

CUresult find_device(CUdevice index, Device*& device) {
    Driver& driver = Driver::get();
    if (!driver.initialised) return CUDA_ERROR_NOT_INITIALIZED;
    if (index < 0 || static_cast<size_t>(index) >= driver.devices.size()) return CUDA_ERROR_INVALID_DEVICE;
    device = driver.devices[static_cast<size_t>(index)].get();
    return CUDA_SUCCESS;
}

/// Attributes by the numbers of CUdevice_attribute; -1 for those the stand-in does not know.
int attribute_of(const Device& device, int attribute) {
    const auto shared = static_cast<int>(device.shared_per_block_opt_in());
    switch (attribute) {
        case 1:
            return 1024;  // MAX_THREADS_PER_BLOCK
        case 2:
            return 1024;  // MAX_BLOCK_DIM_X
        case 3:
            return 1024;  // MAX_BLOCK_DIM_Y
        case 4:
            return 64;  // MAX_BLOCK_DIM_Z
        case 5:
            return 2147483647;  // MAX_GRID_DIM_X
        case 6:
            return 65535;  // MAX_GRID_DIM_Y
        case 7:
            return 65535;  // MAX_GRID_DIM_Z
        case 8:
            return 48 * 1024;  // MAX_SHARED_MEMORY_PER_BLOCK
        case 9:
            return 64 * 1024;  // TOTAL_CONSTANT_MEMORY
        case 10:
            return 32;  // WARP_SIZE
        case 12:
            return 65536;  // MAX_REGISTERS_PER_BLOCK
        case 13:
            return 1000000;  // CLOCK_RATE, kHz
        case 15:
            return 1;  // GPU_OVERLAP
        case 16:
            return device.multiprocessors();
        case 17:
            return 0;  // KERNEL_EXEC_TIMEOUT
        case 18:
            return 0;  // INTEGRATED
        case 19:
            return 1;  // CAN_MAP_HOST_MEMORY
        case 20:
            return 0;  // COMPUTE_MODE: default
        case 31:
            return 1;  // CONCURRENT_KERNELS
        case 32:
            return 0;  // ECC_ENABLED
        case 33:
            return device.index + 1;  // PCI_BUS_ID
        case 34:
            return 0;  // PCI_DEVICE_ID
        case 36:
            return 1000000;  // MEMORY_CLOCK_RATE, kHz
        case 37:
            return 256;  // GLOBAL_MEMORY_BUS_WIDTH
        case 38:
            return 4 << 20;  // L2_CACHE_SIZE
        case 39:
            return device.capability == 80 || (device.capability >= 90 && device.capability < 120) ? 2048 : 1536;
        case 40:
            return 2;  // ASYNC_ENGINE_COUNT
        case 41:
            return 1;  // UNIFIED_ADDRESSING
        case 50:
            return 0;  // PCI_DOMAIN_ID
        case 75:
            return device.capability / 10;
        case 76:
            return device.capability % 10;
        case 78:
            return 1;  // STREAM_PRIORITIES_SUPPORTED
        case 81:
            return static_cast<int>(device.shared_per_multiprocessor());
        case 82:
            return 65536;  // MAX_REGISTERS_PER_MULTIPROCESSOR
        case 83:
            return 1;  // MANAGED_MEMORY
        case 88:
            return 0;  // PAGEABLE_MEMORY_ACCESS
        case 89:
            return 0;  // CONCURRENT_MANAGED_ACCESS
        case 95:
            return 1;  // COOPERATIVE_LAUNCH
        case 97:
            return shared;  // MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
        case 99:
            return 1;  // HOST_REGISTER_SUPPORTED
        case 102:
            return 0;  // VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
        case 106:
            return 32;  // MAX_BLOCKS_PER_MULTIPROCESSOR
        case 111:
            return 1024;  // RESERVED_SHARED_MEMORY_PER_BLOCK
        case 115:
            return 0;  // MEMORY_POOLS_SUPPORTED
        case 120:
            return device.capability >= 90 ? 1 : 0;  // CLUSTER_LAUNCH
        case 127:
            return device.capability >= 90 ? 1 : 0;  // TENSOR_MAP_ACCESS_SUPPORTED
        default:
            return -1;
    }
}

}  // namespace

EMULATED_API cuInit(unsigned flags) {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (Driver::get().devices.empty()) return CUDA_ERROR_NO_DEVICE;
    Driver::get().initialised = true;
    return CUDA_SUCCESS;
}

EMULATED_API cuDriverGetVersion(int* version) {
    if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *version = kDriverVersion;
    return CUDA_SUCCESS;
}

EMULATED_API cuGetErrorName(CUresult error, const char** name) {
    if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const ErrorRow* row = find_error(error);
    *name = row == nullptr ? nullptr : row->name;
    return row == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

EMULATED_API cuGetErrorString(CUresult error, const char** text) {
    if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const ErrorRow* row = find_error(error);
    *text = row == nullptr ? nullptr : row->text;
    return row == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

EMULATED_API cuGetExportTable(const void** table, const CUuuid*) {
    if (table != nullptr) *table = nullptr;
    return CUDA_ERROR_NOT_FOUND;  // none of the undocumented tables; NVRTC asks and goes on without
}

EMULATED_API cuGetProcAddress_v2(const char* symbol, void** function, int version, uint64_t flags, int* status) {
    constexpr uint64_t kPerThreadStream = 2;
    if (symbol == nullptr || function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *function = nullptr;
    Dl_info self;
    dladdr(reinterpret_cast<void*>(&cuInit), &self);
    void* library = dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    if (library != nullptr && (flags & kPerThreadStream) == 0) {
        // From CUDA 3.2 on the suffixed functions are the current ones; cuCtxCreate has changed again in 13.0.
        const std::string name = symbol;
        for (const char* suffix : {"_v4", "_v2", "WithFlags", ""}) {
            if (std::string(suffix) == "_v4" && version < 13000) continue;
            if (std::string(suffix) == "WithFlags" && name != "cuGraphInstantiate") continue;
            *function = dlsym(library, (name + suffix).c_str());
            if (*function != nullptr) break;
        }
        dlclose(library);
    }
    if (status != nullptr) *status = *function == nullptr ? 1 : 0;  // CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
    return *function == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}
EMULATED_API cuGetProcAddress(const char* symbol, void** function, int version, uint64_t flags) {
    return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}

EMULATED_API cuDeviceGetCount(int* count) {
    if (!Driver::get().initialised) return CUDA_ERROR_NOT_INITIALIZED;
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<int>(Driver::get().devices.size());
    return CUDA_SUCCESS;
}

EMULATED_API cuDeviceGet(CUdevice* device, int ordinal) {
    Device* found = nullptr;
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = find_device(ordinal, found);
    if (result == CUDA_SUCCESS) *device = ordinal;
    return result;
}

EMULATED_API cuDeviceGetName(char* name, int length, CUdevice index) {
    Device* device = nullptr;
    const CUresult result = find_device(index, device);
    if (result != CUDA_SUCCESS) return result;
    if (name == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(name, static_cast<size_t>(length), "%s", device->name().c_str());
    return CUDA_SUCCESS;
}

EMULATED_API cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice index) {
    Device* device = nullptr;
    const CUresult result = find_device(index, device);
    if (result != CUDA_SUCCESS) return result;
    if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(uuid->bytes, "emulated gpu    ", sizeof uuid->bytes);
    uuid->bytes[15] = static_cast<char>(index);
    return CUDA_SUCCESS;
}
EMULATED_API cuDeviceGetUuid(CUuuid* uuid, CUdevice index) {
    return cuDeviceGetUuid_v2(uuid, index);
}

EMULATED_API cuDeviceTotalMem_v2(size_t* bytes, CUdevice index) {
    Device* device = nullptr;
    const CUresult result = find_device(index, device);
    if (result != CUDA_SUCCESS) return result;
    if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *bytes = device->memory.capacity();
    return CUDA_SUCCESS;
}

EMULATED_API cuDeviceGetAttribute(int* value, int attribute, CUdevice index) {
    Device* device = nullptr;
    const CUresult result = find_device(index, device);
    if (result != CUDA_SUCCESS) return result;
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const int found = attribute_of(*device, attribute);
    if (found < 0) return CUDA_ERROR_INVALID_VALUE;
    *value = found;
    return CUDA_SUCCESS;
}

EMULATED_API cuDeviceComputeCapability(int* major, int* minor, CUdevice index) {
    const CUresult result = cuDeviceGetAttribute(major, 75, index);
    return result == CUDA_SUCCESS ? cuDeviceGetAttribute(minor, 76, index) : result;
}

EMULATED_API cuDeviceGetPCIBusId(char* text, int length, CUdevice index) {
    Device* device = nullptr;
    const CUresult result = find_device(index, device);
    if (result != CUDA_SUCCESS) return result;
    if (text == nullptr || length < 13) return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(text, static_cast<size_t>(length), "0000:%02x:00.0", static_cast<unsigned>(index + 1));
    return CUDA_SUCCESS;
}

EMULATED_API cuDeviceCanAccessPeer(int* can, CUdevice, CUdevice) {
    if (can == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *can = 0;
    return CUDA_SUCCESS;
}

EMULATED_API cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice index) {
    Device* device = nullptr;
    const CUresult result = find_device(index, device);
    if (result != CUDA_SUCCESS) return result;
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!device->primary) {
        device->primary = std::make_unique<CUctx_st>(*device);
        device->primary->primary = true;
        device->primary->flags = device->primary_flags;
    }
    ++device->primary_users;
    *context = device->primary.get();
    return CUDA_SUCCESS;
}

namespace {

void forget(CUcontext context) {
    auto& stack = context_stack();
    std::erase(stack, context);
}

}  // namespace

EMULATED_API cuDevicePrimaryCtxReset_v2(CUdevice index) {
    Device* device = nullptr;
    const CUresult result = find_device(index, device);
    if (result != CUDA_SUCCESS) return result;
    forget(device->primary.get());
    device->primary.reset();
    device->primary_users = 0;
    return CUDA_SUCCESS;
}
EMULATED_API cuDevicePrimaryCtxReset(CUdevice index) {
    return cuDevicePrimaryCtxReset_v2(index);
}

EMULATED_API cuDevicePrimaryCtxRelease_v2(CUdevice index) {
    Device* device = nullptr;
    const CUresult result = find_device(index, device);
    if (result != CUDA_SUCCESS) return result;
    if (device->primary_users == 0) return CUDA_ERROR_INVALID_CONTEXT;
    return --device->primary_users == 0 ? cuDevicePrimaryCtxReset_v2(index) : CUDA_SUCCESS;
}
EMULATED_API cuDevicePrimaryCtxRelease(CUdevice index) {
    return cuDevicePrimaryCtxRelease_v2(index);
}

EMULATED_API cuDevicePrimaryCtxSetFlags_v2(CUdevice index, unsigned flags) {
    Device* device = nullptr;
    const CUresult result = find_device(index, device);
    if (result == CUDA_SUCCESS) device->primary_flags = flags;
    return result;
}

EMULATED_API cuDevicePrimaryCtxGetState(CUdevice index, unsigned* flags, int* active) {
    Device* device = nullptr;
    const CUresult result = find_device(index, device);
    if (result != CUDA_SUCCESS) return result;
    if (flags != nullptr) *flags = device->primary_flags;
    if (active != nullptr) *active = device->primary != nullptr;
    return CUDA_SUCCESS;
}

EMULATED_API cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice index) {
    Device* device = nullptr;
    const CUresult result = find_device(index, device);
    if (result != CUDA_SUCCESS) return result;
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *context = new CUctx_st(*device);
    (*context)->flags = flags;
    context_stack().push_back(*context);
    return CUDA_SUCCESS;
}
EMULATED_API cuCtxCreate_v4(CUcontext* context, void* parameters, unsigned flags, CUdevice index) {
    if (parameters != nullptr) return CUDA_ERROR_NOT_SUPPORTED;
    return cuCtxCreate_v2(context, flags, index);
}

EMULATED_API cuCtxDestroy_v2(CUcontext context) {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (context->primary) return CUDA_ERROR_INVALID_CONTEXT;
    forget(context);
    delete context;
    return CUDA_SUCCESS;
}

EMULATED_API cuCtxPushCurrent_v2(CUcontext context) {
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    context_stack().push_back(context);
    return CUDA_SUCCESS;
}

EMULATED_API cuCtxPopCurrent_v2(CUcontext* context) {
    if (current_context() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (context != nullptr) *context = current_context();
    context_stack().pop_back();
    return CUDA_SUCCESS;
}

EMULATED_API cuCtxSetCurrent(CUcontext context) {
    if (!Driver::get().initialised) return CUDA_ERROR_NOT_INITIALIZED;
    auto& stack = context_stack();
    if (!stack.empty()) stack.pop_back();
    if (context != nullptr) stack.push_back(context);
    return CUDA_SUCCESS;
}

EMULATED_API cuCtxGetCurrent(CUcontext* context) {
    if (!Driver::get().initialised) return CUDA_ERROR_NOT_INITIALIZED;
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *context = current_context();
    return CUDA_SUCCESS;
}

EMULATED_API cuCtxGetDevice(CUdevice* device) {
    CUcontext context = current_context();
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *device = context->device.index;
    return CUDA_SUCCESS;
}

EMULATED_API cuCtxGetFlags(unsigned* flags) {
    CUcontext context = current_context();
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = context->flags;
    return CUDA_SUCCESS;
}

EMULATED_API cuCtxGetApiVersion(CUcontext, unsigned* version) {
    if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *version = 3020;
    return CUDA_SUCCESS;
}

EMULATED_API cuCtxSynchronize() {
    CUcontext context = nullptr;
    const CUresult usable = usable_context(context);
    if (usable != CUDA_SUCCESS) return usable;
    context->synchronize();
    return static_cast<CUresult>(context->sticky.load());
}

EMULATED_API cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
    return CUDA_SUCCESS;
}

EMULATED_API cuCtxGetLimit(size_t* value, int limit) {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (limit == 0)
        *value = 512 * 1024;  // CU_LIMIT_STACK_SIZE
    else if (limit == 1)
        *value = 1 << 20;  // CU_LIMIT_PRINTF_FIFO_SIZE
    else
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    return CUDA_SUCCESS;
}
EMULATED_API cuCtxSetLimit(int limit, size_t) {
    return limit == 0 || limit == 1 ? CUDA_SUCCESS : CUDA_ERROR_UNSUPPORTED_LIMIT;
}

EMULATED_API cuProfilerStart() {
    return CUDA_SUCCESS;
}
EMULATED_API cuProfilerStop() {
    return CUDA_SUCCESS;
}
