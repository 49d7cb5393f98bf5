#include "tests/emulated_gpu/cuda/body_parser.h"

#include <utility>

namespace emulated_gpu {

void BodyParser::run() {
    cursor_.expect("{");
    parse_scope();
    resolve_labels();
}

void BodyParser::open_scope() {
    Scope scope;
    scope.parent = scope_;
    scope_ = static_cast<int>(scopes_.size());
    scopes_.push_back(scope);
}

void BodyParser::parse_scope() {
    open_scope();
    while (!cursor_.accept("}")) {
        if (cursor_.at_end()) cursor_.fail("'}' expected");
        parse_statement();
    }
    scope_ = scopes_[static_cast<size_t>(scope_)].parent;
}

void BodyParser::parse_statement() {
    const Token& token = cursor_.peek();
    if (cursor_.accept(";")) return;
    if (cursor_.accept("{")) return parse_scope();
    if (token.kind == Token::Kind::Directive) return parse_directive();
    if (token.kind == Token::Kind::Identifier && cursor_.is(":", 1)) return parse_label();
    parse_instruction();
}

void BodyParser::parse_directive() {
    const Position position = cursor_.peek().position;
    const std::string name = cursor_.take().text;
    if (name == "reg") return parse_registers();
    if (name == "loc") return parse_location();
    if (name == "local") return parse_variables(Space::Local);
    if (name == "shared") return parse_variables(Space::Shared);
    if (name == "param") return parse_variables(Space::Parameter);
    if (name == "pragma") {  // hints for the compiler behind PTX
        while (!cursor_.accept(";")) cursor_.take();
        return;
    }
    throw PtxError(position, "the directive '." + name + "' is not emulated in a function yet");
}

void BodyParser::parse_registers() {
    const Position position = cursor_.peek().position;
    const std::string type_text = cursor_.expect_directive("a type");
    const Type type = type_named(type_text);
    if (type == Type::None) throw PtxError(position, "registers of type '." + type_text + "' are not emulated yet");
    do {
        const std::string name = cursor_.expect_identifier("a register's name");
        if (cursor_.accept("<")) {
            const int64_t count = cursor_.expect_integer();
            if (count < 0 || count > 1 << 20) cursor_.fail("fewer registers");
            for (int64_t i = 0; i < count; ++i) add_register(name + std::to_string(i), type);
            cursor_.expect(">");
        } else {
            add_register(name, type);
        }
    } while (cursor_.accept(","));
    cursor_.expect(";");
}

void BodyParser::add_register(const std::string& name, Type type) {
    auto& registers = scopes_[static_cast<size_t>(scope_)].registers;
    if (!registers.emplace(name, static_cast<int>(function_.registers.size())).second) {
        throw PtxError(cursor_.peek().position, "the register '" + name + "' is declared twice");
    }
    function_.registers.push_back({name, type});
}

void BodyParser::parse_variables(Space space) {
    Variable variable = parse_variable(cursor_, space);
    const std::string written = variable.name;
    if (scope_ > 0) variable.name += "@" + std::to_string(scope_);
    scopes_[static_cast<size_t>(scope_)].variables[written] = variable.name;
    function_.variables.push_back(variable);
    cursor_.expect(";");
}

void BodyParser::parse_location() {
    source_.file = static_cast<int>(cursor_.expect_integer());
    source_.line = static_cast<int>(cursor_.expect_integer());
    cursor_.expect_integer();
    // An inlined call names its caller behind the place; the innermost place is the one to report.
    while (cursor_.accept(",")) {
        const std::string attribute = cursor_.expect_identifier("'function_name' or 'inlined_at'");
        if (attribute == "function_name") {
            cursor_.expect_identifier("a name");
            if (cursor_.accept("+")) cursor_.expect_integer();
        } else {
            for (int i = 0; i < 3; ++i) cursor_.expect_integer();
        }
    }
}

void BodyParser::parse_label() {
    const Token name = cursor_.take();
    cursor_.expect(":");
    Scope& scope = scopes_[static_cast<size_t>(scope_)];
    if (cursor_.accept_directive("branchtargets")) {
        auto& targets = scope.target_lists[name.text];
        do targets.push_back(cursor_.expect_identifier("a label"));
        while (cursor_.accept(","));
        cursor_.expect(";");
        return;
    }
    if (cursor_.is_directive("callprototype")) {
        while (!cursor_.accept(";")) cursor_.take();
        return;
    }
    if (!scope.labels.emplace(name.text, static_cast<int>(function_.body.size())).second) {
        throw PtxError(name.position, "the label '" + name.text + "' stands twice");
    }
}

void BodyParser::parse_instruction() {
    Instruction instruction;
    instruction.position = cursor_.peek().position;
    instruction.source = source_;
    if (cursor_.accept("@")) {
        instruction.guarded = true;
        const bool negated = cursor_.accept("!");
        instruction.guard = parse_simple_operand(false);
        instruction.guard.negated = negated;
        if (instruction.guard.kind != Operand::Kind::Register) cursor_.fail("a predicate behind '@' expected");
    }
    instruction.position = cursor_.peek().position;
    instruction.opcode = cursor_.expect_identifier("an instruction");
    instruction.text = instruction.opcode;
    while (cursor_.peek().kind == Token::Kind::Directive) {
        instruction.modifiers.push_back(cursor_.take().text);
        instruction.text += "." + instruction.modifiers.back();
    }
    if (instruction.opcode == "call") {
        parse_call(instruction);
    } else if (!cursor_.is(";")) {
        const bool branches = instruction.opcode == "bra" || instruction.opcode == "brx";
        do instruction.operands.push_back(parse_operand(branches));
        while (cursor_.accept(","));
    }
    cursor_.expect(";");
    function_.body.push_back(instruction);
}

void BodyParser::parse_call(Instruction& instruction) {
    if (cursor_.is("(")) {
        instruction.returns = parse_argument_list();
        cursor_.expect(",");
    }
    instruction.operands.push_back(parse_operand(false));
    if (cursor_.accept(",")) {
        if (cursor_.is("(")) {
            instruction.arguments = parse_argument_list();
            if (!cursor_.accept(",")) return;
        }
        instruction.operands.push_back(parse_operand(false));  // the prototype of an indirect call
    }
}

std::vector<Operand> BodyParser::parse_argument_list() {
    std::vector<Operand> arguments;
    cursor_.expect("(");
    while (!cursor_.accept(")")) {
        arguments.push_back(parse_operand(false));
        if (!cursor_.is(")")) cursor_.expect(",");
    }
    return arguments;
}

Operand BodyParser::parse_operand(bool is_branch_target) {
    Operand first = parse_simple_operand(is_branch_target);
    if (!cursor_.accept("|")) return first;
    Operand paired;
    paired.kind = Operand::Kind::Paired;
    paired.position = first.position;
    paired.parts = {first, parse_simple_operand(false)};
    return paired;
}

Operand BodyParser::parse_simple_operand(bool is_branch_target) {
    if (cursor_.is("{")) return parse_vector();
    if (cursor_.is("[")) return parse_address();
    if (cursor_.accept("!")) {
        Operand operand = parse_simple_operand(false);
        operand.negated = true;
        return operand;
    }
    if (cursor_.peek().kind == Token::Kind::Identifier) return parse_name(is_branch_target);
    return parse_number();
}

Operand BodyParser::parse_number() {
    Operand operand;
    operand.position = cursor_.peek().position;
    const bool negative = cursor_.accept("-");
    const Token token = cursor_.peek();
    if (token.kind == Token::Kind::Integer) {
        operand.kind = Operand::Kind::Integer;
        operand.integer = static_cast<int64_t>(negative ? 0 - token.integer : token.integer);
    } else if (token.kind == Token::Kind::Float || token.kind == Token::Kind::Double) {
        operand.kind = Operand::Kind::Float;
        operand.is_double = token.kind == Token::Kind::Double;
        const uint64_t sign = operand.is_double ? uint64_t{1} << 63 : uint64_t{1} << 31;
        operand.integer = static_cast<int64_t>(negative ? token.integer ^ sign : token.integer);
    } else {
        cursor_.fail("an operand expected");
    }
    cursor_.take();
    return operand;
}

Operand BodyParser::parse_name(bool is_branch_target) {
    Operand operand;
    const Token token = cursor_.take();
    operand.position = token.position;
    operand.name = token.text;
    if (token.text == "_") return operand;
    for (int scope = scope_; scope >= 0; scope = scopes_[static_cast<size_t>(scope)].parent) {
        const Scope& names = scopes_[static_cast<size_t>(scope)];
        if (const auto found = names.registers.find(token.text); found != names.registers.end()) {
            operand.kind = Operand::Kind::Register;
            operand.index = found->second;
            return operand;
        }
        if (const auto found = names.variables.find(token.text); found != names.variables.end()) {
            operand.kind = Operand::Kind::Symbol;
            operand.name = found->second;
            return operand;
        }
    }
    if (token.text[0] == '%') {
        operand.kind = Operand::Kind::Special;
        if (cursor_.peek().kind == Token::Kind::Directive && cursor_.peek().glued) {
            operand.name += "." + cursor_.take().text;
        }
        return operand;
    }
    operand.kind = is_branch_target ? Operand::Kind::Label : Operand::Kind::Symbol;
    operand.integer = is_branch_target ? scope_ : 0;
    if (!is_branch_target && cursor_.accept("+")) operand.integer = cursor_.expect_integer();
    return operand;
}

Operand BodyParser::parse_vector() {
    Operand vector;
    vector.kind = Operand::Kind::Vector;
    vector.position = cursor_.peek().position;
    cursor_.expect("{");
    do vector.parts.push_back(parse_simple_operand(false));
    while (cursor_.accept(","));
    cursor_.expect("}");
    return vector;
}

Operand BodyParser::parse_address() {
    Operand address;
    address.kind = Operand::Kind::Address;
    address.position = cursor_.peek().position;
    cursor_.expect("[");
    if (cursor_.peek().kind == Token::Kind::Identifier) {
        address.parts.push_back(parse_name(false));
        std::swap(address.integer, address.parts[0].integer);
    } else {
        address.integer = cursor_.expect_integer();
    }
    while (cursor_.is("+") || cursor_.is("-")) {
        const bool minus = cursor_.take().text == "-";
        const int64_t offset = cursor_.expect_integer();
        address.integer += minus ? -offset : offset;
    }
    if (cursor_.accept(",")) address.parts.push_back(parse_vector());  // the coordinates of a tensor's box
    cursor_.expect("]");
    return address;
}

int BodyParser::find_label(int scope, const std::string& name, Position position) const {
    for (; scope >= 0; scope = scopes_[static_cast<size_t>(scope)].parent) {
        const auto& labels = scopes_[static_cast<size_t>(scope)].labels;
        if (const auto found = labels.find(name); found != labels.end()) return found->second;
    }
    throw PtxError(position, "there is no label '" + name + "'");
}

void BodyParser::resolve_target_list(Instruction& instruction) {
    Operand& list = instruction.operands.back();
    const int from = static_cast<int>(list.integer);
    for (int scope = from; scope >= 0; scope = scopes_[static_cast<size_t>(scope)].parent) {
        const auto& lists = scopes_[static_cast<size_t>(scope)].target_lists;
        const auto found = lists.find(list.name);
        if (found == lists.end()) continue;
        for (const std::string& label : found->second) {
            instruction.targets.push_back(find_label(from, label, list.position));
        }
        return;
    }
    throw PtxError(list.position, "there is no list of branch targets '" + list.name + "'");
}

void BodyParser::resolve_labels() {
    for (Instruction& instruction : function_.body) {
        if (instruction.opcode == "brx") {
            if (instruction.operands.size() != 2) throw PtxError(instruction.position, "brx.idx takes two operands");
            resolve_target_list(instruction);
            continue;
        }
        for (Operand& operand : instruction.operands) {
            if (operand.kind != Operand::Kind::Label) continue;
            operand.index = find_label(static_cast<int>(operand.integer), operand.name, operand.position);
        }
    }
}

}  // namespace emulated_gpu
