// Bounds that every launch keeps, so that facts may count on them.
#pragma once

#include <cstdint>

namespace kiln::ir {

/// The largest extent of a tensor's axis, also of one whose stride is 0: no memory has more bytes, and offsets within
/// it can be added and multiplied by small numbers without wrapping.
inline constexpr std::int64_t kLargestExtent = std::int64_t{1} << 56;

/// The same where a specialisation proves that 32 bits are enough: three indices or sizes can be added, as in
/// `row + N - M`, without leaving them.
inline constexpr std::int64_t kLargestNarrowExtent = std::int64_t{1} << 29;

}  // namespace kiln::ir
