// Memory of a device that launches use between their phases. A block that a launch has queued its use of is given to
// the next one at once: the driver is told to run that one later. Under capture the memory belongs to the graph
// instead.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "runtime/gpu/driver.h"

namespace kiln::runtime::gpu {

class ScratchPool {
public:
    /// `limit`: the most bytes one launch may ask for.
    ScratchPool(const Driver& driver, std::string device, std::uint64_t limit)
        : driver_(driver), device_(std::move(device)), limit_(limit) {}

    /// Throws Error(device) above the limit. Asked when a launch is bound, so that nothing has run by then.
    void check(const std::string& kernel, std::uint64_t bytes) const;

    /// Memory for what is queued on a stream while this lives. The device must be current. Throws Error(device).
    class Lease {
    public:
        Lease(ScratchPool& pool, std::uint64_t bytes, Handle stream);
        ~Lease();
        Lease(const Lease&) = delete;
        Lease& operator=(const Lease&) = delete;
        Address address() const { return address_; }

    private:
        ScratchPool& pool_;
        Handle stream_;
        bool in_graph_;
        Address address_ = 0;
        Handle event_ = nullptr;
        std::uint64_t bytes_ = 0;
    };

private:
    struct Block {
        Address address = 0;
        std::uint64_t bytes = 0;
        Handle event = nullptr;   ///< happens when the last use is over
        Handle stream = nullptr;  ///< of the last use
    };

    Block take(std::uint64_t bytes, Handle stream);
    Block make(std::uint64_t bytes);
    void give_back(const Block& block);
    void free_idle();

    const Driver& driver_;
    const std::string device_;
    const std::uint64_t limit_;
    std::mutex mutex_;
    std::vector<Block> idle_;
};

}  // namespace kiln::runtime::gpu
