// Control flow: PTX ISA, chapter "Control Flow Instructions", and the miscellaneous instructions.

#include <algorithm>
#include <cstring>

#include "tests/emulated_gpu/cuda/device_printf.h"
#include "tests/emulated_gpu/cuda/lanewise.h"

namespace emulated_gpu {
namespace {

void jump(Step& step, uint32_t target) {
    if (target <= step.group.pc) ++step.group.back_jumps;
    step.group.pc = target;
}

Flow branch(Step& step) {
    leave_others_behind(step);
    jump(step, static_cast<uint32_t>(step.op.target));
    return Flow::Jumped;
}
void decode_bra(Decode& decode) {
    decode.op().klass = InstructionClass::Control;
    decode.accept("uni");
    decode.expect_operands(1, 1);
    if (decode.operand(0).kind != Operand::Kind::Label) decode.fail("a label expected");
    decode.op().target = decode.operand(0).index;
    decode.op().run = &branch;
}

/// brx.idx: each lane goes to the label its index picks.
Flow branch_indexed(Step& step) {
    leave_others_behind(step);
    const uint64_t* index = step.source(0);
    const uint32_t pc = step.group.pc;
    uint32_t left = step.mask;
    while (left != 0) {
        const int lane = std::countr_zero(left);
        if (index[lane] >= step.op.targets.size()) {
            throw Fault{
                FaultKind::Trap,
                "brx.idx picks label " + std::to_string(index[lane]) + " of " + std::to_string(step.op.targets.size()),
                lane};
        }
        uint32_t same = 0;
        for_lanes(left, [&](int i) { same |= static_cast<uint32_t>(index[i] == index[lane]) << i; });
        left &= ~same;
        const auto target = static_cast<uint32_t>(step.op.targets[index[lane]]);
        if (left == 0) {
            step.group.mask = same;
            jump(step, target);
        } else {
            Group other = step.group;
            other.mask = same;
            other.pc = target;
            other.back_jumps += target <= pc ? 1 : 0;
            step.warp.groups.push_back(other);
        }
    }
    return Flow::Jumped;
}
void decode_brx(Decode& decode) {
    decode.op().klass = InstructionClass::Control;
    decode.expect("idx");
    decode.accept("uni");
    decode.source(decode.operand(0), Type::U32, true);
    decode.op().targets = decode.instruction().targets;
    decode.op().run = &branch_indexed;
}

Flow exit_threads(Step& step) {
    const bool all = step.mask == step.group.mask;
    exit_lanes(step, step.mask);
    return all ? Flow::Jumped : Flow::Next;
}

void copy_local(Warp& warp, uint32_t lanes, uint64_t to, uint64_t from, uint64_t bytes) {
    for_lanes(lanes, [&](int lane) {
        const uint64_t base = static_cast<uint64_t>(lane) * warp.local_stride;
        std::memcpy(warp.local.data() + base + to, warp.local.data() + base + from, bytes);
        std::memcpy(warp.local_written.data() + base + to, warp.local_written.data() + base + from, bytes);
    });
}

Flow return_from(Step& step) {
    if (!step.frame.parent) return exit_threads(step);
    leave_others_behind(step);
    const std::shared_ptr<Frame> callee = step.group.frame;
    const std::shared_ptr<Frame> caller = callee->parent;
    const Op& call = caller->function->ops[callee->return_pc - 1];
    for (const auto& [to, from, bytes] : call.copies_out) {
        copy_local(step.warp, step.mask, caller->local_base + to, callee->local_base + from, bytes);
    }
    step.group.pc = callee->return_pc;
    step.group.frame = caller;
    return Flow::Jumped;
}
template <Handler kRun>
void decode_end(Decode& decode) {
    decode.op().klass = InstructionClass::Control;
    decode.accept("uni");
    decode.expect_operands(0, 0);
    decode.op().run = kRun;
}

Flow call_function(Step& step) {
    leave_others_behind(step);
    const std::shared_ptr<Frame> caller = step.group.frame;
    const std::shared_ptr<Frame> callee = make_frame(step.block, step.warp, *step.op.callee, caller);
    callee->return_pc = step.group.pc + 1;
    for_lanes(step.mask, [&](int lane) {
        const uint64_t base = static_cast<uint64_t>(lane) * step.warp.local_stride + callee->local_base;
        std::memset(step.warp.local_written.data() + base, 0, step.op.callee->local_bytes);
    });
    for (const auto& [from, to, bytes] : step.op.copies_in) {
        copy_local(step.warp, step.mask, callee->local_base + to, caller->local_base + from, bytes);
    }
    step.group.frame = callee;
    step.group.pc = 0;
    return Flow::Jumped;
}

Flow call_printf(Step& step) {
    uint8_t* local = step.warp.local.data();
    for_lanes(step.mask, [&](int lane) {
        uint8_t* base = local + static_cast<uint64_t>(lane) * step.warp.local_stride + step.frame.local_base;
        uint64_t format = 0;
        uint64_t arguments = 0;
        std::memcpy(&format, base + step.op.copies_in[0][0], sizeof format);
        std::memcpy(&arguments, base + step.op.copies_in[1][0], sizeof arguments);
        const std::string text = format_device_text(step, lane, format, arguments);
        if (step.launch.print) step.launch.print(text);
        if (step.op.copies_out.empty()) return;
        const int32_t length = static_cast<int32_t>(text.size());
        std::memcpy(base + step.op.copies_out[0][0], &length, sizeof length);
        const size_t at = static_cast<size_t>(base - local) + step.op.copies_out[0][0];
        std::fill_n(step.warp.local_written.begin() + static_cast<ptrdiff_t>(at), 4, uint8_t{1});
    });
    return Flow::Next;
}

/// __assertfail(message, file, line, function, size of a character)
Flow call_assertion_failed(Step& step) {
    const int lane = std::countr_zero(step.mask);
    const uint8_t* base =
        step.warp.local.data() + static_cast<uint64_t>(lane) * step.warp.local_stride + step.frame.local_base;
    const auto argument = [&](size_t index) {
        uint64_t value = 0;
        std::memcpy(&value, base + step.op.copies_in[index][0], std::min<size_t>(step.op.copies_in[index][2], 8));
        return value;
    };
    throw Fault{FaultKind::AssertFailed,
                "assertion '" + read_device_string(step, argument(0)) + "' failed at " +
                    read_device_string(step, argument(1)) + ":" + std::to_string(argument(2)),
                lane};
}

/// Where lane `lane` has argument or result variables of the call, by their offset in the frame.
uint8_t* call_variable(Step& step, int lane, uint32_t offset) {
    return step.warp.local.data() + static_cast<uint64_t>(lane) * step.warp.local_stride + step.frame.local_base +
           offset;
}

/// malloc(bytes): null where the device has no memory left.
Flow call_malloc(Step& step) {
    for_lanes(step.mask, [&](int lane) {
        uint64_t bytes = 0;
        std::memcpy(&bytes, call_variable(step, lane, step.op.copies_in[0][0]), sizeof bytes);
        const uint64_t address = step.launch.memory.allocate(bytes, "memory that a kernel allocated");
        if (step.op.copies_out.empty()) return;
        uint8_t* to = call_variable(step, lane, step.op.copies_out[0][0]);
        std::memcpy(to, &address, sizeof address);
        const auto at = to - step.warp.local.data();
        std::fill_n(step.warp.local_written.begin() + at, sizeof address, uint8_t{1});
    });
    return Flow::Next;
}

Flow call_free(Step& step) {
    for_lanes(step.mask, [&](int lane) {
        uint64_t address = 0;
        std::memcpy(&address, call_variable(step, lane, step.op.copies_in[0][0]), sizeof address);
        if (address == 0 || step.launch.memory.release(address)) return;
        throw Fault{FaultKind::IllegalAddress, "frees " + hexadecimal(address) + ", where no allocation begins", lane};
    });
    step.launch.recent = nullptr;
    return Flow::Next;
}

/// Pairs each argument (a .param variable of the caller) with where the callee has it.
void match_arguments(Decode& decode, const std::vector<Operand>& actual, const std::vector<Variable>& formal,
                     const std::map<std::string, Placed>& places, std::vector<std::array<uint32_t, 3>>& copies) {
    if (actual.size() != formal.size()) decode.fail("the call does not fit the function's parameters");
    for (size_t i = 0; i < actual.size(); ++i) {
        const auto found = decode.function().locals.find(actual[i].name);
        if (actual[i].kind != Operand::Kind::Symbol || found == decode.function().locals.end()) {
            decode.refuse("an argument that is no .param variable");
        }
        const auto mine = static_cast<uint32_t>(found->second.offset);
        const auto place = places.find(formal[i].name);
        const auto other = place == places.end() ? 0 : static_cast<uint32_t>(place->second.offset);
        const auto bytes = static_cast<uint32_t>(std::min(found->second.bytes, formal[i].bytes));
        copies.push_back({mine, other, bytes});
    }
}

void decode_call(Decode& decode) {
    Op& op = decode.op();
    op.klass = InstructionClass::Control;
    decode.accept("uni");
    if (decode.operand(0).kind != Operand::Kind::Symbol) decode.refuse("an indirect target");
    const std::string& name = decode.operand(0).name;
    const auto found = decode.symbols().functions->find(name);
    if (found == decode.symbols().functions->end()) decode.fail("there is no function '" + name + "'");
    const LoadedFunction& callee = *found->second;
    const Instruction& instruction = decode.instruction();
    match_arguments(decode, instruction.arguments, callee.source->parameters, callee.locals, op.copies_in);
    match_arguments(decode, instruction.returns, callee.source->returns, callee.locals, op.copies_out);
    op.callee = &callee;
    if (callee.source->has_body)
        op.run = &call_function;
    else if (name == "vprintf")
        op.run = &call_printf;
    else if (name == "__assertfail")
        op.run = &call_assertion_failed;
    else if (name == "malloc" && op.copies_in.size() == 1)
        op.run = &call_malloc;
    else if (name == "free" && op.copies_in.size() == 1)
        op.run = &call_free;
    else
        decode.refuse("the function '" + name + "'");
}

Flow trap(Step& step) {
    throw Fault{FaultKind::Trap, "the kernel executed a trap", std::countr_zero(step.mask)};
}
Flow nothing(Step&) {
    return Flow::Next;
}

void decode_trap(Decode& decode) {
    decode.op().klass = InstructionClass::Control;
    decode.op().run = &trap;
}
void decode_nanosleep(Decode& decode) {
    decode.op().klass = InstructionClass::Control;
    decode.expect("u32");
    decode.expect_operands(1, 1);
    decode.source(decode.operand(0), Type::U32);
    decode.op().run = [](Step& step) {  // others go first
        step.group.back_jumps += 64;
        return Flow::Next;
    };
}
void decode_pmevent(Decode& decode) {
    decode.op().klass = InstructionClass::Control;
    decode.accept("mask");
    decode.op().run = &nothing;
}

}  // namespace

void add_control_decoders(std::map<std::string, Decoder>& decoders) {
    decoders["bra"] = &decode_bra;
    decoders["brx"] = &decode_brx;
    decoders["call"] = &decode_call;
    decoders["ret"] = &decode_end<&return_from>;
    decoders["exit"] = &decode_end<&exit_threads>;
    decoders["trap"] = &decode_trap;
    decoders["brkpt"] = &decode_trap;
    decoders["nanosleep"] = &decode_nanosleep;
    decoders["pmevent"] = &decode_pmevent;
}

}  // namespace emulated_gpu
