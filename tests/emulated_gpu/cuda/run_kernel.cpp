// The interpreter: which group of lanes, which warp and which block goes next.

#include <algorithm>
#include <random>

#include "tests/emulated_gpu/cuda/execution.h"

namespace emulated_gpu {
namespace {

constexpr uint32_t kWarpTurn = 4096;        // instructions before the next warp has its turn
constexpr uint32_t kJumpsOfPatience = 512;  // jumps back before other groups of the warp go first

/// The order in which groups of a warp run: those that have looped longest last, then inner calls before outer ones,
/// then the lowest instruction, so that lanes meet again where their paths do.
bool goes_before(const Group& a, const Group& b) {
    const uint32_t patience_a = a.back_jumps / kJumpsOfPatience;
    const uint32_t patience_b = b.back_jumps / kJumpsOfPatience;
    if (patience_a != patience_b) return patience_a < patience_b;
    if (a.frame->depth != b.frame->depth) return a.frame->depth > b.frame->depth;
    return a.pc < b.pc;
}

bool can_merge(const Group& a, const Group& b) {
    return a.pc == b.pc && a.frame == b.frame && a.apart == b.apart && a.state != Group::State::AwaitsBarrier &&
           b.state != Group::State::AwaitsBarrier;
}

/// Removes empty groups and unites those at the same place.
void tidy_groups(Warp& warp) {
    std::erase_if(warp.groups, [](const Group& group) { return group.mask == 0; });
    for (size_t i = 0; i < warp.groups.size(); ++i) {
        for (size_t j = warp.groups.size() - 1; j > i; --j) {
            if (!can_merge(warp.groups[i], warp.groups[j])) continue;
            warp.groups[i].mask |= warp.groups[j].mask;
            warp.groups[i].back_jumps = std::max(warp.groups[i].back_jumps, warp.groups[j].back_jumps);
            warp.groups[i].state = Group::State::Runs;
            warp.groups.erase(warp.groups.begin() + static_cast<ptrdiff_t>(j));
        }
    }
}

Group* next_group(Warp& warp, uint64_t events) {
    Group* best = nullptr;
    for (Group& group : warp.groups) {
        const bool runs = group.state == Group::State::Runs ||
                          (group.state == Group::State::AwaitsEvent && (group.seen != events || group.timed_out));
        if (runs && (best == nullptr || goes_before(group, *best))) best = &group;
    }
    return best;
}

std::string name_line(int line) {
    return "ptx line " + std::to_string(line);
}

uint32_t guarded_lanes(Frame& frame, const Op& op, uint32_t mask) {
    const uint64_t* predicate = frame.lanes(static_cast<uint32_t>(op.guard));
    uint32_t holds = 0;
    for_lanes(mask, [&](int lane) { holds |= static_cast<uint32_t>(predicate[lane] & 1) << lane; });
    return mask & (op.guard_negated ? ~holds : holds);
}

class Interpreter {
public:
    explicit Interpreter(Launch& launch) : launch_(launch), random_(launch.options.seed) {}

    std::optional<Report> run();

private:
    std::unique_ptr<Cluster> make_cluster(uint64_t number);
    std::unique_ptr<Block> make_block(Cluster& cluster, uint32_t rank, const std::array<uint32_t, 3>& index);
    /// False once all its threads have exited.
    bool run_cluster(Cluster& cluster);
    /// How many instructions ran.
    uint64_t run_block(Block& block);
    uint32_t run_warp(Block& block, Warp& warp, uint32_t turn);
    void execute(Block& block, Warp& warp, Group& group);
    void check_sources(Step& step, const Op& op, uint32_t& ready) const;
    void check_registers_in_flight(const Step& step) const;
    /// Lets waits that may give up do so; false if there are none, or they have done so too often.
    bool time_out(Cluster& cluster) const;
    [[noreturn]] void report_deadlock(const Cluster& cluster);
    void check_lanes_can_come(Warp& warp);
    Report make_report(const Fault& fault) const;

