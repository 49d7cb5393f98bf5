// Which programs of a phase a cost model walks. Private to configure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kiln::codegen::configure {

/// So many, evenly spread, the first and the last among them: enough to see the slope of ragged work and both edges.
inline std::vector<std::int64_t> sampled_programs(std::int64_t programs) {
    constexpr std::int64_t kMost = 24;
    const std::int64_t count = std::min(programs, kMost);
    std::vector<std::int64_t> sampled;
    for (std::int64_t i = 0; i < count; ++i) sampled.push_back(count == 1 ? 0 : i * (programs - 1) / (count - 1));
    return sampled;
}

}  // namespace kiln::codegen::configure
