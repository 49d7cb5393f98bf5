#include "tests/emulated_gpu/cuda/ptx_parser.h"

#include <bit>
#include <cstring>
#include <utility>

#include "tests/emulated_gpu/cuda/body_parser.h"
#include "tests/emulated_gpu/cuda/token_cursor.h"

namespace emulated_gpu {
namespace {

/// The initial value of a variable: numbers, names of other variables, and nested lists of these.
class InitialValueParser {
public:
    InitialValueParser(TokenCursor& cursor, Variable& variable)
        : cursor_(cursor), variable_(variable), element_(static_cast<uint64_t>(type_bits(variable.type)) / 8) {}

    void run() {
        if (!cursor_.is("{")) return parse_element();
        parse_list();
    }

private:
    void parse_list() {
        cursor_.expect("{");
        while (!cursor_.accept("}")) {
            if (cursor_.is("{"))
                parse_list();
            else
                parse_element();
            if (!cursor_.is("}")) cursor_.expect(",");
        }
    }

    void parse_element() {
        if (at_ + element_ > variable_.bytes) cursor_.fail("fewer initial values");
        uint64_t bits = 0;
        if (cursor_.peek().kind == Token::Kind::Identifier)
            bits = parse_symbol();
        else
            bits = parse_number();
        if (variable_.initial.size() < at_ + element_) variable_.initial.resize(at_ + element_);
        std::memcpy(variable_.initial.data() + at_, &bits, element_);
        at_ += element_;
    }

    uint64_t parse_number() {
        const bool negative = cursor_.accept("-");
        const Token token = cursor_.take();
        const bool is_double = token.kind == Token::Kind::Double;
        if (is_double || token.kind == Token::Kind::Float) {
            double value = is_double ? std::bit_cast<double>(token.integer)
                                     : std::bit_cast<float>(static_cast<uint32_t>(token.integer));
            if (negative) value = -value;
            if (variable_.type == Type::F64) return std::bit_cast<uint64_t>(value);
            return std::bit_cast<uint32_t>(static_cast<float>(value));
        }
        if (token.kind != Token::Kind::Integer) throw PtxError(token.position, "an initial value expected");
        return negative ? 0 - token.integer : token.integer;
    }

    uint64_t parse_symbol() {
        Variable::Relocation relocation;
        relocation.offset = at_;
        relocation.symbol = cursor_.expect_identifier("a variable");
        if (relocation.symbol == "generic") {
            relocation.generic = true;
            cursor_.expect("(");
            relocation.symbol = cursor_.expect_identifier("a variable");
            cursor_.expect(")");
        }
        if (cursor_.accept("+")) relocation.addend = cursor_.expect_integer();
        if (element_ != 8) cursor_.fail("an address needs 8 bytes");
        variable_.relocations.push_back(relocation);
        return 0;
    }

    TokenCursor& cursor_;
    Variable& variable_;
    uint64_t element_;
    uint64_t at_ = 0;
};

class ModuleParser {
public:
    explicit ModuleParser(std::string_view text) : cursor_(tokenize(text)) {}

    Module run() {
        parse_version();
        while (!cursor_.at_end()) parse_item();
        return std::move(module_);
    }

private:
    void parse_version() {
        if (!cursor_.accept_directive("version")) cursor_.fail("a module begins with '.version'");
        const Token token = cursor_.take();
        const double version = token.kind == Token::Kind::Double ? std::bit_cast<double>(token.integer)
                                                                 : static_cast<double>(token.integer);
        module_.version = static_cast<int>(version * 10 + 0.5);
    }

    void parse_item() {
        if (cursor_.accept(";")) return;
        const Position position = cursor_.peek().position;
        bool external = false;
        while (true) {
            if (cursor_.accept_directive("visible") || cursor_.accept_directive("weak") ||
                cursor_.accept_directive("common")) {
                continue;
            }
            if (!cursor_.accept_directive("extern")) break;
            external = true;
        }
        const std::string name = cursor_.expect_directive("a directive");
        if (name == "target")
            parse_target();
        else if (name == "address_size")
            parse_address_size(position);
        else if (name == "file")
            parse_file();
        else if (name == "section")
            parse_section();
        else if (name == "pragma")
            skip_statement();
        else if (name == "entry" || name == "func")
            parse_function(name == "entry", position);
        else if (name == "global")
            parse_variables(Space::Global, external);
        else if (name == "const")
            parse_variables(Space::Constant, external);
        else if (name == "shared")
            parse_variables(Space::Shared, external);
        else
            throw PtxError(position, "the directive '." + name + "' is not emulated yet");
    }

    void parse_target() {
        do {
            const std::string target = cursor_.expect_identifier("a target such as sm_80");
            if (!target.starts_with("sm_")) continue;  // "debug" and the like do not change what the code means
            module_.target = target;
            module_.capability = std::atoi(target.c_str() + 3);
            module_.arch_specific = target.ends_with("a");
        } while (cursor_.accept(","));
    }

    void parse_address_size(Position position) {
        if (cursor_.expect_integer() != 64) throw PtxError(position, "addresses of 32 bits are not emulated yet");
    }

    void parse_file() {
        const int index = static_cast<int>(cursor_.expect_integer());
        if (cursor_.peek().kind != Token::Kind::String) cursor_.fail("a file's name expected");
        module_.files[index] = cursor_.take().text;
        while (cursor_.accept(",")) cursor_.expect_integer();
    }

    void parse_section() {  // debug information; line numbers come from .loc
        while (!cursor_.is("{") && !cursor_.at_end()) cursor_.take();
        int depth = 0;
        do {
            if (cursor_.at_end()) cursor_.fail("'}' expected");
            const Token token = cursor_.take();
            if (token.kind != Token::Kind::Punctuation) continue;
            if (token.text == "{") ++depth;
            if (token.text == "}") --depth;
        } while (depth > 0);
    }

