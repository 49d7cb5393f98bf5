#pragma once

#include <string>

namespace emulated_gpu::hip {

/// What the kernels of the tests begin with, since HIP's own headers may be missing.
inline const std::string kPrelude = R"(
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned short u16;
typedef unsigned char u8;
__device__ inline u32 item() { return __builtin_amdgcn_workitem_id_x(); }
__device__ inline u32 group() { return __builtin_amdgcn_workgroup_id_x(); }
__device__ inline u32 group_size() { return __builtin_amdgcn_workgroup_size_x(); }
__device__ inline u32 wave_lanes() { return __builtin_amdgcn_wavefrontsize(); }
__device__ inline void barrier() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
__device__ inline float shuffle_down(float value, u32 by) {
    u32 lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
    int moved = __builtin_amdgcn_ds_bpermute((int)((lane + by) * 4), __builtin_bit_cast(int, value));
    return __builtin_bit_cast(float, moved);
}
)";

inline const std::string kVectorAdd = kPrelude + R"(
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n) {
    int i = group() * group_size() + item();
    if (i < n) c[i] = a[i] + b[i];
}
)";

/// Each workgroup of 256 sums 1024 values: by lanes, by shuffles, then over waves through LDS.
inline const std::string kReduction = kPrelude + R"(
extern "C" __global__ void reduce(const float* in, float* out, int n) {
    __shared__ float partial[8];
    float sum = 0;
    for (int i = group() * 1024 + item(); i < n && i < (int)(group() + 1) * 1024; i += 256) sum += in[i];
    for (u32 by = wave_lanes() / 2; by > 0; by /= 2) sum += shuffle_down(sum, by);
    if (item() % wave_lanes() == 0) partial[item() / wave_lanes()] = sum;
    barrier();
    if (item() != 0) return;
    sum = 0;
    for (u32 wave = 0; wave < 256 / wave_lanes(); ++wave) sum += partial[wave];
    out[group()] = sum;
}
)";

/// C = A B in f32 with 32x32 tiles in LDS, 256 work items of 2x2 each.
inline const std::string kTiledGemm = kPrelude + R"(
extern "C" __global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float tile_a[32][33];
    __shared__ float tile_b[32][33];
    int x = item() % 16, y = item() / 16;
    int row = __builtin_amdgcn_workgroup_id_y() * 32, column = group() * 32;
    float sum[2][2] = {};
    for (int start = 0; start < k; start += 32) {
        for (int i = item(); i < 1024; i += 256) {
            int r = i / 32, s = i % 32;
            tile_a[r][s] = row + r < m && start + s < k ? a[(row + r) * k + start + s] : 0.0f;
            tile_b[r][s] = start + r < k && column + s < n ? b[(start + r) * n + column + s] : 0.0f;
        }
        barrier();
        for (int t = 0; t < 32; ++t) {
            for (int i = 0; i < 2; ++i) {
                for (int j = 0; j < 2; ++j) {
                    sum[i][j] = __builtin_fmaf(tile_a[y + 16 * i][t], tile_b[t][x + 16 * j], sum[i][j]);
                }
            }
        }
        barrier();
    }
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            if (row + y + 16 * i < m && column + x + 16 * j < n) {
                c[(row + y + 16 * i) * n + column + x + 16 * j] = sum[i][j];
            }
        }
    }
}
)";

/// Rows of softmax, a wave for each; the maximum and the sum pass through shuffles.
inline const std::string kSoftmax = kPrelude + R"(
__device__ float exchange(float value, u32 with) {
    u32 lane = item() % wave_lanes();
    return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute((lane ^ with) * 4, __builtin_bit_cast(int, value)));
}
extern "C" __global__ void softmax(const float* in, float* out, int columns) {
    const float* row = in + (u64)group() * columns;
    float* to = out + (u64)group() * columns;
    float most = -__builtin_inff();
    for (int i = item(); i < columns; i += wave_lanes()) most = __builtin_fmaxf(most, row[i]);
    for (u32 with = wave_lanes() / 2; with > 0; with /= 2) most = __builtin_fmaxf(most, exchange(most, with));
    float sum = 0;
    for (int i = item(); i < columns; i += wave_lanes()) sum += __builtin_expf(row[i] - most);
    for (u32 with = wave_lanes() / 2; with > 0; with /= 2) sum += exchange(sum, with);
    for (int i = item(); i < columns; i += wave_lanes()) to[i] = __builtin_expf(row[i] - most) / sum;
}
)";

