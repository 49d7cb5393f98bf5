// How dots are cut on a CPU, as numbers: what block_dot generates code by and the cost model counts by.
#pragma once

#include <cstdint>

#include "codegen/cpu/target.h"

namespace kiln::codegen::cpu {

/// Words along k that are packed and multiplied at a time.
inline constexpr std::int64_t kDotChunk = 512;

/// The sums that a micro-kernel keeps in registers: so many rows of so many vectors.
struct RegisterTile {
    int rows = 1, vectors = 1;
};
/// As many sums as hide the latency of the multiplier and leave room for a row of b; no more than the matrices have.
RegisterTile register_tile(const Target& target, std::int64_t rows, std::int64_t vectors_of_b);

/// Whether the micro-kernel reads a where it lies. Elements that must be widened are packed.
bool reads_a_in_place(const RegisterTile& tile, bool rows_have_unit_stride, bool widens);
/// The same of b, given the most rows that a call may have.
bool reads_b_in_place(const RegisterTile& tile, std::int64_t rows, bool rows_have_unit_stride, bool widens);

}  // namespace kiln::codegen::cpu
