#include "dsl/layout.h"

#include <algorithm>
#include <string_view>

#include "dsl/diagnostics.h"
#include "dsl/lexical.h"

namespace kiln::dsl {

namespace {

using support::Diagnostics;
using support::SourceMap;
using support::Span;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// Length of the well-formed UTF-8 sequence at the front of `text` (RFC 3629, table 3-7 of Unicode: no overlong forms,
/// no surrogates), or 0.
std::size_t utf8_length(std::string_view text) {
    const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) return 1;
    if (lead < 0xc2 || lead > 0xf4) return 0;
    const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (text.size() < length) return 0;
    const unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (byte(1) < low || byte(1) > high) return 0;
    for (std::size_t i = 2; i < length; ++i) {
        if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
    }
    return length;
}

bool ends_statement(const Lexeme& lexeme) {
    if (lexeme.kind == LexemeKind::Symbol) return lexeme.text == ")" || lexeme.text == "]" || lexeme.text == "}";
    if (lexeme.kind != LexemeKind::Word) return true;
    static constexpr std::string_view kWords[] = {"_", "true", "false", "break", "continue", "return"};
    return !is_reserved(lexeme.text) ||
           std::find(std::begin(kWords), std::end(kWords), lexeme.text) != std::end(kWords);
}

bool begins_statement(const Lexeme& lexeme) {
    if (lexeme.kind == LexemeKind::Symbol) return lexeme.text == "(" || lexeme.text == "[";
    if (lexeme.kind != LexemeKind::Word) return true;
    static constexpr std::string_view kWords[] = {"_",   "true",  "false", "let",    "var",    "const", "fn",
                                                  "for", "while", "if",    "static", "return", "break", "continue"};
    return !is_reserved(lexeme.text) ||
           std::find(std::begin(kWords), std::end(kWords), lexeme.text) != std::end(kWords);
}

class LayoutPass {
public:
    LayoutPass(const SourceMap& sources, std::uint32_t source, Diagnostics& diagnostics)
        : source_(source), text_(sources.text(source)), diagnostics_(diagnostics) {
        layout_.text.assign(text_.size(), ' ');
    }

    Layout run() {
        if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
        while (at_ < text_.size() && !failed_) step();
        if (!failed_ && !open_.empty()) {
            const std::uint32_t open = layout_.brackets[open_.back()].open;
            report(kUnclosedBracket, open, 1, text_[open]);
        }
        layout_.valid = !failed_;
        return std::move(layout_);
    }

private:
    template <class... Arguments>
    support::Diagnostic& report(const support::DiagnosticKind& kind, std::size_t begin, std::size_t length,
                                const Arguments&... arguments) {
        failed_ = true;
        return diagnostics_.report(kind, span(begin, length), arguments...);
    }

    Span span(std::size_t begin, std::size_t length) const {
        return {source_, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(begin + length)};
    }

    void step() {
        const char c = text_[at_];
        if (c == '\n') {
            take_newline();
        } else if (c == ' ' || c == '\t' || c == '\r') {
            ++at_;
        } else if (text_.substr(at_).starts_with("//")) {
            take_comment();
        } else if (c == '"') {
            take_string();
        } else if (check_character(false)) {
            const char* first = text_.data() + at_;
            take(next_lexeme(first, text_.data() + text_.size()));
        }
    }

    void take_newline() {
        const bool in_block = !open_.empty() && text_[layout_.brackets[open_.back()].open] == '{';
        if (in_block && previous_ends_ && newline_ == kNone) newline_ = at_;
        line_begin_ = ++at_;
    }

    // Checks the character at `at_`, which stands in a comment or string if `any` is set. False: reported.
    bool check_character(bool any) {
        const auto byte = static_cast<unsigned char>(text_[at_]);
        const std::size_t length = utf8_length(text_.substr(at_));
        if (length == 0) {
            report(kInvalidUtf8, at_, 1, byte);
        } else if (byte == 0 || (!any && (byte < 0x20 || byte == 0x7f))) {
            report(kControlCharacter, at_, 1, byte);
        } else if (!any && length > 1) {
            report(kOutsideAscii, at_, length, text_.substr(at_, length));
        }
        return !failed_;
    }

