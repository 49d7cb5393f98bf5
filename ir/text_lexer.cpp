#include "ir/text_lexer.h"

#include "ir/diagnostics.h"

namespace kiln::ir {

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_word(char c) {
    return is_letter(c) || is_digit(c);
}

std::string printable(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x7f ? std::string(1, c) : fmt::format("byte 0x{:02x}", byte);
}

}  // namespace

void Lexer::skip_blanks() {
    while (at_ < text_.size()) {
        const char c = peek();
        if (c == '/' && peek(1) == '/') {
            while (at_ < text_.size() && peek() != '\n') ++at_;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
            ++at_;
        } else {
            return;
        }
    }
}

Token Lexer::finish(TokenKind kind, std::size_t begin, std::size_t drop) {
    return {kind, span(begin, at_), text_.substr(begin + drop, at_ - begin - drop)};
}

void Lexer::take_word() {
    while (is_word(peek())) ++at_;
}

/// Digits, letters and points, so that `0x1f`, `1e-05`, `-inf` and `2.5` are each one token and `0..` is not.
Token Lexer::number() {
    const std::size_t begin = at_++;
    while (true) {
        const char previous = text_[at_ - 1];
        const bool exponent_sign = (peek() == '-' || peek() == '+') && (previous == 'e' || previous == 'E');
        const bool point = peek() == '.' && is_digit(peek(1));
        if (!is_word(peek()) && !exponent_sign && !point) break;
        ++at_;
    }
    return finish(TokenKind::Number, begin);
}

Token Lexer::string() {
    const std::size_t begin = at_++;
    while (at_ < text_.size() && peek() != '"' && peek() != '\n')
        at_ += peek() == '\\' && at_ + 1 < text_.size() ? 2 : 1;
    if (peek() != '"') {
        diagnostics_->report(kUnterminatedString, span(begin, at_));
        throw TextError();
    }
    ++at_;
    Token token = finish(TokenKind::String, begin, 1);
    token.text.remove_suffix(1);
    return token;
}

Token Lexer::mark() {
    const std::size_t begin = at_;
    const char c = text_[at_++];
    if ((c == '.' && peek() == '.') || (c == ':' && peek() == '+')) {
        ++at_;
        return finish(TokenKind::Mark, begin);
    }
    if (std::string_view("(){}[]<>,:=?").find(c) == std::string_view::npos) {
        diagnostics_->report(kUnknownCharacter, span(begin, at_), printable(c));
        throw TextError();
    }
    return finish(TokenKind::Mark, begin);
}

Token Lexer::next() {
    skip_blanks();
    const std::size_t begin = at_;
    if (at_ == text_.size()) return finish(TokenKind::End, begin);
    const char c = peek();
    if ((c == '%' || c == '@') && is_word(peek(1))) {
        ++at_;
        take_word();
        while (peek() == '.' && is_word(peek(1)) && (c == '@' || is_digit(peek(1)))) {
            ++at_;
            take_word();
        }
        return finish(c == '%' ? TokenKind::Value : TokenKind::Kernel, begin, 1);
    }
    if (is_letter(c)) {
        take_word();
        return finish(TokenKind::Word, begin);
    }
    if (is_digit(c) || c == '-') return number();
    if (c == '"') return string();
    return mark();
}

}  // namespace kiln::ir
