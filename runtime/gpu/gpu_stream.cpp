#include "runtime/gpu/gpu_stream.h"

#include <fmt/format.h>

#include "kiln/error.hpp"

namespace kiln::runtime::gpu {

namespace {

/// Frees something of the driver's, unless the driver may not be called any more.
template <class Action>
void clean_up(const GpuDevice& device, const Action& action) {
    if (driver_state() != DriverState::usable) return;
    try {
        const CurrentDevice current(device.driver, device.index);
        action();
    } catch (const Error&) {
        // The device is lost, and with it what would be freed.
    }
}

class GpuEvent final : public DeviceEvent {
public:
    GpuEvent(const GpuDevice& device, Handle stream) : device_(device), event_(device.driver.create_event(true)) {
        try {
            device.driver.record(event_, stream);
        } catch (const Error&) {
            device.driver.destroy_event(event_);
            throw;
        }
    }
    ~GpuEvent() override {
        clean_up(device_, [&] { device_.driver.destroy_event(event_); });
    }

    Handle handle() const { return event_; }

    void synchronise() override {
        const CurrentDevice current(device_.driver, device_.index);
        device_.driver.synchronise_event(event_);
    }

    double seconds_since(const DeviceEvent& earlier) const override {
        const auto* first = dynamic_cast<const GpuEvent*>(&earlier);
        if (first == nullptr || &first->device_ != &device_) throw other_device(device_);
        const CurrentDevice current(device_.driver, device_.index);
        return device_.driver.seconds_between(first->event_, event_);
    }

    static Error other_device(const GpuDevice& device) {
        return Error(ErrorKind::user, fmt::format("the event belongs to another device than {}", device.name));
    }
    const GpuDevice& device() const { return device_; }

private:
    const GpuDevice& device_;
    const Handle event_;
};

}  // namespace

GpuStream::~GpuStream() {
    if (owned_) clean_up(device_, [&] { device_.driver.destroy_stream(stream_); });
}

void GpuStream::synchronise() {
    const CurrentDevice current(device_.driver, device_.index);
    device_.driver.synchronise(stream_);
}

std::shared_ptr<DeviceEvent> GpuStream::record() {
    const CurrentDevice current(device_.driver, device_.index);
    return std::make_shared<GpuEvent>(device_, stream_);
}

void GpuStream::wait(const DeviceEvent& event) {
    const auto* other = dynamic_cast<const GpuEvent*>(&event);
    if (other == nullptr || other->device().driver.name() != device_.driver.name())
        throw GpuEvent::other_device(device_);
    const CurrentDevice current(device_.driver, device_.index);
    device_.driver.wait(stream_, other->handle());
}

void GpuStream::check_may_load(const std::string& kernel) const {
    const CurrentDevice current(device_.driver, device_.index);
    if (!device_.driver.is_capturing(stream_)) return;
    throw Error(ErrorKind::user, fmt::format("`{}` is not loaded yet for these arguments, and its stream is being "
                                             "captured: call prepare() before the capture begins",
                                             kernel));
}

}  // namespace kiln::runtime::gpu
