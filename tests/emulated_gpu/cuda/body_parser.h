#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/emulated_gpu/cuda/ptx_module.h"
#include "tests/emulated_gpu/cuda/token_cursor.h"

namespace emulated_gpu {

/// Reads one variable declaration behind its state space, up to but without ';' or ',' or ')': `.align 4 .b8 name[16] =
/// {1, 2}`.
Variable parse_variable(TokenCursor& cursor, Space space);

/// Reads a function's body, from '{' to its '}'. Braces inside scope registers, labels and variables.
class BodyParser {
public:
    BodyParser(TokenCursor& cursor, Function& function) : cursor_(cursor), function_(function) {}
    void run();

private:
    struct Scope {
        int parent = -1;
        std::map<std::string, int> registers;
        std::map<std::string, int> labels;
        std::map<std::string, std::string> variables;  // name as written -> name in Function::variables
        std::map<std::string, std::vector<std::string>> target_lists;
    };

    void parse_scope();
    void parse_statement();
    void parse_directive();
    void parse_registers();
    void add_register(const std::string& name, Type type);
    void parse_variables(Space space);
    void parse_location();
    void parse_label();
    void parse_instruction();
    void parse_call(Instruction& instruction);
    std::vector<Operand> parse_argument_list();
    Operand parse_operand(bool is_branch_target);
    Operand parse_simple_operand(bool is_branch_target);
    Operand parse_number();
    Operand parse_name(bool is_branch_target);
    Operand parse_vector();
    Operand parse_address();
    void open_scope();
    void resolve_labels();
    int find_label(int scope, const std::string& name, Position position) const;
    void resolve_target_list(Instruction& instruction);

    TokenCursor& cursor_;
    Function& function_;
    std::vector<Scope> scopes_;
    int scope_ = -1;
    SourceLine source_;
};

}  // namespace emulated_gpu
