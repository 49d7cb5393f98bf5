#include "runtime/tuning_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <limits>
#include <thread>
#include <tuple>

#include "ir/support/internal_error.h"
#include "runtime/descriptor.h"
#include "runtime/tuning_database.h"
#include "runtime/tuning_problem.h"

namespace kiln::runtime {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kProbeLimit{2};
constexpr std::string_view kDatabaseMagic = "SQLite format 3";
constexpr std::size_t kMergeBatch = 1000;
constexpr std::size_t kMessagesKept = 20;
// Sizes that change with every launch must not fill the memory.
constexpr std::size_t kAnswersKept = 65536;
constexpr std::size_t kFirstRows = 2, kAllRows = 1000000;

std::atomic<std::uint64_t> generation{1};

/// As SQLite locks: a POSIX record lock, without waiting. A lock that another process holds shows that locks work.
int probe_with_fcntl(int file) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_len = 1;
    if (::fcntl(file, F_SETLK, &lock) != 0) return errno == EAGAIN || errno == EACCES ? 0 : errno;
    lock.l_type = F_UNLCK;
    return ::fcntl(file, F_SETLK, &lock) == 0 ? 0 : errno;
}

/// Why locks do not work in the folder of `file`; empty if they do. A probe that never returns is left to its thread.
std::string lock_trouble(const std::string& file, const std::function<int(int)>& probe) {
    static std::atomic<std::uint64_t> counter{0};
    const std::string path = fmt::format("{}.probe-{}-{}", file, ::getpid(), counter++);
    auto result = std::make_shared<std::promise<int>>();
    std::future<int> answer = result->get_future();
    try {
        std::thread([path, result, probe = probe ? probe : probe_with_fcntl] {
            const Descriptor probed(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
            const int code = probed.number() < 0 ? errno : probe(probed.number());
            ::unlink(path.c_str());
            result->set_value(code);
        }).detach();
    } catch (const std::system_error& error) {
        return error.what();
    }
    if (answer.wait_for(kProbeLimit) != std::future_status::ready) return "a lock does not return";
    const int code = answer.get();
    return code == 0 ? "" : std::strerror(code);
}

std::string folder_of(const std::string& file) {
    const fs::path folder = fs::path(file).parent_path();
    return folder.empty() ? "." : folder.string();
}

/// Makes the folder of the store; why it is not to be used, or empty.
std::string folder_trouble(const StoreOptions& options) {
    const std::string folder = folder_of(options.file);
    std::error_code error;
    fs::create_directories(fs::path(folder).parent_path(), error);
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
        return fmt::format("the folder {} cannot be made ({})", folder, std::strerror(errno));
    }
    struct stat status {};
    const auto look = options.private_folder ? ::lstat : ::stat;
    if (look(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
        return fmt::format("{} is no folder", folder);
    }
    if (options.private_folder && status.st_uid != ::geteuid()) {
        return fmt::format("the folder {} belongs to another user", folder);
    }
    return "";
}

/// The mode counts, not what this process could do: root could write to everything.
bool may_write(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && (status.st_mode & 0222) != 0 && ::access(path.c_str(), W_OK) == 0;
}

bool exists(const std::string& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0;
}

bool is_database(const std::string& path) {
    std::string magic(kDatabaseMagic.size(), '\0');
    std::ifstream stream(path, std::ios::binary);
    return stream.read(magic.data(), static_cast<std::streamsize>(magic.size())) && magic == kDatabaseMagic;
}

/// Renames a database with the files that belong to it; the new name, or nothing.
std::optional<std::string> rename_aside(const std::string& path) {
    const std::string name = fmt::format("{}.set-aside-{}-{}", path, now_ms(), ::getpid());
    // The log goes first: a log without its database is ignored, a new database beside an old log might not be.
    for (const char* part : {"-wal", "-shm", "-journal"}) ::rename((path + part).c_str(), (name + part).c_str());
    if (::rename(path.c_str(), name.c_str()) != 0) return std::nullopt;
    return name;
}

/// Euclidean distance of the sizes' logarithms; nothing if the sizes have other names.
std::optional<double> distance_between(const std::map<std::string, std::int64_t>& asked, const std::string& stored) {
    const Json json = Json::parse(stored, nullptr, false);
    if (!json.is_object() || json.size() != asked.size()) return std::nullopt;
    double sum = 0;
    for (const auto& [name, size] : asked) {
        const auto found = json.find(name);
        if (found == json.end() || !found->is_number_integer()) return std::nullopt;
        // An empty axis counts as half an element, so that it is near 1 and far from the rest.
        const auto logarithm = [](std::int64_t value) {
            return std::log2(value == 0 ? 0.5 : static_cast<double>(value));
        };
        const double step = logarithm(size) - logarithm(found->get<std::int64_t>());
        sum += step * step;
    }
    return std::sqrt(sum);
}

std::size_t common_targets(const TuningDevice& device, const std::string& joined) {
    std::size_t count = 0, at = 0;
    for (const std::string& target : device.targets) {
        const std::size_t end = std::min(joined.find(' ', at), joined.size());
        if (joined.substr(at, end - at) != target) break;
        ++count;
        if (end == joined.size()) break;
        at = end + 1;
    }
    return count;
}

/// Computes the values whose expressions say how for this device. False if one cannot be computed.
bool adapt_to(const TuningDevice& device, Configuration& configuration) {
    for (auto& [name, choice] : configuration) {
        if (choice.expression.empty()) continue;
        const std::optional<std::int64_t> value = evaluate_units(choice.expression, device.units);
        if (!value) return false;
        choice.value = std::to_string(*value);
    }
    return true;
}

std::string problem_key(const TuningProblem& problem, const TuningDevice& device) {
    return class_of(problem) + device_key(device) + sizes_text(problem);
}

/// Candidates near a problem, the nearest first.
struct Neighbour {
    bool other_device;
    std::size_t foreign_targets;
    double unit_steps;
    double distance;
    std::string device, sizes;

    auto rank() const { return std::tie(other_device, foreign_targets, unit_steps, distance, device, sizes); }
    bool operator<(const Neighbour& other) const { return rank() < other.rank(); }
    bool operator==(const Neighbour& other) const { return rank() == other.rank(); }
};

}  // namespace

