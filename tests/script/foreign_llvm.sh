#!/usr/bin/env bash
# A program with a shared libLLVM of its own, whatever the version, uses Kiln and LLVM side by side.
set -euo pipefail
source "$KILN_SOURCE_DIR/tests/script/support.sh"

library=$(find "$KILN_BUILD_DIR" -name 'libkiln.so' | head -n 1)
[[ -n $library ]] || fail "there is no libkiln.so in $KILN_BUILD_DIR"
mapfile -t llvms < <(find /usr/lib /usr/lib64 -name 'libLLVM*.so.*' -exec readlink -f {} + 2>/dev/null | sort -u)
((${#llvms[@]})) || skip libllvm "no shared libLLVM is installed"

for llvm in "${llvms[@]}"; do
    c++ -std=c++20 -I "$KILN_SOURCE_DIR/include" "$KILN_SOURCE_DIR/tests/script/foreign_llvm.cpp" -o program \
        -Wl,--no-as-needed "$llvm" "$library" -Wl,-rpath,"$(dirname "$llvm"):$(dirname "$library")"
    printf '%s: ' "$llvm"
    ./program
done
