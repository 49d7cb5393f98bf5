#include "runtime/hip/hip_backend.h"

#include "runtime/hip/compilers.h"
#include "runtime/hip/driver.h"

namespace kiln::runtime::hip {

const gpu::FoundBackends& backends() {
    static const auto* const found =
        new gpu::FoundBackends(gpu::find_backends({driver, compiler_for, MemoryHome::hip}));
    return *found;
}

}  // namespace kiln::runtime::hip
