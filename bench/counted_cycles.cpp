#include "bench/counted_cycles.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "codegen/gpu/lower/choose_matrix_product.h"

namespace kiln::bench {

namespace {

using Json = nlohmann::json;

/// What both vendors' emulated devices count, under the names that either gives it.
struct Counts {
    double blocks = 0, vector_instructions = 0, multiply_adds = 0, sectors = 0, shared_cycles = 0, barriers = 0;

    Counts(const Json& counters, bool nvidia) {
        const auto count = [&](const char* of_nvidia, const char* of_amd) {
            return counters.at(nvidia ? of_nvidia : of_amd).get<double>();
        };
        blocks = count("blocks", "workgroups");
        multiply_adds = count("matrix_multiply_adds", "matrix_multiply_adds");
        sectors =
            count("global_load_sectors", "global_load_sectors") + count("global_store_sectors", "global_store_sectors");
        shared_cycles = count("shared_wavefronts", "lds_cycles");
        barriers = count("barriers", "barriers");
        // What occupies the vector units, or the slot in which they get an instruction.
        for (const auto& [kind, number] : counters.at(nvidia ? "warp_instructions" : "wave_instructions").items()) {
            const bool is_other = kind == "matrix" || kind == "wait" || kind.starts_with("scalar") ||
                                  (!nvidia && (kind == "control" || kind == "barrier"));
            if (!is_other) vector_instructions += number.get<double>();
        }
    }
};

}  // namespace

double counted_cycles(const Json& counters, const codegen::gpu::PhaseSource& phase,
                      const codegen::configure::GpuMachine& machine, double matrix_rate) {
    const codegen::gpu::Target& target = machine.target;
    const Counts counts(counters, target.vendor == codegen::gpu::Vendor::Nvidia);
    const int warps = (phase.threads + target.lanes - 1) / target.lanes;
    const int registers = std::min(phase.registers, codegen::gpu::registers_available(target, warps));
    const auto most = codegen::gpu::occupancy(target, phase.threads, registers, phase.shared_bytes);
    const double rounds = std::ceil(counts.blocks / static_cast<double>(machine.units));
    const double together = std::min(rounds, std::max(1.0, static_cast<double>(most.blocks)));
    const double busy = std::min(1.0, together * warps / target.simds_per_unit);
    const double vector = counts.vector_instructions * target.lanes / machine.f32_per_cycle;
    const double matrix = matrix_rate > 0 ? counts.multiply_adds / matrix_rate : 0;
    const double cache = counts.sectors * machine.sector_bytes() / machine.cache_bytes_per_cycle;
    // Of one block: its busiest part, and what it waits for. Where it has barriers, a load stands between two of them.
    const double block = std::max({vector, matrix, counts.shared_cycles, cache}) / counts.blocks / busy;
    const double steps = std::max(1.0, counts.barriers / counts.blocks / 2);
    const double waits = steps * (machine.memory_latency / phase.stages + 2 * machine.barrier_cycles);
    return std::max(rounds * block, std::ceil(rounds / together) * (block + waits));
}

double matrix_rate_of(const ir::Kernel& kernel, const codegen::configure::GpuMachine& machine) {
    double slowest = 0;
    for (const ir::Block& block : kernel.blocks) {
        for (const ir::OpId id : block.ops) {
            if (kernel[id].kind != ir::OpKind::Dot) continue;
            const auto product = codegen::gpu::choose_matrix_product(kernel, kernel[id], machine.target);
            if (!product) continue;
            const double rate = machine.matrix_rate(product->left, product->instruction->tf32);
            slowest = slowest == 0 ? rate : std::min(slowest, rate);
        }
    }
    return slowest;
}

}  // namespace kiln::bench
