#!/usr/bin/env bash
# The command line with GPUs: what `kiln doctor` finds, and what is said where a driver, a device or a form of code is
# missing. The device is the emulated one.
set -euo pipefail
source "$KILN_SOURCE_DIR/tests/script/support.sh"

kiln=$KILN_BUILD_DIR/tools/kiln
emulated=$KILN_BUILD_DIR/tests/emulated_gpu/cuda
softmax=(kiln/softmax.kiln softmax -D T=f32 --size M=3,N=64)

# expect_line TEXT COMMAND...: the command prints it, whatever its exit code.
expect_line() {
    local text=$1
    shift
    "$@" >out.txt 2>&1 || true
    grep -qF -e "$text" out.txt || { cat out.txt; fail "'$*' does not print '$text'"; }
}

export KILN_HIP_DRIVER=/nowhere
expect_line '"name": "cuda:1"' env KILN_CUDA_DRIVER="$emulated" EMULATED_GPU_CAPABILITIES=80,80 "$kiln" doctor --json
expect_line 'Emulated GPU sm_80' env KILN_CUDA_DRIVER="$emulated" "$kiln" doctor
expect_line 'driver   cuda: absent: KILN_CUDA_DRIVER is `/nowhere`' env KILN_CUDA_DRIVER=/nowhere "$kiln" doctor
expect_line 'compiler nvrtc: absent: KILN_NVRTC is `/nowhere`' env KILN_NVRTC=/nowhere "$kiln" doctor
expect_line 'compiler clang: absent: KILN_CLANG is `/nowhere/clang`' env KILN_CLANG=/nowhere/clang "$kiln" doctor

export KILN_CUDA_DRIVER=$emulated
expect_line 'there is no device `cuda:7`: there are cuda:0 to cuda:0' "$kiln" run "${softmax[@]}" --device cuda:7
expect_line 'there is no device `hip:0`: KILN_HIP_DRIVER is `/nowhere`' "$kiln" run "${softmax[@]}" --device hip:0
expect_line 'there is no device `gpu`: devices are named cpu, cuda:0' "$kiln" run "${softmax[@]}" --device gpu
expect_line 'there is no target `sm_x`; known are cpu' "$kiln" emit "${softmax[@]}" --target sm_x
expect_line '`--as hip` is no form of code for sm_80: it has ir, cuda, ptx, cubin, isa' \
    "$kiln" emit "${softmax[@]}" --target sm_80 --as hip
expect_line '`--as cuda` is no form of code for gfx942: it has ir, hip, isa' \
    "$kiln" emit "${softmax[@]}" --target gfx942 --as cuda
expect_line '`--as cuda` is no form of code for cpu: it has ir, llvm and asm' "$kiln" emit "${softmax[@]}" --as cuda
expect_line '--stats is for targets that are GPUs, and cpu is none' "$kiln" emit "${softmax[@]}" --stats
expect_line 'note: sm_87 is not in the table; using sm_86' "$kiln" emit "${softmax[@]}" --target sm_87
