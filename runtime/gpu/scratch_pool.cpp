#include "runtime/gpu/scratch_pool.h"

#include <fmt/format.h>

#include <algorithm>

#include "kiln/error.hpp"

namespace kiln::runtime::gpu {

namespace {

constexpr std::uint64_t kSmallestBlock = std::uint64_t{1} << 20;

}  // namespace

void ScratchPool::check(const std::string& kernel, std::uint64_t bytes) const {
    if (bytes <= limit_) return;
    throw Error(ErrorKind::device,
                fmt::format("`{}` needs {} bytes of scratch memory for these sizes, and {} allows {}, "
                            "half of what it has",
                            kernel, bytes, device_, limit_));
}

ScratchPool::Lease::Lease(ScratchPool& pool, std::uint64_t bytes, Handle stream)
    : pool_(pool), stream_(stream), in_graph_(pool.driver_.is_capturing(stream)) {
    if (!in_graph_) {
        const Block block = pool_.take(bytes, stream);
        address_ = block.address;
        event_ = block.event;
        bytes_ = block.bytes;
        return;
    }
    if (!pool_.driver_.has_stream_ordered_memory()) {
        throw Error(ErrorKind::device, fmt::format("a launch that needs {} bytes of scratch cannot be captured: this "
                                                   "driver gives graphs no memory",
                                                   bytes));
    }
    address_ = pool_.driver_.allocate_on(stream, bytes);
}

ScratchPool::Lease::~Lease() {
    try {
        if (in_graph_) {
            pool_.driver_.free_on(stream_, address_);
        } else {
            pool_.driver_.record(event_, stream_);
            pool_.give_back({address_, bytes_, event_, stream_});
        }
    } catch (const Error&) {
        // The device is lost. The memory is not given to others, since what is queued may still use it.
    }
}

ScratchPool::Block ScratchPool::take(std::uint64_t bytes, Handle stream) {
    const RelaxedCapture relaxed(driver_);
    Block best;
    {
        const std::lock_guard lock(mutex_);
        auto found = idle_.end();
        for (auto block = idle_.begin(); block != idle_.end(); ++block) {
            if (block->bytes < bytes || (found != idle_.end() && block->bytes >= found->bytes)) continue;
            if (block->stream == stream || driver_.has_happened(block->event)) found = block;
        }
        if (found != idle_.end()) {
            best = *found;
            idle_.erase(found);
        }
    }
    if (best.event == nullptr) return make(bytes);
    // Even on one stream: a handle may name another stream than it did when the block was last used.
    driver_.wait(stream, best.event);
    return best;
}

ScratchPool::Block ScratchPool::make(std::uint64_t bytes) {
    Block block;
    block.bytes = std::max(bytes, kSmallestBlock);
    try {
        block.address = driver_.allocate(block.bytes);
    } catch (const Error&) {
        free_idle();
        block.address = driver_.allocate(block.bytes);
    }
    try {
        block.event = driver_.create_event(false);
    } catch (const Error&) {
        driver_.free(block.address);
        throw;
    }
    return block;
}

void ScratchPool::give_back(const Block& block) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(block);
}

void ScratchPool::free_idle() {
    const std::lock_guard lock(mutex_);
    for (const Block& block : idle_) {
        driver_.synchronise_event(block.event);
        driver_.free(block.address);
        driver_.destroy_event(block.event);
    }
    idle_.clear();
}

}  // namespace kiln::runtime::gpu
