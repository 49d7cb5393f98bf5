// The work of one program of a phase, as the cost model counts it. Private to configure.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "codegen/configure/machine.h"
#include "codegen/cpu/plan.h"
#include "ir/launch.h"

namespace kiln::codegen::configure {

/// Cycles of one thread and what they were spent on.
struct Work {
    double dot_cycles = 0, packing_cycles = 0, vector_cycles = 0, buffer_cycles = 0, tensor_cycles = 0, call_cycles = 0;
    double dot_operations = 0, vector_operations = 0;
    double ideal_dot_cycles = 0;  ///< if every slot of the multipliers held a wanted product
    double tensor_bytes = 0;      ///< asked of tensors

    double cycles() const {
        return dot_cycles + packing_cycles + vector_cycles + buffer_cycles + tensor_cycles + call_cycles;
    }
    void add(const Work& other, double times);
};

/// Walks one phase of a kernel.
class WorkCounter {
public:
    WorkCounter(const ir::Kernel& kernel, const ir::Launch& launch, std::span<const ir::Argument> arguments,
                std::size_t phase, const CpuMachine& machine);

    /// Of program `index`, in the order of program_offsets().
    Work count(std::int64_t index);

private:
    struct Extents {
        ir::Shape sizes;
        ir::ValueId root;  ///< the parameter or scratch tensor below
    };
    /// How a nest walks over a tile.
    struct Lanes {
        double points = 0;  ///< evaluations of an element of the tile
        int axis = -1;      ///< the tile's axis along the vector lanes; -1 if the lanes repeat one element
    };
    /// A matrix that a dot reads: how much of it exists.
    struct Matrix {
        std::int64_t rows = 0, columns = 0;
        bool unit_rows = false;     ///< the stride along columns is 1
        bool unit_columns = false;  ///< the stride along rows is 1
        bool in_tensor = false;
    };

    void walk(ir::BlockId block, double times);
    void walk_op(const ir::Op& op, double times);
    void walk_for(const ir::Op& op, double times);
    void walk_if(const ir::Op& op, double times);
    void evaluate_scalar(const ir::Op& op);
    void note_view(const ir::Op& op);
    void count_nest(const cpu::Nest& nest, double times);
    void count_expression(ir::ValueId value, double times, Lanes lanes, std::vector<bool>& seen);
    void count_access(const ir::Op& op, double times, Lanes lanes);
    Lanes operand_lanes(const ir::Op& op, Lanes lanes) const;
    std::int64_t lane_stride(const ir::Op& op, std::size_t axis) const;
    void count_dot(const cpu::DotPlan& dot, double times, const ir::Op* loop);
    /// Counts the copy that an operand needs, too.
    Matrix operand(const cpu::DotOperand& operand, double times, const ir::Op* loop);
    std::int64_t present(const ir::Op& load, std::size_t axis, const ir::Op* loop) const;
    std::optional<std::int64_t> number(ir::ValueId value) const;
    std::int64_t trips(const ir::Op& loop) const;
    double buffer_rate() const;

    const ir::Kernel& kernel_;
    const ir::Launch& launch_;
    std::size_t phase_;
    const CpuMachine& machine_;
    cpu::Plan plan_;
    std::vector<std::optional<ir::Scalar>> launch_scalars_, scalars_;
    std::map<std::uint32_t, Extents> tensors_;
    std::map<std::uint32_t, int> unit_axes_;      ///< of parameters, by value
    std::map<std::uint32_t, ir::Shape> strides_;  ///< of parameters and scratch tensors, by value; in elements
    std::vector<bool> read_;                      ///< loads that this program has made, by result
    Work work_;
};

/// Vector instructions that an op takes an element vector. Polynomials of codegen/cpu/vector_math.cpp by their length.
double instructions(ir::OpKind kind);

}  // namespace kiln::codegen::configure
