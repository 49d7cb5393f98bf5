// Devices and their streams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "kiln/export.hpp"

namespace kiln {

namespace runtime {
class DeviceBackend;
class DeviceEvent;
class DeviceStream;
}  // namespace runtime

/// A moment in a stream.
class KILN_API Event {
public:
    /// Returns once everything queued before it has run.
    void synchronise() const;
    /// Between two events of one device that have happened.
    double seconds_since(const Event& earlier) const;

private:
    friend class Stream;
    explicit Event(std::shared_ptr<runtime::DeviceEvent> event) : event_(std::move(event)) {}

    std::shared_ptr<runtime::DeviceEvent> event_;
};

/// Where launches of one device are queued, in order. On the CPU a launch has finished when the call returns; on a GPU
/// the call returns at once. A failure on a GPU may show at a later call.
class KILN_API Stream {
public:
    /// Waits for everything queued so far.
    void synchronise() const;
    Event record() const;
    /// What is queued from now on runs after the event, of this or another stream of the device.
    void wait(const Event& event) const;
    /// Copies between memory of the device and of the host, after what is queued; returns when the copy is done.
    void copy_to_device(void* device_memory, const void* host_memory, std::size_t bytes) const;
    void copy_to_host(void* host_memory, const void* device_memory, std::size_t bytes) const;
    /// The driver's handle (CUstream, hipStream_t). Null on the CPU, and for a GPU's default stream.
    void* native() const;

    const std::shared_ptr<runtime::DeviceBackend>& backend() const { return backend_; }
    const std::shared_ptr<runtime::DeviceStream>& queue() const { return stream_; }

private:
    friend class Device;
    Stream(std::shared_ptr<runtime::DeviceBackend> backend, std::shared_ptr<runtime::DeviceStream> stream)
        : backend_(std::move(backend)), stream_(std::move(stream)) {}

    std::shared_ptr<runtime::DeviceBackend> backend_;
    std::shared_ptr<runtime::DeviceStream> stream_;
};

/// Memory of a device, uninitialised; freed with the last copy of the handle.
class KILN_API Buffer {
public:
    void* data() const { return memory_.get(); }
    std::size_t bytes() const { return bytes_; }

private:
    friend class Device;
    Buffer(std::shared_ptr<void> memory, std::size_t bytes) : memory_(std::move(memory)), bytes_(bytes) {}

    std::shared_ptr<void> memory_;
    std::size_t bytes_;
};

/// A device that kernels run on. Cheap to copy; may be used from any thread.
class KILN_API Device {
public:
    /// "cpu", "cuda:0", "hip:1"; the empty name is the best device there is: the first GPU, else the CPU. Throws
    /// Error(device), with the reason, if there is no such device.
    static Device open(const std::string& name = "");
    static Result<Device> try_open(const std::string& name = "");
    /// Names that open() takes on this machine.
    static std::vector<std::string> available();

    const std::string& name() const;         ///< "cpu", "cuda:0"
    const std::string& description() const;  ///< the processor in words, with the features Kiln uses
    std::int64_t units() const;              ///< number of compute units; on the CPU, threads that launches may use
    /// The device's default stream. On a GPU it is the driver's null stream, which other streams wait for.
    Stream stream() const;
    /// A stream of its own, which waits for no other.
    Stream make_stream() const;
    /// A stream that the caller made with the driver (CUstream, cudaStream_t, hipStream_t) and keeps alive.
    Stream stream(void* native) const;
    /// Throws Error(device) if there is not so much memory.
    Buffer allocate(std::size_t bytes) const;

private:
    explicit Device(std::shared_ptr<runtime::DeviceBackend> backend) : backend_(std::move(backend)) {}

    std::shared_ptr<runtime::DeviceBackend> backend_;
};

}  // namespace kiln
