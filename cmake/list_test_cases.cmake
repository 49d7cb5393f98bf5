# cmake -DPROGRAM=... -DLIST_FILE=... -DENVIRONMENT=... -P list_test_cases.cmake: writes the CTest commands for each
# case of a doctest program. doctest's own module starts the program once more for each case to learn its suite; one
# listing says it all.

execute_process(COMMAND ${PROGRAM} --list-test-cases --no-skip --reporters=xml
                OUTPUT_VARIABLE listing RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} --list-test-cases failed (${result}):\n${listing}")
endif()

set(case_pattern "<TestCase name=\"([^\"]*)\" testsuite=\"([^\"]*)\" [^>]*skipped=\"([a-z]*)\"")
set(commands "")
set(names "")
while(listing MATCHES "${case_pattern}(.*)")
  set(name "${CMAKE_MATCH_1}")
  set(labels "${CMAKE_MATCH_2}")
  set(long "${CMAKE_MATCH_3}")
  set(listing "${CMAKE_MATCH_4}")

  if(labels STREQUAL "")
    message(FATAL_ERROR "test case \"${name}\" stands in no TEST_SUITE, which would be its label")
  endif()
  if(long STREQUAL "true")
    string(APPEND labels ";long")
  endif()
  foreach(escape "&lt;=<" "&gt;=>" "&quot;=\"" "&amp;=&")
    string(REGEX MATCH "^(&[a-z]*;)=(.)$" unused "${escape}")
    string(REPLACE "${CMAKE_MATCH_1}" "${CMAKE_MATCH_2}" name "${name}")
  endforeach()
  string(FIND "${names}" "\n${name}\n" seen)
  if(NOT seen EQUAL -1)
    message(FATAL_ERROR "two test cases are named \"${name}\"")
  endif()
  string(APPEND names "\n${name}\n")

  # doctest separates filters at commas; a filter that matched no case would pass, hence the expression.
  string(REPLACE "," "\\," filter "${name}")
  string(APPEND commands
    "add_test([==[${name}]==] [==[${PROGRAM}]==] [==[--test-case=${filter}]==] --no-skip --no-colors)\n"
    "set_tests_properties([==[${name}]==] PROPERTIES LABELS \"${labels}\" SKIP_RETURN_CODE 77\n"
    "  ENVIRONMENT \"${ENVIRONMENT}\" FAIL_REGULAR_EXPRESSION \"test cases: +0 \")\n")
endwhile()
file(WRITE "${LIST_FILE}" "${commands}")
