// The lock file: configurations that are pinned, so that every run and every rank takes the same. Text to be checked
// in:
//
//   {"kiln_lock": 1, "pins": [
//     {"kernel": "gemm", "generics": {"T": "f32"}, "sizes": {"M": 512}, "configuration": {"BM": 64, "BN": 256, "BK":
//     128}}
//   ]}
//
// docs/tuning_store.md describes it.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/tuning_store.h"

namespace kiln::runtime {

/// One pin. It holds for launches that agree with every field it has; other fields do not matter.
struct Pin {
    std::string kernel;                                      ///< name
    std::string file;                                        ///< last part of the path: "gemm.kiln"; empty: any
    std::string target;                                      ///< one of the device's targets: "x86_64_v4"; empty: any
    std::map<std::string, std::string> generics, arguments;  ///< as in TuningProblem
    std::map<std::string, std::int64_t> sizes;
    Configuration configuration;
    std::size_t line = 0;  ///< where it stands

    bool holds_for(const TuningProblem& problem, const TuningDevice& device) const;
    /// How many fields it has: of the pins that hold, the one with the most counts.
    std::size_t weight() const;
};

class TuningLock {
public:
    /// Throws Error(user) with file and line if the text is damaged, or two pins ask for different configurations of
    /// the same launches.
    static TuningLock parse(const std::string& text, const std::string& path);
    /// The same from a file. Throws Error(user) if it cannot be read: a lock that was asked for must hold.
    static TuningLock read(const std::string& path);

    /// Null if nothing is pinned. Of pins with equal weight the first counts.
    const Pin* find(const TuningProblem& problem, const TuningDevice& device) const;
    const std::vector<Pin>& pins() const { return pins_; }
    const std::string& path() const { return path_; }

private:
    std::string path_;
    std::vector<Pin> pins_;
};

/// A lock file that pins the fastest verified configuration of every problem among `rows`, for their exact sizes and
/// the most specific target of their device.
std::string make_lock(const std::vector<Measurement>& rows);

/// The lock that KILN_TUNING_LOCK names, read by the first call; null if it names none. Throws what read() throws, each
/// time.
std::shared_ptr<const TuningLock> tuning_lock();
/// Reads another file from now on (tests, hosts); an empty path: none.
void use_tuning_lock(const std::string& path);

}  // namespace kiln::runtime
