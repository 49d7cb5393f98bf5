#pragma once

#include <string>

#include "tests/emulated_gpu/hip/architecture.h"

namespace emulated_gpu::hip {

/// A kernel in assembly: s[0:1] hold the address of its arguments, s2 the workgroup's number (RDNA4: ttmp9), v0 the
/// work item's.
struct AssemblyKernel {
    std::string name = "kernel";
    std::string body;
    uint32_t argument_bytes = 32;
    uint32_t lds_bytes = 0;
    uint32_t private_bytes = 0;
    uint32_t wave_lanes = 0;  // 0: as many as is usual for the processor
};

inline std::string assembly_text(const AssemblyKernel& kernel, const std::string& processor) {
    const std::string& name = kernel.name;
    const auto number = [](uint32_t value) { return std::to_string(value); };
    const Family family = family_of(processor);
    const uint32_t lanes = kernel.wave_lanes == 0 ? usual_wave_lanes(family) : kernel.wave_lanes;
    const std::string of_family = family == Family::Cdna
                                      ? "\n.amdhsa_accum_offset 128"
                                      : "\n.amdhsa_wavefront_size32 " + std::to_string(lanes == 32 ? 1 : 0);
    return ".amdgcn_target \"amdgcn-amd-amdhsa--" + processor + "\"\n.text\n.globl " + name + "\n.p2align 8\n.type " +
           name + ",@function\n" + name + ":\n" + kernel.body + "\n.Lend:\n.size " + name + ", .Lend-" + name +
           "\n.rodata\n.p2align 6\n.amdhsa_kernel " + name + "\n.amdhsa_group_segment_fixed_size " +
           number(kernel.lds_bytes) + "\n.amdhsa_private_segment_fixed_size " + number(kernel.private_bytes) +
           "\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_system_sgpr_workgroup_id_x 1"
           "\n.amdhsa_next_free_vgpr 256\n.amdhsa_next_free_sgpr 96" +
           of_family +
           "\n.end_amdhsa_kernel\n.amdgpu_metadata\n---\namdhsa.version: [1, 2]\namdhsa.target: amdgcn-amd-amdhsa--" +
           processor + "\namdhsa.kernels:\n  - .name: " + name + "\n    .symbol: " + name +
           ".kd\n    .kernarg_segment_size: " + number(kernel.argument_bytes) +
           "\n    .kernarg_segment_align: 8\n    .group_segment_fixed_size: " + number(kernel.lds_bytes) +
           "\n    .private_segment_fixed_size: " + number(kernel.private_bytes) +
           "\n    .wavefront_size: " + number(lanes) +
           "\n    .sgpr_count: 96\n    .vgpr_count: 256\n    .max_flat_workgroup_size: 1024\n"
           "...\n.end_amdgpu_metadata\n";
}

}  // namespace emulated_gpu::hip