    Launch& launch_;
    std::mt19937_64 random_;
    const Op* op_ = nullptr;  // the instruction that runs
    const Block* block_ = nullptr;
    const Warp* warp_ = nullptr;
};

std::unique_ptr<Cluster> Interpreter::make_cluster(uint64_t number) {
    const LaunchShape& shape = launch_.shape;
    auto cluster = std::make_unique<Cluster>(launch_);
    const uint64_t across = shape.grid[0] / shape.cluster[0];
    const uint64_t down = shape.grid[1] / shape.cluster[1];
    const std::array<uint64_t, 3> at{number % across, number / across % down, number / across / down};
    const uint32_t ranks = shape.cluster[0] * shape.cluster[1] * shape.cluster[2];
    cluster->warps_per_block = (shape.block[0] * shape.block[1] * shape.block[2] + kLanes - 1) / kLanes;
    cluster->blocks.resize(ranks);
    for (uint32_t rank = 0; rank < ranks; ++rank) {
        const std::array<uint32_t, 3> inside{rank % shape.cluster[0], rank / shape.cluster[0] % shape.cluster[1],
                                             rank / shape.cluster[0] / shape.cluster[1]};
        std::array<uint32_t, 3> index{};
        for (size_t i = 0; i < 3; ++i) index[i] = static_cast<uint32_t>(at[i]) * shape.cluster[i] + inside[i];
        cluster->blocks[rank] = make_block(*cluster, rank, index);
    }
    return cluster;
}

/// Registers of each thread as the compiler behind PTX would have them, for setmaxnreg: as many as let all threads of
/// the blocks that a multiprocessor has to hold have them, in steps of 8.
uint32_t registers_per_thread(const LoadedKernel& kernel, uint32_t threads) {
    constexpr uint32_t kRegisters = 65536;
    if (kernel.registers != 0) return kernel.registers;
    return std::min(255U, kRegisters / (threads * std::max(1U, kernel.minimum_blocks)) / 8 * 8);
}

std::unique_ptr<Block> Interpreter::make_block(Cluster& cluster, uint32_t rank, const std::array<uint32_t, 3>& index) {
    const LaunchShape& shape = launch_.shape;
    auto block = std::make_unique<Block>(launch_, cluster);
    block->index = index;
    block->rank = rank;
    block->number = index[0] + shape.grid[0] * (index[1] + uint64_t{shape.grid[1]} * index[2]);
    block->global_clock[block->number] = 1;
    const uint32_t threads = shape.block[0] * shape.block[1] * shape.block[2];
    const uint32_t warps = cluster.warps_per_block;
    block->alive_threads = threads;
    block->shared.resize(launch_.kernel.dynamic_shared_offset + shape.dynamic_shared_bytes);
    if (launch_.options.check_shared) {
        const uint32_t readers = launch_.kernel.uses_async_reads ? cluster.readers() : cluster.warps();
        const auto name = [&cluster](uint32_t agent) { return cluster.agent_name(agent); };
        block->shadow = std::make_unique<SharedShadow>(block->shared.size(), readers, name_line, name);
    }
    block->warps.resize(warps);
    for (uint32_t i = 0; i < warps; ++i) {
        Warp& warp = block->warps[i];
        const uint32_t lanes = std::min<uint32_t>(kLanes, threads - i * kLanes);
        warp.index = i;
        warp.agent = rank * warps + i;
        warp.alive = lanes == kLanes ? kAllLanes : (1U << lanes) - 1;
        warp.clock[warp.agent] = 1;
        warp.most_registers = registers_per_thread(launch_.kernel, threads);
        warp.block_number = block->number;
        if (launch_.options.check_global) warp.global = &block->global_clock;
        warp.groups.reserve(2 * kLanes);
        Group group;
        group.frame = make_frame(*block, warp, *launch_.kernel.entry, nullptr);
        group.mask = warp.alive;
        warp.groups.push_back(group);
    }
    return block;
}

void Interpreter::check_sources(Step& step, const Op& op, uint32_t& ready) const {
    for (size_t i = 0; i < op.source_count; ++i) {
        const uint32_t have = step.ready(i);
        ready &= have;
        if (((op.strict >> i) & 1) == 0 || (step.mask & ~have) == 0) continue;
        throw Fault{FaultKind::UninitialisedRegister,
                    "uses a register that was never written, operand " + std::to_string(i) +
                        " of what it reads (an address, a count or a mask)",
                    std::countr_zero(step.mask & ~have)};
    }
}

/// Registers that a wgmma under way reads may not be written, and its accumulators not be touched but by a wgmma that
/// accumulates into the same ones (PTX ISA, "Asynchronous wgmma").
void Interpreter::check_registers_in_flight(const Step& step) const {
    if (step.op.klass == InstructionClass::Matrix && !step.op.accumulators.empty()) return;  // checks its own
    const auto fail = [&](uint32_t slot, const char* what) {
        throw Fault{FaultKind::RegisterNotWaitedFor,
                    std::string(what) + " register " + step.frame.function->source->registers[slot].name +
                        (step.frame.in_flight[slot] & kAccumulates ? ", an accumulator of" : ", which is read by") +
                        " a wgmma.mma_async that has not been waited for",
                    std::countr_zero(step.mask)};
    };
    for (size_t i = 0; i < step.op.source_count; ++i) {
        if (step.frame.in_flight[step.op.sources[i]] & kAccumulates) fail(step.op.sources[i], "reads");
    }
    for (size_t i = 0; i < step.op.result_count; ++i) {
        if (step.frame.in_flight[step.op.results[i]] != 0) fail(step.op.results[i], "writes");
    }
}

void Interpreter::execute(Block& block, Warp& warp, Group& group) {
    Frame* frame = group.frame.get();
    const Op& op = frame->function->ops[group.pc];
    op_ = &op;
    const bool checks = launch_.options.check_registers;
    uint32_t mask = group.mask;
    if (op.guard >= 0) {
        const uint32_t missing = group.mask & ~frame->initialised[static_cast<size_t>(op.guard)];
        if (checks && missing != 0) {
            throw Fault{FaultKind::UninitialisedRegister, "its guard depends on a register that was never written",
                        std::countr_zero(missing)};
        }
        mask = guarded_lanes(*frame, op, mask);
        if (mask == 0) {
            ++group.pc;
            group.apart = 0;
            return;
        }
    }
    Step step{launch_, block, warp, group, *frame, op, mask};
    uint32_t ready = mask;
    if (checks) check_sources(step, op, ready);
    const bool uses_wgmma = frame->function->uses_wgmma;
    if (uses_wgmma && checks && !warp.products.pending.empty()) check_registers_in_flight(step);
    const Flow flow = op.run(step);
    if (flow != Flow::Blocked) {
        if (uses_wgmma) {
            for (size_t i = 0; i < op.result_count; ++i) frame->unfenced[op.results[i]] = 1;
        }
        ++launch_.counters.warp_instructions[static_cast<size_t>(op.klass)];
        launch_.counters.thread_instructions += static_cast<uint64_t>(std::popcount(step.mask));
        if (op.keeps_track) {
            for (size_t i = 0; i < op.result_count; ++i) step.mark(i, ready);
        }
        group.apart = 0;
    }
    if (flow == Flow::Next) ++group.pc;
}

uint32_t Interpreter::run_warp(Block& block, Warp& warp, uint32_t turn) {
    uint32_t ran = 0;
    warp_ = &warp;
    while (ran < turn) {
        if (warp.groups.size() != 1 || warp.groups[0].mask == 0) tidy_groups(warp);
        Group* group = next_group(warp, block.cluster.events);
        if (group == nullptr) break;
        if (group->state == Group::State::AwaitsEvent) group->state = Group::State::Runs;
        execute(block, warp, *group);
        ++ran;
        if (++launch_.executed > launch_.options.instruction_budget) {
            throw Fault{FaultKind::Runaway, "the launch has run more than its budget of " +
                                                std::to_string(launch_.options.instruction_budget) +
                                                " warp instructions"};
        }
    }
    check_lanes_can_come(warp);
    return ran;
}

/// Lanes that wait for lanes of their own warp which wait for something else wait for ever, unless another warp helps.
void Interpreter::check_lanes_can_come(Warp& warp) {
    const Group* waiting = nullptr;
    bool others_may_help = false;
    for (const Group& group : warp.groups) {
        if (group.mask == 0) continue;
        if (group.state == Group::State::AwaitsLanes)
            waiting = &group;
        else
            others_may_help = true;
    }
    if (waiting == nullptr || others_may_help) return;
    const Op& op = waiting->frame->function->ops[waiting->pc];
    op_ = &op;
    const uint32_t missing = waiting->awaited & warp.alive & ~waiting->mask;
    std::string where;
    for (const Group& group : warp.groups) {
        if (&group == waiting || group.mask == 0) continue;
        const Op& other = group.frame->function->ops[group.pc];
        where +=
            " at ptx line " + std::to_string(other.instruction->position.line) + " (" + other.instruction->text + ")";
    }
    const int lane = missing == 0 ? std::countr_zero(waiting->mask) : std::countr_zero(missing);
    throw Fault{FaultKind::DivergentBarrier,
                "a part of warp " + std::to_string(warp.index) + " waits here for lane " + std::to_string(lane) +
                    (where.empty() ? ", which this instruction's guard keeps away" : ", which waits" + where),
                lane};
}

bool Interpreter::time_out(Cluster& cluster) const {
    constexpr uint32_t kMostTimeouts = 4;
    bool any = false;
    if (++cluster.timeouts > kMostTimeouts) return false;
    for (const auto& block : cluster.blocks) {
        for (Warp& warp : block->warps) {
            for (Group& group : warp.groups) {
                if (group.mask == 0 || group.state != Group::State::AwaitsEvent) continue;
                if (group.frame->function->ops[group.pc].may_time_out) any = group.timed_out = true;
            }
        }
    }
    return any;
}

std::string barriers_in_use(const Block& block) {
    std::string message;
    for (uint32_t number = 0; number < kBarriers; ++number) {
        const Barrier& barrier = block.barriers[number];
        if (!barrier.in_use) continue;
        const uint32_t expected = barrier.expected == 0 ? block.alive_threads : barrier.expected;
        message += " barrier " + std::to_string(number) + " has " +
                   std::to_string(barrier.expected == 0 ? barrier.arrived_threads : barrier.arrived_slots) + " of " +
                   std::to_string(expected) + " threads;";
    }
    for (const auto& [offset, barrier] : block.memory_barriers) {
        message += " phase " + std::to_string(barrier.phase) + " of the memory barrier at shared byte " +
                   std::to_string(offset) + " lacks " + std::to_string(barrier.pending) + " arrivals and " +
                   std::to_string(barrier.transactions) + " bytes;";
    }
    return message;
}

std::string waiting_warps(const Block& block) {
    std::string message;
    for (const Warp& warp : block.warps) {
        for (const Group& group : warp.groups) {
            if (group.mask == 0) continue;
            const Instruction& at = *group.frame->function->ops[group.pc].instruction;
            message += " warp " + std::to_string(warp.index) + " waits at ptx line " +
                       std::to_string(at.position.line) + " (" + at.text + ");";
        }
        if (warp.finished()) message += " warp " + std::to_string(warp.index) + " has exited;";
    }
    return message;
}

void Interpreter::report_deadlock(const Cluster& cluster) {
    const bool alone = cluster.blocks.size() == 1;
    std::string message = alone ? "no thread of the block can go on:" : "no thread of the cluster can go on:";
    if (cluster.arrived > 0) {
        message += " the cluster's barrier has " + std::to_string(cluster.arrived) + " of " +
                   std::to_string(cluster.alive_threads()) + " threads;";
    }
    for (const auto& block : cluster.blocks) {
        if (block->ended) continue;
        if (!alone) message += " block rank " + std::to_string(block->rank) + ":";
        message += barriers_in_use(*block) + waiting_warps(*block);
        block_ = block.get();
        // The place is where some lane waits.
        for (const Warp& warp : block->warps) {
            for (const Group& group : warp.groups) {
                if (group.mask != 0) op_ = &group.frame->function->ops[group.pc];
            }
        }
    }
    message.pop_back();
    throw Fault{FaultKind::Deadlock, message};
}

uint64_t Interpreter::run_block(Block& block) {
    block_ = &block;
    std::vector<size_t> order(block.warps.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    const bool shuffles = launch_.options.shuffle;
    if (shuffles) {
        std::shuffle(order.begin(), order.end(), random_);
        if (!block.bulk_loads.empty() && random_() % 2 == 0) {
            land_bulk_load(block, static_cast<size_t>(random_() % block.bulk_loads.size()));
        }
    }
    uint64_t ran = 0;
    for (const size_t index : order) {
        if (block.warps[index].finished()) continue;
        const uint32_t turn = shuffles ? 1 + static_cast<uint32_t>(random_() % 64) : kWarpTurn;
        ran += run_warp(block, block.warps[index], turn);
    }
    if (block.alive_threads == 0) end_block(block);
    return ran;
}

bool Interpreter::run_cluster(Cluster& cluster) {
    uint64_t ran = 0;
    for (const auto& block : cluster.blocks) {
        if (!block->ended) ran += run_block(*block);
    }
    if (cluster.alive_threads() == 0) return false;
    if (ran == 0 && !time_out(cluster)) report_deadlock(cluster);
    return true;
}

Report Interpreter::make_report(const Fault& fault) const {
    Report report;
    report.kind = fault.kind;
    report.message = fault.message;
    report.kernel = launch_.kernel.name;
    if (block_ != nullptr) report.block = block_->index;
    if (op_ != nullptr) {
        report.instruction = op_->instruction->text;
        report.ptx_line = op_->instruction->position.line;
        const auto& files = launch_.kernel.module->files;
        const auto file = files.find(op_->instruction->source.file);
        if (file != files.end()) report.source_file = file->second;
        report.source_line = op_->instruction->source.line;
    }
    if (fault.kind != FaultKind::Deadlock && warp_ != nullptr) {
        const uint32_t thread = warp_->index * kLanes + static_cast<uint32_t>(std::max(fault.lane, 0));
        const auto& extent = launch_.shape.block;
        report.has_thread = true;
        report.thread = {thread % extent[0], thread / extent[0] % extent[1], thread / extent[0] / extent[1]};
    }
    return report;
}

std::optional<Report> Interpreter::run() {
    const auto& grid = launch_.shape.grid;
    const auto& size = launch_.shape.cluster;
    const uint64_t blocks = uint64_t{size[0]} * size[1] * size[2];
    const uint64_t clusters = uint64_t{grid[0]} * grid[1] * grid[2] / blocks;
    std::vector<std::unique_ptr<Cluster>> resident;
    uint64_t next = 0;
    try {
        while (next < clusters || !resident.empty()) {
            while (next < clusters &&
                   (resident.empty() || (resident.size() + 1) * blocks <= launch_.options.resident_blocks)) {
                resident.push_back(make_cluster(next++));
            }
            for (auto& cluster : resident) {
                if (!run_cluster(*cluster)) cluster.reset();
            }
            std::erase(resident, nullptr);
        }
    } catch (const Fault& fault) {
        return make_report(fault);
    }
    return std::nullopt;
}

}  // namespace

LaunchResult run_kernel(const LoadedKernel& kernel, const LaunchShape& shape, DeviceMemory& memory,
                        const Options& options, std::function<void(const std::string&)> print) {
    Launch launch{kernel, shape, memory, options, {}, 0, nullptr, std::move(print), {}, {}};
    launch.counters.kernel = kernel.name;
    launch.counters.blocks = static_cast<uint64_t>(shape.grid[0]) * shape.grid[1] * shape.grid[2];
    launch.counters.threads = launch.counters.blocks * shape.block[0] * shape.block[1] * shape.block[2];
    LaunchResult result;
    result.report = Interpreter(launch).run();
    result.counters = launch.counters;
    return result;
}

}  // namespace emulated_gpu
