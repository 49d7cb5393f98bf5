#!/usr/bin/env bash
# kiln tuning: import, show, export, merge, lock and prune; and a launch that uses what is stored and pinned.
set -euo pipefail
source "$KILN_SOURCE_DIR/tests/script/support.sh"

kiln=$KILN_BUILD_DIR/tools/kiln
unset KILN_TUNING KILN_TUNING_PATH KILN_TUNING_LOCK
export HOME=$PWD/home XDG_DATA_HOME=$PWD/home/data
rm -rf home ./*.jsonl ./*.lock ./*.db && mkdir home
value() { grep -o "\"$2\": *[^,}]*" <<<"$1" | head -n 1 | sed 's/^[^:]*: *//; s/"//g'; }

run=$("$kiln" run kiln/vector_add.kiln vector_add -D T=f32 --size N=4096 --json)
expect_equal "$(value "$run" choice)" model  # nothing is measured yet
[[ ! -e home/data ]] || fail "a launch made $(find home/data)"
[[ $("$kiln" doctor) == *"home/data/kiln/tuning.db (made when something is first measured)"* ]] || fail "doctor: $("$kiln" doctor)"
[[ ! -e home/data ]] || fail "doctor made $(find home/data)"

# Rows count for one build; `show` names it.
build=$("$kiln" tuning show --json | grep '"build"' | sed 's/.*: "//; s/",*$//')
row() { # BLOCK SECONDS VERDICT
  printf '{"kiln_tuning":1,"kernel":"k","name":"vector_add","file":"kiln/vector_add.kiln","generics":{"T":"f32"},'
  printf '"arguments":{"a":"f32","b":"f32","y":"f32"},"sizes":{"N":4096},"device":{"name":"cpu","fingerprint":"f",'
  printf '"targets":["cpu"],"units":1},"configuration":{"BLOCK":"%s"},"build":"%s","verdict":"%s","seconds":%s,' "$1" "$build" "$3" "$2"
  printf '"taken_ms":1}\n'
}
row 512 0.002 verified >one.jsonl
row 1024 0.001 verified >two.jsonl
row 2048 0.0001 wrong >>two.jsonl
"$kiln" tuning merge two.jsonl one.jsonl -o all.jsonl >/dev/null
"$kiln" tuning merge one.jsonl two.jsonl all.jsonl >again.jsonl 2>/dev/null
cmp all.jsonl again.jsonl || fail "merging depends on the order"
"$kiln" tuning import all.jsonl >/dev/null
"$kiln" tuning export -o exported.jsonl
cmp all.jsonl exported.jsonl || fail "the store exports something else than it imported"
expect_equal "$(stat -c %a home/data/kiln)" 700
[[ $("$kiln" tuning show) == *"1.0000 ms  BLOCK=1024  ordered"* ]] || fail "show names another best: $("$kiln" tuning show)"

echo nonsense >bad.jsonl
if "$kiln" tuning import bad.jsonl >out 2>err; then fail "a bad line is a success"; fi
grep -q '^bad.jsonl:1: ' err || fail "the bad line is not named: $(cat err)"

"$kiln" tuning lock --kernel vector_add -o made.lock
run=$(KILN_TUNING_LOCK=made.lock "$kiln" run kiln/vector_add.kiln vector_add -D T=f32 --size N=4096 --json)
expect_equal "$(value "$run" choice)" pinned
expect_equal "$(value "$run" BLOCK)" 1024
sed -i 's/"BLOCK":"1024"/"BLOK":"1024"/' made.lock
[[ $(KILN_TUNING_LOCK=made.lock "$kiln" doctor) == *"made.lock (1 pins)"* ]] || fail "doctor does not show the lock"
if KILN_TUNING_LOCK=made.lock "$kiln" run kiln/vector_add.kiln vector_add -D T=f32 --size N=4096 >out 2>err; then
  fail "an illegal pin is a success"
fi
grep -q '^made.lock:2: ' err || fail "the illegal pin is not named: $(cat err)"

# doctor looks and leaves everything as it is, also what is damaged.
[[ $("$kiln" doctor) == *"tuning.db (in use): 3 rows, 0 of them damaged"* ]] || fail "doctor: $("$kiln" doctor)"
cp home/data/kiln/tuning.db damaged.db
printf 'damage' | dd of=damaged.db bs=1 seek=100 conv=notrunc status=none
cp damaged.db before.db
doctor=$(KILN_TUNING=$PWD/damaged.db "$kiln" doctor)
[[ $doctor == *"damaged.db (not used: "* || $doctor == *"damaged.db (damaged; "* ]] || fail "doctor on damage: $doctor"
cmp damaged.db before.db || fail "doctor changed a damaged store"
echo '{' >broken.lock
[[ $(KILN_TUNING_LOCK=broken.lock "$kiln" doctor) == *"broken.lock (not usable: broken.lock:"* ]] || fail "doctor and a broken lock"
expect_equal "$(KILN_TUNING=off "$kiln" doctor | grep '^tuning')" "tuning   none (off)"

if "$kiln" tuning prune 2>err; then fail "prune without a choice removed something"; fi
expect_equal "$("$kiln" tuning prune --verdict wrong)" "1 rows removed"
expect_equal "$("$kiln" tuning prune --all)" "2 rows removed"
