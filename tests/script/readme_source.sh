#!/usr/bin/env bash
# The CUDA and HIP source that README.md shows is what `kiln emit` prints for the kernel above it.
set -euo pipefail
kiln=$KILN_BUILD_DIR/tools/kiln

# block LANGUAGE: the text between ```LANGUAGE and ``` in the README.
block() { awk -v fence="\`\`\`$1" '$0 == "```" { inside = 0 } inside { print } $0 == fence { inside = 1 }' "$KILN_SOURCE_DIR/README.md"; }

awk '/^`relu.kiln`:/ { near = 1 } near && /^```$/ { if (inside) exit; inside = 1; next } inside { print }' \
    "$KILN_SOURCE_DIR/README.md" >relu.kiln
grep -q '^kernel relu' relu.kiln

# shown LANGUAGE TARGET: each line of the block is a line of the source.
shown() {
    local line count=0
    "$kiln" emit relu.kiln relu --target "$2" --as "$1" >"$1.txt"
    while IFS= read -r line; do
        grep -qxF -- "$line" "$1.txt" || { echo "kiln emit --as $1 does not print: $line"; exit 1; }
        count=$((count + 1))
    done < <(block "$1")
    ((count >= 3)) || { echo "README.md shows no $1"; exit 1; }
}
shown cuda sm_80
shown hip gfx942
