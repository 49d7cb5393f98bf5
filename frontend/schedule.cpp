#include "frontend/schedule.h"

#include <algorithm>
#include <array>

namespace kiln::frontend {

namespace {

struct Target {
    std::string_view name;
    std::string_view wider;
};

constexpr auto kTargets = std::to_array<Target>({
    {"cpu", ""},          {"gpu", ""},          {"nvidia", "gpu"},     {"amd", "gpu"},        {"x86_64_v2", "cpu"},
    {"x86_64_v3", "cpu"}, {"x86_64_v4", "cpu"}, {"aarch64", "cpu"},    {"sm_80", "nvidia"},   {"sm_86", "nvidia"},
    {"sm_89", "nvidia"},  {"sm_90a", "nvidia"}, {"sm_100a", "nvidia"}, {"sm_120a", "nvidia"}, {"gfx90a", "amd"},
    {"gfx942", "amd"},    {"gfx950", "amd"},    {"gfx1100", "amd"},    {"gfx1201", "amd"},    {"gfx1250", "amd"},
});

constexpr auto kGpu = std::to_array<std::string_view>({"gpu"});
constexpr auto kAmd = std::to_array<std::string_view>({"amd"});
constexpr auto kClusters = std::to_array<std::string_view>({"sm_90a", "sm_100a"});
constexpr auto kProducers = std::to_array<std::string_view>({"sm_90a", "sm_100a", "sm_120a"});

constexpr auto kRoles =
    std::to_array<ScheduleWord>({{"uniform"}, {"producer_consumer", 0, kProducers}, {"apart", 0, kAmd}});
constexpr auto kGridOrders =
    std::to_array<ScheduleWord>({{"rows"}, {"columns"}, {"grouped", 1}, {"per_die", 0, kAmd}, {"longest_first"}});
constexpr auto kPersistent = std::to_array<ScheduleWord>({{"true"}, {"false"}});
constexpr auto kInstructions = std::to_array<ScheduleWord>({{"auto"}, {"mma", 3}});

constexpr auto kKeys = std::to_array<ScheduleKey>({
    {"warps", kGpu, {}, 1, 16},
    {"stages", {}, {}, 1, 8},
    {"slots", kGpu, {}, 1, 64},
    {"roles", kGpu, kRoles},
    {"cluster", kClusters, {}, 1, 8},
    {"grid_order", {}, kGridOrders},
    {"persistent", {}, kPersistent},
    {"instruction", {}, kInstructions},
});

}  // namespace

const std::vector<std::string_view>& schedule_targets() {
    static const auto names = [] {
        std::vector<std::string_view> list;
        for (const Target& target : kTargets) list.push_back(target.name);
        return list;
    }();
    return names;
}

std::string_view wider_target(std::string_view target) {
    const auto found =
        std::find_if(kTargets.begin(), kTargets.end(), [target](const Target& row) { return row.name == target; });
    return found == kTargets.end() ? std::string_view() : found->wider;
}

std::span<const ScheduleKey> schedule_keys() {
    return kKeys;
}

const ScheduleKey* find_schedule_key(std::string_view name) {
    const auto found =
        std::find_if(kKeys.begin(), kKeys.end(), [name](const ScheduleKey& key) { return key.name == name; });
    return found == kKeys.end() ? nullptr : &*found;
}

bool admits_target(std::span<const std::string_view> targets, std::string_view target) {
    if (targets.empty()) return true;
    for (std::string_view wider = target; !wider.empty(); wider = wider_target(wider)) {
        if (std::find(targets.begin(), targets.end(), wider) != targets.end()) return true;
    }
    return false;
}

}  // namespace kiln::frontend
