// A launch on a GPU: one slot array a phase, packed once (codegen/gpu/source.h says in which order), then little more
// than the driver's own call each time.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/backend.h"
#include "runtime/gpu/driver.h"
#include "runtime/gpu/scratch_pool.h"

namespace kiln::runtime::gpu {

/// A device of a driver, as everything that runs on it sees it.
struct GpuDevice {
    GpuDevice(const Driver& driver, int index, DeviceFacts facts);

    const Driver& driver;
    const int index;
    const std::string name;  ///< "cuda:0"
    const DeviceFacts facts;
    mutable ScratchPool scratch;
};

class GpuLoadedKernel final : public LoadedKernel {
public:
    /// A function for each phase. The device outlives every kernel.
    GpuLoadedKernel(const GpuDevice& device, std::vector<Handle> functions, std::vector<PhaseEntry> phases)
        : device_(device), functions_(std::move(functions)), phases_(std::move(phases)) {}

    std::unique_ptr<BoundLaunch> bind(const ir::Kernel& kernel, const ir::Launch& launch,
                                      std::span<const ir::Argument> arguments,
                                      const std::shared_ptr<DeviceStream>& stream) override;

private:
    const GpuDevice& device_;
    const std::vector<Handle> functions_;
    const std::vector<PhaseEntry> phases_;
};

}  // namespace kiln::runtime::gpu
