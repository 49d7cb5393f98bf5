#include "dsl/recovery.h"

#include <algorithm>

namespace kiln::dsl {

namespace {

// The place behind the partner of the bracket that opens at `open`.
Cursor behind_partner(const ParseState& state, Cursor open) {
    const auto& pairs = state.layout().brackets;
    const auto pair =
        std::lower_bound(pairs.begin(), pairs.end(), state.offset(open),
                         [](const BracketPair& candidate, std::uint32_t offset) { return candidate.open < offset; });
    return state.begin() + pair->close + 1;
}

}  // namespace

Cursor skip_statement(ParseState& state, Cursor first, Cursor where) {
    const std::uint32_t begin = state.offset(state.peek(first).begin());
    Cursor at = first;
    Cursor last_end = state.begin() + begin;
    Cursor next = nullptr;
    while (next == nullptr) {
        const Lexeme lexeme = next_lexeme(at, state.end());
        const char c = lexeme.text.empty() ? '\0' : lexeme.text[0];
        const bool closes = lexeme.kind == LexemeKind::Symbol && (c == ')' || c == ']' || c == '}');
        if (lexeme.kind == LexemeKind::End || closes) {
            next = lexeme.begin();
        } else if (lexeme.kind == LexemeKind::Newline) {
            at = lexeme.end();
            if (lexeme.begin() >= where) next = at;
        } else {
            const bool opens = lexeme.kind == LexemeKind::Symbol && (c == '(' || c == '[' || c == '{');
            at = last_end = opens ? behind_partner(state, lexeme.begin()) : lexeme.end();
        }
    }
    Node node;
    node.span = state.span(begin, state.offset(last_end));
    node.name_span = node.span;
    state.push_node(state.add_node(node), node.span.begin, node.span.end);
    return next;
}

Cursor next_declaration(const ParseState& state, Cursor begin) {
    const auto& declarations = state.layout().declarations;
    const auto next = std::upper_bound(declarations.begin(), declarations.end(), state.offset(begin));
    return next == declarations.end() ? state.end() : state.begin() + *next;
}

}  // namespace kiln::dsl
