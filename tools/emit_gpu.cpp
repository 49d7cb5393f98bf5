#include "tools/emit_gpu.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/child_process.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/gpu/code_stats.h"
#include "runtime/gpu/kernel_code.h"
#include "runtime/hip/compilers.h"
#include "runtime/hip/offline_clang.h"

namespace kiln::tools {

namespace {

namespace gpu = runtime::gpu;
using codegen::gpu::Target;
using codegen::gpu::Vendor;

bool is_nvidia(const Target& target) {
    return target.vendor == Vendor::Nvidia;
}

gpu::FoundCompiler compiler_for(const Target& target) {
    return is_nvidia(target) ? runtime::cuda::nvrtc() : runtime::hip::compiler_for(target);
}

/// NVIDIA's machine code as text; only a toolkit's disassembler knows it.
std::string disassembled(const std::vector<char>& cubin) {
    std::string path = "/tmp/kiln-cubin-XXXXXX";
    const int file = ::mkstemp(path.data());
    if (file < 0) throw Error(ErrorKind::compiler, "no temporary file can be made in /tmp");
    ::close(file);
    std::ofstream(path, std::ios::binary).write(cubin.data(), static_cast<std::streamsize>(cubin.size()));
    const char* search = std::getenv("PATH");
    runtime::ChildResult child;
    for (const char* program : {"nvdisasm", "/usr/local/cuda/bin/nvdisasm"}) {
        child = runtime::run_program({program, path}, {fmt::format("PATH={}", search == nullptr ? "" : search)},
                                     std::chrono::seconds(60));
        if (child.succeeded()) break;
    }
    ::unlink(path.c_str());
    if (!child.succeeded()) {
        throw Error(ErrorKind::compiler,
                    "`--as isa` needs nvdisasm of a CUDA toolkit for NVIDIA's targets, and there is "
                    "none in PATH or /usr/local/cuda/bin; `--as ptx` needs none");
    }
    return child.output;
}

void check_form(const Target& target, const std::string& form) {
    const std::vector<std::string> forms = is_nvidia(target) ? std::vector<std::string>{"cuda", "ptx", "cubin", "isa"}
                                                             : std::vector<std::string>{"hip", "isa"};
    if (std::find(forms.begin(), forms.end(), form) != forms.end()) return;
    throw Error(ErrorKind::user, fmt::format("`--as {}` is no form of code for {}: it has ir, {}", form, target.name,
                                             fmt::join(forms, ", ")));
}

}  // namespace

std::string emit_gpu(const ir::Kernel& kernel, const Target& target, const std::string& form,
                     const support::SourceMap& sources) {
    check_form(target, form);
    const codegen::gpu::Source source = gpu::source_of(kernel, target, sources);
    if (form == "cuda" || form == "hip") return source.text;
    if (form == "isa" && !is_nvidia(target)) return runtime::hip::assembly(source.text, target);
    const gpu::CompiledSource compiled =
        gpu::compile_source(source, kernel.name, target, compiler_for(target), sources);
    if (form == "isa") return disassembled(compiled.binary);
    const std::vector<char>& code = form == "ptx" ? compiled.portable : compiled.binary;
    std::string text(code.begin(), code.end());
    if (form == "ptx") text.resize(text.find_last_not_of('\0') + 1);
    return text;
}

nlohmann::json gpu_stats(const ir::Kernel& kernel, const Target& target, const support::SourceMap& sources) {
    const codegen::gpu::Source source = gpu::source_of(kernel, target, sources);
    const gpu::FoundCompiler found = compiler_for(target);
    const gpu::CompiledSource compiled = gpu::compile_source(source, kernel.name, target, found, sources);
    nlohmann::json phases = nlohmann::json::array();
    for (const gpu::PhaseStats& stats : gpu::phase_stats(source, compiled, target)) {
        phases.push_back({{"symbol", stats.symbol},
                          {"threads", stats.threads},
                          {"registers", stats.registers},
                          {"shared_bytes", stats.shared_bytes},
                          {"spill_bytes", stats.spill_bytes},
                          {"stack_bytes", stats.stack_bytes},
                          {"blocks_per_unit", stats.blocks_per_unit},
                          {"occupancy", stats.occupancy}});
    }
    return {{"compiler", fmt::format("{} {}", found.compiler->name(), found.compiler->version())},
            {"phases", phases},
            {"performance_warnings", gpu::performance_warnings(compiled.log)}};
}

}  // namespace kiln::tools
