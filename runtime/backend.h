// What a device must do for the runtime: compile a tile program, load the code, run it. One class a kind of device.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/launch.h"

namespace kiln::runtime {

/// One phase of compiled code. `values` are places in launch_values() of the kernel: what the code is passed.
struct PhaseEntry {
    std::string symbol;
    std::vector<std::uint32_t> values;
    std::uint64_t scratch_bytes = 0;  ///< private memory a thread (or block) needs
};

/// Compiled code as it is cached.
struct Artifact {
    std::vector<char> code;
    std::vector<PhaseEntry> phases;
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
    /// `kernel` and `launch` belong together: launch is prepare_launch(kernel, arguments).
    virtual std::unique_ptr<BoundLaunch> bind(const ir::Kernel& kernel, const ir::Launch& launch,
                                              std::span<const ir::Argument> arguments) = 0;
};

class DeviceBackend {
public:
    virtual ~DeviceBackend() = default;
    virtual const std::string& name() const = 0;
    virtual const std::string& description() const = 0;
    virtual std::int64_t units() const = 0;
    /// Names that `schedule` blocks match, least specific first.
    virtual const std::vector<std::string>& schedule_names() const = 0;
    /// Text that tells devices with different code apart, compiler versions included; part of the cache key.
    virtual std::string fingerprint() const = 0;
    virtual Artifact compile(const ir::Kernel& kernel) const = 0;
    /// Null, with the reason, if the code is damaged or refused.
    virtual std::unique_ptr<LoadedKernel> load(const Artifact& artifact, std::string& reason) const = 0;
    virtual void synchronise() const = 0;
};

/// Every launch value of a kernel in an order that printing and parsing keep: parameters, sizes, scratch tensors, then
/// the results of the host block's ops.
std::vector<ir::ValueId> launch_values(const ir::Kernel& kernel);

/// The device of that name; "" is the best there is. Null if there is none. Backends are made once a process.
std::shared_ptr<DeviceBackend> open_backend(const std::string& name);
std::vector<std::string> available_backends();

}  // namespace kiln::runtime
