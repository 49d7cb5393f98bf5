// HIP in attributes and builtins of clang alone, so that hipRTC and an offline clang without any header of HIP take the
// same text.
#include "codegen/gpu/c_writer.h"

namespace kiln::codegen::gpu {

namespace {

std::string attributes(int threads, int) {
    const std::string size = std::to_string(threads);
    return "__attribute__((global, amdgpu_flat_work_group_size(" + size + ", " + size + ")))";
}

}  // namespace

Spelling hip_spelling(const Target& target) {
    return {Dialect::Hip, "#define KILN_LANES " + std::to_string(target.lanes) + "u\n", attributes,
            "extern __attribute__((shared, aligned(16))) unsigned char shared_memory[];"};
}

}  // namespace kiln::codegen::gpu
