// Words, numbers, strings and operators of laid-out text.
#pragma once

#include <cstdint>
#include <string_view>

namespace kiln::dsl {

using Cursor = const char*;

enum class LexemeKind : std::uint8_t {
    End,      ///< nothing is left
    Newline,  ///< the end of a statement
    Word,     ///< a name or reserved word, `_` included
    Number,   ///< what begins with a digit; not yet known to be well formed
    String,   ///< with its quotes
    Symbol,   ///< the longest operator or bracket, or one character that is none
};

struct Lexeme {
    LexemeKind kind = LexemeKind::End;
    std::string_view text;

    Cursor begin() const { return text.data(); }
    Cursor end() const { return text.data() + text.size(); }
};

/// The lexeme at or behind the blanks at `first`.
Lexeme next_lexeme(Cursor first, Cursor last);

/// Words that can never be names, those kept for the future included.
bool is_reserved(std::string_view word);
bool is_reserved_for_future(std::string_view word);
bool is_name(const Lexeme& lexeme);

/// Whether a Number lexeme is spelled as the language wants: 12, 1_000, 0xFF, 0b101, 1.5, 1e-5.
bool is_well_formed_number(std::string_view text);

/// Precedence of a binary operator, 1 (loosest, `||`) to 9 (`*`); 0 for anything else.
int binary_level(std::string_view symbol);
inline constexpr int kComparisonLevel = 3;
inline constexpr int kArithmeticLevel = 4;  ///< the loosest level allowed in a default of `<...>`

bool is_prefix_operator(std::string_view symbol);
bool is_assignment(std::string_view symbol);

}  // namespace kiln::dsl
