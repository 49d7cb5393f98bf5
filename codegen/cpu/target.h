// A CPU as plain numbers and features. Code asks for these, never for names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kiln::codegen::cpu {

struct Target {
    std::string triple;              ///< "x86_64-unknown-linux-gnu"
    std::string cpu;                 ///< LLVM's CPU name, for scheduling: "sapphirerapids"
    std::vector<std::string> features;  ///< "+avx512f", sorted; all that the code may use
    int vector_bytes = 16;           ///< widest vector to use: 64, 32 or 16
    int vector_registers = 16;
    bool has_fma = false;
    bool has_bf16_dot = false;       ///< AVX512_BF16, where vdpbf16ps beats widening to f32
    std::int64_t l1_bytes = 32 << 10, l2_bytes = 1 << 20;
    std::vector<std::string> schedule_names;  ///< that match `schedule` blocks, least specific first: cpu, x86_64_v4
};

/// The CPU this process runs on, asked once. `KILN_CPU=x86_64_v2|x86_64_v3|x86_64_v4` restricts it to that level's
/// features, never beyond what the host has.
const Target& host_target();

/// The target of a level: x86_64_v2, x86_64_v3, x86_64_v4, aarch64, or "cpu" for the host. Nothing for another name.
const Target* target_named(const std::string& name);

/// Text that tells two targets with different code apart; part of the cache key.
std::string fingerprint(const Target& target);

}  // namespace kiln::codegen::cpu
