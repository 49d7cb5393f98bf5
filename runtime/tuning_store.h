// What was measured, and how it is found again: measurements of configurations, good and bad, in an SQLite database
// that any number of processes may share. docs/tuning_store.md describes the file and its text form.
//
// The store never stands in the way of a launch: a database that is damaged, foreign, unwritable, on a disk without
// locks or from a newer Kiln is set aside or left alone with one warning a process, and the work goes on with a store
// in memory.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kiln::runtime {

/// The value of one tunable (or schedule parameter) as the language spells it: "128", "true", "grouped(4)".
/// `expression` is set where the choice as written uses `units()` ("units() * 2"): on a device with another number of
/// units the expression counts, not the value.
struct TunedValue {
    std::string value;
    std::string expression;
    friend auto operator<=>(const TunedValue&, const TunedValue&) = default;
};

/// A whole configuration: every tunable of the kernel and every schedule parameter of the target, by name.
using Configuration = std::map<std::string, TunedValue>;

/// "BM=128, BN=256"; an expression stands behind its value: "P=16 (units() * 2)".
std::string to_string(const Configuration& configuration);

/// What is tuned: one specialisation of a kernel on arguments of certain sizes (runtime/tuning_problem.h makes it).
struct TuningProblem {
    std::string kernel;                           ///< kernel_identity(): hash of the text, its imports and the name
    std::string name;                             ///< "gemm"
    std::string file;                             ///< as it was opened; for people, and not compared
    std::map<std::string, std::string> generics;  ///< all of them, as the language spells them
    /// Tensors that were given: "f32" where the last axis has stride 1, "f32@0" where axis 0 has, "f32@-" where none
    /// has.
    std::map<std::string, std::string> arguments;
    std::map<std::string, std::int64_t> sizes;  ///< by the text of the axis ("M"), or "a.0" for axis 0 of `a: in T[_]`
};

/// Where it runs. Two devices are the same if fingerprint and units agree, and of one family if targets[0] does.
struct TuningDevice {
    std::string name;                  ///< "cpu"
    std::string description;           ///< in words; for people, and not compared
    std::string fingerprint;           ///< of the backend: features and compiler versions
    std::vector<std::string> targets;  ///< as `schedule` blocks name them, least specific first
    std::int64_t units = 1;            ///< compute units: threads on the CPU
};

/// Numbers are part of the stored text; the names in it are those of verdict_name().
enum class Verdict : std::uint8_t {
    Verified,   ///< ran, and agreed with the reference: the only verdict that a look-up may return
    Unchecked,  ///< ran and was timed, but was not compared with a reference
    Wrong,      ///< ran, and disagreed
    FailedToCompile,
    Refused,  ///< compiled, but the device refused to launch it (out of resources)
    Crashed,
    TimedOut,
    Excluded,  ///< never tried: illegal by computation; the reason says why
};
std::string_view verdict_name(Verdict verdict);
std::optional<Verdict> verdict_named(std::string_view name);

/// Whether a configuration sums in one fixed order ("ordered") or in an order that a launch may choose ("unordered").
enum class Numerics : std::uint8_t { Ordered, Unordered };
std::string_view numerics_name(Numerics numerics);

/// One row: what happened to one configuration, once.
struct Measurement {
    TuningProblem problem;
    TuningDevice device;
    Configuration configuration;
    std::string build;  ///< tuning_build() of the Kiln that measured
    Numerics numerics = Numerics::Ordered;
    Verdict verdict = Verdict::Unchecked;
    std::string reason;         ///< why it failed or was excluded; empty for verified
    double seconds = 0;         ///< median of the timed runs; 0 if it did not run
    double spread_seconds = 0;  ///< half width of the 95% confidence interval of `seconds`
    std::int64_t runs = 0;      ///< timed runs
    bool contended = false;     ///< something else used the device meanwhile
    double clock_mhz = 0;       ///< of the device while it ran; 0 if unknown
    std::uint64_t seed = 0;     ///< of the search and of the inputs
    std::int64_t taken_ms = 0;  ///< when: milliseconds since 1970, UTC
};

/// The row as one line of JSON without the newline: the text form of docs/tuning_store.md. Equal rows give equal text.
std::string to_line(const Measurement& measurement);
/// Nothing, with the reason, if the line is damaged or from a newer Kiln.
std::optional<Measurement> parse_line(std::string_view line, std::string& reason);

/// Identifies what generates code in this build: version and a hash of the sources of frontend, ir and codegen. The
/// program `kiln` and libkiln.so of one build agree on it, so that what one tunes the other uses.
const std::string& tuning_build();

/// Milliseconds since 1970, UTC.
std::int64_t now_ms();

enum class MatchKind : std::uint8_t {
    Exact,          ///< this problem on this device
    NearestShape,   ///< other sizes
    NearestDevice,  ///< another device of the family, the sizes perhaps other, too
};

struct StoredMatch {
    MatchKind kind = MatchKind::Exact;
    /// Euclidean distance of the base-2 logarithms of the sizes; 0 for equal sizes.
    double distance = 0;
    /// The row that won. Its values are recomputed for the asking device where an expression says how.
    Measurement measurement;
};

