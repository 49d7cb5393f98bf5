#pragma once

#include <array>
#include <bit>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "tests/emulated_gpu/common/report.h"
#include "tests/emulated_gpu/common/shared_shadow.h"
#include "tests/emulated_gpu/hip/program.h"

namespace emulated_gpu::hip {

/// Upper halves of the addresses at which generic pointers reach LDS and private memory.
inline constexpr uint64_t kLdsAperture = uint64_t{1} << 48;
inline constexpr uint64_t kPrivateAperture = uint64_t{2} << 48;
/// Base of the private memory of whichever wave asks, for buffer descriptors and flat_scratch.
inline constexpr uint64_t kScratchWindow = 0x0000'3000'0000'0000;
inline constexpr uint64_t kApertureBytes = uint64_t{1} << 32;

struct alignas(64) Lanes32 {
    uint32_t at[kLanes];
};
struct alignas(64) Lanes64 {
    uint64_t at[kLanes];
};

/// A stretch of LDS.
struct LdsRange {
    uint32_t offset = 0;
    uint32_t bytes = 0;
    bool write = false;
};

/// A direct-to-LDS copy of one lane that has not landed.
struct LdsCopy {
    uint32_t lane = 0;
    uint32_t offset = 0;
    uint64_t address = 0;  // in global memory
    uint32_t bytes = 0;
    bool zeros = false;  // out of the buffer's range
};

/// A memory instruction under way.
struct Pending {
    enum class Kind : uint8_t { VectorMemory, VectorStore, Lds, ScalarMemory };
    Kind kind = Kind::VectorMemory;
    const Op* op = nullptr;
    uint32_t sequence = 0;
    uint16_t first = 0;  // the registers it will write
    uint16_t count = 0;
    bool vector = true;
    std::vector<LdsRange> ranges;  // of LDS, touched by LDS instructions
    std::vector<LdsCopy> copies;
};

enum class WaveState : uint8_t { Runs, AtBarrier, Ended };

struct Wave {
    uint32_t index = 0;
    WaveState state = WaveState::Runs;
    uint32_t pc = 0;                 // index of the next op
    uint64_t all_lanes = kAllLanes;  // as many as a wave has
    uint64_t launched_lanes = 0;
    FloatMode mode;
    bool special_mode = false;  // anything but nearest-even without flushing
    bool scc = false;
    bool scc_known = false;
    std::array<uint32_t, kScalarRegisters> scalar{};
    std::array<uint32_t, kScalarRegisters> scalar_known{};  // by bit: initialised
    std::unique_ptr<Lanes32[]> vector;
    std::array<uint64_t, kHeldVectorRegisters> vector_known{};  // by lane: initialised
    std::vector<uint8_t> scratch;                               // private memory, [dword][lane]

    std::deque<Pending> vector_memory;  // counted by vmcnt or loadcnt
    std::deque<Pending> stores;         // counted by vscnt or storecnt, which CDNA lacks
    std::deque<Pending> other_memory;   // counted by lgkmcnt, or by dscnt and kmcnt
    uint32_t next_sequence = 1;
    uint32_t registers_awaited = 0;  // how many of the following are not 0
    std::array<uint32_t, kVectorRegisters> vector_awaits{};
    std::array<uint32_t, kScalarRegisters> scalar_awaits{};

    VectorClock clock{};
    bool signalled = false;      // has arrived at the barrier
    bool released = false;       // all have, and this wave has not waited for it yet
    VectorClock signal_clock{};  // what it knew when it arrived
    VectorClock release_clock{};
    uint8_t relative = 0;  // s_set_gpr_idx: which operands' registers M0 moves; bits 0 to 2: sources, 3: the result
    const Op* partial_barrier = nullptr;  // the last barrier, if not all lanes were active there,
    uint64_t barrier_lanes = 0;           // and those that were

    uint64_t lanes_of = 0;  // what `lane_mask` was made for
    Lanes32 lane_mask{};    // all bits set where the lane is active

    uint64_t pair(uint32_t index) const { return scalar[index] | uint64_t{scalar[index + 1]} << 32; }
    uint64_t exec() const { return pair(kExec) & all_lanes; }
    bool pair_known(uint32_t index) const { return (scalar_known[index] & scalar_known[index + 1]) == ~0U; }
    void set_scalar(uint32_t index, uint32_t value, uint32_t known = ~0U) {
        scalar[index] = value;
        scalar_known[index] = known;
    }
    void set_pair(uint32_t index, uint64_t value, uint64_t known = ~uint64_t{0}) {
        set_scalar(index, static_cast<uint32_t>(value), static_cast<uint32_t>(known));
        set_scalar(index + 1, static_cast<uint32_t>(value >> 32), static_cast<uint32_t>(known >> 32));
    }
};

struct LaunchShape {
    std::array<uint32_t, 3> grid{1, 1, 1};
    std::array<uint32_t, 3> workgroup{1, 1, 1};
    uint32_t dynamic_lds_bytes = 0;
    std::vector<uint8_t> arguments;  // the explicit ones, as the kernel's metadata lays them out
};

/// How to run and what to check.
struct Options {
    uint64_t instruction_budget = uint64_t{1} << 34;  // wave instructions of a launch
    bool check_lds = true;                            // races, initialisation, copies in flight
    bool check_registers = true;                      // initialisation
    bool shuffle = false;  // run waves in an order and for times drawn by `seed`, and land copies at random
    uint64_t seed = 0;
    uint32_t resident_workgroups = 16;  // that run side by side
};

struct Launch;

struct Workgroup {
    Launch& launch;
    std::array<uint32_t, 3> index{};
    std::vector<Wave> waves;
    std::vector<uint8_t> lds;
    std::unique_ptr<SharedShadow> shadow;

