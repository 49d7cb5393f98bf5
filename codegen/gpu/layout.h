// Where the elements of a tile live: which thread of a block holds each of them, and in which of its registers.
//
// A place is three numbers: the *register* of a thread, the *lane* of the thread within its warp, and the *warp* within
// the block. A layout says which element each place holds. It is made of *digits*: each of the three numbers is written
// in a mixed radix, and each of its digits moves along one axis of the tile by a fixed stride, or along none (then the
// element is repeated: a *broadcast*). The element of a place is the sum of its digits' moves.
//
// Worked example: a tile of 4 x 12 elements, 4 lanes, 2 warps.
//
//   registers  {2, axis 1, stride 1}  {3, axis 1, stride 4}      written in this order: the first digit is the fastest
//   lanes      {2, axis 1, stride 2}  {2, axis 0, stride 1}
//   warps      {2, axis 0, stride 2}
//
//                    column 0       1       2       3       4       5    ...
//   row 0, warp 0      l0 r0   l0 r1   l1 r0   l1 r1   l0 r2   l0 r3   ...  to l1 r5
//   row 1, warp 0      l2 r0   l2 r1   l3 r0   l3 r1   l2 r2   l2 r3   ...
//   row 2, warp 1      l0 r0   l0 r1   l1 r0   ...
//
// Register 3, lane 2, warp 1: register 3 = 1 + 2 * 1 moves 1 + 4 columns, lane 2 = 0 + 2 * 1 moves one row, warp 1 two
// rows: element (3, 5).
//
// From the inside out a layout is
//   - an *atom*: what hardware fixes or what one access takes; its digits are bits (a vector of registers, the operand
//   of a
//     matrix instruction, the lanes of a coalesced access),
//   - then the warps, directly outside the atom along each axis,
//   - then whole *repeats* in registers, any number of them, so that 80, 96, 160 or 192 are natural extents.
// Warps are interleaved and not blocked because all repeats of a warp then share the address bits below them, which is
// what lets a swizzled address be (base ^ x) + constant (see `split` in shared_layout.h).
//
// Rules that every layout obeys (`verify`):
//   - Along each axis the strides of the digits, sorted, are 1 and then the product of the counts before: the digits
//   along
//     an axis are a mixed radix themselves, so that each element has exactly one place (and its repetitions).
//   - Digits of lanes are bits (their count is 2), since lanes exchange by the bits of their number.
//   - Together they cover a box at least as large as the tile. Where an extent is no multiple of the atom the box is
//     larger (111 is covered by 112): what lies outside the tile has to be guarded by its coordinates.
//   - An axis may mix atoms: a layout is then several *parts* side by side, each with digits of its own and consecutive
//     registers. Head size 80 over matrix instructions 32 deep is 2 x 32 and 16.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/type.h"

namespace kiln::codegen::gpu {

/// An element of a tile, one coordinate an axis.
using Coordinates = ir::Shape;

inline constexpr int kBroadcast = -1;

/// One digit of a register, lane or warp number: it takes the values 0 ... count - 1.
struct Digit {
    int count = 2;
    int axis = kBroadcast;
    std::int64_t stride = 0;  ///< elements along the axis for each step; 0 for a broadcast
    friend bool operator==(const Digit&, const Digit&) = default;
};
using Digits = std::vector<Digit>;  ///< the fastest first

/// A box of the tile with digits of its own.
struct Part {
    Coordinates origin;
    Digits registers, lanes, warps;
    friend bool operator==(const Part&, const Part&) = default;
};

/// The number of values that the digits spell.
int count(const Digits& digits);

struct Place {
    int reg = 0, lane = 0, warp = 0;
    friend bool operator==(const Place&, const Place&) = default;
};

class Layout {
public:
    Layout() = default;
    /// Brought into one form, in which equal layouts are equal: no digits of count 1, neighbouring register and warp
    /// digits joined where one continues the other.
    Layout(ir::Shape shape, std::vector<Part> parts);

    const ir::Shape& shape() const { return shape_; }
    const std::vector<Part>& parts() const { return parts_; }
    int registers() const;  ///< of a thread, all parts together
    int lanes() const;
    int warps() const;

    Coordinates at(Place place) const;
    /// The place of an element whose broadcast digits are 0. None beyond the box that is covered.
    std::optional<Place> find(const Coordinates& element) const;
    bool contains(const Coordinates& element) const;  ///< whether it lies inside the tile
    std::int64_t covered(int axis) const;             ///< length of the box; not less than the tile's extent
    /// Whether no place lies outside the tile.
    bool exact() const;

    /// Bits of the lane number, and the part of the warps, that repeat elements held elsewhere: only the threads in
    /// which all of them are 0 need to write to memory.
    int repeated_lanes() const;
    Digits repeated_warps() const;  ///< stride: of the warp number

