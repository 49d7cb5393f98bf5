// Compiles generated CUDA with NVRTC and generated HIP with clang, and runs them on the emulated drivers. Declares the
// few functions it calls.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "codegen/gpu/source.h"
#include "ir/launch.h"

namespace kiln::test {

/// What NVRTC made of a source; the log is empty if it had nothing to say.
struct Compiled {
    std::string code, log;
    bool succeeded = false;
};

/// NVRTC, loaded at run time.
class Nvrtc {
public:
    /// None on this machine: prints `skipped: nvrtc: ...` and ends the process with 77, as a test that cannot run has
    /// to.
    static const Nvrtc& get();

    /// PTX for a `compute_..`, or machine code for a `sm_..` architecture.
    Compiled compile(const std::string& text, const std::string& architecture,
                     std::vector<std::string> options = {}) const;

private:
    Nvrtc();
    void* library_ = nullptr;
};

/// A clang that knows AMD's targets: the code object of a HIP text. None on this machine: as with NVRTC.
Compiled compile_hip(const std::string& text, const std::string& target);

/// The functions of a driver whose parameters the vendors agree on.
struct DriverNames {
    const char *allocate, *release, *upload, *download, *load, *unload, *find, *launch, *synchronise;
};

/// An emulated GPU behind its driver's interface.
class EmulatedDevice {
public:
    /// Of the capability in EMULATED_GPU_CAPABILITIES, or 8.0.
    static EmulatedDevice& get();
    /// Of the processor in EMULATED_GPU_PROCESSORS, or gfx90a.
    static EmulatedDevice& amd();

    /// Runs all phases on copies of the arguments' memory, and copies back what they left. The driver's words, if it
    /// refuses something.
    std::string run(const std::string& code, const codegen::gpu::Source& source, const ir::Kernel& kernel,
                    std::span<const ir::Argument> arguments, std::vector<std::vector<std::byte>>& bytes,
                    std::int64_t units);

    /// Loads a module for `map`.
    void* load(const std::string& code);
    /// What a kernel `f(const unsigned long long* in, unsigned long long* out, int n)` with 128 threads a block writes:
    /// `results` numbers for `n` threads.
    std::vector<std::uint64_t> map(void* module, const std::string& function, const std::vector<std::uint64_t>& inputs,
                                   int n, std::size_t results);

private:
    EmulatedDevice(const char* library, const DriverNames& names);
    std::string words_for(int status) const;

    void* library_ = nullptr;
    DriverNames names_;
    bool is_amd_ = false;
};

}  // namespace kiln::test
