#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/emulated_gpu/common/device_memory.h"
#include "tests/emulated_gpu/hip/code_object.h"
#include "tests/emulated_gpu/hip/counters.h"
#include "tests/emulated_gpu/hip/instruction.h"

namespace emulated_gpu::hip {

inline constexpr uint32_t kLanes = 64;
inline constexpr uint64_t kAllLanes = ~uint64_t{0};

/// What an operand's bits mean: modifiers and constants depend on it.
enum class ValueType : uint8_t { B16, F16, B32, F32, B64, F64, PackedB16, PackedF16, PackedF32, Wide };
inline bool is_float(ValueType type) {
    return type == ValueType::F16 || type == ValueType::F32 || type == ValueType::F64 || type == ValueType::PackedF16 ||
           type == ValueType::PackedF32;
}

/// Parts of a register that SDWA selects.
enum class Part : uint8_t { Byte0, Byte1, Byte2, Byte3, Word0, Word1, Dword };

struct Source {
    enum class Kind : uint8_t { Vector, Scalar, Constant };
    Kind kind = Kind::Constant;
    ValueType type = ValueType::B32;
    bool plain = true;  // none of what follows `index` applies
    uint16_t index = 0;
    uint64_t constant = 0;
    bool negate = false;
    bool absolute = false;
    bool sign_extend = false;
    bool permuted = false;  // DPP
    Part part = Part::Dword;
    bool high_half = false;      // op_sel: a 16-bit value is in the upper half
    bool low_from_high = false;  // packed: which half each half of the result reads
    bool high_from_high = true;
    bool negate_low = false;
    bool negate_high = false;
};

struct Result {
    enum class Kind : uint8_t { None, Vector, Scalar };
    Kind kind = Kind::None;
    ValueType type = ValueType::B32;
    uint16_t index = 0;
    uint8_t registers = 1;
};

/// Registers an instruction reads or writes, for the check of wait counts.
struct Touch {
    bool vector = false;
    bool writes = false;
    uint16_t first = 0;
    uint16_t count = 0;
};

/// The lanes a DPP operand comes from, -1: none, and the lanes that take part.
struct LanePermutation {
    std::array<int8_t, kLanes> from{};
    uint64_t enabled = kAllLanes;  // by row_mask and bank_mask
    bool zero_outside = false;     // bound_ctrl
    bool reads_inactive = false;   // fi
};

struct Step;
using Handler = void (*)(Step&);

/// A decoded instruction.
struct Op {
    Handler run = nullptr;
    std::array<Source, 5> sources;
    uint8_t source_count = 0;
    Result result;
    Result scalar_result;  // the carry of v_add_co_u32, ...
    bool plain_result = true;
    bool clamp = false;
    int8_t output_exponent = 0;   // omod: the result times 2^this
    bool preserves_high = false;  // a 16-bit result leaves the register's upper half alone
    bool high_half = false;       // op_sel: it goes into the upper half
    Part result_part = Part::Dword;
    uint8_t unused_part = 0;  // SDWA: 0 zeros, 1 sign-extends, 2 keeps what the result leaves
    std::shared_ptr<LanePermutation> permutation;
    InstructionClass klass = InstructionClass::Scalar;
    bool needs_lanes = false;  // works by EXEC, and is passed over without lanes
    int64_t immediate = 0;     // offset, jump distance, ...
    uint64_t detail = 0;       // the family's own
    uint32_t bytes = 0;        // memory: of each lane
    uint32_t target = 0;       // branches: index of an op
    uint32_t index = 0;        // its own
    std::array<Touch, 12> touches;
    uint8_t touch_count = 0;
    const Instruction* instruction = nullptr;
    std::shared_ptr<std::array<Op, 2>> halves;  // of a dual instruction
};

inline constexpr uint32_t kNoOp = ~uint32_t{0};

/// A code object in a device's memory.
struct LoadedModule {
    CodeObject object;
    DeviceMemory* memory = nullptr;
    uint64_t base = 0;  // device address of the image's byte 0
    std::vector<Instruction> instructions;
    std::vector<Op> ops;
    std::vector<uint32_t> op_at;  // by (address - first address) / 4; kNoOp: none begins there
    uint64_t first_address = 0;

    ~LoadedModule();
    uint32_t wave_lanes() const { return object.architecture.wave_lanes; }
    /// The op at an address of the code object, or kNoOp.
    uint32_t find_op(uint64_t address) const {
        const uint64_t slot = (address - first_address) / 4;
        return address < first_address || slot >= op_at.size() || address % 4 != 0 ? kNoOp : op_at[slot];
    }
};

/// Loads a code object for `processor` into `memory`. Throws LoadError naming each instruction that is not modelled.
std::unique_ptr<LoadedModule> load_module(std::span<const uint8_t> image, DeviceMemory& memory,
                                          const std::string& processor);

}  // namespace emulated_gpu::hip
