#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/emulated_gpu/hip/disassembler.h"

namespace emulated_gpu::hip {

/// Numbers of scalar registers are those of the instruction encodings.
inline constexpr uint32_t kFlatScratch = 102;
inline constexpr uint32_t kXnackMask = 104;
inline constexpr uint32_t kVcc = 106;
inline constexpr uint32_t kTrapRegisters = 108;
inline constexpr uint32_t kM0 = 124;
inline constexpr uint32_t kExec = 126;
/// What is written to null is not read: reading null gives 0.
inline constexpr uint32_t kNull = 128;
inline constexpr uint32_t kScalarRegisters = 130;
/// Vector registers 0 to 255, then accumulation registers.
inline constexpr uint32_t kAccumulators = 256;
inline constexpr uint32_t kVectorRegisters = 512;
/// Holds the result of the first half of a dual instruction until the second has read its operands.
inline constexpr uint32_t kDualResult = kVectorRegisters;
inline constexpr uint32_t kHeldVectorRegisters = kVectorRegisters + 1;

struct Operand {
    enum class Kind : uint8_t { Vector, Scalar, Integer, Float, Aperture, Off, Name };
    Kind kind = Kind::Name;
    uint32_t index = 0;  // registers: the first
    uint32_t count = 1;  // registers: how many
    int64_t integer = 0;
    bool literal = false;  // integer: spelt in hexadecimal, that is, no inline constant
    double real = 0;
    bool negate = false;
    bool absolute = false;
    bool sign_extend = false;  // sext(...)
    bool high_half = false;    // v1.h
    std::string text;
};

/// An instruction, taken apart from its text.
struct Instruction {
    uint64_t address = 0;  // in the code object
    uint32_t bytes = 4;
    std::string text;
    std::string mnemonic;  // without _e32, _e64, _dpp and _sdwa; "v_dual": see `halves`
    bool dpp = false;
    bool sdwa = false;
    std::vector<Operand> operands;
    std::map<std::string, std::string> modifiers;  // "offset" -> "16", "clamp" -> ""
    SourceLine source;
    std::vector<Instruction> halves;  // the two instructions of a dual one, named without "dual_"
};

Instruction parse_instruction(const DisassembledInstruction& disassembled);

/// The value of "12", "-3" or "0x1f"; false if `text` is no such number.
bool parse_integer(const std::string& text, int64_t& value);
/// The values of "[1,0,1]".
std::vector<int64_t> parse_list(const std::string& text);

}  // namespace emulated_gpu::hip
