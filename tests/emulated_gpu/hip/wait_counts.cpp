// Memory instructions under way: what each wait count guarantees (CDNA ISA, "Data Dependency Resolution"; RDNA3 ISA,
// "Manually Inserted Wait States"; RDNA4 ISA, "Data Dependency Resolution": its counters are those of RDNA3, split),
// and what a barrier orders.

#include <algorithm>

#include "tests/emulated_gpu/hip/execution.h"
#include "tests/emulated_gpu/hip/memory_access.h"

namespace emulated_gpu::hip {
namespace {

constexpr uint32_t kMostVectorMemory = 63;  // counts that the counters can hold
constexpr uint32_t most_other(Family family) {
    return family == Family::Cdna ? 15 : 63;
}

/// Of the counter that counts such an instruction.
const char* counter_name(Family family, Pending::Kind kind) {
    const bool is_split = family == Family::Rdna4;
    switch (kind) {
        case Pending::Kind::VectorMemory:
            return is_split ? "loadcnt" : "vmcnt";
        case Pending::Kind::VectorStore:
            return is_split ? "storecnt" : "vscnt";
        case Pending::Kind::Lds:
            return is_split ? "dscnt" : "lgkmcnt";
        case Pending::Kind::ScalarMemory:
            return is_split ? "kmcnt" : "lgkmcnt";
    }
    return "";
}

void await(Wave& wave, const Pending& pending) {
    for (uint32_t i = pending.first; i < uint32_t{pending.first} + pending.count; ++i) {
        uint32_t& awaits = pending.vector ? wave.vector_awaits[i] : wave.scalar_awaits[i];
        if (awaits == 0) ++wave.registers_awaited;
        awaits = pending.sequence;
    }
}

void land_copy(Step& step, const Pending& pending, const LdsCopy& copy) {
    uint8_t* to = step.group.lds.data() + copy.offset;
    if (copy.zeros)
        std::memset(to, 0, copy.bytes);
    else
        std::memcpy(to, global_bytes(step, static_cast<int>(copy.lane), copy.address, copy.bytes, Access::Load),
                    copy.bytes);
    if (step.group.shadow != nullptr) {
        step.group.shadow->landed(copy.offset, copy.bytes, step.wave.index, step.wave.clock,
                                  static_cast<int>(pending.op->instruction->address));
    }
}

void complete(Step& step, const Pending& pending) {
    Wave& wave = step.wave;
    for (uint32_t i = pending.first; i < uint32_t{pending.first} + pending.count; ++i) {
        uint32_t& awaits = pending.vector ? wave.vector_awaits[i] : wave.scalar_awaits[i];
        if (awaits != pending.sequence) continue;  // a later instruction writes it too
        awaits = 0;
        --wave.registers_awaited;
    }
    for (const LdsCopy& copy : pending.copies) land_copy(step, pending, copy);
}

/// Vector memory instructions complete in the order of their issue.
void complete_in_order(Step& step, std::deque<Pending>& queue, uint32_t left) {
    while (queue.size() > left) {
        complete(step, queue.front());
        queue.pop_front();
    }
}

/// LDS instructions complete in order among themselves, scalar loads in any: where one counter counts both, a count
/// above 0 may be all scalar loads' or all LDS instructions', whichever is worse.
void complete_other(Step& step, uint32_t lds_left, uint32_t scalar_left) {
    auto& queue = step.wave.other_memory;
    uint32_t lds_behind = 0;
    for (auto at = queue.rbegin(); at != queue.rend(); ++at) {
        if (at->kind == Pending::Kind::Lds) ++lds_behind;
        const bool done = at->kind == Pending::Kind::Lds ? lds_behind > lds_left : scalar_left == 0;
        if (!done) continue;
        complete(step, *at);
        at->op = nullptr;
    }
    std::erase_if(queue, [](const Pending& pending) { return pending.op == nullptr; });
}

[[noreturn]] void report_awaited(const Step& step, const Touch& touch, uint32_t number, uint32_t sequence) {
    std::string by = "a memory instruction";
    const char* counter = "";
    for (const auto* queue : {&step.wave.vector_memory, &step.wave.other_memory}) {
        for (const Pending& pending : *queue) {
            if (pending.sequence != sequence) continue;
            by = pending.op->instruction->text + " at code address " + hexadecimal(pending.op->instruction->address);
            counter = counter_name(step.launch.module.object.architecture.family, pending.kind);
        }
    }
    const bool accumulator = touch.vector && number >= kAccumulators;
    const std::string name = (touch.vector ? (accumulator ? "a" : "v") : "s") +
                             std::to_string(accumulator ? number - kAccumulators : number);
    throw Fault{FaultKind::RegisterNotWaitedFor, std::string(touch.writes ? "writes " : "reads ") + name + ", which " +
                                                     by + " is about to write: no wait covers it by " + counter};
}

/// Whether the instruction may overwrite what an earlier one of the same in-order queue will write.
bool in_same_queue(const Step& step, uint32_t sequence) {
    const InstructionClass klass = step.op.klass;
    const auto& queue = klass == InstructionClass::VectorMemory ? step.wave.vector_memory : step.wave.other_memory;
    if (klass != InstructionClass::VectorMemory && klass != InstructionClass::Lds) return false;
    return std::any_of(queue.begin(), queue.end(), [&](const Pending& pending) {
        return pending.sequence == sequence && pending.kind != Pending::Kind::ScalarMemory;
    });
}

}  // namespace

void issue(Step& step, Pending pending) {
    Wave& wave = step.wave;
    pending.op = &step.op;
    pending.sequence = wave.next_sequence++;
    await(wave, pending);
    const bool counts_vector = pending.kind == Pending::Kind::VectorMemory;
    const bool counts_stores = pending.kind == Pending::Kind::VectorStore;
    const bool lands_early = step.launch.options.shuffle && !pending.copies.empty() && step.launch.random() % 2 == 0;
    auto& queue = counts_vector ? wave.vector_memory : counts_stores ? wave.stores : wave.other_memory;
    queue.push_back(std::move(pending));
    if (counts_vector && lands_early) complete_in_order(step, queue, 0);
    if (counts_vector || counts_stores) return complete_in_order(step, queue, kMostVectorMemory);
    const uint32_t most = most_other(step.launch.module.object.architecture.family);
    if (queue.size() > most) complete_other(step, most, most);
}

void wait_for(Step& step, const WaitCounts& counts) {
    Wave& wave = step.wave;
    complete_in_order(step, wave.vector_memory, counts.loads);
    complete_in_order(step, wave.stores, counts.stores);
    if (std::min(counts.lds, counts.scalar) < wave.other_memory.size()) complete_other(step, counts.lds, counts.scalar);
}

void check_awaited(const Step& step) {
    for (size_t i = 0; i < step.op.touch_count; ++i) {
        const Touch& touch = step.op.touches[i];
        for (uint32_t number = touch.first; number < uint32_t{touch.first} + touch.count; ++number) {
            const uint32_t sequence = touch.vector ? step.wave.vector_awaits[number] : step.wave.scalar_awaits[number];
            if (sequence == 0 || (touch.writes && in_same_queue(step, sequence))) continue;
            report_awaited(step, touch, number, sequence);
        }
    }
}

namespace {

/// Memory instructions under way are not ordered by a barrier: their accesses now count as made behind it.
void restamp_in_flight(Workgroup& group, Wave& wave) {
    if (group.shadow == nullptr) return;
    for (const Pending& pending : wave.other_memory) {
        const int line = static_cast<int>(pending.op->instruction->address);
        for (const LdsRange& range : pending.ranges) {
            group.shadow->stamp(range.offset, range.bytes, range.write, wave.index, wave.clock, line);
        }
    }
}

}  // namespace

void signal_barrier(Step& step) {
    Wave& wave = step.wave;
    if (wave.signalled || wave.released) {
        throw Fault{FaultKind::BarrierMisuse, "the wave arrives at the barrier again before it has waited for it"};
    }
    wave.signalled = true;
    wave.signal_clock = wave.clock;
    ++wave.clock[wave.index];
    restamp_in_flight(step.group, wave);
}

void pass_barrier(Wave& wave) {
    wave.released = false;
    wave.clock.join(wave.release_clock);
    wave.state = WaveState::Runs;
}

}  // namespace emulated_gpu::hip
