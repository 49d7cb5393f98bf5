// The work of one program of a phase, as the cost model counts it. Private to configure.
#pragma once

#include <span>
#include <vector>

#include "codegen/configure/machine.h"
#include "codegen/configure/program_walk.h"
#include "codegen/cpu/plan.h"

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
    void count_nest(const cpu::Nest& nest, double times);
    void count_expression(ir::ValueId value, double times, Lanes lanes, std::vector<bool>& seen);
    void count_access(const ir::Op& op, double times, Lanes lanes);
    Lanes operand_lanes(const ir::Op& op, Lanes lanes) const;
    void count_dot(const cpu::DotPlan& dot, double times, const ir::Op* loop);
    /// Counts the copy that an operand needs, too.
    Matrix operand(const cpu::DotOperand& operand, double times, const ir::Op* loop);
    double buffer_rate() const;

    const ir::Kernel& kernel_;
    std::size_t phase_;
    const CpuMachine& machine_;
    cpu::Plan plan_;
    ProgramWalk program_;
    std::vector<bool> read_;  ///< loads that this program has made, by result
    Work work_;
};

}  // namespace kiln::codegen::configure
