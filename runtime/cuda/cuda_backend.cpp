#include "runtime/cuda/cuda_backend.h"

#include "runtime/cuda/driver.h"
#include "runtime/cuda/nvrtc.h"

namespace kiln::runtime::cuda {

const gpu::FoundBackends& backends() {
    static const auto* const found = new gpu::FoundBackends(
        gpu::find_backends({driver, [](const codegen::gpu::Target&) { return nvrtc(); }, MemoryHome::cuda}));
    return *found;
}

}  // namespace kiln::runtime::cuda