    void take_comment() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && text_[at_] != '\n') {
            if (!check_character(true)) return;
            at_ += utf8_length(text_.substr(at_));
        }
        std::size_t end = at_;
        if (text_[end - 1] == '\r') --end;
        const std::string_view comment = text_.substr(begin, end - begin);
        const std::string_view before = text_.substr(line_begin_, begin - line_begin_);
        const bool after_mark = line_begin_ == 0 && before.starts_with(kByteOrderMark);
        const std::size_t from = after_mark ? kByteOrderMark.size() : 0;
        layout_.comments.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end),
                                    comment.starts_with("///") && !comment.starts_with("////"),
                                    before.find_first_not_of(" \t\r", from) == std::string_view::npos});
    }

    void take_string() {
        const std::size_t begin = at_++;
        while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
            const bool escape = text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n';
            if (escape) ++at_;
            if (!check_character(true)) return;
            at_ += utf8_length(text_.substr(at_));
        }
        if (at_ >= text_.size() || text_[at_] == '\n') {
            report(kUnterminatedString, begin, 1).help("close it with `\"`; a line break in it is written `\\n`");
            return;
        }
        const std::size_t length = at_ + 1 - begin;
        at_ = begin;
        take({LexemeKind::String, text_.substr(begin, length)});
    }

    void take(const Lexeme& lexeme) {
        list_declaration(lexeme);
        if (newline_ != kNone && begins_statement(lexeme)) layout_.text[newline_] = '\n';
        newline_ = kNone;
        previous_ends_ = ends_statement(lexeme);
        lexeme.text.copy(layout_.text.data() + at_, lexeme.text.size());
        if (lexeme.kind == LexemeKind::Symbol) take_bracket(lexeme.text[0]);
        at_ += lexeme.text.size();
    }

    void take_bracket(char c) {
        if (c == '(' || c == '[' || c == '{') {
            if (open_.size() == kNestingLimit) {
                report(kNestedTooDeep, at_, 1, kNestingLimit).help("give inner parts names with `let` or `fn`");
                return;
            }
            open_.push_back(layout_.brackets.size());
            layout_.brackets.push_back({static_cast<std::uint32_t>(at_), 0});
        } else if (c == ')' || c == ']' || c == '}') {
            close_bracket(c);
        }
    }

    void close_bracket(char c) {
        if (open_.empty()) {
            report(kUnopenedBracket, at_, 1, c);
            return;
        }
        BracketPair& pair = layout_.brackets[open_.back()];
        const char opened = text_[pair.open];
        if (c != (opened == '(' ? ')' : opened == '[' ? ']' : '}')) {
            report(kMismatchedBracket, at_, 1, c, opened).note(span(pair.open, 1), "opened here");
            return;
        }
        pair.close = static_cast<std::uint32_t>(at_);
        open_.pop_back();
    }

    // Outside all brackets a reserved word that begins a line begins a declaration, except `fn` without a name, which
    // is a type, and an indented `const`, which is a kernel's clause.
    void list_declaration(const Lexeme& lexeme) {
        if (function_ != kNone && is_name(lexeme))
            layout_.declarations.push_back(static_cast<std::uint32_t>(function_));
        function_ = kNone;
        const bool first = line_begin_ > last_lexeme_ || last_lexeme_ == 0;
        last_lexeme_ = at_;
        if (!open_.empty() || !first || lexeme.kind != LexemeKind::Word) return;
        const bool constant = lexeme.text == "const" && at_ == line_begin_;
        if (constant || lexeme.text == "import" || lexeme.text == "type" || lexeme.text == "kernel") {
            layout_.declarations.push_back(static_cast<std::uint32_t>(at_));
        } else if (lexeme.text == "fn") {
            function_ = at_;
        }
    }

    static constexpr std::size_t kNone = std::string_view::npos;

    std::uint32_t source_;
    std::string_view text_;
    Diagnostics& diagnostics_;
    Layout layout_;
    std::vector<std::size_t> open_;  // indices into layout_.brackets
    std::size_t at_ = 0;
    std::size_t line_begin_ = 0;
    std::size_t last_lexeme_ = 0;
    std::size_t newline_ = kNone;   // the first newline since the last lexeme, if it may end a statement
    std::size_t function_ = kNone;  // an `fn` that may begin a declaration
    bool previous_ends_ = false;
    bool failed_ = false;
};

}  // namespace

Layout lay_out(const SourceMap& sources, std::uint32_t source, Diagnostics& diagnostics) {
    return LayoutPass(sources, source, diagnostics).run();
}

}  // namespace kiln::dsl
