// Runs the programs of a phase on a private oneTBB arena.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace kiln::runtime::cpu {

/// Threads that launches may use: KILN_THREADS, otherwise the cores this process may run on. Throws Error(user) if the
/// variable holds no number from 1 to 1024.
int thread_count();

/// Calls `body(first, last)` for disjoint ranges that cover 0 ... count - 1, and returns when all are done. Ranges are
/// contiguous, so that neighbouring programs, which share operands, run on one thread. Serial under ThreadSanitizer
/// (which does not see oneTBB's synchronisation) and in a forked child (whose worker threads do not exist).
void for_each_range(std::int64_t count, const std::function<void(std::int64_t, std::int64_t)>& body);

/// At least `bytes` of memory, aligned to 64, that belongs to the calling thread and is reused by its next call.
void* thread_scratch(std::size_t bytes);

}  // namespace kiln::runtime::cpu
