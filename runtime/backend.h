// What a device must do for the runtime: compile a tile program, load the code, run it. One class a kind of device.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/launch.h"
#include "ir/support/span.h"
#include "kiln/tensor.hpp"

namespace kiln::runtime {

/// One phase of compiled code. `values` are places in launch_values() of the kernel: what the code is passed.
struct PhaseEntry {
    std::string symbol;
    std::vector<std::uint32_t> values;
    std::uint64_t scratch_bytes = 0;  ///< private memory a thread of the CPU needs
    std::uint32_t threads = 0;        ///< of a GPU's block
    std::uint64_t shared_bytes = 0;   ///< dynamic shared memory of a GPU's block
};

/// Compiled code as it is cached.
struct Artifact {
    std::vector<char> code;
    std::vector<PhaseEntry> phases;
};

/// A moment in a stream.
class DeviceEvent {
public:
    virtual ~DeviceEvent() = default;
    /// Returns once everything before it has run.
    virtual void synchronise() = 0;
    /// Between two events of one device, both of which have happened.
    virtual double seconds_since(const DeviceEvent& earlier) const = 0;
};

/// Where launches of a device are queued, in order.
class DeviceStream {
public:
    virtual ~DeviceStream() = default;
    virtual void synchronise() = 0;
    virtual std::shared_ptr<DeviceEvent> record() = 0;
    /// What is queued from now on runs after the event, which may be of another stream of the device.
    virtual void wait(const DeviceEvent& event) = 0;
    /// The driver's handle; null on the CPU, and for a GPU's default stream.
    virtual void* native() const = 0;
    /// Throws Error(user) if code cannot be loaded now, since the stream is being captured into a graph.
    virtual void check_may_load(const std::string& kernel) const = 0;
};

/// A launch with its arguments bound. run() may be called again and again, by one thread at a time.
class BoundLaunch {
public:
    virtual ~BoundLaunch() = default;
    virtual void run() = 0;
    /// Programs [first, last) of one phase only; for sampled verification.
    virtual void run_programs(std::size_t phase, std::int64_t first, std::int64_t last) = 0;
};

/// Code in place on a device. Shared by any threads.
class LoadedKernel {
public:
    virtual ~LoadedKernel() = default;
    /// `kernel` and `launch` belong together: launch is prepare_launch(kernel, arguments). Runs are queued on `stream`.
    virtual std::unique_ptr<BoundLaunch> bind(const ir::Kernel& kernel, const ir::Launch& launch,
                                              std::span<const ir::Argument> arguments,
                                              const std::shared_ptr<DeviceStream>& stream) = 0;
};

class DeviceBackend {
public:
    virtual ~DeviceBackend() = default;
    virtual const std::string& name() const = 0;
    virtual const std::string& description() const = 0;
    virtual std::int64_t units() const = 0;
    /// Names that `schedule` blocks match, least specific first.
    virtual const std::vector<std::string>& schedule_names() const = 0;
    /// Whether code here gains from what a launch proves about addresses, strides and sizes (argument_facts.h).
    virtual bool uses_facts() const = 0;
    /// Text that tells devices with different code apart, compiler versions included; part of the cache key.
    virtual std::string fingerprint() const = 0;
    /// `sources` are the texts that the kernel's spans point into. Throws Error.
    virtual Artifact compile(const ir::Kernel& kernel, const support::SourceMap& sources) const = 0;
    /// Null, with the reason, if the code is damaged or refused.
    virtual std::unique_ptr<LoadedKernel> load(const Artifact& artifact, std::string& reason) const = 0;

    virtual std::shared_ptr<DeviceStream> default_stream() const = 0;
    virtual std::shared_ptr<DeviceStream> make_stream() const = 0;
    /// A stream that the caller made with the driver, and keeps. Throws Error(user) where there are none.
    virtual std::shared_ptr<DeviceStream> wrap_stream(void* native) const = 0;

    /// Whether tensors lie in memory of the device's own, which the host cannot read.
    virtual bool has_own_memory() const = 0;
    /// Memory of the device, freed with the last copy of the pointer. Throws Error(device).
    virtual std::shared_ptr<void> allocate(std::size_t bytes) const = 0;
    /// After what is queued on the stream; return when the copy is done.
    virtual void copy_to_device(void* to, const void* from, std::size_t bytes, DeviceStream& stream) const = 0;
    virtual void copy_to_host(void* to, const void* from, std::size_t bytes, DeviceStream& stream) const = 0;
    /// Throws Error(user) if launches here cannot reach the memory of parameter `name`, as far as that can be told.
    virtual void check_memory(const std::string& name, const Tensor& tensor) const = 0;
};

/// Where a launch goes.
struct LaunchPlace {
    const DeviceBackend& backend;
    std::shared_ptr<DeviceStream> stream;
};

/// Every launch value of a kernel in an order that printing and parsing keep: parameters, sizes, scratch tensors, then
/// the results of the host block's ops.
std::vector<ir::ValueId> launch_values(const ir::Kernel& kernel);

/// Where in launch_values() a value stands.
std::uint32_t place_of(ir::ValueId value, const std::vector<ir::ValueId>& values);

/// The device of that name; "" is the best there is. Throws Error(device) if there is none. Backends are made once a
/// process.
std::shared_ptr<DeviceBackend> open_backend(const std::string& name);
std::vector<std::string> available_backends();

}  // namespace kiln::runtime
