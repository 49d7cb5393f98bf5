#!/usr/bin/env bash
# ./kiln itself, on a small project in its own folder (with a space in its name): what it builds, what it counts, what
# it forwards, and that it touches the system's packages only when one is missing.
set -euo pipefail
source "$KILN_SOURCE_DIR/tests/script/support.sh"

project="$PWD/stub project"
rm -rf "$project"
mkdir -p "$project/tools" "$project/tests/cases" "$project/tests/script"
cp "$KILN_SOURCE_DIR/kiln" "$KILN_SOURCE_DIR/CMakePresets.json" "$project"
cp -r "$KILN_SOURCE_DIR/cmake" "$project"
cp "$KILN_SOURCE_DIR/tests/main.cpp" "$project/tests"

cat >"$project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(Stub LANGUAGES CXX)
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_SOURCE_DIR}/cmake)
include(KilnRoom)
add_subdirectory(tools)
if(KILN_BUILD_TESTS)
  enable_testing()
  find_package(doctest REQUIRED)
  add_subdirectory(tests)
endif()
END
cat >"$project/tools/CMakeLists.txt" <<'END'
add_executable(kiln_program program.cpp)
set_target_properties(kiln_program PROPERTIES OUTPUT_NAME kiln)
add_library(kiln SHARED program.cpp)
END
cat >"$project/tools/program.cpp" <<'END'
#include <cstdio>
int main(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) std::printf("[%s]", argv[i]);
    return argc == 2 ? 7 : 0;
}
END
cat >"$project/tests/CMakeLists.txt" <<'END'
include(KilnTests)
kiln_test_program(stub_tests FOLDERS cases)
kiln_script_test(needs_a_thing faults)
END
cat >"$project/tests/cases/stub_test.cpp" <<'END'
#include <cstdlib>
#include <doctest/doctest.h>
TEST_SUITE("unit") {
    TEST_CASE("passes") { CHECK(1 + 1 == 2); }
    TEST_CASE("has, in its name; a <comma> & \"more\" [than] that*") { CHECK(true); }
    TEST_CASE("fails") { CHECK(1 + 1 == 3); }
}
TEST_SUITE("faults") {
    TEST_CASE("dies") { std::abort(); }
    TEST_CASE("takes long" * doctest::skip()) { CHECK(true); }
}
END
cat >"$project/tests/script/needs_a_thing.sh" <<'END'
source "$STUB_SUPPORT"
skip thing "there is none"
END
unset KILN_TEST_REQUIRE
export STUB_SUPPORT="$KILN_SOURCE_DIR/tests/script/support.sh"

kiln() { "$project/kiln" "$@" </dev/null; }

# expect_counts LINE [option...]: the tests end with this line, and fail, since some of them do.
expect_counts() {
    local line=$1
    shift
    if kiln test "$@" >out 2>err; then fail "./kiln test $* succeeded though tests failed"; fi
    expect_equal "$(tail -n 1 out)" "$line"
    expect_equal "$(grep -cE '^[0-9]+ passed, [0-9]+ failed' out)" 1
}

expect_counts "2 passed, 2 failed, 1 skipped"
expect_equal "$(grep '^skipped: ' out)" "skipped: thing: there is none"
expect_counts "3 passed, 2 failed, 1 skipped" --long
expect_counts "2 passed, 1 failed" --label unit
expect_counts "2 passed, 3 failed" --require other,thing
expect_counts "0 passed, 0 failed" --label unheard_of

sed -i '/fails\|dies/d' "$project/tests/cases/stub_test.cpp"
kiln test >out 2>err || fail "./kiln test failed though no test did"
expect_equal "$(tail -n 1 out)" "2 passed, 0 failed, 1 skipped"

# Forwarding: built at the first word, silent afterwards; arguments, exit code and working folder are the caller's.
expect_equal "$(cd / && kiln run "a b" '' 2>"$project/err")" "[run][a b][]"
grep -q "building" "$project/err" || fail "the first forwarded word did not say that it builds"
status=0
kiln once >out 2>err || status=$?
expect_equal "$status $(cat out err)" "7 [once]"
expect_equal "$(kiln demo --json 2>err)" "[demo][--json]"

sed -i 's/\[%s\]/(%s)/' "$project/tools/program.cpp"
expect_equal "$(kiln run newer 2>err)" "(run)(newer)"

# Packages: a package manager that only takes notes. With nothing missing it is not called.
# stub_command NAME SCRIPT
stub_command() {
    printf '#!/bin/sh\n%s\n' "$2" >"bin/$1"
    chmod +x "bin/$1"
}
export STUB_FOLDER="$PWD"
mkdir -p bin
# shellcheck disable=SC2016 # expanded when the stubs run
{
    stub_command apt-get 'echo "$@" >>"$STUB_FOLDER/calls"'
    stub_command apt-cache 'echo "$1:"; echo "  Candidate: 1.0"'
    stub_command dpkg-query 'sed "s/$/ installed/" "$STUB_FOLDER/installed"'
    stub_command sudo 'exec "$@"'
}
awk '/^(build|test)/ { for (i = 2; i <= NF; ++i) { count = split($i, names, "|"); print names[count] } }' \
    "$project/cmake/packages.txt" >installed
export PATH="$PWD/bin:$PATH"
: >calls
kiln demo --json >out 2>err
expect_equal "$(cat calls)" ""
: >installed
if kiln demo --json 2>&1 >out | grep -q "has no column for this system"; then
    skip package_table "this system has no column in cmake/packages.txt"
fi
expect_equal "$(grep -c ' update$' calls)" 1
expect_equal "$(grep -c -- '--no-install-recommends g++ cmake ninja-build' calls)" 2
