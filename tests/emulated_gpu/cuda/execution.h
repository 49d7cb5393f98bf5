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
#include "tests/emulated_gpu/cuda/async_state.h"
#include "tests/emulated_gpu/cuda/counters.h"
#include "tests/emulated_gpu/cuda/global_races.h"
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
    std::vector<uint8_t> in_flight;     // [slot]: kReadInFlight, kAccumulates; only of functions that use wgmma
    std::vector<uint8_t> unfenced;      // [slot]: written since the last wgmma.fence; likewise
    std::shared_ptr<Frame> parent;
    uint32_t return_pc = 0;
    uint32_t depth = 0;
    uint64_t local_base = 0;  // of its local memory, in each lane's

    uint64_t* lanes(uint32_t slot) { return registers.data() + static_cast<size_t>(slot) * kLanes; }
};
/// What wgmma instructions under way do with a register.
inline constexpr uint8_t kReadInFlight = 1;
inline constexpr uint8_t kAccumulates = 2;

/// Lanes of a warp that run together.
struct Group {
    enum class State : uint8_t { Runs, AwaitsLanes, AwaitsBarrier, AwaitsEvent };
    std::shared_ptr<Frame> frame;
    uint32_t pc = 0;
    uint32_t mask = 0;
    State state = State::Runs;
    uint32_t awaited = 0;    // AwaitsLanes: the lanes that have to arrive
    uint32_t barrier = 0;    // AwaitsBarrier: which
    uint64_t seen = 0;       // AwaitsEvent: the cluster's events when it began to wait
    bool timed_out = false;  // a wait that may give up has waited for long
    uint32_t back_jumps = 0;
    uint32_t apart = 0;  // groups that differ here do not merge: their lanes named different member masks
};

/// A cp.async of one lane that has not landed.
struct AsyncCopy {
    int lane = 0;
    uint32_t number = 0;  // of the warp's copies
    uint32_t commit_group = 0;
    uint64_t destination = 0;
    uint64_t source = 0;
    uint32_t bytes = 0;
    uint32_t source_bytes = 0;  // the rest is zeros
    int line = 0;
};

struct Warp {
    uint32_t index = 0;
    uint32_t agent = 0;  // in the clocks of its cluster
    uint32_t alive = 0;
    std::vector<Group> groups;
    VectorClock clock;
    VectorClock proxied;            // the events that a fence has made known to the async proxy
    uint64_t block_number = 0;      // in the grid
    VectorClock* global = nullptr;  // what its block knows of other blocks, where races between them are checked
    Knowledge fenced;               // at the last fence: what a relaxed write publishes
    Knowledge observed;             // what relaxed reads saw published: known from the next fence on
    std::vector<AsyncCopy> copies;
    uint32_t copies_issued = 0;
    std::array<uint32_t, kLanes> committed{};  // commit groups so far, by lane
    BulkStores bulk_stores;
    WarpProducts products;
    uint32_t cluster_arrived = 0;  // lanes that have arrived at the cluster's barrier and not yet waited
    std::array<uint64_t, kLanes> cluster_phase{};  // the phase in which each did
    uint32_t most_registers = 0;                   // of each thread, by setmaxnreg
    std::vector<uint8_t> local;                    // [lane][local_stride]
    std::vector<uint8_t> local_written;            // likewise
    uint64_t local_stride = 0;

    bool finished() const { return alive == 0; }
    void learn(const Knowledge& knowledge) {
        clock.join(knowledge.events);
        proxied.join(knowledge.proxied);
        if (global != nullptr) global->join(knowledge.global);
    }
};

/// One of a block's 16 barriers.
struct Barrier {
    uint32_t expected = 0;  // thread slots; 0: all threads of the block that have not exited
    uint32_t arrived_threads = 0;
    uint32_t arrived_slots = 0;  // a whole warp counts 32, however many threads it has
    bool in_use = false;
    uint32_t counted = 0;  // bar.red: predicates that held
    Knowledge known;
    std::string first_arrival;  // for messages
};
inline constexpr uint32_t kBarriers = 16;

struct LaunchShape {
    std::array<uint32_t, 3> grid{1, 1, 1};
    std::array<uint32_t, 3> block{1, 1, 1};
    uint64_t dynamic_shared_bytes = 0;
    std::vector<uint8_t> parameters;
    std::array<uint32_t, 3> cluster{1, 1, 1};  // blocks of a cluster
    bool in_clusters = false;                  // the launch or the kernel says so
};

