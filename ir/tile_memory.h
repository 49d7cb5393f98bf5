// How the interpreter reaches memory: views of tensors, the elements that a load or store names, and single elements of
// every width. Offsets are computed modulo 2^64, so that an absurd index is outside and never undefined.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "ir/kernel.h"
#include "ir/launch.h"

namespace kiln::ir {

static_assert(std::endian::native == std::endian::little, "tiles and tensors are little-endian");

/// A tensor while a program runs: element [i, j, ...] lies `offset + i * strides[0] + j * strides[1] + ...` elements
/// from `data`.
struct MemoryView {
    ScalarType element = ScalarType::F32;
    std::byte* data = nullptr;
    std::uint64_t offset = 0;
    Shape sizes;
    Shape strides;
};
MemoryView whole_view(const TensorView& tensor);

/// The view that an access of Index, Range and All axes makes; `operands` are their values in order. Ranges are clamped
/// to the axis; an index outside its axis gives a view all of whose sizes are 0.
MemoryView narrow_view(const MemoryView& tensor, const AccessAttribute& access,
                       const std::vector<std::int64_t>& operands);

/// The elements that a load or store names. Give the tensor's axes in order, then visit.
class Footprint {
public:
    void begin(const MemoryView& tensor);
    void add_index(std::int64_t index);
    void add_slice(std::int64_t start, std::int64_t length);
    /// `index(k)` is the k-th element of the index tile in row-major order.
    template <class Index>
    void add_gather(std::size_t count, Index index) {
        Segment& segment = gather_segment(count);
        for (std::size_t k = 0; k < count; ++k) add_place(segment, k, index(k));
        ++axis_;
    }

    /// Calls visit(position, inside, offset) for every element of the tile in row-major order. `offset` counts elements
    /// from the tensor's data and has no meaning where the element is outside.
    template <class Visit>
    void visit(Visit visit) const;

private:
    /// One axis of the tile, or all axes of the index tiles together: what each position adds to the offset, and
    /// whether it is inside.
    struct Segment {
        std::vector<std::uint64_t> offsets;
        std::vector<std::uint8_t> inside;
    };

    Segment& add_segment(std::size_t count);
    Segment& gather_segment(std::size_t count);
    void add_place(Segment& segment, std::size_t position, std::int64_t index) const {
        // Negative indices become large ones.
        const bool inside = static_cast<std::uint64_t>(index) < static_cast<std::uint64_t>(tensor_->sizes[axis_]);
        segment.inside[position] &= static_cast<std::uint8_t>(inside);
        segment.offsets[position] +=
            static_cast<std::uint64_t>(index) * static_cast<std::uint64_t>(tensor_->strides[axis_]);
    }

    const MemoryView* tensor_ = nullptr;
    std::size_t axis_ = 0;
    std::uint64_t base_ = 0;
    bool inside_ = true;
    std::array<Segment, kMaxRank> segments_;  ///< their memory is kept between uses
    std::size_t count_ = 0;
    std::size_t gather_ = kMaxRank;  ///< the segment of the index tiles; kMaxRank if there is none yet
};

template <class Visit>
void Footprint::visit(Visit visit) const {
    if (count_ == 0) {
        visit(std::size_t{0}, inside_, base_);
        return;
    }
    const Segment& last = segments_[count_ - 1];
    std::array<std::size_t, kMaxRank> counter{};
    std::size_t position = 0;
    while (true) {
        std::uint64_t offset = base_;
        bool inside = inside_;
        for (std::size_t s = 0; s + 1 < count_; ++s) {
            offset += segments_[s].offsets[counter[s]];
            inside = inside && segments_[s].inside[counter[s]] != 0;
        }
        for (std::size_t k = 0; k < last.offsets.size(); ++k) {
            visit(position++, inside && last.inside[k] != 0, offset + last.offsets[k]);
        }
        std::size_t s = count_ - 1;
        while (s > 0 && ++counter[s - 1] == segments_[s - 1].offsets.size()) counter[--s] = 0;
        if (s == 0) return;
    }
}

// Access to single elements in memory, as tiles hold them. `Tile` is the form in a tile: the pattern in its own width,
// 4-bit types in a byte.

template <class Pattern>
struct WholeElement {
    using Tile = Pattern;
    static Tile load(const std::byte* data, std::uint64_t offset) {
        Pattern value;
        std::memcpy(&value, data + static_cast<std::int64_t>(offset * sizeof(Pattern)), sizeof(Pattern));
        return value;
    }
    static void store(std::byte* data, std::uint64_t offset, Tile value) {
        std::memcpy(data + static_cast<std::int64_t>(offset * sizeof(Pattern)), &value, sizeof(Pattern));
    }
};

struct BoolElement {
    using Tile = std::uint8_t;
    static Tile load(const std::byte* data, std::uint64_t offset) {
        return data[static_cast<std::int64_t>(offset)] != std::byte{0} ? 1 : 0;
    }
    static void store(std::byte* data, std::uint64_t offset, Tile value) {
        data[static_cast<std::int64_t>(offset)] = std::byte{value};
    }
};

/// Two elements a byte, the even one in the low bits.
struct HalfByteElement {
    using Tile = std::uint8_t;
    static Tile load(const std::byte* data, std::uint64_t offset) {
        const auto byte = std::to_integer<std::uint8_t>(data[static_cast<std::int64_t>(offset) >> 1]);
        return (offset & 1) != 0 ? byte >> 4 : byte & 0xf;
    }
    static void store(std::byte* data, std::uint64_t offset, Tile value) {
        std::byte& byte = data[static_cast<std::int64_t>(offset) >> 1];
        const bool high = (offset & 1) != 0;
        byte = (byte & std::byte{high ? std::uint8_t{0x0f} : std::uint8_t{0xf0}}) |
               static_cast<std::byte>(high ? value << 4 : value);
    }
};

/// Calls `use` with a WholeElement, BoolElement or HalfByteElement, whichever the type takes in memory.
template <class Use>
void with_element(ScalarType type, Use use) {
    if (type == ScalarType::Bool) return use(BoolElement{});
    switch (bit_width(type)) {
        case 4:
            return use(HalfByteElement{});
        case 8:
            return use(WholeElement<std::uint8_t>{});
        case 16:
            return use(WholeElement<std::uint16_t>{});
        case 32:
            return use(WholeElement<std::uint32_t>{});
        default:
            return use(WholeElement<std::uint64_t>{});
    }
}

}  // namespace kiln::ir
