// clang as a compiler for AMD targets that the installed hipRTC does not know, in a child process: an intrinsic that a
// chip lacks can end the compiler (LLVM's fatal errors), and must not end us.
#pragma once

#include "runtime/gpu/source_compiler.h"

namespace kiln::runtime::hip {

/// Looked for when first asked for: KILN_CLANG, else clang-22 and older ones in PATH, then ROCm's own.
const gpu::FoundCompiler& offline_clang();

/// The assembly text of a HIP source. Throws Error(compiler).
std::string assembly(const std::string& source, const codegen::gpu::Target& target);

}  // namespace kiln::runtime::hip
