#!/usr/bin/env python3
"""Checks and measures Kiln on a GPU, in at most ten minutes, and prints what it found as tables.

    bench/gpu/run.py [--kiln build/release/tools/kiln] [--device cuda:0] [--seconds 600] [--out FILE.json]
                     [--emulator FOLDER] [--small]

First the library's kernels at many shapes, odd ones among them (cases.py), compared with their references on the CPU; a wrong
result is exit code 3. Then GEMM and attention, beside what is installed of cuBLAS, PyTorch, cuDNN and Triton (peers.py).

--emulator names the folder of an emulated driver (build/ci/tests/emulated_gpu/cuda or .../hip): small launches run there too,
and the file has the differences. --small is for a device that is itself emulated, with KILN_CUDA_DRIVER or KILN_HIP_DRIVER
set: only small launches, and small problems to measure.
"""

import argparse
import json
import os
import subprocess
import sys
import time

import cases
import peers

# Parts of the time: launches that check, and launches on the emulator.
CHECKING, EMULATING = 0.55, 0.15
# Seconds that one launch may take, with its compilation and its reference on the CPU.
LONGEST = 120.0
NOT_RUN = "not run: no time was left"

GEMMS = [(4096, 4096, 4096), (8192, 8192, 8192), (1024, 1024, 1024), (16, 4096, 4096), (4096, 4096, 512)]
# B, H, HK, M, N, D, causal
ATTENTIONS = [(4, 16, 16, 4096, 4096, 128, False), (4, 16, 16, 4096, 4096, 128, True), (4, 32, 8, 4096, 4096, 128, True),
              (4, 16, 16, 4096, 4096, 64, False)]
SMALL_GEMMS = [(64, 64, 64), (65, 70, 40)]
SMALL_ATTENTIONS = [(1, 2, 1, 33, 40, 32, True)]


class Kiln:
    """The program, for one device. Each launch is a process: a lost device costs one case."""

    def __init__(self, program, device, environment=None):
        self.program, self.device = program, device
        self.environment = {**os.environ, **(environment or {})}

    def run(self, case, deadline, verify=False):
        """What `kiln run --json` says, or its error as a text."""
        command = [self.program, "run", f"kiln/{case.file}.kiln", case.kernel, "--size", case.sizes, "--device", self.device,
                   "--json", *case.options]
        command += ["-D", case.definitions] if case.definitions else []
        command += ["--verify"] if verify else []
        limit = min(LONGEST, deadline - time.monotonic())
        try:
            done = subprocess.run(command, capture_output=True, text=True, env=self.environment, check=False, timeout=limit)
        except subprocess.TimeoutExpired:
            return "took too long" if limit == LONGEST else NOT_RUN
        if done.returncode not in (0, 3):
            lines = (done.stderr or done.stdout).strip().splitlines()
            return lines[0] if lines else f"ended with {done.returncode}"
        return json.loads(done.stdout)

    def doctor(self):
        return subprocess.run([self.program, "doctor"], capture_output=True, text=True, env=self.environment, check=False).stdout


def errors_of(result):
    """The largest error of each output, and where it is."""
    return {output["name"]: output["error"] for output in result["verify"]["outputs"]}


def check(kiln, case, deadline):
    result = kiln.run(case, deadline, verify=True)
    row = {"case": case.title()}
    if isinstance(result, str):
        return {**row, "verdict": result}
    row["verdict"] = "correct" if result["verify"]["passed"] else "WRONG"
    return {**row, "errors": errors_of(result), "tunables": result["tunables"], "compile_ms": result["compile_ms"]}


def check_all(kiln, chosen, deadline):
    """In an order that reaches every kernel early: the first case of each, then the second."""
    turns = {}
    order = []
    for case in chosen:
        turns[case.kernel] = turns.get(case.kernel, 0) + 1
        order.append((turns[case.kernel], len(order), case))
    rows = []
    for _, _, case in sorted(order):
        if time.monotonic() > deadline:
            rows.append({"case": case.title(), "verdict": NOT_RUN})
        else:
            rows.append(check(kiln, case, deadline))
    return rows


def differences(kiln, emulated, chosen, rows, deadline):
    """The launches that are right on both but differ in their largest errors, and those that are right on one alone."""
    known = {row["case"]: row for row in rows}
    found, compared = [], 0
    for case in chosen:
        row = known.get(case.title())
        if not case.small or row is None or "errors" not in row:
            continue
        if time.monotonic() > deadline:
            break
        other = check(emulated, case, deadline)
        if other["verdict"] == NOT_RUN:
            break
        compared += 1
        if other.get("errors") != row["errors"] or other["verdict"] != row["verdict"]:
            found.append({"case": row["case"], "device": kiln.device,
                          "hardware": {"verdict": row["verdict"], "errors": row["errors"]},
                          "emulator": {"verdict": other["verdict"], "errors": other.get("errors")}})
    return {"compared": compared, "different": found}


