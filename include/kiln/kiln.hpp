// Kiln: tile kernels compiled at run time. This header is the whole public interface.
//
//   auto device = kiln::Device::open();
//   auto module = kiln::Module::from_file("kiln/gemm.kiln");
//   auto gemm = module.kernel("gemm");
//   gemm.launch(device.stream(), kiln::tensor(a, {M, K}), kiln::tensor(b, {K, N}), kiln::tensor(c, {M, N}));
#pragma once

#include "kiln/device.hpp"
#include "kiln/error.hpp"
#include "kiln/module.hpp"
#include "kiln/tensor.hpp"
#include "kiln/tuning.hpp"

namespace kiln {

/// "0.1.0"
KILN_API const char* version();

/// From now on appends each distinct launch (kernel, types, sizes, strides and numbers, never the contents of tensors) to
/// the file as a line of JSON, for `kiln tune --from`; an empty path stops. KILN_CAPTURE=file does so from the start.
KILN_API void capture(const std::string& path);

}  // namespace kiln
