#pragma once

#include <string>

namespace emulated_gpu::hip {

/// A kernel in assembly for gfx90a or gfx942: s[0:1] hold the address of its arguments, s2 the workgroup's number, v0
/// the work item's.
struct AssemblyKernel {
    std::string name = "kernel";
    std::string body;
    uint32_t argument_bytes = 32;
    uint32_t lds_bytes = 0;
    uint32_t private_bytes = 0;
};

inline std::string assembly_text(const AssemblyKernel& kernel, const std::string& processor) {
    const std::string& name = kernel.name;
    const auto number = [](uint32_t value) { return std::to_string(value); };
    return ".amdgcn_target \"amdgcn-amd-amdhsa--" + processor + "\"\n.text\n.globl " + name + "\n.p2align 8\n.type " +
           name + ",@function\n" + name + ":\n" + kernel.body + "\n.Lend:\n.size " + name + ", .Lend-" + name +
           "\n.rodata\n.p2align 6\n.amdhsa_kernel " + name + "\n.amdhsa_group_segment_fixed_size " +
           number(kernel.lds_bytes) + "\n.amdhsa_private_segment_fixed_size " + number(kernel.private_bytes) +
           "\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_system_sgpr_workgroup_id_x 1"
           "\n.amdhsa_next_free_vgpr 256\n.amdhsa_next_free_sgpr 96\n.amdhsa_accum_offset 128"
           "\n.end_amdhsa_kernel\n.amdgpu_metadata\n---\namdhsa.version: [1, 2]\namdhsa.target: amdgcn-amd-amdhsa--" +
           processor + "\namdhsa.kernels:\n  - .name: " + name + "\n    .symbol: " + name +
           ".kd\n    .kernarg_segment_size: " + number(kernel.argument_bytes) +
           "\n    .kernarg_segment_align: 8\n    .group_segment_fixed_size: " + number(kernel.lds_bytes) +
           "\n    .private_segment_fixed_size: " + number(kernel.private_bytes) +
           "\n    .wavefront_size: 64\n    .sgpr_count: 96\n    .vgpr_count: 256\n    .max_flat_workgroup_size: 1024\n"
           "...\n.end_amdgpu_metadata\n";
}

}  // namespace emulated_gpu::hip
