// Tuning one launch: search, trials in a worker process, rows in the store.
//
// Every trial is a row in the store before the next begins, so that a run that is killed at any moment loses the trial
// it was doing and nothing else: the next run finds the rows and goes on. What would become the best so far is verified
// and timed once more on a second input before its row is written, so that no row says "verified" that won on one
// input.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autotune/candidates.h"
#include "autotune/protocol.h"
#include "autotune/search.h"
#include "runtime/tuning_problem.h"
#include "runtime/tuning_store.h"

namespace kiln::autotune {

/// What is tuned. make_task() makes it of a launch; tests make it of anything.
struct Task {
    runtime::TuningProblem problem;
    runtime::TuningDevice device;
    Candidates candidates;
    std::vector<runtime::Configuration> stored;  ///< the configurations of the space as the store keeps them
    Job job;
    bool has_reference = true;  ///< then only rows that say "verified" count
};

struct TaskOptions {
    bool wide = false;  ///< make_candidates()
    NumericsWanted numerics = NumericsWanted::Any;
    std::uint64_t seed = 1;
    MeasureOptions measure;
};

/// Throws Error for a launch that cannot be made, and for a space without a configuration that can run.
Task make_task(const std::shared_ptr<const runtime::ModuleState>& module, const runtime::CapturedLaunch& launch,
               const TaskOptions& options);

struct TuneOptions {
    SearchOptions search;
    std::optional<double> seconds;  ///< no trial begins later
    double trial_seconds = 30;      ///< a stage of a trial (start, compile, verify, time) that takes longer is stopped
    std::vector<std::string> worker_command;  ///< worker_command()
    bool compile_ahead = true;
    std::function<bool()> stop;  ///< asked before each trial; null: never
};

struct TuneProgress {
    std::size_t trial = 0;    ///< counted from 1
    std::size_t trials = 0;   ///< that there may be
    bool remembered = false;  ///< the store had it
    std::string configuration;
    Verdict verdict = Verdict::Unchecked;
    std::string reason;
    double seconds = 0;
    std::string best;
    double best_seconds = 0;
};

struct TuneResult {
    std::optional<runtime::Measurement> best;  ///< the fastest that may win; nothing if none did
    std::vector<runtime::Measurement> rows;    ///< of the configurations of this space, in the order they were tried
    std::size_t space = 0, excluded = 0;
    std::size_t trials = 0;      ///< proposals, remembered ones included
    std::size_t remembered = 0;  ///< of those, how many the store had
    std::size_t failed = 0;      ///< rows of any other verdict than verified
    bool ended_early = false;    ///< for want of gain
    double wall_seconds = 0;
};

using OnProgress = std::function<void(const TuneProgress&)>;

/// Throws Error if no trial is possible at all (worker_command, a reference that fails).
TuneResult tune(const Task& task, runtime::TuningStore& store, const TuneOptions& options,
                const OnProgress& on_progress = nullptr);

}  // namespace kiln::autotune
