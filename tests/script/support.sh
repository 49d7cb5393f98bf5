#!/usr/bin/env bash
# What the script tests share. A test fails by `fail`, or by any command that fails under `set -e`.

set -E
trap 'printf "failed: %s, line %s\n" "$0" "$LINENO" >&2' ERR

fail() {
    printf 'failed: %s\n' "$*" >&2
    exit 1
}

# expect_equal ACTUAL EXPECTED
expect_equal() { [[ $1 == "$2" ]] || fail "expected '$2', found '$1'"; }

# skip NAME REASON: ends the test as skipped, or as failed where `./kiln test --require NAME` asks for it.
skip() {
    printf 'skipped: %s: %s\n' "$1" "$2"
    [[ ",${KILN_TEST_REQUIRE:-}," != *",$1,"* ]] || fail "$1 is required"
    exit 77
}