    void skip_statement() {
        while (!cursor_.accept(";")) {
            if (cursor_.at_end()) cursor_.fail("';' expected");
            cursor_.take();
        }
    }

    void parse_variables(Space space, bool external) {
        do {
            Variable variable = parse_variable(cursor_, space);
            variable.external = external;
            module_.variables.push_back(variable);
        } while (cursor_.accept(","));
        cursor_.expect(";");
    }

    std::vector<Variable> parse_parameters() {
        std::vector<Variable> parameters;
        cursor_.expect("(");
        while (!cursor_.accept(")")) {
            const Position position = cursor_.peek().position;
            const std::string space = cursor_.expect_directive("'.param'");
            if (space != "param") throw PtxError(position, "parameters in '." + space + "' are not emulated yet");
            parameters.push_back(parse_variable(cursor_, Space::Parameter));
            if (!cursor_.is(")")) cursor_.expect(",");
        }
        return parameters;
    }

    void parse_function(bool is_entry, Position position) {
        Function function;
        function.is_entry = is_entry;
        function.position = position;
        if (!is_entry && cursor_.is("(")) function.returns = parse_parameters();
        function.name = cursor_.expect_identifier("a function's name");
        if (cursor_.is("(")) function.parameters = parse_parameters();
        parse_function_directives(function);
        if (cursor_.accept(";")) {
            add(std::move(function));
            return;
        }
        function.has_body = true;
        BodyParser(cursor_, function).run();
        add(std::move(function));
    }

    void parse_function_directives(Function& function) {
        while (cursor_.peek().kind == Token::Kind::Directive) {
            const Position position = cursor_.peek().position;
            const std::string name = cursor_.take().text;
            if (name == "maxntid")
                function.maximum_threads = parse_extent();
            else if (name == "reqntid")
                function.required_threads = parse_extent();
            else if (name == "reqnctapercluster")
                function.required_cluster = parse_extent();
            else if (name == "explicitcluster")
                function.explicit_cluster = true;
            else if (name == "maxnreg")
                function.maximum_registers = static_cast<uint32_t>(cursor_.expect_integer());
            else if (name == "minnctapersm")
                function.minimum_blocks = static_cast<uint32_t>(cursor_.expect_integer());
            else if (name == "maxclusterrank")
                cursor_.expect_integer();
            else if (name == "pragma")
                skip_statement();
            else if (name != "noreturn")
                throw PtxError(position, "the directive '." + name + "' of a function is not emulated yet");
        }
    }

    std::array<uint32_t, 3> parse_extent() {
        std::array<uint32_t, 3> extent{1, 1, 1};
        size_t at = 0;
        do extent[at++] = static_cast<uint32_t>(cursor_.expect_integer());
        while (at < 3 && cursor_.accept(","));
        return extent;
    }

    /// A declaration and a definition of one function are one function.
    void add(Function function) {
        for (Function& known : module_.functions) {
            if (known.name != function.name) continue;
            if (known.has_body && function.has_body) {
                throw PtxError(function.position, "the function '" + function.name + "' is defined twice");
            }
            if (function.has_body) known = std::move(function);
            return;
        }
        module_.functions.push_back(std::move(function));
    }

    TokenCursor cursor_;
    Module module_;
};

/// Reads `.align 8 .v2 .f32 .ptr .global .align 16` and the like. Returns the bytes of one element.
uint64_t parse_element_type(TokenCursor& cursor, Variable& variable) {
    uint64_t vector = 1;
    bool aligned = false;
    while (variable.type == Type::None) {
        const Position position = cursor.peek().position;
        const std::string name = cursor.expect_directive("a type");
        if (name == "align") {
            variable.alignment = static_cast<uint64_t>(cursor.expect_integer());
            aligned = true;
        } else if (name == "v2" || name == "v4") {
            vector = name == "v2" ? 2 : 4;
        } else if (variable.type = type_named(name); variable.type == Type::None) {
            throw PtxError(position, "variables with '." + name + "' are not emulated yet");
        }
    }
    if (cursor.is_directive("ptr")) {  // what a pointer parameter points to
        while (cursor.peek().kind == Token::Kind::Directive) {
            if (cursor.take().text == "align") cursor.expect_integer();
        }
    }
    const uint64_t element = vector * static_cast<uint64_t>(type_bits(variable.type)) / 8;
    if (!aligned) variable.alignment = element;
    return element;
}

}  // namespace

Variable parse_variable(TokenCursor& cursor, Space space) {
    Variable variable;
    variable.space = space;
    variable.type = Type::None;
    const uint64_t element = parse_element_type(cursor, variable);
    if (variable.alignment == 0 || (variable.alignment & (variable.alignment - 1)) != 0) {
        cursor.fail("an alignment that is a power of two");
    }
    variable.position = cursor.peek().position;
    variable.name = cursor.expect_identifier("a variable's name");
    variable.bytes = element;
    while (cursor.accept("[")) {
        if (cursor.accept("]")) {
            variable.bytes = 0;
            continue;
        }
        const int64_t count = cursor.expect_integer();
        if (count < 0 || count > int64_t{1} << 32) cursor.fail("a smaller array");
        variable.bytes *= static_cast<uint64_t>(count);
        cursor.expect("]");
    }
    if (cursor.accept("=")) InitialValueParser(cursor, variable).run();
    return variable;
}

Module parse_ptx(std::string_view text) {
    return ModuleParser(text).run();
}

}  // namespace emulated_gpu
