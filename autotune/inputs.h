// Arguments for a captured launch: memory of their own, or shapes alone.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/backend.h"
#include "runtime/capture.h"

namespace kiln::autotune {

/// The arguments of a launch that somebody made elsewhere. Tensors have the sizes and strides they had there.
class LaunchArguments {
public:
    /// Shapes alone: the addresses are far apart and must not be read.
    static LaunchArguments shapes(const runtime::CapturedLaunch& launch);
    /// With memory, filled by a seed: floats from the normal distribution, integers from -8 to 8 (unsigned ones from
    /// 0), bools by a coin. Elements of 4 bits come in random pairs. They lie where the device reads them, and
    /// `backend` must outlive them. Throws Error(user) if there is not enough memory, Error(device) if the device has
    /// not.
    static LaunchArguments filled(const runtime::CapturedLaunch& launch, std::uint64_t seed,
                                  const runtime::DeviceBackend& backend);

    std::span<const Argument> arguments() const { return arguments_; }
    /// Puts back what all tensors held at first. Only of filled().
    void restore();
    /// The same for one tensor, by the parameter's name.
    void restore(const std::string& parameter);
    std::uint64_t bytes() const;

private:
    explicit LaunchArguments(const runtime::CapturedLaunch& launch);

    struct Memory {
        std::string parameter;
        std::vector<char> bytes, pristine;
        std::shared_ptr<void> on_device;  ///< in place of `bytes`, where the device has memory of its own
    };
    void restore(Memory& memory);
    const runtime::DeviceBackend* backend_ = nullptr;
    std::shared_ptr<const runtime::CapturedLaunch> launch_;  ///< owns the names that arguments point at
    std::vector<Memory> memory_;
    std::vector<Argument> arguments_;
};

}  // namespace kiln::autotune
