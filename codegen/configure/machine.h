// Machines as plain numbers, for the cost model and for rooflines.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "codegen/cpu/target.h"

namespace kiln::codegen::configure {

/// A CPU as the cost model sees it. Rates are those of one thread.
struct CpuMachine {
    cpu::Target target;
    int threads = 1;
    double cycles_per_second = 3e9;
    double fma_per_cycle = 2;         ///< vector multiply-adds started a cycle
    double vector_ops_per_cycle = 2;  ///< other vector operations
    double l1_bytes_per_cycle = 96;   ///< of loads and stores together
    double l2_bytes_per_cycle = 40;
    double far_bytes_per_cycle = 8;             ///< from the last cache or memory, one thread
    double shared_far_bytes_per_second = 60e9;  ///< all threads together
};

/// The numbers above for a target. Rates a cycle are usual for cores of the last ten years with vectors of that width;
/// they were adjusted to measurements on an Intel core with AVX-512 (docs/tuning.md).
CpuMachine cpu_machine(const cpu::Target& target, int threads);

/// Peak rates of a device, dense, from its data sheet: the roof in a roofline.
struct DeviceRow {
    std::string_view name;
    double f32_tflops;     ///< vector units
    double matrix_tflops;  ///< bf16 on matrix units
    double terabytes_per_second;
    std::string_view source;
};
std::span<const DeviceRow> device_table();

}  // namespace kiln::codegen::configure
