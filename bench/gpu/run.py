#!/usr/bin/env python3
"""Checks and measures Kiln on a real GPU, in at most ten minutes, and prints what it found as tables.

    bench/gpu/run.py [--kiln build/release/tools/kiln] [--device cuda:0] [--seconds 600] [--out FILE.json]

First every library kernel at many shapes, odd ones among them, compared with its reference on the CPU; a wrong result is
exit code 3. Then GEMM and attention, beside cuBLAS and PyTorch where they are installed (both loaded at run time).
"""

import argparse
import ctypes
import ctypes.util
import json
import subprocess
import sys
import time

DTYPES = ("f32", "bf16", "f16")

# (file, kernel, definitions, sizes, more options)
CHECKS = [("vector_add", "vector_add", f"T={t}", f"N={n}", []) for t in DTYPES for n in (1, 255, 256, 1000003)]
CHECKS += [("gemm", "gemm", f"T={t}", f"M={m},N={n},K={k}", more)
           for t in DTYPES
           for m, n, k, more in [(1, 1, 1, []), (128, 128, 128, []), (97, 203, 61, ["--with", "bias"]), (512, 256, 1024, []),
                                 (1000, 1000, 1000, [])]]
CHECKS += [("softmax", "softmax", f"T={t},N={n}", f"M={m}", []) for t in DTYPES for m, n in ((1, 1), (33, 257), (1024, 1024))]
CHECKS += [(file, file, f"T={t}", f"M={m},N={n}", []) for file in ("rms_norm", "layer_norm")
           for t in DTYPES for m, n in ((1, 64), (77, 1000), (512, 4096))]
CHECKS += [("attention", "attention", f"T={t},causal={c}", f"B=2,H=6,HK=2,M={m},N={n},D={d}", [])
           for t in ("bf16", "f16") for c in ("false", "true") for m, n, d in ((1, 1, 64), (97, 203, 80), (256, 256, 128))]
CHECKS += [("gemm_splitk", "gemm_splitk", "T=bf16", f"M={m},N={n},K={k}", []) for m, n, k in ((64, 64, 4096), (33, 65, 2049))]

GEMMS = [(1024, 1024, 1024), (4096, 4096, 4096), (8192, 8192, 8192), (16, 4096, 4096), (4096, 4096, 512)]
ATTENTIONS = [(4, 16, 16, 4096, 4096, 128, c) for c in ("false", "true")] + [(4, 16, 16, 4096, 4096, 64, "false")]


class Kiln:
    def __init__(self, program, device, deadline):
        self.program, self.device, self.deadline = program, device, deadline

    def left(self):
        return self.deadline - time.monotonic()

    def run(self, file, kernel, definitions, sizes, more=()):
        """What `kiln run --json` says, or its error as a text."""
        command = [self.program, "run", f"kiln/{file}.kiln", kernel, "-D", definitions, "--size", sizes, "--device", self.device,
                   "--json", *more]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=max(5, min(120, self.left())), check=False)
        except subprocess.TimeoutExpired:
            return "took too long"
        if done.returncode not in (0, 3):
            return (done.stderr or done.stdout).strip().splitlines()[0]
        return json.loads(done.stdout)


def check_all(kiln):
    rows = []
    for file, kernel, definitions, sizes, more in CHECKS:
        if kiln.left() < 240:
            rows.append({"kernel": kernel, "case": "", "verdict": "not run: no time is left"})
            break
        result = kiln.run(file, kernel, definitions, sizes, [*more, "--verify"])
        verdict = result if isinstance(result, str) else "correct" if result["verify"]["passed"] else "WRONG"
        rows.append({"kernel": kernel, "case": f"{definitions} {sizes}", "verdict": verdict})
    return rows


class Cublas:
    """cublasGemmEx on device memory, timed by events (cuBLAS and CUDA runtime documentation)."""

    BF16, F32 = 14, 0  # CUDA_R_16BF, CUDA_R_32F
    COMPUTE_32F, DEFAULT_ALGORITHM = 68, -1

    def __init__(self):
        self.blas = self.load("cublas", 13, 12, 11)
        self.cuda = self.load("cudart", 13, 12, 11)
        self.handle = ctypes.c_void_p()
        self.expect(self.blas.cublasCreate_v2(ctypes.byref(self.handle)))

    @staticmethod
    def load(name, *versions):
        for path in [f"lib{name}.so.{v}" for v in versions] + [f"/usr/local/cuda/lib64/lib{name}.so"]:
            try:
                return ctypes.CDLL(path)
            except OSError:
                continue
        raise OSError(f"lib{name}.so is not installed")

    @staticmethod
    def expect(code):
        if code != 0:
            raise OSError(f"CUDA answered {code}")

    def memory(self, count):
        pointer = ctypes.c_void_p()
        self.expect(self.cuda.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(2 * count)))
        self.expect(self.cuda.cudaMemset(pointer, 0x3C, ctypes.c_size_t(2 * count)))
        return pointer

    def seconds(self, m, n, k):
        a, b, c = self.memory(m * k), self.memory(k * n), self.memory(m * n)
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        first, last = ctypes.c_void_p(), ctypes.c_void_p()
        self.cuda.cudaEventCreate(ctypes.byref(first))
        self.cuda.cudaEventCreate(ctypes.byref(last))

        def multiply():  # row-major c = a b is column-major c' = b' a'
            self.expect(self.blas.cublasGemmEx(self.handle, 0, 0, n, m, k, ctypes.byref(one), b, self.BF16, n, a, self.BF16, k,
                                               ctypes.byref(zero), c, self.BF16, n, self.COMPUTE_32F, self.DEFAULT_ALGORITHM))

        times = []
        multiply()
        for _ in range(5):
            self.cuda.cudaEventRecord(first, None)
            for _ in range(20):
                multiply()
            self.cuda.cudaEventRecord(last, None)
            self.expect(self.cuda.cudaEventSynchronize(last))
            milliseconds = ctypes.c_float()
            self.cuda.cudaEventElapsedTime(ctypes.byref(milliseconds), first, last)
            times.append(milliseconds.value / 20 * 1e-3)
        for pointer in (a, b, c):
            self.cuda.cudaFree(pointer)
        return sorted(times)[2]


