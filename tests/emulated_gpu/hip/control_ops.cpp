// Branches, calls, waits, barriers, modes and the end of a wave.

#include <algorithm>
#include <bit>

#include "tests/emulated_gpu/hip/decode.h"
#include "tests/emulated_gpu/hip/execution.h"

namespace emulated_gpu::hip {
namespace {

void jump(Step& step) {
    step.wave.pc = step.op.target;
    step.jumped = true;
}

bool scc_of(const Step& step) {
    if (!step.wave.scc_known && step.launch.options.check_registers) {
        throw Fault{FaultKind::UninitialisedRegister, "a branch depends on a scalar that was never written"};
    }
    return step.wave.scc;
}

/// Whether VCC is 0; bits that are known to be set settle it.
bool vcc_is_zero(const Step& step) {
    const uint64_t vcc = step.wave.pair(kVcc) & step.wave.all_lanes;
    const uint64_t known =
        step.wave.scalar_known[kVcc] | uint64_t{step.wave.scalar_known[kVcc + 1]} << 32 | ~step.wave.all_lanes;
    if (known != kAllLanes && (vcc & known) == 0 && step.launch.options.check_registers) {
        throw Fault{FaultKind::UninitialisedRegister, "a branch depends on a comparison of a value never written"};
    }
    return vcc == 0;
}

void run_branch(Step& step) {
    jump(step);
}
void run_branch_scc0(Step& step) {
    if (!scc_of(step)) jump(step);
}
void run_branch_scc1(Step& step) {
    if (scc_of(step)) jump(step);
}
void run_branch_vccz(Step& step) {
    if (vcc_is_zero(step)) jump(step);
}
void run_branch_vccnz(Step& step) {
    if (!vcc_is_zero(step)) jump(step);
}
void run_branch_execz(Step& step) {
    if (step.wave.exec() == 0) jump(step);
}
void run_branch_execnz(Step& step) {
    if (step.wave.exec() != 0) jump(step);
}

void add_branches(DecoderTable& table) {
    const auto branch = [&](const std::string& name, Handler handler) {
        table[name] = [handler](Decode& decode) {
            decode.expect_operands(1, 1);
            decode.op().klass = InstructionClass::Control;
            decode.op().immediate = static_cast<int16_t>(decode.operand(0).integer);
            decode.op().target = kNoOp;  // the loader finds it
            decode.op().run = handler;
        };
    };
    branch("s_branch", run_branch);
    branch("s_cbranch_scc0", run_branch_scc0);
    branch("s_cbranch_scc1", run_branch_scc1);
    branch("s_cbranch_vccz", run_branch_vccz);
    branch("s_cbranch_vccnz", run_branch_vccnz);
    branch("s_cbranch_execz", run_branch_execz);
    branch("s_cbranch_execnz", run_branch_execnz);
}

uint64_t address_behind(const Step& step) {
    return step.launch.module.base + step.op.instruction->address + step.op.instruction->bytes;
}

void jump_to(Step& step, uint64_t address) {
    const uint32_t target = step.launch.module.find_op(address - step.launch.module.base);
    if (target == kNoOp) {
        throw Fault{FaultKind::IllegalAddress, "jumps to " + hexadecimal(address) + ", where no instruction begins"};
    }
    step.wave.pc = target;
    step.jumped = true;
}

void run_get_pc(Step& step) {
    step.wave.set_pair(step.op.scalar_result.index, address_behind(step));
}
void run_set_pc(Step& step) {
    jump_to(step, step.strict_scalar(0, "jumped to"));
}
void run_swap_pc(Step& step) {
    const uint64_t target = step.strict_scalar(0, "called");
    step.wave.set_pair(step.op.scalar_result.index, address_behind(step));
    jump_to(step, target);
}
void run_call(Step& step) {
    step.wave.set_pair(step.op.scalar_result.index, address_behind(step));
    jump(step);
}

void add_calls(DecoderTable& table) {
    table["s_getpc_b64"] = [](Decode& decode) {
        decode.scalar_result(0, ValueType::B64);
        decode.op().klass = InstructionClass::Control;
        decode.op().run = run_get_pc;
    };
    table["s_setpc_b64"] = [](Decode& decode) {
        decode.source(0, ValueType::B64);
        decode.op().klass = InstructionClass::Control;
        decode.op().run = run_set_pc;
    };
    table["s_swappc_b64"] = [](Decode& decode) {
        decode.scalar_result(0, ValueType::B64);
        decode.source(1, ValueType::B64);
        decode.op().klass = InstructionClass::Control;
        decode.op().run = run_swap_pc;
    };
    table["s_call_b64"] = [](Decode& decode) {
        decode.scalar_result(0, ValueType::B64);
        decode.op().klass = InstructionClass::Control;
        decode.op().immediate = static_cast<int16_t>(decode.operand(1).integer);
        decode.op().target = kNoOp;
        decode.op().run = run_call;
    };
}

void run_wait(Step& step) {
    wait_for(step, std::bit_cast<WaitCounts>(step.op.detail));
}

void set_wait(Decode& decode, const WaitCounts& counts) {
    decode.op().klass = InstructionClass::Wait;
    decode.op().detail = std::bit_cast<uint64_t>(counts);
    decode.op().run = run_wait;
}

uint16_t count_of(Decode& decode, const std::string& name) {
    const auto text = decode.take_text(name);
    int64_t value = 0;
    if (!text) return WaitCounts::kAny;
    if (!parse_integer(*text, value)) decode.refuse("modifier " + name);
    return static_cast<uint16_t>(value);
}

void decode_wait(Decode& decode) {
    WaitCounts counts;
    counts.loads = count_of(decode, "vmcnt");
    counts.lds = count_of(decode, "lgkmcnt");
    counts.scalar = counts.lds;
    decode.take_text("expcnt");  // counts exports, which there are none of
    set_wait(decode, counts);
}

/// RDNA3's s_waitcnt_vscnt and its kin: a scalar register, of which only null is used, and a count on top of it.
void decode_wait_on_top(Decode& decode, uint16_t WaitCounts::*counter) {
    decode.expect_operands(2, 2);
    if (decode.operand(0).index != kNull) decode.refuse("operand " + decode.operand(0).text);
    WaitCounts counts;
    counts.*counter = static_cast<uint16_t>(decode.operand(1).integer);
    if (counter == &WaitCounts::lds) counts.scalar = counts.lds;  // lgkmcnt
    set_wait(decode, counts);
}

/// RDNA4's s_wait_loadcnt and its kin. Those of two counters have the second one's count in bits 5:0, the first one's
/// from bit 8 on (RDNA4 ISA, "SOPP").
void decode_split_wait(Decode& decode, uint16_t WaitCounts::*first, uint16_t WaitCounts::*second) {
    decode.expect_operands(1, 1);
    const int64_t bits = decode.operand(0).integer;
    WaitCounts counts;
    counts.*first = static_cast<uint16_t>(second == nullptr ? bits : bits >> 8 & 63);
    if (second != nullptr) counts.*second = static_cast<uint16_t>(bits & 63);
    set_wait(decode, counts);
}

void add_waits(DecoderTable& table) {
    table["s_waitcnt"] = decode_wait;
    for (const auto& [name, counter] : {std::pair{"s_waitcnt_vmcnt", &WaitCounts::loads},
                                        {"s_waitcnt_vscnt", &WaitCounts::stores},
                                        {"s_waitcnt_lgkmcnt", &WaitCounts::lds}}) {
        table[name] = [counter = counter](Decode& decode) { decode_wait_on_top(decode, counter); };
    }
    const auto split = [&](const char* name, uint16_t WaitCounts::*first, uint16_t WaitCounts::*second = nullptr) {
        table[name] = [=](Decode& decode) { decode_split_wait(decode, first, second); };
    };
    split("s_wait_loadcnt", &WaitCounts::loads);
    split("s_wait_storecnt", &WaitCounts::stores);
    split("s_wait_dscnt", &WaitCounts::lds);
    split("s_wait_kmcnt", &WaitCounts::scalar);
    split("s_wait_loadcnt_dscnt", &WaitCounts::loads, &WaitCounts::lds);
    split("s_wait_storecnt_dscnt", &WaitCounts::stores, &WaitCounts::lds);
    table["s_wait_idle"] = [](Decode& decode) { set_wait(decode, {0, 0, 0, 0}); };
}

void run_barrier_wait(Step& step) {
    Wave& wave = step.wave;
    wave.partial_barrier = step.exec == wave.launched_lanes ? nullptr : &step.op;
    wave.barrier_lanes = step.exec;
    if (wave.released) return pass_barrier(wave);
    if (!wave.signalled) {
        throw Fault{FaultKind::BarrierMisuse, "the wave waits at the barrier without having arrived there"};
    }
    wave.state = WaveState::AtBarrier;
}

void run_barrier(Step& step) {
    signal_barrier(step);
    run_barrier_wait(step);
}

/// SCC tells whether no other wave has arrived yet.
void run_signal_first(Step& step) {
    const auto has_arrived = [](const Wave& wave) { return wave.signalled; };
    step.wave.scc = std::none_of(step.group.waves.begin(), step.group.waves.end(), has_arrived);
    step.wave.scc_known = true;
    signal_barrier(step);
}

/// The workgroup's barrier has number -1; named ones are not modelled.
void decode_barrier(Decode& decode, Handler handler) {
    decode.op().klass = InstructionClass::Barrier;
    if (decode.operand_count() > 0) {
        const Operand& number = decode.operand(0);
        const bool is_workgroup = number.kind == Operand::Kind::Integer && static_cast<int16_t>(number.integer) == -1;
        if (!is_workgroup) decode.refuse("the barrier " + number.text);
    }
    decode.op().run = handler;
}

void add_barriers(DecoderTable& table) {
    table["s_barrier"] = [](Decode& decode) { decode_barrier(decode, run_barrier); };
    table["s_barrier_signal"] = [](Decode& decode) { decode_barrier(decode, signal_barrier); };
    table["s_barrier_signal_isfirst"] = [](Decode& decode) { decode_barrier(decode, run_signal_first); };
    table["s_barrier_wait"] = [](Decode& decode) { decode_barrier(decode, run_barrier_wait); };
}

void run_end(Step& step) {
    step.wave.state = WaveState::Ended;
    step.jumped = true;  // there is no next instruction
}

void run_nothing(Step&) {}

void run_trap(Step& step) {
    throw Fault{FaultKind::Trap, "s_trap " + std::to_string(step.op.immediate) + " was executed"};
}

// Parts of the MODE register: round in bits 3:0, denormals in bits 7:4, dx10_clamp 8, ieee 9.
uint32_t pack_mode(const FloatMode& mode) {
    return mode.round_32 | uint32_t{mode.round_16_64} << 2 | uint32_t{mode.denormals_32} << 4 |
           uint32_t{mode.denormals_16_64} << 6 | uint32_t{mode.dx10_clamp} << 8 | uint32_t{mode.ieee} << 9;
}

void set_mode(Wave& wave, uint32_t bits) {
    FloatMode& mode = wave.mode;
    mode.round_32 = bits & 3;
    mode.round_16_64 = (bits >> 2) & 3;
    mode.denormals_32 = (bits >> 4) & 3;
    mode.denormals_16_64 = (bits >> 6) & 3;
    mode.dx10_clamp = ((bits >> 8) & 1) != 0;
    mode.ieee = ((bits >> 9) & 1) != 0;
    wave.special_mode =
        mode.round_32 != 0 || mode.round_16_64 != 0 || mode.denormals_32 != 3 || mode.denormals_16_64 != 3;
}

/// hwreg(HW_REG_MODE, 4, 2): a register, and a field of it.
struct HardwareField {
    std::string name;
    uint32_t offset = 0;
    uint32_t width = 32;
};

HardwareField hardware_field(const Decode& decode, size_t index) {
    const std::string& text = decode.operand(index).text;
    if (!text.starts_with("hwreg(") || text.back() != ')') decode.refuse("operand " + text);
    const std::string inside = text.substr(6, text.size() - 7);
    HardwareField field;
    field.name = inside.substr(0, inside.find(','));
    const size_t first = inside.find(',');
    if (first == std::string::npos) return field;
    field.offset = static_cast<uint32_t>(std::stoi(inside.substr(first + 1)));
    field.width = static_cast<uint32_t>(std::stoi(inside.substr(inside.find(',', first + 1) + 1)));
    return field;
}

uint32_t field_mask(const Op& op) {
    const auto width = static_cast<uint32_t>(op.detail >> 8) & 63;
    return width >= 32 ? ~0U : (1U << width) - 1;
}

void run_get_mode(Step& step) {
    const uint32_t value = pack_mode(step.wave.mode) >> (step.op.detail & 31) & field_mask(step.op);
    step.wave.set_scalar(step.op.scalar_result.index, value);
}
void run_get_bases(Step& step) {
    const uint64_t bases = (kLdsAperture >> 48) << 16 | kPrivateAperture >> 48;
    step.wave.set_scalar(step.op.scalar_result.index,
                         static_cast<uint32_t>(bases) >> (step.op.detail & 31) & field_mask(step.op));
}
/// A counter, here of the launch's instructions.
void run_get_time(Step& step) {
    const bool is_upper = step.op.instruction->text.find("_HI") != std::string::npos;
    const uint64_t now = step.launch.executed >> (is_upper ? 32 : 0);
    step.wave.set_scalar(step.op.scalar_result.index,
                         static_cast<uint32_t>(now >> (step.op.detail & 31)) & field_mask(step.op));
}
void run_get_zero(Step& step) {
    step.wave.set_scalar(step.op.scalar_result.index, 0);
}
void run_set_mode(Step& step) {
    const uint32_t offset = step.op.detail & 31;
    const uint32_t mask = field_mask(step.op) << offset;
    const auto value = static_cast<uint32_t>(step.strict_scalar(0, "written to MODE"));
    set_mode(step.wave, (pack_mode(step.wave.mode) & ~mask) | (value << offset & mask));
}

void decode_get_register(Decode& decode) {
    const HardwareField field = hardware_field(decode, 1);
    decode.scalar_result(0, ValueType::B32);
    decode.op().klass = InstructionClass::Scalar;
    decode.op().detail = field.offset | field.width << 8;
    if (field.name == "HW_REG_MODE" || field.name == "HW_REG_WAVE_MODE")
        decode.op().run = run_get_mode;
    else if (field.name.starts_with("HW_REG_SHADER_CYCLES"))
        decode.op().run = run_get_time;
    else if (field.name == "HW_REG_SH_MEM_BASES")
        decode.op().run = run_get_bases;
    else if (field.name.starts_with("HW_REG_HW_ID") || field.name == "HW_REG_XCC_ID")
        decode.op().run = run_get_zero;
    else
        decode.refuse("register " + field.name);
}

void decode_set_register(Decode& decode) {
    const HardwareField field = hardware_field(decode, 0);
    decode.source(1, ValueType::B32);
    decode.op().klass = InstructionClass::Scalar;
    decode.op().detail = field.offset | field.width << 8;
    if (field.name == "HW_REG_MODE" || field.name == "HW_REG_WAVE_MODE")
        decode.op().run = run_set_mode;
    else if (field.name == "HW_REG_WAVE_SCHED_MODE")
        decode.op().run = run_nothing;
    else
        decode.refuse("register " + field.name);
}

/// M0 takes the distance in bits 7:0 and, as the manual has it, the operands in bits 15:12.
void run_relative_on(Step& step) {
    const auto distance = static_cast<uint32_t>(step.strict_scalar(0, "a distance between registers")) & 0xff;
    step.wave.relative = static_cast<uint8_t>(step.op.immediate);
    step.wave.set_scalar(kM0, distance | static_cast<uint32_t>(step.op.immediate) << 12);
}
void run_relative_distance(Step& step) {
    const auto distance = static_cast<uint32_t>(step.strict_scalar(0, "a distance between registers")) & 0xff;
    step.wave.set_scalar(kM0, (step.wave.scalar[kM0] & ~0xffU) | distance);
}
void run_relative_off(Step& step) {
    step.wave.relative = 0;
}

/// "gpr_idx(SRC0,DST)" or its number.
int64_t relative_operands(const Decode& decode, const Operand& operand) {
    if (operand.kind == Operand::Kind::Integer) return operand.integer & 15;
    constexpr const char* kNames[] = {"SRC0", "SRC1", "SRC2", "DST"};
    if (!operand.text.starts_with("gpr_idx(")) decode.refuse("operand " + operand.text);
    int64_t bits = 0;
    for (int i = 0; i < 4; ++i) {
        if (operand.text.find(kNames[i]) != std::string::npos) bits |= int64_t{1} << i;
    }
    return bits;
}

void add_relative_registers(DecoderTable& table) {
    table["s_set_gpr_idx_on"] = [](Decode& decode) {
        decode.expect_operands(2, 2);
        decode.op().klass = InstructionClass::Scalar;
        decode.source(0, ValueType::B32);
        decode.op().immediate = relative_operands(decode, decode.operand(1));
        decode.op().run = run_relative_on;
    };
    table["s_set_gpr_idx_idx"] = [](Decode& decode) {
        decode.expect_operands(1, 1);
        decode.op().klass = InstructionClass::Scalar;
        decode.source(0, ValueType::B32);
        decode.op().run = run_relative_distance;
    };
    table["s_set_gpr_idx_off"] = [](Decode& decode) {
        decode.op().klass = InstructionClass::Scalar;
        decode.op().run = run_relative_off;
    };
}

/// s_round_mode and s_denorm_mode: four bits of MODE.
void run_mode_bits(Step& step) {
    const auto shift = static_cast<uint32_t>(step.op.detail);
    set_mode(step.wave, (pack_mode(step.wave.mode) & ~(15U << shift)) | (static_cast<uint32_t>(step.op.immediate) & 15)
                                                                            << shift);
}

void add_mode_bits(DecoderTable& table) {
    for (const auto& [name, shift] : {std::pair{"s_round_mode", 0U}, {"s_denorm_mode", 4U}}) {
        table[name] = [shift = shift](Decode& decode) {
            decode.expect_operands(1, 1);
            decode.op().klass = InstructionClass::Control;
            decode.op().immediate = decode.operand(0).integer;
            decode.op().detail = shift;
            decode.op().run = run_mode_bits;
        };
    }
}

/// Instructions that change only timing, which is not modelled.
void decode_nothing(Decode& decode) {
    decode.drop_modifiers();
    decode.op().klass = InstructionClass::Control;
    decode.op().run = run_nothing;
}

}  // namespace

void add_control_ops(DecoderTable& table) {
    add_branches(table);
    add_calls(table);
    add_relative_registers(table);
    add_mode_bits(table);
    add_waits(table);
    add_barriers(table);
    for (const char* name : {"s_endpgm", "s_endpgm_saved"}) {
        table[name] = [](Decode& decode) {
            decode.op().klass = InstructionClass::Control;
            decode.op().run = run_end;
        };
    }
    table["s_trap"] = [](Decode& decode) {
        decode.op().klass = InstructionClass::Control;
        decode.op().immediate = decode.operand(0).integer;
        decode.op().run = run_trap;
    };
    table["s_getreg_b32"] = decode_get_register;
    table["s_setreg_b32"] = decode_set_register;
    table["s_setreg_imm32_b32"] = decode_set_register;
    for (const char* name : {"s_nop",
                             "s_sleep",
                             "s_setprio",
                             "s_sethalt",
                             "s_icache_inv",
                             "s_incperflevel",
                             "s_decperflevel",
                             "s_ttracedata",
                             "s_inst_prefetch",
                             "s_code_end",
                             "s_clause",
                             "s_delay_alu",
                             "s_set_inst_prefetch_distance",
                             "s_waitcnt_depctr",
                             "s_wait_alu",
                             "s_wait_event",
                             "s_wait_expcnt",
                             "s_wait_samplecnt",
                             "s_wait_bvhcnt",
                             "s_sendmsg",
                             "s_sleep_var"}) {
        table[name] = decode_nothing;
    }
}

}  // namespace emulated_gpu::hip
