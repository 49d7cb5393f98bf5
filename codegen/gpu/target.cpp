#include "codegen/gpu/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "ir/support/internal_error.h"

namespace kiln::codegen::gpu {
namespace {

constexpr std::int64_t kKib = 1024;

/// Names that source for the row on the left serves as well, compiled under its own name: their instruction sets have
/// everything that the row promises (LLVM, "User Guide for AMDGPU Backend", generic targets gfx11 and gfx12).
struct Sibling {
    std::string_view name, row;
};
constexpr Sibling kSiblings[] = {
    {"gfx1101", "gfx1100"},
    {"gfx1102", "gfx1100"},
    {"gfx1103", "gfx1100"},
    {"gfx1200", "gfx1201"},
};

/// Limits: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; allocation steps: CUDA
/// Occupancy Calculator (256 registers a warp, 128 bytes). From 8.0 on the system keeps 1 KB of shared memory of each
/// block (Ampere Tuning Guide, "Unified Shared Memory/L1/Texture Cache").
Target nvidia(std::string name, MatrixUnit matrix_unit, int warps_per_unit, int blocks_per_unit,
              std::int64_t shared_kib_per_unit) {
    Target target;
    target.schedule_names = {"gpu", "nvidia", name};
    target.name = std::move(name);
    target.warps_per_simd = warps_per_unit / 4;
    target.blocks_per_unit = blocks_per_unit;
    target.shared_bytes_per_unit = shared_kib_per_unit * kKib;
    target.shared_bytes_per_block = target.shared_bytes_per_unit - kKib;
    target.shared_reserved = kKib;
    target.async_copy_bytes = 16;  // PTX ISA, `cp.async`: sm_80 and later
    target.matrix_unit = matrix_unit;
    return target;
}

/// Registers, their step and warps per SIMD: what clang 22 prints with -Rpass-analysis=kernel-resource-usage. Blocks:
/// LLVM, AMDGPUBaseInfo.cpp, getMaxWorkGroupsPerCU (barriers of a unit).
Target amd(std::string name, MatrixUnit matrix_unit, int lanes, int registers, int step, int registers_per_thread,
           int warps, int blocks) {
    Target target;
    target.schedule_names = {"gpu", "amd", name};
    target.name = std::move(name);
    target.vendor = Vendor::Amd;
    target.sector_bytes = 64;
    target.lanes = lanes;
    target.registers_per_simd = registers * lanes;
    target.register_step = step;
    target.registers_per_thread = registers_per_thread;
    target.warps_per_simd = warps;
    target.blocks_per_unit = blocks;
    target.matrix_unit = matrix_unit;
    return target;
}

Target with_shared(Target target, std::int64_t kib_per_block, std::int64_t kib_per_unit, int step, int banks,
                   WideSharedLoads wide) {
    target.shared_bytes_per_block = kib_per_block * kKib;
    target.shared_bytes_per_unit = kib_per_unit * kKib;
    target.shared_step = step;
    target.shared_banks = banks;
    target.wide_shared_loads = wide;
    return target;
}

std::vector<Target> make_table() {
    using enum WideSharedLoads;
    std::vector<Target> table = {
        nvidia("sm_80", MatrixUnit::Ampere, 64, 32, 164),
        nvidia("sm_86", MatrixUnit::Ampere, 48, 16, 100),
        nvidia("sm_89", MatrixUnit::Ada, 48, 24, 100),
        nvidia("sm_90a", MatrixUnit::Ada, 64, 32, 228),
        nvidia("sm_100a", MatrixUnit::Ada, 64, 32, 228),
        nvidia("sm_120a", MatrixUnit::Ada, 48, 24, 100),
        // LDS: AMD CDNA 2, CDNA 3 and CDNA 4 ISA documents, "Local Data Share". The order of wide loads was measured by
        // others on MI300 and MI355 and stands in no document of AMD; gfx90a is taken to be like gfx942.
        with_shared(amd("gfx90a", MatrixUnit::Cdna2, 64, 512, 8, 512, 8, 16), 64, 64, 512, 32, Interleaved),
        with_shared(amd("gfx942", MatrixUnit::Cdna3, 64, 512, 8, 512, 8, 16), 64, 64, 512, 32, Interleaved),
        with_shared(amd("gfx950", MatrixUnit::Cdna4, 64, 512, 8, 512, 8, 16), 160, 160, 1280, 32, DoubleBanks),
        // The order of lanes on RDNA and gfx1250 is assumed: no measurement was found.
        with_shared(amd("gfx1250", MatrixUnit::None, 32, 1024, 16, 1024, 16, 32), 320, 320, 1024, 64, InOrder),
        with_shared(amd("gfx1100", MatrixUnit::Rdna3, 32, 1536, 24, 256, 16, 32), 64, 128, 1024, 32, InOrder),
        with_shared(amd("gfx1201", MatrixUnit::Rdna4, 32, 1536, 24, 256, 16, 32), 64, 128, 1024, 32, InOrder),
    };
    return table;
}

const Target* row_named(std::string_view name) {
    const std::vector<Target>& table = target_table();
    const auto row =
        std::find_if(table.begin(), table.end(), [&](const Target& target) { return target.name == name; });
    return row == table.end() ? nullptr : &*row;
}

/// Rows under the names of their siblings.
const std::vector<Target>& sibling_table() {
    static const std::vector<Target> table = [] {
        std::vector<Target> rows;
        for (const Sibling& sibling : kSiblings) {
            Target target = *row_named(sibling.row);
            target.name = sibling.name;
            target.schedule_names.emplace_back(sibling.name);
            rows.push_back(std::move(target));
        }
        return rows;
    }();
    return table;
}

/// The number of "sm_87" or "sm_90a"; none if the name has another form.
std::optional<int> capability_of(std::string_view name) {
    if (!name.starts_with("sm_")) return std::nullopt;
    name.remove_prefix(3);
    if (name.ends_with('a') || name.ends_with('f')) name.remove_suffix(1);
    int number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
    return number;
}

std::string row_names(Vendor vendor) {
    std::string result;
    for (const Target& row : target_table()) {
        if (row.vendor == vendor) result += (result.empty() ? "" : ", ") + row.name;
    }
    return result;
}

/// All devices of a capability run the code of its `a` row, and no other device does. PTX of rows without a letter runs
/// on all later devices (PTX ISA, `.target`).
FoundTarget find_nvidia(std::string_view name, int capability) {
    const auto use = [&](const Target& row) {
        return FoundTarget{&row, fmt::format("{} is not in the table; using {}", name, row.name)};
    };
    if (const Target* own = row_named(fmt::format("sm_{}a", capability))) return use(*own);
    const Target* nearest = nullptr;
    for (const Target& row : target_table()) {
        if (row.vendor != Vendor::Nvidia || row.name.ends_with('a')) continue;
        if (*capability_of(row.name) <= capability) nearest = &row;
    }
    if (nearest != nullptr) return use(*nearest);
    return {nullptr, fmt::format("{} is older than all targets; they are {}", name, row_names(Vendor::Nvidia))};
}

FoundTarget find_amd(std::string_view name) {
    for (std::size_t i = 0; i < std::size(kSiblings); ++i) {
        if (kSiblings[i].name != name) continue;
        return {&sibling_table()[i],
                fmt::format("{} is not in the table; using the limits of {}", name, kSiblings[i].row)};
    }
    // Code objects run on the processor they are compiled for and on no later one.
    return {nullptr, fmt::format("{} runs the code of no target; they are {}", name, row_names(Vendor::Amd))};
}

/// Lanes first ... in runs of four, for each of the two halves of a wavefront.
std::vector<std::vector<int>> groups_of_runs(const std::vector<std::vector<int>>& runs) {
    std::vector<std::vector<int>> groups;
    for (const int half : {0, 32}) {
        for (const std::vector<int>& firsts : runs) {
            std::vector<int> group;
            for (const int first : firsts) {
                for (int lane = first; lane < first + 4; ++lane) group.push_back(half + lane);
            }
            groups.push_back(std::move(group));
        }
    }
    return groups;
}

std::vector<std::vector<int>> consecutive(int lanes, int group_size) {
    std::vector<std::vector<int>> groups;
    for (int first = 0; first < lanes; first += group_size) {
        std::vector<int> group;
        for (int lane = first; lane < first + group_size; ++lane) group.push_back(lane);
        groups.push_back(std::move(group));
    }
    return groups;
}

int allocated(std::int64_t value, int step) {
    return static_cast<int>((value + step - 1) / step * step);
}

}  // namespace

const std::vector<Target>& target_table() {
    static const std::vector<Target> table = make_table();
    return table;
}

FoundTarget find_target(std::string_view name) {
    if (const Target* row = row_named(name)) return {row, ""};
    if (const std::optional<int> capability = capability_of(name)) return find_nvidia(name, *capability);
    if (name.starts_with("gfx")) return find_amd(name);
    return {nullptr, fmt::format("{} names no GPU; targets are {}, {}", name, row_names(Vendor::Nvidia),
                                 row_names(Vendor::Amd))};
}

LaneGroups shared_groups(const Target& target, int bytes, bool is_store) {
    if (bytes < 1 || bytes > 16) {
        throw support::InternalError("codegen::gpu::shared_groups", fmt::format("access of {} bytes", bytes));
    }
    LaneGroups result{target.shared_banks, {}};
    if (!is_store && bytes >= 8 && target.wide_shared_loads != WideSharedLoads::InOrder) {
        const bool doubled = target.wide_shared_loads == WideSharedLoads::DoubleBanks;
        if (doubled) result.banks = 64;
        if (bytes > 8) {
            result.groups = doubled ? groups_of_runs({{0, 12, 20, 24}, {4, 8, 16, 28}})
                                    : groups_of_runs({{0, 20}, {4, 16}, {8, 28}, {12, 24}});
            return result;
        }
    }
    const int words = bytes <= 4 ? 1 : bytes <= 8 ? 2 : 4;
    result.groups = consecutive(target.lanes, std::min({target.lanes, 32, result.banks / words}));
    return result;
}

int registers_available(const Target& target, int warps) {
    const int warps_of_simd = (warps + target.simds_per_unit - 1) / target.simds_per_unit;
    return std::min(target.registers_per_thread, target.registers_per_simd / (warps_of_simd * target.lanes));
}

Occupancy occupancy(const Target& target, int threads, int registers_per_thread, std::int64_t shared_bytes) {
    const int warps = (threads + target.lanes - 1) / target.lanes;
    const int registers = allocated(std::max(registers_per_thread, 1), target.register_step) * target.lanes;
    const std::int64_t shared = allocated(shared_bytes + target.shared_reserved, target.shared_step);
    if (threads < 1 || threads > target.threads_per_block || registers_per_thread > target.registers_per_thread ||
        shared_bytes > target.shared_bytes_per_block) {
        return {};
    }
    const int resident = std::min(target.warps_per_simd, target.registers_per_simd / registers) * target.simds_per_unit;
    const auto by_shared =
        shared == 0 ? target.blocks_per_unit : static_cast<int>(target.shared_bytes_per_unit / shared);
    const int blocks = std::min({target.blocks_per_unit, resident / warps, by_shared});
    const double most = target.warps_per_simd * target.simds_per_unit;
    return {blocks, blocks * warps, blocks * warps / most};
}

std::string fingerprint(const Target& target) {
    return target.name;
}

}  // namespace kiln::codegen::gpu
