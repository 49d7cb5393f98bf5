#!/usr/bin/env bash
# Library kernels on the emulated NVIDIA GPU.
set -euo pipefail
device=cuda:0
export KILN_CUDA_DRIVER=$KILN_BUILD_DIR/tests/emulated_gpu/cuda
source "$KILN_SOURCE_DIR/tests/script/gpu_library_cases.sh"

"$kiln" doctor | grep -q '^compiler nvrtc: absent' && skip nvrtc "it cannot be loaded"
run_library_kernels
