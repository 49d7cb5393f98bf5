// Memory: allocation, copies, fills, host memory.

#include <cstdlib>
#include <cstring>

#include "tests/emulated_gpu/hip/driver/runtime_state.h"

using namespace emulated_gpu;
using namespace emulated_gpu::hip;

namespace {

/// hipMemcpyKind.
enum class Direction : int { HostToHost = 0, HostToDevice = 1, DeviceToHost = 2, DeviceToDevice = 3, Default = 4 };

uint64_t number_of(const void* pointer) {
    return reinterpret_cast<uint64_t>(pointer);
}

/// Host memory that the device may read at any time until the copy is done: page-locked, hence known to the memory.
bool is_page_locked(const DeviceMemory& memory, const void* host, size_t bytes) {
    const Allocation* allocation = memory.find(number_of(host));
    return allocation != nullptr && allocation->on_host &&
           number_of(host) + bytes <= allocation->base + allocation->bytes;
}

bool is_device_address(uint64_t address) {
    return address >= kDeviceBase && address < kSharedWindow;
}

/// The bytes at a device's or the host's address; null if a device address is not, or no longer, allocated.
uint8_t* bytes_at(const DeviceMemory& memory, uint64_t address, size_t bytes) {
    return is_device_address(address) ? memory.at(address, bytes) : reinterpret_cast<uint8_t*>(address);
}

hipError_t check_places(const DeviceMemory& memory, uint64_t to, uint64_t from, size_t bytes, Direction direction) {
    if (to == 0 || from == 0) return hipErrorInvalidValue;
    if (bytes_at(memory, to, bytes) == nullptr || bytes_at(memory, from, bytes) == nullptr) return hipErrorInvalidValue;
    const auto fits = [&](uint64_t address, bool on_device) {
        return is_device_address(address) == on_device || memory.at(address, bytes) != nullptr;
    };
    switch (direction) {
        case Direction::Default:
            return hipSuccess;
        case Direction::HostToHost:
            return is_device_address(to) || is_device_address(from) ? hipErrorInvalidValue : hipSuccess;
        case Direction::HostToDevice:
            return fits(to, true) && !is_device_address(from) ? hipSuccess : hipErrorInvalidValue;
        case Direction::DeviceToHost:
            return !is_device_address(to) && fits(from, true) ? hipSuccess : hipErrorInvalidValue;
        case Direction::DeviceToDevice:
            return fits(to, true) && fits(from, true) ? hipSuccess : hipErrorInvalidValue;
    }
    return hipErrorInvalidMemcpyDirection;
}

/// Copies when it runs: addresses are looked up again.
std::function<void()> copy_work(DeviceMemory& memory, uint64_t to, uint64_t from, size_t bytes) {
    return [&memory, to, from, bytes] {
        uint8_t* target = bytes_at(memory, to, bytes);
        const uint8_t* source = bytes_at(memory, from, bytes);
        if (target != nullptr && source != nullptr) std::memmove(target, source, bytes);
    };
}

hipError_t copy(void* to_pointer, const void* from_pointer, size_t bytes, Direction direction) {
    Device* device = nullptr;
    hipError_t result = current_device(device);
    if (result != hipSuccess) return result;
    if (bytes == 0) return hipSuccess;
    const uint64_t to = number_of(to_pointer);
    const uint64_t from = number_of(from_pointer);
    result = check_places(device->memory, to, from, bytes, direction);
    return result == hipSuccess ? run_synchronously(*device, copy_work(device->memory, to, from, bytes)) : result;
}

hipError_t copy_later(void* to_pointer, const void* from_pointer, size_t bytes, Direction direction,
                      hipStream_t handle) {
    Device* device = nullptr;
    hipStream_t stream = nullptr;
    hipError_t result = device_and_stream(handle, device, stream);
    if (result != hipSuccess) return result;
    if (bytes == 0) return hipSuccess;
    DeviceMemory& memory = device->memory;
    const uint64_t to = number_of(to_pointer);
    const uint64_t from = number_of(from_pointer);
    result = check_places(memory, to, from, bytes, direction);
    if (result != hipSuccess) return result;
    const bool pageable_source = !is_device_address(from) && !is_page_locked(memory, from_pointer, bytes);
    if (pageable_source && !stream->capture) {  // staged before the call returns
        const auto* first = static_cast<const uint8_t*>(from_pointer);
        return enqueue(stream, kMemcpyNode, [&memory, to, staged = std::vector<uint8_t>(first, first + bytes)] {
            if (uint8_t* target = bytes_at(memory, to, staged.size())) {
                std::memcpy(target, staged.data(), staged.size());
            }
        });
    }
    result = enqueue(stream, kMemcpyNode, copy_work(memory, to, from, bytes));
    // A copy to pageable memory returns once it is done.
    const bool pageable_target = !is_device_address(to) && !is_page_locked(memory, to_pointer, bytes);
    if (result == hipSuccess && !stream->capture && pageable_target) stream->synchronize();
    return result;
}

/// `later`: in the stream, else before the call returns.
template <class T>
hipError_t fill(void* pointer, T value, size_t count, hipStream_t handle, bool later) {
    Device* device = nullptr;
    hipStream_t stream = nullptr;
    const hipError_t result = device_and_stream(handle, device, stream);
    if (result != hipSuccess) return result;
    if (count == 0) return hipSuccess;
    DeviceMemory& memory = device->memory;
    const uint64_t to = number_of(pointer);
    if (to % sizeof(T) != 0 || memory.at(to, count * sizeof(T)) == nullptr) return hipErrorInvalidValue;
    const auto work = [&memory, to, value, count] {
        uint8_t* target = memory.at(to, count * sizeof(T));
        for (size_t i = 0; target != nullptr && i < count; ++i) std::memcpy(target + i * sizeof(T), &value, sizeof(T));
    };
    return later ? enqueue(stream, kMemsetNode, work) : run_synchronously(*device, work);
}

/// `height` rows of `width` bytes, each `pitch` bytes behind the one before.
hipError_t fill_rows(void* pointer, size_t pitch, int value, size_t width, size_t height, hipStream_t handle,
                     bool later) {
    Device* device = nullptr;
    hipStream_t stream = nullptr;
    const hipError_t result = device_and_stream(handle, device, stream);
    if (result != hipSuccess) return result;
    if (width == 0 || height == 0) return hipSuccess;
    if (width > pitch) return hipErrorInvalidValue;
    DeviceMemory& memory = device->memory;
    const uint64_t to = number_of(pointer);
    const size_t bytes = pitch * (height - 1) + width;
    if (memory.at(to, bytes) == nullptr) return hipErrorInvalidValue;
    const auto work = [&memory, to, pitch, value, width, height, bytes] {
        uint8_t* target = memory.at(to, bytes);
        for (size_t row = 0; target != nullptr && row < height; ++row) std::memset(target + row * pitch, value, width);
    };
    return later ? enqueue(stream, kMemsetNode, work) : run_synchronously(*device, work);
}

hipError_t allocate(void** pointer, size_t bytes) {
    Device* device = nullptr;
    const hipError_t usable = current_device(device);
    if (usable != hipSuccess) return usable;
    if (pointer == nullptr) return hipErrorInvalidValue;
    *pointer = nullptr;
    if (bytes == 0) return hipSuccess;
    const uint64_t address = device->memory.allocate(bytes, "an allocation");
    *pointer = reinterpret_cast<void*>(address);
    return address == 0 ? hipErrorOutOfMemory : hipSuccess;
}

hipError_t allocate_host(void** pointer, size_t bytes) {
    Device* device = nullptr;
    const hipError_t usable = current_device(device);
    if (usable != hipSuccess) return usable;
    if (pointer == nullptr) return hipErrorInvalidValue;
    *pointer = nullptr;
    if (bytes == 0) return hipSuccess;
    void* host = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (host == nullptr) return hipErrorOutOfMemory;
    device->memory.map_host(host, bytes, "page-locked host memory");
    *pointer = host;
    return hipSuccess;
}

hipError_t free_host(void* host) {
    Device* device = nullptr;
    const hipError_t usable = current_device(device);
    if (usable != hipSuccess) return usable;
    if (host == nullptr) return hipSuccess;
    device->synchronize();
    if (is_device_address(number_of(host)) || !device->memory.release(number_of(host))) return hipErrorInvalidValue;
    std::free(host);
    return hipSuccess;
}

}  // namespace