StoreOptions StoreOptions::from_environment() {
    StoreOptions options;
    const auto variable = [](const char* name) {
        return std::string(std::getenv(name) == nullptr ? "" : std::getenv(name));
    };
    const std::string named = variable("KILN_TUNING"), data = variable("XDG_DATA_HOME"), home = variable("HOME");
    if (named == "off") {
        options.off = true;
    } else if (!named.empty()) {
        options.file = named;
    } else if (data.starts_with('/')) {
        options.file = data + "/kiln/tuning.db";
    } else if (home.starts_with('/')) {
        options.file = home + "/.local/share/kiln/tuning.db";
    }
    options.private_folder = named.empty();
    std::string list = variable("KILN_TUNING_PATH");
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(':'), list.size());
        if (end != 0) options.read_only_files.push_back(list.substr(0, end));
        list.erase(0, std::min(end + 1, list.size()));
    }
    return options;
}

/// The connections of one process. Errors of SQLite end here.
class TuningStore::Databases {
public:
    explicit Databases(const StoreOptions& options) : options_(options), process_(::getpid()) {
        for (const std::string& file : options.read_only_files) open_beside(file);
    }
    ~Databases() { flush(); }

    bool belongs_to_this_process() const { return process_ == ::getpid(); }
    bool is_writable() {
        open_own(true);
        return own_ != nullptr && !read_only_;
    }

    void warn(const std::string& message) {
        if (warned_) return;
        warned_ = true;
        fmt::print(stderr, "kiln: warning: {}\n", message);
    }

    /// Runs `action` on the user's own rows: the file, and what could not be written to it.
    template <class Action>
    void read_own(const Action& action) {
        open_own(false);
        guarded([&] {
            if (own_ != nullptr) action(*own_);
        });
        read_memory(action);
    }

