#include "runtime/hip/compilers.h"

#include <fmt/format.h>

#include <climits>

#include "runtime/hip/hiprtc.h"
#include "runtime/hip/offline_clang.h"

namespace kiln::runtime::hip {

namespace {

/// The first versions that have a target: of ROCm by its release notes, of clang by the AMDGPU usage document of each.
struct KnownSince {
    const char* target;
    int hip, clang;
};
constexpr KnownSince kKnownSince[] = {
    {"gfx90a", 403, 13},  {"gfx942", 600, 17},  {"gfx950", 700, 20},  {"gfx1250", 702, 22}, {"gfx1100", 504, 15},
    {"gfx1101", 504, 15}, {"gfx1102", 504, 15}, {"gfx1103", 504, 15}, {"gfx1200", 604, 19}, {"gfx1201", 604, 19},
};

/// A target that the table lacks is taken for newer than every compiler.
KnownSince since(const codegen::gpu::Target& target) {
    for (const KnownSince& row : kKnownSince) {
        if (target.name == row.target) return row;
    }
    return {"", INT_MAX, INT_MAX};
}

std::string why_not(const char* name, const gpu::FoundCompiler& found, const codegen::gpu::Target& target) {
    if (found.compiler == nullptr) return found.reason;
    return fmt::format("{} {} does not know {}", name, found.compiler->version(), target.name);
}

}  // namespace

bool hip_version_knows(int version, const codegen::gpu::Target& target) {
    return version >= since(target).hip;
}
bool clang_version_knows(int version, const codegen::gpu::Target& target) {
    return version >= since(target).clang;
}

gpu::FoundCompiler compiler_for(const codegen::gpu::Target& target) {
    const gpu::FoundCompiler& first = hiprtc();
    if (first.compiler != nullptr && first.compiler->knows(target)) return first;
    const gpu::FoundCompiler& second = offline_clang();
    if (second.compiler != nullptr && second.compiler->knows(target)) return second;
    return {nullptr,
            fmt::format("hipRTC: {}; clang: {}", why_not("hipRTC", first, target), why_not("clang", second, target))};
}

}  // namespace kiln::runtime::hip
