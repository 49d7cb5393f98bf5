// A launch checked against the kernel's reference, itself a Kiln kernel.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/state.h"
#include "runtime/tolerance.h"

namespace kiln::runtime {

/// An element that differs by more than is allowed.
struct Mismatch {
    std::vector<std::int64_t> index;
    double value = 0, reference = 0, allowed = 0;
};

struct OutputReport {
    std::string name;
    ir::ScalarType element = ir::ScalarType::F32;
    std::int64_t compared = 0;
    std::int64_t failed = 0;
    double largest_error = 0;     ///< largest |x - r| of finite elements
    double bound = 0;             ///< what was allowed where the error was largest
    double error_over_bound = 0;  ///< largest |x - r| / allowed
    std::optional<Mismatch> worst;
};

struct VerifyReport {
    bool passed = false;
    std::string reference;
    std::int64_t programs = 0;            ///< grid points of the reference that were run
    std::int64_t reference_programs = 0;  ///< that it has
    std::vector<OutputReport> outputs;
};

/// Above this many scalar operations the reference runs on a sample of its grid.
inline constexpr double kFullVerificationOperations = 1e8;
inline constexpr std::int64_t kSampledPrograms = 4096;

/// Runs the kernel on the device and its reference on the CPU, and compares every element that the reference wrote.
/// `out` tensors are filled with a pattern first, and hold the kernel's result afterwards. A reference of one phase
/// that costs more than kFullVerificationOperations is sampled: at least kSampledPrograms grid points drawn by `seed`,
/// all corners and places along every edge among them. Throws Error(user) if the kernel has no reference.
VerifyReport verify(KernelState& kernel, const DeviceBackend& backend, std::span<const Argument> arguments,
                    std::uint64_t seed);

/// The grid points that a sampled verification runs, sorted, each once.
std::vector<std::int64_t> sampled_programs(const std::vector<std::int64_t>& grid, std::int64_t count,
                                           std::uint64_t seed);

}  // namespace kiln::runtime
