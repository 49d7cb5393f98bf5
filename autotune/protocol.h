// What the tuner and its worker processes say to each other: one line of JSON a message, over two pipes.
//
//   tuner                                        worker
//   {"job": {...}}                               {"ready": "cpu: ..."} or {"fatal": "why"}
//   {"trial": {"BM": "64"}, "action": "try", ..} {"stage": "compiling"}, {"stage": "verifying"}, {"stage": "timing"},
//                                                then {"verdict": "verified", "seconds": 0.01, ...} or {"fatal": "why"}
//
// A worker ends when its input does.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>

#include "autotune/measure.h"
#include "runtime/capture.h"
#include "runtime/tuning_store.h"

namespace kiln::autotune {

using runtime::Verdict;

/// A worker's job: one launch, on inputs made from a seed.
struct Job {
    runtime::CapturedLaunch launch;
    std::string root;                          ///< name of the root file
    std::map<std::string, std::string> texts;  ///< every file of the program, by the name it is imported under
    std::uint64_t seed = 1;                    ///< of the inputs and of the verification's sample
    MeasureOptions measure;
};

enum class TrialAction : std::uint8_t {
    Compile,  ///< into the cache of compiled kernels, and no more
    Try,      ///< compile, verify, time
    Confirm,  ///< the same on a second input
};

struct TrialRequest {
    std::map<std::string, std::string> tunables;  ///< as the language spells their values
    TrialAction action = TrialAction::Try;
    double give_up_above = 0;  ///< seconds a run may take before it is not worth timing well
};

struct TrialResult {
    Verdict verdict = Verdict::Unchecked;
    std::string reason;
    Timing timing;
    double clock_mhz = 0;
    double compile_seconds = 0;
    bool spent = false;  ///< the process must do no other trial: its device failed
};

/// What a worker answers. Fatal: no trial can work, for instance since the reference itself fails.
struct Stage {
    std::string name;
};
struct Ready {
    std::string device;
};
struct Fatal {
    std::string reason;
};
using Answer = std::variant<Stage, Ready, Fatal, TrialResult>;

/// Lines without the newline.
std::string to_line(const Job& job);
std::string to_line(const TrialRequest& request);
std::string to_line(const Answer& answer);
/// Nothing if the line is none of these.
std::optional<Job> parse_job(const std::string& line);
std::optional<TrialRequest> parse_request(const std::string& line);
std::optional<Answer> parse_answer(const std::string& line);

}  // namespace kiln::autotune
