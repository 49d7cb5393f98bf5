// Bounds that every launch keeps, so that facts may count on them.
#pragma once

#include <cstdint>

namespace kiln::ir {

/// The largest extent of a tensor's axis, also of one whose stride is 0: no memory has more bytes, and offsets within
/// it can be added and multiplied by small numbers without wrapping.
inline constexpr std::int64_t kLargestExtent = std::int64_t{1} << 56;

/// The same where a specialisation proves that 32 bits are enough: an index and a tile's extent can be added, or two
/// indices, without leaving them.
inline constexpr std::int64_t kLargestNarrowExtent = std::int64_t{1} << 30;

}  // namespace kiln::ir
