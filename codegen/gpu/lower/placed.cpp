#include "codegen/gpu/lower/placed.h"

namespace kiln::codegen::gpu {

void Lines::open_unrolled(const std::string& name, std::int64_t count, std::int64_t step) {
    add("#pragma unroll");
    const std::string next = step == 1 ? "++" + name : name + " += " + std::to_string(step);
    open("for (int " + name + " = 0; " + name + " < " + std::to_string(count) + "; " + next + ")");
}

}  // namespace kiln::codegen::gpu
