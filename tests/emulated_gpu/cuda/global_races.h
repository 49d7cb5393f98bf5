#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "tests/emulated_gpu/common/shared_shadow.h"

namespace emulated_gpu {

/// Who touched each byte of global memory last during a launch, to find races between blocks. A block counts as one
/// agent; blocks are ordered by fences with atomic or volatile accesses. Of those who have read a byte since it was
/// written, two blocks are remembered.
class GlobalRaces {
public:
    struct Access {
        uint64_t block = 0;        // its number in the grid
        const VectorClock& clock;  // what it knows of other blocks
        int line = 0;
        int lane = -1;
        bool relaxed = false;  // atomic and volatile accesses do not race with each other
    };
    /// Each throws Fault at the first byte that another block has accessed and that is not in order with it.
    void read(uint64_t address, uint64_t bytes, const Access& by);
    void write(uint64_t address, uint64_t bytes, const Access& by);

private:
    struct Event {
        uint32_t block = 0;
        uint32_t tick = 0;  // 0: none
        int32_t line = 0;
    };
    struct Byte {
        Event written;
        std::array<Event, 2> read;
        bool relaxed = false;  // the last write
    };
    static constexpr uint64_t kPageBytes = 1024;
    using Page = std::array<Byte, kPageBytes>;

    Byte& byte_at(uint64_t address);

    std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
    uint64_t recent_number_ = ~uint64_t{0};
    Page* recent_ = nullptr;
};

}  // namespace emulated_gpu
