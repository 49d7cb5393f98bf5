#include "codegen/cpu/register_tile.h"

#include <algorithm>

namespace kiln::codegen::cpu {

namespace {

// With taller register tiles the row pointers of an unpacked a would spill.
constexpr int kMostRowsInPlace = 6;

RegisterTile largest_tile(const Target& target, std::int64_t vectors_of_b) {
    if (target.vector_registers < 32) return vectors_of_b >= 2 ? RegisterTile{6, 2} : RegisterTile{6, 1};
    if (vectors_of_b >= 4) return {4, 4};
    return vectors_of_b == 3 ? RegisterTile{6, 3} : RegisterTile{8, 2};
}

}  // namespace

RegisterTile register_tile(const Target& target, std::int64_t rows, std::int64_t vectors_of_b) {
    const RegisterTile largest = largest_tile(target, vectors_of_b);
    return {static_cast<int>(std::min<std::int64_t>(largest.rows, rows)),
            static_cast<int>(std::min<std::int64_t>(largest.vectors, vectors_of_b))};
}

bool reads_a_in_place(const RegisterTile& tile, bool rows_have_unit_stride, bool widens) {
    return rows_have_unit_stride && !widens && tile.rows <= kMostRowsInPlace;
}

bool reads_b_in_place(const RegisterTile& tile, std::int64_t rows, bool rows_have_unit_stride, bool widens) {
    // A b that meets few rows is read once or twice: packing it would cost more than it brings.
    return rows <= 2 * tile.rows && rows_have_unit_stride && !widens;
}

}  // namespace kiln::codegen::cpu
