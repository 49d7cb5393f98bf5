#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/emulated_gpu/common/device_memory.h"
#include "tests/emulated_gpu/common/numeric.h"
#include "tests/emulated_gpu/cuda/counters.h"
#include "tests/emulated_gpu/cuda/ptx_module.h"

namespace emulated_gpu {

struct Step;
struct LoadedFunction;

/// Where the group stands after an instruction.
enum class Flow : uint8_t {
    Next,     // at the following instruction
    Jumped,   // the handler has set where
    Blocked,  // still at this instruction; it waits
};
using Handler = Flow (*)(Step&);

/// How a float instruction rounds and clamps.
struct FloatMode {
    Rounding rounding = Rounding::NearestEven;
    bool flush = false;
    bool saturate = false;
    bool relu = false;
    bool propagate_nan = false;
    bool xor_sign = false;
    bool finite = false;
};

enum class Compare : uint8_t {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    Num,
    Nan,
};
enum class Combine : uint8_t { None, And, Or, Xor };

/// A matrix product's shape and element types.
struct MatrixShape {
    int m = 0, n = 0, k = 0;
    Type a = Type::None, b = Type::None, c = Type::None, d = Type::None;
    bool saturate = false;
    bool xor_popc = false;  // b1: .xor.popc rather than .and.popc
    // wgmma:
    bool a_in_registers = false;
    bool negates_a = false, negates_b = false;
    bool transposes_a = false, transposes_b = false;  // in shared memory, M- or N-major rather than K-major
};

inline constexpr size_t kMostResults = 8;
inline constexpr size_t kMostSources = 20;

/// One decoded instruction. Operands are slots of the frame: registers, constants and special registers alike.
struct Op {
    Handler run = nullptr;
    const Instruction* instruction = nullptr;
    InstructionClass klass = InstructionClass::Integer;
    int guard = -1;  // slot, or -1
    bool guard_negated = false;
    uint8_t result_count = 0;
    uint8_t source_count = 0;
    std::array<uint32_t, kMostResults> results{};
    std::array<uint32_t, kMostSources> sources{};
    uint32_t strict = 0;       // sources (bits) that have to be initialised where this runs
    bool keeps_track = true;   // results are initialised where all sources are; false: the handler says which
    uint32_t negated = 0;      // predicate sources (bits) read inverted
    uint8_t result_bits = 32;  // width of the (first) destination register

    FloatMode mode;
    Compare compare = Compare::Eq;
    Combine combine = Combine::None;
    Type type = Type::None;   // of the operation
    Type other = Type::None;  // the source type of conversions and the like
    MatrixShape matrix;

    Space space = Space::Generic;
    uint8_t element_bytes = 0;
    uint8_t elements = 1;          // of a vector, or matrices of ldmatrix
    bool may_time_out = false;     // a wait that may give up
    bool flag = false;             // a variant the handler knows (.trans, .wide, .left, ...)
    int64_t offset = 0;            // bytes added to the address
    std::vector<int64_t> offsets;  // where there are several addresses
    uint64_t detail = 0;           // an immediate the handler knows
    int target = -1;               // of a branch
    std::vector<int> targets;
    std::vector<uint32_t> accumulators;  // of wgmma: the slots of D
    const LoadedFunction* callee = nullptr;
    std::vector<std::array<uint32_t, 3>>
        copies_in;  // of a call: offset in the caller's local memory, in the callee's, bytes
    std::vector<std::array<uint32_t, 3>> copies_out;
};

/// Registers whose value the machine provides.
enum class SpecialRegister : uint8_t {
    TidX,
    TidY,
    TidZ,
    NtidX,
    NtidY,
    NtidZ,
    CtaidX,
    CtaidY,
    CtaidZ,
    NctaidX,
    NctaidY,
    NctaidZ,
    LaneId,
    WarpId,
    NwarpId,
    SmId,
    NsmId,
    GridId,
    LanemaskEq,
    LanemaskLe,
    LanemaskLt,
    LanemaskGe,
    LanemaskGt,
    TotalSharedSize,
    DynamicSharedSize,
    ClusterCtaidX,
    ClusterCtaidY,
    ClusterCtaidZ,
    ClusterNctaidX,
    ClusterNctaidY,
    ClusterNctaidZ,
    ClusterIdX,
    ClusterIdY,
    ClusterIdZ,
    NclusterIdX,
    NclusterIdY,
    NclusterIdZ,
    ClusterCtarank,
    ClusterNctarank,
    IsExplicitCluster,
    Zero,
};

struct Placed {
    uint64_t offset = 0;
    uint64_t bytes = 0;
};

/// A function ready to run.
struct LoadedFunction {
    const Function* source = nullptr;
    std::vector<Op> ops;
    uint32_t slot_count = 0;
    std::vector<uint8_t> slot_bits;
    std::vector<std::pair<uint32_t, uint64_t>> constants;        // slot, bits
    std::vector<std::pair<uint32_t, SpecialRegister>> specials;  // slot, which
    std::vector<std::pair<uint32_t, uint64_t>> local_addresses;  // slot, offset into the frame's local memory
    uint32_t sink = 0;                                           // results that nobody wants
    uint32_t carry = 0;                                          // the condition code of add.cc
    bool uses_wgmma = false;
    bool uses_async_reads = false;             // of shared memory: wgmma and bulk copies
    std::map<std::string, Placed> locals;      // .local and .param variables, parameters of functions
    std::map<std::string, Placed> parameters;  // of an entry, in its parameter buffer
    uint64_t local_bytes = 0;
    uint64_t parameter_bytes = 0;
};

/// One entry of a module with every function it may reach.
struct LoadedKernel {
    std::string name;
    const Module* module = nullptr;
    const LoadedFunction* entry = nullptr;
    std::map<std::string, std::unique_ptr<LoadedFunction>> functions;
    std::map<std::string, uint64_t> shared_offsets;
    uint64_t static_shared_bytes = 0;
    uint64_t dynamic_shared_offset = 0;
    std::array<uint32_t, 3> required_threads{};
    std::array<uint32_t, 3> maximum_threads{};
    std::array<uint32_t, 3> required_cluster{};  // .reqnctapercluster, or zero
    bool explicit_cluster = false;
    bool uses_async_reads = false;
    uint32_t minimum_blocks = 0;  // of a multiprocessor: .minnctapersm, or zero
    uint32_t registers = 0;       // of each thread: .maxnreg, or zero
};

/// A module on a device: its variables have addresses and its kernels are decoded.
struct LoadedModule {
    std::unique_ptr<Module> module;
    std::map<std::string, Placed> variables;  // .global and .const: device address and size
    std::map<std::string, std::unique_ptr<LoadedKernel>> kernels;
};

/// The module is for a device with more than this one has.
class WrongTarget : public PtxError {
public:
    using PtxError::PtxError;
};

/// Loads a module: places its variables in `memory` and decodes all kernels. Throws PtxError at what is malformed and
/// at instructions, modifiers and symbols that are not emulated, each by name and line.
std::unique_ptr<LoadedModule> load_module(std::string_view ptx, DeviceMemory& memory, int capability);

}  // namespace emulated_gpu
