#include "runtime/cpu/executor.h"

#include <fmt/format.h>
#include <pthread.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
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
    static auto* const arena = [] {
        // oneTBB makes no more workers than cores unless the whole process is allowed more.
        if (thread_count() > tbb::info::default_concurrency()) {
            new tbb::global_control(tbb::global_control::max_allowed_parallelism,
                                    static_cast<std::size_t>(thread_count()));
        }
        return new tbb::task_arena(thread_count());
    }();
    return *arena;
}

// Memory of this thread. Plain variables, so that they can still be used by a launch from a static object's destructor,
// when the thread's other variables are gone.
constexpr std::align_val_t kScratchAlignment{64};
thread_local std::byte* scratch = nullptr;
thread_local std::size_t scratch_bytes = 0;

void free_scratch() {
    ::operator delete(scratch, kScratchAlignment);
    scratch = nullptr;
    scratch_bytes = 0;
}

/// Frees the memory when the thread ends.
struct ScratchOwner {
    ~ScratchOwner() { free_scratch(); }
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
    if (bytes <= scratch_bytes) return scratch;
    static thread_local const ScratchOwner owner;
    free_scratch();
    scratch = static_cast<std::byte*>(::operator new(bytes, kScratchAlignment));
    scratch_bytes = bytes;
    return scratch;
}

}  // namespace kiln::runtime::cpu
