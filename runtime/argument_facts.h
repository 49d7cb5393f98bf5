// What a launch proves about its tensors beyond their types: part of the specialisation, for devices whose code gains
// from it; 32 bits for every device. Facts are coarse, so that few variants of a kernel are compiled: of each tensor,
// whether its address and rows are multiples of 16 bytes (2 variants); of each named size, which of 256, 64 and 16
// divides it (4); of all together, whether 32 bits hold every offset (2). A program's launches of one kernel differ
// mostly in one size: 1 to 4 in all.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "frontend/signature.h"
#include "frontend/specialise.h"
#include "kiln/tensor.hpp"

namespace kiln::runtime {

/// Adds the facts to a request that describe_arguments() has filled. `matched` is the result of match_arguments().
void add_facts(frontend::Request& request, const frontend::KernelSignature& signature,
               std::span<const Argument* const> matched);

/// Text that is equal exactly when add_facts() adds the same.
std::string fact_key(const frontend::KernelSignature& signature, std::span<const Argument* const> matched);

/// Bytes, 16 or 1, that divide the address and all strides but that of the unit axis. 1 where nothing is moved in
/// vectors: without a unit axis, and of 4-bit elements.
std::uint32_t proven_alignment(const Tensor& tensor);

/// Whether the extents are at most 2^29 (ir/limits.h), and below 2^31 the strides and the offsets of all elements in
/// bytes.
bool fits_32_bits(const Tensor& tensor);

/// Whether all tensors do; every device gains from that.
bool all_fit_32_bits(std::span<const Argument* const> matched);

}  // namespace kiln::runtime