/// Counts values below 64 in LDS, then adds the counts to global memory.
inline const std::string kHistogram = kPrelude + R"(
extern "C" __global__ void histogram(const u8* in, u32* counts, int n) {
    __shared__ u32 local[64];
    if (item() < 64) local[item()] = 0;
    barrier();
    for (int i = group() * 256 + item(); i < n; i += 256 * __builtin_amdgcn_grid_size_x() / group_size()) {
        __hip_atomic_fetch_add(&local[in[i] % 64], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
    }
    barrier();
    if (item() < 64) {
        __hip_atomic_fetch_add(&counts[item()], local[item()], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    }
}
extern "C" __global__ void gather(const double* table, const int* index, double* out, int n) {
    int i = group() * group_size() + item();
    if (i < n) out[i] = index[i] >= 0 ? table[index[i]] : -1.0;
}
)";

/// C = A B^T in bf16 with f32 sums: 64x64 tiles in LDS, four waves of 32x32 each by v_mfma 16x16x16; all sizes are
/// multiples of 64. Rows of LDS have 40 elements, so that the lanes of a read spread over the banks.
inline const std::string kMatrixGemm = kPrelude + R"(
typedef short bf16x4 __attribute__((ext_vector_type(4)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef u32 u32x4 __attribute__((ext_vector_type(4)));
extern "C" __global__ __attribute__((amdgpu_flat_work_group_size(256, 256)))
void gemm(const u16* a, const u16* b, float* c, int m, int n, int k) {
    __shared__ __attribute__((aligned(16))) u16 tile_a[64 * 40];
    __shared__ __attribute__((aligned(16))) u16 tile_b[64 * 40];
    u32 lane = item() % 64, wave = item() / 64;
    u32 row = __builtin_amdgcn_workgroup_id_y() * 64, column = group() * 64;
    u32 wave_row = wave / 2 * 32, wave_column = wave % 2 * 32;
    u32 copy_row = item() / 4, copy_part = item() % 4 * 8;
    f32x4 sum[2][2] = {};
    for (int start = 0; start < k; start += 32) {
        *(u32x4*)&tile_a[copy_row * 40 + copy_part] = *(const u32x4*)&a[(u64)(row + copy_row) * k + start + copy_part];
        *(u32x4*)&tile_b[copy_row * 40 + copy_part] = *(const u32x4*)&b[(u64)(column + copy_row) * k + start + copy_part];
        barrier();
        for (int step = 0; step < 32; step += 16) {
            bf16x4 part_a[2], part_b[2];
            for (int i = 0; i < 2; ++i) {
                u32 at = (lane % 16 + 16 * i) * 40 + lane / 16 * 4 + step;
                part_a[i] = *(const bf16x4*)&tile_a[wave_row * 40 + at];
                part_b[i] = *(const bf16x4*)&tile_b[wave_column * 40 + at];
            }
            for (int i = 0; i < 2; ++i) {
                for (int j = 0; j < 2; ++j) {
                    sum[i][j] = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(part_a[i], part_b[j], sum[i][j], 0, 0, 0);
                }
            }
        }
        barrier();
    }
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            for (int e = 0; e < 4; ++e) {
                u32 at_row = row + wave_row + 16 * i + lane / 16 * 4 + e;
                c[(u64)at_row * n + column + wave_column + 16 * j + lane % 16] = sum[i][j][e];
            }
        }
    }
}
)";

/// The same on RDNA: four waves of 32 lanes, 32x32 each by v_wmma 16x16x16. On RDNA3 the lanes from 16 on hold copies
/// of A and B and rows of C alternate between the halves of a wave; on RDNA4 neither.
inline const std::string kWaveMatrixGemm = kPrelude + R"(
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef u32 u32x4 __attribute__((ext_vector_type(4)));
#ifdef __GFX12__
typedef short operand __attribute__((ext_vector_type(8)));
#define PRODUCT __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12
#define FIRST (lane / 16 * 8)
#define ROW(e) (lane / 16 * 8 + (e))
#else
typedef short operand __attribute__((ext_vector_type(16)));
#define PRODUCT __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32
#define FIRST 0
#define ROW(e) (2 * (e) + lane / 16)
#endif
extern "C" __global__ __attribute__((amdgpu_flat_work_group_size(128, 128)))
void gemm(const u16* a, const u16* b, float* c, int m, int n, int k) {
    __shared__ __attribute__((aligned(16))) u16 tile_a[64 * 40];
    __shared__ __attribute__((aligned(16))) u16 tile_b[64 * 40];
    u32 lane = item() % 32, wave = item() / 32;
    u32 row = __builtin_amdgcn_workgroup_id_y() * 64, column = group() * 64;
    u32 wave_row = wave / 2 * 32, wave_column = wave % 2 * 32;
    f32x8 sum[2][2] = {};
    for (int start = 0; start < k; start += 32) {
        for (u32 part = item(); part < 256; part += 128) {
            u32 at = part / 4, by = part % 4 * 8;
            *(u32x4*)&tile_a[at * 40 + by] = *(const u32x4*)&a[(u64)(row + at) * k + start + by];
            *(u32x4*)&tile_b[at * 40 + by] = *(const u32x4*)&b[(u64)(column + at) * k + start + by];
        }
        barrier();
        for (int step = 0; step < 32; step += 16) {
            operand part_a[2], part_b[2];
            for (int i = 0; i < 2; ++i) {
                u32 at = (lane % 16 + 16 * i) * 40 + FIRST + step;
                for (u32 e = 0; e < sizeof(operand) / 2; ++e) {
                    part_a[i][e] = tile_a[wave_row * 40 + at + e];
                    part_b[i][e] = tile_b[wave_column * 40 + at + e];
                }
            }
            for (int i = 0; i < 2; ++i) {
                for (int j = 0; j < 2; ++j) sum[i][j] = PRODUCT(part_a[i], part_b[j], sum[i][j]);
            }
        }
        barrier();
    }
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            for (int e = 0; e < 8; ++e) {
                u32 at_row = row + wave_row + 16 * i + ROW(e);
                c[(u64)at_row * n + column + wave_column + 16 * j + lane % 16] = sum[i][j][e];
            }
        }
    }
}
)";

