#include "runtime/tuning_database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace kiln::runtime {

namespace {

// "KLNT": what `file` and other programs know the database by.
constexpr std::int64_t kApplicationId = 0x4b4c4e54;
// 1: the columns below. A schema of any earlier number had the column `row`, from which the others are made again.
constexpr std::int64_t kSchemaVersion = 1;
constexpr int kBusyMilliseconds = 5000;
constexpr int kAttempts = 20;

constexpr const char* kInsert = "INSERT OR IGNORE INTO measurement VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";

constexpr const char* kSchema = R"(
    CREATE TABLE measurement(
        id TEXT NOT NULL PRIMARY KEY, class TEXT NOT NULL, kernel TEXT NOT NULL, name TEXT NOT NULL,
        build TEXT NOT NULL, family TEXT NOT NULL, device TEXT NOT NULL, device_name TEXT NOT NULL,
        fingerprint TEXT NOT NULL, targets TEXT NOT NULL, units INTEGER NOT NULL, sizes TEXT NOT NULL,
        configuration TEXT NOT NULL, verdict INTEGER NOT NULL, seconds REAL NOT NULL, taken_ms INTEGER NOT NULL, row TEXT NOT NULL);
    CREATE INDEX by_place ON measurement(class, build, device, sizes, verdict, seconds);
    CREATE INDEX by_kernel ON measurement(kernel);
)";

StoreError::Kind kind_of(int code) {
    switch (code & 0xff) {
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
            return StoreError::Kind::Damaged;
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return StoreError::Kind::Busy;
        default:
            return StoreError::Kind::Unusable;
    }
}

[[noreturn]] void fail(sqlite3* handle, const std::string& path, int code) {
    const char* message = handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
    throw StoreError(kind_of(code), fmt::format("{}: {}", path, message));
}

