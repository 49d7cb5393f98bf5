// Loads, stores and asynchronous copies: PTX ISA, chapter "Data Movement and Conversion Instructions".

#include <algorithm>
#include <cstring>

#include "tests/emulated_gpu/cuda/lanewise.h"
#include "tests/emulated_gpu/cuda/memory_access.h"
#include "tests/emulated_gpu/cuda/memory_order.h"

namespace emulated_gpu {
namespace {

uint64_t extend(uint64_t value, const Op& op) {
    if (!is_signed(op.type)) return value;
    const int shift = 64 - 8 * op.element_bytes;
    const auto extended = static_cast<uint64_t>(static_cast<int64_t>(value << shift) >> shift);
    return op.result_bits >= 64 ? extended : extended & ((uint64_t{1} << op.result_bits) - 1);
}

/// Collects where the lanes went, by space, and counts at the end.
class AccessCounts {
public:
    AccessCounts(Step& step, uint32_t bytes, bool store) : counters_(step.launch.counters), store_(store) {
        global_.bytes = shared_.bytes = bytes;
    }
    ~AccessCounts() {
        if (global_.mask != 0) count_global(counters_, global_, store_);
        if (shared_.mask != 0) count_shared(counters_, shared_, store_);
    }
    AccessCounts(const AccessCounts&) = delete;
    AccessCounts& operator=(const AccessCounts&) = delete;