/// Attention in bf16 with f32 sums, heads of 64: a workgroup of four waves takes 64 queries, 16 of each wave, and goes
/// through the keys by 32. Scores and outputs by v_mfma 16x16x16; q is scaled by log2(e) / 8 already. n is a multiple
/// of 64; the y number of the workgroup is the head's.
inline const std::string kAttention = kPrelude + R"(
typedef short bf16x4 __attribute__((ext_vector_type(4)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef u32 u32x4 __attribute__((ext_vector_type(4)));
__device__ inline u16 rounded(float value) {
    u32 bits = __builtin_bit_cast(u32, value);
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
__device__ inline float exchange(float value, u32 with) {
    u32 lane = item() % 64;
    return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute((lane ^ with) * 4, __builtin_bit_cast(int, value)));
}
extern "C" __global__ __attribute__((amdgpu_flat_work_group_size(256, 256)))
void attention(const u16* q, const u16* k, const u16* v, float* out, int n) {
    __shared__ __attribute__((aligned(16))) u16 tile_k[32 * 72];
    __shared__ __attribute__((aligned(16))) u16 tile_v[32 * 72];
    __shared__ __attribute__((aligned(16))) u16 weights[4][16 * 40];
    u32 lane = item() % 64, wave = item() / 64, column = lane % 16, part = lane / 16;
    u64 head = (u64)__builtin_amdgcn_workgroup_id_y() * n * 64;
    u32 row = group() * 64 + wave * 16;
    bf16x4 query[4];
    for (int i = 0; i < 4; ++i) query[i] = *(const bf16x4*)&q[head + (row + column) * 64 + 16 * i + 4 * part];
    f32x4 sum[4] = {};
    float most[4], total[4];
    for (int e = 0; e < 4; ++e) most[e] = -__builtin_inff(), total[e] = 0;
    for (int start = 0; start < n; start += 32) {
        u32 copy_row = item() / 8, copy_part = item() % 8 * 8;
        *(u32x4*)&tile_k[copy_row * 72 + copy_part] = *(const u32x4*)&k[head + (start + copy_row) * 64 + copy_part];
        *(u32x4*)&tile_v[copy_row * 72 + copy_part] = *(const u32x4*)&v[head + (start + copy_row) * 64 + copy_part];
        barrier();
        f32x4 score[2] = {};
        for (int half = 0; half < 2; ++half) {
            for (int i = 0; i < 4; ++i) {
                bf16x4 key = *(const bf16x4*)&tile_k[(16 * half + column) * 72 + 16 * i + 4 * part];
                score[half] = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(query[i], key, score[half], 0, 0, 0);
            }
        }
        for (int e = 0; e < 4; ++e) {
            float now = __builtin_fmaxf(score[0][e], score[1][e]);
            for (u32 with = 1; with < 16; with *= 2) now = __builtin_fmaxf(now, exchange(now, with));
            now = __builtin_fmaxf(now, most[e]);
            float scale = __builtin_amdgcn_exp2f(most[e] - now);
            most[e] = now;
            float first = __builtin_amdgcn_exp2f(score[0][e] - now), second = __builtin_amdgcn_exp2f(score[1][e] - now);
            total[e] = total[e] * scale + first + second;
            for (int i = 0; i < 4; ++i) sum[i][e] *= scale;
            weights[wave][(4 * part + e) * 40 + column] = rounded(first);
            weights[wave][(4 * part + e) * 40 + 16 + column] = rounded(second);
        }
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
        for (int half = 0; half < 2; ++half) {
            bf16x4 weight = *(const bf16x4*)&weights[wave][column * 40 + 16 * half + 4 * part];
            for (int i = 0; i < 4; ++i) {
                bf16x4 value;
                for (int e = 0; e < 4; ++e) value[e] = tile_v[(16 * half + 4 * part + e) * 72 + 16 * i + column];
                sum[i] = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(weight, value, sum[i], 0, 0, 0);
            }
        }
        barrier();
    }
    for (int e = 0; e < 4; ++e) {
        for (u32 with = 1; with < 16; with *= 2) total[e] += exchange(total[e], with);
        for (int i = 0; i < 4; ++i) out[head + (row + 4 * part + e) * 64 + 16 * i + column] = sum[i][e] / total[e];
    }
}
)";

}  // namespace emulated_gpu::hip
