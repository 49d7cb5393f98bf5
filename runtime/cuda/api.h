// The part of the CUDA driver API that Kiln calls, declared here so that building it needs no toolkit. Names, numbers
// and forms are those of cuda.h (CUDA driver API reference); tests/runtime/gpu/cuda_header_test.cpp compares them with
// the real header where CMake finds one. Handles are void*, enumerations int: both are passed the same way.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kiln::runtime::cuda {

using Result = int;
using DevicePointer = unsigned long long;  // CUdeviceptr

// CUresult: what is told apart.
inline constexpr Result kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kDeinitialized = 4, kNoDevice = 100,
                        kInvalidImage = 200, kNoBinaryForGpu = 209, kInvalidPtx = 218, kJitCompilerNotFound = 221,
                        kUnsupportedPtxVersion = 222, kInvalidSource = 300, kNotFound = 500, kNotReady = 600,
                        kCaptureImplicit = 906;

// CUdevice_attribute
inline constexpr int kMaxGridX = 5, kMultiprocessors = 16, kMajor = 75, kMinor = 76, kPageableMemoryAccess = 88,
                     kSharedBytesOptIn = 97, kMemoryPoolsSupported = 115;
// CUfunction_attribute
inline constexpr int kFunctionMaxThreads = 0, kFunctionSharedBytes = 1, kFunctionMaxDynamicSharedBytes = 8;
// CUpointer_attribute, CUmemorytype
inline constexpr int kPointerMemoryType = 2, kPointerDeviceOrdinal = 9, kMemoryTypeHost = 1;
// CUstream_flags, CUevent_flags, CUstreamCaptureStatus, CUjit_option
inline constexpr unsigned kStreamNonBlocking = 1, kEventDefault = 0, kEventDisableTiming = 2;
inline constexpr int kCaptureNone = 0, kJitErrorLog = 5, kJitErrorLogBytes = 6;

/// Every function: whether a driver must have it, its name as the library exports it, result and parameters.
// clang-format off
#define KILN_CUDA_FUNCTIONS(REQUIRED, OPTIONAL)                                                                  \
    REQUIRED(cuInit, (unsigned))                                                                                 \
    REQUIRED(cuDriverGetVersion, (int*))                                                                         \
    REQUIRED(cuGetErrorName, (Result, const char**))                                                             \
    REQUIRED(cuGetErrorString, (Result, const char**))                                                           \
    REQUIRED(cuDeviceGetCount, (int*))                                                                           \
    REQUIRED(cuDeviceGet, (int*, int))                                                                           \
    REQUIRED(cuDeviceGetName, (char*, int, int))                                                                 \
    REQUIRED(cuDeviceGetAttribute, (int*, int, int))                                                             \
    REQUIRED(cuDeviceTotalMem_v2, (std::size_t*, int))                                                           \
    REQUIRED(cuDevicePrimaryCtxRetain, (void**, int))                                                            \
    REQUIRED(cuCtxGetCurrent, (void**))                                                                          \
    REQUIRED(cuCtxPushCurrent_v2, (void*))                                                                       \
    REQUIRED(cuCtxPopCurrent_v2, (void**))                                                                       \
    REQUIRED(cuMemAlloc_v2, (DevicePointer*, std::size_t))                                                       \
    REQUIRED(cuMemFree_v2, (DevicePointer))                                                                      \
    REQUIRED(cuMemcpyHtoDAsync_v2, (DevicePointer, const void*, std::size_t, void*))                             \
    REQUIRED(cuMemcpyDtoHAsync_v2, (void*, DevicePointer, std::size_t, void*))                                   \
    REQUIRED(cuMemsetD8Async, (DevicePointer, unsigned char, std::size_t, void*))                                \
    REQUIRED(cuMemsetD16Async, (DevicePointer, unsigned short, std::size_t, void*))                              \
    REQUIRED(cuMemsetD32Async, (DevicePointer, unsigned, std::size_t, void*))                                    \
    OPTIONAL(cuMemsetD2D32Async, (DevicePointer, std::size_t, unsigned, std::size_t, std::size_t, void*))        \
    REQUIRED(cuPointerGetAttribute, (void*, int, DevicePointer))                                                 \
    REQUIRED(cuStreamCreate, (void**, unsigned))                                                                 \
    REQUIRED(cuStreamDestroy_v2, (void*))                                                                        \
    REQUIRED(cuStreamSynchronize, (void*))                                                                       \
    REQUIRED(cuStreamWaitEvent, (void*, void*, unsigned))                                                        \
    REQUIRED(cuStreamIsCapturing, (void*, int*))                                                                 \
    OPTIONAL(cuThreadExchangeStreamCaptureMode, (int*))                                                          \
    REQUIRED(cuEventCreate, (void**, unsigned))                                                                  \
    REQUIRED(cuEventDestroy_v2, (void*))                                                                         \
    REQUIRED(cuEventRecord, (void*, void*))                                                                      \
    REQUIRED(cuEventQuery, (void*))                                                                              \
    REQUIRED(cuEventSynchronize, (void*))                                                                        \
    REQUIRED(cuEventElapsedTime, (float*, void*, void*))                                                         \
    REQUIRED(cuModuleLoadDataEx, (void**, const void*, unsigned, int*, void**))                                  \
    REQUIRED(cuModuleGetFunction, (void**, void*, const char*))                                                  \
    REQUIRED(cuFuncGetAttribute, (int*, int, void*))                                                             \
    REQUIRED(cuFuncSetAttribute, (void*, int, int))                                                              \
    REQUIRED(cuLaunchKernel, (void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,       \
                              void*, void**, void**))                                                            \
    OPTIONAL(cuMemAllocAsync, (DevicePointer*, std::size_t, void*))                                              \
    OPTIONAL(cuMemFreeAsync, (DevicePointer, void*))
// clang-format on

/// The functions, by the names of the library. An optional one may be null.
struct Api {
#define KILN_DECLARE(name, parameters) Result(*name) parameters = nullptr;
    KILN_CUDA_FUNCTIONS(KILN_DECLARE, KILN_DECLARE)
#undef KILN_DECLARE
};

}  // namespace kiln::runtime::cuda
