#!/usr/bin/env bash
# Handles in static objects still work, and nothing of Kiln breaks, while the process exits.
set -euo pipefail
source "$KILN_SOURCE_DIR/tests/script/support.sh"

library=$(find "$KILN_BUILD_DIR" -name 'libkiln.so' | head -n 1)
[[ -n $library ]] || fail "there is no libkiln.so in $KILN_BUILD_DIR"

c++ -std=c++20 -I "$KILN_SOURCE_DIR/include" "$KILN_SOURCE_DIR/tests/script/static_handles.cpp" -o program "$library" \
    -Wl,-rpath,"$(dirname "$library")"
for threads in 1 4; do
    expect_equal "$(KILN_THREADS=$threads ./program 2>&1)" "launched at exit"
done
