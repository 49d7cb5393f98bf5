#pragma once

#include <string>
#include <vector>

namespace emulated_gpu {

/// The PTX that NVRTC makes of CUDA C++ for a virtual architecture, with source lines. Where NVRTC cannot be loaded,
/// the test is skipped by name. Throws std::runtime_error with the compiler's log if the source does not compile.
std::string compile_cuda(const std::string& source, const std::string& file_name = "kernel.cu",
                         const std::string& architecture = "compute_80", const std::vector<std::string>& options = {});

}  // namespace emulated_gpu
