// GLOBAL, FLAT and SCRATCH instructions (CDNA ISA, "Flat Memory Instructions").

#include "tests/emulated_gpu/hip/vector_access.h"

namespace emulated_gpu::hip {
namespace {

/// How a lane's address is made up, in Op::detail above the access's own fields.
constexpr uint64_t kHasVector = uint64_t{1} << 16;  // a vector register is source 0
constexpr uint64_t kHasScalar = uint64_t{1} << 17;  // a scalar one comes next

VectorAccess addresses_of(Step& step, Space space) {
    const Op& op = step.op;
    VectorAccess access;
    access.space = space;
    access.mask = step.exec;
    if (step.exec == 0) return access;
    auto base = static_cast<uint64_t>(op.immediate);
    size_t next = (op.detail & kHasVector) != 0 ? 1 : 0;
    if ((op.detail & kHasScalar) != 0) base += step.strict_scalar(next, "an address");
    if (next == 0) {
        access.address.fill(base);
        return access;
    }
    const bool wide = op.sources[0].type == ValueType::B64;
    step.require_known(step.known(0, wide ? 2 : 1), "an address");
    const uint32_t* low = vector_words(step, 0);
    for (uint32_t i = 0; i < kLanes; ++i) access.address[i] = base + low[i];
    if (wide) {
        const uint32_t* high = vector_words(step, 0, 1);
        for (uint32_t i = 0; i < kLanes; ++i) access.address[i] += uint64_t{high[i]} << 32;
    }
    return access;
}

template <Space kSpace, void (*kRun)(Step&, VectorAccess&)>
void run(Step& step) {
    VectorAccess access = addresses_of(step, kSpace);
    kRun(step, access);
}

/// M0 holds where in LDS the wave's first lane writes; the instruction's offset applies there too.
void run_to_lds(Step& step) {
    VectorAccess access = addresses_of(step, Space::Global);
    if (step.launch.options.check_registers && step.wave.scalar_known[kM0] != ~0U) {
        throw Fault{FaultKind::UninitialisedRegister, "M0, where a load into LDS begins, was never written"};
    }
    const uint32_t base = (step.wave.scalar[kM0] & 0xffff) + static_cast<uint32_t>(step.op.immediate);
    load_to_lds(step, access, base);
}

/// Operands `vector address, scalar address` or what stands for them from `first` on.
void take_address(Decode& decode, size_t first, Space space) {
    Op& op = decode.op();
    op.klass = InstructionClass::VectorMemory;
    op.immediate = decode.take_number("offset").value_or(0);
    const bool has_scalar_operand = space != Space::Flat;
    const Operand& vector = decode.operand(first);
    const bool has_scalar = has_scalar_operand && decode.operand(first + 1).kind == Operand::Kind::Scalar;
    if (vector.kind == Operand::Kind::Vector) {
        const bool wide = space != Space::Scratch && !has_scalar;
        decode.source(first, wide ? ValueType::B64 : ValueType::B32);
        op.detail |= kHasVector;
    } else if (vector.kind != Operand::Kind::Off) {
        decode.refuse("operand " + vector.text);
    }
    if (has_scalar) {
        decode.source(first + 1, space == Space::Scratch ? ValueType::B32 : ValueType::B64);
        op.detail |= kHasScalar;
    }
}

/// Scratch instructions have an offset, vector or scalar, in operand 1 and another behind it: `off, s0`, `v1, off`.
constexpr size_t address_operands(Space space) {
    return space == Space::Flat ? 1 : 2;
}

void decode_load(Decode& decode, Space space, const AccessForm& form, Handler handler) {
    decode.expect_operands(1 + address_operands(space), 1 + address_operands(space));
    decode.op().detail = static_cast<uint64_t>(form.format);
    decode.op().bytes = form.bytes;
    take_cache_modifiers(decode);
    decode.vector_register(0, registers_for(form.bytes));
    decode.result(0, ValueType::Wide);
    take_address(decode, 1, space);
    decode.op().run = handler;
}

void decode_store(Decode& decode, Space space, const AccessForm& form, Handler handler) {
    // `vector address, data, scalar address`
    const size_t operands = 1 + address_operands(space);
    decode.expect_operands(operands, operands);
    Op& op = decode.op();
    op.detail = static_cast<uint64_t>(form.format);
    op.bytes = form.bytes;
    op.klass = InstructionClass::VectorMemory;
    op.immediate = decode.take_number("offset").value_or(0);
    take_cache_modifiers(decode);
    const bool has_scalar = space != Space::Flat && decode.operand(2).kind == Operand::Kind::Scalar;
    if (decode.has_vector(0)) {
        decode.source(0, space != Space::Scratch && !has_scalar ? ValueType::B64 : ValueType::B32);
        op.detail |= kHasVector;
    }
    if (has_scalar) {
        decode.source(2, space == Space::Scratch ? ValueType::B32 : ValueType::B64);
        op.detail |= kHasScalar;
    }
    decode.vector_register(1, registers_for(form.bytes));
    decode.source(1, ValueType::Wide);
    op.run = handler;
}

void decode_atomic(Decode& decode, Space space, const AtomicForm& form, Handler handler) {
    const bool returns = take_cache_modifiers(decode);
    const size_t first = returns ? 1 : 0;
    const size_t operands = first + 1 + address_operands(space);
    decode.expect_operands(operands, operands);
    Op& op = decode.op();
    op.detail = static_cast<uint64_t>(form.kind) | (returns ? kReturnsOld : 0);
    op.bytes = form.bytes;
    op.klass = InstructionClass::VectorMemory;
    op.immediate = decode.take_number("offset").value_or(0);
    if (returns) {
        decode.vector_register(0, form.bytes / 4);
        decode.result(0, ValueType::Wide);
    }
    const bool has_scalar = space != Space::Flat && decode.operand(first + 2).kind == Operand::Kind::Scalar;
    decode.source(first, has_scalar ? ValueType::B32 : ValueType::B64);
    op.detail |= kHasVector;
    if (has_scalar) {
        decode.source(first + 2, ValueType::B64);
        op.detail |= kHasScalar;
    }
    decode.vector_register(first + 1, form.bytes / 4 * (form.kind == AtomicKind::CompareSwap ? 2 : 1));
    decode.source(first + 1, ValueType::Wide);
    op.run = handler;
}

template <Space kSpace>
void add_space(DecoderTable& table, const std::string& prefix) {
    add_forms(table, prefix + "_load_", kLoadForms, [](Decode& decode, const AccessForm& form) {
        decode_load(decode, kSpace, form, run<kSpace, load_vector>);
    });
    add_forms(table, prefix + "_store_", kStoreForms, [](Decode& decode, const AccessForm& form) {
        decode_store(decode, kSpace, form, run<kSpace, store_vector>);
    });
    if (kSpace == Space::Scratch) return;
    add_forms(table, prefix + "_atomic_", kAtomicForms, [](Decode& decode, const AtomicForm& form) {
        decode_atomic(decode, kSpace, form, run<kSpace, atomic_vector>);
    });
}

/// global_load_lds_dword and its kin: `address, scalar address`.
void decode_to_lds(Decode& decode, uint32_t bytes) {
    decode.expect_operands(2, 2);
    decode.op().bytes = bytes;
    take_cache_modifiers(decode);
    take_address(decode, 0, Space::Global);
    decode.touch(false, false, kM0, 1);
    decode.op().run = run_to_lds;
}

void decode_cache_control(Decode& decode, Handler handler) {
    take_cache_modifiers(decode);
    decode.op().klass = InstructionClass::VectorMemory;
    decode.op().run = handler;
}

}  // namespace

void add_global_ops(DecoderTable& table) {
    // RDNA4's controls of caches, which are not modelled: what writes them back is counted with the stores.
    table["global_inv"] = [](Decode& decode) { decode_cache_control(decode, [](Step&) {}); };
    for (const char* name : {"global_wb", "global_wbinv"}) {
        table[name] = [](Decode& decode) {
            decode_cache_control(decode, [](Step& step) {
                Pending pending;
                pending.kind = Pending::Kind::VectorStore;
                issue(step, std::move(pending));
            });
        };
    }
    add_space<Space::Global>(table, "global");
    add_space<Space::Flat>(table, "flat");
    add_space<Space::Scratch>(table, "scratch");
    for (const auto& [name, bytes] : {std::pair{"dword", 4U}, {"dwordx3", 12U}, {"dwordx4", 16U}}) {
        table[std::string("global_load_lds_") + name] = [bytes = bytes](Decode& decode) {
            decode_to_lds(decode, bytes);
        };
    }
}

}  // namespace emulated_gpu::hip
