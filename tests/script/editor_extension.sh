#!/usr/bin/env bash
# The extension of editors/vscode, started by node as the editor would start it, with `kiln lsp` behind it.
set -euo pipefail
source "$KILN_SOURCE_DIR/tests/script/support.sh"

command -v node >/dev/null || skip node "node is not installed"
node "$KILN_SOURCE_DIR/tests/script/editor_extension.js" "$KILN_SOURCE_DIR/editors/vscode" "$KILN_BUILD_DIR/tools/kiln"
