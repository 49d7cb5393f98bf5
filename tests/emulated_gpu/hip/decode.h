#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "tests/emulated_gpu/hip/program.h"

namespace emulated_gpu::hip {

/// How many registers a value of the type takes; Wide: as many as the operand names.
uint32_t registers_of(ValueType type);

/// One instruction being decoded. A decoder takes every operand and modifier; what is left over is refused.
class Decode {
public:
    Decode(const Instruction& instruction, Op& op, const Architecture& architecture)
        : instruction_(instruction), op_(op), architecture_(architecture), left_(instruction.modifiers) {}

    const Instruction& instruction() const { return instruction_; }
    Op& op() { return op_; }
    const Architecture& architecture() const { return architecture_; }
    /// Of a bit for each lane of a wave.
    ValueType mask_type() const { return architecture_.wave_lanes == 32 ? ValueType::B32 : ValueType::B64; }
    [[noreturn]] void refuse(const std::string& what) const;

    size_t operand_count() const { return instruction_.operands.size(); }
    void expect_operands(size_t fewest, size_t most) const;
    const Operand& operand(size_t index) const { return instruction_.operands.at(index); }
    bool has_vector(size_t index) const;

    /// Appends operand `index` to the op's sources.
    void source(size_t index, ValueType type);
    /// Appends a register that is read but not written out as a source, such as an accumulator or vcc.
    void register_source(Source::Kind kind, uint32_t first, ValueType type, uint32_t registers);
    void result(size_t index, ValueType type);
    /// The result that is a mask of lanes or another scalar.
    void scalar_result(size_t index, ValueType type);
    void touch(bool vector, bool writes, uint32_t first, uint32_t count);
    /// The operand's first register, which must have that many.
    uint32_t vector_register(size_t index, uint32_t registers) const;

    bool take_flag(const std::string& name) { return left_.erase(name) != 0; }
    std::optional<int64_t> take_number(const std::string& name);
    /// Bits of "[1,0,1]", the first one lowest; `missing` if the modifier is not there.
    uint32_t take_bits(const std::string& name, uint32_t missing);
    std::optional<std::string> take_text(const std::string& name);

    /// clamp, omod, op_sel, DPP and SDWA, which vector ALU instructions may have.
    void take_vector_modifiers();
    /// For instructions that mean nothing here but time.
    void drop_modifiers() { left_.clear(); }
    /// Refuses what nobody took.
    void finish() const;

private:
    void take_permutation();
    void take_parts();
    void take_half_selection();

    const Instruction& instruction_;
    Op& op_;
    const Architecture& architecture_;
    std::map<std::string, std::string> left_;
};

using Decoder = std::function<void(Decode&)>;
using DecoderTable = std::unordered_map<std::string, Decoder>;

/// Decoders by mnemonic, of all families.
const DecoderTable& decoders();
/// Decodes one instruction, or throws LoadError.
void decode_instruction(const Instruction& instruction, const Architecture& architecture, Op& op);

void add_scalar_ops(DecoderTable& table);
void add_control_ops(DecoderTable& table);
void add_scalar_memory_ops(DecoderTable& table);
void add_vector_integer_ops(DecoderTable& table);
void add_vector_float_ops(DecoderTable& table);
void add_division_ops(DecoderTable& table);
void add_conversion_ops(DecoderTable& table);
void add_compare_ops(DecoderTable& table);
void add_packed_ops(DecoderTable& table);
void add_cross_lane_ops(DecoderTable& table);
void add_matrix_ops(DecoderTable& table);
void add_wave_matrix_ops(DecoderTable& table);
void add_global_ops(DecoderTable& table);
void add_buffer_ops(DecoderTable& table);
void add_lds_ops(DecoderTable& table);
void add_scalar_float_ops(DecoderTable& table);
void add_rdna_vector_ops(DecoderTable& table);
void add_dual_ops(DecoderTable& table);
/// Instructions that RDNA has under another name than CDNA.
void add_rdna_names(DecoderTable& table);

}  // namespace emulated_gpu::hip