/// How to run and what to check.
struct Options {
    uint64_t instruction_budget = uint64_t{1} << 34;  // warp instructions of a launch
    bool check_shared = true;                         // races, initialisation, copies in flight
    bool check_registers = true;
    bool check_global = false;  // races between blocks
    bool shuffle = false;       // run warps in an order and for times drawn by `seed`
    uint64_t seed = 0;
    uint32_t resident_blocks = 16;  // that run side by side
};

struct Launch;
struct Cluster;

struct Block {
    Launch& launch;
    Cluster& cluster;
    uint32_t rank = 0;  // in its cluster
    std::array<uint32_t, 3> index{};
    std::vector<Warp> warps;
    std::vector<uint8_t> shared;
    std::unique_ptr<SharedShadow> shadow;
    std::array<Barrier, kBarriers> barriers;
    uint32_t alive_threads = 0;
    std::map<uint64_t, MemoryBarrier> memory_barriers;  // by offset in shared memory
    std::vector<BulkLoad> bulk_loads;                   // on their way to this block's shared memory
    uint64_t number = 0;                                // in the grid
    VectorClock global_clock;                           // of blocks, by these numbers
    uint32_t free_registers = 0;                        // for setmaxnreg
    bool ended = false;

    Block(Launch& owner, Cluster& home) : launch(owner), cluster(home) {}
};

/// Blocks that run together and reach each other's shared memory; most often a single one. Agents of its clocks are the
/// warps, one for the products of each four warps, one for the bulk copies from shared memory of each warp, and one for
/// each memory barrier.
struct Cluster {
    Launch& launch;
    std::vector<std::unique_ptr<Block>> blocks;
    uint32_t warps_per_block = 0;
    std::vector<std::string> barrier_agents;  // names
    std::map<uint64_t, Knowledge> published;  // by generic address: what relaxed writes published there
    uint64_t events = 0;                      // rises with each thing that some lane may wait for
    uint32_t timeouts = 0;                    // since the last of them

    // barrier.cluster
    uint64_t phase = 0;
    uint32_t arrived = 0;
    Knowledge arriving;
    Knowledge completed;

    explicit Cluster(Launch& owner) : launch(owner) {}
    uint32_t warps() const { return warps_per_block * static_cast<uint32_t>(blocks.size()); }
    uint32_t quads_per_block() const { return (warps_per_block + 3) / 4; }
    uint32_t products_agent(const Block& block, const Warp& warp) const {
        return warps() + block.rank * quads_per_block() + warp.index / 4;
    }
    uint32_t bulk_agent(const Warp& warp) const {
        return warps() + quads_per_block() * static_cast<uint32_t>(blocks.size()) + warp.agent;
    }
    uint32_t readers() const { return 2 * warps() + quads_per_block() * static_cast<uint32_t>(blocks.size()); }
    std::string agent_name(uint32_t agent) const;
    uint32_t alive_threads() const;
    /// Something happened that lanes may have waited for.
    void signal() {
        ++events;
        timeouts = 0;
    }
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
    GlobalRaces global_races;
    std::map<uint64_t, VectorClock> published;  // by global address: what relaxed writes of any block published there
};

inline uint32_t Cluster::alive_threads() const {
    uint32_t threads = 0;
    for (const auto& block : blocks) threads += block->alive_threads;
    return threads;
}

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
/// Lands the warp's cp.async copies that `lands` picks.
void land_copies(Block& block, Warp& warp, const std::function<bool(const AsyncCopy&)>& lands);
/// Lands a bulk copy on its way to the block, the one at `index`.
void land_bulk_load(Block& block, size_t index);
/// Ends bulk copies out of shared memory: reads the sources of those that `ends` picks, and writes them too if
/// `writes`.
void end_bulk_stores(Block& block, Warp& warp, const std::function<bool(const BulkStore&)>& ends, bool writes);
/// Completes the barrier of the cluster if all its threads have arrived.
void complete_cluster_barrier(Cluster& cluster);
/// Fails if asynchronous work of a block that has ended was never waited for, and lets its stores land.
void end_block(Block& block);
/// Completes each barrier whose expected threads have all arrived.
void complete_barriers(Block& block);
/// A memory fence of the warp.
void fence(Warp& warp);
/// Lets the group wait until something happens in its cluster; the instruction then runs again.
inline Flow await_event(Step& step) {
    step.group.state = Group::State::AwaitsEvent;
    step.group.seen = step.block.cluster.events;
    return Flow::Blocked;
}
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
