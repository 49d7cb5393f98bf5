#include "runtime/backend.h"

#include <fmt/format.h>

#include "kiln/error.hpp"
#include "runtime/cpu/cpu_backend.h"
#include "runtime/cuda/cuda_backend.h"
#include "runtime/hip/hip_backend.h"

namespace kiln::runtime {

namespace {

// Never destroyed: a handle in a static object of the host may outlive everything here.
const std::shared_ptr<DeviceBackend>& cpu_backend() {
    static const auto* const cpu = new std::shared_ptr<DeviceBackend>(cpu::make_backend());
    return *cpu;
}

/// A kind of GPU: the devices there are, or why there are none.
struct GpuKind {
    std::string name;
    const gpu::FoundBackends& (*find)();
};
const GpuKind kGpuKinds[] = {{"cuda", cuda::backends}, {"hip", hip::backends}};

[[noreturn]] void no_device(const std::string& name, const std::string& why) {
    throw Error(ErrorKind::device, fmt::format("there is no device `{}`: {}", name, why));
}

std::shared_ptr<DeviceBackend> best_backend() {
    if (gpu::driver_state() != gpu::DriverState::usable) return cpu_backend();
    for (const GpuKind& kind : kGpuKinds) {
        for (const gpu::FoundBackend& found : kind.find().devices) {
            if (found.backend != nullptr) return found.backend;
        }
    }
    return cpu_backend();
}

std::shared_ptr<DeviceBackend> open_gpu(const GpuKind& kind, const std::string& name) {
    const gpu::FoundBackends& found = kind.find();
    if (found.devices.empty()) no_device(name, found.reason);
    for (std::size_t index = 0; index < found.devices.size(); ++index) {
        if (name != fmt::format("{}:{}", kind.name, index) && (index > 0 || name != kind.name)) continue;
        if (found.devices[index].backend == nullptr) no_device(name, found.devices[index].reason);
        return found.devices[index].backend;
    }
    no_device(name, fmt::format("there are {}:0 to {}:{}", kind.name, kind.name, found.devices.size() - 1));
}

}  // namespace

std::shared_ptr<DeviceBackend> open_backend(const std::string& name) {
    if (name.empty()) return best_backend();
    if (name == "cpu") return cpu_backend();
    for (const GpuKind& kind : kGpuKinds) {
        if (name == kind.name || name.starts_with(kind.name + ":")) return open_gpu(kind, name);
    }
    no_device(name, "devices are named cpu, cuda:0, cuda:1, ..., hip:0, hip:1, ...");
}

std::vector<std::string> available_backends() {
    std::vector<std::string> names = {"cpu"};
    for (const GpuKind& kind : kGpuKinds) {
        for (const gpu::FoundBackend& found : kind.find().devices) {
            if (found.backend != nullptr) names.push_back(found.backend->name());
        }
    }
    return names;
}

}  // namespace kiln::runtime
