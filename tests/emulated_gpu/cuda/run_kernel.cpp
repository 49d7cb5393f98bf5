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

Group* next_group(Warp& warp) {
    Group* best = nullptr;
    for (Group& group : warp.groups) {
        if (group.state == Group::State::Runs && (best == nullptr || goes_before(group, *best))) best = &group;
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
    std::unique_ptr<Block> make_block(uint64_t number);
    /// True if any instruction ran.
    bool run_block(Block& block);
    uint32_t run_warp(Block& block, Warp& warp, uint32_t turn);
    void execute(Block& block, Warp& warp, Group& group);
    void check_sources(Step& step, const Op& op, uint32_t& ready) const;
    [[noreturn]] void report_deadlock(Block& block) const;
    void check_lanes_can_come(Warp& warp);
    Report make_report(const Fault& fault, const Block& block) const;

    Launch& launch_;
    std::mt19937_64 random_;
    const Op* op_ = nullptr;  // the instruction that runs
    const Warp* warp_ = nullptr;
};

std::unique_ptr<Block> Interpreter::make_block(uint64_t number) {
    const LaunchShape& shape = launch_.shape;
    auto block = std::make_unique<Block>(launch_);
    block->index = {static_cast<uint32_t>(number % shape.grid[0]),
                    static_cast<uint32_t>(number / shape.grid[0] % shape.grid[1]),
                    static_cast<uint32_t>(number / shape.grid[0] / shape.grid[1])};
    const uint32_t threads = shape.block[0] * shape.block[1] * shape.block[2];
    const uint32_t warps = (threads + kLanes - 1) / kLanes;
    block->alive_threads = threads;
    block->shared.resize(launch_.kernel.dynamic_shared_offset + shape.dynamic_shared_bytes);
    if (launch_.options.check_shared)
        block->shadow = std::make_unique<SharedShadow>(block->shared.size(), warps, name_line);
    block->warps.resize(warps);
    for (uint32_t i = 0; i < warps; ++i) {
        Warp& warp = block->warps[i];
        const uint32_t lanes = std::min<uint32_t>(kLanes, threads - i * kLanes);
        warp.index = i;
        warp.alive = lanes == kLanes ? kAllLanes : (1U << lanes) - 1;
        warp.clock[i] = 1;
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
    const Flow flow = op.run(step);
    if (flow != Flow::Blocked) {
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
        Group* group = next_group(warp);
        if (group == nullptr) break;
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

void Interpreter::report_deadlock(Block& block) const {
    std::string message = "no thread of the block can go on:";
    for (uint32_t number = 0; number < kBarriers; ++number) {
        const Barrier& barrier = block.barriers[number];
        if (!barrier.in_use) continue;
        const uint32_t expected = barrier.expected == 0 ? block.alive_threads : barrier.expected;
        message += " barrier " + std::to_string(number) + " has " +
                   std::to_string(barrier.expected == 0 ? barrier.arrived_threads : barrier.arrived_slots) + " of " +
                   std::to_string(expected) + " threads;";
    }
    for (const Warp& warp : block.warps) {
        for (const Group& group : warp.groups) {
            if (group.mask == 0) continue;
            const Instruction& at = *group.frame->function->ops[group.pc].instruction;
            message += " warp " + std::to_string(warp.index) + " waits at ptx line " +
                       std::to_string(at.position.line) + " (" + at.text + ");";
        }
        if (warp.finished()) message += " warp " + std::to_string(warp.index) + " has exited;";
    }
    message.pop_back();
    throw Fault{FaultKind::Deadlock, message};
}

bool Interpreter::run_block(Block& block) {
    std::vector<size_t> order(block.warps.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    const bool shuffles = launch_.options.shuffle;
    if (shuffles) std::shuffle(order.begin(), order.end(), random_);
    uint64_t ran = 0;
    for (const size_t index : order) {
        if (block.warps[index].finished()) continue;
        const uint32_t turn = shuffles ? 1 + static_cast<uint32_t>(random_() % 64) : kWarpTurn;
        ran += run_warp(block, block.warps[index], turn);
    }
    if (ran == 0 && block.alive_threads > 0) report_deadlock(block);
    return block.alive_threads > 0;
}

Report Interpreter::make_report(const Fault& fault, const Block& block) const {
    Report report;
    report.kind = fault.kind;
    report.message = fault.message;
    report.kernel = launch_.kernel.name;
    report.block = block.index;
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
    const uint64_t blocks = static_cast<uint64_t>(grid[0]) * grid[1] * grid[2];
    std::vector<std::unique_ptr<Block>> resident;
    uint64_t next = 0;
    while (next < blocks || !resident.empty()) {
        while (next < blocks && resident.size() < std::max(1U, launch_.options.resident_blocks)) {
            resident.push_back(make_block(next++));
        }
        for (auto& block : resident) {
            try {
                if (!run_block(*block)) block.reset();
            } catch (const Fault& fault) {
                return make_report(fault, *block);
            }
        }
        std::erase(resident, nullptr);
    }
    return std::nullopt;
}

}  // namespace

LaunchResult run_kernel(const LoadedKernel& kernel, const LaunchShape& shape, DeviceMemory& memory,
                        const Options& options, std::function<void(const std::string&)> print) {
    Launch launch{kernel, shape, memory, options, {}, 0, nullptr, std::move(print)};
    launch.counters.kernel = kernel.name;
    launch.counters.blocks = static_cast<uint64_t>(shape.grid[0]) * shape.grid[1] * shape.grid[2];
    launch.counters.threads = launch.counters.blocks * shape.block[0] * shape.block[1] * shape.block[2];
    LaunchResult result;
    result.report = Interpreter(launch).run();
    result.counters = launch.counters;
    return result;
}

}  // namespace emulated_gpu
