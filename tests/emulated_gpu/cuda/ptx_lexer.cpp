#include "tests/emulated_gpu/cuda/ptx_lexer.h"

#include <bit>
#include <cctype>
#include <cstdlib>

namespace emulated_gpu {
namespace {

bool starts_name(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}
bool continues_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$';
}

class Lexer {
public:
    explicit Lexer(std::string_view text) : text_(text) {}

    std::vector<Token> run() {
        std::vector<Token> tokens;
        while (true) {
            const size_t before = at_;
            skip_blanks();
            Token token = next();
            token.glued = before == token_start_ && !tokens.empty();
            tokens.push_back(token);
            if (token.kind == Token::Kind::End) return tokens;
        }
    }

private:
    char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
    Position here() const { return {line_, static_cast<int>(at_ - line_start_) + 1}; }

    void advance() {
        if (text_[at_] == '\n') {
            ++line_;
            line_start_ = at_ + 1;
        }
        ++at_;
    }

    void skip_blanks() {
        while (at_ < text_.size()) {
            if (std::isspace(static_cast<unsigned char>(peek()))) {
                advance();
            } else if (peek() == '/' && peek(1) == '/') {
                while (at_ < text_.size() && peek() != '\n') advance();
            } else if (peek() == '/' && peek(1) == '*') {
                skip_comment();
            } else {
                return;
            }
        }
    }

    void skip_comment() {
        const Position start = here();
        while (!(peek() == '*' && peek(1) == '/')) {
            if (at_ >= text_.size()) throw PtxError(start, "this comment does not end");
            advance();
        }
        at_ += 2;
    }

    Token next() {
        token_start_ = at_;
        Token token;
        token.position = here();
        const char c = peek();
        if (at_ >= text_.size() || c == '\0') return token;
        if (starts_name(c)) {
            token.kind = Token::Kind::Identifier;
            advance();
            while (continues_name(peek())) advance();
            token.text = std::string(text_.substr(token_start_, at_ - token_start_));
        } else if (c == '.' && continues_name(peek(1))) {
            read_directive(token);
        } else if (std::isdigit(static_cast<unsigned char>(c))) {
            read_number(token);
        } else if (c == '"') {
            read_string(token);
        } else if (std::string_view("{}()[]<>,;:|!@+-*/=~&^?%").find(c) != std::string_view::npos) {
            token.kind = Token::Kind::Punctuation;
            token.text = std::string(1, c);
            advance();
        } else {
            throw PtxError(token.position, std::string("PTX has no character '") + c + "'");
        }
        return token;
    }

    void read_directive(Token& token) {
        token.kind = Token::Kind::Directive;
        advance();
        const size_t start = at_;
        while (continues_name(peek()) || (peek() == ':' && peek(1) == ':' && continues_name(peek(2)))) {
            if (peek() == ':') advance();
            advance();
        }
        token.text = std::string(text_.substr(start, at_ - start));
    }

    void read_string(Token& token) {
        token.kind = Token::Kind::String;
        advance();
        while (peek() != '"') {
            if (at_ >= text_.size()) throw PtxError(token.position, "this string does not end");
            token.text += peek();
            advance();
        }
        advance();
    }

    void read_number(Token& token) {
        const char kind = static_cast<char>(std::tolower(static_cast<unsigned char>(peek(1))));
        if (peek() == '0' && (kind == 'f' || kind == 'd')) return read_float_bits(token, kind == 'd');
        while (std::isalnum(static_cast<unsigned char>(peek())) || (peek() == '.' && std::isdigit(peek(1)))) advance();
        std::string word(text_.substr(token_start_, at_ - token_start_));
        if (word.find('.') != std::string::npos) {
            token.kind = Token::Kind::Double;
            token.integer = std::bit_cast<uint64_t>(std::strtod(word.c_str(), nullptr));
            return;
        }
        token.kind = Token::Kind::Integer;
        token.text = word;
        if (word.back() == 'U' || word.back() == 'u') word.pop_back();
        int base = 10;
        size_t skip = 0;
        if (kind == 'x')
            base = 16, skip = 2;
        else if (kind == 'b')
            base = 2, skip = 2;
        else if (word.size() > 1 && word[0] == '0')
            base = 8, skip = 1;
        char* end = nullptr;
        token.integer = std::strtoull(word.c_str() + skip, &end, base);
        if (*end != '\0' || word.size() == skip) throw PtxError(token.position, "'" + token.text + "' is not a number");
    }

    void read_float_bits(Token& token, bool is_double) {
        advance();
        advance();
        const size_t digits = is_double ? 16 : 8;
        const size_t start = at_;
        while (std::isxdigit(static_cast<unsigned char>(peek()))) advance();
        const std::string word(text_.substr(start, at_ - start));
        if (word.size() != digits) {
            throw PtxError(token.position,
                           "a float literal of this kind has " + std::to_string(digits) + " hex digits");
        }
        token.kind = is_double ? Token::Kind::Double : Token::Kind::Float;
        token.integer = std::strtoull(word.c_str(), nullptr, 16);
    }

    std::string_view text_;
    size_t at_ = 0;
    size_t token_start_ = 0;
    size_t line_start_ = 0;
    int line_ = 1;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text) {
    return Lexer(text).run();
}

}  // namespace emulated_gpu