/// Which rows. Empty fields mean any.
struct RowFilter {
    std::string kernel;     ///< a name, or an identity
    std::string build;      ///< of this build only
    std::string not_build;  ///< of every other build
    std::string device;     ///< a device's name or fingerprint
    std::optional<Verdict> verdict;
    std::int64_t before_ms = 0;  ///< taken before; 0: any time
};

struct MergeReport {
    std::size_t added = 0, known = 0, bad = 0;
    std::vector<std::string> problems;  ///< "rows.jsonl:17: ..." for the first 20 bad lines
};

struct StoreStatistics {
    std::size_t rows = 0, other_builds = 0, damaged = 0;  ///< damaged: rows whose checksum does not fit; never used
    std::map<std::string, std::size_t> verdicts, kernels, devices;
    std::uint64_t bytes = 0;  ///< of the database file
};

/// Where the store lives, and what may be replaced in tests.
struct StoreOptions {
    std::string file;             ///< empty: there is no place for one, so that rows stay in memory
    bool off = false;             ///< rows stay in memory, as asked
    bool private_folder = false;  ///< the folder must be a folder of this user's (it is made with mode 0700)
    bool read_only = false;       ///< never write to the file, as with a file whose mode is 0444
    std::vector<std::string> read_only_files;  ///< beside it: databases or text exports
    /// Takes and releases a lock on an open file as SQLite does; returns 0 or an errno. Null: fcntl. Run in a thread of
    /// its own: a disk on which it fails, or does not return within two seconds, is not used.
    std::function<int(int file)> lock_probe;

    /// KILN_TUNING (a file, or `off`), else $XDG_DATA_HOME/kiln/tuning.db, else ~/.local/share/kiln/tuning.db; with
    /// KILN_TUNING_PATH's files, separated by colons.
    static StoreOptions from_environment();
};

/// Safe for any number of threads and processes. No member throws for what is on the disk.
class TuningStore {
public:
    explicit TuningStore(StoreOptions options);
    ~TuningStore();
    TuningStore(const TuningStore&) = delete;
    TuningStore& operator=(const TuningStore&) = delete;

    /// The fastest verified configuration of this build: for exactly this problem and device, else for the nearest
    /// sizes, else on the nearest device of the family. Configurations that were wrong, crashed, hung or were refused
    /// for exactly this problem are passed over. Null if there is none. Repeated look-ups are served from memory.
    std::shared_ptr<const StoredMatch> find(const TuningProblem& problem, const TuningDevice& device,
                                            std::optional<Numerics> only = std::nullopt);
    /// All rows of this problem, device and build, in the order they were taken: what a resumed search has behind it.
    std::vector<Measurement> measurements(const TuningProblem& problem, const TuningDevice& device);
    /// Rows of the user's own store and of those beside it, by kernel, sizes and time.
    std::vector<Measurement> rows(const RowFilter& filter);

    /// Keeps rows, which must be such that parse_line() takes their lines (a verified row has a time); each is in the
    /// file when this returns. False, after one warning a process, if they are in memory only.
    bool record(std::span<const Measurement> rows);
    bool record(const Measurement& row) { return record(std::span(&row, 1)); }
    /// This process does not get that configuration for that problem again.
    void drop(const TuningProblem& problem, const TuningDevice& device, const Configuration& configuration);

    /// Writes the rows of the user's own store as lines, sorted, so that equal stores give equal files.
    void export_lines(std::ostream& out, const RowFilter& filter = {});
    /// Adds rows from lines. Any order and any number of times give the same store. `name` stands in messages.
    MergeReport merge_lines(std::istream& in, const std::string& name);
    /// The same from a file: a text export, or another database.
    MergeReport merge_file(const std::string& path);
    /// Removes rows of the user's own store; how many.
    std::size_t prune(const RowFilter& filter);
    StoreStatistics statistics();

    /// Forgets what look-ups have remembered, so that rows of other processes are seen.
    void refresh();
    /// False if rows are kept in memory only.
    bool is_on_disk();
    /// False if nothing is kept at all: KILN_TUNING=off.
    bool is_on() const { return !options_.off; }
    const std::string& file() const { return options_.file; }

private:
    class Databases;  // tuning_store.cpp

    Databases& databases();
    void forget_answers();

    StoreOptions options_;
    std::mutex mutex_;
    std::unique_ptr<Databases> databases_;
    std::unordered_map<std::string, std::shared_ptr<const StoredMatch>> answers_;
    std::set<std::string> dropped_;
};

/// The process's own store, made from the environment by the first call and never destroyed.
std::shared_ptr<TuningStore> tuning_store();
/// Counts up whenever a look-up in the process's store could have a new answer. One atomic read.
std::uint64_t tuning_generation();
/// Puts another in its place (`kiln tune --store`, tests); null: the next call reads the environment again.
void replace_tuning_store(std::shared_ptr<TuningStore> store);

}  // namespace kiln::runtime
