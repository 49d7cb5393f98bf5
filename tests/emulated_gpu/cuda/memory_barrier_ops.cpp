// mbarrier objects: PTX ISA, chapter "Parallel Synchronization and Communication Instructions: mbarrier".

#include "tests/emulated_gpu/cuda/memory_barrier_ops.h"

#include <cstring>

#include "tests/emulated_gpu/cuda/lanewise.h"
#include "tests/emulated_gpu/cuda/memory_order.h"

namespace emulated_gpu {
namespace {

constexpr uint64_t kBarrierBytes = 8;
constexpr uint64_t kMostCount = (1 << 20) - 1;  // of arrivals and of transactions
constexpr uint32_t kPhaseShift = 24;            // in a state; the pending count lies below

/// Bits of Op::detail.
constexpr uint64_t kRelaxed = 1;
constexpr uint64_t kExpects = 2;
constexpr uint64_t kDrops = 4;
constexpr uint64_t kMustNotComplete = 8;
constexpr uint64_t kByParity = 16;
constexpr uint64_t kHasCount = 32;
constexpr uint64_t kAddsArrival = 64;

std::string barrier_text(uint64_t offset, const MemoryBarrier& barrier) {
    return "the memory barrier at shared byte " + std::to_string(offset) + " (phase " + std::to_string(barrier.phase) +
           ")";
}

/// Ends the phase if nothing is lacking.
void settle(Block& block, MemoryBarrier& barrier) {
    if (barrier.pending != 0 || barrier.transactions != 0) return;
    ++barrier.phase;
    barrier.pending = barrier.expected;
    barrier.completed.join(barrier.arriving);
    block.cluster.signal();
    ++block.launch.counters.barriers;
}

void arrive_at_barrier(const BarrierPlace& place, uint64_t count, int lane) {
    MemoryBarrier& barrier = *place.barrier;
    if (count == 0 || count > barrier.pending) {
        throw Fault{FaultKind::BarrierMisuse,
                    std::to_string(count) + " threads arrive at " + barrier_text(place.offset, barrier) +
                        ", which lacks only " + std::to_string(barrier.pending) + " of " +
                        std::to_string(barrier.expected),
                    lane};
    }
    barrier.pending -= static_cast<uint32_t>(count);
    settle(*place.block, barrier);
}

void expect(const BarrierPlace& place, uint64_t bytes, int lane) {
    if (bytes > kMostCount) {
        throw Fault{FaultKind::BarrierMisuse, "a memory barrier cannot expect " + std::to_string(bytes) + " bytes",
                    lane};
    }
    place.barrier->transactions += static_cast<int64_t>(bytes);
}

uint64_t address_of(const Step& step, int lane) {
    return step.source(0)[lane] + static_cast<uint64_t>(step.op.offset);
}

Flow initialise(Step& step) {
    for_lanes(step.mask, [&](int lane) {
        const Target target = resolve(step, lane, step.op.space, address_of(step, lane), kBarrierBytes, Access::Store);
        if (target.block != &step.block) {
            throw Fault{FaultKind::IllegalAddress, "a memory barrier has to be in the block's own shared memory", lane};
        }
        const uint64_t count = step.source(1)[lane] & 0xffffffffU;
        if (count == 0 || count > kMostCount) {
            throw Fault{FaultKind::BarrierMisuse,
                        "a memory barrier cannot expect " + std::to_string(count) + " arrivals", lane};
        }
        const auto known = step.block.memory_barriers.find(target.offset);
        if (known != step.block.memory_barriers.end()) {
            throw Fault{FaultKind::BarrierMisuse,
                        "initialises " + barrier_text(target.offset, known->second) +
                            ", which is in use since ptx line " + std::to_string(known->second.line),
                        lane};
        }
        if (SharedShadow* shadow = target.shadow()) {
            shadow->write(target.offset, kBarrierBytes, step.warp.agent, step.warp.clock, step.line(), lane);
            shadow->reserve(target.offset, kBarrierBytes, true);
        }
        Cluster& cluster = step.block.cluster;
        MemoryBarrier barrier;
        barrier.expected = barrier.pending = static_cast<uint32_t>(count);
        barrier.agent = cluster.readers() + static_cast<uint32_t>(cluster.barrier_agents.size());
        cluster.barrier_agents.push_back("an asynchronous copy to the memory barrier at shared byte " +
                                         std::to_string(target.offset));
        barrier.initialiser = step.warp.agent;
        barrier.initialised = step.warp.clock[step.warp.agent];
        barrier.line = step.line();
        step.block.memory_barriers.emplace(target.offset, std::move(barrier));
    });
    return Flow::Next;
}

Flow invalidate(Step& step) {
    for_lanes(step.mask, [&](int lane) {
        const BarrierPlace place = find_memory_barrier(step, lane, step.op.space, address_of(step, lane));
        if (SharedShadow* shadow = place.block->shadow.get()) shadow->reserve(place.offset, kBarrierBytes, false);
        place.block->memory_barriers.erase(place.offset);
    });
    return Flow::Next;
}

/// Sources: address, then bytes (expect_tx) or a count, if given.
Flow arrive_at(Step& step) {
    const uint64_t how = step.op.detail;
    fence(step.warp);
    for_lanes(step.mask, [&](int lane) {
        const BarrierPlace place = find_memory_barrier(step, lane, step.op.space, address_of(step, lane));
        MemoryBarrier& barrier = *place.barrier;
        const uint64_t state = (barrier.phase << kPhaseShift) | barrier.pending;
        if ((how & kRelaxed) == 0) barrier.arriving.join(step.warp.fenced);
        const uint64_t given = step.op.source_count > 1 ? step.source(1)[lane] & 0xffffffffU : 1;
        if (how & kExpects) expect(place, given, lane);
        if (how & kDrops)
            barrier.expected -=
                std::min<uint32_t>(barrier.expected, how & kHasCount ? static_cast<uint32_t>(given) : 1);
        const uint64_t phase = barrier.phase;
        arrive_at_barrier(place, how & kHasCount ? given : 1, lane);
        if ((how & kMustNotComplete) && barrier.phase != phase) {
            throw Fault{FaultKind::BarrierMisuse,
                        "an arrival with .noComplete completes " + barrier_text(place.offset, barrier), lane};
        }
        if (step.op.result_count > 0) step.result()[lane] = state;
    });
    return Flow::Next;
}

template <bool kCompletes>
Flow change_transactions(Step& step) {
    for_lanes(step.mask, [&](int lane) {
        const BarrierPlace place = find_memory_barrier(step, lane, step.op.space, address_of(step, lane));
        const uint64_t bytes = step.source(1)[lane] & 0xffffffffU;
        if (kCompletes)
            complete_transactions(*place.block, *place.barrier, bytes);
        else
            expect(place, bytes, lane);
    });
    return Flow::Next;
}

/// Arrivals that wait for cp.async copies: these land, and it arrives.
void arrive_deferred(const BarrierPlace& place) {
    MemoryBarrier& barrier = *place.barrier;
    const DeferredArrival arrival = barrier.deferred.front();
    barrier.deferred.erase(barrier.deferred.begin());
    Warp& warp = place.block->warps[arrival.warp];
    land_copies(*place.block, warp,
                [&](const AsyncCopy& copy) { return copy.lane == arrival.lane && copy.number < arrival.copies; });
    fence(warp);
    barrier.arriving.join(warp.fenced);
    arrive_at_barrier(place, 1, arrival.lane);
}

/// Lets asynchronous work happen that the phase waits for, and no more of it than it takes.
void hurry(const BarrierPlace& place) {
    MemoryBarrier& barrier = *place.barrier;
    const uint64_t phase = barrier.phase;
    while (barrier.phase == phase && barrier.pending > 0 && !barrier.deferred.empty()) arrive_deferred(place);
    while (barrier.phase == phase && barrier.pending == 0) {
        const auto& loads = place.block->bulk_loads;
        size_t next = 0;
        while (next < loads.size() && loads[next].barrier != place.offset) ++next;
        if (next == loads.size()) return;
        land_bulk_load(*place.block, next);
    }
}

bool phase_is_complete(const BarrierPlace& place, uint64_t operand, bool by_parity, int lane) {
    const uint64_t phase = place.barrier->phase;
    if (by_parity) return (phase & 1) != (operand & 1);
    const uint64_t of_state = operand >> kPhaseShift;
    if (of_state > phase || of_state + 1 < phase) {
        throw Fault{FaultKind::BarrierMisuse,
                    "waits for phase " + std::to_string(of_state) + " of " +
                        barrier_text(place.offset, *place.barrier) + ", which is neither this phase nor the one before",
                    lane};
    }
    return of_state < phase;
}

/// Sources: address, state or parity. Op::may_time_out: try_wait, which may wait for some time.
Flow wait_for(Step& step) {
    const bool by_parity = (step.op.detail & kByParity) != 0;
    uint32_t complete = 0;
    Knowledge learnt;
    for_lanes(step.mask, [&](int lane) {
        const BarrierPlace place = find_memory_barrier(step, lane, step.op.space, address_of(step, lane));
        if (place.block != &step.block) {
            throw Fault{FaultKind::BarrierMisuse, "waits for a memory barrier of another block", lane};
        }
        const uint64_t operand = step.source(1)[lane];
        if (!phase_is_complete(place, operand, by_parity, lane)) hurry(place);
        if (!phase_is_complete(place, operand, by_parity, lane)) return;
        complete |= 1U << lane;
        learnt.join(place.barrier->completed);
    });
    if (complete != step.mask && step.op.may_time_out && !step.group.timed_out) return await_event(step);
    step.group.timed_out = false;
    for_lanes(step.mask, [&](int lane) { step.result()[lane] = (complete >> lane) & 1; });
    if (complete == 0) {
        step.group.back_jumps += 64;  // a loop around this makes way for others
        return Flow::Next;
    }
    if ((step.op.detail & kRelaxed) == 0) {
        step.warp.learn(learnt);
        fence(step.warp);
    }
    return Flow::Next;
}

Flow pending_count(Step& step) {
    for_lanes(step.mask, [&](int lane) { step.result()[lane] = step.source(0)[lane] & ((1U << kPhaseShift) - 1); });
    return Flow::Next;
}

/// cp.async.mbarrier.arrive
Flow defer_arrival(Step& step) {
    for_lanes(step.mask, [&](int lane) {
        const BarrierPlace place = find_memory_barrier(step, lane, step.op.space, address_of(step, lane));
        if (step.op.detail & kAddsArrival) ++place.barrier->pending;
        place.barrier->deferred.push_back({step.warp.index, lane, step.warp.copies_issued});
    });
    return Flow::Next;
}

void read_order_and_scope(Decode& decode) {
    if (decode.accept("relaxed"))
        decode.op().detail |= kRelaxed;
    else
        for (const char* order : {"release", "acquire"}) decode.accept(order);
    read_scope(decode);
}

void decode_arrival(Decode& decode, bool drops) {
    Op& op = decode.op();
    op.run = &arrive_at;
    if (drops) op.detail |= kDrops;
    if (decode.accept("expect_tx")) op.detail |= kExpects;
    if (decode.accept("noComplete")) op.detail |= kMustNotComplete;
    read_order_and_scope(decode);
    op.space = read_shared_space(decode);
    decode.expect("b64");
    decode.expect_operands(1, 3);
    // With an address in another block of the cluster there is no state, or '_' in its place.
    const bool has_state = decode.operand(0).kind != Operand::Kind::Address;
    const size_t first = has_state ? 1 : 0;
    decode.expect_operands(first + 1, first + 2);
    if (has_state) decode.result(decode.operand(0));
    decode.address(decode.operand(first));
    const bool given = decode.count() > first + 1;
    if (given) decode.source(decode.operand(first + 1), Type::U32, true);
    if (given && (op.detail & kExpects) == 0) op.detail |= kHasCount;
    if (!given && (op.detail & (kExpects | kMustNotComplete)))
        decode.fail("'" + decode.instruction().text + "' lacks a count");
}

void decode_wait(Decode& decode, bool may_time_out) {
    Op& op = decode.op();
    op.run = &wait_for;
    op.may_time_out = may_time_out;
    if (decode.accept("parity")) op.detail |= kByParity;
    read_order_and_scope(decode);
    op.space = read_shared_space(decode);
    decode.expect("b64");
    decode.expect_operands(3, may_time_out ? 4 : 3);
    decode.result(decode.operand(0));
    decode.address(decode.operand(1));
    decode.source(decode.operand(2), op.detail & kByParity ? Type::U32 : Type::B64, true);
    if (decode.count() == 4) decode.source(decode.operand(3), Type::U32, true);  // how long to wait
}

/// `[address]` or `[address], number`.
void decode_plain(Decode& decode, Handler run, bool has_number) {
    Op& op = decode.op();
    op.run = run;
    op.space = read_shared_space(decode);
    decode.expect("b64");
    decode.expect_operands(has_number ? 2 : 1, has_number ? 2 : 1);
    decode.address(decode.operand(0));
    if (has_number) decode.source(decode.operand(1), Type::U32, true);
}

void decode_mbarrier(Decode& decode) {
    Op& op = decode.op();
    op.klass = InstructionClass::Barrier;
    if (decode.accept("init")) return decode_plain(decode, &initialise, true);
    if (decode.accept("inval")) return decode_plain(decode, &invalidate, false);
    if (decode.accept("arrive")) return decode_arrival(decode, false);
    if (decode.accept("arrive_drop")) return decode_arrival(decode, true);
    if (decode.accept("test_wait")) return decode_wait(decode, false);
    if (decode.accept("try_wait")) {
        decode.needs(90);
        return decode_wait(decode, true);
    }
    if (decode.accept("pending_count")) {
        decode.expect("b64");
        decode.expect_operands(2, 2);
        decode.result(decode.operand(0));
        decode.source(decode.operand(1), Type::B64);
        op.run = &pending_count;
        return;
    }
    const bool completes = decode.accept("complete_tx");
    if (!completes && !decode.accept("expect_tx")) decode.refuse();
    decode.needs(90);
    read_order_and_scope(decode);
    decode_plain(decode, completes ? &change_transactions<true> : &change_transactions<false>, true);
}

}  // namespace

Space read_shared_space(Decode& decode) {
    for (const char* name : {"shared", "shared::cta", "shared::cluster"}) {
        if (decode.accept(name)) return Space::Shared;
    }
    return Space::Generic;
}

BarrierPlace find_memory_barrier(Step& step, int lane, Space space, uint64_t address) {
    const Target target = resolve(step, lane, space, address, kBarrierBytes, Access::Atomic);
    if (target.block == nullptr) {
        throw Fault{FaultKind::IllegalAddress, "a memory barrier has to be in shared memory", lane};
    }
    const auto found = target.block->memory_barriers.find(target.offset);
    if (found == target.block->memory_barriers.end()) {
        throw Fault{FaultKind::BarrierMisuse,
                    "there is no memory barrier at shared byte " + std::to_string(target.offset) +
                        " (it was not initialised, or has been invalidated)",
                    lane};
    }
    MemoryBarrier& barrier = found->second;
    if (barrier.initialiser != step.warp.agent && step.warp.clock[barrier.initialiser] < barrier.initialised &&
        step.launch.options.check_shared) {
        throw Fault{FaultKind::SharedRace,
                    "uses " + barrier_text(target.offset, barrier) + ", which " +
                        step.block.cluster.agent_name(barrier.initialiser) + " initialises at ptx line " +
                        std::to_string(barrier.line) + " with no barrier in between",
                    lane};
    }
    return {target.block, target.offset, &barrier};
}

void complete_transactions(Block& block, MemoryBarrier& barrier, uint64_t bytes) {
    barrier.transactions -= static_cast<int64_t>(bytes);
    settle(block, barrier);
}

void decode_deferred_arrival(Decode& decode) {
    Op& op = decode.op();
    op.klass = InstructionClass::AsyncCopy;
    decode.expect("mbarrier");
    decode.expect("arrive");
    if (!decode.accept("noinc")) op.detail = kAddsArrival;
    decode_plain(decode, &defer_arrival, false);
}

void add_memory_barrier_decoders(std::map<std::string, Decoder>& decoders) {
    decoders["mbarrier"] = &decode_mbarrier;
}

}  // namespace emulated_gpu
