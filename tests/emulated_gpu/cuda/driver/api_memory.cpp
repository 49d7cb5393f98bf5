// Memory: allocation, copies, fills, host memory.

#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/emulated_gpu/cuda/driver/driver_state.h"

using namespace emulated_gpu;

namespace {

constexpr int kMemcpyNode = 1;
constexpr int kMemsetNode = 2;

/// Host memory that the device may read at any time until the copy is done: page-locked, hence known to the memory.
bool is_page_locked(const DeviceMemory& memory, const void* host, size_t bytes) {
    const auto address = reinterpret_cast<uint64_t>(host);
    const Allocation* allocation = memory.find(address);
    return allocation != nullptr && allocation->on_host && address + bytes <= allocation->base + allocation->bytes;
}

/// Work that copies between resolved places, late: the addresses are looked up again when it runs.
std::function<void()> copy_work(DeviceMemory& there, DeviceMemory& here, uint64_t to, uint64_t from, size_t bytes) {
    return [&there, &here, to, from, bytes] {
        uint8_t* target = there.at(to, bytes);
        const uint8_t* source = here.at(from, bytes);
        if (target != nullptr && source != nullptr) std::memmove(target, source, bytes);
    };
}

CUresult copy_to_device(CUdeviceptr to, const void* from, size_t bytes, CUstream handle, bool waits) {
    CUcontext context = nullptr;
    CUresult result = usable_context(context);
    if (result != CUDA_SUCCESS) return result;
    DeviceMemory& memory = device_of(context->device, to).memory;
    if (bytes == 0) return CUDA_SUCCESS;
    if (from == nullptr || memory.at(to, bytes) == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (waits) {
        return run_synchronously(context, [&memory, to, from, bytes] {
            if (uint8_t* target = memory.at(to, bytes)) std::memcpy(target, from, bytes);
        });
    }
    CUstream stream = nullptr;
    result = find_stream(context, handle, stream);
    if (result != CUDA_SUCCESS) return result;
    if (is_page_locked(memory, from, bytes) || stream->capture) {
        return enqueue(stream, kMemcpyNode, [&memory, to, from, bytes] {
            if (uint8_t* target = memory.at(to, bytes)) std::memcpy(target, from, bytes);
        });
    }
    // Pageable memory is staged before the call returns.
    const auto* first = static_cast<const uint8_t*>(from);
    return enqueue(stream, kMemcpyNode, [&memory, to, staged = std::vector<uint8_t>(first, first + bytes)] {
        if (uint8_t* target = memory.at(to, staged.size())) std::memcpy(target, staged.data(), staged.size());
    });
}

CUresult copy_to_host(void* to, CUdeviceptr from, size_t bytes, CUstream handle, bool waits) {
    CUcontext context = nullptr;
    CUresult result = usable_context(context);
    if (result != CUDA_SUCCESS) return result;
    DeviceMemory& memory = device_of(context->device, from).memory;
    if (bytes == 0) return CUDA_SUCCESS;
    if (to == nullptr || memory.at(from, bytes) == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto work = [&memory, to, from, bytes] {
        if (const uint8_t* source = memory.at(from, bytes)) std::memcpy(to, source, bytes);
    };
    if (waits) return run_synchronously(context, work);
    CUstream stream = nullptr;
    result = find_stream(context, handle, stream);
    if (result != CUDA_SUCCESS) return result;
    result = enqueue(stream, kMemcpyNode, work);
    // A copy to pageable memory returns once it is done.
    if (result == CUDA_SUCCESS && !stream->capture && !is_page_locked(memory, to, bytes)) stream->synchronize();
    return result;
}

CUresult copy_on_device(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream handle, bool waits) {
    CUcontext context = nullptr;
    CUresult result = usable_context(context);
    if (result != CUDA_SUCCESS) return result;
    if (bytes == 0) return CUDA_SUCCESS;
    DeviceMemory& there = device_of(context->device, to).memory;
    DeviceMemory& here = device_of(context->device, from).memory;
    if (there.at(to, bytes) == nullptr || here.at(from, bytes) == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto work = copy_work(there, here, to, from, bytes);
    if (waits) return run_synchronously(context, work);
    CUstream stream = nullptr;
    result = find_stream(context, handle, stream);
    return result == CUDA_SUCCESS ? enqueue(stream, kMemcpyNode, work) : result;
}

template <class T>
CUresult fill(CUdeviceptr to, T value, size_t count, CUstream handle, bool waits) {
    CUcontext context = nullptr;
    CUresult result = usable_context(context);
    if (result != CUDA_SUCCESS) return result;
    DeviceMemory& memory = context->device.memory;
    if (count == 0) return CUDA_SUCCESS;
    if (to % sizeof(T) != 0 || memory.at(to, count * sizeof(T)) == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto work = [&memory, to, value, count] {
        uint8_t* target = memory.at(to, count * sizeof(T));
        for (size_t i = 0; target != nullptr && i < count; ++i) std::memcpy(target + i * sizeof(T), &value, sizeof(T));
    };
    if (waits) return run_synchronously(context, work);
    CUstream stream = nullptr;
    result = find_stream(context, handle, stream);
    return result == CUDA_SUCCESS ? enqueue(stream, kMemsetNode, work) : result;
}

/// Whether an address is of some device rather than of the host.
bool on_device(Device& own, uint64_t address) {
    return device_of(own, address).memory.at(address, 1) != nullptr;
}

}  // namespace

EMULATED_API cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
    CUcontext context = nullptr;
    const CUresult usable = usable_context(context);
    if (usable != CUDA_SUCCESS) return usable;
    if (address == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    *address = context->device.memory.allocate(bytes, "an allocation");
    return *address == 0 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

EMULATED_API cuMemFree_v2(CUdeviceptr address) {
    CUcontext context = nullptr;
    const CUresult usable = usable_context(context);
    if (usable != CUDA_SUCCESS) return usable;
    if (address == 0) return CUDA_SUCCESS;
    context->synchronize();
    return context->device.memory.release(address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

EMULATED_API cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream) {
    return cuMemAlloc_v2(address, bytes);
}

EMULATED_API cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
    CUcontext context = nullptr;
    CUresult result = usable_context(context);
    if (result != CUDA_SUCCESS) return result;
    CUstream stream = nullptr;
    result = find_stream(context, handle, stream);
    if (result != CUDA_SUCCESS) return result;
    DeviceMemory& memory = context->device.memory;
    if (memory.at(address, 0) == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return enqueue(stream, kMemcpyNode, [&memory, address] { memory.release(address); });
}

EMULATED_API cuMemGetInfo_v2(size_t* free_bytes, size_t* total) {
    CUcontext context = nullptr;
    const CUresult usable = usable_context(context);
    if (usable != CUDA_SUCCESS) return usable;
    const DeviceMemory& memory = context->device.memory;
    if (free_bytes != nullptr) *free_bytes = memory.capacity() - memory.used();
    if (total != nullptr) *total = memory.capacity();
    return CUDA_SUCCESS;
}

EMULATED_API cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes, CUdeviceptr address) {
    CUcontext context = nullptr;
    const CUresult usable = usable_context(context);
    if (usable != CUDA_SUCCESS) return usable;
    const Allocation* allocation = context->device.memory.find(address);
    if (context->device.memory.at(address, 1) == nullptr) return CUDA_ERROR_NOT_FOUND;
    if (base != nullptr) *base = allocation->base;
    if (bytes != nullptr) *bytes = allocation->bytes;
    return CUDA_SUCCESS;
}

EMULATED_API cuMemHostAlloc(void** host, size_t bytes, unsigned) {
    CUcontext context = nullptr;
    const CUresult usable = usable_context(context);
    if (usable != CUDA_SUCCESS) return usable;
    if (host == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    *host = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (*host == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
    context->device.memory.map_host(*host, bytes, "page-locked host memory");
    return CUDA_SUCCESS;
}
EMULATED_API cuMemAllocHost_v2(void** host, size_t bytes) {
    return cuMemHostAlloc(host, bytes, 0);
}
EMULATED_API cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned) {
    return cuMemHostAlloc(reinterpret_cast<void**>(address), bytes, 0);
}

EMULATED_API cuMemFreeHost(void* host) {
    CUcontext context = nullptr;
    const CUresult usable = usable_context(context);
    if (usable != CUDA_SUCCESS) return usable;
    context->synchronize();
    if (!context->device.memory.release(reinterpret_cast<uint64_t>(host))) return CUDA_ERROR_INVALID_VALUE;
    std::free(host);
    return CUDA_SUCCESS;
}

EMULATED_API cuMemHostRegister_v2(void* host, size_t bytes, unsigned) {
    CUcontext context = nullptr;
    const CUresult usable = usable_context(context);
    if (usable != CUDA_SUCCESS) return usable;
    if (host == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    if (is_page_locked(context->device.memory, host, 1)) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    context->device.memory.map_host(host, bytes, "registered host memory");
    return CUDA_SUCCESS;
}
EMULATED_API cuMemHostUnregister(void* host) {
    CUcontext context = nullptr;
    const CUresult usable = usable_context(context);
    if (usable != CUDA_SUCCESS) return usable;
    context->synchronize();
    return context->device.memory.release(reinterpret_cast<uint64_t>(host)) ? CUDA_SUCCESS
                                                                            : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}
EMULATED_API cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* host, unsigned) {
    CUcontext context = nullptr;
    const CUresult usable = usable_context(context);
    if (usable != CUDA_SUCCESS) return usable;
    if (address == nullptr || !is_page_locked(context->device.memory, host, 1)) return CUDA_ERROR_INVALID_VALUE;
    *address = reinterpret_cast<CUdeviceptr>(host);
    return CUDA_SUCCESS;
}

EMULATED_API cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
    return copy_to_device(to, from, bytes, nullptr, true);
}
EMULATED_API cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
    return copy_to_host(to, from, bytes, nullptr, true);
}
EMULATED_API cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    return copy_on_device(to, from, bytes, nullptr, true);
}
EMULATED_API cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
    return copy_to_device(to, from, bytes, stream, false);
}
EMULATED_API cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return copy_to_host(to, from, bytes, stream, false);
}
EMULATED_API cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return copy_on_device(to, from, bytes, stream, false);
}
EMULATED_API cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    CUcontext context = nullptr;
    const CUresult usable = usable_context(context);
    if (usable != CUDA_SUCCESS) return usable;
    if (on_device(context->device, to) && on_device(context->device, from))
        return copy_on_device(to, from, bytes, stream, false);
    if (on_device(context->device, to))
        return copy_to_device(to, reinterpret_cast<const void*>(from), bytes, stream, false);
    return copy_to_host(reinterpret_cast<void*>(to), from, bytes, stream, false);
}
EMULATED_API cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    const CUresult queued = cuMemcpyAsync(to, from, bytes, nullptr);
    if (queued != CUDA_SUCCESS) return queued;
    current_context()->legacy->synchronize();
    return static_cast<CUresult>(current_context()->sticky.load());
}

