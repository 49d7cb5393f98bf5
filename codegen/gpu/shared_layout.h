// Where a tile lies in shared memory, and what its accesses cost.
//
// The last axis of the tile is contiguous: it makes the *rows*; all other axes number them, in row-major order. Rows
// stand `pitch` bytes apart. Within a row units of `unit` bytes may be swapped by exclusive or with bits of the row's
// number, so that threads that read down a column find their elements in different banks:
//
//   byte(row, column) = row * pitch + ((column * element_bytes) ^ ((row >> shift) % 2^bits * unit))
//
// Worked example: 4 rows of 64 bytes, units of 16, bits = 2, shift = 0. Each cell is the unit of the row that lies
// there:
//
//   row 0   0 1 2 3      row 1   1 0 3 2      row 2   2 3 0 1      row 3   3 2 1 0
//
// Which banks collide depends on the lanes that hardware serves together, which is data of the target
// (`shared_groups`): the choice is a search over it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/gpu/layout.h"
#include "codegen/gpu/target.h"

namespace kiln::codegen::gpu {

struct SharedLayout {
    ir::Shape shape;
    int element_bytes = 4;
    std::int64_t pitch = 0;
    int unit = 16;
    int bits = 0, shift = 0;

    std::int64_t bytes() const;  ///< of the whole tile
    std::int64_t row(const Coordinates& element) const;
    std::int64_t byte(const Coordinates& element) const;
    friend bool operator==(const SharedLayout&, const SharedLayout&) = default;
};

/// Each thread of a layout of one part moves all its registers, `vector` of them at a time: contiguous in the tile, and
/// at most 16 bytes.
struct SharedAccess {
    Layout layout;
    int vector = 1;
    bool is_store = false;
};

/// Rounds of the banks beyond those that the access would take without collisions, all warps together.
std::int64_t conflicts(const SharedAccess& access, const SharedLayout& shared, const Target& target);

/// What may be done against conflicts.
struct SharedForms {
    bool swizzles = true, pads = true;
};

/// The shared layout with the fewest conflicts in all accesses together: plain rows if they have none, then swizzled,
/// then padded ones. Every vector is aligned in it, and all addresses are as `split` needs them.
SharedLayout choose(const ir::Shape& shape, int element_bytes, const std::vector<SharedAccess>& accesses,
                    const Target& target, const SharedForms& forms = {});

/// A shared layout, and which of several ways to write the tile goes with it.
struct SharedChoice {
    SharedLayout shared;
    std::size_t writer = 0;
};
/// As `choose`, together with one of the writers: first those named first.
SharedChoice choose(const ir::Shape& shape, int element_bytes, const std::vector<SharedAccess>& readers,
                    const std::vector<SharedAccess>& writers, const Target& target, const SharedForms& forms);

/// The layouts that differ from this one only in which lanes stand where. Lanes that are served together can so be
/// spread over rows and columns without another address being touched by a warp.
std::vector<Layout> lane_orders(const Layout& layout);

/// Rows without gaps.
SharedLayout dense(const ir::Shape& shape, int element_bytes);
/// Counted in elements instead of bytes, as subscripts are.
SharedLayout in_elements(SharedLayout shared);

/// The address of a thread's register is (base ^ flip) + add, where base is that of the first register of its part.
struct SharedOffset {
    std::int64_t flip = 0, add = 0;
};
/// One for each register. None where a register's address cannot be had like that.
std::optional<std::vector<SharedOffset>> split(const Layout& layout, const SharedLayout& shared);

/// C expressions of unsigned integers: the byte of an element, given its row and its column's byte, and that of a
/// thread's first register of a part.
std::string byte_expression(const SharedLayout& shared, const std::string& row, const std::string& column_byte);
std::string base_expression(const Part& part, const SharedLayout& shared, std::string_view lane, std::string_view warp);

}  // namespace kiln::codegen::gpu
