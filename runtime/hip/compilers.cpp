#include "runtime/hip/compilers.h"

#include <fmt/format.h>

#include <charconv>
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

/// Older ones are asked last. They vectorise with LLVM 15 or before, again after all options have been read, and an
/// attention of f16 then takes minutes, which nothing in the process can end.
constexpr int kSteadyHip = 600;

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

int hip_version(const std::string& text) {
    int major = 0, minor = 0;
    const char* const end = text.data() + text.size();
    const auto [dot, error] = std::from_chars(text.data(), end, major);
    if (error == std::errc() && dot != end) std::from_chars(dot + 1, end, minor);
    return 100 * major + minor;
}

gpu::FoundCompiler compiler_for(const codegen::gpu::Target& target) {
    const gpu::FoundCompiler& rtc = hiprtc();
    const bool rtc_knows = rtc.compiler != nullptr && rtc.compiler->knows(target);
    if (rtc_knows && hip_version(rtc.compiler->version()) >= kSteadyHip) return rtc;
    const gpu::FoundCompiler& clang = offline_clang();
    if (clang.compiler != nullptr && clang.compiler->knows(target)) return clang;
    if (rtc_knows) return rtc;
    return {nullptr,
            fmt::format("hipRTC: {}; clang: {}", why_not("hipRTC", rtc, target), why_not("clang", clang, target))};
}

}  // namespace kiln::runtime::hip