    explicit Workgroup(Launch& owner) : launch(owner) {}
};

struct Launch {
    const LoadedModule& module;
    const KernelDescription& kernel;
    const LaunchShape& shape;
    DeviceMemory& memory;
    const Options& options;
    Counters counters;
    uint64_t executed = 0;
    const Allocation* recent = nullptr;  // the allocation used last
    uint64_t arguments_address = 0;
    uint64_t packet_address = 0;
    uint64_t queue_address = 0;
    uint64_t random_state = 0;   // for timing
    uint32_t private_bytes = 0;  // of each lane

    uint64_t random();
};

/// All an instruction's handler needs.
struct Step {
    Launch& launch;
    Workgroup& group;
    Wave& wave;
    const Op& op;
    uint64_t exec = 0;
    bool jumped = false;  // the handler has set wave.pc

    /// The register's 64 values; the broadcast of a scalar or a constant is put into `room`. `part` counts registers.
    const uint32_t* words(size_t source, Lanes32& room, uint32_t part = 0) const {
        const Source& from = op.sources[source];
        const uint32_t* raw = raw_words(from, room, part);
        return from.plain && !wave.special_mode ? raw : modified(from, raw, room);
    }
    const uint64_t* double_words(size_t source, Lanes64& room) const;
    /// Without modifiers.
    const uint32_t* raw_words(const Source& from, Lanes32& room, uint32_t part = 0) const {
        if (from.kind == Source::Kind::Vector) return wave.vector[from.index + part].at;
        const uint32_t value = from.kind == Source::Kind::Scalar ? wave.scalar[from.index + part]
                                                                 : static_cast<uint32_t>(from.constant >> (32 * part));
        for (uint32_t& lane : room.at) lane = value;
        return room.at;
    }
    /// The lanes in which the source is initialised: `registers` of it from register `part` on.
    uint64_t known(size_t source, uint32_t registers = 1, uint32_t part = 0) const;
    uint64_t all_known() const;
    /// The lanes in which the low word of every source is initialised.
    uint64_t low_words_known() const;

    /// Writes active lanes of the result; `room` may be changed by clamping and the like.
    void put(Lanes32& room, uint64_t known_lanes, uint32_t part = 0) const;
    void put_double(Lanes64& room, uint64_t known_lanes) const { put_double(room, known_lanes, known_lanes); }
    /// The same where the low word is known in other lanes than the high one.
    void put_double(Lanes64& room, uint64_t low_known, uint64_t high_known) const;
    /// Writes active lanes of a vector register as they are.
    void put_raw(uint32_t index, const uint32_t* values, uint64_t known_lanes) const;
    /// Writes a mask of lanes to the scalar result: bits of inactive lanes are 0.
    void put_mask(const Result& result, uint64_t mask, uint64_t known_lanes) const;

    uint64_t scalar(size_t source) const {
        const Source& from = op.sources[source];
        if (from.kind == Source::Kind::Constant) return from.constant;
        return from.type == ValueType::B64 || from.type == ValueType::F64 ? wave.pair(from.index)
                                                                          : wave.scalar[from.index];
    }
    uint64_t scalar_known(size_t source) const {
        const Source& from = op.sources[source];
        if (from.kind == Source::Kind::Constant) return kAllLanes;
        const uint64_t low = wave.scalar_known[from.index];
        const bool is_pair = from.type == ValueType::B64 || from.type == ValueType::F64;
        return is_pair ? low | uint64_t{wave.scalar_known[from.index + 1]} << 32 : low | ~uint64_t{0} << 32;
    }
    /// A scalar that a check depends on, such as an address. Throws Fault if it is not initialised.
    uint64_t strict_scalar(size_t source, const char* use) const;
    void require_known(uint64_t known_lanes, const char* use) const;

    const uint32_t* lane_mask() const;
    uint32_t lanes() const { return launch.module.wave_lanes(); }
    int line() const { return static_cast<int>(op.instruction->address); }

private:
    const uint32_t* modified(const Source& from, const uint32_t* raw, Lanes32& room) const;
};

/// Calls `body(lane)` for each bit of `mask`.
template <class Body>
inline void for_lanes(uint64_t mask, Body body) {
    for (; mask != 0; mask &= mask - 1) body(static_cast<uint32_t>(std::countr_zero(mask)));
}

/// Notes a memory instruction under way; the oldest complete when the counter is full.
void issue(Step& step, Pending pending);
/// How many memory instructions of each kind may stay under way.
struct WaitCounts {
    static constexpr uint16_t kAny = 0xffff;
    uint16_t loads = kAny;  // of vector memory; CDNA: stores too
    uint16_t stores = kAny;
    uint16_t lds = kAny;
    uint16_t scalar = kAny;
};
/// Completes what the counters guarantee complete.
void wait_for(Step& step, const WaitCounts& counts);
/// The wave arrives at its workgroup's barrier.
void signal_barrier(Step& step);
/// The wave takes what the others knew when they arrived.
void pass_barrier(Wave& wave);
/// Throws Fault if the instruction touches a register that a memory instruction is about to write.
void check_awaited(const Step& step);

struct LaunchResult {
    Counters counters;
    std::optional<Report> report;
};

/// Runs one launch to its end or its first fault.
LaunchResult run_kernel(const LoadedModule& module, const KernelDescription& kernel, const LaunchShape& shape,
                        DeviceMemory& memory, const Options& options);

}  // namespace emulated_gpu::hip
