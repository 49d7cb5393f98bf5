#include "codegen/configure/gpu_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "codegen/configure/gpu_work.h"
#include "codegen/configure/sampled_programs.h"

namespace kiln::codegen::configure {

namespace {

// From one launch of a stream to the next.
constexpr double kPhaseSeconds = 2e-6;

/// How the blocks of a phase stand on the units.
struct Residency {
    gpu::Occupancy most;  ///< that a unit holds
    double programs = 0;
    double rounds = 0;    ///< blocks that the busiest unit runs, one after the other
    double together = 1;  ///< blocks that a unit runs at one time
    double busy = 1;      ///< share of a unit's parts for which there are warps
    double exposed = 0;   ///< share of a part's work that nothing else hides

    Residency(const gpu::PhaseSource& source, std::int64_t count, const GpuMachine& machine)
        : programs(static_cast<double>(count)) {
        const gpu::Target& target = machine.target;
        const int warps = (source.threads + target.lanes - 1) / target.lanes;
        const int registers = std::min(source.registers, gpu::registers_available(target, warps));
        most = gpu::occupancy(target, source.threads, registers, source.shared_bytes);
        rounds = std::ceil(programs / static_cast<double>(machine.units));
        together = std::min(rounds, std::max(1.0, static_cast<double>(most.blocks)));
        const double warps_a_simd = together * warps / target.simds_per_unit;
        busy = std::min(1.0, warps_a_simd);
        exposed = 1 / (1 + warps_a_simd);
    }
    double cycles(const GpuWork& work) const { return work.cycles(exposed) / busy; }
};

/// Cycles of a phase on the unit that ends last, and what they are made of.
struct PhaseCycles {
    std::array<double, kGpuParts> parts{};
    double waves = 0, latency = 0;

    double all() const {
        double sum = waves + latency;
        for (const double part : parts) sum += part;
        return sum;
    }
};

/// `mean` is the work of a program, `longest` the cycles of one that is alone.
PhaseCycles phase_cycles(const GpuWork& mean, double longest, const Residency& residency, const GpuMachine& machine) {
    PhaseCycles result;
    const double block = residency.cycles(mean), share = residency.programs / static_cast<double>(machine.units);
    for (std::size_t i = 0; i < kGpuParts; ++i) {
        result.parts[i] = share * mean.share(static_cast<GpuPart>(i), residency.exposed) / residency.busy;
    }
    result.waves = (residency.rounds - share) * block;
    const double waiting = std::ceil(residency.rounds / residency.together) * (block + mean.latency_cycles);
    result.latency = std::max({0.0, waiting - residency.rounds * block, longest - residency.rounds * block});
    return result;
}

std::string placement_of(const gpu::PhaseSource& source, const Residency& residency, const GpuMachine& machine) {
    return fmt::format(
        "{} threads, about {} registers, {:.4g} KiB of shared memory: {} blocks a unit ({:.0f}% of its warps), {} "
        "blocks "
        "on {} units",
        source.threads, source.registers, static_cast<double>(source.shared_bytes) / 1024, residency.most.blocks,
        residency.most.fraction * 100, residency.programs, machine.units);
}

/// All phases together.
class Sum {
public:
    explicit Sum(const GpuMachine& machine) : machine_(machine) {}

    void add(const GpuWork& mean, double programs, const PhaseCycles& cycles) {
        work_.add(mean, programs);
        for (std::size_t i = 0; i < kGpuParts; ++i) cycles_.parts[i] += cycles.parts[i];
        cycles_.waves += cycles.waves;
        cycles_.latency += cycles.latency;
    }
    const GpuWork& work() const { return work_; }
    double seconds() const { return cycles_.all() / machine_.cycles_per_second; }

