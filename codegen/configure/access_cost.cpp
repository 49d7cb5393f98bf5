#include "codegen/configure/access_cost.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace kiln::codegen::configure {

namespace {

constexpr std::int64_t kLineBytes = 64;
// The first cache is indexed by the address within a page of 4 KB on every x86-64 core, so that it has 64 sets, and as
// many ways as its size makes of that.
constexpr std::int64_t kFirstCacheSets = 64;
// Cycles of one element that is read or written by itself; of a line that was evicted in the meantime and comes back
// from the second cache (its latency, partly hidden); of the mask of one vector, and of moving it under the mask.
constexpr double kElementCycles = 1.5, kLineCycles = 6, kMaskCycles = 3;

/// The share of lines that are gone before the loops come back to them. Walking against the grain, every element of the
/// lanes' axis lies on a line of its own, which serves the next ones of the other axis if it is still there. Strides of
/// a power of two use few of the sets.
double evicted(const TensorAccess& access, const CpuMachine& machine) {
    const std::int64_t lines = std::max<std::int64_t>(1, std::abs(access.lane_stride_bytes) / kLineBytes);
    const std::int64_t ways = std::max<std::int64_t>(1, machine.target.l1_bytes / (kLineBytes * kFirstCacheSets));
    const std::int64_t held = ways * (kFirstCacheSets / std::gcd(kFirstCacheSets, lines));
    return std::max(0.0, 1 - static_cast<double>(held) / access.lane_elements);
}

}  // namespace

double access_cycles(const TensorAccess& access, const CpuMachine& machine) {
    if (access.gathers) return access.points;
    const double bytes = access.elements * access.element_bytes;
    const double held_rate = 2 * bytes <= static_cast<double>(machine.target.l1_bytes) ? machine.l1_bytes_per_cycle
                                                                                       : machine.l2_bytes_per_cycle;
    const double repeated = std::max(0.0, access.points - access.elements) * access.element_bytes;
    double cycles = bytes / (access.again ? held_rate : machine.l2_bytes_per_cycle) + repeated / held_rate;
    if (access.lane_elements > 1 && access.lane_stride_bytes != 0) {
        cycles = std::max(cycles, access.points * (kElementCycles + kLineCycles * evicted(access, machine)));
    }
    if (access.masked) cycles += access.points * access.element_bytes / machine.target.vector_bytes * kMaskCycles;
    return cycles;
}

}  // namespace kiln::codegen::configure
