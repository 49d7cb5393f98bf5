#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace emulated_gpu {

/// A place in PTX text; lines and columns count from 1.
struct Position {
    int line = 0;
    int column = 0;
};

/// PTX that is malformed, or that uses something the machine does not model. what() names the place.
class PtxError : public std::runtime_error {
public:
    PtxError(Position position, const std::string& message);
    Position position() const { return position_; }

private:
    Position position_;
};

/// State spaces of the PTX ISA, chapter "State Spaces".
enum class Space : uint8_t { Register, Generic, Global, Shared, Constant, Local, Parameter };

/// Fundamental and alternate types of the PTX ISA, chapter "Types".
enum class Type : uint8_t {
    None,
    Predicate,
    B8,
    B16,
    B32,
    B64,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    BF16,
    BF16x2,
    TF32,
    F32,
    F64,
    E4M3,
    E5M2,
    E4M3x2,
    E5M2x2,
    S4,
    U4,
    B1,
};

/// What a type is called, its bits (1 for predicates) and its kind.
struct TypeRow {
    const char* name;
    Type type;
    int bits;
    bool is_signed;
    bool is_float;
};
inline constexpr TypeRow kTypes[] = {
    {"none", Type::None, 0, false, false},     {"pred", Type::Predicate, 1, false, false},
    {"b8", Type::B8, 8, false, false},         {"b16", Type::B16, 16, false, false},
    {"b32", Type::B32, 32, false, false},      {"b64", Type::B64, 64, false, false},
    {"u8", Type::U8, 8, false, false},         {"u16", Type::U16, 16, false, false},
    {"u32", Type::U32, 32, false, false},      {"u64", Type::U64, 64, false, false},
    {"s8", Type::S8, 8, true, false},          {"s16", Type::S16, 16, true, false},
    {"s32", Type::S32, 32, true, false},       {"s64", Type::S64, 64, true, false},
    {"f16", Type::F16, 16, false, true},       {"f16x2", Type::F16x2, 32, false, true},
    {"bf16", Type::BF16, 16, false, true},     {"bf16x2", Type::BF16x2, 32, false, true},
    {"tf32", Type::TF32, 32, false, true},     {"f32", Type::F32, 32, false, true},
    {"f64", Type::F64, 64, false, true},       {"e4m3", Type::E4M3, 8, false, true},
    {"e5m2", Type::E5M2, 8, false, true},      {"e4m3x2", Type::E4M3x2, 16, false, true},
    {"e5m2x2", Type::E5M2x2, 16, false, true}, {"s4", Type::S4, 4, true, false},
    {"u4", Type::U4, 4, false, false},         {"b1", Type::B1, 1, false, false},
};

/// Bits of one value of the type; 1 for predicates.
inline int type_bits(Type type) {
    return kTypes[static_cast<size_t>(type)].bits;
}
inline bool is_signed(Type type) {
    return kTypes[static_cast<size_t>(type)].is_signed;
}
inline bool is_float(Type type) {
    return kTypes[static_cast<size_t>(type)].is_float;
}
std::string type_name(Type type);
/// The type a modifier such as "f32" names; Type::None if it names none.
Type type_named(const std::string& name);

/// One operand as written. Registers and labels are resolved to indices by the parser, symbols by the loader.
struct Operand {
    enum class Kind : uint8_t { Register, Special, Integer, Float, Symbol, Address, Vector, Label, Discard, Paired };
    Kind kind = Kind::Discard;
    Position position;
    std::string name;            // Special ("%tid.x"), Symbol, Label
    int index = -1;              // Register: into Function::registers; Label: instruction
    bool negated = false;        // a predicate behind '!'
    int64_t integer = 0;         // Integer; Float: its bits; Address: the byte offset
    bool is_double = false;      // Float: 0d rather than 0f
    std::vector<Operand> parts;  // Vector: elements; Address: base (if any); Paired: a|b
};

/// A line of the source the PTX was compiled from, from `.loc`.
struct SourceLine {
    int file = 0;
    int line = 0;
};

struct Instruction {
    Position position;
    SourceLine source;
    std::string opcode;                  // "mma"
    std::vector<std::string> modifiers;  // "sync", "aligned", ...
    bool guarded = false;
    Operand guard;
    std::vector<Operand> operands;
    std::vector<Operand> returns;    // of call
    std::vector<Operand> arguments;  // of call
    std::vector<int> targets;        // of brx.idx: instruction indices
    std::string text;                // opcode and modifiers joined by '.'
};

/// A variable in any addressable space.
struct Variable {
    std::string name;
    Position position;
    Space space = Space::Global;
    Type type = Type::B8;
    uint64_t alignment = 1;
    uint64_t bytes = 0;  // 0: extern [] array, sized at launch
    bool external = false;
    std::vector<uint8_t> initial;
    struct Relocation {
        uint64_t offset = 0;
        std::string symbol;
        int64_t addend = 0;
        bool generic = false;
    };
    std::vector<Relocation> relocations;
};

struct Register {
    std::string name;
    Type type = Type::B32;
};

struct Function {
    std::string name;
    Position position;
    bool is_entry = false;
    bool has_body = false;
    std::vector<Variable> parameters;
    std::vector<Variable> returns;
    std::vector<Register> registers;
    std::vector<Variable> variables;  // .local, .shared and .param of the body; names made unique by scope
    std::vector<Instruction> body;
    std::array<uint32_t, 3> required_threads{};  // .reqntid, or zero
    std::array<uint32_t, 3> maximum_threads{};   // .maxntid, or zero
    std::array<uint32_t, 3> required_cluster{};  // .reqnctapercluster, or zero
    bool explicit_cluster = false;
    uint32_t minimum_blocks = 0;     // .minnctapersm, or zero
    uint32_t maximum_registers = 0;  // .maxnreg, or zero
};

struct Module {
    int version = 0;  // 10 * major + minor
    std::string target;
    int capability = 0;          // 80 for sm_80
    bool arch_specific = false;  // sm_90a
    std::vector<Function> functions;
    std::vector<Variable> variables;  // .global, .const and .shared of the module
    std::map<int, std::string> files;
};

}  // namespace emulated_gpu
