#include "codegen/configure/machine.h"

#include <array>

namespace kiln::codegen::configure {

CpuMachine cpu_machine(const cpu::Target& target, int threads) {
    CpuMachine machine;
    machine.target = target;
    machine.threads = threads;
    machine.l1_bytes_per_cycle = 1.5 * target.vector_bytes;
    return machine;
}

namespace {

// Dense peaks, without sparsity. The vendors' data sheets, under the names they have there.
constexpr auto kDevices = std::to_array<DeviceRow>({
    {"A100 80GB", 19.5, 312, 2.04, "NVIDIA A100 Tensor Core GPU data sheet (SXM)"},
    {"H100 SXM", 67, 989, 3.35, "NVIDIA H100 Tensor Core GPU data sheet"},
    {"H200", 67, 989, 4.8, "NVIDIA H200 Tensor Core GPU data sheet"},
    {"B200", 75, 2250, 8.0, "NVIDIA DGX B200 data sheet, divided by eight"},
    {"MI300X", 163.4, 1307, 5.3, "AMD Instinct MI300X data sheet"},
    {"MI325X", 163.4, 1307, 6.0, "AMD Instinct MI325X data sheet"},
    {"MI355X", 157.3, 2500, 8.0, "AMD Instinct MI355X data sheet"},
});

}  // namespace

std::span<const DeviceRow> device_table() {
    return kDevices;
}

}  // namespace kiln::codegen::configure
