#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace emulated_gpu {

inline constexpr uint32_t kMostWarps = 32;  // of a block

/// What an agent (a warp, an asynchronous engine, a block) knows of the progress of every agent. An agent that it has
/// not heard of counts as at 0.
class VectorClock {
public:
    uint32_t operator[](size_t agent) const { return agent < ticks_.size() ? ticks_[agent] : 0; }
    uint32_t& operator[](size_t agent) {
        if (agent >= ticks_.size()) ticks_.resize(agent + 1);
        return ticks_[agent];
    }
    size_t size() const { return ticks_.size(); }
    void join(const VectorClock& other) {
        if (other.size() > size()) ticks_.resize(other.size());
        for (size_t i = 0; i < other.size(); ++i) ticks_[i] = std::max(ticks_[i], other.ticks_[i]);
    }

private:
    std::vector<uint32_t> ticks_;
};

/// What is known of each byte of a block's shared memory, or of an allocation that blocks share: whether it was
/// written, by whom last, who has read it since, and whether an asynchronous copy is on its way to it. Two accesses of
/// which one writes are in order if a chain of barriers leads from the first to the second (happens-before, kept as
/// epochs and, where several agents read, as one clock each; the scheme of Flanagan and Freund, "FastTrack", PLDI
/// 2009).
class SharedShadow {
public:
    /// `place` names the instruction that a `line` below stands for, as in "ptx line 12".
    using Place = std::string (*)(int line);
    /// Names an agent, as in "warp 3".
    using AgentName = std::function<std::string(uint32_t agent)>;
    /// Agents below `readers` may read.
    SharedShadow(uint64_t bytes, uint32_t readers, Place place, AgentName name = {});

    /// Each throws Fault at the first byte that breaks a rule.
    /// `relaxed` accesses (atomic and volatile ones) do not race with each other.
    void read(uint64_t offset, uint64_t bytes, uint32_t warp, const VectorClock& clock, int line, int lane,
              bool relaxed = false);
    void write(uint64_t offset, uint64_t bytes, uint32_t warp, const VectorClock& clock, int line, int lane,
               bool relaxed = false);
    /// An asynchronous copy to these bytes has been issued; `landed` ends it. If it goes through the async proxy,
    /// `proxied` are the events that a proxy fence has made known to it.
    void issue_copy(uint64_t offset, uint64_t bytes, uint32_t warp, const VectorClock& clock, int line, int lane,
                    const VectorClock* proxied = nullptr);
    void landed(uint64_t offset, uint64_t bytes, uint32_t warp, const VectorClock& clock, int line);
    /// Repeats an access that is still under way with a later clock, without checks: whoever knows only earlier clocks
    /// is not in order with it.
    void stamp(uint64_t offset, uint64_t bytes, bool write, uint32_t warp, const VectorClock& clock, int line);

    /// A read through the async proxy, issued by a warp that knows `clock`. It counts as done by `agent` at `tick`.
    struct AsyncRead {
        uint32_t issuer = 0;
        const VectorClock& clock;
        const VectorClock& proxied;
        uint32_t agent = 0;
        uint32_t tick = 0;
        int line = 0;
        int lane = -1;
    };
    void read_asynchronously(uint64_t offset, uint64_t bytes, const AsyncRead& read);
    /// Ends a copy through the async proxy: `agent` has written the bytes at `tick`.
    void landed_asynchronously(uint64_t offset, uint64_t bytes, uint32_t agent, uint32_t tick, int line);
    /// Fails if an agent outside [first, last) has accessed a byte in a way that whoever knows `clock` does not know
    /// of.
    void check_quiet(uint32_t first, uint32_t last, const VectorClock& clock);
    /// Makes the bytes a memory barrier, which plain accesses may not touch, or plain bytes again.
    void reserve(uint64_t offset, uint64_t bytes, bool reserved);

private:
    struct Byte {
        uint32_t write_clock = 0;  // 0: none
        uint32_t read_clock = 0;   // 0: none
        int32_t write_line = 0;
        int32_t read_line = 0;
        int32_t readers = -1;  // index into read_clocks_ where several agents have read
        uint16_t writer = 0;
        uint16_t reader = 0;
        bool written = false;
        uint8_t busy = 0;      // kInFlight, kReserved
        bool relaxed = false;  // the last write was atomic or volatile
        bool proxied = false;  // the last write went through the async proxy
    };
    static constexpr uint8_t kInFlight = 1;
    static constexpr uint8_t kReserved = 2;
    /// Four bytes, most often accessed together; apart once they were not.
    struct Word {
        Byte all;
        int32_t apart = -1;  // index into apart_ of the first of four
    };
    static constexpr uint64_t kWordBytes = 4;

    /// Calls `visit(byte, offset)` for what is known of the bytes: once a word where it lies inside whole, and has
    /// always been accessed as one.
    template <class Visit>
    void for_bytes(uint64_t offset, uint64_t bytes, Visit&& visit) {
        const uint64_t end = offset + bytes;
        for (uint64_t at = offset; at < end;) {
            Word& word = words_[at / kWordBytes];
            if (word.apart < 0 && at % kWordBytes == 0 && end - at >= kWordBytes) {
                visit(word.all, at);
                at += kWordBytes;
            } else {
                visit(byte_apart(word, at % kWordBytes), at);
                ++at;
            }
        }
    }
    Byte& byte_apart(Word& word, uint64_t byte);

    void check_written(const Byte& byte, uint64_t offset, int lane) const;
    void check_ordered_after_write(const Byte& byte, uint64_t offset, uint32_t warp, const VectorClock& clock,
                                   const char* access, int lane) const;
    void check_seen_by_proxy(const Byte& byte, uint64_t offset, const VectorClock& proxied, const char* access,
                             int lane) const;
    void check_ordered_after_reads(const Byte& byte, uint64_t offset, uint32_t warp, const VectorClock& clock,
                                   const char* access, int lane) const;
    void check_not_busy(const Byte& byte, uint64_t offset, const char* access, int lane) const;
    void note_read(Byte& byte, uint32_t agent, uint32_t tick, const VectorClock& clock, int line);
    void note_write(Byte& byte, uint32_t agent, uint32_t tick, int line, bool relaxed);
    uint32_t new_read_clocks();
    uint32_t* read_clocks_of(const Byte& byte) { return read_clocks_.data() + static_cast<size_t>(byte.readers); }

    uint32_t readers_;
    Place place_;
    AgentName name_;
    std::vector<Word> words_;
    std::vector<Byte> apart_;
    std::vector<uint32_t> read_clocks_;  // `readers_` for each byte or word that has them
};

}  // namespace emulated_gpu
