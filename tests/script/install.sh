#!/usr/bin/env bash
# The installed package: examples/embed and the program that README.md shows, built against it with nothing else, run;
# and the package can be moved.
set -euo pipefail
source "$KILN_SOURCE_DIR/tests/script/support.sh"

rm -rf first moved embed readme
cmake --install "$KILN_BUILD_DIR" --prefix "$PWD/first" >install.log
mv first moved

if grep -rlF -e "$KILN_SOURCE_DIR" -e "$PWD/first" moved/lib*/cmake moved/include; then
    fail "the installed files above name a folder of the build"
fi

# build_against_package SOURCE BUILD
build_against_package() {
    cmake -S "$1" -B "$2" -G Ninja -DCMAKE_PREFIX_PATH="$PWD/moved" >"$2.log"
    grep -qF "$PWD/moved" "$2/CMakeCache.txt" || fail "find_package(Kiln) found another package than the installed one"
    cmake --build "$2" >>"$2.log"
}

build_against_package "$KILN_SOURCE_DIR/examples/embed" embed
embed/embed >embed.out
expect_equal "$(head -n 2 embed.out | tr -s ' \n' '  ')" "3 5 7 9 11 8.5 "
expect_equal "$(tail -n 1 embed.out)" "\`y\` has 2 along axis 0 where \`x\` has 3 along axis 0 (N)"

mkdir readme
awk '/^```/ { inside = $0 == "```cpp"; next } inside' "$KILN_SOURCE_DIR/README.md" >readme/main.cpp
cat >readme/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(Readme LANGUAGES CXX)
find_package(Kiln REQUIRED)
add_executable(readme main.cpp)
target_link_libraries(readme PRIVATE Kiln::kiln)
END
build_against_package readme readme/build
# What the comment in the program says it prints.
expected=$(sed -n 's|.*printf("%g ", value);  // ||p' readme/main.cpp)
[[ -n $expected ]] || fail "the program in README.md does not say what it prints"
expect_equal "$(readme/build/readme | sed 's/ $//')" "$expected"

expect_equal "$(moved/bin/kiln --version)" "$("$KILN_BUILD_DIR/tools/kiln" --version)"
