#include "codegen/cpu/target.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/TargetParser/Host.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>

namespace kiln::codegen::cpu {
namespace {

using Features = std::set<std::string>;

/// The levels of the x86-64 psABI, each with what it adds to the one before; LLVM's feature names.
struct Level {
    std::string_view name;
    std::vector<std::string_view> adds;
};
const std::vector<Level>& x86_levels() {
    static const std::vector<Level> levels = {
        {"x86_64_v2", {"cx16", "popcnt", "sahf", "sse3", "ssse3", "sse4.1", "sse4.2"}},
        {"x86_64_v3", {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"}},
        {"x86_64_v4", {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}},
    };
    return levels;
}

/// All features of a level, or nothing for another name.
std::optional<Features> level_features(std::string_view name) {
    Features features;
    for (const Level& level : x86_levels()) {
        features.insert(level.adds.begin(), level.adds.end());
        if (level.name == name) return features;
    }
    return std::nullopt;
}

bool includes(const Features& features, const Features& wanted) {
    return std::includes(features.begin(), features.end(), wanted.begin(), wanted.end());
}

/// "cpu" and the highest level whose features are all there.
std::vector<std::string> x86_schedule_names(const Features& features) {
    std::vector<std::string> names = {"cpu"};
    for (const Level& level : x86_levels()) {
        if (!includes(features, *level_features(level.name))) break;
        names.resize(1);
        names.emplace_back(level.name);
    }
    return names;
}

std::int64_t cache_bytes(int name, std::int64_t fallback) {
    const long bytes = sysconf(name);
    return bytes > 0 ? bytes : fallback;
}

void set_caches_of_host(Target& target) {
    target.l1_bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE, target.l1_bytes);
    target.l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE, target.l2_bytes);
}

/// Zen 4 and later start one 512-bit vdpbf16ps a cycle, twice the products of their f32 multiplier. Intel's cores with
/// AVX512_BF16 start one every other cycle but two f32 multiplications a cycle, twice the products of vdpbf16ps: there
/// bf16 does better widened to f32 (measured on model 207: 85 against 170 GFLOP/s).
bool has_fast_bf16_dot(const std::string& cpu) {
    return cpu.starts_with("znver");
}

Target x86_target(std::string cpu, const Features& features) {
    Target target;
    target.triple = "x86_64-unknown-linux-gnu";
    target.cpu = std::move(cpu);
    for (const std::string& feature : features) target.features.push_back("+" + feature);
    const bool avx512 = includes(features, *level_features("x86_64_v4"));
    target.vector_bytes = avx512 ? 64 : features.contains("avx2") ? 32 : 16;
    target.vector_registers = avx512 ? 32 : 16;
    target.has_fma = features.contains("fma");
    target.has_bf16_dot = avx512 && features.contains("avx512bf16") && has_fast_bf16_dot(target.cpu);
    target.schedule_names = x86_schedule_names(features);
    return target;
}

Target aarch64_target(std::string cpu, const Features& features) {
    Target target;
    target.triple = "aarch64-unknown-linux-gnu";
    target.cpu = std::move(cpu);
    for (const std::string& feature : features) target.features.push_back("+" + feature);
    target.vector_bytes = 16;
    target.vector_registers = 32;
    target.has_fma = true;
    target.schedule_names = {"cpu", "aarch64"};
    return target;
}

/// What the processor and the operating system both support, by LLVM's names.
Features host_features() {
    Features features;
    for (const auto& entry : llvm::sys::getHostCPUFeatures()) {
        if (entry.getValue()) features.insert(entry.getKey().str());
    }
    return features;
}

Target make_host_target() {
    Features features = host_features();
    std::string cpu = llvm::sys::getHostCPUName().str();
#if defined(__aarch64__)
    Target target = aarch64_target(std::move(cpu), features);
#else
    const char* wanted = std::getenv("KILN_CPU");
    if (const auto level = wanted ? level_features(wanted) : std::nullopt) {
        Features both;
        std::set_intersection(features.begin(), features.end(), level->begin(), level->end(),
                              std::inserter(both, both.end()));
        features = std::move(both);
        cpu = "generic";
    }
    Target target = x86_target(std::move(cpu), features);
#endif
    set_caches_of_host(target);
    return target;
}

std::vector<std::pair<std::string, Target>> make_named_targets() {
    std::vector<std::pair<std::string, Target>> targets;
    for (const Level& level : x86_levels()) {
        targets.emplace_back(level.name, x86_target("generic", *level_features(level.name)));
    }
    targets.emplace_back("aarch64", aarch64_target("generic", {"neon"}));
    return targets;
}

}  // namespace

const Target& host_target() {
    static const Target target = make_host_target();
    return target;
}

const Target* target_named(const std::string& name) {
    if (name == "cpu") return &host_target();
    static const std::vector<std::pair<std::string, Target>> targets = make_named_targets();
    for (const auto& [target_name, target] : targets) {
        if (target_name == name) return &target;
    }
    return nullptr;
}

std::string fingerprint(const Target& target) {
    std::string text = target.triple + ';' + target.cpu + ';';
    for (const std::string& feature : target.features) text += feature;
    for (const std::int64_t number :
         {std::int64_t{target.vector_bytes}, std::int64_t{target.vector_registers}, target.l1_bytes, target.l2_bytes}) {
        text += ';' + std::to_string(number);
    }
    text += target.has_fma ? ";fma" : "";
    text += target.has_bf16_dot ? ";bf16_dot" : "";
    return text;
}

}  // namespace kiln::codegen::cpu
