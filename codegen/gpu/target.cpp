#include "codegen/gpu/target.h"

#include <algorithm>

namespace kiln::codegen::gpu {

const std::vector<Target>& target_table() {
    // Limits: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; AMD CDNA 2 ISA, chapter 2.
    static const std::vector<Target> table = {
        {"sm_80", Vendor::Nvidia, 32, 1024, 255, 65536, 64, 163 << 10, 164 << 10, {"gpu", "nvidia", "sm_80"}},
        {"gfx90a", Vendor::Amd, 64, 1024, 512, 131072, 32, 64 << 10, 64 << 10, {"gpu", "amd", "gfx90a"}},
    };
    return table;
}

FoundTarget find_target(std::string_view name) {
    const auto& table = target_table();
    const auto row = std::find_if(table.begin(), table.end(), [&](const Target& target) { return target.name == name; });
    return {row == table.end() ? nullptr : &*row, ""};
}

std::string fingerprint(const Target& target) { return target.name; }

}  // namespace kiln::codegen::gpu
