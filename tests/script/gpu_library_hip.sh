#!/usr/bin/env bash
# Library kernels on an emulated AMD GPU: all of the cases on gfx942, some on processors with waves of 32.
set -euo pipefail
device=hip:0
export KILN_HIP_DRIVER=$KILN_BUILD_DIR/tests/emulated_gpu/hip EMULATED_GPU_PROCESSORS=gfx942,gfx1100,gfx1201
source "$KILN_SOURCE_DIR/tests/script/gpu_library_cases.sh"

"$kiln" doctor | grep -q '^compiler clang: absent' && skip clang "it is not installed"
run_library_kernels
cases=$(grep -E '^(softmax softmax|gemm gemm|attention attention|reductions prefix_sum) ' <<<"$cases")
for device in hip:1 hip:2; do
    run_library_kernels
done
