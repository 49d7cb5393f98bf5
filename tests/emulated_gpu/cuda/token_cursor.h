#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/emulated_gpu/cuda/ptx_lexer.h"

namespace emulated_gpu {

/// A reading position in a list of tokens, with the errors of a parser that expects something else.
class TokenCursor {
public:
    explicit TokenCursor(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

    const Token& peek(size_t ahead = 0) const {
        return tokens_[at_ + ahead < tokens_.size() ? at_ + ahead : tokens_.size() - 1];
    }
    Token take() {
        Token token = peek();
        if (at_ + 1 < tokens_.size()) ++at_;
        return token;
    }
    bool at_end() const { return peek().kind == Token::Kind::End; }

    bool is(const char* punctuation, size_t ahead = 0) const {
        return peek(ahead).kind == Token::Kind::Punctuation && peek(ahead).text == punctuation;
    }
    bool accept(const char* punctuation) {
        if (!is(punctuation)) return false;
        take();
        return true;
    }
    void expect(const char* punctuation) {
        if (!accept(punctuation)) fail(std::string("'") + punctuation + "' expected");
    }

    bool is_directive(const char* name) const { return peek().kind == Token::Kind::Directive && peek().text == name; }
    bool accept_directive(const char* name) {
        if (!is_directive(name)) return false;
        take();
        return true;
    }
    std::string expect_directive(const char* what) {
        if (peek().kind != Token::Kind::Directive) fail(std::string(what) + " expected");
        return take().text;
    }

    std::string expect_identifier(const char* what) {
        if (peek().kind != Token::Kind::Identifier) fail(std::string(what) + " expected");
        return take().text;
    }
    int64_t expect_integer() {
        const bool negative = accept("-");
        if (peek().kind != Token::Kind::Integer) fail("an integer expected");
        const auto value = static_cast<int64_t>(take().integer);
        return negative ? -value : value;
    }

    [[noreturn]] void fail(const std::string& message) const {
        const std::string found = at_end() ? "the end of the text" : "'" + peek().text + "'";
        throw PtxError(peek().position, message + ", found " + found);
    }

private:
    std::vector<Token> tokens_;
    size_t at_ = 0;
};

}  // namespace emulated_gpu
