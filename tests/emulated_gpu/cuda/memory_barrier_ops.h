#pragma once

#include "tests/emulated_gpu/cuda/decode.h"
#include "tests/emulated_gpu/cuda/memory_access.h"

namespace emulated_gpu {

/// A memory barrier in the shared memory of a block.
struct BarrierPlace {
    Block* block = nullptr;
    uint64_t offset = 0;
    MemoryBarrier* barrier = nullptr;
};
/// The memory barrier at a shared (or generic) address. Fails where there is none.
BarrierPlace find_memory_barrier(Step& step, int lane, Space space, uint64_t address);
/// Bytes of a copy have landed: fewer are to come.
void complete_transactions(Block& block, MemoryBarrier& barrier, uint64_t bytes);
/// Takes `.shared`, `.shared::cta` or `.shared::cluster`; Generic if none stands there.
Space read_shared_space(Decode& decode);

}  // namespace emulated_gpu
