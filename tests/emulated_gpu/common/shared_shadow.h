#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace emulated_gpu {

inline constexpr uint32_t kMostWarps = 32;  // of a block

/// What a warp knows of the progress of every warp of its block.
using VectorClock = std::array<uint32_t, kMostWarps>;

/// What is known of each byte of a block's shared memory: whether it was written, by whom last, who has read it since,
/// and whether an asynchronous copy is on its way to it. Two accesses of which one writes are in order if a chain of
/// barriers leads from the first to the second (happens-before, kept as epochs and, where several warps read, as one
/// clock each; the scheme of Flanagan and Freund, "FastTrack", PLDI 2009).
class SharedShadow {
public:
    /// `place` names the instruction that a `line` below stands for, as in "ptx line 12".
    using Place = std::string (*)(int line);
    SharedShadow(uint64_t bytes, uint32_t warps, Place place);

    /// Each throws Fault at the first byte that breaks a rule.
    /// `relaxed` accesses (atomic and volatile ones) do not race with each other.
    void read(uint64_t offset, uint64_t bytes, uint32_t warp, const VectorClock& clock, int line, int lane,
              bool relaxed = false);
    void write(uint64_t offset, uint64_t bytes, uint32_t warp, const VectorClock& clock, int line, int lane,
               bool relaxed = false);
    /// An asynchronous copy to these bytes has been issued; `landed` ends it.
    void issue_copy(uint64_t offset, uint64_t bytes, uint32_t warp, const VectorClock& clock, int line, int lane);
    void landed(uint64_t offset, uint64_t bytes, uint32_t warp, const VectorClock& clock, int line);
    /// Repeats an access that is still under way with a later clock, without checks: whoever knows only earlier clocks
    /// is not in order with it.
    void stamp(uint64_t offset, uint64_t bytes, bool write, uint32_t warp, const VectorClock& clock, int line);

private:
    struct Byte {
        uint32_t write_clock = 0;  // 0: none
        uint32_t read_clock = 0;   // 0: none
        int32_t write_line = 0;
        int32_t read_line = 0;
        int32_t readers = -1;  // index into read_clocks_ where several warps have read
        uint8_t write_warp = 0;
        uint8_t read_warp = 0;
        bool written = false;
        bool in_flight = false;
        bool relaxed = false;  // the last write was atomic or volatile
    };

    void check_ordered_after_write(const Byte& byte, uint64_t offset, uint32_t warp, const VectorClock& clock,
                                   const char* access, int lane) const;
    void check_ordered_after_reads(const Byte& byte, uint64_t offset, uint32_t warp, const VectorClock& clock,
                                   const char* access, int lane) const;
    void check_not_in_flight(const Byte& byte, uint64_t offset, const char* access, int lane) const;
    void note_read(Byte& byte, uint32_t warp, const VectorClock& clock, int line);
    void note_write(Byte& byte, uint32_t warp, const VectorClock& clock, int line, bool relaxed);

    uint32_t warps_;
    Place place_;
    std::vector<Byte> bytes_;
    std::vector<VectorClock> read_clocks_;
};

}  // namespace emulated_gpu
