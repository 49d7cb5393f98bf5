#include "runtime/cpu/executor.h"

#include <fmt/format.h>
#include <pthread.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "kiln/error.hpp"

namespace kiln::runtime::cpu {

namespace {

// Ranges a thread: more than one, so that ragged work (causal attention) evens out; few, so that packed operands are
// reused within a range.
constexpr std::int64_t kRangesPerThread = 4;
constexpr int kMostThreads = 1024;

#if defined(__SANITIZE_THREAD__)
constexpr bool kAlwaysSerial = true;
#else
constexpr bool kAlwaysSerial = false;
#endif

std::atomic<bool> forked_child{false};

int configured_threads() {
    const char* text = std::getenv("KILN_THREADS");
    if (text == nullptr || *text == '\0') return tbb::info::default_concurrency();
    int threads = 0;
    const char* const end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, threads);
    if (error != std::errc() || stop != end || threads < 1 || threads > kMostThreads) {
        throw Error(ErrorKind::user,
                    fmt::format("KILN_THREADS is `{}`, and must be a number from 1 to {}", text, kMostThreads));
    }
    return threads;
}

// Never destroyed: no work at static destruction, and a launch may still run on another thread then.
tbb::task_arena& arena() {
    static auto* const arena = new tbb::task_arena(thread_count());
    return *arena;
}

struct AlignedDelete {
    void operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{64}); }
};

}  // namespace

int thread_count() {
    static const int threads = [] {
        pthread_atfork(nullptr, nullptr, [] { forked_child = true; });
        return configured_threads();
    }();
    return threads;
}

void for_each_range(std::int64_t count, const std::function<void(std::int64_t, std::int64_t)>& body) {
    if (count <= 0) return;
    if (kAlwaysSerial || thread_count() == 1 || count == 1 || forked_child) {
        body(0, count);
        return;
    }
    const std::int64_t ranges = std::min<std::int64_t>(count, kRangesPerThread * thread_count());
    arena().execute([&] {
        tbb::parallel_for(std::int64_t{0}, ranges, [&](std::int64_t range) {
            body(count / ranges * range + std::min(range, count % ranges),
                 count / ranges * (range + 1) + std::min(range + 1, count % ranges));
        });
    });
}

void* thread_scratch(std::size_t bytes) {
    thread_local std::unique_ptr<std::byte, AlignedDelete> memory;
    thread_local std::size_t capacity = 0;
    if (bytes > capacity) {
        memory.reset();
        capacity = 0;
        memory.reset(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{64})));
        capacity = bytes;
    }
    return memory.get();
}

}  // namespace kiln::runtime::cpu
