#pragma once

#include <string>

#include "tests/emulated_gpu/cuda/execution.h"

namespace emulated_gpu {

/// The zero-terminated text at a generic address.
std::string read_device_string(Step& step, uint64_t address);

/// What printf makes of a format and its arguments, which lie at a generic address, each at its natural alignment
/// (CUDA C++ Programming Guide, "Formatted Output").
std::string format_device_text(Step& step, int lane, uint64_t format, uint64_t arguments);

}  // namespace emulated_gpu
