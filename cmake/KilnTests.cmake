# Tests run under CTest, each test case in a process of its own: a crash or a hang costs one test, and several run at
# once. `./kiln test` drives it; `ctest --test-dir build/ci` works as well.
#
# Labels are the doctest suites: unit, must_fail, ir, differential, library, faults, tuner, install,
# emulated_gpu. Cases named `fault: WHAT: WHAT IS SEEN` make the table that `./kiln test` prints at its end. A case with the decorator
# doctest::skip() has the label `long` too and runs with `./kiln test --long` only. A test that cannot run on this
# machine prints `skipped: NAME: reason` and exits with 77; with `./kiln test --require NAME` it has to fail instead.
# The kernel cache is off, so that no test passes on code that an earlier one compiled (a test of the cache names its
# own folder), so is the tuning store of the user, and the IR is verified between passes.

set(KILN_TEST_ENVIRONMENT KILN_CACHE=off KILN_TUNING=off KILN_VERIFY=1)
if(KILN_SANITIZE)  # trials that crash on purpose die of their signal, which the tuner names
  list(APPEND KILN_TEST_ENVIRONMENT ASAN_OPTIONS=handle_segv=0)
endif()

# kiln_test_program(NAME FOLDERS folder... [EXCEPT path...] LINK library...): one doctest program of all .cpp files
# below the folders, but for the excepted ones and those below them.
function(kiln_test_program name)
  cmake_parse_arguments(ARG "" "" "FOLDERS;EXCEPT;LINK" ${ARGN})
  set(patterns)
  foreach(folder IN LISTS ARG_FOLDERS)
    list(APPEND patterns ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
  endforeach()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${patterns})
  foreach(folder IN LISTS ARG_EXCEPT)
    list(FILTER sources EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${folder}(/|$)")
  endforeach()
  add_executable(${name} main.cpp ${sources})
  target_link_libraries(${name} PRIVATE kiln_options doctest::doctest ${ARG_LINK})
  target_compile_definitions(${name} PRIVATE KILN_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  # The files of a folder are compiled as one (not by the preset `debug`): helpers of one folder have names of their own.
  set_target_properties(${name} PROPERTIES UNITY_BUILD_MODE GROUP)
  foreach(source IN LISTS sources)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE folder)
    cmake_path(REMOVE_FILENAME folder)
    string(REPLACE "/" "_" folder ${folder})
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder})
  endforeach()
  # Tests spend their time in what they call; without optimisation they compile in half the time.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O0>)

  set(list_file ${CMAKE_CURRENT_BINARY_DIR}/${name}_cases.cmake)
  add_custom_command(
    TARGET ${name} POST_BUILD VERBATIM
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${name}> -DLIST_FILE=${list_file}
            "-DENVIRONMENT=${KILN_TEST_ENVIRONMENT}"
            -P ${PROJECT_SOURCE_DIR}/cmake/list_test_cases.cmake)
  # A program that was not built is one failing test, not none.
  set(include_list "if(EXISTS [==[${list_file}]==])\n  include([==[${list_file}]==])\n")
  string(APPEND include_list "else()\n  add_test(${name}_not_built false)\nendif()\n")
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${name}_include.cmake "${include_list}")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}_include.cmake)
endfunction()

# kiln_script_test(NAME LABEL): tests/script/NAME.sh, run in a folder of its own with KILN_SOURCE_DIR and KILN_BUILD_DIR
# in its environment.
function(kiln_script_test name label)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/script/${name})
  file(MAKE_DIRECTORY ${folder})
  add_test(NAME "${name}" COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/script/${name}.sh WORKING_DIRECTORY ${folder})
  set_tests_properties("${name}" PROPERTIES
    LABELS ${label} SKIP_RETURN_CODE 77
    ENVIRONMENT "KILN_SOURCE_DIR=${PROJECT_SOURCE_DIR};KILN_BUILD_DIR=${PROJECT_BINARY_DIR};${KILN_TEST_ENVIRONMENT}")
endfunction()
