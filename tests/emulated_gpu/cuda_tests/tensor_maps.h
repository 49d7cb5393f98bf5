#pragma once

#include <array>
#include <vector>

#include "tests/emulated_gpu/cuda/tensor_map.h"
#include "tests/emulated_gpu/cuda_tests/compiled_kernels.h"

namespace emulated_gpu {

/// A tensor map for tests that have no driver.
inline TensorMap tensor_map(uint64_t address, uint64_t element, const std::vector<uint64_t>& extents,
                            const std::vector<uint16_t>& box, Swizzle swizzle, const std::vector<uint8_t>& steps = {}) {
    TensorMap map;
    map.magic = kTensorMapMagic;
    map.address = address;
    map.rank = static_cast<uint8_t>(extents.size());
    map.swizzle = swizzle;
    uint64_t stride = element;
    for (size_t d = 0; d < extents.size(); ++d) {
        map.extent[d] = extents[d];
        map.stride[d] = d == 1 ? (stride + 15) / 16 * 16 : stride;
        map.box[d] = box[d];
        map.step[d] = steps.empty() ? 1 : steps[d];
        stride = map.stride[d] * extents[d];
    }
    return map;
}

/// Adds a tensor map as a kernel's parameter, aligned to 64 bytes.
inline void add_map(std::vector<uint8_t>& parameters, const TensorMap& map) {
    parameters.resize((parameters.size() + 63) / 64 * 64);
    const size_t at = parameters.size();
    parameters.resize(at + 128);
    std::memcpy(parameters.data() + at, static_cast<const void*>(&map), sizeof map);
}

/// One launch of the Hopper GEMM's kernel; N and K are multiples of 8.
inline GemmRun run_hopper_gemm(Machine& machine, uint32_t m, uint32_t n, uint32_t k) {
    const GemmProblem problem(machine, m, n, k);
    LaunchShape shape;
    shape.grid = {(n + 63) / 64, (m + 63) / 64, 1};
    shape.block = {256, 1, 1};
    shape.dynamic_shared_bytes = size_t{4} * 64 * 64 * 2;
    add_map(shape.parameters, tensor_map(problem.device_a, 2, {k, m}, {64, 64}, Swizzle::Bytes128));
    add_map(shape.parameters, tensor_map(problem.device_b, 2, {n, k}, {64, 64}, Swizzle::Bytes128));
    add_map(shape.parameters, tensor_map(problem.device_c, 4, {n, m}, {64, 64}, Swizzle::None));
    shape.parameters.resize(shape.parameters.size() + 4);
    std::memcpy(shape.parameters.data() + shape.parameters.size() - 4, &k, 4);
    GemmRun run;
    run.result = run_kernel(*machine.module().kernels.at("hopper_gemm"), shape, machine.memory(), machine.options, {});
    run.worst_error = problem.worst_error();
    return run;
}

}  // namespace emulated_gpu
