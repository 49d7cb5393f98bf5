// Tuning while an application runs. Nothing tunes unless it is asked to here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kiln/export.hpp"

namespace kiln {

struct BackgroundTuning {
    double seconds = 10;                ///< for each problem: a kernel with its types, sizes and device
    std::optional<std::size_t> trials;  ///< at most so many for each problem
    std::uint64_t seed = 1;
    /// The `kiln` program, in which trials run, apart from this process. Empty: KILN_PROGRAM, else bin/kiln beside
    /// libkiln.so.
    std::string program;
};

/// From now on every launch whose configuration was not measured for exactly its sizes is tuned by a thread of its own,
/// one after another, in a worker process that sees shapes and never this process's data. Launches go on with what is
/// known; they change to a better configuration once one is verified and stored. Throws Error(user) if there is no
/// program for the trials. Calling it again changes the options for the problems that follow.
KILN_API void tune_in_background(const BackgroundTuning& options = {});

/// Ends tuning: what is running is stopped, and what is measured stays stored. Returns when no worker is left.
KILN_API void stop_background_tuning();

/// Waits until every problem met so far is tuned.
KILN_API void wait_for_background_tuning();

}  // namespace kiln
