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
/// clock each; the scheme of Flanagan and Freund, "FastTrack", PLDI 2009). The four bytes of a word share one record
/// until an access touches some of them alone.
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
    struct Record {
        uint32_t write_clock = 0;  // 0: none
        uint32_t read_clock = 0;   // 0: none; of the one warp that has read
        int32_t write_line = 0;
        int32_t read_line = 0;
        int32_t clocks = -1;  // where in read_clocks_ the record's own clocks are, once it has needed some
        uint8_t write_warp = 0;
        uint8_t read_warp = 0;
        bool many_read = false;  // several warps have read since the last write: their clocks tell
        bool written = false;
        bool in_flight = false;
        bool relaxed = false;  // the last write was atomic or volatile
    };
    struct Word {
        Record record;
        int32_t bytes = -1;  // where in split_ the records of its bytes are, once it has needed some
        bool is_split = false;
    };
    static constexpr uint64_t kWordBytes = 4;

    /// Calls `visit(record, offset)` for the records of all bytes. With `kUnites` it leaves the bytes of a whole word
    /// alike.
    template <bool kUnites, class Visit>
    void for_records(uint64_t offset, uint64_t bytes, Visit visit);
    template <bool kUnites, class Visit>
    uint64_t visit_bytes(Word& word, uint64_t at, uint64_t end, Visit visit);
    void split(Word& word);
    void copy_record(const Record& from, Record& to);
    uint32_t* clocks_of(Record& record);

    /// The checks: inline for what is in order, a report out of line for what is not.
    bool is_after_write(const Record& record, uint32_t warp, const VectorClock& clock) const {
        return record.write_clock == 0 || record.write_warp == warp || record.write_clock <= clock[record.write_warp];
    }
    /// A warp that has read without order; kMostWarps: none.
    uint32_t unordered_reader(const Record& record, uint32_t warp, const VectorClock& clock) const;
    [[noreturn]] void report_in_flight(const Record& record, uint64_t offset, const char* access, int lane) const;
    [[noreturn]] void report_write(const Record& record, uint64_t offset, const char* access, int lane) const;
    [[noreturn]] void report_read(const Record& record, uint32_t reader, uint64_t offset, const char* access,
                                  int lane) const;
    void check_write(const Record& record, uint64_t offset, uint32_t warp, const VectorClock& clock, const char* access,
                     int lane, bool relaxed) const;
    void note_read(Record& record, uint32_t warp, const VectorClock& clock, int line);
    static void note_write(Record& record, uint32_t warp, const VectorClock& clock, int line, bool relaxed);

    uint32_t warps_;
    Place place_;
    std::vector<Word> words_;
    std::vector<std::array<Record, kWordBytes>> split_;
    std::vector<uint32_t> read_clocks_;  // warps_ for each
};

}  // namespace emulated_gpu
