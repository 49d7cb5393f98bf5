// Tile IR to code for a GPU target, device or none: the text, the compiler's results, and both as a cache keeps them.
#pragma once

#include <string>
#include <vector>

#include "codegen/gpu/source.h"
#include "ir/kernel.h"
#include "runtime/backend.h"
#include "runtime/gpu/source_compiler.h"

namespace kiln::runtime::gpu {

/// The CUDA or HIP text of a kernel. Throws Error(user) with the refusals as diagnostics.
codegen::gpu::Source source_of(const ir::Kernel& kernel, const codegen::gpu::Target& target,
                               const support::SourceMap& sources);

/// Its code. Throws Error(compiler), with the whole log and the .kiln lines that it names, or if there is no compiler.
CompiledSource compile_source(const codegen::gpu::Source& source, const std::string& kernel,
                              const codegen::gpu::Target& target, const FoundCompiler& found,
                              const support::SourceMap& sources);

/// What is kept of it.
Artifact to_artifact(const ir::Kernel& kernel, const codegen::gpu::Source& source, const CompiledSource& compiled);

/// The two forms of code in Artifact::code; both empty if it is damaged.
struct CodeForms {
    std::vector<char> binary;
    std::vector<char> portable;
};
CodeForms code_forms(const Artifact& artifact);

}  // namespace kiln::runtime::gpu
