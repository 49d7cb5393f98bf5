// GPUs as plain numbers, for the cost model.
#pragma once

#include <cstdint>
#include <string_view>

#include "codegen/gpu/target.h"
#include "ir/type.h"

namespace kiln::codegen::configure {

/// A GPU as the cost model sees it. Rates a cycle are those of one unit (multiprocessor, compute unit, work-group
/// processor); multiply-adds count once.
struct GpuMachine {
    gpu::Target target;
    std::string_view device;  ///< whose numbers they are
    std::int64_t units = 1;
    double cycles_per_second = 1e9;
    double memory_bytes_per_second = 1e12;
    double cache_bytes = 0;             ///< of the last cache before memory
    double cache_bytes_per_cycle = 48;  ///< that a unit gets from it
    double shared_bytes_per_cycle = 128;
    double f32_per_cycle = 64;  ///< multiply-adds of the vector units; other operations alike
    double f64_per_cycle = 32;
    double matrix_f16_per_cycle = 0;   ///< of matrix instructions on f16 and bf16; 0: there are none
    double matrix_tf32_per_cycle = 0;  ///< on f32 that is rounded
    double matrix_f32_per_cycle = 0;   ///< on f32 as it is
    double matrix_f64_per_cycle = 0;
    double matrix_byte_per_cycle = 0;  ///< on fp8 and 8-bit integers
    double memory_latency = 600;       ///< cycles until a load's data is there
    double shared_latency = 30;        ///< the same of shared memory
    double barrier_cycles = 40;        ///< until the threads of a block have met

    /// What memory is read and written in.
    double sector_bytes() const { return target.vendor == gpu::Vendor::Nvidia ? 32 : 64; }
    /// Multiply-adds a cycle of the vector units.
    double vector_rate(ir::ScalarType type) const;
    /// Of matrix instructions whose operands have that type; `rounded`: f32 as tf32.
    double matrix_rate(ir::ScalarType type, bool rounded) const;
};

/// The numbers of a usual device with that target: the fastest data-centre board, or card where there is none. A
/// present device is asked for its own number of units; 0 takes the board's.
GpuMachine gpu_machine(const gpu::Target& target, std::int64_t units = 0);

}  // namespace kiln::codegen::configure
