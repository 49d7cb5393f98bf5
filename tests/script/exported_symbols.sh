#!/usr/bin/env bash
# libkiln.so shows the public classes and functions and nothing else, and needs no shared LLVM.
set -euo pipefail
source "$KILN_SOURCE_DIR/tests/script/support.sh"

library=$(find "$KILN_BUILD_DIR" -name 'libkiln.so' | head -n 1)
[[ -n $library ]] || fail "there is no libkiln.so in $KILN_BUILD_DIR"

nm --dynamic --defined-only --demangle "$library" | sed 's/^[0-9a-f]* [A-Za-z] //' >symbols
grep -q '^kiln::Device::open' symbols || fail "kiln::Device::open is not exported"
grep -vE '^((vtable|typeinfo|typeinfo name) for )?kiln(::|$)' symbols >others || true
[[ ! -s others ]] || fail "exported, but not Kiln's: $(head -n 5 others)"
grep -E '^kiln::(support|ir|dsl|frontend|codegen|runtime|autotune|library)::' symbols >inner || true
[[ ! -s inner ]] || fail "exported, but of a room: $(head -n 5 inner)"

readelf --dynamic "$library" | grep NEEDED >needed
if grep -qi llvm needed; then fail "libkiln.so needs a shared LLVM"; fi
