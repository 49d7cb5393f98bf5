#!/usr/bin/env bash
# The installed package: examples/embed, built against it with nothing else, runs; and the package can be moved.
set -euo pipefail
source "$KILN_SOURCE_DIR/tests/script/support.sh"

rm -rf first moved embed
cmake --install "$KILN_BUILD_DIR" --prefix "$PWD/first" >install.log
mv first moved

if grep -rlF -e "$KILN_SOURCE_DIR" -e "$PWD/first" moved/lib*/cmake moved/include; then
    fail "the installed files above name a folder of the build"
fi
cmake -S "$KILN_SOURCE_DIR/examples/embed" -B embed -G Ninja -DCMAKE_PREFIX_PATH="$PWD/moved" >configure.log
grep -qF "$PWD/moved" embed/CMakeCache.txt || fail "find_package(Kiln) found another package than the installed one"
cmake --build embed >build.log
embed/embed
expect_equal "$(moved/bin/kiln --version)" "$("$KILN_BUILD_DIR/tools/kiln" --version)"