    void add(const Target& target, int lane) {
        if (target.space == Space::Global)
            note(global_, target, lane);
        else if (target.space == Space::Shared)
            note(shared_, target, lane);
        else if (target.space == Space::Local)
            counters_.local_bytes += global_.bytes;
    }

private:
    static void note(LaneAddresses& access, const Target& target, int lane) {
        access.mask |= 1U << lane;
        access.address[static_cast<size_t>(lane)] = target.offset;
    }
    Counters& counters_;
    bool store_;
    LaneAddresses global_;
    LaneAddresses shared_;
};

bool local_is_written(const Step& step, int lane, uint64_t offset, uint64_t bytes) {
    const auto first = step.warp.local_written.begin() +
                       static_cast<ptrdiff_t>(static_cast<uint64_t>(lane) * step.warp.local_stride + offset);
    return std::all_of(first, first + static_cast<ptrdiff_t>(bytes), [](uint8_t written) { return written != 0; });
}

void mark_local(Step& step, int lane, uint64_t offset, uint64_t bytes, bool written) {
    const auto first = step.warp.local_written.begin() +
                       static_cast<ptrdiff_t>(static_cast<uint64_t>(lane) * step.warp.local_stride + offset);
    std::fill_n(first, bytes, static_cast<uint8_t>(written));
}

/// Source 0 is the address; op.flag: volatile or relaxed.
Flow load(Step& step) {
    const Op& op = step.op;
    const uint64_t* base = step.source(0);
    const uint64_t bytes = static_cast<uint64_t>(op.element_bytes) * op.elements;
    AccessCounts counts(step, static_cast<uint32_t>(bytes), false);
    uint32_t ready = step.mask;
    for_lanes(step.mask, [&](int lane) {
        const Target target =
            resolve(step, lane, op.space, base[lane] + static_cast<uint64_t>(op.offset), bytes, Access::Load);
        counts.add(target, lane);
        if (SharedShadow* shadow = target.shadow()) {
            shadow->read(target.offset, bytes, step.warp.agent, step.warp.clock, step.line(), lane, op.flag);
        }
        note_global(step, lane, target, bytes, Access::Load, op.flag);
        if (target.space == Space::Local && !local_is_written(step, lane, target.offset, bytes)) ready &= ~(1U << lane);
        if (op.flag) observe(step, target);
        for (size_t element = 0; element < op.elements; ++element) {
            uint64_t value = 0;
            std::memcpy(&value, target.data + element * op.element_bytes, op.element_bytes);
            step.result(element)[lane] = extend(value, op);
        }
    });
    for (size_t element = 0; element < op.result_count; ++element) step.mark(element, ready);
    if (op.detail & kAcquires) fence(step.warp);
    return Flow::Next;
}

/// Two lanes of one instruction that write different values to the same byte: which one stays is not defined.
void check_lanes_agree(Step& step, const std::array<Target, kLanes>& targets, uint64_t bytes, int lane) {
    for (int other = 0; other < lane; ++other) {
        if (((step.mask >> other) & 1) == 0) continue;
        const Target& mine = targets[static_cast<size_t>(lane)];
        const Target& theirs = targets[static_cast<size_t>(other)];
        if (theirs.block != mine.block || mine.block == nullptr || theirs.offset != mine.offset) continue;
        for (size_t element = 1; element < step.op.source_count; ++element) {
            if (step.source(element)[lane] == step.source(element)[other]) continue;
            throw Fault{FaultKind::SharedRace,
                        "lanes " + std::to_string(other) + " and " + std::to_string(lane) +
                            " write different values to the " + std::to_string(bytes) + " shared bytes at " +
                            std::to_string(mine.offset),
                        lane};
        }
    }
}

void check_stored_registers(Step& step, const Target& target, int lane) {
    if (!step.launch.options.check_registers) return;
    for (size_t element = 1; element < step.op.source_count; ++element) {
        if ((step.ready(element) >> lane) & 1) continue;
        if (target.space == Space::Local) {
            mark_local(step, lane, target.offset + (element - 1) * step.op.element_bytes, step.op.element_bytes, false);
            continue;
        }
        throw Fault{FaultKind::UninitialisedRegister,
                    "stores a register that was never written, operand " + std::to_string(element), lane};
    }
}

Flow store(Step& step) {
    const Op& op = step.op;
    if (op.detail & kReleases) fence(step.warp);
    const uint64_t* base = step.source(0);
    const uint64_t bytes = static_cast<uint64_t>(op.element_bytes) * op.elements;
    AccessCounts counts(step, static_cast<uint32_t>(bytes), true);
    std::array<Target, kLanes> targets;
    for_lanes(step.mask, [&](int lane) {
        Target& target = targets[static_cast<size_t>(lane)];
        target = resolve(step, lane, op.space, base[lane] + static_cast<uint64_t>(op.offset), bytes, Access::Store);
        counts.add(target, lane);
        if (target.space == Space::Local) mark_local(step, lane, target.offset, bytes, true);
        check_stored_registers(step, target, lane);
        if (SharedShadow* shadow = target.shadow()) {
            shadow->write(target.offset, bytes, step.warp.agent, step.warp.clock, step.line(), lane, op.flag);
            check_lanes_agree(step, targets, bytes, lane);
        }
        note_global(step, lane, target, bytes, Access::Store, op.flag);
        if (op.flag) publish(step, target);
        for (size_t element = 0; element < op.elements; ++element) {
            const uint64_t value = step.source(element + 1)[lane];
            std::memcpy(target.data + element * op.element_bytes, &value, op.element_bytes);
        }
    });
    return Flow::Next;
}

/// Takes the state space; Generic if none stands there.
Space read_space(Decode& decode) {
    if (decode.accept("global")) return Space::Global;
    if (decode.accept("shared") || decode.accept("shared::cta") || decode.accept("shared::cluster"))
        return Space::Shared;
    if (decode.accept("const")) return Space::Global;  // constant variables live among the device's allocations
    if (decode.accept("local")) return Space::Local;
    if (decode.accept("param") || decode.accept("param::entry") || decode.accept("param::func"))
        return Space::Parameter;
    return Space::Generic;
}

/// .param variables of a body and parameters of functions lie in the frame's local memory.
Space settle_parameter_space(Decode& decode, Space space, const Operand& address) {
    if (space != Space::Parameter) return space;
    if (!decode.function().source->is_entry) return Space::Local;
    const bool is_symbol = !address.parts.empty() && address.parts[0].kind == Operand::Kind::Symbol;
    return is_symbol && decode.function().locals.contains(address.parts[0].name) ? Space::Local : Space::Parameter;
}

void read_order(Decode& decode) {
    Op& op = decode.op();
    if (decode.accept("weak")) return;
    if (decode.accept("volatile") || decode.accept("relaxed")) op.flag = true;
    if (decode.accept("acquire")) op.flag = true, op.detail |= kAcquires;
    if (decode.accept("release")) op.flag = true, op.detail |= kReleases;
    if (op.flag) read_scope(decode);
}

void read_element(Decode& decode, const Operand& value) {
    Op& op = decode.op();
    op.elements = static_cast<uint8_t>(decode.vector());
    op.type = decode.type();
    op.element_bytes = static_cast<uint8_t>(type_bits(op.type) / 8);
    const size_t given = value.kind == Operand::Kind::Vector ? value.parts.size() : 1;
    if (given != op.elements) decode.fail("the vector does not have the elements the instruction names");
    if (op.element_bytes * op.elements > 16) decode.fail("a vector of more than 16 bytes");
    if (op.element_bytes == 0) decode.fail("predicates cannot be loaded or stored");
}

void decode_ld(Decode& decode) {
    Op& op = decode.op();
    op.klass = InstructionClass::Memory;
    op.keeps_track = false;
    read_order(decode);
    const Space space = read_space(decode);
    decode.accept("nc");
    decode.cache_hints();
    decode.expect_operands(2, 2);
    read_element(decode, decode.operand(0));
    op.space = settle_parameter_space(decode, space, decode.operand(1));
    decode.results_of(decode.operand(0));
    decode.address(decode.operand(1));
    op.run = &load;
}

void decode_st(Decode& decode) {
    Op& op = decode.op();
    op.klass = InstructionClass::Memory;
    read_order(decode);
    const Space space = read_space(decode);
    decode.cache_hints();
    decode.expect_operands(2, 2);
    read_element(decode, decode.operand(1));
    op.space = settle_parameter_space(decode, space, decode.operand(0));
    decode.address(decode.operand(0));
    decode.sources_of(decode.operand(1), op.type);
    op.run = &store;
}

void decode_prefetch(Decode& decode) {
    decode.op().klass = InstructionClass::Memory;
    decode.accept("tensormap");
    read_space(decode);
    for (const char* level : {"L1", "L2", "L2::evict_last", "L2::evict_normal"}) decode.accept(level);
    decode.address(decode.operand(0));
    decode.op().run = [](Step&) { return Flow::Next; };
}

/// createpolicy: caches are not modelled, and any policy is as good as another.
void decode_policy(Decode& decode) {
    decode.op().klass = InstructionClass::Memory;
    for (const char* word : {"fractional", "cvt", "range", "global", "L2", "L2::evict_last", "L2::evict_normal",
                             "L2::evict_first", "L2::evict_unchanged"}) {
        while (decode.accept(word)) {
        }
    }
    decode.expect("b64");
    decode.result(decode.operand(0));
    decode.op().run = [](Step& step) {
        for_lanes(step.mask, [&](int lane) { step.result()[lane] = 0; });
        return Flow::Next;
    };
}

/// cp.async: sources are the shared address, the global address and, if given, how many bytes to read.
Flow copy_async(Step& step) {
    const Op& op = step.op;
    const uint64_t bytes = op.element_bytes;
    LaneAddresses global;
    global.bytes = static_cast<uint32_t>(bytes);
    for_lanes(step.mask, [&](int lane) {
        const uint64_t to = step.source(0)[lane] + static_cast<uint64_t>(op.offset);
        const uint64_t from = step.source(1)[lane] + op.detail;
        const uint64_t given = op.source_count > 2 ? step.source(2)[lane] & 0xffffffffU : bytes;
        const uint64_t read = op.flag ? (given & 1 ? 0 : bytes) : given;  // op.flag: an ignore-src predicate
        if (read > bytes) {
            throw Fault{FaultKind::IllegalAddress,
                        "cp.async reads " + std::to_string(read) + " bytes to copy " + std::to_string(bytes), lane};
        }
        const Target target = resolve(step, lane, Space::Shared, to, bytes, Access::Store);
        if (from % bytes != 0) resolve(step, lane, Space::Global, from, bytes, Access::Load);  // throws
        if (read > 0) {
            const Target source = resolve(step, lane, Space::Generic, from, 1, Access::Load);
            if (source.space != Space::Global || step.launch.memory.at(from, read) == nullptr) {
                resolve(step, lane, Space::Global, from, bytes, Access::Load);
                throw Fault{FaultKind::IllegalAddress, "cp.async reads from no global memory", lane};
            }
            note_global(step, lane, {Space::Global, from, source.data, nullptr}, read, Access::Load, false);
            global.mask |= 1U << lane;
            global.address[static_cast<size_t>(lane)] = from;
        }
        if (step.block.shadow) {
            step.block.shadow->issue_copy(target.offset, bytes, step.warp.agent, step.warp.clock, step.line(), lane);
        }
        step.warp.copies.push_back({lane, step.warp.copies_issued, step.warp.committed[static_cast<size_t>(lane)],
                                    target.offset, from, static_cast<uint32_t>(bytes), static_cast<uint32_t>(read),
                                    step.line()});
        step.launch.counters.async_copy_bytes += bytes;
    });
    ++step.warp.copies_issued;
    if (global.mask != 0) count_global(step.launch.counters, global, false);
    return Flow::Next;
}

Flow commit_copies(Step& step) {
    for_lanes(step.mask, [&](int lane) { ++step.warp.committed[static_cast<size_t>(lane)]; });
    return Flow::Next;
}
Flow wait_group(Step& step) {
    const auto keep = static_cast<uint32_t>(step.op.detail);
    land_copies(step.block, step.warp, [&](const AsyncCopy& copy) {
        return ((step.mask >> copy.lane) & 1) != 0 &&
               copy.commit_group + keep < step.warp.committed[static_cast<size_t>(copy.lane)];
    });
    return Flow::Next;
}
Flow wait_all(Step& step) {
    land_copies(step.block, step.warp, [&](const AsyncCopy& copy) { return ((step.mask >> copy.lane) & 1) != 0; });
    return Flow::Next;
}

void decode_copy(Decode& decode) {
    Op& op = decode.op();
    const bool by_16 = decode.accept("cg");
    if (!by_16) decode.expect("ca");
    if (!decode.accept("shared")) decode.expect("shared::cta");
    decode.expect("global");
    decode.cache_hints();
    decode.expect_operands(3, 4);
    const int64_t bytes = decode.constant(decode.operand(2));
    if (bytes != 16 && (by_16 || (bytes != 4 && bytes != 8)))
        decode.fail("cp.async cannot copy this many bytes at once");
    op.element_bytes = static_cast<uint8_t>(bytes);
    decode.address(decode.operand(1));
    op.detail = static_cast<uint64_t>(op.offset);
    decode.address(decode.operand(0));
    std::swap(op.sources[0], op.sources[1]);
    if (decode.count() == 4) {
        const Operand& last = decode.operand(3);
        op.flag = last.kind == Operand::Kind::Register &&
                  decode.function().source->registers[static_cast<size_t>(last.index)].type == Type::Predicate;
        decode.source(last, Type::B32, true);
    }
    op.run = &copy_async;
}

/// cp.async, its commits and its waits.
void decode_cp(Decode& decode) {
    Op& op = decode.op();
    op.klass = InstructionClass::AsyncCopy;
    if (decode.has("reduce")) decode.refuse();
    decode.expect("async");
    if (decode.has("bulk")) return decode_bulk_copy(decode);
    if (decode.has("mbarrier")) return decode_deferred_arrival(decode);
    if (decode.accept("commit_group")) {
        op.run = &commit_copies;
        return decode.expect_operands(0, 0);
    }
    if (decode.accept("wait_all")) {
        op.run = &wait_all;
        return decode.expect_operands(0, 0);
    }
    if (decode.accept("wait_group")) {
        decode.expect_operands(1, 1);
        op.detail = static_cast<uint64_t>(decode.constant(decode.operand(0)));
        op.run = &wait_group;
        return;
    }
    decode_copy(decode);
}

}  // namespace

void land_copies(Block& block, Warp& warp, const std::function<bool(const AsyncCopy&)>& lands) {
    for (const AsyncCopy& copy : warp.copies) {
        if (!lands(copy)) continue;
        uint8_t* to = block.shared.data() + copy.destination;
        if (copy.source_bytes < copy.bytes) std::memset(to, 0, copy.bytes);
        if (copy.source_bytes > 0) {
            const uint8_t* from = block.launch.memory.at(copy.source, copy.source_bytes);
            if (from == nullptr)
                throw Fault{FaultKind::IllegalAddress, "cp.async reads memory that was freed", copy.lane};
            std::memcpy(to, from, copy.source_bytes);
        }
        if (block.shadow) block.shadow->landed(copy.destination, copy.bytes, warp.agent, warp.clock, copy.line);
    }
    std::erase_if(warp.copies, lands);
}

void observe(Step& step, const Target& target) {
    const auto found = step.block.cluster.published.find(order_key(target));
    if (found != step.block.cluster.published.end()) step.warp.observed.join(found->second);
    if (step.warp.global == nullptr || target.space != Space::Global) return;
    const auto by_others = step.launch.published.find(target.offset);
    if (by_others != step.launch.published.end()) step.warp.observed.global.join(by_others->second);
}

void publish(Step& step, const Target& target) {
    step.block.cluster.published[order_key(target)].join(step.warp.fenced);
    if (step.warp.global != nullptr && target.space == Space::Global) {
        step.launch.published[target.offset].join(step.warp.fenced.global);
    }
}

void read_scope(Decode& decode) {
    for (const char* scope : {"cta", "gpu", "sys", "cluster"}) decode.accept(scope);
}

void add_memory_decoders(std::map<std::string, Decoder>& decoders) {
    decoders["ld"] = &decode_ld;
    decoders["ldu"] = &decode_ld;
    decoders["st"] = &decode_st;
    decoders["prefetch"] = &decode_prefetch;
    decoders["prefetchu"] = &decode_prefetch;
    decoders["createpolicy"] = &decode_policy;
    decoders["cp"] = &decode_cp;
}

}  // namespace emulated_gpu
