"""What Kiln is compared with on a GPU, each loaded where it is installed: cuBLAS by ctypes; PyTorch's matmul (hipBLASLt on AMD)
and its attention, once by its own choice and once by cuDNN; a plain Triton matmul."""

import ctypes

WARM_UP, REPEATS, TRIALS = 2, 10, 5


class Absent(Exception):
    """A peer that is not installed, or does not take a problem; the text says why."""


class Cublas:
    """cublasGemmEx on device memory, timed by events (cuBLAS and CUDA runtime documentation)."""

    name = "cuBLAS"
    BF16, F32 = 14, 0  # CUDA_R_16BF, CUDA_R_32F
    COMPUTE_32F, DEFAULT_ALGORITHM = 68, -1

    def __init__(self):
        self.blas = self.load("cublas")
        self.cuda = self.load("cudart")
        self.handle = ctypes.c_void_p()
        self.expect(self.blas.cublasCreate_v2(ctypes.byref(self.handle)))

    @staticmethod
    def load(name):
        for path in [f"lib{name}.so.{version}" for version in (13, 12, 11)] + [f"/usr/local/cuda/lib64/lib{name}.so"]:
            try:
                return ctypes.CDLL(path)
            except OSError:
                continue
        raise Absent(f"lib{name}.so is not installed")

    @staticmethod
    def expect(code):
        if code != 0:
            raise Absent(f"CUDA answered {code}")

    def memory(self, count):
        pointer = ctypes.c_void_p()
        self.expect(self.cuda.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(2 * count)))
        self.expect(self.cuda.cudaMemset(pointer, 0x3C, ctypes.c_size_t(2 * count)))
        return pointer

    def gemm_seconds(self, m, n, k):
        a, b, c = self.memory(m * k), self.memory(k * n), self.memory(m * n)
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        first, last = ctypes.c_void_p(), ctypes.c_void_p()
        self.cuda.cudaEventCreate(ctypes.byref(first))
        self.cuda.cudaEventCreate(ctypes.byref(last))

        def multiply():  # row-major c = a b is column-major c' = b' a'
            self.expect(self.blas.cublasGemmEx(self.handle, 0, 0, n, m, k, ctypes.byref(one), b, self.BF16, n, a, self.BF16, k,
                                               ctypes.byref(zero), c, self.BF16, n, self.COMPUTE_32F, self.DEFAULT_ALGORITHM))

        times = []
        for _ in range(WARM_UP):
            multiply()
        for _ in range(TRIALS):
            self.cuda.cudaEventRecord(first, None)
            for _ in range(REPEATS):
                multiply()
            self.cuda.cudaEventRecord(last, None)
            self.expect(self.cuda.cudaEventSynchronize(last))
            milliseconds = ctypes.c_float()
            self.cuda.cudaEventElapsedTime(ctypes.byref(milliseconds), first, last)
            times.append(milliseconds.value / REPEATS * 1e-3)
        for pointer in (a, b, c):
            self.cuda.cudaFree(pointer)
        return sorted(times)[TRIALS // 2]


class Torch:
    """PyTorch, whose "cuda" is also AMD's GPU."""

    name = "PyTorch"

    def __init__(self):
        try:
            import torch  # pylint: disable=import-outside-toplevel
        except ImportError as error:
            raise Absent(str(error)) from error
        if not torch.cuda.is_available():
            raise Absent("PyTorch sees no GPU")
        self.torch = torch

    def normal(self, *sizes):
        return self.torch.randn(*sizes, device="cuda", dtype=self.torch.bfloat16)

    def seconds(self, action):
        times = []
        for _ in range(WARM_UP):
            action()
        for _ in range(TRIALS):
            first, last = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
            first.record()
            for _ in range(REPEATS):
                action()
            last.record()
            last.synchronize()
            times.append(first.elapsed_time(last) / REPEATS * 1e-3)
        return sorted(times)[TRIALS // 2]

    def gemm_seconds(self, m, n, k):
        a, b = self.normal(m, k), self.normal(k, n)
        c = self.normal(m, n)
        return self.seconds(lambda: self.torch.matmul(a, b, out=c))

    def attention_seconds(self, b, h, hk, m, n, d, causal):
        q = self.normal(b, h, m, d)
        k, v = self.normal(b, hk, n, d), self.normal(b, hk, n, d)
        if hk != h:
            k, v = (x.repeat_interleave(h // hk, dim=1) for x in (k, v))
        attend = self.torch.nn.functional.scaled_dot_product_attention
        return self.seconds(lambda: attend(q, k, v, is_causal=causal))


class Cudnn(Torch):
    """cuDNN's attention, by way of PyTorch."""

    name = "cuDNN"

    def __init__(self):
        super().__init__()
        try:
            from torch.nn.attention import SDPBackend, sdpa_kernel  # pylint: disable=import-outside-toplevel
            self.only_cudnn = lambda: sdpa_kernel(SDPBackend.CUDNN_ATTENTION)
        except (ImportError, AttributeError) as error:
            raise Absent(f"this PyTorch has no attention by cuDNN: {error}") from error

    def attention_seconds(self, *problem):
        with self.only_cudnn():
            return super().attention_seconds(*problem)


class Triton(Torch):
    """A plain tiled matmul in Triton, the best of a few configurations."""

    name = "Triton"
    CONFIGURATIONS = [(128, 128, 64, 8, 3), (128, 256, 64, 8, 3), (64, 128, 64, 4, 4), (16, 128, 128, 4, 4)]

    def __init__(self):
        super().__init__()
        try:
            import triton  # pylint: disable=import-outside-toplevel
            from triton_matmul import matmul  # pylint: disable=import-outside-toplevel
        except ImportError as error:
            raise Absent(str(error)) from error
        self.triton, self.matmul = triton, matmul

    def gemm_seconds(self, m, n, k):
        a, b, c = self.normal(m, k), self.normal(k, n), self.normal(m, n)
        best, refusals = [], []
        for block_m, block_n, block_k, warps, stages in self.CONFIGURATIONS:
            grid = (self.triton.cdiv(m, block_m) * self.triton.cdiv(n, block_n),)

            def multiply():
                self.matmul[grid](a, b, c, m, n, k, BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k,  # pylint: disable=cell-var-from-loop
                                  num_warps=warps, num_stages=stages)  # pylint: disable=cell-var-from-loop

            try:
                best.append(self.seconds(multiply))
            except Exception as error:  # pylint: disable=broad-except
                refusals.append(str(error))  # too much shared memory for this device
        if not best:
            raise Absent(refusals[0])
        return min(best)


def present(classes):
    """Instances of those that are there, and for the others their names with the reasons."""
    found, reasons = [], {}
    for make in classes:
        try:
            found.append(make())
        except Absent as error:
            reasons[make.name] = str(error)
    return found, reasons


def gemm_peers():
    return present([Cublas, Torch, Triton])


def attention_peers():
    return present([Torch, Cudnn])
