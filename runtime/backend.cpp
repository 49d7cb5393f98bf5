#include "runtime/backend.h"

#include "runtime/cpu/cpu_backend.h"

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

std::shared_ptr<DeviceBackend> open_backend(const std::string& name) {
    if (name.empty() || name == "cpu") {
        // Never destroyed: a handle in a static object of the host may outlive everything here.
        static const auto* const cpu = new std::shared_ptr<DeviceBackend>(cpu::make_backend());
        return *cpu;
    }
    return nullptr;
}

std::vector<std::string> available_backends() {
    return {"cpu"};
}

}  // namespace kiln::runtime
