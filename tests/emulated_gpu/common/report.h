#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace emulated_gpu {

/// What a check found. The first block are faults of real hardware, the second what hardware lets pass in silence.
enum class FaultKind : uint8_t {
    IllegalAddress,
    MisalignedAddress,
    Trap,
    AssertFailed,
    Runaway,

    UninitialisedRegister,
    UninitialisedShared,
    SharedRace,
    GlobalRace,
    AsyncCopyNotWaitedFor,
    MissingFence,
    BadDescriptor,
    RegisterNotWaitedFor,
    DivergentBarrier,
    BarrierMisuse,
    Deadlock,
};
const char* fault_name(FaultKind kind);

/// Thrown where an instruction goes wrong; the interpreter adds the place.
struct Fault {
    FaultKind kind;
    std::string message;
    int lane = -1;  // the lane at fault; -1: the warp
};

/// A fault with its place.
struct Report {
    FaultKind kind = FaultKind::Trap;
    std::string message;
    std::string kernel;
    std::array<uint32_t, 3> block{};
    std::array<uint32_t, 3> thread{};
    bool has_thread = false;
    int wave = -1;  // AMD: the wave and its lane, where known
    int lane = -1;
    std::string instruction;
    int ptx_line = 0;           // NVIDIA
    uint64_t code_address = 0;  // AMD: in the code object
    std::string source_file;
    int source_line = 0;

    /// Whether the instruction is known.
    bool has_place() const { return (ptx_line > 0 || code_address > 0) && !instruction.empty(); }
    /// One line for people: `kernel k, block (0,0,0), thread (3,0,0), ptx line 12 (ld.shared.u32), file.cu:7: ...`.
    std::string text() const;
    std::string json() const;
};

/// As in "0x1d00".
std::string hexadecimal(uint64_t value);
/// `text` with quotes, backslashes and control characters escaped as JSON wants.
std::string json_string(const std::string& text);

}  // namespace emulated_gpu
