// Placed phases as C++ text: all that CUDA and HIP have in common. What differs is a Spelling: the device
// functions of the dialect and the head of a kernel. Writing decides nothing; two runs give the same text.
#pragma once

#include <string>

#include "codegen/gpu/lower/placed.h"
#include "codegen/gpu/scalar_text.h"
#include "codegen/gpu/target.h"

namespace kiln::codegen::gpu {

/// What a writer adds to the common text.
struct Spelling {
    Dialect dialect = Dialect::Cuda;
    std::string definitions;  ///< macros that the device functions read
    /// Attributes between `extern "C"` and the return type, for blocks of that many threads, that many of which should
    /// fit on a unit at once.
    std::string (*kernel_attributes)(int threads, int blocks) = nullptr;
    std::string shared_declaration;  ///< of `shared_memory`, the block's dynamic shared memory
};

Spelling cuda_spelling(const Target& target);
Spelling hip_spelling(const Target& target);

/// One kernel function for each phase. `sources` may be null: then there is no `#line`.
std::string write_source(const std::string& kernel, const std::vector<PlacedPhase>& phases, const Target& target,
                         const Spelling& spelling, const support::SourceMap* sources);

}  // namespace kiln::codegen::gpu