    /// Runs `action` on all databases.
    template <class Action>
    void read_all(const Action& action) {
        read_own(action);
        for (std::unique_ptr<TuningDatabase>& database : beside_) {
            try {
                if (database != nullptr) action(*database);
            } catch (const StoreError& error) {
                if (error.kind() == StoreError::Kind::Busy) continue;
                warn(fmt::format("the tuning store {}; it is not used", error.what()));
                database = nullptr;
            }
        }
    }

    /// Adds rows; how many were new. `on_disk` says whether they are in the file.
    std::size_t insert(std::span<const EncodedRow> rows, bool& on_disk) {
        std::size_t added = 0;
        on_disk = false;
        if (is_writable()) {
            guarded([&] {
                flush_to_own();
                added = own_->insert(rows);
                on_disk = true;
            });
        } else if (own_ != nullptr) {
            warn(fmt::format("the tuning store {} may not be written; new measurements are kept in memory only",
                             options_.file));
        } else if (!options_.off) {
            warn(
                "there is no place for the tuning store (neither HOME nor KILN_TUNING is set); measurements are kept "
                "in "
                "memory only");
        }
        if (on_disk) return added;
        if (is_writable()) pending_.insert(pending_.end(), rows.begin(), rows.end());
        try {
            if (memory_ == nullptr) memory_ = TuningDatabase::in_memory();
            added = memory_->insert(rows);
        } catch (const StoreError& error) {
            warn(error.what());
        }
        return added;
    }

    template <class Action>
    void change_own(const Action& action) {
        open_own(false);
        if (own_ != nullptr && read_only_) {
            warn(fmt::format("the tuning store {} may not be written; it stays as it is", options_.file));
        } else {
            guarded([&] {
                if (own_ != nullptr) action(*own_);
            });
        }
        read_memory(action);
    }

private:
    template <class Action>
    void read_memory(const Action& action) {
        try {
            if (memory_ != nullptr) action(*memory_);
        } catch (const StoreError& error) {
            warn(error.what());
        }
    }

    void give_up(const std::string& reason) {
        own_ = nullptr;
        warn(fmt::format("{}; measurements are kept in memory only", reason));
    }

    /// Runs `action`; a damaged database is set aside and the action repeated on a new one.
    template <class Action>
    void guarded(const Action& action) {
        for (int attempt = 0; attempt < 2; ++attempt) {
            try {
                return action();
            } catch (const StoreError& error) {
                if (error.kind() == StoreError::Kind::Damaged && attempt == 0 && !read_only_) {
                    own_ = nullptr;
                    replace_damaged();
                    if (own_ != nullptr) continue;
                } else if (error.kind() == StoreError::Kind::Damaged) {
                    give_up(fmt::format("the tuning store {}", error.what()));
                } else {
                    warn(fmt::format("the tuning store {}; what cannot be written is kept in memory", error.what()));
                }
                return;
            }
        }
    }

    void flush_to_own() {
        if (pending_.empty()) return;
        own_->insert(pending_);
        pending_.clear();
        memory_ = nullptr;
    }

    void flush() {
        if (pending_.empty() || !is_writable() || !belongs_to_this_process()) return;
        try {
            own_->insert(pending_);
        } catch (const StoreError&) {
            // Said before, when they could not be written at first.
        }
    }

    /// Opens the file once; one that does not exist is made by the first row, not by looking for rows.
    void open_own(bool make) {
        if (tried_ || options_.off || options_.file.empty() || (!make && !exists(options_.file))) return;
        tried_ = true;
        if (const std::string trouble = folder_trouble(options_); !trouble.empty()) {
            return give_up("the tuning store cannot be kept: " + trouble);
        }
        struct stat status {};
        const bool present = ::lstat(options_.file.c_str(), &status) == 0;
        if (present && S_ISDIR(status.st_mode)) return replace_damaged();
        if (present && (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid())) {
            return give_up(fmt::format("the tuning store {} is {}", options_.file,
                                       S_ISREG(status.st_mode) ? "another user's" : "no regular file"));
        }
        read_only_ =
            options_.read_only || (present && (!may_write(options_.file) || !may_write(folder_of(options_.file))));
        if (!read_only_) {
            const std::string trouble = lock_trouble(options_.file, options_.lock_probe);
            if (!trouble.empty()) {
                return give_up(fmt::format("the tuning store {} is on a disk that cannot lock files or be written ({})",
                                           options_.file, trouble));
            }
        }
        connect();
    }

