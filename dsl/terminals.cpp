// Bodies of the grammar's terminals.

#include <fmt/format.h>

#include "dsl/build.h"
#include "dsl/diagnostics.h"

namespace kiln::dsl {

namespace {

constexpr std::string_view kEscapes = "\"\\nt";

std::string_view number_hint(std::string_view number) {
    if (number.ends_with('.')) return "a number has a digit on both sides of the point";
    const std::size_t digits = number.find_last_of("0123456789") + 1;
    const bool suffix =
        digits < number.size() && std::string_view("_xbeE").find(number[digits]) == std::string_view::npos;
    if (suffix && is_well_formed_number(number.substr(0, digits))) return "numbers have no suffix";
    return "numbers are written as in `12`, `1_000`, `0xFF`, `0b101`, `1.5` and `1e-5`";
}

void push_number(ParseState& state, const Lexeme& lexeme) {
    if (!is_well_formed_number(lexeme.text)) {
        state.report(kNotANumber, state.span(lexeme), lexeme.text).help(std::string(number_hint(lexeme.text)));
    }
    state.push_leaf(NodeKind::Number, lexeme, state.text(state.offset(lexeme.begin()), state.offset(lexeme.end())));
}

void push_string(ParseState& state, const Lexeme& lexeme) {
    const std::uint32_t begin = state.offset(lexeme.begin()) + 1;
    const std::string_view text = state.text(begin, state.offset(lexeme.end()) - 1);
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\') continue;
        const auto at = static_cast<std::uint32_t>(begin + i++);
        if (kEscapes.find(text[i]) != std::string_view::npos) continue;
        state.report(kUnknownEscape, state.span(at, at + 2), text.substr(i - 1, 2))
            .help("the escapes are `\\\"`, `\\\\`, `\\n` and `\\t`");
    }
    state.push_leaf(NodeKind::String, lexeme, text);
}

void push_word(ParseState& state, NodeKind kind, const Lexeme& lexeme) {
    state.push_leaf(kind, lexeme, state.text(state.offset(lexeme.begin()), state.offset(lexeme.end())));
}

}  // namespace

std::string unescape(std::string_view contents) {
    std::string text;
    for (std::size_t i = 0; i < contents.size(); ++i) {
        const bool escape = contents[i] == '\\' && i + 1 < contents.size();
        const char c = escape ? contents[++i] : contents[i];
        text += escape && c == 'n' ? '\n' : escape && c == 't' ? '\t' : c;
    }
    return text;
}

bool Leaf::match(ParseState& state, const Lexeme& lexeme) const {
    if (!is_token(lexeme, text)) return false;
    push_word(state, kind, lexeme);
    return true;
}

bool Identifier::match(ParseState& state, const Lexeme& lexeme) const {
    if (!is_name(lexeme)) return false;
    state.push(Item::Kind::Token, lexeme);
    return true;
}

bool NameUse::match(ParseState& state, const Lexeme& lexeme) const {
    if (!is_name(lexeme)) return false;
    push_word(state, NodeKind::Name, lexeme);
    return true;
}

bool Atom::match(ParseState& state, const Lexeme& lexeme) const {
    if (lexeme.kind == LexemeKind::Number) {
        push_number(state, lexeme);
    } else if (lexeme.kind == LexemeKind::String) {
        push_string(state, lexeme);
    } else if (is_token(lexeme, "true") || is_token(lexeme, "false")) {
        push_word(state, NodeKind::Boolean, lexeme);
    } else if (is_name(lexeme)) {
        push_word(state, NodeKind::Name, lexeme);
    } else {
        return false;
    }
    return true;
}

bool Text::match(ParseState& state, const Lexeme& lexeme) const {
    if (lexeme.kind != LexemeKind::String) return false;
    push_string(state, lexeme);
    return true;
}

bool Label::parse_label(ParseState& state, Cursor& first) {
    const Lexeme name = state.peek(first);
    if (!is_name(name)) return false;
    const Lexeme equals = next_lexeme(name.end(), state.end());
    if (!is_token(equals, "=")) return false;
    state.push(Item::Kind::Token, name);
    first = equals.end();
    return true;
}

bool Direction::match(ParseState& state, const Lexeme& lexeme) const {
    const bool out = is_token(lexeme, "out") && is_name(next_lexeme(lexeme.end(), state.end()));
    if (!out && !is_token(lexeme, "in") && !is_token(lexeme, "inout")) return false;
    state.push(Item::Kind::Token, lexeme);
    return true;
}

bool BinaryOperator::match(ParseState& state, const Lexeme& lexeme) const {
    if (lexeme.kind != LexemeKind::Symbol || binary_level(lexeme.text) < level) return false;
    state.push(Item::Kind::Token, lexeme);
    return true;
}

bool PrefixOperator::match(ParseState& state, const Lexeme& lexeme) const {
    if (lexeme.kind != LexemeKind::Symbol || !is_prefix_operator(lexeme.text)) return false;
    state.push(Item::Kind::Token, lexeme);
    return true;
}

bool AssignmentOperator::match(ParseState& state, const Lexeme& lexeme) const {
    if (lexeme.kind != LexemeKind::Symbol || !is_assignment(lexeme.text)) return false;
    state.push(Item::Kind::Token, lexeme);
    return true;
}

bool EndOfStatement::parse_end(ParseState& state, Cursor& first) {
    const Lexeme lexeme = state.peek(first);
    if (is_token(lexeme, "}")) return true;
    if (lexeme.kind != LexemeKind::Newline && !is_token(lexeme, ";")) return false;
    first = lexeme.end();
    return true;
}

}  // namespace kiln::dsl
