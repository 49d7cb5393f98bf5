# A room is one folder of the pipeline and becomes one static library, kiln_<name>, of all its .cpp files. libkiln.so is
# made of the rooms; tests link them directly, so that they see what the shared library hides.

add_library(kiln_options INTERFACE)
target_include_directories(kiln_options INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
# GCC 12 warns of overlapping copies in its own std::string (GCC bug 105329).
target_compile_options(kiln_options INTERFACE -Wall -Wextra -Wno-missing-field-initializers
                                              $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
if(KILN_WARNINGS_AS_ERRORS)
  target_compile_options(kiln_options INTERFACE -Werror)
endif()
# The interpreter defines the language: no a * b + c of ours may become one rounding where the text has two.
target_compile_options(kiln_options INTERFACE -ffp-contract=off)
# A new row of an op table must break the build until every reader handles it, in every preset.
target_compile_options(kiln_options INTERFACE -Werror=switch -Werror=return-type)
if(KILN_SANITIZE)
  # Rooms that use LLVM have no type information, by which `vptr` tells objects.
  target_compile_options(kiln_options INTERFACE -fsanitize=${KILN_SANITIZE} -fno-sanitize=vptr -fno-omit-frame-pointer)
  target_link_options(kiln_options INTERFACE -fsanitize=${KILN_SANITIZE})
endif()

if(KILN_FUZZ)
  target_compile_options(kiln_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# ccache only saves time: it is used where it is installed and nothing else was asked for.
find_program(KILN_CCACHE ccache)
if(KILN_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${KILN_CCACHE})
endif()

# kiln_room(NAME [FOLDERS sub...] [LINK library...]): all .cpp files of this folder and the named subfolders.
function(kiln_room name)
  cmake_parse_arguments(ARG "" "" "FOLDERS;LINK" ${ARGN})
  set(patterns ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  foreach(folder IN LISTS ARG_FOLDERS)
    list(APPEND patterns ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  add_library(kiln_${name} STATIC ${sources})
  target_link_libraries(kiln_${name} PUBLIC kiln_options ${ARG_LINK})
endfunction()
