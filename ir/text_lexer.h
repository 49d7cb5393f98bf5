// Words of the IR's text form.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "ir/support/diagnostic.h"

namespace kiln::ir {

enum class TokenKind : std::uint8_t { Word, Value, Kernel, Number, String, Mark, End };

struct Token {
    TokenKind kind = TokenKind::End;
    support::Span span;
    std::string_view text;  ///< of Value and Kernel without `%` and `@`; of String the raw text between the quotes
};

/// Ends the reading of a text; its diagnostic has been reported. Never leaves parse().
struct TextError : std::runtime_error {
    TextError() : std::runtime_error("malformed IR text") {}
};

class Lexer {
public:
    Lexer(const support::SourceMap& sources, std::uint32_t source, support::Diagnostics& diagnostics)
        : text_(sources.text(source)), source_(source), diagnostics_(&diagnostics) {}

    /// The next token; throws TextError after reporting a character or string that is none.
    Token next();

private:
    void skip_blanks();
    Token finish(TokenKind kind, std::size_t begin, std::size_t drop = 0);
    Token number();
    Token string();
    Token mark();
    char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
    void take_word();
    support::Span span(std::size_t begin, std::size_t end) const {
        return {source_, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::uint32_t source_;
    support::Diagnostics* diagnostics_;
};

}  // namespace kiln::ir
