"""c = a b for row-major bf16 matrices, one tile to a program; imported only where Triton is."""

import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, m, n, k, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    columns = tl.cdiv(n, BLOCK_N)
    i = tl.program_id(0) // columns * BLOCK_M + tl.arange(0, BLOCK_M)
    j = tl.program_id(0) % columns * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for first in range(0, k, BLOCK_K):
        at = first + tl.arange(0, BLOCK_K)
        left = tl.load(a + i[:, None] * k + at[None, :], mask=(i[:, None] < m) & (at[None, :] < k), other=0.0)
        right = tl.load(b + at[:, None] * n + j[None, :], mask=(at[:, None] < k) & (j[None, :] < n), other=0.0)
        acc += tl.dot(left, right)
    tl.store(c + i[:, None] * n + j[None, :], acc.to(tl.bfloat16), mask=(i[:, None] < m) & (j[None, :] < n))