EMULATED_API hipError_t hipMalloc(void** pointer, size_t bytes) {
    return remember(allocate(pointer, bytes));
}
EMULATED_API hipError_t hipMallocAsync(void** pointer, size_t bytes, hipStream_t) {
    return remember(allocate(pointer, bytes));
}

EMULATED_API hipError_t hipFree(void* pointer) {
    Device* device = nullptr;
    const hipError_t usable = current_device(device);
    if (usable != hipSuccess) return remember(usable);
    if (pointer == nullptr) return hipSuccess;
    device->synchronize();
    const bool known = is_device_address(number_of(pointer)) && device->memory.release(number_of(pointer));
    return remember(known ? hipSuccess : hipErrorInvalidValue);
}

EMULATED_API hipError_t hipFreeAsync(void* pointer, hipStream_t handle) {
    Device* device = nullptr;
    hipStream_t stream = nullptr;
    const hipError_t result = device_and_stream(handle, device, stream);
    if (result != hipSuccess) return remember(result);
    if (pointer == nullptr) return hipSuccess;
    DeviceMemory& memory = device->memory;
    const uint64_t address = number_of(pointer);
    if (memory.at(address, 0) == nullptr || memory.find(address)->base != address) {
        return remember(hipErrorInvalidValue);
    }
    return remember(enqueue(stream, kMemcpyNode, [&memory, address] { memory.release(address); }));
}

