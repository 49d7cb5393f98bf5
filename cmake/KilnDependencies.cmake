# Everything Kiln builds on, all from the system's packages; `./kiln` installs them (packages.txt). What is missing is
# collected, so that one configure names all of it.

set(KILN_MISSING "")

# kiln_find(NAME "what to install" find_package argument...)
macro(kiln_find name what)
  find_package(${name} ${ARGN} QUIET)
  if(NOT ${name}_FOUND)
    list(APPEND KILN_MISSING "${what}")
  endif()
endmacro()

kiln_find(fmt "fmt 9 or newer" 9)
kiln_find(Boost "Boost 1.81 or newer (headers)" 1.81 CONFIG)
kiln_find(TBB "oneTBB")
kiln_find(nlohmann_json "nlohmann-json 3")
kiln_find(CLI11 "CLI11 2")
kiln_find(SQLite3 "SQLite 3.37 or newer" 3.37)
kiln_find(Threads "a thread library")
find_path(KILN_XXHASH_FOLDER xxhash.h)
if(NOT KILN_XXHASH_FOLDER)
  list(APPEND KILN_MISSING "xxHash 0.8 (headers)")
endif()
if(KILN_BUILD_TESTS)
  kiln_find(doctest "doctest 2 (for the tests; -DKILN_BUILD_TESTS=OFF builds without)")
endif()

# The newest LLVM of 22 to 19. Its version file refuses a request for `22` when 22.1 is installed, so the folder is
# named instead. Linked statically and hidden, so that a host program may carry another LLVM.
foreach(version 22 21 20 19)
  if(NOT LLVM_DIR AND EXISTS /usr/lib/llvm-${version}/lib/cmake/llvm/LLVMConfig.cmake)
    set(LLVM_DIR /usr/lib/llvm-${version}/lib/cmake/llvm CACHE PATH "Folder of LLVMConfig.cmake")
  endif()
endforeach()
kiln_find(LLVM "LLVM 19 to 22 (static libraries; -DLLVM_DIR= names the folder of LLVMConfig.cmake)" CONFIG)
if(LLVM_FOUND AND (LLVM_VERSION_MAJOR LESS 19 OR LLVM_VERSION_MAJOR GREATER 22))
  list(APPEND KILN_MISSING "LLVM 19 to 22 (found ${LLVM_VERSION} in ${LLVM_DIR}; -DLLVM_DIR= names another)")
endif()

if(KILN_MISSING)
  list(JOIN KILN_MISSING "\n  - " KILN_MISSING)
  message(FATAL_ERROR "Kiln cannot be built, since these are missing:\n  - ${KILN_MISSING}")
endif()

message(STATUS "LLVM ${LLVM_VERSION} in ${LLVM_DIR}")
llvm_map_components_to_libnames(KILN_LLVM_LIBRARIES core orcjit native passes bitwriter)
separate_arguments(KILN_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
add_library(kiln_llvm INTERFACE)
target_include_directories(kiln_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_compile_definitions(kiln_llvm INTERFACE ${KILN_LLVM_DEFINITIONS})
target_link_libraries(kiln_llvm INTERFACE ${KILN_LLVM_LIBRARIES})
