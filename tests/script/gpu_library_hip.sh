#!/usr/bin/env bash
# Library kernels on an emulated AMD GPU.
set -euo pipefail
device=hip:0
export KILN_HIP_DRIVER=$KILN_BUILD_DIR/tests/emulated_gpu/hip EMULATED_GPU_PROCESSORS=gfx942
source "$KILN_SOURCE_DIR/tests/script/gpu_library_cases.sh"

"$kiln" doctor | grep -q '^compiler clang: absent' && skip clang "it is not installed"
run_library_kernels
