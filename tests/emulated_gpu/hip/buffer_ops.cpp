// MUBUF instructions: memory through a buffer descriptor (CDNA ISA, "Vector Memory Buffer Instructions").

#include "tests/emulated_gpu/hip/vector_access.h"

namespace emulated_gpu::hip {
namespace {

// Above the access's own fields in Op::detail.
constexpr uint64_t kOffsetEnabled = uint64_t{1} << 16;
constexpr uint64_t kIndexEnabled = uint64_t{1} << 17;

/// The fields of a buffer descriptor, four scalar registers.
struct Descriptor {
    uint64_t base = 0;
    uint32_t stride = 0;
    bool swizzled = false;
    uint32_t records = 0;
    bool adds_lane = false;
    uint32_t range_check = 0;  // RDNA's OOB_SELECT
    uint32_t index_stride = 8;
    uint32_t element_bytes = 2;
};

/// Where RDNA's descriptors differ (RDNA3 ISA, "Buffer Resource Descriptor"): two bits enable the swizzle and tell how
/// many bytes stay together, and two choose what is out of range.
void read_rdna_fields(uint32_t second, uint32_t fourth, Descriptor& descriptor) {
    descriptor.swizzled = second >> 30 != 0;
    descriptor.element_bytes = 2U << (second >> 30);
    descriptor.range_check = (fourth >> 28) & 3;
}

Descriptor read_descriptor(const Step& step, uint32_t first) {
    for (uint32_t i = 0; i < 4; ++i) {
        if (step.wave.scalar_known[first + i] == ~0U || !step.launch.options.check_registers) continue;
        throw Fault{FaultKind::UninitialisedRegister, "a buffer descriptor was never written"};
    }
    const auto& words = step.wave.scalar;
    Descriptor descriptor;
    descriptor.base = step.wave.pair(first) & 0xffff'ffff'ffff;
    descriptor.stride = (words[first + 1] >> 16) & 0x3fff;
    descriptor.swizzled = (words[first + 1] >> 31) != 0;
    descriptor.records = words[first + 2];
    descriptor.element_bytes = 2U << ((words[first + 3] >> 19) & 3);
    descriptor.index_stride = 8U << ((words[first + 3] >> 21) & 3);
    descriptor.adds_lane = ((words[first + 3] >> 23) & 1) != 0;
    if (step.launch.module.object.architecture.is_rdna())
        read_rdna_fields(words[first + 1], words[first + 3], descriptor);
    return descriptor;
}

struct LaneOffsets {
    uint32_t index = 0;
    uint32_t offset = 0;
};

/// Out of range: beyond the records of a structured buffer, or beyond the bytes of a raw one.
bool in_rdna_range(const Descriptor& descriptor, const LaneOffsets& at, uint32_t scalar_offset, uint32_t bytes) {
    switch (descriptor.range_check) {
        case 0:
            return at.index < descriptor.records && uint64_t{at.offset} + bytes <= descriptor.stride;
        case 1:
            return at.index < descriptor.records;
        case 2:
            return descriptor.records != 0;
        default:
            return uint64_t{at.index} * descriptor.stride + at.offset + bytes + scalar_offset <= descriptor.records;
    }
}
bool in_range(const Descriptor& descriptor, const LaneOffsets& at, uint32_t scalar_offset, uint32_t bytes) {
    if (descriptor.stride != 0) {
        return at.index < descriptor.records && (!descriptor.swizzled || at.offset < descriptor.stride);
    }
    return uint64_t{at.offset} + bytes + scalar_offset <= descriptor.records;
}

uint64_t address_in(const Descriptor& descriptor, const LaneOffsets& at, uint32_t scalar_offset) {
    uint64_t offset = uint64_t{at.index} * descriptor.stride + at.offset;
    if (descriptor.swizzled) {
        const uint64_t row = at.index / descriptor.index_stride * uint64_t{descriptor.stride} +
                             at.offset / descriptor.element_bytes * uint64_t{descriptor.element_bytes};
        offset = row * descriptor.index_stride + at.index % descriptor.index_stride * descriptor.element_bytes +
                 at.offset % descriptor.element_bytes;
    }
    return descriptor.base + scalar_offset + offset;
}

/// The private memory's descriptor adds the lane and swizzles, so that a lane's offset is the scalar one's 64th part
/// plus its own.
bool is_private(const Descriptor& descriptor) {
    return descriptor.adds_lane && descriptor.base >= kScratchWindow &&
           descriptor.base < kScratchWindow + kApertureBytes;
}

VectorAccess buffer_addresses(Step& step) {
    const Op& op = step.op;
    VectorAccess access;
    if (step.exec == 0) return access;
    const bool has_vector = (op.detail & (kOffsetEnabled | kIndexEnabled)) != 0;
    const bool has_both = (op.detail & kOffsetEnabled) != 0 && (op.detail & kIndexEnabled) != 0;
    const size_t first_scalar = has_vector ? 1 : 0;
    if (has_vector) step.require_known(step.known(0, has_both ? 2 : 1), "an offset into a buffer");
    const Descriptor descriptor = read_descriptor(step, op.sources[first_scalar].index);
    const auto scalar_offset = static_cast<uint32_t>(step.strict_scalar(first_scalar + 1, "an offset into a buffer"));
    const bool is_rdna = step.launch.module.object.architecture.is_rdna();
    const bool is_scratch = !is_rdna && is_private(descriptor);
    access.space = is_scratch ? Space::Scratch : Space::Global;
    for_lanes(step.exec, [&](uint32_t lane) {
        LaneOffsets at;
        if ((op.detail & kIndexEnabled) != 0) at.index = vector_words(step, 0)[lane];
        if ((op.detail & kOffsetEnabled) != 0) at.offset = vector_words(step, 0, has_both ? 1 : 0)[lane];
        at.offset += static_cast<uint32_t>(op.immediate);
        if (is_scratch) {
            access.mask |= uint64_t{1} << lane;
            access.address[lane] = scalar_offset / kLanes + at.offset;
            return;
        }
        if (descriptor.adds_lane) at.index += lane;
        const auto check = is_rdna ? in_rdna_range : in_range;
        (check(descriptor, at, scalar_offset, op.bytes) ? access.mask : access.zeros) |= uint64_t{1} << lane;
        access.address[lane] = address_in(descriptor, at, scalar_offset);
    });
    return access;
}

template <void (*kRun)(Step&, VectorAccess&)>
void run_buffer(Step& step) {
    VectorAccess access = buffer_addresses(step);
    kRun(step, access);
}

void run_buffer_to_lds(Step& step) {
    VectorAccess access = buffer_addresses(step);
    if (step.launch.options.check_registers && step.wave.scalar_known[kM0] != ~0U) {
        throw Fault{FaultKind::UninitialisedRegister, "M0, where a load into LDS begins, was never written"};
    }
    load_to_lds(step, access, (step.wave.scalar[kM0] & 0xffff) + static_cast<uint32_t>(step.op.immediate));
}

/// `vector address or off, descriptor, scalar offset` from `first` on.
void take_buffer_address(Decode& decode, size_t first) {
    Op& op = decode.op();
    op.klass = InstructionClass::VectorMemory;
    op.immediate = decode.take_number("offset").value_or(0);
    const bool offset = decode.take_flag("offen");
    const bool index = decode.take_flag("idxen");
    if (offset) op.detail |= kOffsetEnabled;
    if (index) op.detail |= kIndexEnabled;
    if (offset || index) {
        decode.vector_register(first, offset && index ? 2 : 1);
        decode.source(first, ValueType::Wide);
    } else if (decode.operand(first).kind != Operand::Kind::Off) {
        decode.refuse("operand " + decode.operand(first).text);
    }
    if (decode.operand(first + 1).count != 4) decode.refuse("operand " + decode.operand(first + 1).text);
    decode.source(first + 1, ValueType::Wide);
    decode.source(first + 2, ValueType::B32);
}

void decode_buffer_load(Decode& decode, const AccessForm& form) {
    decode.op().detail = static_cast<uint64_t>(form.format);
    decode.op().bytes = form.bytes;
    take_cache_modifiers(decode);
    if (decode.take_flag("lds")) {
        const bool zero_extends = form.format == Format::U8 || form.format == Format::U16;
        if (form.format != Format::Words || zero_extends) decode.refuse("lds with less than a dword");
        take_buffer_address(decode, decode.operand_count() - 3);
        decode.touch(false, false, kM0, 1);
        decode.op().run = run_buffer_to_lds;
        return;
    }
    decode.expect_operands(4, 4);
    decode.vector_register(0, registers_for(form.bytes));
    decode.result(0, ValueType::Wide);
    take_buffer_address(decode, 1);
    decode.op().run = run_buffer<load_vector>;
}

void decode_buffer_store(Decode& decode, const AccessForm& form) {
    decode.expect_operands(4, 4);
    decode.op().detail = static_cast<uint64_t>(form.format);
    decode.op().bytes = form.bytes;
    take_cache_modifiers(decode);
    take_buffer_address(decode, 1);
    decode.vector_register(0, registers_for(form.bytes));
    decode.source(0, ValueType::Wide);
    decode.op().run = run_buffer<store_vector>;
}

void decode_buffer_atomic(Decode& decode, const AtomicForm& form) {
    decode.expect_operands(4, 4);
    const bool returns = take_cache_modifiers(decode);
    decode.op().detail = static_cast<uint64_t>(form.kind) | (returns ? kReturnsOld : 0);
    decode.op().bytes = form.bytes;
    const uint32_t registers = form.bytes / 4 * (form.kind == AtomicKind::CompareSwap ? 2 : 1);
    take_buffer_address(decode, 1);
    decode.vector_register(0, registers);
    decode.source(0, ValueType::Wide);
    if (returns) {
        decode.result(0, ValueType::Wide);
        decode.op().result.registers = static_cast<uint8_t>(form.bytes / 4);
    }
    decode.op().run = run_buffer<atomic_vector>;
}

/// Caches are not modelled; what writes them back is counted by vmcnt.
void run_write_back(Step& step) {
    issue(step, Pending{});
}
void run_invalidate(Step&) {}

}  // namespace

void add_buffer_ops(DecoderTable& table) {
    add_forms(table, "buffer_load_", kLoadForms, decode_buffer_load);
    add_forms(table, "buffer_store_", kStoreForms, decode_buffer_store);
    add_forms(table, "buffer_atomic_", kAtomicForms, decode_buffer_atomic);
    for (const std::string name : {"wbl2", "inv", "wbinvl1", "wbinvl1_vol", "invl2", "gl0_inv", "gl1_inv"}) {
        table["buffer_" + name] = [counted = name == "wbl2"](Decode& decode) {
            take_cache_modifiers(decode);
            decode.op().klass = InstructionClass::VectorMemory;
            decode.op().run = counted ? run_write_back : run_invalidate;
        };
    }
}

}  // namespace emulated_gpu::hip
