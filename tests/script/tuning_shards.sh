#!/usr/bin/env bash
# `kiln tune` as people run it: two shards as processes with stores of their own, merged; a second run that tries
# nothing; explain and report on what was measured.
set -euo pipefail
source "$KILN_SOURCE_DIR/tests/script/support.sh"

kiln="$KILN_BUILD_DIR/tools/kiln"
rm -f ./*.db ./*.jsonl ./*.html ./*.json
cat >scale.kiln <<'END'
kernel scale(x: in f32[N], y: out f32[N])
  tune B in {32, 64, 128, 256, 512, 1024}
  reference scale_naive
grid i in 0 .. N by B { y[i :+ B] = x[i :+ B] * 3 }
kernel scale_naive(x: in f32[N], y: out f32[N])
grid i in 0 .. N { y[i] = x[i] * 3 }
END

for shard in 0 1; do
    KILN_TUNING="$PWD/$shard.db" "$kiln" tune scale.kiln scale --size N=10007 --exhaustive --shard $shard/2 --json >$shard.json &
done
wait
for shard in 0 1; do
    grep -q '"trials": 3' $shard.json || fail "shard $shard did not try its three configurations"
    KILN_TUNING="$PWD/$shard.db" "$kiln" tuning export -o $shard.jsonl
done

export KILN_TUNING="$PWD/all.db"
"$kiln" tuning import 0.jsonl 1.jsonl
"$kiln" tune scale.kiln scale --size N=10007 --exhaustive --json >all.json
grep -q '"remembered": 6' all.json || fail "the merged store does not hold all six configurations"
grep -q '"best"' all.json || fail "the merged store has no best configuration"
"$kiln" tune scale.kiln scale --size N=10007 --trials 0 --json >read.json
grep -q '"trials": 0' read.json || fail "--trials 0 tried something"
"$kiln" explain scale.kiln scale --size N=10007 >explain.txt
grep -q 'measured for exactly this problem' explain.txt || fail "explain does not see what was measured"
"$kiln" report scale -o report.html
grep -q '<svg' report.html || fail "the report has no charts"
