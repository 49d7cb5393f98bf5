// Timing for the commands that show a time to a person. Comparisons live in bench/.
#pragma once

#include <functional>

#include "kiln/device.hpp"

namespace kiln::tools {

/// Median seconds of `action` over at least three runs and a tenth of a second, after one that is not counted.
double median_seconds(const std::function<void()>& action);

/// The same for a launch on a device's stream, by the device's own clock: several are queued at once, so that the time
/// to queue one does not show.
double queued_seconds(const Stream& stream, const std::function<void()>& launch);

}  // namespace kiln::tools
