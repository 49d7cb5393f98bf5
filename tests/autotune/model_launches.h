// Launches that the tests of the cost models look at.
#pragma once

#include <doctest/doctest.h>

#include "kiln/kiln.hpp"
#include "runtime/capture.h"

namespace kiln::tests {

inline runtime::CapturedTensor dense(const std::string& name, DType dtype, const std::vector<std::int64_t>& sizes) {
    runtime::CapturedTensor tensor{name, dtype, sizes, sizes};
    std::int64_t stride = 1;
    for (std::size_t axis = sizes.size(); axis-- > 0;) {
        tensor.strides[axis] = stride;
        stride *= sizes[axis];
    }
    return tensor;
}

inline runtime::CapturedLaunch gemm(std::int64_t m, std::int64_t n, std::int64_t k, DType type = f32) {
    runtime::CapturedLaunch launch;
    launch.file = "kiln/gemm.kiln";
    launch.kernel = "gemm";
    launch.tensors = {dense("a", type, {m, k}), dense("b", type, {k, n}), dense("c", type, {m, n})};
    return launch;
}

inline runtime::CapturedLaunch attention(bool causal, std::int64_t length) {
    runtime::CapturedLaunch launch;
    launch.file = "kiln/attention.kiln";
    launch.kernel = "attention";
    launch.generics["causal"] = causal ? "true" : "false";
    for (const char* name : {"q", "k", "v", "o"}) launch.tensors.push_back(dense(name, f32, {1, 4, length, 64}));
    launch.numbers["scale"] = 0.125;
    return launch;
}

inline runtime::CapturedLaunch two_tensors(const char* file, const char* kernel, std::int64_t rows,
                                           std::int64_t columns, bool turned) {
    runtime::CapturedLaunch launch;
    launch.file = file;
    launch.kernel = kernel;
    launch.tensors = {dense("x", f32, {rows, columns}),
                      dense("y", f32, {turned ? columns : rows, turned ? rows : columns})};
    return launch;
}

}  // namespace kiln::tests
