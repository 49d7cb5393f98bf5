// Loads of the scalar unit (CDNA ISA, "Scalar Memory Operations").

#include "tests/emulated_gpu/hip/decode.h"
#include "tests/emulated_gpu/hip/memory_access.h"

namespace emulated_gpu::hip {
namespace {

/// The registers of the result are written when a wait covers the load; until then no instruction may touch them.
void load_registers(Step& step, const uint8_t* data) {
    const Result& to = step.op.scalar_result;
    for (uint32_t i = 0; i < to.registers; ++i) {
        uint32_t word = 0;
        std::memcpy(&word, data + 4 * i, 4);
        step.wave.set_scalar(to.index + i, word);
    }
    step.launch.counters.scalar_load_bytes += 4U * to.registers;
    Pending pending;
    pending.kind = Pending::Kind::ScalarMemory;
    pending.vector = false;
    pending.first = to.index;
    pending.count = to.registers;
    issue(step, std::move(pending));
}

uint64_t offset_of(const Step& step, size_t source) {
    const auto offset = static_cast<uint64_t>(step.op.immediate);
    return step.op.source_count > source ? offset + (step.strict_scalar(source, "an address") & 0xffff'ffff) : offset;
}

void run_load(Step& step) {
    const uint64_t address = (step.strict_scalar(0, "an address") + offset_of(step, 1)) & ~uint64_t{3};
    load_registers(step, global_bytes(step, -1, address, 4U * step.op.scalar_result.registers, Access::Load));
}

/// Through a buffer descriptor: out of range reads zeros.
void run_buffer_load(Step& step) {
    const uint32_t first = step.op.sources[0].index;
    for (uint32_t i = 0; i < 4; ++i) {
        if (step.wave.scalar_known[first + i] != ~0U && step.launch.options.check_registers) {
            throw Fault{FaultKind::UninitialisedRegister, "a buffer descriptor was never written"};
        }
    }
    const uint64_t base = step.wave.pair(first) & 0xffff'ffff'ffff;
    const uint32_t stride = (step.wave.scalar[first + 1] >> 16) & 0x3fff;
    const uint64_t range = uint64_t{step.wave.scalar[first + 2]} * (stride == 0 ? 1 : stride);
    const uint64_t offset = offset_of(step, 1) & ~uint64_t{3};
    const uint32_t bytes = 4U * step.op.scalar_result.registers;
    std::array<uint8_t, 64> data{};
    for (uint32_t at = 0; at < bytes && offset + at + 4 <= range; at += 4) {
        std::memcpy(data.data() + at, global_bytes(step, -1, base + offset + at, 4, Access::Load), 4);
    }
    load_registers(step, data.data());
}

void decode_load(Decode& decode, ValueType base, Handler handler) {
    decode.expect_operands(3, 3);
    decode.op().klass = InstructionClass::ScalarMemory;
    decode.scalar_result(0, ValueType::Wide);
    decode.source(1, base);
    if (decode.operand(2).kind == Operand::Kind::Scalar)
        decode.source(2, ValueType::B32);
    else
        decode.op().immediate = decode.operand(2).integer;
    if (const auto offset = decode.take_number("offset")) decode.op().immediate = *offset;
    for (const char* name : {"glc", "dlc", "scope", "th"}) decode.take_text(name);
    decode.op().run = handler;
}

/// RDNA4 loads bytes and halves too.
template <class T>
void run_narrow_load(Step& step) {
    const uint64_t address = step.strict_scalar(0, "an address") + offset_of(step, 1);
    T value = 0;
    std::memcpy(&value, global_bytes(step, -1, address, sizeof value, Access::Load), sizeof value);
    const auto word = static_cast<uint32_t>(int32_t{value});
    load_registers(step, reinterpret_cast<const uint8_t*>(&word));
}

void add_narrow_loads(DecoderTable& table) {
    for (const auto& [name, handler] : {std::pair<const char*, Handler>{"u8", run_narrow_load<uint8_t>},
                                        {"i8", run_narrow_load<int8_t>},
                                        {"u16", run_narrow_load<uint16_t>},
                                        {"i16", run_narrow_load<int16_t>}}) {
        table[std::string("s_load_") + name] = [handler = handler](Decode& decode) {
            decode_load(decode, ValueType::B64, handler);
        };
    }
}

/// s_memtime: a counter, here of the launch's instructions.
void run_time(Step& step) {
    const uint64_t now = step.launch.executed;
    load_registers(step, reinterpret_cast<const uint8_t*>(&now));
}

/// RDNA's clocks are asked for by message.
void decode_message(Decode& decode) {
    decode.expect_operands(2, 2);
    const std::string& message = decode.operand(1).text;
    if (message != "sendmsg(MSG_RTN_GET_REALTIME)") decode.refuse("the message " + message);
    decode.op().klass = InstructionClass::ScalarMemory;
    decode.scalar_result(0, ValueType::B64);
    decode.op().run = run_time;
}

}  // namespace

void add_scalar_memory_ops(DecoderTable& table) {
    for (const std::string width :
         {"dword", "dwordx2", "dwordx4", "dwordx8", "dwordx16", "b32", "b64", "b96", "b128", "b256", "b512"}) {
        table["s_load_" + width] = [](Decode& decode) { decode_load(decode, ValueType::B64, run_load); };
        table["s_buffer_load_" + width] = [](Decode& decode) { decode_load(decode, ValueType::Wide, run_buffer_load); };
    }
    for (const char* name : {"s_memtime", "s_memrealtime"}) {
        table[name] = [](Decode& decode) {
            decode.op().klass = InstructionClass::ScalarMemory;
            decode.scalar_result(0, ValueType::B64);
            decode.op().run = run_time;
        };
    }
    add_narrow_loads(table);
    table["s_sendmsg_rtn_b64"] = decode_message;
    for (const char* name : {"s_gl1_inv", "s_dcache_inv", "s_dcache_wb", "s_dcache_inv_vol", "s_dcache_wb_vol"}) {
        table[name] = [](Decode& decode) {
            decode.op().klass = InstructionClass::ScalarMemory;
            decode.op().run = [](Step&) {};
        };
    }
}

}  // namespace emulated_gpu::hip
