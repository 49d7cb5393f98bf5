// Barriers of a block and memory fences: PTX ISA, chapter "Parallel Synchronization and Communication Instructions".

#include <algorithm>

#include "tests/emulated_gpu/cuda/lanewise.h"

namespace emulated_gpu {
namespace {

enum class BarrierKind : uint64_t { Sync, Arrive, CountTrue, AllTrue, AnyTrue };

bool is_complete(const Block& block, const Barrier& barrier) {
    if (!barrier.in_use) return false;
    if (barrier.expected == 0) return barrier.arrived_threads >= block.alive_threads;
    return barrier.arrived_slots >= barrier.expected;
}

/// Lets the waiting groups go on, with the result of a reduction.
void release(Block& block, uint32_t number) {
    Barrier& barrier = block.barriers[number];
    for (Warp& warp : block.warps) {
        for (Group& group : warp.groups) {
            if (group.state != Group::State::AwaitsBarrier || group.barrier != number) continue;
            const Op& op = group.frame->function->ops[group.pc];
            if (op.result_count > 0) {
                const auto kind = static_cast<BarrierKind>(op.detail);
                uint64_t value = barrier.counted;
                if (kind == BarrierKind::AllTrue) value = barrier.counted == barrier.arrived_threads;
                if (kind == BarrierKind::AnyTrue) value = barrier.counted != 0;
                for_lanes(group.mask, [&](int lane) { group.frame->lanes(op.results[0])[lane] = value; });
                group.frame->initialised[op.results[0]] |= group.mask;
            }
            group.state = Group::State::Runs;
            ++group.pc;
            warp.learn(barrier.known);
            fence(warp);
        }
    }
    barrier = Barrier{};
    block.cluster.signal();
    ++block.launch.counters.barriers;
}

std::string describe(const Step& step) {
    return "warp " + std::to_string(step.warp.index) + " (" + step.op.instruction->text + " at ptx line " +
           std::to_string(step.line()) + ")";
}

/// The same barrier number and thread count on all lanes, or a fault.
uint32_t uniform(const Step& step, size_t source, const char* what) {
    const uint64_t* values = step.source(source);
    const uint64_t first = values[std::countr_zero(step.mask)];
    for_lanes(step.mask, [&](int lane) {
        if (values[lane] == first) return;
        throw Fault{FaultKind::BarrierMisuse, std::string("the ") + what + " of a barrier differs between lanes", lane};
    });
    return static_cast<uint32_t>(first);
}

void check_arrival(const Step& step, uint32_t number, uint32_t expected) {
    if (number >= kBarriers) {
        throw Fault{FaultKind::BarrierMisuse, "there is no barrier " + std::to_string(number) + ", only 0 to 15"};
    }
    if (expected % kLanes != 0) {
        throw Fault{FaultKind::BarrierMisuse, "barrier " + std::to_string(number) + " counts " +
                                                  std::to_string(expected) + " threads, which is no multiple of 32"};
    }
    const Barrier& barrier = step.block.barriers[number];
    if (barrier.in_use && barrier.expected != expected) {
        throw Fault{FaultKind::BarrierMisuse, "barrier " + std::to_string(number) + " expects " +
                                                  std::to_string(expected) + " threads here and " +
                                                  std::to_string(barrier.expected) + " where " + barrier.first_arrival +
                                                  " arrived (0: all)"};
    }
}

void arrive(Step& step, uint32_t number, uint32_t expected, bool aligned) {
    check_arrival(step, number, expected);
    Barrier& barrier = step.block.barriers[number];
    if (!barrier.in_use) barrier.first_arrival = describe(step);
    barrier.in_use = true;
    barrier.expected = expected;
    const auto threads = static_cast<uint32_t>(std::popcount(step.mask));
    barrier.arrived_threads += threads;
    barrier.arrived_slots += aligned ? kLanes : threads;
    if (expected != 0 && barrier.arrived_slots > expected) {
        throw Fault{FaultKind::BarrierMisuse, "more threads arrive at barrier " + std::to_string(number) +
                                                  " than the " + std::to_string(expected) + " it expects"};
    }
    fence(step.warp);
    barrier.known.join(step.warp.fenced);
}

/// op.flag: .aligned. Sources: barrier, then thread count if given, then the predicate of a reduction.
Flow barrier(Step& step) {
    const auto kind = static_cast<BarrierKind>(step.op.detail);
    const bool aligned = step.op.flag;
    if (aligned && !gathered(step, kAllLanes)) return Flow::Blocked;
    const uint32_t number = uniform(step, 0, "number");
    const bool reduces = kind != BarrierKind::Sync && kind != BarrierKind::Arrive;
    const size_t counts = step.op.source_count - (reduces ? 1U : 0U);
    const uint32_t expected = counts > 1 ? uniform(step, 1, "thread count") : 0;
    arrive(step, number, expected, aligned);
    if (reduces) {
        const size_t last = step.op.source_count - 1U;
        const uint64_t flip = (step.op.negated >> last) & 1;
        for_lanes(step.mask, [&](int lane) {
            step.block.barriers[number].counted += static_cast<uint32_t>((step.source(last)[lane] & 1) ^ flip);
        });
    }
    if (kind == BarrierKind::Arrive) {
        complete_barriers(step.block);
        return Flow::Next;
    }
    Counters& counters = step.launch.counters;  // the interpreter counts what goes on, and this waits
    ++counters.warp_instructions[static_cast<size_t>(InstructionClass::Barrier)];
    counters.thread_instructions += static_cast<uint64_t>(std::popcount(step.mask));
    leave_others_behind(step);
    step.group.state = Group::State::AwaitsBarrier;
    step.group.barrier = number;
    complete_barriers(step.block);
    return Flow::Blocked;
}

void decode_barrier(Decode& decode) {
    Op& op = decode.op();
    op.klass = InstructionClass::Barrier;
    op.keeps_track = false;
    decode.accept("cta");
    op.flag = decode.accept("aligned") || decode.instruction().opcode == "bar";
    BarrierKind kind = BarrierKind::Sync;
    size_t first = 0;
    if (decode.has("warp")) decode.refuse();
    if (decode.has("cluster")) return decode_cluster_barrier(decode);
    if (decode.accept("arrive")) {
        kind = BarrierKind::Arrive;
    } else if (decode.accept("red")) {
        kind = decode.accept("popc")  ? BarrierKind::CountTrue
               : decode.accept("and") ? BarrierKind::AllTrue
                                      : BarrierKind::AnyTrue;
        if (kind == BarrierKind::AnyTrue) decode.expect("or");
        decode.expect(kind == BarrierKind::CountTrue ? "u32" : "pred");
        first = 1;
    } else {
        decode.expect("sync");
    }
    op.detail = static_cast<uint64_t>(kind);
    decode.expect_operands(first + 1 + (kind == BarrierKind::Arrive ? 1 : 0) + first, first + 2 + first);
    if (first == 1) decode.result(decode.operand(0));
    for (size_t i = first; i < decode.count(); ++i) {
        const bool is_predicate = first == 1 && i + 1 == decode.count();
        decode.source(decode.operand(i), is_predicate ? Type::Predicate : Type::U32, true);
    }
    op.run = &barrier;
}

/// bar.warp.sync: lanes may arrive at different places of the code.
Flow warp_barrier(Step& step) {
    const auto wanted = static_cast<uint32_t>(step.source(0)[std::countr_zero(step.mask)]);
    leave_others_behind(step);
    step.group.state = Group::State::AwaitsLanes;
    step.group.awaited = wanted;
    uint32_t here = 0;
    const auto waits_here = [&](const Group& group) {
        return group.mask != 0 && group.state == Group::State::AwaitsLanes && group.awaited == wanted &&
               group.frame->function->ops[group.pc].run == &warp_barrier;
    };
    for (const Group& group : step.warp.groups) here |= waits_here(group) ? group.mask : 0;
    if ((wanted & step.warp.alive & ~here) != 0) return Flow::Blocked;
    for (Group& group : step.warp.groups) {
        if (!waits_here(group)) continue;
        group.state = Group::State::Runs;
        ++group.pc;
    }
    return Flow::Jumped;
}

Flow memory_fence(Step& step) {
    fence(step.warp);
    return Flow::Next;
}
/// What the warp knows becomes known to the async proxy.
Flow proxy_fence(Step& step) {
    Warp& warp = step.warp;
    warp.proxied.join(warp.clock);
    ++warp.clock[warp.agent];
    return Flow::Next;
}
/// The warp's memory barriers are initialised for the async proxy and the cluster.
Flow memory_barrier_fence(Step& step) {
    for (auto& [offset, barrier] : step.block.memory_barriers) {
        if (barrier.initialiser == step.warp.agent) barrier.known_to_proxy = true;
    }
    fence(step.warp);
    return Flow::Next;
}
void decode_fence(Decode& decode) {
    decode.op().klass = InstructionClass::Barrier;
    if (decode.accept("mbarrier_init")) {
        decode.needs(90);
        decode.expect("release");
        decode.expect("cluster");
        decode.expect_operands(0, 0);
        decode.op().run = &memory_barrier_fence;
        return;
    }
    if (decode.accept("proxy")) {
        if (decode.accept("alias")) {
            decode.op().run = &memory_fence;
            return;
        }
        decode.needs(90);
        if (!decode.accept("async")) decode.refuse();
        const bool global_only = decode.accept("global");  // shared memory is what is checked
        for (const char* space : {"shared::cta", "shared::cluster"}) decode.accept(space);
        decode.expect_operands(0, 0);
        decode.op().run = global_only ? &memory_fence : &proxy_fence;
        return;
    }
    for (const char* word : {"sc", "acq_rel", "acquire", "release", "cta", "gpu", "sys", "gl", "cluster"})
        decode.accept(word);
    decode.expect_operands(0, 0);
    decode.op().run = &memory_fence;
}
void decode_bar(Decode& decode) {
    if (!decode.accept("warp")) return decode_barrier(decode);
    decode.expect("sync");
    decode.op().klass = InstructionClass::Warp;
    decode.expect_operands(1, 1);
    decode.source(decode.operand(0), Type::B32, true);
    decode.op().run = &warp_barrier;
}

}  // namespace

void complete_barriers(Block& block) {
    for (uint32_t number = 0; number < kBarriers; ++number) {
        if (is_complete(block, block.barriers[number])) release(block, number);
    }
}

void add_barrier_decoders(std::map<std::string, Decoder>& decoders) {
    decoders["bar"] = &decode_bar;
    decoders["barrier"] = &decode_barrier;
    decoders["membar"] = &decode_fence;
    decoders["fence"] = &decode_fence;
}

}  // namespace emulated_gpu
