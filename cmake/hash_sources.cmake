# cmake -DLIST=FILE -DROOT=FOLDER -DVERSION=TEXT -DOUTPUT=FILE -P hash_sources.cmake
# Writes a C++ file that defines kiln::runtime::tuning_build(): VERSION and a hash of the sources that LIST names.
file(STRINGS ${LIST} sources)
list(SORT sources)
set(all "${VERSION}")
foreach(source IN LISTS sources)
  file(SHA256 ${ROOT}/${source} hash)
  string(APPEND all "\n${source} ${hash}")
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING ${hash} 0 16 hash)
string(CONFIGURE [[
#include "runtime/tuning_store.h"

namespace kiln::runtime {

const std::string& tuning_build() {
    static const auto* build = new std::string("@VERSION@ @hash@");
    return *build;
}

}  // namespace kiln::runtime
]] text @ONLY)
file(WRITE ${OUTPUT} "${text}")
