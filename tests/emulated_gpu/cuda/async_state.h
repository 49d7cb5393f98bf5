#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "tests/emulated_gpu/common/shared_shadow.h"
#include "tests/emulated_gpu/cuda/tensor_map.h"

namespace emulated_gpu {

struct Block;
struct Frame;
struct Op;

/// What happened before some point, and which of it a proxy fence on the way has made known to the async proxy.
struct Knowledge {
    VectorClock events;
    VectorClock proxied;
    VectorClock global;  // of blocks, where races between them are checked
    void join(const Knowledge& other) {
        events.join(other.events);
        proxied.join(other.proxied);
        global.join(other.global);
    }
};

/// An arrival that happens once copies of cp.async have landed.
struct DeferredArrival {
    uint32_t warp = 0;
    int lane = 0;
    uint32_t copies = 0;  // that the warp had issued by then
};

/// An mbarrier object: PTX ISA, chapter "Parallel Synchronization and Communication Instructions: mbarrier".
struct MemoryBarrier {
    uint32_t expected = 0;     // arrivals of each phase
    uint32_t pending = 0;      // arrivals that this phase lacks
    int64_t transactions = 0;  // bytes that this phase lacks
    uint64_t phase = 0;
    Knowledge arriving;   // of those that have arrived in this phase
    Knowledge completed;  // of those that arrived in phases before it
    uint32_t agent = 0;   // in whose name copies write that complete here
    uint32_t tick = 0;    // of that agent
    uint32_t initialiser = 0;
    uint32_t initialised = 0;  // when, on the initialiser's clock
    bool known_to_proxy = false;
    int line = 0;
    std::vector<DeferredArrival> deferred;
};

/// What a bulk copy moves: bytes in a row, or a box of a tensor in global memory.
struct BulkShape {
    uint64_t bytes = 0;    // in shared memory
    uint64_t address = 0;  // in global memory; unused for a tensor
    bool is_tensor = false;
    TensorMap map;
    std::array<int32_t, kMostDimensions> at{};  // coordinates of the box
};

/// A bulk copy into shared memory that has not landed.
struct BulkLoad {
    BulkShape shape;
    Block* source = nullptr;     // a block whose shared memory it reads; else global memory
    uint64_t source_offset = 0;  // there
    uint64_t destination = 0;    // offset in the shared memory of the block that holds this
    uint64_t barrier = 0;        // likewise
    int line = 0;
    uint32_t bulk_agent = 0;  // that reads the source block
    uint32_t bulk_tick = 0;
};

/// A bulk copy from shared to global memory that has not been waited for.
struct BulkStore {
    BulkShape shape;
    uint64_t source = 0;  // offset in the block's shared memory
    int lane = 0;
    uint32_t group = 0;  // of the lane's bulk groups
    uint32_t tick = 0;
    int line = 0;
    bool read = false;  // the source has been read
    std::vector<uint8_t> data;
};
struct BulkStores {
    std::vector<BulkStore> pending;
    std::array<uint32_t, 32> committed{};  // bulk groups so far, by lane
    uint32_t ticks = 0;
};

/// A wgmma.mma_async that a warp has issued and not waited for.
struct PendingProduct {
    const Op* op = nullptr;
    std::shared_ptr<Frame> frame;
    uint64_t a = 0;  // descriptor, if A is in shared memory
    uint64_t b = 0;
    bool adds = false;  // to D; else D is overwritten
    uint32_t group = 0;
    bool computed = false;
};
struct WarpProducts {
    std::deque<PendingProduct> pending;
    uint64_t first = 0;      // the number of the first of these, counted from the kernel's start
    uint32_t committed = 0;  // groups
    bool fenced = false;     // a wgmma.fence has run
    uint64_t issued() const { return first + pending.size(); }
};

}  // namespace emulated_gpu
