#pragma once

#include "tests/emulated_gpu/cuda/decode.h"
#include "tests/emulated_gpu/cuda/memory_access.h"

namespace emulated_gpu {

/// Bits of Op::detail for accesses with an order of their own.
inline constexpr uint64_t kAcquires = 1;
inline constexpr uint64_t kReleases = 2;

/// One key for each address of the generic space.
inline uint64_t order_key(const Target& target) {
    if (target.space != Space::Shared) return target.offset;
    return kSharedWindow + ((uint64_t{target.block->rank} + 1) << kRankShift) + target.offset;
}

/// A relaxed read sees what relaxed writes to the same address published; the next fence makes it known to the warp.
void observe(Step& step, const Target& target);
/// A relaxed write publishes what was in order before the warp's last fence.
void publish(Step& step, const Target& target);
/// Takes the modifier that names a scope; blocks of one device are all that is emulated, so that scopes do not differ.
void read_scope(Decode& decode);

}  // namespace emulated_gpu
