// The value of a C expression of unsigned integers, so that printed index expressions can be compared with the layouts
// they stand for. Operators: + * / % & ^ >> and parentheses.
#pragma once

#include <cctype>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

namespace kiln::test {

class CExpression {
public:
    CExpression(std::string text, std::map<std::string, std::uint64_t> names)
        : text_(std::move(text)), names_(std::move(names)) {}

    std::uint64_t value() {
        const std::uint64_t result = level(0);
        if (at_ != text_.size()) fail();
        return result;
    }

private:
    [[noreturn]] void fail() const { throw std::runtime_error("no expression: " + text_); }

    void skip_spaces() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    }

    /// Takes an operator of one precedence level: 0 ^, 1 &, 2 >>, 3 +, 4 * / %.
    char take(int precedence) {
        skip_spaces();
        static const char* const kOperators[] = {"^", "&", ">", "+", "*/%"};
        if (at_ >= text_.size() || std::string(kOperators[precedence]).find(text_[at_]) == std::string::npos) return 0;
        const char found = text_[at_];
        at_ += found == '>' ? 2 : 1;
        return found;
    }

    std::uint64_t level(int precedence) {
        if (precedence == 5) return operand();
        std::uint64_t left = level(precedence + 1);
        while (const char found = take(precedence)) {
            const std::uint64_t right = level(precedence + 1);
            if (found == '^') left ^= right;
            if (found == '&') left &= right;
            if (found == '>') left >>= right;
            if (found == '+') left += right;
            if (found == '*') left *= right;
            if (found == '/') left /= right;
            if (found == '%') left %= right;
        }
        return left;
    }

    std::uint64_t operand() {
        skip_spaces();
        if (at_ >= text_.size()) fail();
        if (text_[at_] == '(') {
            ++at_;
            const std::uint64_t inner = level(0);
            skip_spaces();
            if (at_ >= text_.size() || text_[at_] != ')') fail();
            ++at_;
            return inner;
        }
        const std::size_t start = at_;
        while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
        const std::string word = text_.substr(start, at_ - start);
        if (word.empty()) fail();
        if (std::isdigit(static_cast<unsigned char>(word[0]))) return std::stoull(word);
        return names_.at(word);
    }

    std::string text_;
    std::map<std::string, std::uint64_t> names_;
    std::size_t at_ = 0;
};

inline std::uint64_t c_value(const std::string& text, const std::map<std::string, std::uint64_t>& names) {
    return CExpression(text, names).value();
}

}  // namespace kiln::test