class Torch:
    """Scaled dot-product attention of PyTorch, best backend."""

    def __init__(self):
        import torch  # pylint: disable=import-outside-toplevel
        self.torch = torch
        if not torch.cuda.is_available():
            raise OSError("PyTorch sees no GPU")

    def seconds(self, b, h, hk, m, n, d, causal):
        torch = self.torch
        q = torch.randn(b, h, m, d, device="cuda", dtype=torch.bfloat16)
        k, v = (torch.randn(b, hk, n, d, device="cuda", dtype=torch.bfloat16) for _ in range(2))
        times = []
        for _ in range(6):
            first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            first.record()
            for _ in range(10):
                torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal == "true")
            last.record()
            last.synchronize()
            times.append(first.elapsed_time(last) / 10 * 1e-3)
        return sorted(times[1:])[2]


def other(make):
    try:
        return make(), ""
    except (OSError, ImportError) as error:
        return None, str(error)


def measured(name, operations, kiln_result, peer, seconds_of_peer):
    row = {"case": name}
    if isinstance(kiln_result, str):
        row["kiln"] = kiln_result
    else:
        row["kiln"] = operations / (kiln_result["run_ms"] * 1e-3) / 1e12
    if peer is not None:
        try:
            row["peer"] = operations / seconds_of_peer() / 1e12
        except (OSError, RuntimeError) as error:
            row["peer"] = str(error)
    if isinstance(row.get("peer"), float) and isinstance(row["kiln"], float):
        row["ratio"] = row["kiln"] / row["peer"]
    return row


def measure_gemms(kiln):
    cublas, why = other(Cublas)
    rows = []
    for m, n, k in GEMMS:
        if kiln.left() < 20:
            break
        result = kiln.run("gemm", "gemm", "T=bf16", f"M={m},N={n},K={k}")
        rows.append(measured(f"{m}x{n}x{k} bf16", 2.0 * m * n * k, result, cublas, lambda: cublas.seconds(m, n, k)))
    return rows, "cuBLAS" if cublas else f"cuBLAS: {why}"


def measure_attention(kiln):
    torch, why = other(Torch)
    rows = []
    for b, h, hk, m, n, d, causal in ATTENTIONS:
        if kiln.left() < 20:
            break
        result = kiln.run("attention", "attention", f"T=bf16,causal={causal}", f"B={b},H={h},HK={hk},M={m},N={n},D={d}")
        operations = 4.0 * b * h * m * n * d * (0.5 if causal == "true" else 1)
        rows.append(measured(f"B{b} H{h} M{m} N{n} D{d} causal={causal}", operations, result, torch,
                             lambda: torch.seconds(b, h, hk, m, n, d, causal)))
    return rows, "PyTorch" if torch else f"PyTorch: {why}"


def cell(value):
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def print_speeds(title, rows, peer):
    print(f"\n### {title}, Tflop/s\n\n| case | Kiln | {peer} | ratio |\n|---|---|---|---|")
    for row in rows:
        print(f"| {row['case']} | {cell(row['kiln'])} | {cell(row.get('peer', ''))} | {cell(row.get('ratio', ''))} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kiln", default="build/release/tools/kiln")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--out", help="a JSON file of all results")
    options = parser.parse_args()
    kiln = Kiln(options.kiln, options.device, time.monotonic() + options.seconds)

    doctor = subprocess.run([options.kiln, "doctor"], capture_output=True, text=True, check=False).stdout
    print("\n".join(line for line in doctor.splitlines() if line.startswith(("kiln", "device", "driver", "compiler"))))
    checks = check_all(kiln)
    bad = [row for row in checks if row["verdict"] != "correct"]
    print(f"\n{len(checks) - len(bad)} of {len(checks)} launches are correct")
    for row in bad:
        print(f"  {row['kernel']} {row['case']}: {row['verdict']}")
    gemms, gemm_peer = measure_gemms(kiln)
    print_speeds("GEMM", gemms, gemm_peer)
    attention, attention_peer = measure_attention(kiln)
    print_speeds("attention", attention, attention_peer)
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump({"doctor": doctor, "checks": checks, "gemm": gemms, "attention": attention}, file, indent=2)
    return 3 if any(row["verdict"] == "WRONG" for row in bad) else 0


if __name__ == "__main__":
    sys.exit(main())
