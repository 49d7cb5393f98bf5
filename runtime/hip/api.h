// The part of the HIP runtime API that Kiln calls, declared here so that building it needs no ROCm. Names and numbers
// are those of hip_runtime_api.h and hold for HIP 5.2 to 7; tests/runtime/gpu/hip_header_test.cpp compares them with
// the real header where CMake finds one. Handles are void*, enumerations int. No struct is passed whose layout changed
// between versions: hipDeviceProp_t did in 6.0, hipPointerAttribute_t too, and so did the meaning of hipMemoryType.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kiln::runtime::hip {

using Result = int;

// hipError_t: what is told apart.
inline constexpr Result kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kInvalidDevicePointer = 17, kNoDevice = 100,
                        kInvalidImage = 200, kNoBinaryForGpu = 209, kInvalidKernelFile = 218, kInvalidSource = 300,
                        kSharedObjectInitFailed = 303, kNotFound = 500, kNotReady = 600, kCaptureImplicit = 906;

// hipDeviceAttribute_t. The numbers kept their places from 5.0 on; entries that were withdrawn became unused ones.
inline constexpr int kMaxGridX = 29, kMultiprocessors = 63, kPageableMemoryAccess = 65, kSharedBytesPerBlock = 74;
// hipFunction_attribute
inline constexpr int kFunctionMaxThreads = 0, kFunctionSharedBytes = 1;
// hipPointer_attribute
inline constexpr int kPointerDeviceOrdinal = 9;
// hipStreamNonBlocking, hipEventDefault, hipEventDisableTiming, hipStreamCaptureStatusNone
inline constexpr unsigned kStreamNonBlocking = 1, kEventDefault = 0, kEventDisableTiming = 2;
inline constexpr int kCaptureNone = 0;

/// Every function: whether a driver must have it, its name as the library exports it, result and parameters.
// clang-format off
#define KILN_HIP_FUNCTIONS(REQUIRED, OPTIONAL)                                                                   \
    REQUIRED(hipInit, (unsigned))                                                                                \
    REQUIRED(hipRuntimeGetVersion, (int*))                                                                       \
    REQUIRED(hipGetDeviceCount, (int*))                                                                          \
    REQUIRED(hipGetDevice, (int*))                                                                               \
    REQUIRED(hipSetDevice, (int))                                                                                \
    REQUIRED(hipDeviceGetName, (char*, int, int))                                                                \
    REQUIRED(hipDeviceGetAttribute, (int*, int, int))                                                            \
    REQUIRED(hipDeviceTotalMem, (std::size_t*, int))                                                             \
    OPTIONAL(hipGetDeviceProperties, (void*, int))                                                               \
    OPTIONAL(hipGetDevicePropertiesR0600, (void*, int))                                                          \
    REQUIRED(hipMalloc, (void**, std::size_t))                                                                   \
    REQUIRED(hipFree, (void*))                                                                                   \
    OPTIONAL(hipMallocAsync, (void**, std::size_t, void*))                                                       \
    OPTIONAL(hipFreeAsync, (void*, void*))                                                                       \
    REQUIRED(hipMemcpyHtoDAsync, (void*, const void*, std::size_t, void*))                                       \
    REQUIRED(hipMemcpyDtoHAsync, (void*, const void*, std::size_t, void*))                                       \
    REQUIRED(hipMemsetD8Async, (void*, unsigned char, std::size_t, void*))                                       \
    REQUIRED(hipMemsetD16Async, (void*, unsigned short, std::size_t, void*))                                     \
    REQUIRED(hipMemsetD32Async, (void*, int, std::size_t, void*))                                                \
    REQUIRED(hipMemset2DAsync, (void*, std::size_t, int, std::size_t, std::size_t, void*))                       \
    REQUIRED(hipMemGetAddressRange, (void**, std::size_t*, void*))                                               \
    REQUIRED(hipPointerGetAttribute, (void*, int, void*))                                                        \
    REQUIRED(hipStreamCreateWithFlags, (void**, unsigned))                                                       \
    REQUIRED(hipStreamDestroy, (void*))                                                                          \
    REQUIRED(hipStreamSynchronize, (void*))                                                                      \
    REQUIRED(hipStreamWaitEvent, (void*, void*, unsigned))                                                       \
    REQUIRED(hipStreamIsCapturing, (void*, int*))                                                                \
    OPTIONAL(hipThreadExchangeStreamCaptureMode, (int*))                                                         \
    REQUIRED(hipEventCreateWithFlags, (void**, unsigned))                                                        \
    REQUIRED(hipEventDestroy, (void*))                                                                           \
    REQUIRED(hipEventRecord, (void*, void*))                                                                     \
    REQUIRED(hipEventQuery, (void*))                                                                             \
    REQUIRED(hipEventSynchronize, (void*))                                                                       \
    REQUIRED(hipEventElapsedTime, (float*, void*, void*))                                                        \
    REQUIRED(hipModuleLoadData, (void**, const void*))                                                           \
    REQUIRED(hipModuleGetFunction, (void**, void*, const char*))                                                 \
    REQUIRED(hipFuncGetAttribute, (int*, int, void*))                                                            \
    REQUIRED(hipModuleLaunchKernel, (void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,          \
                                     unsigned, void*, void**, void**))
// hipGetErrorName and hipGetErrorString return text and not a Result.
// clang-format on

/// The functions, by the names of the library. An optional one may be null.
struct Api {
#define KILN_DECLARE(name, parameters) Result(*name) parameters = nullptr;
    KILN_HIP_FUNCTIONS(KILN_DECLARE, KILN_DECLARE)
#undef KILN_DECLARE
    const char* (*hipGetErrorName)(Result) = nullptr;
    const char* (*hipGetErrorString)(Result) = nullptr;
};

}  // namespace kiln::runtime::hip
