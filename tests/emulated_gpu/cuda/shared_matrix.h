#pragma once

#include <cstdint>

#include "tests/emulated_gpu/cuda/ptx_module.h"
#include "tests/emulated_gpu/cuda/tensor_map.h"

namespace emulated_gpu {

/// A matrix descriptor of wgmma (PTX ISA, "Asynchronous Warpgroup Level Matrix Shared Memory Layout", tables "Matrix
/// descriptor layout" and "Canonical layouts").
///
/// Matrices are seen in chunks of 16 bytes that lie along the major axis. `T` below is the elements of a chunk, `W` the
/// bytes of the swizzle span; of the other axis ("rows") always 8 belong together:
///
///     K-major, no swizzle:   row i, chunk c at  (i % 8) * 16 + (i / 8) * stride + c * leading
///     K-major, swizzled:     row i, chunk c at  (i % 8) * W + (i / 8) * stride + c * 16
///     MN-major, no swizzle:  k, chunk c at      (k % 8) * 16 + (k / 8) * leading + c * stride
///     MN-major, swizzled:    k, chunk c at      (k % 8) * W + (k / 8) * stride + c % (W / 16) * 16 + c / (W / 16) *
///     leading
struct SharedMatrix {
    uint64_t start = 0;
    uint64_t leading = 0;
    uint64_t stride = 0;
    uint64_t base_offset = 0;
    Swizzle swizzle = Swizzle::None;
    bool reserved_bits_set = false;

    explicit SharedMatrix(uint64_t descriptor);

    /// Where the chunk lies in shared memory: chunk `c` of row `i` (K-major) or of column `k` (MN-major).
    uint64_t chunk(bool k_major, uint64_t row, uint64_t c) const;
};

/// The elements of 16 bytes, as numbers.
void decode_chunk(Type type, const uint8_t* bytes, double* out);
void decode_chunk(Type type, const uint8_t* bytes, int64_t* out);

}  // namespace emulated_gpu
