#include <algorithm>

#include "ir/support/internal_error.h"
#include "runtime/backend.h"

namespace kiln::runtime {

std::vector<ir::ValueId> launch_values(const ir::Kernel& kernel) {
    std::vector<ir::ValueId> values;
    for (const ir::Parameter& parameter : kernel.parameters) values.push_back(parameter.value);
    for (const ir::SizeBinding& size : kernel.sizes) values.push_back(size.value);
    for (const ir::Scratch& scratch : kernel.scratch) values.push_back(scratch.value);
    for (const ir::OpId op : kernel[kernel.host].ops) {
        for (const ir::ValueId result : kernel[op].results) values.push_back(result);
    }
    return values;
}

std::uint32_t place_of(ir::ValueId value, const std::vector<ir::ValueId>& values) {
    const auto found = std::find(values.begin(), values.end(), value);
    if (found == values.end()) {
        throw support::InternalError("runtime", "a phase asks for a value that is no launch value");
    }
    return static_cast<std::uint32_t>(found - values.begin());
}

}  // namespace kiln::runtime
