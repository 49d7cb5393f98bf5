#pragma once

#include <string>

namespace emulated_gpu {

/// The PTX for sm_80 that NVRTC makes of CUDA C++, with source lines. Where NVRTC cannot be loaded, the test is skipped
/// by name. Throws std::runtime_error with the compiler's log if the source does not compile.
std::string compile_cuda(const std::string& source, const std::string& file_name = "kernel.cu");

}  // namespace emulated_gpu
