#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace emulated_gpu {

inline constexpr size_t kMostDimensions = 5;
inline constexpr uint64_t kTensorMapMagic = 0x70616d726f736e65;

/// How the 16-byte chunks of shared memory are permuted; the numbers are those of CUtensorMapSwizzle.
enum class Swizzle : uint8_t { None, Bytes32, Bytes64, Bytes128 };

/// A tensor map as the stand-in driver encodes it into the 128 bytes of a CUtensorMap.
struct TensorMap {
    uint64_t magic = 0;
    uint64_t address = 0;
    std::array<uint64_t, kMostDimensions> extent{};  // elements
    std::array<uint64_t, kMostDimensions> stride{};  // bytes from element to element; of dimension 0 the element's size
    std::array<uint16_t, kMostDimensions> box{};     // elements to traverse
    std::array<uint8_t, kMostDimensions> step{};     // of which each such is copied
    uint8_t rank = 0;
    uint8_t fill_bytes = 0;  // 0: what is out of bounds is zeros; else NaNs of floats of this many bytes
    Swizzle swizzle = Swizzle::None;

    uint64_t element_bytes() const { return stride[0]; }
    /// Elements copied along a dimension.
    uint64_t count(size_t dimension) const {
        return (box[dimension] + uint64_t{step[dimension]} - 1) / step[dimension];
    }
    uint64_t box_bytes() const;
};
static_assert(sizeof(TensorMap) <= 128);

/// The address of a 16-byte chunk once its bits are permuted (PTX ISA, "Swizzling Modes"): the lowest address bits
/// above the chunk are exchanged with (xor) those three above them.
uint64_t swizzled(uint64_t address, Swizzle swizzle);

/// One 16-byte chunk of a box: where it lies in the box, and which of its bytes lie in the tensor.
struct BoxChunk {
    uint64_t offset = 0;   // in shared memory, before swizzling
    uint64_t address = 0;  // in global memory, of the first byte inside
    uint32_t first = 0;    // bytes [first, last) are inside
    uint32_t last = 0;
};
/// Calls `visit(chunk)` for each chunk of the box at the coordinates.
template <class Visit>
void for_box_chunks(const TensorMap& map, const std::array<int32_t, kMostDimensions>& at, Visit&& visit) {
    const uint64_t element = map.element_bytes();
    const uint64_t row_bytes = map.box[0] * element;
    std::array<uint64_t, kMostDimensions> index{};
    uint64_t offset = 0;
    while (true) {
        uint64_t row = map.address;
        bool inside = true;
        for (size_t d = 1; d < map.rank; ++d) {
            const int64_t coordinate = at[d] + static_cast<int64_t>(index[d] * map.step[d]);
            inside &= coordinate >= 0 && static_cast<uint64_t>(coordinate) < map.extent[d];
            row += static_cast<uint64_t>(coordinate) * map.stride[d];
        }
        const int64_t begin = int64_t{at[0]} * static_cast<int64_t>(element);
        const auto end = static_cast<int64_t>(map.extent[0] * element);
        for (uint64_t byte = 0; byte < row_bytes; byte += 16, offset += 16) {
            BoxChunk chunk;
            chunk.offset = offset;
            const int64_t start = begin + static_cast<int64_t>(byte);
            const int64_t first = start < 0 ? 0 : start;
            const int64_t last = start + 16 < end ? start + 16 : end;
            if (inside && first < last) {
                chunk.first = static_cast<uint32_t>(first - start);
                chunk.last = static_cast<uint32_t>(last - start);
                chunk.address = row + static_cast<uint64_t>(first);
            }
            visit(chunk);
        }
        size_t d = 1;
        for (; d < map.rank; ++d) {
            if (++index[d] < map.count(d)) break;
            index[d] = 0;
        }
        if (d >= map.rank) return;
    }
}
/// The bytes of a chunk that lie outside the tensor.
void fill_outside(const TensorMap& map, const BoxChunk& chunk, uint8_t* bytes);

}  // namespace emulated_gpu