def measure(kiln, case, operations, rivals, deadline):
    """Tflop/s of Kiln and of each rival; a text where there is none."""
    result = kiln.run(case, deadline)
    row = {"case": case.title(), "Kiln": result if isinstance(result, str) else operations / (result["run_ms"] * 1e-3) / 1e12}
    for name, seconds in rivals.items():
        try:
            row[name] = operations / seconds() / 1e12
        except Exception as error:  # pylint: disable=broad-except
            row[name] = str(error).splitlines()[0]  # a rival that fails must not end the comparison
    speeds = [row[name] for name in rivals if isinstance(row[name], float)]
    if speeds and isinstance(row["Kiln"], float):
        row["ratio"] = row["Kiln"] / max(speeds)
    return row


def measure_gemms(kiln, problems, deadline):
    found, reasons = peers.gemm_peers()
    rows = []
    for m, n, k in problems:
        if time.monotonic() > deadline:
            break
        rivals = {peer.name: lambda peer=peer: peer.gemm_seconds(m, n, k) for peer in found}  # pylint: disable=cell-var-from-loop
        case = cases.Case("gemm", "gemm", "T=bf16", f"M={m},N={n},K={k}")
        rows.append(measure(kiln, case, 2.0 * m * n * k, rivals, deadline))
    return {"rows": rows, "absent": reasons}


def measure_attentions(kiln, problems, deadline):
    found, reasons = peers.attention_peers()
    rows = []
    for problem in problems:
        if time.monotonic() > deadline:
            break
        b, h, hk, m, n, d, causal = problem
        rivals = {peer.name: lambda peer=peer: peer.attention_seconds(*problem) for peer in found}  # pylint: disable=cell-var-from-loop
        case = cases.Case("attention", "attention", f"T=bf16,causal={str(causal).lower()},D={d},DV={d}",
                          f"B={b},H={h},HK={hk},M={m},N={n}")
        rows.append(measure(kiln, case, 4.0 * b * h * m * n * d * (0.5 if causal else 1), rivals, deadline))
    return {"rows": rows, "absent": reasons}


def cell(value):
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def print_speeds(title, measured):
    print(f"\n### {title}, Tflop/s; the ratio is to the best of the others\n")
    rows = measured["rows"]
    names = [name for name in rows[0] if name not in ("case", "ratio")] if rows else []
    print("| case | " + " | ".join(names) + " | ratio |\n|" + "---|" * (len(names) + 2) if rows else NOT_RUN)
    for row in rows:
        print(f"| {row['case']} | " + " | ".join(cell(row[name]) for name in names) + f" | {cell(row.get('ratio', ''))} |")
    for name, reason in measured["absent"].items():
        print(f"{name} is absent: {reason}")


def print_checks(rows):
    bad = [row for row in rows if row["verdict"] != "correct"]
    unrun = [row for row in bad if row["verdict"] == NOT_RUN]
    print(f"\n{len(rows) - len(bad)} of {len(rows)} launches are correct, {len(unrun)} were not run")
    for row in bad:
        if row not in unrun:
            print(f"  {row['case']}: {row['verdict']}")


def options_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kiln", default="build/release/tools/kiln")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--out", help="a JSON file of all results")
    parser.add_argument("--emulator", help="the folder of an emulated driver, to compare with")
    parser.add_argument("--small", action="store_true", help="small launches alone")
    return parser.parse_args(arguments)


def main():
    options = options_of(sys.argv[1:])
    start = time.monotonic()
    kiln = Kiln(options.kiln, options.device)
    doctor = kiln.doctor()
    print("\n".join(line for line in doctor.splitlines() if line.startswith(("kiln", "device", "driver", "compiler"))))
    chosen = [case for case in cases.all_cases() if case.small or not options.small]
    report = {"device": options.device, "doctor": doctor}
    report["checks"] = check_all(kiln, chosen, start + CHECKING * options.seconds)
    print_checks(report["checks"])
    end = start + options.seconds
    report["gemm"] = measure_gemms(kiln, SMALL_GEMMS if options.small else GEMMS, end - EMULATING * options.seconds)
    print_speeds("GEMM", report["gemm"])
    report["attention"] = measure_attentions(kiln, SMALL_ATTENTIONS if options.small else ATTENTIONS,
                                             end - EMULATING * options.seconds)
    print_speeds("attention", report["attention"])
    if options.emulator:
        variable = "KILN_CUDA_DRIVER" if options.device.startswith("cuda") else "KILN_HIP_DRIVER"
        emulated = Kiln(options.kiln, options.device.split(":", maxsplit=1)[0] + ":0", {variable: options.emulator})
        report["emulator"] = differences(kiln, emulated, chosen, report["checks"], end)
        print(f"\n{len(report['emulator']['different'])} of {report['emulator']['compared']} small launches have other largest "
              "errors on the emulator")
    report["seconds"] = time.monotonic() - start
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=2)
    return 3 if any(row["verdict"] == "WRONG" for row in report["checks"]) else 0


if __name__ == "__main__":
    sys.exit(main())
