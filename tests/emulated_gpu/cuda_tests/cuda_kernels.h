#pragma once

// CUDA C++ sources that the tests compile through NVRTC. They use no headers.

namespace emulated_gpu {

inline constexpr const char* kSaxpySource = R"(
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
})";

inline constexpr const char* kReductionSource = R"(
extern "C" __global__ void reduce(const float* x, float* total, int n) {
    __shared__ float partial[8];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
        for (int offset = 4; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
        if (threadIdx.x == 0) atomicAdd(total, sum);
    }
})";

inline constexpr const char* kSoftmaxSource = R"(
__device__ float block_max(float v, float* scratch) {
    for (int o = 16; o > 0; o /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, o));
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
    __syncthreads();
    v = scratch[0];
    for (int w = 1; w < blockDim.x / 32; ++w) v = fmaxf(v, scratch[w]);
    __syncthreads();
    return v;
}
__device__ float block_sum(float v, float* scratch) {
    for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(0xffffffffu, v, o);
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0;
    for (int w = 0; w < blockDim.x / 32; ++w) v += scratch[w];
    __syncthreads();
    return v;
}
extern "C" __global__ void softmax(const float* x, float* y, int columns) {
    __shared__ float scratch[32];
    const float* row = x + (long long)blockIdx.x * columns;
    float largest = __int_as_float(0xff800000);
    for (int i = threadIdx.x; i < columns; i += blockDim.x) largest = fmaxf(largest, row[i]);
    largest = block_max(largest, scratch);
    float sum = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += expf(row[i] - largest);
    sum = block_sum(sum, scratch);
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        y[(long long)blockIdx.x * columns + i] = expf(row[i] - largest) / sum;
})";

/// C = A B in bf16 with f32 sums: 64x64x32 tiles, two stages of cp.async, ldmatrix, mma.m16n8k16. N and K: multiples
/// of 8.
inline constexpr const char* kGemmSource = R"(
typedef unsigned short bf16;
__device__ unsigned address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void copy(const void* to, const void* from, int bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(address(to)), "l"(from), "r"(bytes) : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
__device__ void wait_one() { asm volatile("cp.async.wait_group 1;" ::: "memory"); }
__device__ void load_a(unsigned* r, const void* p) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address(p)) : "memory");
}
__device__ void load_b(unsigned* r, const void* p) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address(p)) : "memory");
}
__device__ void multiply(float* c, const unsigned* a, const unsigned* b) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
constexpr int kStrideA = 40, kStrideB = 72;
extern "C" __global__ void gemm(const bf16* A, const bf16* B, float* C, int M, int N, int K) {
    __shared__ __align__(16) bf16 sa[2][64 * kStrideA];
    __shared__ __align__(16) bf16 sb[2][32 * kStrideB];
    int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    int first_m = blockIdx.y * 64, first_n = blockIdx.x * 64;
    int warp_m = warp / 2 * 32, warp_n = warp % 2 * 32;
    auto load = [&](int stage, int k0) {
        for (int c = thread; c < 256; c += 128) {
            int row = c / 4, column = c % 4 * 8;
            bool inside = first_m + row < M && k0 + column < K;
            copy(&sa[stage][row * kStrideA + column], A + (inside ? (first_m + row) * K + k0 + column : 0), inside ? 16 : 0);
            row = c / 8, column = c % 8 * 8;
            inside = k0 + row < K && first_n + column < N;
            copy(&sb[stage][row * kStrideB + column], B + (inside ? (k0 + row) * N + first_n + column : 0), inside ? 16 : 0);
        }
    };
    float c[2][4][4] = {};
    int tiles = (K + 31) / 32;
    load(0, 0);
    commit();
    for (int tile = 0; tile < tiles; ++tile) {
        if (tile + 1 < tiles) load((tile + 1) % 2, (tile + 1) * 32);
        commit();
        wait_one();
        __syncthreads();  // landed
        for (int k = 0; k < 32; k += 16) {
            unsigned a[2][4], b[2][4];
            for (int m = 0; m < 2; ++m)
                load_a(a[m], &sa[tile % 2][(warp_m + m * 16 + lane % 16) * kStrideA + k + lane / 16 * 8]);
            for (int n = 0; n < 2; ++n)
                load_b(b[n], &sb[tile % 2][(k + lane % 16) * kStrideB + warp_n + n * 16 + lane / 16 * 8]);
            for (int m = 0; m < 2; ++m)
                for (int n = 0; n < 4; ++n) multiply(c[m][n], a[m], b[n / 2] + n % 2 * 2);
        }
        __syncthreads();  // read
    }
    for (int m = 0; m < 2; ++m)
        for (int n = 0; n < 4; ++n)
            for (int i = 0; i < 4; ++i) {
                int row = first_m + warp_m + m * 16 + lane / 4 + i / 2 * 8;
                int column = first_n + warp_n + n * 8 + lane % 4 * 2 + i % 2;
                if (row < M && column < N) C[row * N + column] = c[m][n][i];
            }
})";