bool is_busy(int code) {
    return (code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED;
}

/// A prepared statement with its values bound.
class Statement {
public:
    Statement(sqlite3* handle, const std::string& path, const std::string& sql) : handle_(handle), path_(path) {
        const int code = sqlite3_prepare_v2(handle, sql.c_str(), -1, &statement_, nullptr);
        if (code != SQLITE_OK) fail(handle, path, code);
    }
    ~Statement() { sqlite3_finalize(statement_); }
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

    void bind(std::string_view text) {
        check(sqlite3_bind_text(statement_, ++bound_, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT));
    }
    void bind(std::int64_t number) { check(sqlite3_bind_int64(statement_, ++bound_, number)); }
    void bind(double number) { check(sqlite3_bind_double(statement_, ++bound_, number)); }

    bool step() {
        const int code = sqlite3_step(statement_);
        if (code == SQLITE_ROW) return true;
        if (code != SQLITE_DONE) fail(handle_, path_, code);
        return false;
    }
    void rewind() {
        sqlite3_reset(statement_);
        bound_ = 0;
    }
    std::string text(int column) const {
        const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
        return bytes == nullptr
                   ? ""
                   : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
    }
    std::int64_t number(int column) const { return sqlite3_column_int64(statement_, column); }

private:
    void check(int code) const {
        if (code != SQLITE_OK) fail(handle_, path_, code);
    }

    sqlite3* handle_;
    const std::string& path_;
    sqlite3_stmt* statement_ = nullptr;
    int bound_ = 0;
};

std::string joined_targets(const TuningDevice& device) {
    return fmt::format("{}", fmt::join(device.targets, " "));
}

void bind_row(Statement& statement, const EncodedRow& row) {
    const Measurement& measurement = row.measurement;
    const TuningDevice& device = measurement.device;
    statement.bind(row.id);
    statement.bind(class_of(measurement.problem));
    statement.bind(measurement.problem.kernel);
    statement.bind(measurement.problem.name);
    statement.bind(measurement.build);
    statement.bind(device.targets.empty() ? "" : device.targets[0]);
    statement.bind(device_key(device));
    statement.bind(device.name);
    statement.bind(device.fingerprint);
    statement.bind(joined_targets(device));
    statement.bind(device.units);
    statement.bind(sizes_text(measurement.problem));
    statement.bind(configuration_text(measurement.configuration));
    statement.bind(static_cast<std::int64_t>(measurement.verdict));
    statement.bind(measurement.seconds);
    statement.bind(measurement.taken_ms);
    statement.bind(row.text);
}

/// The row, if its text fits its id: what the other columns of a damaged row say is never used.
std::optional<EncodedRow> sound_row(const std::string& id, std::string text) {
    if (id_of(text) != id) return std::nullopt;
    std::string reason;
    std::optional<EncodedRow> row = encode_line(text, reason);
    if (row) row->id = id;
    return row;
}

bool same_place(const Measurement& row, const PlaceKey& place) {
    return class_of(row.problem) == place.problem_class && row.build == place.build &&
           device_key(row.device) == place.device && sizes_text(row.problem) == place.sizes;
}

/// The conditions of a filter; its texts are bound by bind_filter() in the same order.
std::string conditions(const RowFilter& filter) {
    std::string sql = " WHERE 1";
    if (!filter.kernel.empty()) sql += " AND (kernel = ? OR name = ?)";
    if (!filter.build.empty()) sql += " AND build = ?";
    if (!filter.not_build.empty()) sql += " AND build <> ?";
    if (!filter.device.empty()) sql += " AND (device_name = ? OR fingerprint = ?)";
    if (filter.verdict) sql += " AND verdict = ?";
    if (filter.before_ms != 0) sql += " AND taken_ms < ?";
    return sql;
}

void bind_filter(Statement& statement, const RowFilter& filter) {
    const std::string* texts[] = {&filter.kernel,    &filter.kernel, &filter.build,
                                  &filter.not_build, &filter.device, &filter.device};
    for (const std::string* text : texts) {
        if (!text->empty()) statement.bind(*text);
    }
    if (filter.verdict) statement.bind(static_cast<std::int64_t>(*filter.verdict));
    if (filter.before_ms != 0) statement.bind(filter.before_ms);
}

/// The path as a URI's: a name may hold any character.
std::string uri_of(const std::string& path, const char* query) {
    std::string uri = "file:";
    for (const char c : path) {
        const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                           std::string_view("/._-~").find(c) != std::string_view::npos;
        uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return uri + "?" + query;
}

/// Disks of other machines: memory cannot be shared over them, which SQLite's write-ahead log needs.
bool is_network_disk(const std::string& path) {
    // f_type of statfs(2): NFS, SMB, CIFS, SMB2, 9P, AFS, Ceph, FUSE, Lustre, GPFS, BeeGFS, PanFS.
    constexpr std::array<std::uint32_t, 12> kTypes = {0x6969,     0x517b,     0xff534d42, 0xfe534d42,
                                                      0x01021997, 0x5346414f, 0x00c36400, 0x65735546,
                                                      0x0bd00bd0, 0x47504653, 0x19830326, 0xaad7aaea};
    struct statfs status {};
    // The folder, since the file may not be there yet.
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    if (::statfs(folder.empty() ? "." : folder.c_str(), &status) != 0) return false;
    return std::find(kTypes.begin(), kTypes.end(), static_cast<std::uint32_t>(status.f_type)) != kTypes.end();
}

bool has_bytes(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && status.st_size > 0;
}

/// `mode=ro` needs a place for the shared memory of the write-ahead log; `immutable` needs nothing and writes nothing,
/// but does not see the log.
sqlite3* open_read_only(const std::string& path) {
    const bool has_log = has_bytes(path + "-wal");
    const std::array<const char*, 2> queries = {has_log ? "mode=ro" : "immutable=1",
                                                has_log ? "immutable=1" : "mode=ro"};
    int code = SQLITE_OK;
    for (const char* query : queries) {
        sqlite3* handle = nullptr;
        code = sqlite3_open_v2(uri_of(path, query).c_str(), &handle,
                               SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
        if (code == SQLITE_OK) code = sqlite3_exec(handle, "SELECT 1 FROM sqlite_master", nullptr, nullptr, nullptr);
        if (code == SQLITE_OK) return handle;
        sqlite3_close(handle);
        if (kind_of(code) == StoreError::Kind::Damaged) break;
    }
    fail(nullptr, path, code);
}

}  // namespace

std::unique_ptr<TuningDatabase> TuningDatabase::open(const std::string& path, Access access) {
    sqlite3* handle = nullptr;
    if (access == Access::ReadOnly) {
        handle = open_read_only(path);
    } else {
        constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
        const int code = sqlite3_open_v2(path.c_str(), &handle, kFlags, nullptr);
        if (code != SQLITE_OK) {
            sqlite3_close(handle);
            fail(nullptr, path, code);
        }
    }
    std::unique_ptr<TuningDatabase> database(new TuningDatabase(handle));
    database->path_ = path;
    sqlite3_busy_timeout(handle, kBusyMilliseconds);
    // The file may be anybody's work: its schema is not allowed to call functions.
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    database->check_owner();
    if (access == Access::ReadWrite) {
        database->choose_journal();
        database->bring_up_to_date();
    } else if (database->number("PRAGMA user_version") != kSchemaVersion) {
        throw StoreError(StoreError::Kind::Unusable, path + " has an older schema and may not be written");
    }
    return database;
}

std::unique_ptr<TuningDatabase> TuningDatabase::in_memory() {
    sqlite3* handle = nullptr;
    const int code =
        sqlite3_open_v2(":memory:", &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
    std::unique_ptr<TuningDatabase> database(new TuningDatabase(handle));
    database->path_ = "the store in memory";
    if (code != SQLITE_OK) fail(handle, database->path_, code);
    database->bring_up_to_date();
    return database;
}

TuningDatabase::~TuningDatabase() {
    sqlite3_close(handle_);
}

void TuningDatabase::execute(const char* sql) {
    const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) fail(handle_, path_, code);
}

std::int64_t TuningDatabase::number(const char* sql) {
    Statement statement(handle_, path_, sql);
    return statement.step() ? statement.number(0) : 0;
}

void TuningDatabase::check_owner() {
    // One transaction: another process may be making the database just now.
    execute("BEGIN");
    const bool ours = number("PRAGMA application_id") == kApplicationId;
    const std::int64_t schema = number("PRAGMA user_version");
    const bool is_empty = number("SELECT count(*) FROM sqlite_master") == 0;
    execute("COMMIT");
    if (!ours && !is_empty) {
        throw StoreError(StoreError::Kind::Foreign, path_ + " is a database of another program");
    }
    if (ours && schema > kSchemaVersion) throw StoreError(StoreError::Kind::Newer, path_ + " is from a newer Kiln");
}

void TuningDatabase::choose_journal() {
    const char* mode = is_network_disk(path_) ? "PRAGMA journal_mode = DELETE" : "PRAGMA journal_mode = WAL";
    // The switch takes a lock for which SQLite's busy handler is not asked.
    for (int attempt = 0;; ++attempt) {
        const int code = sqlite3_exec(handle_, mode, nullptr, nullptr, nullptr);
        if (code == SQLITE_OK) break;
        if (!is_busy(code) || attempt == kAttempts) fail(handle_, path_, code);
        ::usleep(static_cast<useconds_t>(5000 * (attempt + 1)));
    }
    execute("PRAGMA synchronous = NORMAL");
}

void TuningDatabase::bring_up_to_date() {
    if (number("PRAGMA user_version") == kSchemaVersion && number("PRAGMA application_id") == kApplicationId) return;
    execute("BEGIN IMMEDIATE");
    try {
        // Another process may have done it while this one waited for the lock.
        const bool made =
            number("PRAGMA user_version") == kSchemaVersion && number("PRAGMA application_id") == kApplicationId;
        if (!made) rebuild();
        execute("COMMIT");
    } catch (const StoreError&) {
        sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
        throw;
    }
}

void TuningDatabase::rebuild() {
    std::vector<EncodedRow> rows;
    if (number("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'measurement'") != 0) {
        Statement statement(handle_, path_, "SELECT row FROM measurement");
        std::string reason;
        while (statement.step()) {
            if (auto row = encode_line(statement.text(0), reason)) rows.push_back(std::move(*row));
        }
    }
    execute("DROP TABLE IF EXISTS measurement");
    execute(kSchema);
    execute(fmt::format("PRAGMA application_id = {}", kApplicationId).c_str());
    execute(fmt::format("PRAGMA user_version = {}", kSchemaVersion).c_str());
    Statement insert(handle_, path_, kInsert);
    for (const EncodedRow& row : rows) {
        insert.rewind();
        bind_row(insert, row);
        insert.step();
    }
}

std::size_t TuningDatabase::insert(std::span<const EncodedRow> rows) {
    execute("BEGIN IMMEDIATE");
    std::size_t added = 0;
    try {
        {
            Statement statement(handle_, path_, kInsert);
            for (const EncodedRow& row : rows) {
                statement.rewind();
                bind_row(statement, row);
                statement.step();
                added += static_cast<std::size_t>(sqlite3_changes(handle_));
            }
        }
        execute("COMMIT");
    } catch (const StoreError&) {
        sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
        throw;
    }
    return added;
}

std::vector<Measurement> TuningDatabase::fastest(const PlaceKey& place, std::size_t limit) {
    Statement statement(
        handle_, path_,
        "SELECT id, row FROM measurement WHERE class = ? AND build = ? AND device = ? AND sizes = ? AND "
        "verdict = ? ORDER BY seconds, id LIMIT ?");
    for (const std::string* key : {&place.problem_class, &place.build, &place.device, &place.sizes})
        statement.bind(*key);
    statement.bind(static_cast<std::int64_t>(Verdict::Verified));
    statement.bind(static_cast<std::int64_t>(limit));
    std::vector<Measurement> rows;
    while (statement.step()) {
        std::optional<EncodedRow> row = sound_row(statement.text(0), statement.text(1));
        if (!row || row->measurement.verdict != Verdict::Verified || !same_place(row->measurement, place)) continue;
        rows.push_back(std::move(row->measurement));
    }
    return rows;
}

bool TuningDatabase::has_failed(const PlaceKey& place, const std::string& configuration, std::int64_t since_ms) {
    Statement statement(handle_, path_,
                        "SELECT 1 FROM measurement WHERE class = ? AND build = ? AND device = ? AND sizes = ? AND "
                        "configuration = ? AND (verdict = ? OR (verdict > ? AND taken_ms > ?)) LIMIT 1");
    for (const std::string* key : {&place.problem_class, &place.build, &place.device, &place.sizes})
        statement.bind(*key);
    statement.bind(configuration);
    statement.bind(static_cast<std::int64_t>(Verdict::Wrong));
    statement.bind(static_cast<std::int64_t>(Verdict::Wrong));
    statement.bind(since_ms);
    return statement.step();
}

std::vector<MeasuredPlace> TuningDatabase::verified_places(const std::string& problem_class, const std::string& build,
                                                           const std::string& family) {
    Statement statement(
        handle_, path_,
        "SELECT DISTINCT device, targets, units, sizes FROM measurement WHERE class = ? AND build = ? AND "
        "family = ? AND verdict = 0");
    for (const std::string* key : {&problem_class, &build, &family}) statement.bind(*key);
    std::vector<MeasuredPlace> places;
    while (statement.step()) {
        places.push_back({statement.text(0), statement.text(1), statement.number(2), statement.text(3)});
    }
    return places;
}

std::vector<Measurement> TuningDatabase::at(const PlaceKey& place) {
    Statement statement(handle_, path_,
                        "SELECT id, row FROM measurement WHERE class = ? AND build = ? AND device = ? AND sizes = ? "
                        "ORDER BY taken_ms, id");
    for (const std::string* key : {&place.problem_class, &place.build, &place.device, &place.sizes})
        statement.bind(*key);
    std::vector<Measurement> rows;
    while (statement.step()) {
        std::optional<EncodedRow> row = sound_row(statement.text(0), statement.text(1));
        if (row && same_place(row->measurement, place)) rows.push_back(std::move(row->measurement));
    }
    return rows;
}

void TuningDatabase::select(const RowFilter& filter, const std::function<void(EncodedRow&&)>& visit) {
    Statement statement(handle_, path_, "SELECT id, row FROM measurement" + conditions(filter));
    bind_filter(statement, filter);
    while (statement.step()) {
        if (auto row = sound_row(statement.text(0), statement.text(1))) visit(std::move(*row));
    }
}

std::size_t TuningDatabase::remove(const RowFilter& filter) {
    Statement statement(handle_, path_, "DELETE FROM measurement" + conditions(filter));
    bind_filter(statement, filter);
    statement.step();
    return static_cast<std::size_t>(sqlite3_changes(handle_));
}

std::size_t TuningDatabase::damaged_rows() {
    Statement statement(handle_, path_, "SELECT id, row FROM measurement");
    std::size_t count = 0;
    while (statement.step()) count += sound_row(statement.text(0), statement.text(1)) ? 0 : 1;
    return count;
}

bool TuningDatabase::is_sound() {
    Statement statement(handle_, path_, "PRAGMA integrity_check(1)");
    return statement.step() && statement.text(0) == "ok";
}

std::vector<EncodedRow> TuningDatabase::salvage(const std::string& path) {
    std::vector<EncodedRow> rows;
    sqlite3* handle = nullptr;
    if (sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr) == SQLITE_OK) {
        try {
            Statement statement(handle, path, "SELECT id, row FROM measurement NOT INDEXED");
            while (statement.step()) {
                if (auto row = sound_row(statement.text(0), statement.text(1))) rows.push_back(std::move(*row));
            }
        } catch (const StoreError&) {
            // The rest cannot be read.
        }
    }
    sqlite3_close(handle);
    return rows;
}

}  // namespace kiln::runtime
