#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "tests/emulated_gpu/common/report.h"
#include "tests/emulated_gpu/common/shared_shadow.h"
#include "tests/emulated_gpu/cuda/counters.h"
#include "tests/emulated_gpu/cuda/program.h"

namespace emulated_gpu {

inline constexpr int kLanes = 32;
inline constexpr uint32_t kAllLanes = 0xffffffffU;

/// Calls `visit(lane)` for each lane of the mask; a plain loop where all run, which compilers vectorise.
template <class Visit>
inline void for_lanes(uint32_t mask, Visit&& visit) {
    if (mask == kAllLanes) {
        for (int lane = 0; lane < kLanes; ++lane) visit(lane);
        return;
    }
    for (; mask != 0; mask &= mask - 1) visit(std::countr_zero(mask));
}

/// The registers of one activation of a function, for all lanes of a warp.
struct Frame {
    const LoadedFunction* function = nullptr;
    std::vector<uint64_t> registers;    // [slot][lane]; values are zero-extended from the register's width
    std::vector<uint32_t> initialised;  // [slot]: lanes
    std::shared_ptr<Frame> parent;
    uint32_t return_pc = 0;
    uint32_t depth = 0;
    uint64_t local_base = 0;  // of its local memory, in each lane's

    uint64_t* lanes(uint32_t slot) { return registers.data() + static_cast<size_t>(slot) * kLanes; }
};

/// Lanes of a warp that run together.
struct Group {
    enum class State : uint8_t { Runs, AwaitsLanes, AwaitsBarrier };
    std::shared_ptr<Frame> frame;
    uint32_t pc = 0;
    uint32_t mask = 0;
    State state = State::Runs;
    uint32_t awaited = 0;  // AwaitsLanes: the lanes that have to arrive
    uint32_t barrier = 0;  // AwaitsBarrier: which
    uint32_t back_jumps = 0;
    uint32_t apart = 0;  // groups that differ here do not merge: their lanes named different member masks
};

/// A cp.async of one lane that has not landed.
struct AsyncCopy {
    int lane = 0;
    uint32_t commit_group = 0;
    uint64_t destination = 0;
    uint64_t source = 0;
    uint32_t bytes = 0;
    uint32_t source_bytes = 0;  // the rest is zeros
    int line = 0;
};

struct Warp {
    uint32_t index = 0;
    uint32_t alive = 0;
    std::vector<Group> groups;
    VectorClock clock{};
    VectorClock fenced{};    // the clock at the last fence: what a relaxed write publishes
    VectorClock observed{};  // what relaxed reads saw published: known from the next fence on
    std::vector<AsyncCopy> copies;
    std::array<uint32_t, kLanes> committed{};  // commit groups so far, by lane
    std::vector<uint8_t> local;                // [lane][local_stride]
    std::vector<uint8_t> local_written;        // likewise
    uint64_t local_stride = 0;

    bool finished() const { return alive == 0; }
};

/// One of a block's 16 barriers.
struct Barrier {
    uint32_t expected = 0;  // thread slots; 0: all threads of the block that have not exited
    uint32_t arrived_threads = 0;
    uint32_t arrived_slots = 0;  // a whole warp counts 32, however many threads it has
    bool in_use = false;
    uint32_t counted = 0;  // bar.red: predicates that held
    VectorClock clock{};
    std::string first_arrival;  // for messages
};
inline constexpr uint32_t kBarriers = 16;

struct LaunchShape {
    std::array<uint32_t, 3> grid{1, 1, 1};
    std::array<uint32_t, 3> block{1, 1, 1};
    uint64_t dynamic_shared_bytes = 0;
    std::vector<uint8_t> parameters;
};

/// How to run and what to check.
struct Options {
    uint64_t instruction_budget = uint64_t{1} << 34;  // warp instructions of a launch
    bool check_shared = true;                         // races, initialisation, copies in flight
    bool check_registers = true;
    bool shuffle = false;  // run warps in an order and for times drawn by `seed`
    uint64_t seed = 0;
    uint32_t resident_blocks = 16;  // that run side by side
};

struct Launch;

struct Block {
    Launch& launch;
    std::array<uint32_t, 3> index{};
    std::vector<Warp> warps;
    std::vector<uint8_t> shared;
    std::unique_ptr<SharedShadow> shadow;
    std::array<Barrier, kBarriers> barriers;
    uint32_t alive_threads = 0;
    std::map<uint64_t, VectorClock> published;  // by generic address: what relaxed writes published there

    explicit Block(Launch& owner) : launch(owner) {}
};

struct Launch {
    const LoadedKernel& kernel;
    const LaunchShape& shape;
    DeviceMemory& memory;
    const Options& options;
    Counters counters;
    uint64_t executed = 0;
    const Allocation* recent = nullptr;  // the allocation used last
    std::function<void(const std::string&)> print;
};

/// All an instruction's handler needs.
struct Step {
    Launch& launch;
    Block& block;
    Warp& warp;
    Group& group;
    Frame& frame;
    const Op& op;
    uint32_t mask = 0;  // lanes of the group whose guard holds

    const uint64_t* source(size_t index) const { return frame.lanes(op.sources[index]); }
    uint64_t* result(size_t index = 0) const { return frame.lanes(op.results[index]); }
    uint32_t ready(size_t index) const { return frame.initialised[op.sources[index]]; }
    void mark(size_t result_index, uint32_t ready_lanes) const {
        uint32_t& bits = frame.initialised[op.results[result_index]];
        bits = (bits & ~mask) | (ready_lanes & mask);
    }
    int line() const { return op.instruction->position.line; }
};

/// A frame for `function`; constants and special registers are filled in. Grows the warp's local memory to hold it.
std::shared_ptr<Frame> make_frame(Block& block, Warp& warp, const LoadedFunction& function,
                                  const std::shared_ptr<Frame>& parent);

/// True if all `wanted` lanes that have not exited are in the group; else the group now waits for them.
bool gathered(Step& step, uint32_t wanted);
/// Ends the lanes of step.mask.
void exit_lanes(Step& step, uint32_t lanes);
/// Lands copies of the given lanes that belong to commit groups older than the `keep` newest; all if `keep` is none.
void land_copies(Step& step, uint32_t lanes, std::optional<uint32_t> keep);
/// Completes each barrier whose expected threads have all arrived.
void complete_barriers(Block& block);
/// A memory fence of the warp.
void fence(Warp& warp);
/// Keeps the lanes of step.mask in the group; the others go on behind this instruction in a group of their own.
void leave_others_behind(Step& step);

struct LaunchResult {
    Counters counters;
    std::optional<Report> report;
};

/// Runs one launch to its end or its first fault. `print` receives what the kernel prints.
LaunchResult run_kernel(const LoadedKernel& kernel, const LaunchShape& shape, DeviceMemory& memory,
                        const Options& options, std::function<void(const std::string&)> print);

}  // namespace emulated_gpu