    friend bool operator==(const Layout&, const Layout&) = default;

private:
    ir::Shape shape_;
    std::vector<Part> parts_;
};

/// Throws support::InternalError where a rule of the header is broken.
void verify(const Layout& layout);

/// For tests and messages: `[4, 12] registers 2@1*1 3@1*4 lanes 2@1*2 2@0*1 warps 2@0*2`.
std::string to_string(const Layout& layout);

// How layouts are made.

/// The warps of a block along an axis, or (kBroadcast) repeating it.
struct WarpAxis {
    int count = 1;
    int axis = kBroadcast;
};

/// What an instruction fixes: a bit of the register or lane number for each digit.
Layout atom(const ir::Shape& shape, const Digits& registers, const Digits& lanes);
/// An atom in which each lane holds a box of `registers` elements, and `lanes` of them stand along each axis; the last
/// axis is the fastest in both.
Layout box_atom(const ir::Shape& registers, const ir::Shape& lanes);
/// Every thread holds the whole tile.
Layout repeated(const ir::Shape& shape, int lanes, int warps);

/// Warps directly outside the atom, the first the fastest, then repeats, the last axis the fastest; rounded up to whole
/// repeats.
Layout cover(const Layout& atom, const std::vector<WarpAxis>& warps, const ir::Shape& shape);
/// The same where it divides.
std::optional<Layout> tile(const Layout& atom, const std::vector<WarpAxis>& warps, const ir::Shape& shape);
/// `first`, and behind it along the axis `second`. Both are exact and agree in the other axes.
Layout join(const Layout& first, const Layout& second, int axis);

/// For accesses to global memory: vectors of `vector` elements along the axis that `order` names first (the others
/// follow as they are faster in memory; row-major if it is empty), then as many lanes as are useful along it. Among the
/// ways to share out lanes and warps it has the fewest registers, and of those the longest runs. Lanes and warps for
/// which there is nothing left repeat. Covers: a shape that does not divide is to be guarded.
Layout coalesced(const ir::Shape& shape, int vector, int lanes, int warps, const std::vector<int>& order = {});

/// The same elements under other coordinates along an axis: what a thread holds in registers along it becomes
/// contiguous. Legal for the contraction axis of a product where both operands have the same digits along it, since
/// then their elements still meet. Two steps of 16x16x16 matrix products are thus fed by one read of 8 elements.
Layout relabel(const Layout& layout, int axis);

// Layouts of an op's result or operand, given the other.

/// Axis i of the result is axis axes[i].
Layout permute(const Layout& layout, const ir::Shape& axes);
/// The same places in row-major order under another shape. None where a digit would have to move along two axes.
std::optional<Layout> reshape(const Layout& layout, const ir::Shape& shape);
/// An axis of length 1 becomes `extent` repetitions in registers behind all others.
Layout broadcast(const Layout& layout, int axis, std::int64_t extent);

struct Slice {
    Layout layout;                 ///< the axis has length 1
    std::vector<int> register_of;  ///< for each register of the whole, the slice's with the same other coordinates
};
/// What is left when the elements along an axis become one: its register digits vanish, its lanes and warps repeat.
/// None where the parts of a mixed axis disagree.
std::optional<Slice> slice(const Layout& layout, int axis);

/// How elements along an axis are combined: first registers, then lanes with lane ^ mask for each mask in turn, then
/// the warps whose number differs in a digit. All threads then hold the result, as `result` says.
struct Reduction {
    Layout result;                            ///< the axis has length 1
    std::vector<std::vector<int>> registers;  ///< of the source, for each register of the result
    std::vector<int> lane_masks;
    Digits warps;  ///< stride: of the warp number; axis is that of the reduction
};
/// None where the parts of a mixed axis disagree.
std::optional<Reduction> reduce(const Layout& layout, int axis);

// From one layout to another.

enum class Movement : std::uint8_t {
    Same,       ///< nothing to do
    Registers,  ///< each thread renames its registers
    Shuffles,   ///< within warps
    Shared,     ///< through shared memory
};

/// One register of the destination. -1 stands for an element outside the tile.
struct Exchange {
    int lane = 0;                ///< exclusive-or'ed to the source lane
    std::vector<int> registers;  ///< of the source; entry i where the bits of `selectors` in the reader's lane spell i
};

struct Conversion {
    Movement movement = Movement::Same;
    std::vector<int> registers;       ///< Registers: of the source, for each of the destination; -1 as above
    std::vector<int> lane_bits;       ///< Shuffles: what each bit of the reader's lane adds (by ^) to the source lane
    std::vector<int> selectors;       ///< Shuffles: bits of the reader's lane, as masks, that choose a source register
    std::vector<Exchange> exchanges;  ///< Shuffles: for each register of the destination

    /// Whether an exchange reads another lane at all.
    bool moves_lanes(const Exchange& exchange) const;
};

/// The cheapest way. A lane that needs one of several source registers reads them all and selects; above four, shared
/// memory is cheaper.
Conversion plan(const Layout& source, const Layout& destination);

/// How many registers, from each multiple of that number on, hold neighbours along the last axis: a power of two, at
/// most `most`. 1 of a layout of several parts.
int contiguous_along_rows(const Layout& layout, int most);

/// The same places with registers renumbered, so that neighbours along the last axis come first.
Layout neighbours_first(const Layout& layout);

// Text.

/// A C expression of unsigned integers: how far the number called `name` moves along `axis`. "0" if it does not.
std::string expression(const Digits& digits, int axis, std::string_view name);
/// Of a part: the origin, the lane's and the warp's moves along the axis; the registers' are added to it.
std::string expression(const Part& part, int axis, std::string_view lane, std::string_view warp);
/// How far a register of a part (counted from its first) moves along the axis.
std::int64_t offset(const Digits& digits, int axis, int number);

}  // namespace kiln::codegen::gpu