EMULATED_API hipError_t hipMemGetInfo(size_t* free_bytes, size_t* total) {
    Device* device = nullptr;
    const hipError_t usable = current_device(device);
    if (usable != hipSuccess) return remember(usable);
    if (free_bytes != nullptr) *free_bytes = device->memory.capacity() - device->memory.used();
    if (total != nullptr) *total = device->memory.capacity();
    return hipSuccess;
}

EMULATED_API hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, size_t* bytes, hipDeviceptr_t address) {
    Device* device = nullptr;
    const hipError_t usable = current_device(device);
    if (usable != hipSuccess) return remember(usable);
    if (device->memory.at(number_of(address), 1) == nullptr) return remember(hipErrorNotFound);
    const Allocation* allocation = device->memory.find(number_of(address));
    if (base != nullptr) *base = reinterpret_cast<void*>(allocation->base);
    if (bytes != nullptr) *bytes = allocation->bytes;
    return hipSuccess;
}

EMULATED_API hipError_t hipHostMalloc(void** pointer, size_t bytes, unsigned) {
    return remember(allocate_host(pointer, bytes));
}
EMULATED_API hipError_t hipHostAlloc(void** pointer, size_t bytes, unsigned) {
    return remember(allocate_host(pointer, bytes));
}
EMULATED_API hipError_t hipMallocHost(void** pointer, size_t bytes) {
    return remember(allocate_host(pointer, bytes));
}
EMULATED_API hipError_t hipMallocManaged(void** pointer, size_t bytes, unsigned) {
    return remember(allocate_host(pointer, bytes));
}
EMULATED_API hipError_t hipHostFree(void* pointer) {
    return remember(free_host(pointer));
}
EMULATED_API hipError_t hipFreeHost(void* pointer) {
    return remember(free_host(pointer));
}

EMULATED_API hipError_t hipHostRegister(void* host, size_t bytes, unsigned) {
    Device* device = nullptr;
    const hipError_t usable = current_device(device);
    if (usable != hipSuccess) return remember(usable);
    if (host == nullptr || bytes == 0) return remember(hipErrorInvalidValue);
    if (is_page_locked(device->memory, host, 1)) return remember(hipErrorHostMemoryAlreadyRegistered);
    device->memory.map_host(host, bytes, "registered host memory");
    return hipSuccess;
}
EMULATED_API hipError_t hipHostUnregister(void* host) {
    Device* device = nullptr;
    const hipError_t usable = current_device(device);
    if (usable != hipSuccess) return remember(usable);
    device->synchronize();
    const bool known = !is_device_address(number_of(host)) && device->memory.release(number_of(host));
    return remember(known ? hipSuccess : hipErrorHostMemoryNotRegistered);
}
EMULATED_API hipError_t hipHostGetDevicePointer(void** pointer, void* host, unsigned) {
    Device* device = nullptr;
    const hipError_t usable = current_device(device);
    if (usable != hipSuccess) return remember(usable);
    if (pointer == nullptr || !is_page_locked(device->memory, host, 1)) return remember(hipErrorInvalidValue);
    *pointer = host;
    return hipSuccess;
}

EMULATED_API hipError_t hipMemcpy(void* to, const void* from, size_t bytes, int direction) {
    return remember(copy(to, from, bytes, static_cast<Direction>(direction)));
}
EMULATED_API hipError_t hipMemcpyAsync(void* to, const void* from, size_t bytes, int direction, hipStream_t stream) {
    return remember(copy_later(to, from, bytes, static_cast<Direction>(direction), stream));
}
EMULATED_API hipError_t hipMemcpyWithStream(void* to, const void* from, size_t bytes, int direction,
                                            hipStream_t handle) {
    const hipError_t queued = copy_later(to, from, bytes, static_cast<Direction>(direction), handle);
    if (queued != hipSuccess) return remember(queued);
    Device* device = nullptr;
    hipStream_t stream = nullptr;
    const hipError_t found = device_and_stream(handle, device, stream);
    if (found != hipSuccess || stream->capture) return remember(found);
    stream->synchronize();
    return remember(static_cast<hipError_t>(device->sticky.load()));
}
EMULATED_API hipError_t hipMemcpyHtoD(hipDeviceptr_t to, void* from, size_t bytes) {
    return remember(copy(to, from, bytes, Direction::HostToDevice));
}
EMULATED_API hipError_t hipMemcpyDtoH(void* to, hipDeviceptr_t from, size_t bytes) {
    return remember(copy(to, from, bytes, Direction::DeviceToHost));
}
EMULATED_API hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes) {
    return remember(copy(to, from, bytes, Direction::DeviceToDevice));
}
EMULATED_API hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, void* from, size_t bytes, hipStream_t stream) {
    return remember(copy_later(to, from, bytes, Direction::HostToDevice, stream));
}
EMULATED_API hipError_t hipMemcpyDtoHAsync(void* to, hipDeviceptr_t from, size_t bytes, hipStream_t stream) {
    return remember(copy_later(to, from, bytes, Direction::DeviceToHost, stream));
}
EMULATED_API hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes, hipStream_t stream) {
    return remember(copy_later(to, from, bytes, Direction::DeviceToDevice, stream));
}

