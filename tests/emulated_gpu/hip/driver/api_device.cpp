// Devices, their attributes, errors and versions.

#include <cstdio>
#include <cstring>

#include "tests/emulated_gpu/hip/driver/runtime_state.h"

using namespace emulated_gpu::hip;

namespace {

/// Numbers of hipDeviceAttribute_t.
enum Attribute : int {
    kEccEnabled = 0,
    kAsyncEngineCount = 2,
    kCanMapHostMemory = 3,
    kCanUseHostPointer = 4,
    kClockRate = 5,
    kComputeMode = 6,
    kConcurrentKernels = 8,
    kConcurrentManagedAccess = 9,
    kCooperativeLaunch = 10,
    kCooperativeMultiDeviceLaunch = 11,
    kDirectManagedAccess = 13,
    kIntegrated = 16,
    kIsMultiGpuBoard = 17,
    kKernelTimeout = 18,
    kL2Bytes = 19,
    kMajor = 23,
    kManagedMemory = 24,
    kMaxBlocksPerMultiprocessor = 25,
    kMaxBlockX = 26,
    kMaxBlockY = 27,
    kMaxBlockZ = 28,
    kMaxGridX = 29,
    kMaxGridY = 30,
    kMaxGridZ = 31,
    kMaxThreadsDim = 55,
    kMaxThreadsPerBlock = 56,
    kMaxThreadsPerMultiprocessor = 57,
    kMaxPitch = 58,
    kMemoryBusWidth = 59,
    kMemoryClockRate = 60,
    kMinor = 61,
    kMultiprocessors = 63,
    kPageableMemoryAccess = 65,
    kPageableByHostTables = 66,
    kPciBus = 67,
    kPciDevice = 68,
    kPciDomain = 69,
    kMaxRegistersPerBlock = 71,
    kMaxRegistersPerMultiprocessor = 72,
    kReservedSharedPerBlock = 73,
    kMaxSharedPerBlock = 74,
    kSharedPerBlockOptIn = 75,
    kSharedPerMultiprocessor = 76,
    kStreamPriorities = 78,
    kSurfaceAlignment = 79,
    kTextureAlignment = 81,
    kTexturePitchAlignment = 82,
    kTotalConstantMemory = 83,
    kTotalGlobalMemory = 84,
    kUnifiedAddressing = 85,
    kWarpSize = 87,
    kMemoryPools = 88,
    kClockInstructionRate = 10000,
    kMaxSharedPerMultiprocessor = 10002,
    kGcnArch = 10003,
    kIsLargeBar = 10011,
    kAsicRevision = 10012,
    kPhysicalMultiprocessors = 10015,
    kFineGrainSupport = 10016,
};

/// False for what is not known. Clocks, caches and widths are those of an MI210 (AMD's data sheet), the number of
/// compute units is the emulator's own.
bool attribute_value(const Device& device, int attribute, int& value) {
    switch (attribute) {
        case kEccEnabled:
        case kComputeMode:
        case kIntegrated:
        case kIsMultiGpuBoard:
        case kKernelTimeout:
        case kDirectManagedAccess:
        case kPageableMemoryAccess:
        case kPageableByHostTables:
        case kPciDevice:
        case kPciDomain:
        case kReservedSharedPerBlock:
        case kAsicRevision:
            value = 0;
            return true;
        case kCanMapHostMemory:
        case kCanUseHostPointer:
        case kConcurrentKernels:
        case kConcurrentManagedAccess:
        case kCooperativeLaunch:
        case kCooperativeMultiDeviceLaunch:
        case kManagedMemory:
        case kStreamPriorities:
        case kUnifiedAddressing:
        case kMemoryPools:
        case kIsLargeBar:
        case kFineGrainSupport:
            value = 1;
            return true;
        case kAsyncEngineCount:
            value = 8;
            return true;
        case kClockRate:
            value = 1'700'000;
            return true;
        case kMemoryClockRate:
            value = 1'600'000;
            return true;
        case kMemoryBusWidth:
            value = 4096;
            return true;
        case kL2Bytes:
            value = 8 << 20;
            return true;
        case kMajor:
            value = device.major();
            return true;
        case kMinor:
            value = device.minor();
            return true;
        case kMaxBlocksPerMultiprocessor:
            value = 32;
            return true;
        case kMaxBlockX:
        case kMaxBlockY:
        case kMaxBlockZ:
        case kMaxThreadsDim:
        case kMaxThreadsPerBlock:
            value = 1024;
            return true;
        case kMaxGridX:
        case kMaxPitch:
        case kTotalConstantMemory:
        case kTotalGlobalMemory:
            value = 0x7fff'ffff;
            return true;
        case kMaxGridY:
        case kMaxGridZ:
            value = 65536;
            return true;
        case kMaxThreadsPerMultiprocessor:
            value = 2048;
            return true;
        case kMultiprocessors:
        case kPhysicalMultiprocessors:
            value = device.compute_units();
            return true;
        case kPciBus:
            value = device.index + 1;
            return true;
        case kMaxRegistersPerBlock:
        case kMaxRegistersPerMultiprocessor:
            value = 65536;
            return true;
        case kMaxSharedPerBlock:
        case kSharedPerBlockOptIn:
        case kSharedPerMultiprocessor:
        case kMaxSharedPerMultiprocessor:
            value = static_cast<int>(device.lds_bytes());
            return true;
        case kSurfaceAlignment:
        case kTextureAlignment:
        case kTexturePitchAlignment:
            value = 256;
            return true;
        case kWarpSize:
            value = device.wave_lanes();
            return true;
        case kClockInstructionRate:
            value = 100'000;
            return true;
        case kGcnArch:
            value = 100 * device.major() + 10 * (device.processor == "gfx90a" ? 1 : device.minor());
            return true;
        default:
            return false;
    }
}

hipError_t find_device(int number, Device*& device) {
    auto& devices = Runtime::get().devices;
    if (number < 0 || static_cast<size_t>(number) >= devices.size()) return hipErrorInvalidDevice;
    device = devices[static_cast<size_t>(number)].get();
    return hipSuccess;
}

struct ErrorText {
    hipError_t error;
    const char* name;
    const char* text;
};
constexpr ErrorText kErrorTexts[] = {
    {hipSuccess, "hipSuccess", "no error"},
    {hipErrorInvalidValue, "hipErrorInvalidValue", "invalid argument"},
    {hipErrorOutOfMemory, "hipErrorOutOfMemory", "out of memory"},
    {hipErrorNotInitialized, "hipErrorNotInitialized", "initialization error"},
    {hipErrorInvalidConfiguration, "hipErrorInvalidConfiguration", "invalid configuration argument"},
    {hipErrorInvalidDevicePointer, "hipErrorInvalidDevicePointer", "invalid device pointer"},
    {hipErrorInvalidMemcpyDirection, "hipErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {hipErrorInvalidDeviceFunction, "hipErrorInvalidDeviceFunction", "invalid device function"},
    {hipErrorNoDevice, "hipErrorNoDevice", "no ROCm-capable device is detected"},
    {hipErrorInvalidDevice, "hipErrorInvalidDevice", "invalid device ordinal"},
    {hipErrorInvalidImage, "hipErrorInvalidImage", "device kernel image is invalid"},
    {hipErrorInvalidContext, "hipErrorInvalidContext", "invalid device context"},
    {hipErrorNoBinaryForGpu, "hipErrorNoBinaryForGpu", "no kernel image is available for execution on the device"},
    {hipErrorUnsupportedLimit, "hipErrorUnsupportedLimit", "limit is not supported on this architecture"},
    {hipErrorInvalidKernelFile, "hipErrorInvalidKernelFile", "invalid kernel file"},
    {hipErrorFileNotFound, "hipErrorFileNotFound", "file not found"},
    {hipErrorInvalidHandle, "hipErrorInvalidHandle", "invalid resource handle"},
    {hipErrorNotFound, "hipErrorNotFound", "named symbol not found"},
    {hipErrorNotReady, "hipErrorNotReady", "device not ready"},
    {hipErrorIllegalAddress, "hipErrorIllegalAddress", "an illegal memory access was encountered"},
    {hipErrorLaunchOutOfResources, "hipErrorLaunchOutOfResources", "too many resources requested for launch"},
    {hipErrorLaunchTimeOut, "hipErrorLaunchTimeOut", "the launch timed out and was terminated"},
    {hipErrorAssert, "hipErrorAssert", "device-side assert triggered"},
    {hipErrorHostMemoryAlreadyRegistered, "hipErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {hipErrorHostMemoryNotRegistered, "hipErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {hipErrorLaunchFailure, "hipErrorLaunchFailure", "unspecified launch failure"},
    {hipErrorCooperativeLaunchTooLarge, "hipErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {hipErrorNotSupported, "hipErrorNotSupported", "operation not supported"},
    {hipErrorStreamCaptureUnsupported, "hipErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {hipErrorStreamCaptureInvalidated, "hipErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {hipErrorStreamCaptureUnmatched, "hipErrorStreamCaptureUnmatched", "capture was not initiated in this stream"},
    {hipErrorStreamCaptureUnjoined, "hipErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
    {hipErrorStreamCaptureImplicit, "hipErrorStreamCaptureImplicit",
     "operation would make the null stream depend on a capturing blocking stream"},
    {hipErrorUnknown, "hipErrorUnknown", "unknown error"},
};

const ErrorText& text_of(hipError_t error) {
    for (const ErrorText& entry : kErrorTexts) {
        if (entry.error == error) return entry;
    }
    return kErrorTexts[std::size(kErrorTexts) - 1];
}

}  // namespace

EMULATED_API hipError_t hipInit(unsigned flags) {
    if (flags != 0) return remember(hipErrorInvalidValue);
    return remember(Runtime::get().devices.empty() ? hipErrorNoDevice : hipSuccess);
}

EMULATED_API hipError_t hipDriverGetVersion(int* version) {
    if (version == nullptr) return remember(hipErrorInvalidValue);
    *version = Runtime::get().version;
    return hipSuccess;
}
EMULATED_API hipError_t hipRuntimeGetVersion(int* version) {
    return hipDriverGetVersion(version);
}

EMULATED_API hipError_t hipGetDeviceCount(int* count) {
    if (count == nullptr) return remember(hipErrorInvalidValue);
    *count = static_cast<int>(Runtime::get().devices.size());
    return remember(*count == 0 ? hipErrorNoDevice : hipSuccess);
}

EMULATED_API hipError_t hipSetDevice(int number) {
    Device* device = nullptr;
    const hipError_t found = find_device(number, device);
    if (found == hipSuccess) chosen_device() = number;
    return remember(found);
}
EMULATED_API hipError_t hipGetDevice(int* number) {
    if (number == nullptr) return remember(hipErrorInvalidValue);
    if (Runtime::get().devices.empty()) return remember(hipErrorNoDevice);
    *number = chosen_device();
    return hipSuccess;
}
EMULATED_API hipError_t hipDeviceGet(hipDevice_t* handle, int number) {
    Device* device = nullptr;
    const hipError_t found = find_device(number, device);
    if (found != hipSuccess) return remember(found);
    if (handle == nullptr) return remember(hipErrorInvalidValue);
    *handle = number;
    return hipSuccess;
}

EMULATED_API hipError_t hipDeviceGetAttribute(int* value, int attribute, int number) {
    Device* device = nullptr;
    const hipError_t found = find_device(number, device);
    if (found != hipSuccess) return remember(found);
    if (value == nullptr) return remember(hipErrorInvalidValue);
    return remember(attribute_value(*device, attribute, *value) ? hipSuccess : hipErrorInvalidValue);
}

EMULATED_API hipError_t hipDeviceGetName(char* name, int capacity, hipDevice_t number) {
    Device* device = nullptr;
    const hipError_t found = find_device(number, device);
    if (found != hipSuccess) return remember(found);
    if (name == nullptr || capacity <= 0) return remember(hipErrorInvalidValue);
    std::snprintf(name, static_cast<size_t>(capacity), "%s", device->name().c_str());
    return hipSuccess;
}
EMULATED_API hipError_t hipDeviceGetPCIBusId(char* id, int capacity, int number) {
    Device* device = nullptr;
    const hipError_t found = find_device(number, device);
    if (found != hipSuccess) return remember(found);
    if (id == nullptr || capacity < 13) return remember(hipErrorInvalidValue);
    std::snprintf(id, static_cast<size_t>(capacity), "0000:%02x:00.0", static_cast<unsigned>(number + 1) & 0xff);
    return hipSuccess;
}
EMULATED_API hipError_t hipDeviceGetUuid(void* uuid, hipDevice_t number) {
    Device* device = nullptr;
    const hipError_t found = find_device(number, device);
    if (found != hipSuccess) return remember(found);
    if (uuid == nullptr) return remember(hipErrorInvalidValue);
    const std::string text = "emulated gpu " + std::to_string(number) + std::string(16, ' ');
    std::memcpy(uuid, text.data(), 16);
    return hipSuccess;
}
EMULATED_API hipError_t hipDeviceTotalMem(size_t* bytes, hipDevice_t number) {
    Device* device = nullptr;
    const hipError_t found = find_device(number, device);
    if (found != hipSuccess) return remember(found);
    if (bytes == nullptr) return remember(hipErrorInvalidValue);
    *bytes = device->memory.capacity();
    return hipSuccess;
}
EMULATED_API hipError_t hipDeviceComputeCapability(int* major, int* minor, hipDevice_t number) {
    Device* device = nullptr;
    const hipError_t found = find_device(number, device);
    if (found != hipSuccess) return remember(found);
    if (major == nullptr || minor == nullptr) return remember(hipErrorInvalidValue);
    *major = device->major();
    *minor = device->minor();
    return hipSuccess;
}

namespace {

/// Fields of the structure of properties that are filled in, by their places in it, which differ between the layout up
/// to HIP 5 and that of HIP 6 ("R0600").
struct PropertyPlaces {
    size_t bytes;
    size_t total_memory;
    size_t shared_per_block;
    size_t warp_size;
    size_t threads_per_block;
    size_t major;
    size_t minor;
    size_t multiprocessors;
    size_t processor;
};
constexpr PropertyPlaces kUpTo5{792, 256, 264, 276, 280, 328, 332, 336, 396};
constexpr PropertyPlaces kFrom6{1472, 288, 296, 308, 320, 360, 364, 388, 1160};

hipError_t fill_properties(void* properties, int number, const PropertyPlaces& places) {
    Device* device = nullptr;
    const hipError_t found = find_device(number, device);
    if (found != hipSuccess) return found;
    if (properties == nullptr) return hipErrorInvalidValue;
    auto* bytes = static_cast<uint8_t*>(properties);
    std::memset(bytes, 0, places.bytes);
    const auto put = [&](size_t place, auto value) { std::memcpy(bytes + place, &value, sizeof value); };
    std::snprintf(static_cast<char*>(properties), 256, "%s", device->name().c_str());
    std::snprintf(reinterpret_cast<char*>(bytes + places.processor), 256, "%s",
                  device->processor_with_features().c_str());
    put(places.total_memory, device->memory.capacity());
    put(places.shared_per_block, device->lds_bytes());
    put(places.warp_size, device->wave_lanes());
    put(places.threads_per_block, 1024);
    put(places.major, device->major());
    put(places.minor, device->minor());
    put(places.multiprocessors, device->compute_units());
    return hipSuccess;
}

}  // namespace

EMULATED_API hipError_t hipGetDeviceProperties(void* properties, int number) {
    return remember(fill_properties(properties, number, kUpTo5));
}
EMULATED_API hipError_t hipGetDevicePropertiesR0600(void* properties, int number) {
    return remember(fill_properties(properties, number, kFrom6));
}

EMULATED_API hipError_t hipDeviceSynchronize() {
    Device* device = nullptr;
    const hipError_t usable = current_device(device);
    if (usable != hipSuccess) return remember(usable);
    device->synchronize();
    return remember(static_cast<hipError_t>(device->sticky.load()));
}

EMULATED_API hipError_t hipDeviceReset() {
    Device* device = nullptr;
    if (current_device(device) == hipErrorNoDevice) return remember(hipErrorNoDevice);
    device->synchronize();
    device->sticky = hipSuccess;
    last_error() = hipSuccess;
    return hipSuccess;
}

EMULATED_API hipError_t hipSetDeviceFlags(unsigned) {
    return hipSuccess;
}
EMULATED_API hipError_t hipDeviceCanAccessPeer(int* can, int, int) {
    if (can == nullptr) return remember(hipErrorInvalidValue);
    *can = 0;
    return hipSuccess;
}

EMULATED_API hipError_t hipGetLastError() {
    const hipError_t error = last_error();
    last_error() = hipSuccess;
    return error;
}
EMULATED_API hipError_t hipPeekAtLastError() {
    return last_error();
}
EMULATED_API const char* hipGetErrorName(hipError_t error) {
    return text_of(error).name;
}
EMULATED_API const char* hipGetErrorString(hipError_t error) {
    return text_of(error).text;
}
EMULATED_API hipError_t hipDrvGetErrorName(hipError_t error, const char** name) {
    if (name == nullptr) return remember(hipErrorInvalidValue);
    *name = text_of(error).name;
    return hipSuccess;
}
EMULATED_API hipError_t hipDrvGetErrorString(hipError_t error, const char** text) {
    if (text == nullptr) return remember(hipErrorInvalidValue);
    *text = text_of(error).text;
    return hipSuccess;
}
