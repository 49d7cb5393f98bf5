#include "tests/emulated_gpu/common/shared_shadow.h"

#include <algorithm>

#include "tests/emulated_gpu/common/report.h"

namespace emulated_gpu {

SharedShadow::SharedShadow(uint64_t bytes, uint32_t warps, Place place)
    : warps_(warps), place_(place), words_((bytes + kWordBytes - 1) / kWordBytes) {}

uint32_t* SharedShadow::clocks_of(Record& record) {
    if (record.clocks < 0) {
        record.clocks = static_cast<int32_t>(read_clocks_.size());
        read_clocks_.resize(read_clocks_.size() + warps_);
    }
    return read_clocks_.data() + record.clocks;
}

/// Each record keeps clocks of its own.
void SharedShadow::copy_record(const Record& from, Record& to) {
    const int32_t own = to.clocks;
    to = from;
    to.clocks = own;
    if (!from.many_read) return;
    uint32_t* clocks = clocks_of(to);
    std::copy_n(read_clocks_.data() + from.clocks, warps_, clocks);
}

void SharedShadow::split(Word& word) {
    if (word.bytes < 0) {
        word.bytes = static_cast<int32_t>(split_.size());
        split_.emplace_back();
    }
    for (Record& byte : split_[static_cast<size_t>(word.bytes)]) copy_record(word.record, byte);
    word.is_split = true;
}

template <bool kUnites, class Visit>
uint64_t SharedShadow::visit_bytes(Word& word, uint64_t at, uint64_t end, Visit visit) {
    if (!word.is_split) split(word);
    auto& bytes = split_[static_cast<size_t>(word.bytes)];
    const uint64_t first = at % kWordBytes;
    const uint64_t count = std::min(end - at, kWordBytes - first);
    for (uint64_t i = 0; i < count; ++i) visit(bytes[first + i], at + i);
    if (kUnites && count == kWordBytes) {
        copy_record(bytes.front(), word.record);
        word.is_split = false;
    }
    return at + count;
}

template <bool kUnites, class Visit>
void SharedShadow::for_records(uint64_t offset, uint64_t bytes, Visit visit) {
    const uint64_t end = offset + bytes;
    for (uint64_t at = offset; at < end;) {
        Word& word = words_[at / kWordBytes];
        if (!word.is_split && at % kWordBytes == 0 && end - at >= kWordBytes) {
            visit(word.record, at);
            at += kWordBytes;
        } else {
            at = visit_bytes<kUnites>(word, at, end, visit);
        }
    }
}

uint32_t SharedShadow::unordered_reader(const Record& record, uint32_t warp, const VectorClock& clock) const {
    if (!record.many_read) {
        const bool in_order =
            record.read_clock == 0 || record.read_warp == warp || record.read_clock <= clock[record.read_warp];
        return in_order ? kMostWarps : record.read_warp;
    }
    const uint32_t* reads = read_clocks_.data() + record.clocks;
    uint32_t reader = kMostWarps;
    for (uint32_t other = 0; other < warps_; ++other) {
        if (other != warp && reads[other] > clock[other]) reader = other;
    }
    return reader;
}

void SharedShadow::report_in_flight(const Record& record, uint64_t offset, const char* access, int lane) const {
    throw Fault{FaultKind::AsyncCopyNotWaitedFor,
                std::string(access) + " shared byte " + std::to_string(offset) +
                    " while the asynchronous copy to it issued at " + place_(record.write_line) + " by warp " +
                    std::to_string(record.write_warp) + " has not been waited for",
                lane};
}

void SharedShadow::report_write(const Record& record, uint64_t offset, const char* access, int lane) const {
    throw Fault{FaultKind::SharedRace,
                std::string(access) + " shared byte " + std::to_string(offset) + ", which warp " +
                    std::to_string(record.write_warp) + " wrote at " + place_(record.write_line) +
                    " with no barrier in between",
                lane};
}

void SharedShadow::report_read(const Record& record, uint32_t reader, uint64_t offset, const char* access,
                               int lane) const {
    throw Fault{FaultKind::SharedRace,
                std::string(access) + " shared byte " + std::to_string(offset) + ", which warp " +
                    std::to_string(reader) + " read at " + place_(record.read_line) + " with no barrier in between",
                lane};
}

void SharedShadow::note_read(Record& record, uint32_t warp, const VectorClock& clock, int line) {
    record.read_line = line;
    if (record.many_read) {
        read_clocks_[static_cast<size_t>(record.clocks) + warp] = clock[warp];
        return;
    }
    const bool replaces =
        record.read_clock == 0 || record.read_warp == warp || record.read_clock <= clock[record.read_warp];
    if (!replaces) {
        uint32_t* reads = clocks_of(record);
        std::fill_n(reads, warps_, 0U);
        reads[record.read_warp] = record.read_clock;
        reads[warp] = clock[warp];
        record.many_read = true;
        return;
    }
    record.read_warp = static_cast<uint8_t>(warp);
    record.read_clock = clock[warp];
}

void SharedShadow::note_write(Record& record, uint32_t warp, const VectorClock& clock, int line, bool relaxed) {
    record.write_warp = static_cast<uint8_t>(warp);
    record.write_clock = clock[warp];
    record.write_line = line;
    record.written = true;
    record.relaxed = relaxed;
    record.read_clock = 0;
    record.many_read = false;
}

void SharedShadow::check_write(const Record& record, uint64_t offset, uint32_t warp, const VectorClock& clock,
                               const char* access, int lane, bool relaxed) const {
    if (record.in_flight) report_in_flight(record, offset, access, lane);
    if (!is_after_write(record, warp, clock) && !(relaxed && record.relaxed)) {
        report_write(record, offset, access, lane);
    }
    const uint32_t reader = unordered_reader(record, warp, clock);
    if (reader != kMostWarps) report_read(record, reader, offset, access, lane);
}

void SharedShadow::read(uint64_t offset, uint64_t bytes, uint32_t warp, const VectorClock& clock, int line, int lane,
                        bool relaxed) {
    for_records<false>(offset, bytes, [&](Record& record, uint64_t at) {
        if (record.in_flight) report_in_flight(record, at, "reads", lane);
        if (!record.written) {
            throw Fault{FaultKind::UninitialisedShared,
                        "reads shared byte " + std::to_string(at) + ", which nothing has written", lane};
        }
        if (!is_after_write(record, warp, clock) && !(relaxed && record.relaxed)) {
            report_write(record, at, "reads", lane);
        }
        if (!relaxed) note_read(record, warp, clock, line);
    });
}

void SharedShadow::write(uint64_t offset, uint64_t bytes, uint32_t warp, const VectorClock& clock, int line, int lane,
                         bool relaxed) {
    for_records<true>(offset, bytes, [&](Record& record, uint64_t at) {
        check_write(record, at, warp, clock, "writes", lane, relaxed);
        note_write(record, warp, clock, line, relaxed);
    });
}

void SharedShadow::issue_copy(uint64_t offset, uint64_t bytes, uint32_t warp, const VectorClock& clock, int line,
                              int lane) {
    for_records<true>(offset, bytes, [&](Record& record, uint64_t at) {
        check_write(record, at, warp, clock, "copies to", lane, false);
        note_write(record, warp, clock, line, false);
        record.in_flight = true;
    });
}

void SharedShadow::landed(uint64_t offset, uint64_t bytes, uint32_t warp, const VectorClock& clock, int line) {
    for_records<true>(offset, bytes, [&](Record& record, uint64_t) {
        record.in_flight = false;
        note_write(record, warp, clock, line, false);
    });
}

void SharedShadow::stamp(uint64_t offset, uint64_t bytes, bool write, uint32_t warp, const VectorClock& clock,
                         int line) {
    for_records<false>(offset, bytes, [&](Record& record, uint64_t) {
        if (!write)
            note_read(record, warp, clock, line);
        else if (record.write_warp == warp)
            record.write_clock = clock[warp];
    });
}

}  // namespace emulated_gpu