    void connect() {
        using Access = TuningDatabase::Access;
        try {
            own_ = TuningDatabase::open(options_.file, read_only_ ? Access::ReadOnly : Access::ReadWrite);
        } catch (const StoreError& error) {
            if (error.kind() == StoreError::Kind::Damaged && !read_only_) return replace_damaged();
            // Where nothing can be written (a full disk), what is there may still be read.
            if (error.kind() == StoreError::Kind::Unusable && !read_only_ && exists(options_.file)) {
                read_only_ = true;
                return connect();
            }
            give_up(fmt::format("the tuning store {}", error.what()));
        }
    }

    /// Sets the file aside and starts a new one with the rows that can still be read. The lock on the folder lets one
    /// process do so; those after it find a sound database.
    void replace_damaged() {
        const Descriptor folder(::open(folder_of(options_.file).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (folder.number() >= 0) ::flock(folder.number(), LOCK_EX);
        std::error_code ignored;
        try {
            own_ = TuningDatabase::open(options_.file, TuningDatabase::Access::ReadWrite);
            if (own_->is_sound()) return;
            own_ = nullptr;
        } catch (const StoreError& error) {
            own_ = nullptr;
            const bool in_the_way =
                error.kind() == StoreError::Kind::Damaged || fs::is_directory(options_.file, ignored);
            if (!in_the_way) return give_up(fmt::format("the tuning store {}", error.what()));
        }
        const std::optional<std::string> aside = exists(options_.file) ? rename_aside(options_.file) : "";
        if (!aside) return give_up(fmt::format("the tuning store {} is damaged and cannot be renamed", options_.file));
        try {
            own_ = TuningDatabase::open(options_.file, TuningDatabase::Access::ReadWrite);
            const std::vector<EncodedRow> rows = TuningDatabase::salvage(*aside);
            own_->insert(rows);
            warn(fmt::format("the tuning store {} is damaged: it was set aside as {}, and {} rows of it were kept",
                             options_.file, *aside, rows.size()));
        } catch (const StoreError& error) {
            give_up(fmt::format("the tuning store {}", error.what()));
        }
    }

    void open_beside(const std::string& file) {
        try {
            if (is_database(file)) {
                beside_.push_back(TuningDatabase::open(file, TuningDatabase::Access::ReadOnly));
                return;
            }
            std::ifstream stream(file, std::ios::binary);
            if (!stream) throw StoreError(StoreError::Kind::Unusable, file + ": " + std::strerror(errno));
            std::vector<EncodedRow> rows;
            std::string line, reason;
            while (std::getline(stream, line)) {
                if (line.empty()) continue;
                if (auto row = encode_line(line, reason)) {
                    rows.push_back(std::move(*row));
                } else {
                    warn(fmt::format("the tuning store {} has lines that cannot be used: {}", file, reason));
                }
            }
            beside_.push_back(TuningDatabase::in_memory());
            beside_.back()->insert(rows);
        } catch (const StoreError& error) {
            warn(fmt::format("the tuning store {}; it is not used", error.what()));
        }
    }

    const StoreOptions& options_;
    pid_t process_;
    bool warned_ = false;
    bool tried_ = false;  ///< to open the file
    bool read_only_ = false;
    std::unique_ptr<TuningDatabase> own_;
    std::unique_ptr<TuningDatabase> memory_;  ///< rows that are not in the file
    std::vector<EncodedRow> pending_;         ///< those of them that may still be written
    std::vector<std::unique_ptr<TuningDatabase>> beside_;
};

namespace {

/// Finds the fastest row of a place that a look-up may return.
class Search {
public:
    Search(const TuningProblem& problem, const TuningDevice& device, std::optional<Numerics> only,
           const std::set<std::string>& dropped)
        : problem_(problem),
          device_(device),
          only_(only),
          dropped_(dropped),
          key_(problem_key(problem, device)),
          asked_{class_of(problem), tuning_build(), device_key(device), sizes_text(problem)} {}

    /// `each` runs a function on every database.
    template <class Each>
    std::shared_ptr<const StoredMatch> run(const Each& each) const {
        if (auto match = at(asked_, MatchKind::Exact, 0, each)) return match;
        for (const Neighbour& neighbour : neighbours(each)) {
            PlaceKey place = asked_;
            place.device = neighbour.device;
            place.sizes = neighbour.sizes;
            const MatchKind kind = neighbour.other_device ? MatchKind::NearestDevice : MatchKind::NearestShape;
            if (auto match = at(place, kind, neighbour.distance, each)) return match;
        }
        return nullptr;
    }

private:
    template <class Each>
    std::shared_ptr<const StoredMatch> at(const PlaceKey& place, MatchKind kind, double distance,
                                          const Each& each) const {
        // Nearly always the first row will do; the second round is for places where the fastest have failed.
        for (const std::size_t limit : {kFirstRows, kAllRows}) {
            std::vector<Measurement> rows;
            each([&](TuningDatabase& database) {
                for (Measurement& row : database.fastest(place, limit)) rows.push_back(std::move(row));
            });
            std::stable_sort(rows.begin(), rows.end(), [](const Measurement& a, const Measurement& b) {
                return std::tie(a.seconds, a.configuration) < std::tie(b.seconds, b.configuration);
            });
            for (Measurement& row : rows) {
                if (!is_usable(row, kind, each)) continue;
                return std::make_shared<const StoredMatch>(StoredMatch{kind, distance, std::move(row)});
            }
            if (rows.size() < limit) break;
        }
        return nullptr;
    }

    template <class Each>
    bool is_usable(Measurement& row, MatchKind kind, const Each& each) const {
        if (only_ && row.numerics != *only_) return false;
        if (!adapt_to(device_, row.configuration)) return false;
        const std::string text = configuration_text(row.configuration);
        return !dropped_.contains(key_ + text) && !has_failed(text, kind, row.taken_ms, each);
    }

    /// A failure at exactly the problem that was asked for; of a row from elsewhere any, of its own only a later one.
    template <class Each>
    bool has_failed(const std::string& configuration, MatchKind kind, std::int64_t taken_ms, const Each& each) const {
        const std::int64_t since = kind == MatchKind::Exact ? taken_ms : std::numeric_limits<std::int64_t>::min();
        bool failed = false;
        each([&](TuningDatabase& database) { failed |= database.has_failed(asked_, configuration, since); });
        return failed;
    }

    template <class Each>
    std::vector<Neighbour> neighbours(const Each& each) const {
        std::vector<Neighbour> found;
        each([&](TuningDatabase& database) {
            const std::string family = device_.targets.empty() ? "" : device_.targets[0];
            for (const MeasuredPlace& place : database.verified_places(asked_.problem_class, asked_.build, family)) {
                const std::optional<double> distance = distance_between(problem_.sizes, place.sizes);
                if (!distance || (place.device == asked_.device && place.sizes == asked_.sizes)) continue;
                const double ratio = static_cast<double>(std::max<std::int64_t>(place.units, 1)) /
                                     static_cast<double>(std::max<std::int64_t>(device_.units, 1));
                found.push_back({place.device != asked_.device,
                                 device_.targets.size() - common_targets(device_, place.targets),
                                 std::abs(std::log2(ratio)), *distance, place.device, place.sizes});
            }
        });
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        return found;
    }

    const TuningProblem& problem_;
    const TuningDevice& device_;
    std::optional<Numerics> only_;
    const std::set<std::string>& dropped_;
    std::string key_;
    PlaceKey asked_;
};

}  // namespace

TuningStore::TuningStore(StoreOptions options) : options_(std::move(options)) {}
TuningStore::~TuningStore() = default;

TuningStore::Databases& TuningStore::databases() {
    // A forked child must not touch its parent's connections, not even to close them.
    if (databases_ != nullptr && !databases_->belongs_to_this_process()) static_cast<void>(databases_.release());
    if (databases_ == nullptr) databases_ = std::make_unique<Databases>(options_);
    return *databases_;
}

void TuningStore::forget_answers() {
    answers_.clear();
    generation.fetch_add(1, std::memory_order_release);
}

std::shared_ptr<const StoredMatch> TuningStore::find(const TuningProblem& problem, const TuningDevice& device,
                                                     std::optional<Numerics> only) {
    const std::lock_guard lock(mutex_);
    const std::string key = problem_key(problem, device) + (only ? std::string(numerics_name(*only)) : "");
    if (const auto found = answers_.find(key); found != answers_.end()) return found->second;
    Databases& all = databases();
    const Search search(problem, device, only, dropped_);
    auto match = search.run([&](const auto& action) { all.read_all(action); });
    if (answers_.size() >= kAnswersKept) answers_.clear();
    answers_[key] = match;
    return match;
}

std::vector<Measurement> TuningStore::measurements(const TuningProblem& problem, const TuningDevice& device) {
    const std::lock_guard lock(mutex_);
    const PlaceKey place{class_of(problem), tuning_build(), device_key(device), sizes_text(problem)};
    std::map<std::pair<std::int64_t, std::string>, Measurement> rows;
    databases().read_all([&](TuningDatabase& database) {
        for (Measurement& row : database.at(place)) {
            const std::pair key(row.taken_ms, to_line(row));
            rows.emplace(key, std::move(row));
        }
    });
    std::vector<Measurement> result;
    for (auto& [key, row] : rows) result.push_back(std::move(row));
    return result;
}

std::vector<Measurement> TuningStore::rows(const RowFilter& filter) {
    const std::lock_guard lock(mutex_);
    std::map<std::string, Measurement> rows;
    databases().read_all([&](TuningDatabase& database) {
        database.select(filter, [&](EncodedRow&& row) { rows.emplace(row.id, std::move(row.measurement)); });
    });
    std::vector<Measurement> result;
    for (auto& [id, row] : rows) result.push_back(std::move(row));
    std::stable_sort(result.begin(), result.end(), [](const Measurement& a, const Measurement& b) {
        return std::tie(a.problem.name, a.problem.sizes, a.taken_ms) <
               std::tie(b.problem.name, b.problem.sizes, b.taken_ms);
    });
    return result;
}

bool TuningStore::record(std::span<const Measurement> rows) {
    const std::lock_guard lock(mutex_);
    std::vector<EncodedRow> encoded;
    for (const Measurement& row : rows) {
        std::string reason;
        std::optional<EncodedRow> checked = encode_line(to_line(row), reason);
        if (!checked) throw support::InternalError("runtime/tuning_store", "a row that cannot be read back: " + reason);
        encoded.push_back(std::move(*checked));
    }
    bool on_disk = false;
    databases().insert(encoded, on_disk);
    forget_answers();
    return on_disk;
}

void TuningStore::drop(const TuningProblem& problem, const TuningDevice& device, const Configuration& configuration) {
    const std::lock_guard lock(mutex_);
    dropped_.insert(problem_key(problem, device) + configuration_text(configuration));
    answers_.clear();
}

void TuningStore::export_lines(std::ostream& out, const RowFilter& filter) {
    const std::lock_guard lock(mutex_);
    std::set<std::pair<std::string, std::string>> lines;
    databases().read_own([&](TuningDatabase& database) {
        database.select(filter,
                        [&](EncodedRow&& row) { lines.emplace(row.measurement.problem.name, std::move(row.text)); });
    });
    for (const auto& [name, line] : lines) out << line << '\n';
}

MergeReport TuningStore::merge_lines(std::istream& in, const std::string& name) {
    const std::lock_guard lock(mutex_);
    MergeReport report;
    std::vector<EncodedRow> batch;
    const auto write_batch = [&] {
        bool on_disk = false;
        const std::size_t added = databases().insert(batch, on_disk);
        report.added += added;
        report.known += batch.size() - added;
        batch.clear();
    };
    std::string line, reason;
    for (std::size_t number = 1; std::getline(in, line); ++number) {
        if (line.empty()) continue;
        if (std::optional<EncodedRow> row = encode_line(line, reason)) {
            batch.push_back(std::move(*row));
            if (batch.size() == kMergeBatch) write_batch();
            continue;
        }
        ++report.bad;
        if (report.problems.size() < kMessagesKept)
            report.problems.push_back(fmt::format("{}:{}: {}", name, number, reason));
    }
    if (!batch.empty()) write_batch();
    forget_answers();
    return report;
}

MergeReport TuningStore::merge_file(const std::string& path) {
    if (!is_database(path)) {
        std::ifstream stream(path, std::ios::binary);
        if (!stream) return {0, 0, 1, {fmt::format("{}: {}", path, std::strerror(errno))}};
        return merge_lines(stream, path);
    }
    std::vector<EncodedRow> rows;
    try {
        const auto database = TuningDatabase::open(path, TuningDatabase::Access::ReadOnly);
        database->select({}, [&](EncodedRow&& row) { rows.push_back(std::move(row)); });
    } catch (const StoreError& error) {
        return {0, 0, 1, {error.what()}};
    }
    const std::lock_guard lock(mutex_);
    bool on_disk = false;
    const std::size_t added = databases().insert(rows, on_disk);
    forget_answers();
    return {added, rows.size() - added, 0, {}};
}

std::size_t TuningStore::prune(const RowFilter& filter) {
    const std::lock_guard lock(mutex_);
    std::size_t removed = 0;
    databases().change_own([&](TuningDatabase& database) { removed += database.remove(filter); });
    forget_answers();
    return removed;
}

StoreStatistics TuningStore::statistics() {
    const std::lock_guard lock(mutex_);
    StoreStatistics statistics;
    std::map<std::string, Measurement> rows;  // by id: a read may be repeated, and a row may be in file and memory
    databases().read_own([&](TuningDatabase& database) {
        database.select({}, [&](EncodedRow&& row) { rows.emplace(row.id, std::move(row.measurement)); });
        statistics.damaged += database.damaged_rows();
    });
    statistics.rows = rows.size();
    for (const auto& [id, row] : rows) {
        if (row.build != tuning_build()) ++statistics.other_builds;
        ++statistics.verdicts[std::string(verdict_name(row.verdict))];
        ++statistics.kernels[row.problem.name];
        ++statistics.devices[row.device.name];
    }
    std::error_code error;
    if (is_database(options_.file)) statistics.bytes = fs::file_size(options_.file, error);
    return statistics;
}

void TuningStore::refresh() {
    const std::lock_guard lock(mutex_);
    forget_answers();
}

bool TuningStore::is_on_disk() {
    const std::lock_guard lock(mutex_);
    return databases().is_writable();
}

namespace {

std::mutex& process_mutex() {
    static std::mutex mutex;
    return mutex;
}

/// Never destroyed: nothing happens when the process ends.
std::shared_ptr<TuningStore>& process_store() {
    static auto* store = new std::shared_ptr<TuningStore>;
    return *store;
}

}  // namespace

std::shared_ptr<TuningStore> tuning_store() {
    const std::lock_guard lock(process_mutex());
    std::shared_ptr<TuningStore>& store = process_store();
    if (store == nullptr) store = std::make_shared<TuningStore>(StoreOptions::from_environment());
    return store;
}

std::uint64_t tuning_generation() {
    return generation.load(std::memory_order_acquire);
}

void replace_tuning_store(std::shared_ptr<TuningStore> store) {
    const std::lock_guard lock(process_mutex());
    process_store() = std::move(store);
    generation.fetch_add(1, std::memory_order_release);
}

}  // namespace kiln::runtime