EMULATED_API hipError_t hipMemset(void* to, int value, size_t bytes) {
    return remember(fill(to, static_cast<uint8_t>(value), bytes, nullptr, false));
}
EMULATED_API hipError_t hipMemsetAsync(void* to, int value, size_t bytes, hipStream_t stream) {
    return remember(fill(to, static_cast<uint8_t>(value), bytes, stream, true));
}
EMULATED_API hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, size_t count) {
    return remember(fill(to, value, count, nullptr, false));
}
EMULATED_API hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value, size_t count, hipStream_t stream) {
    return remember(fill(to, value, count, stream, true));
}
EMULATED_API hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value, size_t count) {
    return remember(fill(to, value, count, nullptr, false));
}
EMULATED_API hipError_t hipMemsetD16Async(hipDeviceptr_t to, unsigned short value, size_t count, hipStream_t stream) {
    return remember(fill(to, value, count, stream, true));
}
EMULATED_API hipError_t hipMemsetD32(hipDeviceptr_t to, int value, size_t count) {
    return remember(fill(to, value, count, nullptr, false));
}
EMULATED_API hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, size_t count, hipStream_t stream) {
    return remember(fill(to, value, count, stream, true));
}
EMULATED_API hipError_t hipMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
    return remember(fill_rows(to, pitch, value, width, height, nullptr, false));
}
EMULATED_API hipError_t hipMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                                         hipStream_t stream) {
    return remember(fill_rows(to, pitch, value, width, height, stream, true));
}

EMULATED_API hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* pointer) {
    Device* device = nullptr;
    const hipError_t usable = current_device(device);
    if (usable != hipSuccess) return remember(usable);
    if (attributes == nullptr) return remember(hipErrorInvalidValue);
    const bool is_6 = Runtime::get().version >= 60000000;
    *attributes = {0, device->index, nullptr, nullptr, 0, 0};
    for (const auto& candidate : Runtime::get().devices) {
        if (candidate->memory.at(number_of(pointer), 1) == nullptr) continue;
        const Allocation& allocation = *candidate->memory.find(number_of(pointer));
        // HIP 5: host 0, device 1; HIP 6: unregistered 0, host 1, device 2.
        attributes->memoryType = (allocation.on_host ? 0 : 1) + (is_6 ? 1 : 0);
        attributes->device = candidate->index;
        attributes->devicePointer = const_cast<void*>(pointer);
        attributes->hostPointer = allocation.on_host ? const_cast<void*>(pointer) : nullptr;
        return hipSuccess;
    }
    return is_6 ? hipSuccess : remember(hipErrorInvalidValue);
}

EMULATED_API hipError_t hipPointerGetAttribute(void* data, int attribute, hipDeviceptr_t pointer) {
    Device* device = nullptr;
    const hipError_t usable = current_device(device);
    if (usable != hipSuccess) return remember(usable);
    const DeviceMemory& memory = device->memory;
    if (data == nullptr || memory.at(number_of(pointer), 1) == nullptr) return remember(hipErrorInvalidValue);
    const Allocation& allocation = *memory.find(number_of(pointer));
    const bool is_6 = Runtime::get().version >= 60000000;
    const auto put = [&](auto value) {
        std::memcpy(data, &value, sizeof value);
        return hipSuccess;
    };
    switch (attribute) {
        case 2:  // MEMORY_TYPE
            return put((allocation.on_host ? 0 : 1) + (is_6 ? 1 : 0));
        case 3:  // DEVICE_POINTER
            return put(pointer);
        case 4:  // HOST_POINTER
            return allocation.on_host ? put(pointer) : remember(hipErrorInvalidValue);
        case 8:  // IS_MANAGED
            return put(0);
        case 9:  // DEVICE_ORDINAL
            return put(device->index);
        case 11:  // RANGE_START_ADDR
            return put(allocation.base);
        case 12:  // RANGE_SIZE
            return put(allocation.bytes);
        default:
            return remember(hipErrorNotSupported);
    }
}
