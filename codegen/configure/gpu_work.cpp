#include "codegen/configure/gpu_work.h"

#include <algorithm>
#include <cmath>

#include "codegen/configure/instructions.h"
#include "codegen/cpu/plan.h"
#include "ir/tile_ops.h"

namespace kiln::codegen::configure {

using ir::OpKind;

namespace {

// Instructions of a thread for the program as a whole, for an access and for each vector of it (addresses, guards), and
// for a turn of a loop: as the emulated devices count them in the library's products.
constexpr double kProgramInstructions = 100, kAccessInstructions = 25, kVectorInstructions = 4, kLoopInstructions = 12;
// Instructions beside a matrix instruction: it is issued itself, and its operands are read.
constexpr double kMatrixCompanions = 2;
// The widest access of a thread.
constexpr double kWidestAccess = 16;
// Cycles of a step of a reduction within a warp.
constexpr double kShuffleCycles = 25;

double elements_of(const ir::Kernel& kernel, ir::ValueId value) {
    return static_cast<double>(kernel.type(value).shape.count());
}

double whole_sectors(double bytes, double sector) {
    return std::ceil(bytes / sector) * sector;
}

/// Parts that are one: by the first of them.
GpuPart unit_of(GpuPart part) {
    return part == GpuPart::Vector ? GpuPart::MultiplyAdds : part;
}

GpuPart busiest(const GpuWork& work) {
    std::array<double, kGpuParts> cycles{};
    for (std::size_t i = 0; i < kGpuParts; ++i) {
        cycles[static_cast<std::size_t>(unit_of(static_cast<GpuPart>(i)))] += work.part_cycles[i];
    }
    return static_cast<GpuPart>(std::max_element(cycles.begin(), cycles.end()) - cycles.begin());
}

}  // namespace

double GpuWork::cycles(double exposed) const {
    double sum = 0;
    for (std::size_t i = 0; i < kGpuParts; ++i) sum += share(static_cast<GpuPart>(i), exposed);
    return sum;
}

double GpuWork::share(GpuPart part, double exposed) const {
    return (*this)[part] * (unit_of(part) == busiest(*this) ? 1 : exposed);
}

void GpuWork::add(const GpuWork& other, double times) {
    for (std::size_t i = 0; i < kGpuParts; ++i) part_cycles[i] += other.part_cycles[i] * times;
    latency_cycles += other.latency_cycles * times;
    dot_operations += other.dot_operations * times;
    vector_operations += other.vector_operations * times;
    ideal_dot_cycles += other.ideal_dot_cycles * times;
    tensor_bytes += other.tensor_bytes * times;
    moved_bytes += other.moved_bytes * times;
}

GpuWorkCounter::GpuWorkCounter(const ir::Kernel& kernel, const ir::Launch& launch,
                               std::span<const ir::Argument> arguments, std::size_t phase,
                               const gpu::PhaseSource& source, const GpuMachine& machine)
    : kernel_(kernel),
      phase_(phase),
      source_(source),
      machine_(machine),
      program_(kernel, launch, arguments, phase),
      times_(kernel.values.size(), 0) {}

GpuWork GpuWorkCounter::count(std::int64_t index) {
    work_ = {};
    staged_.clear();
    program_.begin(index);
    count_elements(threads(), ir::ScalarType::I32, kProgramInstructions, 1);
    const Waits waits = walk(kernel_.phases[phase_].block, 1);
    work_.latency_cycles += (waits.loads ? machine_.memory_latency : 0) + waits.others;
    return work_;
}

GpuWorkCounter::Waits GpuWorkCounter::walk(ir::BlockId block, double times) {
    Waits waits;
    for (const ir::OpId id : kernel_[block].ops) {
        const ir::Op& op = kernel_[id];
        for (const ir::ValueId result : op.results) times_[result.index] = times;
        const Waits more = walk_op(op, times);
        waits.loads = waits.loads || more.loads;
        waits.others += more.others;
    }
    return waits;
}

GpuWorkCounter::Waits GpuWorkCounter::walk_op(const ir::Op& op, double times) {
    switch (op.kind) {
        case OpKind::For:
        case OpKind::While:
            return walk_loop(op, times);
        case OpKind::If:
            return walk_if(op, times);
        case OpKind::Dot:
            return count_dot(op, times);
        case OpKind::Load:
        case OpKind::Store:
            return count_access(op, times);
        case OpKind::Reduce:
            count_elements(elements_of(kernel_, op.operands[0]), kernel_.type(op.result()).element, 1, times);
            return {false, kShuffleCycles * std::log2(machine_.target.lanes) +
                               (warps() > 1 ? 2 * machine_.barrier_cycles : 0)};
        default:
            break;
    }
    program_.note(op);
    if (op.results.empty() || !kernel_.type(op.result()).is_tile()) return {};
    // Comparisons and conversions work on the wider side.
    ir::ScalarType type = kernel_.type(op.result()).element;
    for (const ir::ValueId operand : op.operands) {
        if (!kernel_.type(operand).is_tensor() && kernel_.type(operand).element == ir::ScalarType::F64)
            type = ir::ScalarType::F64;
    }
    if (ir::is_elementwise(op.kind)) work_.vector_operations += times * elements_of(kernel_, op.result());
    count_elements(elements_of(kernel_, op.result()), type, instructions(op.kind), times);
    return {};
}

GpuWorkCounter::Waits GpuWorkCounter::walk_loop(const ir::Op& op, double times) {
    const bool counts = op.kind == OpKind::For;
    const auto trips = static_cast<double>(counts ? program_.enter_loop(op) : ProgramWalk::kUnknownTrips);
    if (trips == 0) return {};
    const double turns = times * trips;
    const double before = work_.cycles(0);
    Waits waits;
    for (const ir::BlockId block : op.blocks) {
        const Waits more = walk(block, turns);
        waits = {waits.loads || more.loads, waits.others + more.others};
    }
    count_elements(threads(), ir::ScalarType::I32, kLoopInstructions, turns);
    const double spilled = source_.registers - gpu::registers_available(machine_.target, static_cast<int>(warps()));
    if (spilled > 0) work_[GpuPart::Spills] += turns * 2 * 4 * spilled * threads() / machine_.shared_bytes_per_cycle;
    // With several stages the turns before a load's use hide its latency.
    const double hidden = (source_.stages - 1) * (work_.cycles(0) - before) / turns;
    const double exposed = waits.loads ? std::max(0.0, machine_.memory_latency - hidden) : 0;
    work_.latency_cycles += turns * (exposed + waits.others);
    return {};
}

GpuWorkCounter::Waits GpuWorkCounter::walk_if(const ir::Op& op, double times) {
    Waits waits;
    for (const std::size_t branch : {0u, 1u}) {
        const double share = program_.share(op, branch);
        if (share == 0) continue;
        const Waits more = walk(op.blocks[branch], times * share);
        waits = {waits.loads || more.loads, waits.others + share * more.others};
    }
    return waits;
}

/// Each thread works on as many elements; those of a tile that is smaller than the block repeat it or wait.
void GpuWorkCounter::count_elements(double elements, ir::ScalarType type, double instructions, double times) {
    const double each = std::ceil(elements / threads());
    work_[GpuPart::Vector] += times * each * threads() * instructions / machine_.vector_rate(type);
}

/// How many of a tile's elements along an axis are not beyond the edge of the tensor that they are read from.
std::int64_t GpuWorkCounter::wanted(ir::ValueId tile, std::size_t axis) const {
    const std::int64_t whole = kernel_.type(tile).shape[axis];
    const ir::Op* op = kernel_.definition(tile);
    if (op == nullptr) return whole;
    if (op->kind == OpKind::Permute) {
        return wanted(op->operands[0], ir::attribute<ir::AxesAttribute>(*op).axes[axis]);
    }
    if (op->kind == OpKind::Convert) return wanted(op->operands[0], axis);
    if (op->kind != OpKind::Load) return whole;
    const auto& access = ir::attribute<ir::AccessAttribute>(*op);
    std::size_t tile_axis = 0;
    for (std::size_t i = 0; i < access.axes.size(); ++i) {
        if (access.axes[i].kind == ir::AxisKind::Gather) return whole;
        if (access.axes[i].kind != ir::AxisKind::Slice) continue;
        if (tile_axis++ == axis) return program_.present(*op, i);
    }
    return whole;
}

GpuWorkCounter::Waits GpuWorkCounter::count_dot(const ir::Op& op, double times) {
    const auto extent = [&](std::size_t operand, std::size_t axis) {
        return static_cast<double>(wanted(op.operands[operand], axis));
    };
    const double products = extent(0, 0) * std::min(extent(0, 1), extent(1, 0)) * extent(1, 1);
    work_.dot_operations += times * 2 * products;
    for (const std::size_t operand : {0u, 1u}) count_staging(op.operands[operand]);
    const auto matrix = gpu::choose_matrix_product(kernel_, op, machine_.target);
    const double matrix_rate = matrix ? machine_.matrix_rate(matrix->left, matrix->instruction->tf32) : 0;
    if (matrix_rate > 0) {
        count_matrix(op, *matrix, matrix_rate, times);
        work_.ideal_dot_cycles += times * products / matrix_rate;
    } else {
        count_multiply_adds(op, times);
        work_.ideal_dot_cycles += times * products / machine_.vector_rate(kernel_.type(op.result()).element);
    }
    // Its operands are written before and may be overwritten behind.
    return {false, 2 * machine_.barrier_cycles + machine_.shared_latency};
}

/// Warps share the result out in parts that are about square; each reads the rows and columns of its part.
void GpuWorkCounter::count_matrix(const ir::Op& op, const gpu::MatrixProduct& product, double rate, double times) {
    const ir::Shape& shape = kernel_.type(op.result()).shape;
    const auto depth = static_cast<double>(kernel_.type(op.operands[0]).shape[1]);
    const double products = elements_of(kernel_, op.result()) * depth;
    const double working = std::min<double>(warps(), gpu::most_matrix_warps(product, shape));
    const double simds = machine_.target.simds_per_unit;
    const double idle = std::min(warps(), simds) / std::min(working, simds);
    work_[GpuPart::Matrix] += times * idle * products / rate;
    const double edge = std::sqrt(elements_of(kernel_, op.result()) / working);
    for (const ir::ScalarType type : {product.left, product.right}) {
        work_[GpuPart::Shared] += times * depth * working * edge * bytes_of(type) / machine_.shared_bytes_per_cycle;
    }
    const gpu::MatrixInstruction& instruction = *product.instruction;
    const double instructions =
        products / (static_cast<double>(instruction.rows()) * instruction.columns() * instruction.depth());
    work_[GpuPart::Vector] += times * instructions * kMatrixCompanions * machine_.target.lanes / machine_.f32_per_cycle;
}

void GpuWorkCounter::count_staging(ir::ValueId operand) {
    const ir::Op* op = kernel_.definition(operand);
    if (op != nullptr && op->kind == OpKind::Permute) operand = op->operands[0];
    if (!staged_.insert(operand.index).second) return;
    const double bytes = elements_of(kernel_, operand) * bytes_of(kernel_.type(operand).element);
    const double times = std::max(1.0, times_[operand.index]);
    work_[GpuPart::Shared] += times * bytes / machine_.shared_bytes_per_cycle;
}

/// Each thread holds a block of the result: for a step along the contraction it reads one element of each of its rows
/// and columns, four at a time, and multiplies all by all.
void GpuWorkCounter::count_multiply_adds(const ir::Op& op, double times) {
    const ir::ScalarType sum = kernel_.type(op.result()).element;
    const ir::ScalarType types[] = {kernel_.type(op.operands[0]).element, kernel_.type(op.operands[1]).element};
    const auto depth = static_cast<double>(kernel_.type(op.operands[0]).shape[1]);
    const double each = std::ceil(elements_of(kernel_, op.result()) / threads());
    const double edge = std::sqrt(each);
    double instructions = each;
    for (const ir::ScalarType type : types) {
        instructions += edge / 4 + (type == sum ? 0 : edge);
        work_[GpuPart::Shared] += times * depth * threads() * edge * bytes_of(type) / machine_.shared_bytes_per_cycle;
    }
    work_[GpuPart::MultiplyAdds] += times * depth * threads() * instructions / machine_.vector_rate(sum);
}

GpuWorkCounter::Waits GpuWorkCounter::count_access(const ir::Op& op, double times) {
    const auto& attribute = ir::attribute<ir::AccessAttribute>(op);
    const double bytes = bytes_of(kernel_.type(op.operands.front()).element);
    double elements = 1, run = 1, tile = 1;
    bool gathers = false;
    for (std::size_t axis = 0; axis < attribute.axes.size(); ++axis) {
        if (attribute.axes[axis].kind == ir::AxisKind::Slice) {
            const auto extent = static_cast<double>(program_.present(op, axis));
            elements *= extent;
            tile *= static_cast<double>(attribute.axes[axis].length);
            if (program_.byte_stride(op, axis) == 0) run = extent;
        }
        if (attribute.axes[axis].kind != ir::AxisKind::Gather || gathers) continue;
        gathers = true;
        const ir::ValueId positions = op.operands[cpu::axis_operand(attribute, axis)];
        elements *= elements_of(kernel_, positions);
        tile *= elements_of(kernel_, positions);
    }
    if (elements == 0) return {};
    const double moved = elements / run * whole_sectors(run * bytes, machine_.sector_bytes());
    work_.tensor_bytes += times * elements * bytes;
    work_.moved_bytes += times * moved;
    work_[GpuPart::Cache] += times * moved / machine_.cache_bytes_per_cycle;
    const double vector = std::clamp(std::floor(kWidestAccess / bytes), 1.0, run);
    count_elements(threads(), ir::ScalarType::I32, kAccessInstructions, times);
    count_elements(tile / vector, ir::ScalarType::I32, kVectorInstructions, times);
    return {op.kind == OpKind::Load, 0};
}

}  // namespace kiln::codegen::configure
