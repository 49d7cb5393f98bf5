#pragma once

#include <cmath>
#include <limits>

namespace emulated_gpu::hip {

/// The smaller one; a number rather than NaN, and -0 before +0 (CDNA ISA, V_MIN_F32).
template <class T>
T smaller_number(T a, T b) {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    if (a == 0 && b == 0) return std::signbit(a) ? a : b;
    return a < b ? a : b;
}
template <class T>
T larger_number(T a, T b) {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    if (a == 0 && b == 0) return std::signbit(a) ? b : a;
    return a > b ? a : b;
}
template <class T>
T median_number(T a, T b, T c) {
    if (std::isnan(a) || std::isnan(b) || std::isnan(c)) return smaller_number(smaller_number(a, b), c);
    return larger_number(smaller_number(a, b), smaller_number(larger_number(a, b), c));
}

/// As above, but NaN if either is (RDNA4 ISA, V_MINIMUM_F32).
template <class T>
T minimum(T a, T b) {
    return std::isnan(a) ? a : std::isnan(b) ? b : smaller_number(a, b);
}
template <class T>
T maximum(T a, T b) {
    return std::isnan(a) ? a : std::isnan(b) ? b : larger_number(a, b);
}

/// Towards zero; NaN is 0, what is too large is the nearest limit.
template <class To>
To saturate(double value) {
    if (std::isnan(value)) return 0;
    value = std::trunc(value);
    const double low = static_cast<double>(std::numeric_limits<To>::min());
    const double high = static_cast<double>(std::numeric_limits<To>::max());
    return value <= low    ? std::numeric_limits<To>::min()
           : value >= high ? std::numeric_limits<To>::max()
                           : static_cast<To>(value);
}

}  // namespace emulated_gpu::hip
