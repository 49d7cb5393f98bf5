// What fake_tuning_worker.cpp does for each value of X. Shared with the tests.
#pragma once

#include <cmath>

namespace kiln::tests::fake {

/// X from 0 to 99 are good; the best of them is kBest.
inline constexpr int kBest = 37;
inline double seconds(int x) {
    return x < 100 ? 1e-3 * (1 + 0.1 * std::abs(x - kBest)) : 1e-4;
}

/// Those above are ten times faster than the best, and something is wrong with each.
enum : int {
    kAbortsInCompiler = 100,
    kCrashes,
    kHangs,
    kRefusedByCompiler,
    kWrong,
    kWrongOnSecondInput,
    kTooLarge,
    kLeaves,
    kBabbles,
    kReferenceFails,
    kLosesDevice,  ///< every further trial of that process fails
};
/// Good, but each of its trials takes 20 ms.
inline constexpr int kSlow = 36;

}  // namespace kiln::tests::fake
