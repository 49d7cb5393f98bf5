#!/usr/bin/env bash
# `kiln tune` killed at many moments by SIGKILL, then run to its end: every configuration has its row, the store is sound,
# no worker process stays behind, and nothing is tried that a row knows. What users get wrong is an error that says so.
set -euo pipefail
source "$KILN_SOURCE_DIR/tests/script/support.sh"

kiln="$KILN_BUILD_DIR/tools/kiln"
rm -f ./*.db* ./*.json ./*.kiln
cat >scale.kiln <<'END'
kernel scale(x: in f32[N], y: out f32[N])
  tune B in {32, 64, 128, 256, 512, 1024}, R in {1, 2}
  reference scale_naive
grid i in 0 .. N by B { y[i :+ B] = x[i :+ B] * 3 }
kernel scale_naive(x: in f32[N], y: out f32[N])
grid i in 0 .. N { y[i] = x[i] * 3 }
kernel nothing(y: out f32[N])
  tune B in {32, 64}
  where B > 100
grid i in 0 .. N by B { y[i :+ B] = 0 }
END

export KILN_TUNING="$PWD/killed.db"
kills=0
for ((i = 0; i < 25; ++i)); do
    "$kiln" tune scale.kiln scale --size N=1000 --exhaustive --json >killed.json 2>/dev/null &
    tuner=$!
    sleep "0.$(printf '%03d' $((40 + i * 37 % 600)))"
    if kill -KILL "$tuner" 2>/dev/null; then kills=$((kills + 1)); fi
    wait "$tuner" 2>/dev/null || true
done
((kills > 0)) || fail "no run was killed"

# Workers end with their tuner.
for ((i = 0; i < 100; ++i)); do
    left=0
    for process in /proc/[0-9]*; do
        [[ $(readlink "$process/cwd" 2>/dev/null) == "$PWD" && $(readlink "$process/exe" 2>/dev/null) == *"/tools/kiln" ]] && left=$((left + 1))
    done
    ((left == 0)) && break
    sleep 0.1
done
expect_equal "$left" 0

rows_before=$("$kiln" tuning export 2>/dev/null | wc -l)
"$kiln" tune scale.kiln scale --size N=1000 --exhaustive --json >whole.json
grep -q '"trials": 12' whole.json || fail "not every configuration was tried: $(cat whole.json)"
grep -q "\"remembered\": $rows_before" whole.json || fail "of $rows_before rows not all were remembered: $(grep remembered whole.json)"
expect_equal "$("$kiln" tuning export | wc -l)" 12
[[ $("$kiln" doctor) == *"killed.db (in use): 12 rows, 0 of them damaged"* ]] || fail "doctor: $("$kiln" doctor)"
"$kiln" tune scale.kiln scale --size N=1000 --exhaustive --json >again.json
grep -q '"remembered": 12' again.json || fail "a second run tried something"

refused() { # TEXT ARGUMENT...
    local text=$1
    shift
    if "$kiln" tune "$@" >out 2>err; then fail "kiln tune $* is a success"; fi
    grep -qF -- "$text" err || fail "kiln tune $*: $(cat err)"
}
refused 'no choice meets `where B > 100`' scale.kiln nothing --size N=64
refused 'scal' scale.kiln scal --size N=64
refused 'QQ' scale.kiln scale -D QQ=1 --size N=64
refused 'Q' scale.kiln scale --size Q=64
refused '--trials' scale.kiln scale --size N=64 --trials -1
refused '3/2' scale.kiln scale --size N=64 --shard 3/2
refused 'nowhere' scale.kiln scale --size N=64 --worker /nowhere/kiln
refused 'no configuration of `scale` is of the numerics class `unordered`' scale.kiln scale --size N=64 --numerics unordered
expect_equal "$("$kiln" tuning export | wc -l)" 12
