// CUDA's words. Nothing is included: NVRTC knows all of this by itself.
#include "codegen/gpu/c_writer.h"
#include "codegen/gpu/statement_prelude.h"

namespace kiln::codegen::gpu {

namespace {

constexpr std::string_view kCudaPrelude = R"device(
#define KILN_DEVICE static __device__ __forceinline__
#define KILN_METHOD __device__ __forceinline__

KILN_DEVICE void kiln_barrier() { __syncthreads(); }
KILN_DEVICE void kiln_fence() { __threadfence(); }
KILN_DEVICE unsigned kiln_thread() { return threadIdx.x; }
KILN_DEVICE unsigned kiln_block() { return blockIdx.x; }
KILN_DEVICE unsigned kiln_word_xor(unsigned word, int mask) { return __shfl_xor_sync(0xffffffffu, word, mask); }
KILN_DEVICE unsigned kiln_word_up(unsigned word, int distance) { return __shfl_up_sync(0xffffffffu, word, distance); }
KILN_DEVICE unsigned kiln_word_cas(unsigned* address, unsigned expected, unsigned value) {
    return atomicCAS(address, expected, value);
}
KILN_DEVICE unsigned long long kiln_word_cas(unsigned long long* address, unsigned long long expected,
                                             unsigned long long value) {
    return atomicCAS(address, expected, value);
}
KILN_DEVICE int kiln_atomic_add(int* address, int value) { return atomicAdd(address, value); }
KILN_DEVICE unsigned kiln_atomic_add(unsigned* address, unsigned value) { return atomicAdd(address, value); }
KILN_DEVICE unsigned long long kiln_atomic_add(unsigned long long* address, unsigned long long value) {
    return atomicAdd(address, value);
}
KILN_DEVICE long long kiln_atomic_add(long long* address, long long value) {
    return (long long)atomicAdd((unsigned long long*)address, (unsigned long long)value);
}
KILN_DEVICE float kiln_atomic_add(float* address, float value) { return atomicAdd(address, value); }
KILN_DEVICE double kiln_atomic_add(double* address, double value) { return atomicAdd(address, value); }
)device";

std::string attributes(int threads, int blocks) {
    return "__global__ __launch_bounds__(" + std::to_string(threads) + ", " + std::to_string(blocks) + ")";
}

}  // namespace

Spelling cuda_spelling(const Target&) {
    return {Dialect::Cuda, std::string(kCudaPrelude) + std::string(kCommonPrelude), attributes,
            "extern __shared__ __align__(16) unsigned char shared_memory[];"};
}

}  // namespace kiln::codegen::gpu
