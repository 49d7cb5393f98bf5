#!/usr/bin/env bash
# The host's cost of a prepared launch over the driver's own call, in instructions, on a driver that does nothing.
set -euo pipefail
source "$KILN_SOURCE_DIR/tests/script/support.sh"
command -v valgrind >/dev/null || skip valgrind "it is not installed"

export KILN_CUDA_DRIVER=$KILN_BUILD_DIR/tests/libfake_cuda_idle.so
# instructions MODE COUNT
instructions() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$KILN_BUILD_DIR/tests/prepared_launch_cost" "$1" "$2" 2>&1 |
        awk '/Collected/ { print $NF }'
}
# per_launch MODE: what 2,000 more launches cost, each.
per_launch() { echo $((($(instructions "$1" 3000) - $(instructions "$1" 1000)) / 2000)); }

prepared=$(per_launch prepared)
raw=$(per_launch raw)
echo "prepared launch: $prepared instructions, the driver's own call: $raw"
((prepared - raw > 0 && prepared - raw < 250)) || fail "a prepared launch costs $((prepared - raw)) instructions over the call"
