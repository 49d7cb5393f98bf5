#pragma once

#include <array>
#include <cstdint>

namespace emulated_gpu::hip {

/// LDS of CDNA2 and CDNA3: 32 banks of 4 bytes, 128 bytes a cycle (CDNA3 ISA, "LDS": "32 banks, each ... 32 bits").
inline constexpr uint64_t kLdsBanks = 32;
inline constexpr uint64_t kLdsBankBytes = 4;

/// The lanes that LDS serves together. The ISA documents do not name them; that consecutive lanes go together, as many
/// as 128 bytes allow, is assumed, and has to be measured.
struct LdsPhases {
    uint32_t count = 0;
    std::array<uint64_t, 16> lanes{};
};

constexpr LdsPhases consecutive_lanes(uint32_t lanes_at_once) {
    LdsPhases phases;
    phases.count = 64 / lanes_at_once;
    for (uint32_t i = 0; i < phases.count; ++i)
        phases.lanes[i] = ((uint64_t{1} << lanes_at_once) - 1) << (i * lanes_at_once);
    return phases;
}

inline constexpr LdsPhases kDwordPhases = consecutive_lanes(32);
inline constexpr LdsPhases kPairPhases = consecutive_lanes(16);
inline constexpr LdsPhases kQuadPhases = consecutive_lanes(8);

/// Phases of an access of `bytes` a lane.
inline const LdsPhases& lds_phases(uint32_t bytes) {
    return bytes <= 4 ? kDwordPhases : bytes <= 8 ? kPairPhases : kQuadPhases;
}

}  // namespace emulated_gpu::hip
