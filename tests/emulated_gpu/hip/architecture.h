#pragma once

#include <cstdint>
#include <string>

namespace emulated_gpu::hip {

/// Families of processors, which differ in names, counters of memory instructions, and waves.
enum class Family : uint8_t { Cdna, Rdna3, Rdna4 };

/// What the meaning of an instruction depends on besides its text.
struct Architecture {
    std::string processor = "gfx90a";
    Family family = Family::Cdna;
    uint32_t wave_lanes = 64;

    bool is_rdna() const { return family != Family::Cdna; }
    /// fp8 in the formats of the OCP; gfx942 has some of its own.
    bool has_ocp_fp8() const { return processor == "gfx950" || family == Family::Rdna4; }
};

/// Whether code for the processor can be executed.
bool is_modelled(const std::string& processor);
Family family_of(const std::string& processor);
/// Of a wave, unless a kernel asks for another number.
inline uint32_t usual_wave_lanes(Family family) {
    return family == Family::Cdna ? 64 : 32;
}

}  // namespace emulated_gpu::hip
