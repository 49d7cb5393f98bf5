#include "codegen/gpu/c_writer.h"

namespace kiln::codegen::gpu {

namespace {

std::string attributes(int threads, int blocks) {
    return "__global__ __launch_bounds__(" + std::to_string(threads) + ", " + std::to_string(blocks) + ")";
}

}  // namespace

Spelling cuda_spelling(const Target&) {
    return {Dialect::Cuda, "", attributes, "extern __shared__ __align__(16) unsigned char shared_memory[];"};
}

}  // namespace kiln::codegen::gpu
