// Stands in until the lowering lands, so that the runtime links: every kernel is refused. Delete it with that change.
#include "codegen/gpu/source.h"

namespace kiln::codegen::gpu {

Generated generate(const ir::Kernel& kernel, const Target& target, const support::SourceMap*) {
    return {{},
            {{"Kiln generates no code for " + target.name + " yet",
              kernel.parameters.empty() ? support::Span{} : kernel.parameters.front().span}}};
}

}  // namespace kiln::codegen::gpu
