// libFuzzer over tests/fuzz/targets.h: see there for what must hold.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    kiln::test::fuzz_ir_text(std::string(reinterpret_cast<const char*>(data), size));
    return 0;
}
