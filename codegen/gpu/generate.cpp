#include <algorithm>

#include "codegen/gpu/c_writer.h"
#include "codegen/gpu/lower/allocate_shared.h"
#include "codegen/gpu/lower/estimate_registers.h"
#include "codegen/gpu/lower/narrow_integers.h"
#include "codegen/gpu/lower/phase_lowering.h"
#include "codegen/gpu/lower/place_barriers.h"
#include "codegen/gpu/lower/remove_unused.h"

namespace kiln::codegen::gpu {

namespace {

/// Far more than a thread has; what exceeds its registers by less is spilled, which is slow but works.
constexpr int kHopelessFactor = 4;

/// Compilers get along with a little less than the estimate.
constexpr double kEstimateExcess = 1.03;

/// Slots of rings where the schedule does not say: with three a copy has two iterations to land.
constexpr int kUsualStages = 3;

/// Tried in order, until a block has enough shared memory.
std::vector<SharedUse> shared_uses(int stages) {
    std::vector<SharedUse> uses;
    for (; stages > 1; --stages) uses.push_back({true, stages, 1});
    for (const SharedUse& use : {SharedUse{true, 1, 1}, SharedUse{false, 1, 1}}) uses.push_back(use);
    for (const int pieces : {2, 4, 8}) uses.push_back({true, 1, pieces});
    return uses;
}

[[noreturn]] void refuse(const ir::Kernel& kernel, std::size_t phase, const std::string& need,
                         const std::string& limit) {
    const std::string where = kernel.phases.size() > 1 ? "phase " + std::to_string(phase + 1) + " of `" : "`";
    throw Refused{{where + kernel.name + "` needs " + need + ", and " + limit + ": smaller tiles fit",
                   kernel.phases[phase].span}};
}

/// As many warps as the schedule says, else as the tiles suggest; and more of them where the tiles that live at one
/// time would not fit the registers of fewer.
int warps_that_fit(const ir::Kernel& kernel, const ir::Facts& facts, std::size_t index, const Target& target,
                   int& registers) {
    const ir::Phase& phase = kernel.phases[index];
    const TileValues values(kernel, phase.block);
    const TensorFacts tensors(kernel, facts, phase);
    const int most = target.threads_per_block / target.lanes;
    const auto wanted = static_cast<int>(ir::schedule_number(kernel.schedule, "warps", 0));
    int warps = wanted > 0 ? std::min(wanted, most) : choose_warps(kernel, phase, values, target);
    while (true) {
        registers = estimate_registers(kernel, phase, values, tensors,
                                       assign_layouts(kernel, phase, values, tensors, target, warps));
        if (registers <= registers_available(target, warps) * kEstimateExcess || warps * 2 > most) return warps;
        warps *= 2;
    }
}

/// The passes in order. Each stands in a file of codegen/gpu/lower.
PlacedPhase lower_phase(const ir::Kernel& kernel, const ir::Facts& facts, const std::vector<ir::ScalarType>& stored,
                        std::size_t index, const Target& target) {
    // Warps before layouts, which share the elements out among them.
    int registers = 0;
    const int warps = warps_that_fit(kernel, facts, index, target, registers);
    if (registers > kHopelessFactor * registers_available(target, warps)) {
        refuse(kernel, index, std::to_string(registers) + " registers a thread for the tiles it holds at one time",
               "a thread of " + target.name + " has " + std::to_string(registers_available(target, warps)));
    }
    // Layouts are assigned, then every op becomes statements; conversions appear where two layouts meet.
    PlacedPhase phase;
    const auto stages = static_cast<int>(ir::schedule_number(kernel.schedule, "stages", kUsualStages));
    for (const SharedUse& use : shared_uses(stages)) {
        phase = PhaseLowering(kernel, facts, stored, index, target, warps, use).run();
        phase.registers += registers;
        // Offsets before barriers: buffers that share bytes depend on each other.
        allocate_shared(phase);
        if (phase.shared_bytes <= target.shared_bytes_per_block) break;
    }
    if (phase.shared_bytes > target.shared_bytes_per_block) {
        refuse(kernel, index, std::to_string(phase.shared_bytes) + " bytes of shared memory for its tiles",
               "a block of " + target.name + " has " + std::to_string(target.shared_bytes_per_block));
    }
    place_barriers(phase);
    // Last: now all text is there.
    remove_unused(phase);
    return phase;
}

}  // namespace

Generated generate(const ir::Kernel& kernel, const Target& target, const support::SourceMap* sources) {
    Generated generated;
    const ir::Facts facts(kernel);
    const std::vector<ir::ScalarType> stored = narrow_integers(kernel, facts);
    std::vector<PlacedPhase> phases;
    for (std::size_t i = 0; i < kernel.phases.size(); ++i) {
        try {
            phases.push_back(lower_phase(kernel, facts, stored, i, target));
        } catch (const Refused& refused) {
            generated.refusals.push_back(refused.refusal);
        }
    }
    if (!generated.refusals.empty()) return generated;
    const Spelling spelling = target.vendor == Vendor::Nvidia ? cuda_spelling(target) : hip_spelling(target);
    generated.source.text = write_source(kernel.name, phases, target, spelling, sources);
    for (const PlacedPhase& phase : phases) {
        generated.source.phases.push_back(
            {phase.symbol, phase.values, phase.threads, phase.registers, phase.shared_bytes});
    }
    return generated;
}

}  // namespace kiln::codegen::gpu
