// A GPU as a device of the runtime, NVIDIA's or AMD's: what differs is behind Driver and SourceCompiler.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/backend.h"
#include "runtime/gpu/driver.h"
#include "runtime/gpu/source_compiler.h"

namespace kiln::runtime::gpu {

/// What makes one vendor's devices.
struct GpuVendor {
    const FoundDriver& (*driver)();
    FoundCompiler (*compiler_for)(const codegen::gpu::Target& target);
    MemoryHome home;
};

/// A device, or why it cannot be used.
struct FoundBackend {
    std::shared_ptr<DeviceBackend> backend;
    std::string reason;
};

/// The devices of a driver by their numbers, or why there are none.
struct FoundBackends {
    std::vector<FoundBackend> devices;
    std::string reason;
};

FoundBackends find_backends(const GpuVendor& vendor);

}  // namespace kiln::runtime::gpu
