// Which compiler is asked for an AMD target: hipRTC of HIP 6 or newer where it knows the target, else clang, else an
// older hipRTC.
#pragma once

#include <string>

#include "runtime/gpu/source_compiler.h"

namespace kiln::runtime::hip {

/// "5.2.21153" as 502.
int hip_version(const std::string& text);

/// Whether the compiler of that HIP (major * 100 + minor), or that clang (major), has the target.
bool hip_version_knows(int version, const codegen::gpu::Target& target);
bool clang_version_knows(int version, const codegen::gpu::Target& target);

/// The compiler for a target, or why neither will do.
gpu::FoundCompiler compiler_for(const codegen::gpu::Target& target);

}  // namespace kiln::runtime::hip
