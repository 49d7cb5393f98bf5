#include "dsl/messages.h"

#include <fmt/format.h>

#include <string>

#include "dsl/diagnostics.h"

namespace kiln::dsl {

namespace {

constexpr std::size_t kShownLength = 40;

constexpr std::string_view kLoopHint = "a loop is written `for j in 0 .. 4 { }`";
constexpr std::string_view kPlusHint = "there is no prefix `+` and no `++`";
constexpr std::string_view kNumberHint = "a number has a digit on both sides of the point";
constexpr std::string_view kTupleHint = "several targets take the parts of a tuple: `a, b = f(x)`";
constexpr std::string_view kFunctionTypeHint = "a function type takes and gives values only";
constexpr std::string_view kCommentHint = "a comment begins with `//`";
constexpr std::string_view kTypedHint = "a name is followed by its type, as in `x: f32`";

/// An empty `expected` or `found` fits everything; the first row that fits gives the hint.
struct HintRow {
    std::string_view expected;
    std::string_view found;
    std::string_view hint;
};

constexpr HintRow kHints[] = {
    {"an operand", "+", kPlusHint},
    {"an expression", "+", kPlusHint},
    {"an expression", "if", "write `select(condition, a, b)`"},
    {"an operand", "*", "there is no `**`: write `pow(a, b)`"},
    {"an operand", ".", kNumberHint},
    {"an expression", ".", kNumberHint},
    {"the end of the statement", "+", "an expression is no statement and there is no `++`: write `i += 1`"},
    {"the end of the statement", "-", "an expression is no statement and there is no `--`: write `i -= 1`"},
    {"the end of the statement", ",", "write a tuple: `a, b = (b, a)`"},
    {"the end of the statement", "elif", "write `else if`"},
    {"`in`", "=", kLoopHint},
    {"`..`", "{", kLoopHint},
    {"`..`", ":", "a range is written `lo .. hi`"},
    {"`{`", "=", "to compare, write `==`"},
    {"`{`", "step", "a step is written `by`"},
    {"`{`", ":", "a block stands in `{ }`"},
    {"`]`", ":", "a slice is written `start :+ length`"},
    {"`=`", ":", "only a single name takes a type"},
    {"`=`", "+=", kTupleHint},
    {"`=`", "-=", kTupleHint},
    {"`=`", "*=", kTupleHint},
    {"a message", "", "give each condition its own line"},
    {"`)`", "const", "a kernel's compile-time values stand in `<...>`"},
    {"`)`", "<", "a tensor parameter is written `in T[M, N]`"},
    {"`>`", "<", "a comparison in a default stands in parentheses"},
    {"`>`", "==", "a comparison in a default stands in parentheses"},
    {"`:`", "", kTypedHint},
    {"a type", "fn", kFunctionTypeHint},
    {"`)`", "fn", kFunctionTypeHint},
    {"a statement or `}`", "(", "a newline ended the statement above"},
    {"a statement or `}`", "[", "a newline ended the statement above"},
    {"a statement or `}`", "kernel", "kernels stand outside all blocks"},
    {"a clause or `grid`", "{", "the body of a kernel belongs to a grid: `grid i in 0 .. N { }`"},
    {"a clause or `grid`", "->", "a kernel returns nothing: it writes to its `out` tensors"},
    {"a declaration", "/", kCommentHint},
    {"a statement or `}`", "/", kCommentHint},
    {"`const` or a name", ")", "no comma stands before `)`"},
    {"a declaration", "def", "a function begins with `fn`"},
    {"a declaration", "let", "outside all blocks a value is a `const`"},
    {"", "and", "write `&&`"},
    {"", "or", "write `||`"},
    {"", "?", "write `select(condition, a, b)`"},
    {"", "#", kCommentHint},
    {"", "'", "a string stands in `\"`"},
};

std::string_view hint_for(std::string_view expected, std::string_view found) {
    for (const HintRow& row : kHints) {
        const bool fits =
            (row.expected.empty() || row.expected == expected) && (row.found.empty() || row.found == found);
        if (fits) return row.hint;
    }
    return {};
}

std::string describe(const Lexeme& lexeme) {
    switch (lexeme.kind) {
        case LexemeKind::End:
            return "the end of the file";
        case LexemeKind::Newline:
            return "the end of the line";
        case LexemeKind::String:
            return "a string";
        case LexemeKind::Word:
        case LexemeKind::Number:
        case LexemeKind::Symbol:
            break;
    }
    if (lexeme.text.size() <= kShownLength) return fmt::format("`{}`", lexeme.text);
    return fmt::format("`{}...`", lexeme.text.substr(0, kShownLength));
}

// Words that begin a statement, so that before them an expression was left unfinished.
bool leaves_operand_out(const Lexeme& lexeme) {
    static constexpr std::string_view kWords = " let var const fn for while if static return break continue ";
    return lexeme.kind == LexemeKind::Word && kWords.find(fmt::format(" {} ", lexeme.text)) != std::string_view::npos;
}

// Where the text before `where` ends: an operator that waits for its operand.
support::Span waiting_operator(const ParseState& state, Cursor where) {
    Cursor end = where;
    while (end != state.begin() && (end[-1] == ' ' || end[-1] == '\n')) --end;
    Cursor begin = end;
    while (begin != state.begin() && std::string_view("+-*/%&|^~!<>=").find(begin[-1]) != std::string_view::npos)
        --begin;
    return state.span(state.offset(begin), state.offset(end));
}

}  // namespace

void report_unexpected(ParseState& state, std::string_view expected, Cursor where) {
    const Lexeme found = state.peek(where);
    const bool line_end = found.kind == LexemeKind::Newline || found.kind == LexemeKind::End;
    const support::Span span = line_end ? state.span(state.offset(where), state.offset(where)) : state.span(found);
    if (expected == "an operand" && leaves_operand_out(found)) {
        state.report(kUnfinishedExpression, span, found.text)
            .note(waiting_operator(state, where), "an operand is missing after this");
        return;
    }
    auto& diagnostic = state.report(kUnexpectedToken, span, expected, describe(found));
    const bool is_future = found.kind == LexemeKind::Word && is_reserved_for_future(found.text);
    if (is_future || (expected == "a name" && found.kind == LexemeKind::Word)) {
        diagnostic.help(fmt::format("`{}` is {}", found.text, is_future ? "reserved for the future" : "reserved"));
    } else {
        diagnostic.help(std::string(hint_for(expected, found.text)));
    }
}

}  // namespace kiln::dsl