/// Attention forward in bf16 for heads of 64: 64 queries a block, 16 a warp; tiles of 64 keys by cp.async, two stages.
/// q, k, v and out are [heads][length][64]; length is a multiple of 64.
inline constexpr const char* kAttentionSource = R"(
typedef unsigned short bf16;
__device__ unsigned address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void copy(const void* to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(address(to)), "l"(from) : "memory");
}
__device__ void load(unsigned* r, const void* p) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address(p)) : "memory");
}
__device__ void load_transposed(unsigned* r, const void* p) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address(p)) : "memory");
}
__device__ void multiply(float* c, const unsigned* a, const unsigned* b) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ unsigned pack(float low, float high) {
    unsigned packed;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
    return packed;
}
constexpr int kStride = 72;
extern "C" __global__ void attention(const bf16* Q, const bf16* K, const bf16* V, float* out, int length) {
    __shared__ __align__(16) bf16 sq[64 * kStride], sk[2][64 * kStride], sv[2][64 * kStride];
    int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    long long head = (long long)blockIdx.y * length * 64;
    auto copy_tile = [&](bf16* to, const bf16* from) {
        for (int c = thread; c < 512; c += 128) copy(to + c / 8 * kStride + c % 8 * 8, from + c * 8);
    };
    auto copy_keys = [&](int tile) {
        copy_tile(sk[tile % 2], K + head + tile * 4096);
        copy_tile(sv[tile % 2], V + head + tile * 4096);
    };
    copy_tile(sq, Q + head + blockIdx.x * 4096);
    copy_keys(0);
    asm volatile("cp.async.commit_group;" ::: "memory");
    float o[8][4] = {}, largest[2] = {-1e30f, -1e30f}, sum[2] = {};
    int tiles = length / 64;
    for (int tile = 0; tile < tiles; ++tile) {
        if (tile + 1 < tiles) copy_keys(tile + 1);
        asm volatile("cp.async.commit_group;" ::: "memory");
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        const bf16* k = sk[tile % 2];
        const bf16* v = sv[tile % 2];
        float s[8][4] = {};
        for (int d = 0; d < 64; d += 16) {
            unsigned a[4], b[4];
            load(a, sq + (warp * 16 + lane % 16) * kStride + d + lane / 16 * 8);
            for (int n = 0; n < 8; n += 2) {
                load(b, k + (n * 8 + lane % 8 + lane / 16 * 8) * kStride + d + lane / 8 % 2 * 8);
                multiply(s[n], a, b);
                multiply(s[n + 1], a, b + 2);
            }
        }
        for (int half = 0; half < 2; ++half) {
            float most = largest[half];
            for (int n = 0; n < 8; ++n)
                for (int i = 0; i < 2; ++i) most = fmaxf(most, s[n][half * 2 + i]);
            most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
            most = fmaxf(most, __shfl_xor_sync(~0u, most, 2));
            float scale = exp2f((largest[half] - most) * (0.125f * 1.44269504f));
            largest[half] = most;
            sum[half] *= scale;
            for (int n = 0; n < 8; ++n)
                for (int i = 0; i < 2; ++i) {
                    float& x = s[n][half * 2 + i];
                    x = exp2f((x - most) * (0.125f * 1.44269504f));
                    sum[half] += x;
                    o[n][half * 2 + i] *= scale;
                }
        }
        for (int j = 0; j < 4; ++j) {
            unsigned a[4] = {pack(s[2 * j][0], s[2 * j][1]), pack(s[2 * j][2], s[2 * j][3]),
                             pack(s[2 * j + 1][0], s[2 * j + 1][1]), pack(s[2 * j + 1][2], s[2 * j + 1][3])};
            for (int n = 0; n < 8; n += 2) {
                unsigned b[4];
                load_transposed(b, v + (j * 16 + lane % 16) * kStride + n * 8 + lane / 16 * 8);
                multiply(o[n], a, b);
                multiply(o[n + 1], a, b + 2);
            }
        }
        __syncthreads();
    }
    for (int half = 0; half < 2; ++half) {
        float all = sum[half] + __shfl_xor_sync(~0u, sum[half], 1);
        all += __shfl_xor_sync(~0u, all, 2);
        int row = blockIdx.x * 64 + warp * 16 + lane / 4 + half * 8;
        for (int n = 0; n < 8; ++n)
            for (int i = 0; i < 2; ++i) out[head + row * 64 + n * 8 + lane % 4 * 2 + i] = o[n][half * 2 + i] / all;
    }
})";

}  // namespace emulated_gpu
