// Timing for the commands that show a time to a person. Comparisons live in bench/.
#pragma once

#include <functional>

namespace kiln::tools {

/// Median seconds of `action` over at least three runs and a tenth of a second, after one that is not counted.
double median_seconds(const std::function<void()>& action);

}  // namespace kiln::tools
