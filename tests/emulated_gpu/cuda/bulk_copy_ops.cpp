// Bulk copies by the asynchronous engine: PTX ISA, cp.async.bulk and cp.async.bulk.tensor of chapter "Data Movement and
// Conversion Instructions".

#include <algorithm>
#include <cstring>

#include "tests/emulated_gpu/cuda/lanewise.h"
#include "tests/emulated_gpu/cuda/memory_barrier_ops.h"

namespace emulated_gpu {
namespace {

constexpr uint64_t kChunk = 16;  // bytes; what swizzling moves about
constexpr uint64_t kTensorAlignment = 128;
constexpr uint64_t kSectorBytes = 32;

/// Bits of Op::detail.
constexpr uint64_t kTensor = 1;
constexpr uint64_t kMulticast = 2;
constexpr uint64_t kFromShared = 4;
constexpr uint64_t kOnlyReads = 8;
constexpr uint64_t kGroupShift = 8;  // of wait_group: how many groups may be left

/// Calls `visit(offset)` for each chunk of shared memory that the copy touches, in the order of the data.
template <class Visit>
void for_shared_chunks(const BulkShape& shape, uint64_t base, Visit&& visit) {
    const Swizzle swizzle = shape.is_tensor ? shape.map.swizzle : Swizzle::None;
    for (uint64_t at = 0; at < shape.bytes; at += kChunk) visit(swizzled(base + at, swizzle));
}

uint8_t* global_bytes(Launch& launch, uint64_t address, uint64_t bytes, bool writes, int lane) {
    const Allocation* allocation = launch.recent;
    if (allocation == nullptr || address - allocation->base >= allocation->bytes) {
        allocation = launch.memory.find(address);
    }
    const bool inside = allocation != nullptr && !allocation->freed &&
                        address - allocation->base <= allocation->bytes &&
                        bytes <= allocation->bytes - (address - allocation->base);
    if (!inside || (writes && allocation->read_only)) {
        throw Fault{FaultKind::IllegalAddress,
                    std::string("a bulk copy ") + (writes ? "writes " : "reads ") + std::to_string(bytes) +
                        " bytes at " + hexadecimal(address) +
                        (inside ? ", which is constant memory" : ", which no allocation holds"),
                    lane};
    }
    launch.recent = allocation;
    return allocation->data + (address - allocation->base);
}

/// Calls `visit(offset in the data, global bytes, how many)` for all of the copy that lies in global memory.
template <class Visit>
void for_global_pieces(Launch& launch, const BulkShape& shape, bool writes, int lane, Visit&& visit) {
    if (!shape.is_tensor) {
        visit(uint64_t{0}, global_bytes(launch, shape.address, shape.bytes, writes, lane), shape.bytes);
        return;
    }
    for_box_chunks(shape.map, shape.at, [&](const BoxChunk& chunk) {
        const uint64_t bytes = chunk.last - chunk.first;
        if (bytes == 0) return;
        visit(chunk.offset + chunk.first, global_bytes(launch, chunk.address, bytes, writes, lane), bytes);
    });
}

/// Checks that all of the copy lies in allocations, and for races with other blocks.
void note_pieces(Step& step, const BulkShape& shape, Access access, int lane) {
    const auto note = [&](uint64_t address, uint64_t bytes) {
        uint8_t* data = global_bytes(step.launch, address, bytes, access == Access::Store, lane);
        note_global(step, lane, {Space::Global, address, data, nullptr}, bytes, access, false);
    };
    if (!shape.is_tensor) return note(shape.address, shape.bytes);
    for_box_chunks(shape.map, shape.at, [&](const BoxChunk& chunk) {
        if (chunk.last > chunk.first) note(chunk.address, chunk.last - chunk.first);
    });
}

/// Counts sectors: of each piece that lies in a row, and the fewest that the bytes would need.
void count_sectors(Launch& launch, const BulkShape& shape, bool writes) {
    uint64_t sectors = 0;
    uint64_t bytes = 0;
    uint64_t next_sector = 0;
    const auto add = [&](uint64_t address, uint64_t count) {
        const uint64_t first = address / kSectorBytes;
        const uint64_t last = (address + count - 1) / kSectorBytes;
        sectors += last + 1 - first - (first + 1 == next_sector ? 1 : 0);  // goes on in the sector of the piece before
        next_sector = last + 1;
        bytes += count;
    };
    if (shape.is_tensor) {
        for_box_chunks(shape.map, shape.at, [&](const BoxChunk& chunk) {
            if (chunk.last > chunk.first) add(chunk.address, chunk.last - chunk.first);
        });
    } else {
        add(shape.address, shape.bytes);
    }
    Counters& counters = launch.counters;
    (writes ? counters.global_store_sectors : counters.global_load_sectors) += sectors;
    (writes ? counters.global_store_bytes : counters.global_load_bytes) += bytes;
    counters.global_fewest_sectors += (bytes + kSectorBytes - 1) / kSectorBytes;
    counters.async_copy_bytes += shape.bytes;
}

uint64_t operand(const Step& step, size_t index, int lane) {
    const uint64_t offset = index < step.op.offsets.size() ? static_cast<uint64_t>(step.op.offsets[index]) : 0;
    return step.source(index)[lane] + offset;
}

void check_aligned(uint64_t address, uint64_t alignment, const char* what, int lane) {
    if (address % alignment == 0) return;
    throw Fault{FaultKind::MisalignedAddress,
                std::string(what) + " of a bulk copy is " + hexadecimal(address) + ", which is no multiple of " +
                    std::to_string(alignment),
                lane};
}

/// The tensor map at the address, and coordinates from the sources behind `first`.
BulkShape tensor_shape(Step& step, int lane, uint64_t map_address, size_t first, size_t rank) {
    BulkShape shape;
    shape.is_tensor = true;
    check_aligned(map_address, 64, "the tensor map", lane);
    std::array<uint64_t, 16> words{};
    for (size_t i = 0; i < words.size(); ++i) {
        read_generic(step, lane, map_address + 8 * i, 8, &words[i]);
    }
    std::memcpy(static_cast<void*>(&shape.map), words.data(), sizeof shape.map);
    if (shape.map.magic != kTensorMapMagic) {
        throw Fault{FaultKind::BadDescriptor,
                    "there is no tensor map at " + hexadecimal(map_address) + " that cuTensorMapEncodeTiled made",
                    lane};
    }
    if (shape.map.rank != rank) {
        throw Fault{FaultKind::BadDescriptor,
                    "the tensor map has " + std::to_string(shape.map.rank) + " dimensions, the instruction " +
                        std::to_string(rank),
                    lane};
    }
    for (size_t i = 0; i < rank; ++i) shape.at[i] = static_cast<int32_t>(step.source(first + i)[lane]);
    shape.bytes = shape.map.box_bytes();
    return shape;
}

void check_inside(const Block& block, uint64_t offset, uint64_t bytes, int lane) {
    if (offset <= block.shared.size() && bytes <= block.shared.size() - offset) return;
    throw Fault{FaultKind::IllegalAddress,
                "a bulk copy of " + std::to_string(bytes) + " bytes at byte " + std::to_string(offset) +
                    " of the block's " + std::to_string(block.shared.size()) + " bytes of shared memory",
                lane};
}

/// The swizzle pattern may leave a box that does not begin where the pattern does.
void check_chunks_inside(const Block& block, const BulkShape& shape, uint64_t base, int lane) {
    check_inside(block, base, shape.bytes, lane);
    for_shared_chunks(shape, base, [&](uint64_t offset) { check_inside(block, offset, kChunk, lane); });
}

void check_barrier_seen(const Step& step, const MemoryBarrier& barrier, int lane) {
    if (barrier.known_to_proxy || step.warp.proxied[barrier.initialiser] >= barrier.initialised) return;
    if (!step.launch.options.check_shared) return;
    throw Fault{FaultKind::MissingFence,
                "completes on a memory barrier that was initialised at ptx line " + std::to_string(barrier.line) +
                    " with no fence.mbarrier_init or fence.proxy.async in between",
                lane};
}

void start_load(Step& step, Block& block, const BulkLoad& load, int lane) {
    const auto found = block.memory_barriers.find(load.barrier);
    if (found == block.memory_barriers.end()) {
        throw Fault{FaultKind::BarrierMisuse,
                    "there is no memory barrier at shared byte " + std::to_string(load.barrier) + " of block rank " +
                        std::to_string(block.rank),
                    lane};
    }
    check_barrier_seen(step, found->second, lane);
    check_chunks_inside(block, load.shape, load.destination, lane);
    if (block.shadow) {
        for_shared_chunks(load.shape, load.destination, [&](uint64_t offset) {
            block.shadow->issue_copy(offset, kChunk, step.warp.agent, step.warp.clock, step.line(), lane,
                                     &step.warp.proxied);
        });
    }
    block.bulk_loads.push_back(load);
}

/// Reads the source in the shared memory of a block, as far as the checks go.
void note_shared_read(Step& step, Block& block, const BulkShape& shape, uint64_t base, uint32_t tick, int lane) {
    check_chunks_inside(block, shape, base, lane);
    if (!block.shadow) return;
    const SharedShadow::AsyncRead read{step.warp.agent,
                                       step.warp.clock,
                                       step.warp.proxied,
                                       step.block.cluster.bulk_agent(step.warp),
                                       tick,
                                       step.line(),
                                       lane};
    for_shared_chunks(shape, base, [&](uint64_t offset) { block.shadow->read_asynchronously(offset, kChunk, read); });
}

/// Source 1 and what lies behind the memory barrier: what to copy.
BulkShape shape_to_load(Step& step, int lane) {
    if (step.op.detail & kTensor) return tensor_shape(step, lane, operand(step, 1, lane), 3, step.op.elements);
    BulkShape shape;
    shape.bytes = step.source(3)[lane] & 0xffffffffU;
    shape.address = operand(step, 1, lane);
    check_aligned(shape.bytes, kChunk, "the size", lane);
    check_aligned(shape.address, kChunk, "the source", lane);
    return shape;
}

/// Checks and notes what the copy reads.
void read_source(Step& step, BulkLoad& load, int lane) {
    if ((step.op.detail & kFromShared) == 0) {
        note_pieces(step, load.shape, Access::Load, lane);
        return count_sectors(step.launch, load.shape, false);
    }
    const Target source = resolve(step, lane, Space::Shared, load.shape.address, kChunk, Access::Load);
    load.source = source.block;
    load.source_offset = source.offset;
    load.bulk_agent = step.block.cluster.bulk_agent(step.warp);
    load.bulk_tick = ++step.warp.bulk_stores.ticks;
    note_shared_read(step, *source.block, load.shape, source.offset, load.bulk_tick, lane);
    step.launch.counters.async_copy_bytes += load.shape.bytes;
}

/// To the same place in each block that the mask in the last source names.
void start_multicast(Step& step, const BulkLoad& load, int lane) {
    const auto& blocks = step.block.cluster.blocks;
    const uint64_t mask = step.source(step.op.source_count - 1U)[lane] & 0xffff;
    if (mask == 0 || mask >> blocks.size() != 0) {
        throw Fault{FaultKind::BadDescriptor,
                    "the mask " + hexadecimal(mask) + " of a multicast does not fit a cluster of " +
                        std::to_string(blocks.size()) + " blocks",
                    lane};
    }
    for (size_t i = 0; i < blocks.size(); ++i) {
        if ((mask >> i) & 1) start_load(step, *blocks[i], load, lane);
    }
}

/// Sources: destination, source or tensor map, memory barrier, then the size or the coordinates, then a mask of blocks.
Flow copy_to_shared(Step& step) {
    const uint64_t how = step.op.detail;
    for_lanes(step.mask, [&](int lane) {
        BulkLoad load;
        load.line = step.line();
        load.shape = shape_to_load(step, lane);
        const uint64_t to = operand(step, 0, lane);
        check_aligned(to, how & kTensor ? kTensorAlignment : kChunk, "the destination", lane);
        const Target target = resolve(step, lane, Space::Shared, to, kChunk, Access::Store);
        const BarrierPlace barrier = find_memory_barrier(step, lane, Space::Shared, operand(step, 2, lane));
        load.destination = target.offset;
        load.barrier = barrier.offset;
        read_source(step, load, lane);
        if (how & kMulticast) return start_multicast(step, load, lane);
        if (barrier.block != target.block) {
            throw Fault{FaultKind::BarrierMisuse, "the memory barrier of a bulk copy is not in the block it copies to",
                        lane};
        }
        start_load(step, *target.block, load, lane);
    });
    return Flow::Next;
}

/// Sources: destination or tensor map, source, then the size or the coordinates.
Flow copy_to_global(Step& step) {
    const Op& op = step.op;
    for_lanes(step.mask, [&](int lane) {
        BulkStore store;
        store.line = step.line();
        store.lane = lane;
        if (op.detail & kTensor) {
            store.shape = tensor_shape(step, lane, operand(step, 0, lane), 2, op.elements);
        } else {
            store.shape.bytes = step.source(2)[lane] & 0xffffffffU;
            store.shape.address = operand(step, 0, lane);
            check_aligned(store.shape.bytes, kChunk, "the size", lane);
            check_aligned(store.shape.address, kChunk, "the destination", lane);
        }
        const uint64_t from = operand(step, 1, lane);
        check_aligned(from, op.detail & kTensor ? kTensorAlignment : kChunk, "the source", lane);
        const Target source = resolve(step, lane, Space::Shared, from, kChunk, Access::Load);
        if (source.block != &step.block) {
            throw Fault{FaultKind::IllegalAddress, "a bulk copy to global memory reads the block's own shared memory",
                        lane};
        }
        store.source = source.offset;
        BulkStores& stores = step.warp.bulk_stores;
        store.group = stores.committed[static_cast<size_t>(lane)];
        store.tick = ++stores.ticks;
        note_pieces(step, store.shape, Access::Store, lane);
        count_sectors(step.launch, store.shape, true);
        note_shared_read(step, step.block, store.shape, store.source, store.tick, lane);
        stores.pending.push_back(std::move(store));
    });
    return Flow::Next;
}

Flow commit_bulk_group(Step& step) {
    for_lanes(step.mask, [&](int lane) { ++step.warp.bulk_stores.committed[static_cast<size_t>(lane)]; });
    return Flow::Next;
}

Flow wait_bulk_group(Step& step) {
    BulkStores& stores = step.warp.bulk_stores;
    const uint64_t keep = step.op.detail >> kGroupShift;
    const auto ends = [&](const BulkStore& store) {
        return ((step.mask >> store.lane) & 1) != 0 &&
               store.group + keep < stores.committed[static_cast<size_t>(store.lane)];
    };
    end_bulk_stores(step.block, step.warp, ends, (step.op.detail & kOnlyReads) == 0);
    uint32_t done = stores.ticks;
    for (const BulkStore& store : stores.pending) {
        if (!store.read) done = std::min(done, store.tick - 1);
    }
    step.warp.clock[step.block.cluster.bulk_agent(step.warp)] = done;
    return Flow::Next;
}

/// An address among several: its own offset is kept.
void several_addresses(Decode& decode, const Operand& address) {
    decode.address(address);
    decode.op().offsets.push_back(decode.op().offset);
}

/// `[map, {x, y}]`: the map now, the coordinates when `tensor_coordinates` is called.
size_t tensor_rank(Decode& decode) {
    for (const char* name : {"1d", "2d", "3d", "4d", "5d"}) {
        if (decode.accept(name)) return static_cast<size_t>(name[0] - '0');
    }
    decode.fail("'" + decode.instruction().text + "' lacks the number of dimensions");
}
void tensor_coordinates(Decode& decode, const Operand& address, size_t rank) {
    if (address.kind != Operand::Kind::Address || address.parts.size() != 2 || address.parts[1].parts.size() != rank) {
        decode.fail("'" + decode.instruction().text + "' takes " + std::to_string(rank) + " coordinates");
    }
    for (const Operand& coordinate : address.parts[1].parts) decode.source(coordinate, Type::S32, true);
}

void decode_to_shared(Decode& decode, bool is_tensor) {
    Op& op = decode.op();
    op.run = &copy_to_shared;
    if (is_tensor) {
        op.detail |= kTensor;
        op.elements = static_cast<uint8_t>(tensor_rank(decode));
        decode.accept("tile");
    }
    const bool to_cluster = decode.accept("shared::cluster");
    const bool names_own = decode.accept("shared::cta");
    const bool from_global = decode.accept("global");
    if (!from_global && (!to_cluster || !names_own || is_tensor)) decode.refuse();
    if (!from_global) op.detail |= kFromShared;
    if (decode.accept("multicast::cluster")) {
        if (!from_global) decode.fail("only copies from global memory go to several blocks");
        op.detail |= kMulticast;
    }
    decode.cache_hints();
    const size_t plain = is_tensor ? 3 : 4;
    const size_t wanted = plain + (op.detail & kMulticast ? 1 : 0);
    decode.expect_operands(wanted, wanted);
    several_addresses(decode, decode.operand(0));
    several_addresses(decode, decode.operand(1));
    several_addresses(decode, decode.operand(plain - 1));
    if (is_tensor)
        tensor_coordinates(decode, decode.operand(1), op.elements);
    else
        decode.source(decode.operand(2), Type::U32, true);
    if (op.detail & kMulticast) decode.source(decode.operand(plain), Type::U16, true);
}

void decode_to_global(Decode& decode, bool is_tensor) {
    Op& op = decode.op();
    op.run = &copy_to_global;
    if (is_tensor) {
        op.detail |= kTensor;
        op.elements = static_cast<uint8_t>(tensor_rank(decode));
        decode.accept("tile");
    }
    decode.expect("global");
    decode.expect("shared::cta");
    decode.cache_hints();
    const size_t wanted = is_tensor ? 2 : 3;
    decode.expect_operands(wanted, wanted);
    several_addresses(decode, decode.operand(0));
    several_addresses(decode, decode.operand(1));
    if (is_tensor)
        tensor_coordinates(decode, decode.operand(0), op.elements);
    else
        decode.source(decode.operand(2), Type::U32, true);
}

void decode_bulk_prefetch(Decode& decode) {
    if (decode.accept("tensor")) {
        const size_t rank = tensor_rank(decode);
        decode.accept("tile");
        tensor_coordinates(decode, decode.operand(0), rank);
    }
    decode.expect("L2");
    decode.expect("global");
    decode.cache_hints();
    decode.op().run = [](Step&) { return Flow::Next; };
}

/// Global memory as the copy finds it, and what lies outside of a tensor.
std::vector<uint8_t> gather(Launch& launch, const BulkShape& shape) {
    std::vector<uint8_t> data(shape.bytes);
    if (shape.is_tensor) {
        for_box_chunks(shape.map, shape.at,
                       [&](const BoxChunk& chunk) { fill_outside(shape.map, chunk, data.data() + chunk.offset); });
    }
    for_global_pieces(launch, shape, false, -1, [&](uint64_t at, const uint8_t* bytes, uint64_t count) {
        std::memcpy(data.data() + at, bytes, count);
    });
    return data;
}

std::vector<uint8_t> read_shared(const Block& block, const BulkShape& shape, uint64_t base) {
    std::vector<uint8_t> data;
    data.reserve(shape.bytes);
    for_shared_chunks(shape, base, [&](uint64_t offset) {
        const auto first = block.shared.begin() + static_cast<ptrdiff_t>(offset);
        data.insert(data.end(), first, first + kChunk);
    });
    return data;
}

void write_global(Launch& launch, const BulkStore& store) {
    for_global_pieces(launch, store.shape, true, store.lane, [&](uint64_t at, uint8_t* bytes, uint64_t count) {
        std::memcpy(bytes, store.data.data() + at, count);
    });
}

}  // namespace

void land_bulk_load(Block& block, size_t index) {
    const BulkLoad load = block.bulk_loads[index];
    block.bulk_loads.erase(block.bulk_loads.begin() + static_cast<ptrdiff_t>(index));
    const std::vector<uint8_t> data = load.source == nullptr
                                          ? gather(block.launch, load.shape)
                                          : read_shared(*load.source, load.shape, load.source_offset);
    const auto found = block.memory_barriers.find(load.barrier);
    if (found == block.memory_barriers.end()) {
        throw Fault{FaultKind::BarrierMisuse, "the memory barrier of the bulk copy at ptx line " +
                                                  std::to_string(load.line) +
                                                  " was invalidated before the copy landed"};
    }
    MemoryBarrier& barrier = found->second;
    const uint32_t tick = ++barrier.tick;
    uint64_t at = 0;
    for_shared_chunks(load.shape, load.destination, [&](uint64_t offset) {
        std::memcpy(block.shared.data() + offset, data.data() + at, kChunk);
        at += kChunk;
        if (block.shadow) block.shadow->landed_asynchronously(offset, kChunk, barrier.agent, tick, load.line);
    });
    barrier.arriving.events[barrier.agent] = tick;
    if (load.source != nullptr) {
        uint32_t& known = barrier.arriving.events[load.bulk_agent];
        known = std::max(known, load.bulk_tick);
    }
    complete_transactions(block, barrier, load.shape.bytes);
}

void end_bulk_stores(Block& block, Warp& warp, const std::function<bool(const BulkStore&)>& ends, bool writes) {
    auto& pending = warp.bulk_stores.pending;
    for (BulkStore& store : pending) {
        if (!ends(store)) continue;
        if (!store.read) store.data = read_shared(block, store.shape, store.source);
        store.read = true;
        if (writes) write_global(block.launch, store);
    }
    if (writes) std::erase_if(pending, ends);
}

void end_block(Block& block) {
    block.ended = true;
    const char* const kLate = " has not been waited for when its block ends";
    if (!block.bulk_loads.empty()) {
        throw Fault{FaultKind::AsyncCopyNotWaitedFor, "the bulk copy to shared memory issued at ptx line " +
                                                          std::to_string(block.bulk_loads[0].line) + kLate};
    }
    for (Warp& warp : block.warps) {
        for (const BulkStore& store : warp.bulk_stores.pending) {
            if (store.read) continue;
            throw Fault{FaultKind::AsyncCopyNotWaitedFor,
                        "the bulk copy from shared memory issued at ptx line " + std::to_string(store.line) + kLate};
        }
        end_bulk_stores(
            block, warp, [](const BulkStore&) { return true; }, true);
    }
    if (block.cluster.blocks.size() == 1 || !block.shadow) return;
    VectorClock known;
    for (const Warp& warp : block.warps) known.join(warp.clock);
    const uint32_t first = block.warps.front().agent;
    block.shadow->check_quiet(first, first + block.cluster.warps_per_block, known);
}

void decode_bulk_copy(Decode& decode) {
    Op& op = decode.op();
    op.klass = InstructionClass::AsyncCopy;
    decode.needs(90);
    decode.function().uses_async_reads = true;
    decode.expect("bulk");
    if (decode.accept("commit_group")) {
        op.run = &commit_bulk_group;
        return decode.expect_operands(0, 0);
    }
    if (decode.accept("wait_group")) {
        decode.expect_operands(1, 1);
        op.detail = static_cast<uint64_t>(decode.constant(decode.operand(0))) << kGroupShift;
        if (decode.accept("read")) op.detail |= kOnlyReads;
        op.run = &wait_bulk_group;
        return;
    }
    if (decode.accept("prefetch")) return decode_bulk_prefetch(decode);
    const bool is_tensor = decode.accept("tensor");
    if (decode.accept("mbarrier::complete_tx::bytes")) return decode_to_shared(decode, is_tensor);
    if (decode.accept("bulk_group")) return decode_to_global(decode, is_tensor);
    decode.refuse();
}

}  // namespace emulated_gpu
