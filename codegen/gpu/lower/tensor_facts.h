// What is known at compile time about each tensor and view of a phase: the memory behind it, its unit axis, alignment,
// and the values that are its extents.
#pragma once

#include <map>
#include <optional>

#include "ir/facts.h"

namespace kiln::codegen::gpu {

/// Scratch memory begins at a multiple of this many bytes.
inline constexpr std::uint32_t kScratchAlignment = 16;

struct TensorKnowledge {
    ir::ValueId root;                  ///< the parameter or scratch tensor whose memory it is
    int unit_axis = -1;                ///< the axis whose stride is 1, or -1 if none is known
    std::int64_t alignment = 1;        ///< bytes that divide its address and the strides of the other axes
    bool fits_32_bits = false;         ///< offsets of elements inside, in bytes, are below 2^31
    std::vector<ir::ValueId> extents;  ///< an i64 value equal to each extent; invalid where none is known
};

/// An access along the unit axis of its tensor.
struct MemoryRun {
    std::uint32_t tile_axis = 0;  ///< of the tile that is read or written
    int vector = 1;               ///< elements that may be moved at once: aligned, contiguous, within one row
};

class TensorFacts {
public:
    TensorFacts(const ir::Kernel& kernel, const ir::Facts& facts, const ir::Phase& phase);

    const TensorKnowledge& operator[](ir::ValueId tensor) const { return known_.at(tensor.index); }
    /// Of a Load, Store or Atomic; none if no slice runs along a unit axis.
    std::optional<MemoryRun> run_of(const ir::Op& op) const;
    /// Whether start ... start + length - 1 lies inside the tensor's axis, for every launch.
    bool proves_inside(ir::ValueId tensor, std::size_t axis, ir::ValueId start, std::int64_t length) const;

private:
    void add_arguments(const ir::Phase& phase);
    void add_blocks(ir::BlockId block);
    void add_view(const ir::Op& op);
    TensorKnowledge of_parameter(std::size_t parameter) const;
    bool stays_below(ir::ValueId start, std::int64_t length, ir::ValueId extent) const;

    const ir::Kernel& kernel_;
    const ir::Facts& facts_;
    std::map<std::uint32_t, TensorKnowledge> known_;
    /// The value that a grid axis or a loop index stays below.
    std::map<std::uint32_t, ir::ValueId> upper_;
};

}  // namespace kiln::codegen::gpu
