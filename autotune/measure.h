// Timing of one thing that runs again and again, until the result can be trusted.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace kiln::autotune {

struct MeasureOptions {
    int warm_up = 2;             ///< runs before the first that counts
    int fewest = 5, most = 200;  ///< samples
    double precision = 0.01;     ///< stop when the 95% confidence interval is no wider than this share, either side
    double seconds = 0.5;        ///< stop after so much time, but not before `fewest` samples
    bool cold = false;           ///< empty the caches before each sample
    double give_up_above = 0;    ///< where the first runs take longer, they are the only ones; 0: none do
};

/// The mean time of some runs.
struct Sample {
    double seconds = 0;
    bool waited = false;  ///< something else disturbed it
};
/// Makes so many runs, one after the other.
using TakeSample = std::function<Sample(int repeats)>;

struct Timing {
    double seconds = 0;         ///< median of the samples
    double spread_seconds = 0;  ///< half width of the median's 95% confidence interval
    std::int64_t runs = 0;      ///< samples that count
    bool contended = false;     ///< so many samples had to wait for a processor that the rest were too few
};

/// `restore` is called before each run, outside of the measured time; it may be null. Samples that waited are set aside
/// if enough others remain.
Timing measure(const TakeSample& take, const std::function<void()>& restore, const MeasureOptions& options);

/// Times `run` on this machine's processors. A sample has waited if this thread used clearly less processor time than
/// wall time, or any thread of the process was waiting for a processor.
Timing measure(const std::function<void()>& run, const std::function<void()>& restore, const MeasureOptions& options);

/// The median of `samples` and its confidence interval by order statistics: no assumption on how they are distributed.
Timing summarise(std::vector<double> samples);

/// Cycles a second of this thread's processor now, from a chain of dependent additions.
double measured_clock();

}  // namespace kiln::autotune
