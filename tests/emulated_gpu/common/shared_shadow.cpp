#include "tests/emulated_gpu/common/shared_shadow.h"

#include "tests/emulated_gpu/common/report.h"

namespace emulated_gpu {

SharedShadow::SharedShadow(uint64_t bytes, uint32_t warps, Place place) : warps_(warps), place_(place), bytes_(bytes) {}

void SharedShadow::check_not_in_flight(const Byte& byte, uint64_t offset, const char* access, int lane) const {
    if (!byte.in_flight) return;
    throw Fault{FaultKind::AsyncCopyNotWaitedFor,
                std::string(access) + " shared byte " + std::to_string(offset) +
                    " while the asynchronous copy to it issued at " + place_(byte.write_line) + " by warp " +
                    std::to_string(byte.write_warp) + " has not been waited for",
                lane};
}

void SharedShadow::check_ordered_after_write(const Byte& byte, uint64_t offset, uint32_t warp, const VectorClock& clock,
                                             const char* access, int lane) const {
    if (byte.write_clock == 0 || byte.write_warp == warp || byte.write_clock <= clock[byte.write_warp]) return;
    throw Fault{FaultKind::SharedRace,
                std::string(access) + " shared byte " + std::to_string(offset) + ", which warp " +
                    std::to_string(byte.write_warp) + " wrote at " + place_(byte.write_line) +
                    " with no barrier in between",
                lane};
}

void SharedShadow::check_ordered_after_reads(const Byte& byte, uint64_t offset, uint32_t warp, const VectorClock& clock,
                                             const char* access, int lane) const {
    uint32_t reader = kMostWarps;
    if (byte.readers >= 0) {
        const VectorClock& reads = read_clocks_[static_cast<size_t>(byte.readers)];
        for (uint32_t other = 0; other < warps_; ++other) {
            if (other != warp && reads[other] > clock[other]) reader = other;
        }
    } else if (byte.read_clock != 0 && byte.read_warp != warp && byte.read_clock > clock[byte.read_warp]) {
        reader = byte.read_warp;
    }
    if (reader == kMostWarps) return;
    throw Fault{FaultKind::SharedRace,
                std::string(access) + " shared byte " + std::to_string(offset) + ", which warp " +
                    std::to_string(reader) + " read at " + place_(byte.read_line) + " with no barrier in between",
                lane};
}

void SharedShadow::note_read(Byte& byte, uint32_t warp, const VectorClock& clock, int line) {
    byte.read_line = line;
    if (byte.readers >= 0) {
        read_clocks_[static_cast<size_t>(byte.readers)][warp] = clock[warp];
        return;
    }
    const bool replaces = byte.read_clock == 0 || byte.read_warp == warp || byte.read_clock <= clock[byte.read_warp];
    if (!replaces) {
        byte.readers = static_cast<int32_t>(read_clocks_.size());
        VectorClock reads{};
        reads[byte.read_warp] = byte.read_clock;
        reads[warp] = clock[warp];
        read_clocks_.push_back(reads);
        return;
    }
    byte.read_warp = static_cast<uint8_t>(warp);
    byte.read_clock = clock[warp];
}

void SharedShadow::note_write(Byte& byte, uint32_t warp, const VectorClock& clock, int line, bool relaxed) {
    byte.write_warp = static_cast<uint8_t>(warp);
    byte.write_clock = clock[warp];
    byte.write_line = line;
    byte.written = true;
    byte.relaxed = relaxed;
    byte.read_clock = 0;
    if (byte.readers >= 0) read_clocks_[static_cast<size_t>(byte.readers)] = VectorClock{};
}

void SharedShadow::read(uint64_t offset, uint64_t bytes, uint32_t warp, const VectorClock& clock, int line, int lane,
                        bool relaxed) {
    for (uint64_t at = offset; at < offset + bytes; ++at) {
        Byte& byte = bytes_[at];
        if (byte.in_flight) check_not_in_flight(byte, at, "reads", lane);
        if (!byte.written) {
            throw Fault{FaultKind::UninitialisedShared,
                        "reads shared byte " + std::to_string(at) + ", which nothing has written", lane};
        }
        // Most bytes are read by the warp that read or wrote them last: no call for those.
        if (byte.write_warp != warp && !(relaxed && byte.relaxed)) {
            check_ordered_after_write(byte, at, warp, clock, "reads", lane);
        }
        if (relaxed) continue;
        if (byte.readers < 0 && (byte.read_clock == 0 || byte.read_warp == warp)) {
            byte.read_line = line;
            byte.read_warp = static_cast<uint8_t>(warp);
            byte.read_clock = clock[warp];
        } else {
            note_read(byte, warp, clock, line);
        }
    }
}

void SharedShadow::write(uint64_t offset, uint64_t bytes, uint32_t warp, const VectorClock& clock, int line, int lane,
                         bool relaxed) {
    for (uint64_t at = offset; at < offset + bytes; ++at) {
        Byte& byte = bytes_[at];
        if (byte.in_flight) check_not_in_flight(byte, at, "writes", lane);
        if (byte.write_warp != warp && !(relaxed && byte.relaxed)) {
            check_ordered_after_write(byte, at, warp, clock, "writes", lane);
        }
        if (byte.readers >= 0 || (byte.read_clock != 0 && byte.read_warp != warp)) {
            check_ordered_after_reads(byte, at, warp, clock, "writes", lane);
        }
        note_write(byte, warp, clock, line, relaxed);
    }
}

void SharedShadow::issue_copy(uint64_t offset, uint64_t bytes, uint32_t warp, const VectorClock& clock, int line,
                              int lane) {
    for (uint64_t at = offset; at < offset + bytes; ++at) {
        Byte& byte = bytes_[at];
        check_not_in_flight(byte, at, "copies to", lane);
        check_ordered_after_write(byte, at, warp, clock, "copies to", lane);
        check_ordered_after_reads(byte, at, warp, clock, "copies to", lane);
        note_write(byte, warp, clock, line, false);
        byte.in_flight = true;
    }
}

void SharedShadow::landed(uint64_t offset, uint64_t bytes, uint32_t warp, const VectorClock& clock, int line) {
    for (uint64_t at = offset; at < offset + bytes; ++at) {
        bytes_[at].in_flight = false;
        note_write(bytes_[at], warp, clock, line, false);
    }
}

void SharedShadow::stamp(uint64_t offset, uint64_t bytes, bool write, uint32_t warp, const VectorClock& clock,
                         int line) {
    for (uint64_t at = offset; at < offset + bytes; ++at) {
        Byte& byte = bytes_[at];
        if (!write)
            note_read(byte, warp, clock, line);
        else if (byte.write_warp == warp)
            byte.write_clock = clock[warp];
    }
}

}  // namespace emulated_gpu
