// What a kernel becomes for a GPU, which need not be there.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "codegen/gpu/target.h"
#include "frontend/program.h"
#include "ir/kernel.h"

namespace kiln::tools {

/// `form` is cuda, hip, ptx, cubin or isa; cubin is bytes, the others text. Throws Error.
std::string emit_gpu(const ir::Kernel& kernel, const codegen::gpu::Target& target, const std::string& form,
                     const support::SourceMap& sources);

/// What the code of each phase needs, the warnings of the compiler about lost performance, and which compiler it was.
nlohmann::json gpu_stats(const ir::Kernel& kernel, const codegen::gpu::Target& target,
                         const support::SourceMap& sources);

}  // namespace kiln::tools
