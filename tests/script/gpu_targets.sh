#!/usr/bin/env bash
# A fixed, small choice of kernels compiled for every target that the compilers here know: code comes out, without spills
# and without warnings about lost performance.
set -euo pipefail
source "$KILN_SOURCE_DIR/tests/script/support.sh"

kiln=$KILN_BUILD_DIR/tools/kiln
"$kiln" doctor >doctor.txt

# check_target TARGET FILE KERNEL OPTION...
check_target() {
    local target=$1 file=$2 kernel=$3
    shift 3
    "$kiln" emit "kiln/$file.kiln" "$kernel" "$@" --target "$target" --stats --json >stats.json ||
        fail "$kernel does not compile for $target"
    grep -q '"registers"' stats.json || fail "$kernel for $target has no statistics"
    ! grep '"spill_bytes": [1-9]' stats.json || fail "$kernel spills for $target"
    grep -q '"performance_warnings": \[\]' stats.json || fail "$kernel for $target: $(grep 'Performance' stats.json)"
}

check_targets() {
    local target
    for target in "$@"; do
        check_target "$target" gemm gemm -D T=bf16
        check_target "$target" softmax softmax -D T=f32,N=256
    done
}

grep -q '^compiler nvrtc: absent' doctor.txt && skip nvrtc "it cannot be loaded"
check_targets sm_80 sm_86 sm_89 sm_90a sm_100a sm_120a
grep -q '^compiler clang: absent' doctor.txt && skip clang "there is none"
check_targets gfx90a gfx942 gfx950 gfx1250 gfx1100 gfx1201
