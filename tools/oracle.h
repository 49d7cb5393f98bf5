// Plain C++ versions of the demo's kernels, on a sample of their outputs: in double, and as a simple loop in the
// tensors' own type would do it (products and sums in float, the result rounded to the type).
#pragma once

#include <cstdint>

#include "kiln/tensor.hpp"

namespace kiln::tools {

/// Largest absolute errors against double, over the sampled elements.
struct SampledErrors {
    double kiln = 0;
    double plain = 0;
};

/// c = a @ b for a [M, K], b [K, N].
SampledErrors gemm_errors(const Tensor& a, const Tensor& b, const Tensor& c, std::uint64_t seed);

/// y = softmax of the rows of x [M, N].
SampledErrors softmax_errors(const Tensor& x, const Tensor& y, std::uint64_t seed);

/// Attention of q [B, H, M, D], k and v [B, HK, N, D]; causal is bottom-right aligned.
SampledErrors attention_errors(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& o, double scale,
                               bool causal, std::uint64_t seed);

}  // namespace kiln::tools
