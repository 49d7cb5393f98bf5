// Kiln's own declarations of the CUDA driver API against the real header.

// First: cuda.h has macros for some of the names.
#include "runtime/cuda/api.h"
// Then the real one.
#include <cuda.h>
#include <doctest/doctest.h>

#include "tests/runtime/gpu/same_shape.h"

namespace kiln::test {

namespace own = kiln::runtime::cuda;

static_assert(sizeof(CUdeviceptr) == sizeof(own::DevicePointer));
static_assert(CUDA_SUCCESS == own::kSuccess && CUDA_ERROR_INVALID_VALUE == own::kInvalidValue);
static_assert(CUDA_ERROR_INVALID_IMAGE == own::kInvalidImage && CUDA_ERROR_NO_BINARY_FOR_GPU == own::kNoBinaryForGpu);
static_assert(CUDA_ERROR_INVALID_PTX == own::kInvalidPtx && CUDA_ERROR_INVALID_SOURCE == own::kInvalidSource);
static_assert(CUDA_ERROR_JIT_COMPILER_NOT_FOUND == own::kJitCompilerNotFound);
static_assert(CUDA_ERROR_UNSUPPORTED_PTX_VERSION == own::kUnsupportedPtxVersion);
static_assert(CUDA_ERROR_NOT_FOUND == own::kNotFound && CUDA_ERROR_NOT_READY == own::kNotReady);
static_assert(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT == own::kCaptureImplicit);
static_assert(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X == own::kMaxGridX);
static_assert(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT == own::kMultiprocessors);
static_assert(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR == own::kMajor);
static_assert(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR == own::kMinor);
static_assert(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS == own::kPageableMemoryAccess);
static_assert(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN == own::kSharedBytesOptIn);
static_assert(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK == own::kFunctionMaxThreads);
static_assert(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES == own::kFunctionSharedBytes);
static_assert(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES == own::kFunctionMaxDynamicSharedBytes);
static_assert(CU_POINTER_ATTRIBUTE_MEMORY_TYPE == own::kPointerMemoryType &&
              CU_MEMORYTYPE_HOST == own::kMemoryTypeHost);
static_assert(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL == own::kPointerDeviceOrdinal);
static_assert(CU_STREAM_NON_BLOCKING == own::kStreamNonBlocking && CU_STREAM_CAPTURE_STATUS_NONE == own::kCaptureNone);
static_assert(CU_EVENT_DEFAULT == own::kEventDefault && CU_EVENT_DISABLE_TIMING == own::kEventDisableTiming);
static_assert(CU_JIT_ERROR_LOG_BUFFER == own::kJitErrorLog);
static_assert(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES == own::kJitErrorLogBytes);
static_assert(CU_STREAM_CAPTURE_MODE_RELAXED == 2);

// cuda.h turns some names into those of later versions of the function; the library exports what is asked for here.
#undef cuEventElapsedTime
CUresult cuEventElapsedTime(float*, CUevent, CUevent);

#define KILN_SAME(name, parameters) \
    static_assert(same_shape<decltype(&name), decltype(own::Api::name)>(), #name " is declared otherwise");
KILN_CUDA_FUNCTIONS(KILN_SAME, KILN_SAME)

}  // namespace kiln::test

TEST_SUITE("unit") {
    TEST_CASE("cuda driver: own declarations are those of the real header") {
        CHECK(sizeof(kiln::test::own::Api) > 0);
    }
}
