#include "tests/emulated_gpu/hip/decode.h"

#include "tests/emulated_gpu/hip/execution.h"
#include "tests/emulated_gpu/hip/lane_math.h"

namespace emulated_gpu::hip {
namespace {

uint64_t constant_of(const Decode& decode, const Operand& operand, ValueType type) {
    if (operand.kind == Operand::Kind::Aperture) {
        // As a 64-bit operand the aperture's base; as a 32-bit one its upper half.
        const uint64_t base = operand.text == "src_shared_base" ? kLdsAperture : kPrivateAperture;
        return registers_of(type) == 2 ? base : base >> 32;
    }
    if (operand.kind == Operand::Kind::Integer) {
        const auto bits = static_cast<uint64_t>(operand.integer);
        // A literal for f64 is its upper half.
        if (type == ValueType::F64 && operand.literal && bits <= 0xffff'ffff) return bits << 32;
        if (type == ValueType::PackedF32) return (bits & 0xffff'ffff) | bits << 32;
        return registers_of(type) == 2 ? bits : bits & 0xffff'ffff;
    }
    if (operand.kind != Operand::Kind::Float) decode.refuse("operand " + operand.text);
    const auto single = std::bit_cast<uint32_t>(static_cast<float>(operand.real));
    switch (type) {
        case ValueType::B16:
        case ValueType::F16:
        case ValueType::PackedB16:
        case ValueType::PackedF16:
            return double_to_half(operand.real);
        case ValueType::B32:
        case ValueType::F32:
        case ValueType::Wide:
            return single;
        case ValueType::PackedF32:
            return single | uint64_t{single} << 32;
        case ValueType::B64:
        case ValueType::F64:
            return std::bit_cast<uint64_t>(operand.real);
    }
    return 0;
}

Part part_of(const Decode& decode, const std::string& text) {
    constexpr const char* kNames[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"};
    for (uint32_t i = 0; i < 7; ++i) {
        if (text == kNames[i]) return static_cast<Part>(i);
    }
    decode.refuse("selection " + text);
}

/// The lane that lane `lane` reads, -1 for none (CDNA ISA, "DPP").
int permuted_lane(const Decode& decode, const std::string& name, const std::string& argument, int lane) {
    int64_t n = 0;
    parse_integer(argument, n);
    const int row = lane & ~15;
    const int in_row = lane & 15;
    const int by = static_cast<int>(n);
    if (name == "quad_perm")
        return (lane & ~3) + static_cast<int>(parse_list(argument).at(static_cast<size_t>(lane & 3)));
    if (name == "row_shl") return in_row + by < 16 ? lane + by : -1;
    if (name == "row_shr") return in_row - by >= 0 ? lane - by : -1;
    if (name == "row_ror") return row + ((in_row - by) & 15);
    if (name == "row_newbcast" || name == "row_share") return row + by;
    if (name == "row_xmask") return lane ^ by;
    if (name == "dpp8") return (lane & ~7) + static_cast<int>(parse_list(argument).at(static_cast<size_t>(lane & 7)));
    if (name == "wave_shl") return lane < 63 ? lane + 1 : -1;
    if (name == "wave_rol") return (lane + 1) & 63;
    if (name == "wave_shr") return lane > 0 ? lane - 1 : -1;
    if (name == "wave_ror") return (lane - 1) & 63;
    if (name == "row_mirror") return row + 15 - in_row;
    if (name == "row_half_mirror") return (lane & ~7) + 7 - (lane & 7);
    if (name == "row_bcast" && by == 15) return row > 0 ? row - 1 : -1;
    if (name == "row_bcast" && by == 31) return lane >= 32 ? 31 : -1;
    decode.refuse("DPP control " + name);
}

}  // namespace

uint32_t registers_of(ValueType type) {
    switch (type) {
        case ValueType::B16:
        case ValueType::F16:
        case ValueType::B32:
        case ValueType::F32:
        case ValueType::PackedB16:
        case ValueType::PackedF16:
        case ValueType::Wide:
            return 1;
        case ValueType::B64:
        case ValueType::F64:
        case ValueType::PackedF32:
            return 2;
    }
    return 1;
}

void Decode::refuse(const std::string& what) const {
    throw LoadError(what + " of '" + instruction_.text + "' at code address " + hexadecimal(instruction_.address) +
                    " is not modelled");
}

void Decode::expect_operands(size_t fewest, size_t most) const {
    if (operand_count() < fewest || operand_count() > most) refuse("the number of operands");
}

bool Decode::has_vector(size_t index) const {
    return operand(index).kind == Operand::Kind::Vector;
}

void Decode::touch(bool vector, bool writes, uint32_t first, uint32_t count) {
    if (op_.touch_count == op_.touches.size()) refuse("the number of registers");
    op_.touches[op_.touch_count++] = {vector, writes, static_cast<uint16_t>(first), static_cast<uint16_t>(count)};
}

uint32_t Decode::vector_register(size_t index, uint32_t registers) const {
    const Operand& from = operand(index);
    if (from.kind != Operand::Kind::Vector || from.count != registers) refuse("operand " + from.text);
    return from.index;
}

void Decode::register_source(Source::Kind kind, uint32_t first, ValueType type, uint32_t registers) {
    Source source;
    source.kind = kind;
    source.type = type;
    source.index = static_cast<uint16_t>(first);
    op_.sources[op_.source_count++] = source;
    touch(kind == Source::Kind::Vector, false, first, registers);
}

void Decode::source(size_t index, ValueType type) {
    if (index >= operand_count()) refuse("the number of operands");
    const Operand& from = operand(index);
    Source source;
    source.type = type;
    const bool is_null = from.kind == Operand::Kind::Scalar && from.index == kNull;  // reads 0
    if (!is_null && (from.kind == Operand::Kind::Vector || from.kind == Operand::Kind::Scalar)) {
        source.kind = from.kind == Operand::Kind::Vector ? Source::Kind::Vector : Source::Kind::Scalar;
        source.index = static_cast<uint16_t>(from.index);
        if (type != ValueType::Wide && from.count != registers_of(type)) refuse("the width of operand " + from.text);
        touch(from.kind == Operand::Kind::Vector, false, from.index, from.count);
    } else if (!is_null) {
        source.constant = constant_of(*this, from, type);
    }
    source.negate = from.negate;
    source.absolute = from.absolute;
    source.sign_extend = from.sign_extend;
    source.high_half = from.high_half;
    source.plain = !from.negate && !from.absolute && !from.high_half;
    op_.sources[op_.source_count++] = source;
}

void Decode::result(size_t index, ValueType type) {
    const Operand& to = operand(index);
    if (to.kind != Operand::Kind::Vector) refuse("result " + to.text);
    if (type != ValueType::Wide && to.count != registers_of(type)) refuse("the width of result " + to.text);
    op_.result = {Result::Kind::Vector, type, static_cast<uint16_t>(to.index), static_cast<uint8_t>(to.count)};
    touch(true, true, to.index, to.count);
    if (type != ValueType::B16 && type != ValueType::F16) return;
    // RDNA3 ISA, "16-bit data": the other half of the register stays.
    if (architecture_.is_rdna()) op_.preserves_high = true;
    if (to.high_half) op_.high_half = true;
    if (op_.preserves_high || op_.high_half) op_.plain_result = false;
}

void Decode::scalar_result(size_t index, ValueType type) {
    const Operand& to = operand(index);
    if (to.kind != Operand::Kind::Scalar) refuse("result " + to.text);
    if (to.index == kNull) {
        const uint32_t registers = registers_of(type);
        op_.scalar_result = {Result::Kind::Scalar, type, kNull, static_cast<uint8_t>(registers)};
        return;
    }
    if (type != ValueType::Wide && to.count != registers_of(type)) refuse("the width of result " + to.text);
    op_.scalar_result = {Result::Kind::Scalar, type, static_cast<uint16_t>(to.index), static_cast<uint8_t>(to.count)};
    touch(false, true, to.index, to.count);
}

std::optional<int64_t> Decode::take_number(const std::string& name) {
    const auto text = take_text(name);
    if (!text) return std::nullopt;
    int64_t value = 0;
    if (!parse_integer(*text, value)) refuse("modifier " + name + ":" + *text);
    return value;
}

uint32_t Decode::take_bits(const std::string& name, uint32_t missing) {
    const auto text = take_text(name);
    if (!text) return missing;
    uint32_t bits = 0;
    uint32_t at = 0;
    for (const int64_t bit : parse_list(*text)) bits |= static_cast<uint32_t>(bit & 1) << at++;
    return bits;
}

std::optional<std::string> Decode::take_text(const std::string& name) {
    const auto found = left_.find(name);
    if (found == left_.end()) return std::nullopt;
    std::string text = found->second;
    left_.erase(found);
    return text;
}

void Decode::take_permutation() {
    if (!instruction_.dpp) return;
    auto permutation = std::make_shared<LanePermutation>();
    const int64_t rows = take_number("row_mask").value_or(15);
    const int64_t banks = take_number("bank_mask").value_or(15);
    permutation->zero_outside = take_text("bound_ctrl").has_value();
    permutation->reads_inactive = take_number("fi").value_or(0) != 0;
    if (left_.empty()) refuse("the DPP control");
    const auto [name, argument] = *left_.begin();
    left_.erase(left_.begin());
    for (int lane = 0; lane < static_cast<int>(kLanes); ++lane) {
        permutation->from[static_cast<size_t>(lane)] = static_cast<int8_t>(permuted_lane(*this, name, argument, lane));
        const bool enabled = ((rows >> (lane / 16)) & 1) != 0 && ((banks >> (lane / 4 % 4)) & 1) != 0;
        if (!enabled) permutation->enabled &= ~(uint64_t{1} << lane);
    }
    op_.permutation = std::move(permutation);
    op_.sources[0].permuted = true;
    op_.sources[0].plain = false;
}

void Decode::take_parts() {
    if (!instruction_.sdwa) return;
    for (size_t i = 0; i < std::min<size_t>(op_.source_count, 2); ++i) {
        const auto part = take_text("src" + std::to_string(i) + "_sel");
        if (!part) continue;
        op_.sources[i].part = part_of(*this, *part);
        op_.sources[i].plain = false;
    }
    if (const auto part = take_text("dst_sel")) op_.result_part = part_of(*this, *part);
    const auto unused = take_text("dst_unused");
    if (unused == "UNUSED_SEXT") op_.unused_part = 1;
    if (unused == "UNUSED_PRESERVE") op_.unused_part = 2;
    if (op_.result_part != Part::Dword) op_.plain_result = false;
}

void Decode::take_half_selection() {
    const uint32_t bits = take_bits("op_sel", 0);
    for (size_t i = 0; i < op_.source_count; ++i) {
        if (((bits >> i) & 1) == 0) continue;
        op_.sources[i].high_half = true;
        op_.sources[i].plain = false;
    }
    // The bit behind the sources' is the result's.
    if (((bits >> op_.source_count) & 1) != 0) op_.high_half = true;
    if (op_.high_half || op_.preserves_high) op_.plain_result = false;
}

void Decode::take_vector_modifiers() {
    if (take_flag("clamp")) op_.clamp = true;
    if (const auto factor = take_number("mul")) op_.output_exponent = *factor == 2 ? 1 : 2;
    if (take_number("div")) op_.output_exponent = -1;
    if (op_.clamp || op_.output_exponent != 0) op_.plain_result = false;
    take_half_selection();
    take_parts();
    take_permutation();
}

void Decode::finish() const {
    if (!left_.empty()) refuse("modifier " + left_.begin()->first);
}

void decode_instruction(const Instruction& instruction, const Architecture& architecture, Op& op) {
    op.instruction = &instruction;
    Decode decode(instruction, op, architecture);
    if (instruction.text.empty()) {
        throw LoadError("there is no instruction of this processor at code address " +
                        hexadecimal(instruction.address));
    }
    const auto found = decoders().find(instruction.mnemonic);
    if (found == decoders().end()) decode.refuse(instruction.mnemonic);
    try {
        found->second(decode);
    } catch (const std::out_of_range&) {
        decode.refuse("the number of operands");
    }
    decode.finish();
}

const DecoderTable& decoders() {
    static const DecoderTable table = [] {
        DecoderTable all;
        add_scalar_ops(all);
        add_control_ops(all);
        add_scalar_memory_ops(all);
        add_vector_integer_ops(all);
        add_vector_float_ops(all);
        add_division_ops(all);
        add_conversion_ops(all);
        add_compare_ops(all);
        add_packed_ops(all);
        add_cross_lane_ops(all);
        add_matrix_ops(all);
        add_global_ops(all);
        add_buffer_ops(all);
        add_lds_ops(all);
        add_wave_matrix_ops(all);
        add_scalar_float_ops(all);
        add_rdna_vector_ops(all);
        add_dual_ops(all);
        add_rdna_names(all);
        return all;
    }();
    return table;
}

}  // namespace emulated_gpu::hip
