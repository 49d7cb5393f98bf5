// Kiln's own declarations of the HIP runtime API against the real header.
#define __HIP_PLATFORM_AMD__ 1

// First: newer versions of the real header have macros for some of the names.
#include "runtime/hip/api.h"
// Then the real one.
#include <doctest/doctest.h>
#include <hip/hip_runtime_api.h>

#include "tests/runtime/gpu/same_shape.h"

namespace kiln::test {

namespace own = kiln::runtime::hip;

static_assert(hipSuccess == own::kSuccess && hipErrorInvalidValue == own::kInvalidValue);
static_assert(hipErrorInvalidImage == own::kInvalidImage && hipErrorNoBinaryForGpu == own::kNoBinaryForGpu);
static_assert(hipErrorInvalidKernelFile == own::kInvalidKernelFile && hipErrorInvalidSource == own::kInvalidSource);
static_assert(hipErrorSharedObjectInitFailed == own::kSharedObjectInitFailed && hipErrorNotFound == own::kNotFound);
static_assert(hipErrorInvalidDevicePointer == own::kInvalidDevicePointer && hipErrorNotReady == own::kNotReady);
static_assert(hipErrorStreamCaptureImplicit == own::kCaptureImplicit);
static_assert(hipDeviceAttributeMaxGridDimX == own::kMaxGridX);
static_assert(hipDeviceAttributeMultiprocessorCount == own::kMultiprocessors);
static_assert(hipDeviceAttributePageableMemoryAccess == own::kPageableMemoryAccess);
static_assert(hipDeviceAttributeMaxSharedMemoryPerBlock == own::kSharedBytesPerBlock);
static_assert(HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK == own::kFunctionMaxThreads);
static_assert(HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES == own::kFunctionSharedBytes);
static_assert(HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL == own::kPointerDeviceOrdinal);
static_assert(hipStreamNonBlocking == own::kStreamNonBlocking && hipStreamCaptureStatusNone == own::kCaptureNone);
static_assert(hipEventDefault == own::kEventDefault && hipEventDisableTiming == own::kEventDisableTiming);
static_assert(hipStreamCaptureModeRelaxed == 2);

// The header declares these as templates or under one name only.
hipError_t hipGetDevicePropertiesR0600(void*, int);
using Malloc = hipError_t (*)(void**, size_t);
using MallocAsync = hipError_t (*)(void**, size_t, hipStream_t);

#define hipMalloc static_cast<Malloc>(hipMalloc)
#define hipMallocAsync static_cast<MallocAsync>(hipMallocAsync)
#define KILN_SAME(name, parameters) \
    static_assert(same_shape<decltype(+name), hipError_t(*) parameters>(), #name " is declared otherwise");
KILN_HIP_FUNCTIONS(KILN_SAME, KILN_SAME)

}  // namespace kiln::test

TEST_SUITE("unit") {
    TEST_CASE("hip driver: own declarations are those of the real header") {
        CHECK(sizeof(kiln::test::own::Api) > 0);
    }
}