EMULATED_API cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
    return fill(to, value, count, nullptr, true);
}
EMULATED_API cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) {
    return fill(to, value, count, nullptr, true);
}
EMULATED_API cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) {
    return fill(to, value, count, nullptr, true);
}
EMULATED_API cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
    return fill(to, value, count, stream, false);
}
EMULATED_API cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
    return fill(to, value, count, stream, false);
}
EMULATED_API cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
    return fill(to, value, count, stream, false);
}

EMULATED_API cuPointerGetAttribute(void* data, int attribute, CUdeviceptr address) {
    CUcontext context = nullptr;
    const CUresult usable = usable_context(context);
    if (usable != CUDA_SUCCESS) return usable;
    const Device& device = device_of(context->device, address);
    const DeviceMemory& memory = device.memory;
    if (data == nullptr || memory.at(address, 1) == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const Allocation& allocation = *memory.find(address);
    const auto put = [&](auto value) { std::memcpy(data, &value, sizeof value); };
    switch (attribute) {
        case 1:
            put(&device == &context->device ? context : device.primary.get());
            return CUDA_SUCCESS;  // CONTEXT
        case 2:
            put(static_cast<unsigned>(allocation.on_host ? 1 : 2));
            return CUDA_SUCCESS;  // MEMORY_TYPE
        case 3:
            put(address);
            return CUDA_SUCCESS;  // DEVICE_POINTER
        case 4:                   // HOST_POINTER
            if (!allocation.on_host) return CUDA_ERROR_INVALID_VALUE;
            put(address);
            return CUDA_SUCCESS;
        case 8:
            put(0U);
            return CUDA_SUCCESS;  // IS_MANAGED
        case 9:
            put(device.index);
            return CUDA_SUCCESS;  // DEVICE_ORDINAL
        case 11:
            put(allocation.base);
            return CUDA_SUCCESS;  // RANGE_START_ADDR
        case 12:
            put(allocation.bytes);
            return CUDA_SUCCESS;  // RANGE_SIZE
        default:
            return CUDA_ERROR_NOT_SUPPORTED;
    }
}
