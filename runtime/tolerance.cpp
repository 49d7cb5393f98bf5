#include "runtime/tolerance.h"

#include <algorithm>
#include <cmath>

#include "runtime/backend.h"

namespace kiln::runtime {

Tolerance default_tolerance(const BodyFacts& facts, const ir::Kernel& kernel, const ir::Launch& launch,
                            ir::ScalarType output) {
    if (epsilon(output) == 0) return {};
    const std::vector<ir::ValueId> values = launch_values(kernel);
    std::int64_t extent = facts.static_extent;
    for (const std::uint32_t place : facts.launch_extents) {
        const ir::Scalar& value = launch.values[values[place].index];
        if (ir::is_integer(value.type)) extent = std::max(extent, value.as_int64());
    }
    const double coarsest = std::max(epsilon(output), facts.coarsest ? epsilon(*facts.coarsest) : 0);
    const double fp8 = facts.has_fp8_operands ? 0x1p-10 : 0;
    const double sums = 8 * epsilon(facts.accumulator) * std::sqrt(static_cast<double>(extent));
    return {2 * coarsest, 2 * coarsest + sums + fp8, true};
}

}  // namespace kiln::runtime
