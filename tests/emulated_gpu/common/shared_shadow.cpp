#include "tests/emulated_gpu/common/shared_shadow.h"

#include "tests/emulated_gpu/common/report.h"

namespace emulated_gpu {

SharedShadow::SharedShadow(uint64_t bytes, uint32_t readers, Place place, AgentName name)
    : readers_(readers), place_(place), name_(std::move(name)), words_((bytes + kWordBytes - 1) / kWordBytes) {
    if (!name_) name_ = [](uint32_t warp) { return "warp " + std::to_string(warp); };
}

void SharedShadow::check_not_busy(const Byte& byte, uint64_t offset, const char* access, int lane) const {
    if (byte.busy == 0) return;
    if (byte.busy & kReserved) {
        throw Fault{FaultKind::BarrierMisuse,
                    std::string(access) + " shared byte " + std::to_string(offset) + " of a memory barrier", lane};
    }
    throw Fault{FaultKind::AsyncCopyNotWaitedFor,
                std::string(access) + " shared byte " + std::to_string(offset) +
                    " while the asynchronous copy to it issued at " + place_(byte.write_line) + " by " +
                    name_(byte.writer) + " has not been waited for",
                lane};
}

void SharedShadow::check_written(const Byte& byte, uint64_t offset, int lane) const {
    if (byte.written) return;
    throw Fault{FaultKind::UninitialisedShared,
                "reads shared byte " + std::to_string(offset) + ", which nothing has written", lane};
}

void SharedShadow::check_ordered_after_write(const Byte& byte, uint64_t offset, uint32_t warp, const VectorClock& clock,
                                             const char* access, int lane) const {
    if (byte.write_clock == 0 || byte.writer == warp || byte.write_clock <= clock[byte.writer]) return;
    throw Fault{FaultKind::SharedRace,
                std::string(access) + " shared byte " + std::to_string(offset) + ", which " + name_(byte.writer) +
                    " wrote at " + place_(byte.write_line) + " with no barrier in between",
                lane};
}

void SharedShadow::check_seen_by_proxy(const Byte& byte, uint64_t offset, const VectorClock& proxied,
                                       const char* access, int lane) const {
    if (byte.write_clock == 0 || byte.proxied || byte.write_clock <= proxied[byte.writer]) return;
    throw Fault{FaultKind::MissingFence,
                std::string(access) + " shared byte " + std::to_string(offset) + " through the async proxy, which " +
                    name_(byte.writer) + " wrote at " + place_(byte.write_line) +
                    " with no fence.proxy.async in between",
                lane};
}

void SharedShadow::check_ordered_after_reads(const Byte& byte, uint64_t offset, uint32_t warp, const VectorClock& clock,
                                             const char* access, int lane) const {
    uint32_t reader = readers_;
    if (byte.readers >= 0) {
        const uint32_t* reads = read_clocks_.data() + static_cast<size_t>(byte.readers);
        for (uint32_t other = 0; other < readers_; ++other) {
            if (reads[other] > clock[other] && other != warp) reader = other;
        }
    } else if (byte.read_clock != 0 && byte.reader != warp && byte.read_clock > clock[byte.reader]) {
        reader = byte.reader;
    }
    if (reader == readers_) return;
    throw Fault{FaultKind::SharedRace,
                std::string(access) + " shared byte " + std::to_string(offset) + ", which " + name_(reader) +
                    " read at " + place_(byte.read_line) + " with no barrier in between",
                lane};
}

uint32_t SharedShadow::new_read_clocks() {
    const size_t first = read_clocks_.size();
    read_clocks_.resize(first + readers_);
    return static_cast<uint32_t>(first);
}

SharedShadow::Byte& SharedShadow::byte_apart(Word& word, uint64_t byte) {
    if (word.apart < 0) {
        word.apart = static_cast<int32_t>(apart_.size());
        for (uint64_t i = 0; i < kWordBytes; ++i) {
            Byte copy = word.all;
            if (copy.readers >= 0) {
                const uint32_t first = new_read_clocks();
                std::copy_n(read_clocks_of(word.all), readers_, read_clocks_.begin() + first);
                copy.readers = static_cast<int32_t>(first);
            }
            apart_.push_back(copy);
        }
    }
    return apart_[static_cast<size_t>(word.apart) + byte];
}

void SharedShadow::note_read(Byte& byte, uint32_t agent, uint32_t tick, const VectorClock& clock, int line) {
    byte.read_line = line;
    if (byte.readers >= 0) {
        read_clocks_of(byte)[agent] = tick;
        return;
    }
    const bool replaces = byte.read_clock == 0 || byte.reader == agent || byte.read_clock <= clock[byte.reader];
    if (!replaces) {
        byte.readers = static_cast<int32_t>(new_read_clocks());
        read_clocks_of(byte)[byte.reader] = byte.read_clock;
        read_clocks_of(byte)[agent] = tick;
        return;
    }
    byte.reader = static_cast<uint16_t>(agent);
    byte.read_clock = tick;
}

void SharedShadow::note_write(Byte& byte, uint32_t agent, uint32_t tick, int line, bool relaxed) {
    byte.writer = static_cast<uint16_t>(agent);
    byte.write_clock = tick;
    byte.write_line = line;
    byte.written = true;
    byte.relaxed = relaxed;
    byte.proxied = false;
    byte.read_clock = 0;
    if (byte.readers >= 0) std::fill_n(read_clocks_of(byte), readers_, 0U);
}

void SharedShadow::read(uint64_t offset, uint64_t bytes, uint32_t warp, const VectorClock& clock, int line, int lane,
                        bool relaxed) {
    const uint32_t tick = clock[warp];
    for_bytes(offset, bytes, [&](Byte& byte, uint64_t at) {
        if (byte.busy) check_not_busy(byte, at, "reads", lane);
        if (!byte.written) check_written(byte, at, lane);
        // Most bytes are read by the warp that read or wrote them last: no call for those.
        if (byte.writer != warp && !(relaxed && byte.relaxed)) {
            check_ordered_after_write(byte, at, warp, clock, "reads", lane);
        }
        if (relaxed) return;
        if (byte.readers < 0 && (byte.read_clock == 0 || byte.reader == warp)) {
            byte.read_line = line;
            byte.reader = static_cast<uint16_t>(warp);
            byte.read_clock = tick;
        } else {
            note_read(byte, warp, tick, clock, line);
        }
    });
}

void SharedShadow::write(uint64_t offset, uint64_t bytes, uint32_t warp, const VectorClock& clock, int line, int lane,
                         bool relaxed) {
    const uint32_t tick = clock[warp];
    for_bytes(offset, bytes, [&](Byte& byte, uint64_t at) {
        if (byte.busy) check_not_busy(byte, at, "writes", lane);
        if (byte.writer != warp && !(relaxed && byte.relaxed)) {
            check_ordered_after_write(byte, at, warp, clock, "writes", lane);
        }
        if (byte.readers >= 0 || (byte.read_clock != 0 && byte.reader != warp)) {
            check_ordered_after_reads(byte, at, warp, clock, "writes", lane);
        }
        note_write(byte, warp, tick, line, relaxed);
    });
}

void SharedShadow::issue_copy(uint64_t offset, uint64_t bytes, uint32_t warp, const VectorClock& clock, int line,
                              int lane, const VectorClock* proxied) {
    for_bytes(offset, bytes, [&](Byte& byte, uint64_t at) {
        check_not_busy(byte, at, "copies to", lane);
        check_ordered_after_write(byte, at, warp, clock, "copies to", lane);
        if (proxied != nullptr) check_seen_by_proxy(byte, at, *proxied, "copies to", lane);
        check_ordered_after_reads(byte, at, warp, clock, "copies to", lane);
        note_write(byte, warp, clock[warp], line, false);
        byte.busy |= kInFlight;
    });
}

void SharedShadow::landed(uint64_t offset, uint64_t bytes, uint32_t warp, const VectorClock& clock, int line) {
    for_bytes(offset, bytes, [&](Byte& byte, uint64_t) {
        byte.busy &= static_cast<uint8_t>(~kInFlight);
        note_write(byte, warp, clock[warp], line, false);
    });
}

void SharedShadow::stamp(uint64_t offset, uint64_t bytes, bool write, uint32_t warp, const VectorClock& clock,
                         int line) {
    for_bytes(offset, bytes, [&](Byte& byte, uint64_t) {
        if (!write)
            note_read(byte, warp, clock[warp], clock, line);
        else if (byte.writer == warp)
            byte.write_clock = clock[warp];
    });
}

void SharedShadow::read_asynchronously(uint64_t offset, uint64_t bytes, const AsyncRead& read) {
    for_bytes(offset, bytes, [&](Byte& byte, uint64_t at) {
        if (byte.busy) check_not_busy(byte, at, "reads", read.lane);
        if (!byte.written) check_written(byte, at, read.lane);
        check_ordered_after_write(byte, at, read.issuer, read.clock, "reads", read.lane);
        check_seen_by_proxy(byte, at, read.proxied, "reads", read.lane);
        note_read(byte, read.agent, read.tick, read.clock, read.line);
    });
}

void SharedShadow::landed_asynchronously(uint64_t offset, uint64_t bytes, uint32_t agent, uint32_t tick, int line) {
    for_bytes(offset, bytes, [&](Byte& byte, uint64_t) {
        byte.busy &= static_cast<uint8_t>(~kInFlight);
        note_write(byte, agent, tick, line, false);
        byte.proxied = true;
    });
}

void SharedShadow::check_quiet(uint32_t first, uint32_t last, const VectorClock& clock) {
    const auto is_unknown = [&](uint32_t agent, uint32_t tick) {
        return (agent < first || agent >= last) && tick > clock[agent];
    };
    const auto fail = [&](uint32_t agent, uint64_t offset, const char* access, int line) {
        throw Fault{FaultKind::SharedRace, "the block may end before " + name_(agent) + " " + access +
                                               " its shared byte " + std::to_string(offset) + " at " + place_(line)};
    };
    for_bytes(0, words_.size() * kWordBytes, [&](Byte& byte, uint64_t at) {
        if (is_unknown(byte.writer, byte.write_clock)) fail(byte.writer, at, "writes", byte.write_line);
        if (byte.readers < 0) {
            if (is_unknown(byte.reader, byte.read_clock)) fail(byte.reader, at, "reads", byte.read_line);
            return;
        }
        for (uint32_t agent = 0; agent < readers_; ++agent) {
            if (is_unknown(agent, read_clocks_of(byte)[agent])) fail(agent, at, "reads", byte.read_line);
        }
    });
}

void SharedShadow::reserve(uint64_t offset, uint64_t bytes, bool reserved) {
    for_bytes(offset, bytes, [&](Byte& byte, uint64_t) {
        byte.busy = static_cast<uint8_t>(reserved ? byte.busy | kReserved : byte.busy & ~kReserved);
    });
}

}  // namespace emulated_gpu
