// Devices and their streams.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "kiln/export.hpp"

namespace kiln {

namespace runtime {
class DeviceBackend;
}

/// Where launches of one device are queued. On the CPU a launch has finished when the call returns.
class KILN_API Stream {
public:
    /// Waits for everything queued so far.
    void synchronise() const;

    const std::shared_ptr<runtime::DeviceBackend>& backend() const { return backend_; }

private:
    friend class Device;
    explicit Stream(std::shared_ptr<runtime::DeviceBackend> backend) : backend_(std::move(backend)) {}

    std::shared_ptr<runtime::DeviceBackend> backend_;
};

/// A device that kernels run on. Cheap to copy; may be used from any thread.
class KILN_API Device {
public:
    /// "cpu"; the empty name is the best device there is. Throws Error(device) if there is no such device.
    static Device open(const std::string& name = "");
    static Result<Device> try_open(const std::string& name = "");
    /// Names that open() takes on this machine.
    static std::vector<std::string> available();

    const std::string& name() const;         ///< "cpu"
    const std::string& description() const;  ///< the processor in words, with the features Kiln uses
    std::int64_t units() const;              ///< number of compute units: threads that launches may use
    /// The device's default stream.
    Stream stream() const;

private:
    explicit Device(std::shared_ptr<runtime::DeviceBackend> backend) : backend_(std::move(backend)) {}

    std::shared_ptr<runtime::DeviceBackend> backend_;
};

}  // namespace kiln
