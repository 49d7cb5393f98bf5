#pragma once

#include <array>
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

/// Bits of one value of the type; 1 for predicates.
int type_bits(Type type);
bool is_signed(Type type);
bool is_float(Type type);
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
