// Which compiler is asked for an AMD target: hipRTC where it knows the target, else clang.
#pragma once

#include "runtime/gpu/source_compiler.h"

namespace kiln::runtime::hip {

/// Whether the compiler of that HIP (major * 100 + minor), or that clang (major), has the target.
bool hip_version_knows(int version, const codegen::gpu::Target& target);
bool clang_version_knows(int version, const codegen::gpu::Target& target);

/// The compiler for a target, or why neither will do.
gpu::FoundCompiler compiler_for(const codegen::gpu::Target& target);

}  // namespace kiln::runtime::hip
