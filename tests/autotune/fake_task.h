// Tasks whose trials are done by fake_tuning_worker.cpp, and their logs.
#pragma once

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "autotune/tune.h"
#include "tests/programs/fake_trials.h"
#include "tests/support/temporary_folder.h"

namespace kiln::tests {

/// The given values of X, of which the model expects the first to be best.
inline autotune::Task fake_task(const std::vector<int>& values) {
    std::vector<codegen::configure::Configuration> configurations;
    for (const int x : values) configurations.push_back({{{"X", ir::Scalar::int64(x)}}, {}});
    autotune::Task task{{}, {}, {codegen::configure::Space(configurations), {}}, {}, {}, true};
    task.problem = {"identity", "fake", "fake.kiln", {}, {{"y", "f32"}}, {{"N", 64}}};
    task.device = {"fake", "a fake device", "fake fingerprint", {"fake"}, 1};
    for (std::size_t i = 0; i < values.size(); ++i) {
        autotune::Candidate candidate;
        candidate.prediction.seconds = 1e-3 * (1 + 0.01 * static_cast<double>(i));
        task.candidates.list.push_back(candidate);
        task.stored.push_back({{"X", {std::to_string(values[i]), ""}}});
    }
    task.job.launch.file = "fake.kiln";
    task.job.launch.kernel = "fake";
    task.job.launch.device = "fake";
    return task;
}

inline autotune::TuneOptions fake_options(const std::string& log) {
    autotune::TuneOptions options;
    options.worker_command = {KILN_FAKE_TUNING_WORKER, log};
    options.trial_seconds = 20;
    return options;
}

/// "37 try", "37 confirm": the trials that really ran, in order.
inline std::vector<std::string> log_lines(const std::string& log) {
    std::vector<std::string> lines;
    std::ifstream file(log);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
}

inline std::vector<int> range(int first, int last) {
    std::vector<int> values;
    for (int x = first; x < last; ++x) values.push_back(x);
    return values;
}

inline std::string best_of(const autotune::TuneResult& result) {
    return result.best ? runtime::to_string(result.best->configuration) : "";
}

/// The verdict and reason of the row for X; verdict Unchecked with an empty reason if there is none.
inline std::pair<runtime::Verdict, std::string> verdict_of(const autotune::TuneResult& result, int x) {
    for (const runtime::Measurement& row : result.rows) {
        if (runtime::to_string(row.configuration) == "X=" + std::to_string(x)) return {row.verdict, row.reason};
    }
    return {runtime::Verdict::Unchecked, ""};
}

}  // namespace kiln::tests
