// What turns CUDA or HIP text into code: NVRTC, hipRTC, and clang in a process of its own, behind one interface.
#pragma once

#include <string>
#include <vector>

#include "codegen/gpu/target.h"
#include "ir/support/span.h"

namespace kiln::runtime::gpu {

struct CompiledSource {
    std::vector<char> binary;    ///< machine code of exactly this target: a cubin, an AMD code object
    std::vector<char> portable;  ///< PTX, for a driver that refuses the binary; empty for AMD's
    std::string log;             ///< whole
};

class SourceCompiler {
public:
    virtual ~SourceCompiler() = default;
    /// "nvrtc", "hiprtc", "clang": what `./kiln test --require` and messages call it.
    virtual const std::string& name() const = 0;
    virtual const std::string& path() const = 0;
    virtual const std::string& version() const = 0;
    /// Whether it may be asked for this target.
    virtual bool knows(const codegen::gpu::Target& target) const = 0;
    /// Throws Error(compiler) with the whole log, if it refuses the source, crashes or takes too long. `name` stands
    /// for the source in the log where no `#line` does.
    virtual CompiledSource compile(const std::string& source, const std::string& name,
                                   const codegen::gpu::Target& target) const = 0;
};

/// A compiler, or why there is none.
struct FoundCompiler {
    const SourceCompiler* compiler = nullptr;
    std::string reason;
};

/// The lines of a log that speak of lost performance: ptxas begins each of them so.
std::vector<std::string> performance_warnings(const std::string& log);

/// The log with the line of the .kiln text under each of its lines that names one, "gemm.kiln(12): ..." or
/// "gemm.kiln:12:...".
std::string annotated(const std::string& log, const support::SourceMap& sources);

}  // namespace kiln::runtime::gpu
