#pragma once

namespace emulated_gpu {

/// Kernels around the unmodified device code of CUB, from the CUDA toolkit's headers. 8 blocks of 512 items for
/// `block_algorithms`, whose results lie 4096 items apart.
inline constexpr const char* kCubSource = R"(
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/agent/agent_scan.cuh>
struct Less { __device__ bool operator()(int a, int b) const { return a < b; } };
extern "C" __global__ void __launch_bounds__(128) block_algorithms(const int* in, int* out, unsigned* bins) {
    using Sort = cub::BlockRadixSort<int, 128, 4>;
    using Merge = cub::BlockMergeSort<int, 128, 4>;
    using Scan = cub::BlockScan<int, 128>;
    using Raking = cub::BlockScan<int, 128, cub::BLOCK_SCAN_RAKING>;
    using Reduce = cub::BlockReduce<int, 128>;
    using Histogram = cub::BlockHistogram<unsigned char, 128, 4, 64, cub::BLOCK_HISTO_SORT>;
    using Heads = cub::BlockDiscontinuity<int, 128>;
    using Exchange = cub::BlockExchange<int, 128, 4>;
    __shared__ union {
        Sort::TempStorage sort; Merge::TempStorage merge; Scan::TempStorage scan; Raking::TempStorage raking;
        Reduce::TempStorage reduce; Histogram::TempStorage histogram; Heads::TempStorage heads; Exchange::TempStorage exchange;
    } temp;
    __shared__ unsigned counts[64];
    int items[4], first = blockIdx.x * 512 + threadIdx.x * 4;
    for (int i = 0; i < 4; ++i) items[i] = in[first + i];
    unsigned char low[4];
    for (int i = 0; i < 4; ++i) low[i] = items[i] & 63;
    Histogram(temp.histogram).Histogram(low, counts);
    __syncthreads();
    if (threadIdx.x < 64) bins[blockIdx.x * 64 + threadIdx.x] = counts[threadIdx.x];
    Sort(temp.sort).Sort(items);
    for (int i = 0; i < 4; ++i) out[first + i] = items[i];
    __syncthreads();
    int heads[4];
    Heads(temp.heads).FlagHeads(heads, items, cuda::std::not_equal_to<>());
    int sums[4];
    __syncthreads();
    Scan(temp.scan).InclusiveSum(heads, sums);
    for (int i = 0; i < 4; ++i) out[4096 + first + i] = sums[i];
    __syncthreads();
    Raking(temp.raking).ExclusiveSum(items, sums);
    for (int i = 0; i < 4; ++i) out[2 * 4096 + first + i] = sums[i];
    __syncthreads();
    Exchange(temp.exchange).BlockedToStriped(items, items);
    __syncthreads();
    Merge(temp.merge).Sort(items, Less());
    for (int i = 0; i < 4; ++i) out[3 * 4096 + first + i] = items[i];
    __syncthreads();
    int total = Reduce(temp.reduce).Sum(items);
    if (threadIdx.x == 0) out[4 * 4096 + blockIdx.x] = total;
}
extern "C" __global__ void __launch_bounds__(64) warp_algorithms(const int* in, int* out) {
    __shared__ cub::WarpScan<int>::TempStorage scan[2];
    __shared__ cub::WarpReduce<int, 16>::TempStorage reduce[4];
    int x = in[threadIdx.x], sum;
    cub::WarpScan<int>(scan[threadIdx.x / 32]).InclusiveSum(x, sum);
    out[threadIdx.x] = sum;
    int largest = cub::WarpReduce<int, 16>(reduce[threadIdx.x / 16]).Reduce(x, cuda::maximum<>());
    if (threadIdx.x % 16 == 0) out[64 + threadIdx.x / 16] = largest;
}
using State = cub::ScanTileState<int>;
extern "C" __global__ void scan_init(void* storage, int tiles) {
    State state;
    state.Init(tiles, storage, 0);
    state.InitializeStatus(tiles);
}
extern "C" __global__ void __launch_bounds__(128) device_scan(void* storage, const int* in, int* out, int count) {
    using Policy = cub::AgentScanPolicy<128, 4, int, cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::LOAD_DEFAULT,
                                        cub::BLOCK_STORE_WARP_TRANSPOSE, cub::BLOCK_SCAN_WARP_SCANS>;
    using Agent = cub::detail::scan::AgentScan<Policy, const int*, int*, cuda::std::plus<>, cub::NullType, int, int>;
    __shared__ Agent::TempStorage temp;
    State state;
    state.Init(gridDim.x, storage, 0);
    Agent(temp, in, out, cuda::std::plus<>(), cub::NullType()).ConsumeRange(count, state, 0);
})";

/// Sequential algorithms of Thrust, a row of n for each thread.
inline constexpr const char* kThrustSource = R"(
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
extern "C" __global__ void thrust_rows(int* data, int n, int* sums) {
    int* row = data + (blockIdx.x * blockDim.x + threadIdx.x) * n;
    thrust::stable_sort(thrust::seq, row, row + n);
    sums[blockIdx.x * blockDim.x + threadIdx.x] = thrust::reduce(thrust::seq, row, row + n, 0);
    thrust::inclusive_scan(thrust::seq, row, row + n, row);
})";

}  // namespace emulated_gpu
