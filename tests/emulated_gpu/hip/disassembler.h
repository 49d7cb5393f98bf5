#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/emulated_gpu/hip/architecture.h"

namespace emulated_gpu::hip {

struct DisassembledInstruction {
    uint64_t address = 0;
    uint32_t bytes = 0;
    std::string text;  // empty: no instruction of this processor
};

/// The instructions of `code`, which begins at `address`, as the processor reads them. What it cannot read takes four
/// bytes and has no text. Throws std::runtime_error for a processor that LLVM does not know.
std::vector<DisassembledInstruction> disassemble(std::span<const uint8_t> code, uint64_t address,
                                                 const Architecture& architecture);

struct SourceLine {
    std::string file;
    int line = 0;  // 0: unknown
};

/// The source lines of the given addresses, from the code object's DWARF line table.
std::vector<SourceLine> find_source_lines(std::span<const uint8_t> object, const std::vector<uint64_t>& addresses);

}  // namespace emulated_gpu::hip
