// The options that `run` and `emit` share: which kernel, its generics and tunables, its sizes; and tensors made for
// them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/capture.h"
#include "runtime/state.h"
#include "tools/command.h"

namespace kiln::tools {

struct KernelOptions {
    std::string file;
    std::string kernel;
    std::vector<std::string> definitions;  ///< "T=bf16"
    std::vector<std::string> sizes;        ///< "M=97"
    std::vector<std::string> numbers;      ///< "scale=0.1"
    std::vector<std::string> with;         ///< optional tensors to give
    std::uint64_t seed = 1;
    std::string device = "cpu";
    bool json = false;
};

void add_kernel_options(CLI::App& command, KernelOptions& options);

/// The same without the file and the kernel.
void add_launch_options(CLI::App& command, KernelOptions& options);

/// The module, read from disk or from the standard library ("kiln/gemm.kiln").
std::shared_ptr<const runtime::ModuleState> load_module(const std::string& file);

/// The kernel with the generics and tunables of the options. Generic types that are not given become the first type of
/// their class that is usual: f32 for floats and numbers, i32 for integers.
std::shared_ptr<runtime::KernelState> make_kernel(const KernelOptions& options);

/// What tensors are made of: random elements; sizes alone, all of them given; or shapes alone, where a run-time size
/// need not be given.
enum class Memory : std::uint8_t { Filled, Sizes, None };

/// Memory for a kernel's arguments, filled by `seed`: floats from the normal distribution, integers from -8 to 8, bools
/// by a coin. Numbers that are not given and have no default are drawn too: floats from 0.05 to 0.15, integers are 1.
class RunArguments {
public:
    RunArguments(const runtime::KernelState& kernel, const KernelOptions& options, Memory memory);
    RunArguments(const RunArguments&) = delete;  // the arguments point into it
    RunArguments& operator=(const RunArguments&) = delete;

    std::span<const Argument> arguments() const { return arguments_; }
    /// Bytes of all tensors.
    std::uint64_t bytes() const;
    /// Whether every size was given.
    bool has_all_sizes() const { return has_all_sizes_; }

private:
    bool has_all_sizes_ = true;
    std::vector<std::vector<char>> memory_;
    std::vector<std::string> names_;
    std::vector<Argument> arguments_;
};

/// The same arguments where a device can reach them: as they are on the CPU, else with tensors copied to its memory.
class DeviceArguments {
public:
    DeviceArguments(const Device& device, std::span<const Argument> host);
    std::span<const Argument> list() const { return arguments_; }

private:
    std::vector<Buffer> buffers_;
    std::vector<Argument> arguments_;
};

/// The launch that `kiln run` would make with these options, without data: what the tuner takes.
runtime::CapturedLaunch launch_of(const KernelOptions& options);

/// A tensor of random elements in `memory`, which is resized to hold it.
Tensor random_tensor(DType dtype, Extents sizes, std::uint64_t seed, std::vector<char>& memory);

}  // namespace kiln::tools
