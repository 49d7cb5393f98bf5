// What the tests of the tuning store share: environment, rows, and what was printed.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/tuning_store.h"
#include "tests/support/temporary_folder.h"

namespace kiln::runtime {

using tests::TemporaryFolder;

/// Sets variables (null: unsets) until the end of the scope.
class ScopedEnvironment {
public:
    ScopedEnvironment(std::initializer_list<std::pair<const char*, const char*>> variables) {
        for (const auto& [name, value] : variables) {
            const char* before = std::getenv(name);
            before_[name] = before == nullptr ? std::nullopt : std::optional<std::string>(before);
            value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
        }
    }
    ~ScopedEnvironment() {
        for (const auto& [name, value] : before_)
            value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
    }

private:
    std::map<std::string, std::optional<std::string>> before_;
};

inline std::string read_bytes(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

inline void write_bytes(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// What `action` prints to stderr.
template <class Action>
std::string printed_by(const Action& action) {
    const TemporaryFolder folder;
    const std::string path = folder.in("stderr");
    const int before = ::dup(2);
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(file, 2);
    ::close(file);
    action();
    std::fflush(stderr);
    ::dup2(before, 2);
    ::close(before);
    return read_bytes(path);
}

inline std::size_t warnings_in(const std::string& text) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find("kiln: warning: ", at)) != std::string::npos; ++at) ++count;
    return count;
}

inline StoreOptions store_in(const std::string& file) {
    StoreOptions options;
    options.file = file;
    return options;
}

inline TuningProblem gemm_problem(std::int64_t m, std::int64_t n = 512, std::int64_t k = 512) {
    return {"0123456789abcdef0123456789abcdef",
            "gemm",
            "kiln/gemm.kiln",
            {{"T", "f32"}, {"Out", "f32"}},
            {{"a", "f32"}, {"b", "f32"}, {"c", "f32"}},
            {{"M", m}, {"N", n}, {"K", k}}};
}

inline TuningDevice cpu_device(std::int64_t units = 8, const std::string& level = "x86_64_v4") {
    TuningDevice device{"cpu", "a processor", "features of " + level, {"cpu", "x86_64_v2", "x86_64_v3"}, units};
    if (level == "x86_64_v4") device.targets.push_back(level);
    return device;
}

inline Configuration blocks(int bm, int bn) {
    return {{"BM", {std::to_string(bm), ""}}, {"BN", {std::to_string(bn), ""}}};
}

inline Measurement measured(const TuningProblem& problem, const Configuration& configuration, double seconds,
                            Verdict verdict = Verdict::Verified, std::int64_t taken_ms = 1000) {
    Measurement row;
    row.problem = problem;
    row.device = cpu_device();
    row.configuration = configuration;
    row.build = tuning_build();
    row.verdict = verdict;
    row.reason = verdict == Verdict::Verified ? "" : "as tested";
    row.seconds = seconds;
    row.spread_seconds = seconds / 100;
    row.runs = 20;
    row.seed = 7;
    row.taken_ms = taken_ms;
    return row;
}

}  // namespace kiln::runtime
