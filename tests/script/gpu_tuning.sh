#!/usr/bin/env bash
# The tuner on emulated GPUs: what the model says, what it chooses for a first launch, and trials that are verified. The
# times of an emulated device mean nothing and are not looked at.
set -euo pipefail
source "$KILN_SOURCE_DIR/tests/script/support.sh"

kiln=$KILN_BUILD_DIR/tools/kiln
export HOME=$PWD/home XDG_DATA_HOME=$PWD/home/data KILN_CACHE=$PWD/home/cache
export KILN_CUDA_DRIVER=$KILN_BUILD_DIR/tests/emulated_gpu/cuda KILN_HIP_DRIVER=$KILN_BUILD_DIR/tests/emulated_gpu/hip
export EMULATED_GPU_PROCESSORS=gfx942
unset KILN_TUNING KILN_TUNING_PATH KILN_TUNING_LOCK
rm -rf home && mkdir home
problem=(kiln/movement.kiln transpose_copy -D T=f32 --size M=100,N=70)

# Without a device: the target's own numbers, and every term.
"$kiln" explain kiln/gemm.kiln gemm -D T=bf16,BK=32 --size M=512,N=512,K=512 --target gfx942 >out.txt
for text in 'placed     ' 'blocks on 304 units' 'latency ' 'predicted ms'; do
    grep -qF -e "$text" out.txt || { cat out.txt; fail "explain --target does not print '$text'"; }
done
if "$kiln" explain "${problem[@]}" --target sm_x >out.txt 2>&1; then fail "explain for a target that is none succeeds"; fi
grep -qF 'sm_x names no GPU' out.txt || fail "the unknown target is not named: $(cat out.txt)"

# What the generator refuses is excluded, with its words, and the rest is not.
cat >large.kiln <<'KILN'
kernel large(x: in f64[M, N], y: out f64[M, N])
  tune B in {512, 32}
grid i in 0 .. M by B, j in 0 .. N by B {
    let t = x[i :+ B, j :+ B]
    y[i :+ B, j :+ B] = t / sum(t, axis = 0)[_, :] + t / sum(t, axis = 1)[:, _]
}
KILN
"$kiln" explain large.kiln large --size M=1024,N=1024 --target sm_80 >out.txt
grep -qE 'B=512 +excluded: .*large. needs [0-9]+ ' out.txt || { cat out.txt; fail "the refusal is no exclusion"; }
grep -qE 'B=32 .*<- chosen' out.txt || { cat out.txt; fail "what remains is not chosen"; }

try_device() {
    local device=$1
    export KILN_TUNING=$PWD/home/${device%:*}.db  # else the other device's measurements would serve
    run=$("$kiln" run large.kiln large --size M=70,N=40 --device "$device" --json)
    [[ $run == *'"choice": "model"'* && $run == *'"B": "32"'* ]] || fail "a refused configuration is chosen: $run"
    run=$("$kiln" run "${problem[@]}" --device "$device" --verify --json)
    [[ $run == *'"choice": "model"'* ]] || fail "the model does not choose on $device: $run"
    tuned=$("$kiln" tune "${problem[@]}" --device "$device" --trials 2 --json)
    [[ $tuned == *'"verdict": "verified"'* && $tuned == *'"failed": 0'* && $tuned == *'"trials": 2'* ]] ||
        fail "not every trial on $device is verified: $tuned"
    run=$("$kiln" run "${problem[@]}" --device "$device" --json)
    [[ $run == *'"choice": "exact"'* ]] || fail "what was measured on $device is not used: $run"
    "$kiln" explain "${problem[@]}" --device "$device" | grep -q 'measured for exactly this problem' ||
        fail "explain does not know what was measured on $device"
}

"$kiln" doctor >doctor.txt
if ! grep -q '^compiler clang: absent' doctor.txt; then try_device hip:0; fi
if grep -q '^compiler nvrtc: absent' doctor.txt; then skip nvrtc "it cannot be loaded"; fi
try_device cuda:0
