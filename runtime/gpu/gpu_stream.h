// Streams and events of a GPU.
#pragma once

#include <memory>

#include "runtime/backend.h"
#include "runtime/gpu/bound_launch.h"

namespace kiln::runtime::gpu {

class GpuStream final : public DeviceStream {
public:
    /// Takes over `stream` if `owned`.
    GpuStream(const GpuDevice& device, Handle stream, bool owned) : device_(device), stream_(stream), owned_(owned) {}
    ~GpuStream() override;

    void synchronise() override;
    std::shared_ptr<DeviceEvent> record() override;
    void wait(const DeviceEvent& event) override;
    void* native() const override { return stream_; }
    void check_may_load(const std::string& kernel) const override;

private:
    const GpuDevice& device_;
    const Handle stream_;
    const bool owned_;
};

}  // namespace kiln::runtime::gpu
