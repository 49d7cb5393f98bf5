// The interpreter: which wave and which workgroup goes next.

#include <algorithm>
#include <cfenv>

#include "tests/emulated_gpu/hip/execution.h"
#include "tests/emulated_gpu/hip/wave_setup.h"

namespace emulated_gpu::hip {
namespace {

constexpr uint32_t kWaveTurn = 4096;           // instructions before the next wave has its turn
constexpr uint32_t kDynamicStackBytes = 4096;  // of a lane, where the compiler could not tell

/// Lanes that a DPP instruction writes: enabled, and with a source lane unless zeros stand in for it.
uint64_t permuted_lanes(const LanePermutation& permutation, uint64_t exec) {
    uint64_t lanes = exec & permutation.enabled;
    if (permutation.zero_outside) return lanes;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const int from = permutation.from[lane];
        const bool is_read = from >= 0 && (permutation.reads_inactive || ((exec >> from) & 1) != 0);
        if (!is_read) lanes &= ~(uint64_t{1} << lane);
    }
    return lanes;
}

/// The host's rounding direction while a float instruction runs in a wave whose MODE asks for another.
class HostRounding {
public:
    HostRounding(const Wave& wave, const Op& op) {
        constexpr int kDirections[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
        const ValueType type = op.result.type;
        if (op.result.kind != Result::Kind::Vector || !is_float(type)) return;
        const bool single = type == ValueType::F32 || type == ValueType::PackedF32;
        const uint8_t direction = single ? wave.mode.round_32 : wave.mode.round_16_64;
        if (direction == 0) return;
        if (type == ValueType::F16 || type == ValueType::PackedF16) {
            throw Fault{FaultKind::Trap, "f16 arithmetic that does not round to nearest even is not modelled"};
        }
        changed_ = true;
        std::fesetround(kDirections[direction]);
    }
    ~HostRounding() {
        if (changed_) std::fesetround(FE_TONEAREST);
    }
    HostRounding(const HostRounding&) = delete;
    HostRounding& operator=(const HostRounding&) = delete;

private:
    bool changed_ = false;
};

bool works_on_lanes(const Op& op) {
    return op.needs_lanes || op.klass == InstructionClass::VectorMemory || op.klass == InstructionClass::Lds;
}

/// The op with the registers that s_set_gpr_idx makes it use.
Op with_relative_registers(const Op& op, const Wave& wave) {
    Op moved = op;
    const auto distance = static_cast<uint16_t>(wave.scalar[kM0] & 0xff);
    const auto move = [&](uint16_t& index) {
        const uint32_t limit = index < kAccumulators ? kAccumulators : kVectorRegisters;
        if (index + distance >= limit) {
            throw Fault{FaultKind::IllegalAddress, "s_set_gpr_idx leads to vector register " +
                                                       std::to_string(index + distance) + ", which there is not"};
        }
        index = static_cast<uint16_t>(index + distance);
    };
    for (size_t i = 0; i < std::min<size_t>(op.source_count, 3); ++i) {
        Source& source = moved.sources[i];
        if (source.kind == Source::Kind::Vector && ((wave.relative >> i) & 1) != 0) move(source.index);
    }
    if ((wave.relative & 8) != 0 && op.result.kind == Result::Kind::Vector) move(moved.result.index);
    return moved;
}

class Interpreter {
public:
    explicit Interpreter(Launch& launch) : launch_(launch) {}

    std::optional<Report> run();

private:
    /// True if the workgroup goes on.
    bool run_group(Workgroup& group);
    uint32_t run_wave(Workgroup& group, Wave& wave, uint32_t turn);
    void execute(Workgroup& group, Wave& wave);
    void check_barrier_lanes(const Step& step) const;
    void meet_at_barrier(Workgroup& group);
    Report make_report(const Fault& fault, const Workgroup& group) const;

