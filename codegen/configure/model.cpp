#include "codegen/configure/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "codegen/configure/sampled_programs.h"
#include "codegen/configure/work.h"

namespace kiln::codegen::configure {

namespace {

// Ranges that the executor makes of a grid, a thread (runtime/cpu/executor.cpp), and what starting one costs.
constexpr std::int64_t kRangesPerThread = 4;
constexpr double kRangeSeconds = 1.5e-6, kLaunchSeconds = 3e-6;

struct Sample {
    std::int64_t program = 0;
    Work work;
};

std::vector<Sample> sample_programs(WorkCounter& counter, std::int64_t programs) {
    std::vector<Sample> samples;
    for (const std::int64_t program : sampled_programs(programs)) samples.push_back({program, counter.count(program)});
    return samples;
}

/// Cycles of programs [first, last), from the samples at and beside them.
double range_cycles(const std::vector<Sample>& samples, std::int64_t first, std::int64_t last) {
    double sum = 0;
    int count = 0;
    for (const Sample& sample : samples) {
        if (sample.program < first || sample.program >= last) continue;
        sum += sample.work.cycles();
        ++count;
    }
    if (count == 0) {
        const auto after = std::lower_bound(samples.begin(), samples.end(), first,
                                            [](const Sample& sample, std::int64_t at) { return sample.program < at; });
        sum = (after == samples.end() ? samples.back() : *after).work.cycles();
        count = 1;
    }
    return sum / count * static_cast<double>(last - first);
}

struct PhaseTime {
    double total_cycles = 0;  ///< of all programs
    double last_cycles = 0;   ///< of the thread that ends last
    std::int64_t ranges = 0;
};

/// Deals ranges to whichever thread is free, as the executor's scheduler does.
PhaseTime deal(const std::vector<Sample>& samples, std::int64_t programs, const CpuMachine& machine) {
    PhaseTime time;
    const std::int64_t threads = std::max(1, machine.threads);
    time.ranges = threads == 1 ? 1 : std::min(programs, kRangesPerThread * threads);
    std::vector<double> busy(static_cast<std::size_t>(threads), 0);
    for (std::int64_t range = 0; range < time.ranges; ++range) {
        const double cycles =
            range_cycles(samples, programs * range / time.ranges, programs * (range + 1) / time.ranges);
        time.total_cycles += cycles;
        *std::min_element(busy.begin(), busy.end()) += cycles;
    }
    time.last_cycles = *std::max_element(busy.begin(), busy.end());
    return time;
}

void add_terms(Prediction& prediction, const Work& work, double per_cycle, const CpuMachine& machine) {
    const double efficiency = work.dot_cycles > 0 ? work.ideal_dot_cycles / work.dot_cycles : 1;
    prediction.register_efficiency = efficiency;
    prediction.terms = {
        {"dot", work.dot_cycles * per_cycle,
         fmt::format("{:.3g} Gflop of dots; register tiles are {:.0f}% full", work.dot_operations / 1e9,
                     efficiency * 100)},
        {"packing", work.packing_cycles * per_cycle, "operands of dots rearranged for the register tile"},
        {"vector", work.vector_cycles * per_cycle,
         fmt::format("{:.3g} G elementwise operations on {}-bit vectors", work.vector_operations / 1e9,
                     machine.target.vector_bytes * 8)},
        {"buffers", work.buffer_cycles * per_cycle, "tiles written to and read from scratch memory"},
        {"tensors", work.tensor_cycles * per_cycle, fmt::format("{:.3g} MB asked of tensors", work.tensor_bytes / 1e6)},
        {"calls", work.call_cycles * per_cycle, "set-up of loops, dots and register tiles"},
    };
}

}  // namespace

double compulsory_bytes(std::span<const ir::Argument> arguments) {
    double bytes = 0;
    for (const ir::Argument& argument : arguments) {
        const auto* view = std::get_if<ir::TensorView>(&argument);
        if (view == nullptr) continue;
        double count = 1;
        for (std::size_t axis = 0; axis < view->sizes.rank(); ++axis) {
            if (view->strides[axis] != 0) count *= static_cast<double>(view->sizes[axis]);
        }
        bytes += count * ir::bit_width(view->element) / 8;
    }
    return bytes;
}

void finish(Prediction& prediction) {
    for (const Term& term : prediction.terms) prediction.seconds += term.seconds;
    std::stable_sort(prediction.terms.begin(), prediction.terms.end(),
                     [](const Term& a, const Term& b) { return a.seconds > b.seconds; });
}

Prediction predict(const ir::Kernel& kernel, const ir::Launch& launch, std::span<const ir::Argument> arguments,
                   const CpuMachine& machine) {
    Prediction prediction;
    Work total;
    double last_cycles = 0, total_cycles = 0, fixed_seconds = 0;
    for (std::size_t phase = 0; phase < kernel.phases.size(); ++phase) {
        const std::int64_t programs = launch.programs(phase);
        fixed_seconds += kLaunchSeconds;
        if (programs == 0) continue;
        WorkCounter counter(kernel, launch, arguments, phase, machine);
        const std::vector<Sample> samples = sample_programs(counter, programs);
        const PhaseTime time = deal(samples, programs, machine);
        for (const Sample& sample : samples) {
            total.add(sample.work, static_cast<double>(programs) / static_cast<double>(samples.size()));
        }
        last_cycles += time.last_cycles;
        total_cycles += time.total_cycles;
        fixed_seconds += static_cast<double>(time.ranges) / machine.threads * kRangeSeconds;
    }
    const double threads = std::max(1, machine.threads);
    const double thread_seconds = total.cycles() / threads / machine.cycles_per_second;
    add_terms(prediction, total, 1 / threads / machine.cycles_per_second, machine);
    const double imbalance = std::max(0.0, (last_cycles - total_cycles / threads) / machine.cycles_per_second);
    prediction.compulsory_bytes = compulsory_bytes(arguments);
    prediction.moved_bytes = total.tensor_bytes;
    const double roof = prediction.compulsory_bytes / machine.shared_far_bytes_per_second;
    const double memory = std::max(0.0, roof - thread_seconds - imbalance);
    prediction.busy_units = last_cycles > 0 ? total_cycles / last_cycles : 0;
    prediction.terms.push_back(
        {"imbalance", imbalance,
         fmt::format("{:.2f} of {} threads are busy on average", prediction.busy_units, machine.threads)});
    prediction.terms.push_back({"launch", fixed_seconds, "starting phases and ranges of programs"});
    prediction.terms.push_back(
        {"memory", memory,
         fmt::format("{:.3g} MB that must come from memory at {:.3g} GB/s", prediction.compulsory_bytes / 1e6,
                     machine.shared_far_bytes_per_second / 1e9)});
    prediction.dot_operations = total.dot_operations;
    prediction.operations = total.dot_operations + total.vector_operations;
    finish(prediction);
    return prediction;
}

}  // namespace kiln::codegen::configure