    std::vector<Term> terms() const {
        const auto part = [&](const char* name, GpuPart which, std::string meaning) {
            return Term{name, cycles_.parts[static_cast<std::size_t>(which)] / machine_.cycles_per_second,
                        std::move(meaning)};
        };
        const double dots = work_.dot_operations / 1e9;
        return {
            part("matrix", GpuPart::Matrix,
                 fmt::format("{:.3g} Gflop of dots by matrix instructions and others", dots)),
            part("multiply", GpuPart::MultiplyAdds, fmt::format("{:.3g} Gflop of dots, by multiply-adds", dots)),
            part("vector", GpuPart::Vector,
                 fmt::format("{:.3g} G elementwise operations, reductions, addresses", work_.vector_operations / 1e9)),
            part("shared", GpuPart::Shared, "operands of dots through shared memory"),
            part("cache", GpuPart::Cache,
                 fmt::format("{:.3g} MB asked of tensors, {:.3g} MB in sectors", work_.tensor_bytes / 1e6,
                             work_.moved_bytes / 1e6)),
            part("spills", GpuPart::Spills, "tiles that exceed a thread's registers"),
            {"waves", cycles_.waves / machine_.cycles_per_second, "units without a block while the last ones run"},
            {"latency", cycles_.latency / machine_.cycles_per_second,
             "waiting for memory and barriers that resident blocks do not fill"},
        };
    }

private:
    const GpuMachine& machine_;
    GpuWork work_;
    PhaseCycles cycles_;
};

/// Bytes that come from memory: each tensor once, and what the cache has lost until it is asked for again.
double memory_bytes(double compulsory, double moved, const GpuMachine& machine) {
    if (compulsory <= machine.cache_bytes) return compulsory;
    // The blocks of a round read the same rows and columns at about the same time.
    const double together = std::sqrt(static_cast<double>(machine.units));
    return compulsory + std::max(0.0, moved - compulsory) * (1 - machine.cache_bytes / compulsory) / together;
}

}  // namespace

Prediction predict(const ir::Kernel& kernel, const ir::Launch& launch, std::span<const ir::Argument> arguments,
                   const GpuMachine& machine, std::span<const gpu::PhaseSource> phases) {
    Prediction prediction;
    Sum sum(machine);
    double busy_units = 0;
    for (std::size_t phase = 0; phase < kernel.phases.size(); ++phase) {
        const std::int64_t programs = launch.programs(phase);
        if (programs == 0) continue;
        const Residency residency(phases[phase], programs, machine);
        GpuWorkCounter counter(kernel, launch, arguments, phase, phases[phase], machine);
        const std::vector<std::int64_t> sampled = sampled_programs(programs);
        GpuWork mean;
        double longest = 0;
        for (const std::int64_t program : sampled) {
            const GpuWork work = counter.count(program);
            mean.add(work, 1 / static_cast<double>(sampled.size()));
            longest = std::max(longest, residency.cycles(work) + work.latency_cycles);
        }
        sum.add(mean, residency.programs, phase_cycles(mean, longest, residency, machine));
        prediction.placement.push_back(placement_of(phases[phase], residency, machine));
        busy_units = std::max(busy_units, std::min(residency.programs, static_cast<double>(machine.units)));
    }
    prediction.terms = sum.terms();
    prediction.terms.push_back(
        {"launch", kPhaseSeconds * static_cast<double>(kernel.phases.size()), "starting phases"});
    prediction.compulsory_bytes = compulsory_bytes(arguments);
    prediction.moved_bytes = sum.work().moved_bytes;
    const double from_memory = memory_bytes(prediction.compulsory_bytes, prediction.moved_bytes, machine);
    prediction.terms.push_back({"memory", std::max(0.0, from_memory / machine.memory_bytes_per_second - sum.seconds()),
                                fmt::format("{:.3g} MB from memory at {:.3g} GB/s", from_memory / 1e6,
                                            machine.memory_bytes_per_second / 1e9)});
    prediction.dot_operations = sum.work().dot_operations;
    prediction.operations = sum.work().dot_operations + sum.work().vector_operations;
    prediction.busy_units = busy_units;
    const double dot_cycles = sum.work()[GpuPart::Matrix] + sum.work()[GpuPart::MultiplyAdds];
    prediction.register_efficiency = dot_cycles > 0 ? sum.work().ideal_dot_cycles / dot_cycles : 1;
    finish(prediction);
    return prediction;
}

}  // namespace kiln::codegen::configure