    Launch& launch_;
    const Op* op_ = nullptr;  // the instruction that runs
    const Wave* wave_ = nullptr;
};

/// Lanes that were inactive at a barrier and go on working behind it passed it by.
void Interpreter::check_barrier_lanes(const Step& step) const {
    const uint64_t late = step.exec & ~step.wave.barrier_lanes;
    if (step.wave.partial_barrier == nullptr || late == 0 || !works_on_lanes(step.op)) return;
    const Instruction& barrier = *step.wave.partial_barrier->instruction;
    const std::string at =
        barrier.source.line > 0 ? " (" + barrier.source.file + ":" + std::to_string(barrier.source.line) + ")" : "";
    throw Fault{FaultKind::DivergentBarrier,
                "the lane was inactive at the s_barrier at code address " + hexadecimal(barrier.address) + at +
                    ", but goes on behind it",
                std::countr_zero(late)};
}

void Interpreter::execute(Workgroup& group, Wave& wave) {
    const Op& op = launch_.module.ops[wave.pc];
    op_ = &op;
    Step step{launch_, group, wave, op, wave.exec(), false};
    if (wave.registers_awaited != 0) check_awaited(step);
    if (op.permutation != nullptr) step.exec = permuted_lanes(*op.permutation, step.exec);
    if (wave.partial_barrier != nullptr) check_barrier_lanes(step);
    if (wave.relative != 0 && op.needs_lanes) {
        const Op moved = with_relative_registers(op, wave);
        Step moved_step{launch_, group, wave, moved, step.exec, false};
        if (step.exec != 0) moved.run(moved_step);
    } else if (step.exec != 0 || !op.needs_lanes) {
        if (wave.special_mode) {
            const HostRounding rounding(wave, op);
            op.run(step);
        } else {
            op.run(step);
        }
    }
    ++launch_.counters.wave_instructions[static_cast<size_t>(op.klass)];
    if (works_on_lanes(op)) launch_.counters.lane_instructions += static_cast<uint64_t>(std::popcount(step.exec));
    if (!step.jumped) ++wave.pc;
    // Behind the last instruction of a function comes another one's first, or nothing.
    if (wave.pc >= launch_.module.ops.size() && wave.state != WaveState::Ended) {
        throw Fault{FaultKind::IllegalAddress, "the wave runs past the end of the code"};
    }
}

uint32_t Interpreter::run_wave(Workgroup& group, Wave& wave, uint32_t turn) {
    uint32_t ran = 0;
    wave_ = &wave;
    while (ran < turn && wave.state == WaveState::Runs) {
        execute(group, wave);
        ++ran;
        if (++launch_.executed > launch_.options.instruction_budget) {
            throw Fault{FaultKind::Runaway, "the launch has run more than its budget of " +
                                                std::to_string(launch_.options.instruction_budget) +
                                                " wave instructions"};
        }
    }
    return ran;
}

/// Once all waves that have not ended have arrived, they know of each other's progress, and those that wait go on.
void Interpreter::meet_at_barrier(Workgroup& group) {
    VectorClock all{};
    bool any = false;
    for (const Wave& wave : group.waves) {
        if (wave.state == WaveState::Ended) continue;
        if (!wave.signalled) return;
        any = true;
        all.join(wave.signal_clock);
    }
    if (!any) return;
    for (Wave& wave : group.waves) {
        if (wave.state == WaveState::Ended) continue;
        wave.signalled = false;
        wave.released = true;
        wave.release_clock = all;
        if (wave.state == WaveState::AtBarrier) pass_barrier(wave);
    }
    ++launch_.counters.barriers;
}

bool Interpreter::run_group(Workgroup& group) {
    std::vector<size_t> order(group.waves.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    const bool shuffles = launch_.options.shuffle;
    for (size_t i = order.size(); shuffles && i > 1; --i) std::swap(order[i - 1], order[launch_.random() % i]);
    bool goes_on = false;
    for (const size_t index : order) {
        Wave& wave = group.waves[index];
        if (wave.state != WaveState::Runs) continue;
        const uint32_t turn = shuffles ? 1 + static_cast<uint32_t>(launch_.random() % 64) : kWaveTurn;
        run_wave(group, wave, turn);
    }
    meet_at_barrier(group);
    for (const Wave& wave : group.waves) goes_on = goes_on || wave.state != WaveState::Ended;
    return goes_on;
}

Report Interpreter::make_report(const Fault& fault, const Workgroup& group) const {
    Report report;
    report.kind = fault.kind;
    report.message = fault.message;
    report.kernel = launch_.kernel.name;
    report.block = group.index;
    if (op_ != nullptr) {
        report.instruction = op_->instruction->text;
        report.code_address = op_->instruction->address;
        report.source_file = op_->instruction->source.file;
        report.source_line = op_->instruction->source.line;
    }
    if (wave_ != nullptr) {
        const uint32_t lane = fault.lane >= 0 ? static_cast<uint32_t>(fault.lane) : 0;
        const uint32_t item = wave_->index * launch_.module.wave_lanes() + lane;
        const auto& extent = launch_.shape.workgroup;
        report.wave = static_cast<int>(wave_->index);
        report.lane = fault.lane;
        report.has_thread = true;
        report.thread = {item % extent[0], item / extent[0] % extent[1], item / extent[0] / extent[1]};
    }
    return report;
}

std::optional<Report> Interpreter::run() {
    const auto& grid = launch_.shape.grid;
    const uint64_t groups = uint64_t{grid[0]} * grid[1] * grid[2];
    const uint32_t resident_limit = std::max(1U, launch_.options.resident_workgroups);
    std::vector<std::unique_ptr<Workgroup>> resident;
    uint64_t next = 0;
    while (next < groups || !resident.empty()) {
        while (next < groups && resident.size() < resident_limit) resident.push_back(make_workgroup(launch_, next++));
        for (auto& group : resident) {
            try {
                if (!run_group(*group)) group.reset();
            } catch (const Fault& fault) {
                return make_report(fault, *group);
            }
        }
        std::erase(resident, nullptr);
    }
    return std::nullopt;
}

}  // namespace

LaunchResult run_kernel(const LoadedModule& module, const KernelDescription& kernel, const LaunchShape& shape,
                        DeviceMemory& memory, const Options& options) {
    Launch launch{module, kernel, shape, memory, options};
    launch.random_state = options.seed * 0x9E37'79B9'7F4A'7C15 + 1;
    launch.private_bytes = (kernel.private_bytes + (kernel.dynamic_stack ? kDynamicStackBytes : 0) + 3) / 4 * 4;
    launch.counters.kernel = kernel.name;
    launch.counters.workgroups = uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
    launch.counters.work_items =
        launch.counters.workgroups * shape.workgroup[0] * shape.workgroup[1] * shape.workgroup[2];
    const LaunchMemory launch_memory(launch);
    LaunchResult result;
    result.report = Interpreter(launch).run();
    result.counters = launch.counters;
    return result;
}

}  // namespace emulated_gpu::hip
