// The work of one program of a phase, a block of threads, as the cost model counts it on a GPU. Private to configure.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "codegen/configure/gpu_machine.h"
#include "codegen/configure/program_walk.h"
#include "codegen/gpu/lower/choose_matrix_product.h"
#include "codegen/gpu/source.h"

namespace kiln::codegen::configure {

/// Parts of a unit that work side by side; multiply-adds and other vector work are done by the same one.
enum class GpuPart : std::uint8_t { Matrix, MultiplyAdds, Vector, Shared, Cache, Spills };
inline constexpr std::size_t kGpuParts = 6;

/// What a block takes of a unit that it has for itself.
struct GpuWork {
    std::array<double, kGpuParts> part_cycles{};  ///< for which it occupies each part
    double latency_cycles = 0;  ///< until loads, barriers and reductions have come back, where no other block works
    double dot_operations = 0, vector_operations = 0;
    double ideal_dot_cycles = 0;  ///< if every slot of the multipliers held a wanted product
    double tensor_bytes = 0;      ///< asked of tensors
    double moved_bytes = 0;       ///< in whole sectors

    double& operator[](GpuPart part) { return part_cycles[static_cast<std::size_t>(part)]; }
    double operator[](GpuPart part) const { return part_cycles[static_cast<std::size_t>(part)]; }
    /// The busiest part counts whole; so much of the others (`exposed`, 0 to 1) does not happen beside it.
    double cycles(double exposed) const;
    /// What a part adds to that.
    double share(GpuPart part, double exposed) const;
    void add(const GpuWork& other, double times);
};

/// Walks one phase of a kernel.
class GpuWorkCounter {
public:
    GpuWorkCounter(const ir::Kernel& kernel, const ir::Launch& launch, std::span<const ir::Argument> arguments,
                   std::size_t phase, const gpu::PhaseSource& source, const GpuMachine& machine);

    /// Of program `index`, in the order of program_offsets().
    GpuWork count(std::int64_t index);

private:
    /// What a block waits for in one pass through some ops.
    struct Waits {
        bool loads = false;  ///< all of a pass are under way together
        double others = 0;   ///< cycles
    };

    Waits walk(ir::BlockId block, double times);
    Waits walk_op(const ir::Op& op, double times);
    Waits walk_loop(const ir::Op& op, double times);
    Waits walk_if(const ir::Op& op, double times);
    Waits count_dot(const ir::Op& op, double times);
    void count_matrix(const ir::Op& op, const gpu::MatrixProduct& product, double rate, double times);
    void count_multiply_adds(const ir::Op& op, double times);
    /// Operands of a dot lie in shared memory, once each.
    void count_staging(ir::ValueId operand);
    Waits count_access(const ir::Op& op, double times);
    void count_elements(double elements, ir::ScalarType type, double instructions, double times);
    std::int64_t wanted(ir::ValueId tile, std::size_t axis) const;
    double threads() const { return source_.threads; }
    double warps() const { return threads() / machine_.target.lanes; }

    const ir::Kernel& kernel_;
    std::size_t phase_;
    const gpu::PhaseSource& source_;
    const GpuMachine& machine_;
    ProgramWalk program_;
    std::vector<double> times_;       ///< that the op of a value ran, by value
    std::set<std::uint32_t> staged_;  ///< values that lie in shared memory
    GpuWork work_;
};

}  // namespace kiln::codegen::configure
