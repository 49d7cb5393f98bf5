// One SQLite database of measurements. Each row is stored as its text; the other columns are taken from the text and
// serve to find it. Errors are StoreError, which the store (tuning_store.cpp) turns into its one warning.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/tuning_row.h"

struct sqlite3;

namespace kiln::runtime {

class StoreError : public std::runtime_error {
public:
    enum class Kind {
        Damaged,   ///< not a database, or one with broken pages
        Foreign,   ///< a sound database of another program
        Newer,     ///< of a newer Kiln
        Busy,      ///< others held the lock for too long
        Unusable,  ///< cannot be opened, read or written: permissions, full disk, no locks
    };
    StoreError(Kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
    Kind kind() const { return kind_; }

private:
    Kind kind_;
};

/// A device and sizes for which a class of problems has a verified row.
struct MeasuredPlace {
    std::string device;   ///< device_key()
    std::string targets;  ///< joined by spaces
    std::int64_t units = 1;
    std::string sizes;  ///< sizes_text()
};

/// What a row is looked for by. All fields must agree.
struct PlaceKey {
    std::string problem_class, build, device, sizes;
};

/// One connection; used by one thread at a time, and by the process that opened it.
class TuningDatabase {
public:
    enum class Access { ReadWrite, ReadOnly };

    /// Opens the file, makes it if there is none (ReadWrite), and brings an older schema up to date.
    static std::unique_ptr<TuningDatabase> open(const std::string& path, Access access);
    static std::unique_ptr<TuningDatabase> in_memory();
    ~TuningDatabase();
    TuningDatabase(const TuningDatabase&) = delete;
    TuningDatabase& operator=(const TuningDatabase&) = delete;

    /// Adds the rows that are not there yet, all or none; how many were new.
    std::size_t insert(std::span<const EncodedRow> rows);
    /// Verified rows of a place, the fastest first.
    std::vector<Measurement> fastest(const PlaceKey& place, std::size_t limit);
    /// Whether a configuration was wrong there at any time, or failed otherwise after `since_ms`.
    bool has_failed(const PlaceKey& place, const std::string& configuration, std::int64_t since_ms);
    std::vector<MeasuredPlace> verified_places(const std::string& problem_class, const std::string& build,
                                               const std::string& family);
    /// Every row of a place, whatever its verdict.
    std::vector<Measurement> at(const PlaceKey& place);
    /// Rows that a filter names, in any order.
    void select(const RowFilter& filter, const std::function<void(EncodedRow&&)>& visit);
    std::size_t remove(const RowFilter& filter);
    /// Rows whose text does not fit their id.
    std::size_t damaged_rows();
    /// Reads everything to find out.
    bool is_sound();
    /// Reads what can still be read of a database that may be damaged.
    static std::vector<EncodedRow> salvage(const std::string& path);

private:
    explicit TuningDatabase(sqlite3* handle) : handle_(handle) {}

    void choose_journal();
    void check_owner();
    void bring_up_to_date();
    void rebuild();
    void execute(const char* sql);
    std::int64_t number(const char* sql);

    sqlite3* handle_;
    std::string path_;
};

}  // namespace kiln::runtime
