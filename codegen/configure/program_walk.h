// What a cost model knows of one program of a phase while it walks over its ops: scalars, lengths of loops, sizes of
// views and which part of a tile exists. The order of the walk and what ops cost are the target's matter.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "ir/launch.h"

namespace kiln::codegen::configure {

class ProgramWalk {
public:
    /// A loop whose length depends on data: what else could be assumed of it.
    static constexpr std::int64_t kUnknownTrips = 16;

    ProgramWalk(const ir::Kernel& kernel, const ir::Launch& launch, std::span<const ir::Argument> arguments,
                std::size_t phase);

    /// Program `index`, in the order of program_offsets().
    void begin(std::int64_t index);

    /// To be called for every op without blocks, in order: evaluates scalars and sizes of views.
    void note(const ir::Op& op);
    /// How often a loop runs. Its body may be walked next: it stands at the middle of the loop, and what it carries is
    /// not known there.
    std::int64_t enter_loop(const ir::Op& loop);
    /// How often, of once, an `if` takes its first or second branch.
    double share(const ir::Op& choice, std::size_t branch) const;

    std::optional<std::int64_t> number(ir::ValueId value) const;
    std::int64_t trips(const ir::Op& loop) const;
    /// How many elements of a slice lie inside its tensor; along the axis that `loop` walks, all it walks.
    std::int64_t present(const ir::Op& access, std::size_t axis, const ir::Op* loop = nullptr) const;
    /// Bytes between neighbours along an axis of the tensor that an op accesses, 0 for the axis of neighbours in
    /// memory.
    std::int64_t byte_stride(const ir::Op& access, std::size_t axis) const;
    /// The axis of neighbours in memory, of a parameter or scratch tensor; -1 if none is known.
    int unit_axis(ir::ValueId root) const;

private:
    struct Tensor {
        int unit_axis = -1;
        ir::Shape strides;  ///< in elements
    };

    void evaluate(const ir::Op& op);
    void note_view(const ir::Op& op);

    const ir::Kernel& kernel_;
    const ir::Launch& launch_;
    std::size_t phase_;
    std::vector<std::optional<ir::Scalar>> launch_scalars_, scalars_;
    std::map<std::uint32_t, Tensor> roots_;     ///< parameters and scratch tensors, by value
    std::map<std::uint32_t, ir::Shape> sizes_;  ///< of tensors and views, by value
};

/// Of an element in memory.
double bytes_of(ir::ScalarType type);

}  // namespace kiln::codegen::configure
