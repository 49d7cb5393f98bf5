#include "dsl/lexical.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace kiln::dsl {

namespace {

constexpr std::string_view kReserved[] = {
    "_",  "break", "by",     "const", "continue", "else",   "false", "fn",   "for", "if",    "import",
    "in", "inout", "kernel", "let",   "return",   "static", "true",  "type", "var", "while",
};

constexpr std::string_view kFuture[] = {
    "case", "class", "defer", "enum", "export", "extern", "impl", "loop", "macro", "match", "struct", "trait", "use",
};

// Longer symbols first, so that the first hit is the longest.
constexpr std::string_view kLongSymbols[] = {
    "<<=", ">>=", "||", "&&", "==", "!=", "<=", ">=", "<<", ">>", "+=",
    "-=",  "*=",  "/=", "%=", "&=", "|=", "^=", "->", ":+", "..",
};

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_word_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_word(char c) {
    return is_word_start(c) || is_digit(c);
}

Cursor end_of_word(Cursor first, Cursor last) {
    return std::find_if_not(first, last, is_word);
}

bool is_decimal(std::string_view text) {
    return !text.starts_with("0x") && !text.starts_with("0b");
}

// Takes everything a reader would see as one number, `1.5f` and `2.` included, so that the message can name it whole.
Cursor end_of_number(Cursor first, Cursor last) {
    Cursor end = end_of_word(first, last);
    if (end != last && *end == '.' && (end + 1 == last || end[1] != '.')) end = end_of_word(end + 1, last);
    const std::string_view text(first, static_cast<std::size_t>(end - first));
    const bool exponent = is_decimal(text) && (text.back() == 'e' || text.back() == 'E');
    if (exponent && end != last && (*end == '+' || *end == '-')) end = end_of_word(end + 1, last);
    return end;
}

Cursor end_of_string(Cursor first, Cursor last) {
    Cursor end = first + 1;
    while (end != last && *end != '"') end += *end == '\\' && end + 1 != last ? 2 : 1;
    return end == last ? last : end + 1;
}

std::size_t symbol_length(Cursor first, Cursor last) {
    const std::string_view rest(first, static_cast<std::size_t>(last - first));
    for (const std::string_view symbol : kLongSymbols) {
        if (rest.starts_with(symbol)) return symbol.size();
    }
    return 1;
}

// Removes digits, with single underscores between them, from the front. False if there are none.
bool take_digits(std::string_view& text, bool (*accepts)(char)) {
    if (text.empty() || !accepts(text.front())) return false;
    while (!text.empty()) {
        const bool underscore = text.front() == '_' && text.size() > 1 && accepts(text[1]);
        if (!underscore && !accepts(text.front())) break;
        text.remove_prefix(underscore ? 2 : 1);
    }
    return true;
}

bool is_hexadecimal_digit(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_binary_digit(char c) {
    return c == '0' || c == '1';
}

}  // namespace

Lexeme next_lexeme(Cursor first, Cursor last) {
    while (first != last && (*first == ' ' || *first == '\t' || *first == '\r')) ++first;
    const auto lexeme = [first](LexemeKind kind, Cursor end) {
        return Lexeme{kind, {first, static_cast<std::size_t>(end - first)}};
    };
    if (first == last) return lexeme(LexemeKind::End, last);
    if (*first == '\n') return lexeme(LexemeKind::Newline, first + 1);
    if (is_word_start(*first)) return lexeme(LexemeKind::Word, end_of_word(first, last));
    if (is_digit(*first)) return lexeme(LexemeKind::Number, end_of_number(first, last));
    if (*first == '"') return lexeme(LexemeKind::String, end_of_string(first, last));
    return lexeme(LexemeKind::Symbol, first + symbol_length(first, last));
}

bool is_reserved_for_future(std::string_view word) {
    return std::find(std::begin(kFuture), std::end(kFuture), word) != std::end(kFuture);
}

bool is_reserved(std::string_view word) {
    return std::find(std::begin(kReserved), std::end(kReserved), word) != std::end(kReserved) ||
           is_reserved_for_future(word);
}

bool is_name(const Lexeme& lexeme) {
    return lexeme.kind == LexemeKind::Word && !is_reserved(lexeme.text);
}

bool is_well_formed_number(std::string_view text) {
    if (!is_decimal(text)) {
        const auto accepts = text[1] == 'x' ? is_hexadecimal_digit : is_binary_digit;
        text.remove_prefix(2);
        return take_digits(text, accepts) && text.empty();
    }
    if (!take_digits(text, is_digit)) return false;
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        if (!take_digits(text, is_digit)) return false;
    }
    if (text.starts_with('e') || text.starts_with('E')) {
        text.remove_prefix(1);
        if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
        if (!take_digits(text, is_digit)) return false;
    }
    return text.empty();
}

int binary_level(std::string_view symbol) {
    static constexpr std::string_view kLevels[] = {
        " || ", " && ", " == != < <= > >= ", " | ", " ^ ", " & ", " << >> ", " + - ", " * / % ",
    };
    int level = 0;
    for (const std::string_view row : kLevels) {
        ++level;
        for (auto at = row.find(symbol); at != std::string_view::npos; at = row.find(symbol, at + 1)) {
            if (row[at - 1] == ' ' && row[at + symbol.size()] == ' ') return level;
        }
    }
    return 0;
}

bool is_prefix_operator(std::string_view symbol) {
    return symbol == "-" || symbol == "!" || symbol == "~";
}

bool is_assignment(std::string_view symbol) {
    if (symbol == "=") return true;
    const bool comparison = symbol == "==" || symbol == "!=" || symbol == "<=" || symbol == ">=";
    return symbol.size() > 1 && symbol.back() == '=' && !comparison;
}

}  // namespace kiln::dsl
