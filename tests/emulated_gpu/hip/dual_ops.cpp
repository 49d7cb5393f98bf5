// Dual instructions, which only waves of 32 lanes have (RDNA3 ISA, "Dual Issue VALU"): both halves read their operands
// before either writes its result.

#include "tests/emulated_gpu/hip/decode.h"
#include "tests/emulated_gpu/hip/execution.h"

namespace emulated_gpu::hip {
namespace {

void run_dual(Step& step) {
    const auto& halves = *step.op.halves;
    if (step.wave.special_mode && step.wave.mode.round_32 != 0) {
        throw Fault{FaultKind::Trap, "a dual instruction that does not round to nearest even is not modelled"};
    }
    for (const Op& half : halves) {
        Step half_step{step.launch, step.group, step.wave, half, step.exec, false};
        half.run(half_step);
    }
    step.put_raw(step.op.result.index, step.wave.vector[kDualResult].at, step.wave.vector_known[kDualResult]);
}

/// The halves report as the whole.
void decode_half(const Decode& whole, const Instruction& instruction, Op& op) {
    decode_instruction(instruction, whole.architecture(), op);
    op.instruction = &whole.instruction();
    if (op.result.kind != Result::Kind::Vector || op.result.registers != 1) whole.refuse("a half");
}

void decode_dual(Decode& decode) {
    Op& op = decode.op();
    op.halves = std::make_shared<std::array<Op, 2>>();
    for (size_t i = 0; i < 2; ++i) {
        Op& half = (*op.halves)[i];
        decode_half(decode, decode.instruction().halves[i], half);
        for (size_t touch = 0; touch < half.touch_count; ++touch) {
            const Touch& of = half.touches[touch];
            decode.touch(of.vector, of.writes, of.first, of.count);
        }
    }
    op.klass = op.halves->front().klass;
    op.needs_lanes = true;
    op.result = op.halves->front().result;
    op.halves->front().result.index = kDualResult;
    op.run = run_dual;
}

}  // namespace

void add_dual_ops(DecoderTable& table) {
    table["v_dual"] = decode_dual;
}

}  // namespace emulated_gpu::hip
