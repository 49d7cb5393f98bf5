#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace emulated_gpu::hip {

/// Compiles HIP source to a code object for the processor, with line tables. Ends the test as skipped where no clang
/// for AMD's processors is installed; throws std::runtime_error with the compiler's words if it refuses the source.
std::vector<uint8_t> compile_hip(const std::string& source, const std::string& processor,
                                 const std::string& file_name = "kernel.hip",
                                 const std::vector<std::string>& options = {});
/// The option for waves of 64 lanes on processors that have both.
inline const std::string kWideWaves = "-mwavefrontsize64";
/// Assembles AMD assembly text likewise.
std::vector<uint8_t> assemble(const std::string& text, const std::string& processor,
                              const std::vector<std::string>& options = {});
/// Compiles C++ to a shared library for the host and gives its path, which the caller removes.
std::string compile_host(const std::string& source);

}  // namespace emulated_gpu::hip
