#pragma once

namespace emulated_gpu {

/// What kernels for sm_90a share: memory barriers, tensor copies and warpgroup products.
inline constexpr const char* kHopperHelpers = R"(
typedef unsigned short bf16;
struct alignas(64) TensorMap { char bytes[128]; };
__device__ unsigned address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void init(const void* barrier, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(address(barrier)), "r"(count) : "memory");
}
__device__ void expect(const void* barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(address(barrier)), "r"(bytes) : "memory");
}
__device__ void arrive(const void* barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(address(barrier)) : "memory");
}
__device__ void wait(const void* barrier, int parity) {
    asm volatile("{\n.reg .pred done;\nAGAIN:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@done bra DONE;\nbra AGAIN;\nDONE:\n}" :: "r"(address(barrier)), "r"(parity) : "memory");
}
__device__ void copy_box(const void* to, const TensorMap* map, int x, int y, const void* barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 :: "r"(address(to)), "l"(map), "r"(x), "r"(y), "r"(address(barrier)) : "memory");
}
__device__ void store_box(const TensorMap* map, int x, int y, const void* from) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
                 :: "l"(map), "r"(x), "r"(y), "r"(address(from)) : "memory");
}
__device__ unsigned long long describe(const void* p, int leading, int stride, int swizzle) {
    return ((address(p) & 0x3ffff) >> 4) | ((unsigned long long)(leading >> 4) << 16) |
           ((unsigned long long)(stride >> 4) << 32) | ((unsigned long long)swizzle << 62);
}
__device__ void multiply(float (&d)[32], unsigned long long a, unsigned long long b, int adds) {
    asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
                 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,"
                 "%28,%29,%30,%31}, %32, %33, adds, 1, 1, 0, 1;\n}"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                   "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
                   "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
                   "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                 : "l"(a), "l"(b), "r"(adds));
}
)";

/// C = A B in bf16 with f32 sums: tiles of 64x64x64 by the tensor copy engine, two stages, one warp that loads and one
/// warpgroup that multiplies; C goes back through shared memory. A is K-major, B N-major, both swizzled by 128 bytes.
inline constexpr const char* kHopperGemmSource = R"(
constexpr int kStages = 2, kTileBytes = 64 * 64 * 2;
extern "C" __global__ void __launch_bounds__(256, 2) hopper_gemm(const __grid_constant__ TensorMap map_a,
        const __grid_constant__ TensorMap map_b, const __grid_constant__ TensorMap map_c, int K) {
    extern __shared__ __align__(1024) char tiles[];
    __shared__ __align__(128) float c[64 * 64];
    __shared__ __align__(8) unsigned long long full[kStages], empty[kStages];
    int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    int first_m = blockIdx.y * 64, first_n = blockIdx.x * 64, steps = (K + 63) / 64;
    if (thread == 0) {
        for (int s = 0; s < kStages; ++s) {
            init(&full[s], 1);
            init(&empty[s], 4);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();  // initialised
    if (warp < 4) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (thread == 0) {
            for (int t = 0; t < steps; ++t) {
                int s = t % kStages;
                wait(&empty[s], t / kStages % 2 ^ 1);
                expect(&full[s], 2 * kTileBytes);
                copy_box(tiles + s * 2 * kTileBytes, &map_a, t * 64, first_m, &full[s]);
                copy_box(tiles + (s * 2 + 1) * kTileBytes, &map_b, first_n, t * 64, &full[s]);
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 208;");
        float d[32];
        for (int i = 0; i < 32; ++i) d[i] = 0;
        for (int t = 0; t < steps; ++t) {
            int s = t % kStages;
            wait(&full[s], t / kStages % 2);
            const char* a = tiles + s * 2 * kTileBytes;
            const char* b = a + kTileBytes;
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
            for (int k = 0; k < 4; ++k) multiply(d, describe(a + k * 32, 16, 1024, 1), describe(b + k * 2048, 16, 1024, 1), 1);
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
            if (lane == 0) arrive(&empty[s]);
        }
        for (int i = 0; i < 32; ++i) {
            int row = warp % 4 * 16 + lane / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + lane % 4 * 2 + i % 2;
            c[row * 64 + column] = d[i];
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("bar.sync 1, 128;" ::: "memory");
        if (thread == 128) {
            store_box(&map_c, first_n, first_m, c);
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
        }
    }
})";

/// Each block of a cluster of 2 adds a number to its neighbour's; the first loads a row for both.
inline constexpr const char* kClusterSource = R"(
__device__ unsigned map_address(const void* p, int rank) {
    unsigned to;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(address(p)), "r"(rank));
    return to;
}
__device__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) neighbours(const int* in, int* out) {
    __shared__ __align__(128) int row[64];
    __shared__ int sums[64];
    __shared__ __align__(8) unsigned long long full, told;
    int thread = threadIdx.x, rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (thread == 0) {
        init(&full, 1);
        init(&told, 64);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    cluster_sync();  // initialised
    if (thread == 0) {
        expect(&full, 256);
        if (rank == 0) {
            unsigned short both = 3;
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 256, [%2], %3;"
                         :: "r"(address(row)), "l"(in + blockIdx.x / 2 * 64), "r"(address(&full)), "h"(both) : "memory");
        }
    }
    wait(&full, 0);
    unsigned to = map_address(&sums[thread], rank ^ 1);
    asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(to), "r"(row[63 - thread] + rank) : "memory");
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(map_address(&told, rank ^ 1)) : "memory");
    asm volatile("{\n.reg .pred done;\nAGAIN:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], 0;\n"
                 "@!done bra AGAIN;\n}" :: "r"(address(&told)) : "memory");
    out[blockIdx.x * 64 + thread] = sums[thread];
    cluster_sync();  // done
})";

}  // namespace emulated_gpu
