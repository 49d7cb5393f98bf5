#include "codegen/configure/gpu_machine.h"

#include <algorithm>
#include <array>

#include "ir/support/internal_error.h"

namespace kiln::codegen::configure {

namespace {

/// What a data sheet says, dense, in 10^12 operations a second (a multiply-add is two); 0 where there is no such unit.
struct Sheet {
    std::string_view target, device;
    std::int64_t units;
    double gigahertz;
    double f32, f64;
    double matrix_f16, matrix_tf32, matrix_f32, matrix_f64, matrix_byte;
    double terabytes_per_second, cache_megabytes;
};

// NVIDIA: the data sheets of A100 (SXM, 80 GB), A10, L40S, H100 (SXM), and of DGX B200 divided by eight; for caches and
// clocks, and for the GeForce RTX 5090, the white papers of their architectures. Rates are those with f32 accumulators.
// AMD: the data sheets of MI250X (one of its two dies), MI300X and MI355X, and the product pages of RX 7900 XTX and RX
// 9070 XT. AMD's f32 peaks count pairs (packed instructions, dual issue), which plain code does not have: half stands
// here. Of gfx1250 only bandwidth and fp8 rate were announced (AMD, "Advancing AI 2025"); the rest is assumed.
constexpr auto kSheets = std::to_array<Sheet>({
    {"sm_80", "A100 80GB", 108, 1.41, 19.5, 9.7, 312, 156, 0, 19.5, 624, 2.04, 40},
    {"sm_86", "A10", 72, 1.695, 31.2, 0.49, 125, 62.5, 0, 0, 250, 0.6, 6},
    {"sm_89", "L40S", 142, 2.52, 91.6, 1.43, 362, 183, 0, 0, 733, 0.864, 96},
    {"sm_90a", "H100 SXM", 132, 1.83, 67, 34, 989, 495, 0, 67, 1979, 3.35, 50},
    {"sm_100a", "B200", 148, 1.85, 75, 37, 2250, 1125, 0, 37, 4500, 8.0, 126},
    {"sm_120a", "RTX 5090", 170, 2.41, 104.8, 1.64, 209.5, 104.8, 0, 0, 419, 1.79, 96},
    {"gfx90a", "MI250X, one die", 110, 1.7, 23.9, 23.9, 191.5, 0, 47.9, 47.9, 191.5, 1.6, 8},
    {"gfx942", "MI300X", 304, 2.1, 81.7, 81.7, 1307, 654, 163.4, 163.4, 2615, 5.3, 256},
    {"gfx950", "MI355X", 256, 2.4, 78.6, 78.6, 2516, 0, 157.3, 78.6, 5033, 8.0, 256},
    {"gfx1250", "MI400 series", 256, 2.4, 78.6, 39.3, 10000, 0, 157.3, 78.6, 20000, 19.6, 256},
    {"gfx1100", "RX 7900 XTX", 48, 2.5, 30.7, 0.96, 122.8, 0, 0, 0, 122.8, 0.96, 96},
    {"gfx1201", "RX 9070 XT", 32, 2.97, 24.3, 0.76, 195, 0, 0, 0, 389, 0.64, 64},
});

// Bytes that a unit gets a cycle from the second cache: A100's 5,120 a device (white paper), and 2,048 for the 38
// compute units of a die of MI300X (CDNA 3 white paper), make both about 50.
constexpr double kCacheBytesPerCycle = 50;
// Cycles, as microbenchmarks find them on chips of either vendor; they differ by a third from one to the next.
constexpr double kMemoryLatencyNvidia = 600, kMemoryLatencyAmd = 800, kSharedLatencyNvidia = 30, kSharedLatencyAmd = 64;

const Sheet& sheet_of(const gpu::Target& target) {
    const auto named = [&](const std::string& name) {
        return std::find_if(kSheets.begin(), kSheets.end(), [&](const Sheet& sheet) { return sheet.target == name; });
    };
    auto sheet = named(target.name);
    // Siblings have their own names and the schedule names of their row, too.
    for (const std::string& name : target.schedule_names) {
        if (sheet == kSheets.end()) sheet = named(name);
    }
    if (sheet == kSheets.end()) throw support::InternalError("codegen/configure", "no data sheet for " + target.name);
    return *sheet;
}

}  // namespace

double GpuMachine::vector_rate(ir::ScalarType type) const {
    return type == ir::ScalarType::F64 ? f64_per_cycle : f32_per_cycle;
}

double GpuMachine::matrix_rate(ir::ScalarType type, bool rounded) const {
    if (type == ir::ScalarType::F64) return matrix_f64_per_cycle;
    if (type == ir::ScalarType::F32) return rounded ? matrix_tf32_per_cycle : matrix_f32_per_cycle;
    return ir::bit_width(type) <= 8 ? matrix_byte_per_cycle : matrix_f16_per_cycle;
}

GpuMachine gpu_machine(const gpu::Target& target, std::int64_t units) {
    const Sheet& sheet = sheet_of(target);
    const bool nvidia = target.vendor == gpu::Vendor::Nvidia;
    const auto per_cycle = [&](double tera) {
        return tera * 1e12 / (2 * static_cast<double>(sheet.units) * sheet.gigahertz * 1e9);
    };
    GpuMachine machine;
    machine.target = target;
    machine.device = sheet.device;
    machine.units = units > 0 ? units : sheet.units;
    machine.cycles_per_second = sheet.gigahertz * 1e9;
    machine.memory_bytes_per_second = sheet.terabytes_per_second * 1e12;
    machine.cache_bytes = sheet.cache_megabytes * 1e6;
    machine.cache_bytes_per_cycle = kCacheBytesPerCycle;
    machine.shared_bytes_per_cycle = 4.0 * target.shared_banks;
    machine.f32_per_cycle = per_cycle(sheet.f32);
    machine.f64_per_cycle = per_cycle(sheet.f64);
    machine.matrix_f16_per_cycle = per_cycle(sheet.matrix_f16);
    machine.matrix_tf32_per_cycle = per_cycle(sheet.matrix_tf32);
    machine.matrix_f32_per_cycle = per_cycle(sheet.matrix_f32);
    machine.matrix_f64_per_cycle = per_cycle(sheet.matrix_f64);
    machine.matrix_byte_per_cycle = per_cycle(sheet.matrix_byte);
    machine.memory_latency = nvidia ? kMemoryLatencyNvidia : kMemoryLatencyAmd;
    machine.shared_latency = nvidia ? kSharedLatencyNvidia : kSharedLatencyAmd;
    return machine;
}

}  // namespace kiln::codegen::configure
