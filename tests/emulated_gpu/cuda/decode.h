#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/emulated_gpu/cuda/program.h"

namespace emulated_gpu {

/// Where symbols lead, for the functions of one kernel.
struct SymbolTable {
    const std::map<std::string, Placed>* variables = nullptr;  // .global and .const
    const std::map<std::string, uint64_t>* shared_offsets = nullptr;
    const std::map<std::string, std::unique_ptr<LoadedFunction>>* functions = nullptr;
    const Module* module = nullptr;
};

/// Decodes one instruction: reads its modifiers and operands and fills in the Op. What is left unread is refused.
class Decode {
public:
    Decode(LoadedFunction& function, const SymbolTable& symbols, const Instruction& instruction, Op& op);

    const Instruction& instruction() const { return instruction_; }
    LoadedFunction& function() { return function_; }
    const SymbolTable& symbols() const { return symbols_; }
    Op& op() { return op_; }

    /// Takes the modifier if it is there.
    bool accept(const std::string& modifier);
    void expect(const std::string& modifier);
    bool has(const std::string& modifier) const;
    /// Takes the first modifier left that names a type.
    Type type();
    bool has_type() const;
    /// Takes a vector modifier: 1, 2 or 4.
    int vector();
    /// Takes .rn .rz .rm .rp (or the integer forms .rni ...), and tells whether there was one.
    bool rounding(Rounding& rounding);
    /// Takes any of the modifiers that only advise caches. A `.L2::cache_hint` has an operand behind the others.
    void cache_hints();
    /// Fails if the module's target is older than sm_`capability`, or lacks the 'a' behind it.
    void needs(int capability, bool arch_specific = false) const;

    size_t count() const { return instruction_.operands.size() - (has_policy_ ? 1 : 0); }
    /// Checks the number of operands, a cache policy at the end not counted.
    void expect_operands(size_t least, size_t most);
    const Operand& operand(size_t index) const { return instruction_.operands[index]; }

    void result(const Operand& operand);
    void source(const Operand& operand, Type type, bool strict = false);
    /// Adds an address' base as a strict source and its offset to the op.
    void address(const Operand& operand);
    /// Adds each element of a vector operand, or the operand itself.
    void results_of(const Operand& operand);
    void sources_of(const Operand& operand, Type type, bool strict = false);
    /// The value of an integer operand; fails where it is none.
    int64_t constant(const Operand& operand) const;
    uint32_t constant_slot(uint64_t bits);

    /// Malformed: `message` with the place.
    [[noreturn]] void fail(const std::string& message) const;
    /// Well formed, perhaps, but not emulated; `what` is a modifier or the like, empty for the whole instruction.
    [[noreturn]] void refuse(const std::string& what = "") const;
    /// Fails if modifiers are left.
    void finish() const;

private:
    uint32_t slot_of(const Operand& operand, Type type);
    uint32_t symbol_slot(const Operand& operand);
    uint32_t special_slot(const Operand& operand);
    uint32_t local_slot(uint64_t offset);

    LoadedFunction& function_;
    const SymbolTable& symbols_;
    const Instruction& instruction_;
    Op& op_;
    std::vector<bool> taken_;
    bool has_policy_ = false;
};

using Decoder = void (*)(Decode&);

/// Opcode -> decoder, of each family of instructions.
void add_integer_decoders(std::map<std::string, Decoder>& decoders);
void add_logic_decoders(std::map<std::string, Decoder>& decoders);
void add_compare_decoders(std::map<std::string, Decoder>& decoders);
void add_float_decoders(std::map<std::string, Decoder>& decoders);
void add_conversion_decoders(std::map<std::string, Decoder>& decoders);
void add_memory_decoders(std::map<std::string, Decoder>& decoders);
void add_atomic_decoders(std::map<std::string, Decoder>& decoders);
void add_matrix_decoders(std::map<std::string, Decoder>& decoders);
void add_warp_decoders(std::map<std::string, Decoder>& decoders);
void add_control_decoders(std::map<std::string, Decoder>& decoders);
void add_barrier_decoders(std::map<std::string, Decoder>& decoders);
void add_memory_barrier_decoders(std::map<std::string, Decoder>& decoders);
void add_warpgroup_decoders(std::map<std::string, Decoder>& decoders);
void add_cluster_decoders(std::map<std::string, Decoder>& decoders);
/// The decoder of cp.async.bulk, for `cp` to hand over to.
void decode_bulk_copy(Decode& decode);
/// Likewise of barrier.cluster.
void decode_cluster_barrier(Decode& decode);
/// Likewise of cp.async.mbarrier.arrive.
void decode_deferred_arrival(Decode& decode);

/// Integer add and the like also exist for floats: the float family's decoders, for the integer family to hand over to.
bool is_float_operation(const Decode& decode);
Decoder float_decoder(const std::string& opcode);

/// All opcodes that are emulated.
const std::map<std::string, Decoder>& all_decoders();

}  // namespace emulated_gpu
