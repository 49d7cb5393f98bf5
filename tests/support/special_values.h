// Values that tests of numbers begin with.
#pragma once

#include <limits>

namespace kiln::test {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace kiln::test
