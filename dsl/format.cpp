#include "dsl/format.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "dsl/ast.h"
#include "dsl/layout.h"
#include "dsl/lexical.h"
#include "dsl/parse.h"

namespace kiln::dsl {

namespace {

constexpr std::size_t kBlockIndent = 4;
constexpr std::size_t kClauseIndent = 2;
constexpr std::size_t kNone = std::string_view::npos;

/// What the tree knows about the lexeme at an offset and its text alone does not tell.
enum class Role : std::uint8_t {
    None,
    Tight,  ///< a bracket that belongs to what stands before it: a call, an index list, sizes, parameters
    GenericOpen,
    GenericClose,
    Prefix,
    BlockOpen,
    BlockClose,
    SettingsOpen,  ///< the braces of `schedule`
    SettingsClose,
};

/// What begins at an offset and may, or must, begin a line.
enum class Start : std::uint8_t { None, Statement, Declaration, Clause, Phase };

/// A lexeme or comment of the file, in order.
struct Piece {
    std::string_view text;
    Role role = Role::None;
    Start start = Start::None;
    bool comment = false;
    bool begins_line = false;
    bool blank_before = false;
};

class RoleFinder {
public:
    RoleFinder(const Ast& ast, std::string_view text)
        : ast_(ast), text_(text), roles_(text.size()), starts_(text.size()) {
        for (NodeId id = 0; id < ast.nodes.size(); ++id) visit(id);
    }

    Role role(std::size_t offset) const { return roles_[offset]; }
    Start start(std::size_t offset) const { return starts_[offset]; }

private:
    void visit(NodeId id) {
        const Node& node = ast_[id];
        const std::uint32_t last = node.span.end == 0 ? 0 : node.span.end - 1;
        if (node.kind == NodeKind::File) {
            mark_children(id, Start::Declaration);
        } else if (node.kind == NodeKind::Clauses) {
            mark_children(id, Start::Clause);
        } else if (node.kind == NodeKind::Phases) {
            mark_children(id, Start::Phase);
        } else if (node.kind == NodeKind::Block) {
            mark_children(id, Start::Statement);
            roles_[node.span.begin] = Role::BlockOpen;
            roles_[last] = Role::BlockClose;
        } else if (node.kind == NodeKind::Schedule) {
            roles_[lexeme_after(node.name_span.end)] = Role::SettingsOpen;
            roles_[last] = Role::SettingsClose;
        } else if (node.kind == NodeKind::Generics) {
            roles_[node.span.begin] = Role::GenericOpen;
            roles_[last] = Role::GenericClose;
        } else if (node.kind == NodeKind::Call || node.kind == NodeKind::Index || node.kind == NodeKind::Sizes ||
                   node.kind == NodeKind::Parameters) {
            roles_[node.span.begin] = Role::Tight;
        } else if (node.kind == NodeKind::FunctionType) {
            roles_[lexeme_after(node.span.begin + std::string_view("fn").size())] = Role::Tight;
        } else if (node.kind == NodeKind::Prefix) {
            for (std::uint32_t at = node.name_span.begin; at < node.name_span.end; ++at) roles_[at] = Role::Prefix;
        }
    }

    void mark_children(NodeId id, Start start) {
        for (const NodeId child : ast_.children_of(id)) starts_[ast_[child].span.begin] = start;
    }

    std::size_t lexeme_after(std::uint32_t offset) const {
        const Lexeme lexeme = next_lexeme(text_.data() + offset, text_.data() + text_.size());
        return static_cast<std::size_t>(lexeme.begin() - text_.data());
    }

    const Ast& ast_;
    std::string_view text_;
    std::vector<Role> roles_;
    std::vector<Start> starts_;
};

std::string_view without_trailing_blanks(std::string_view text) {
    return text.substr(0, text.find_last_not_of(" \t\r") + 1);
}

/// The file as pieces, with the line breaks of its author and those that the layout demands.
class Splitter {
public:
    Splitter(const Layout& layout, std::string_view source, const RoleFinder& roles)
        : layout_(layout), source_(source), roles_(roles) {}

    std::vector<Piece> run() {
        const Cursor begin = layout_.text.data();
        const Cursor end = begin + layout_.text.size();
        for (Lexeme lexeme = next_lexeme(begin, end); lexeme.kind != LexemeKind::End;
             lexeme = next_lexeme(lexeme.end(), end)) {
            const auto offset = static_cast<std::size_t>(lexeme.begin() - begin);
            take_comments_before(offset);
            if (lexeme.kind != LexemeKind::Newline) take_lexeme(offset, lexeme.text.size());
        }
        take_comments_before(source_.size());
        return std::move(pieces_);
    }

private:
    void take_comments_before(std::size_t offset) {
        for (; next_comment_ < layout_.comments.size() && layout_.comments[next_comment_].begin < offset;
             ++next_comment_) {
            const Comment& comment = layout_.comments[next_comment_];
            Piece piece;
            piece.text = without_trailing_blanks(source_.substr(comment.begin, comment.end - comment.begin));
            piece.comment = true;
            add(piece, comment.begin, comment.end);
        }
    }

    void take_lexeme(std::size_t offset, std::size_t length) {
        Piece piece;
        piece.text = source_.substr(offset, length);
        piece.role = roles_.role(offset);
        piece.start = roles_.start(offset);
        add(piece, offset, offset + length);
    }

    void add(Piece piece, std::size_t begin, std::size_t end) {
        const std::string_view gap = source_.substr(last_end_, begin - last_end_);
        const auto newlines = std::count(gap.begin(), gap.end(), '\n');
        const bool demanded = piece.start != Start::None && piece.start != Start::Statement;
        piece.begins_line = pieces_.empty() || newlines > 0 || demanded;
        piece.blank_before = !pieces_.empty() && newlines > 1;
        pieces_.push_back(piece);
        last_end_ = end;
    }

    const Layout& layout_;
    std::string_view source_;
    const RoleFinder& roles_;
    std::vector<Piece> pieces_;
    std::size_t next_comment_ = 0;
    std::size_t last_end_ = 0;
};

bool opens(const Piece& piece) {
    if (piece.comment) return false;
    return piece.role == Role::GenericOpen || piece.text == "(" || piece.text == "[" || piece.text == "{";
}

bool closes(const Piece& piece) {
    if (piece.comment) return false;
    return piece.role == Role::GenericClose || piece.text == ")" || piece.text == "]" || piece.text == "}";
}

bool is_choice_brace(const Piece& piece) {
    return piece.role == Role::None && (piece.text == "{" || piece.text == "}");
}

bool needs_space(const Piece& left, const Piece& right) {
    if (right.text == "," || right.text == ";" || right.text == ")" || right.text == "]") return false;
    if (left.text == "(" || left.text == "[" || left.role == Role::GenericOpen || left.role == Role::Prefix)
        return false;
    if (right.role == Role::GenericOpen || right.role == Role::GenericClose || right.role == Role::Tight) return false;
    // A dot right behind a whole number would be read as a part of it.
    if (right.text == ".") return left.text[0] >= '0' && left.text[0] <= '9';
    if (left.text == ".") return false;
    if (right.text == ":") return left.text == ",";
    const bool inside_choices =
        (is_choice_brace(left) && left.text == "{") || (is_choice_brace(right) && right.text == "}");
    return !inside_choices;
}

struct Line {
    std::string code;
    std::string_view comment;
};

/// Puts pieces into lines. A line that goes on inside a bracket is aligned with what follows the bracket, or, if the
/// bracket ends its line, indented from that line.
class LineWriter {
public:
    std::vector<Line> run(const std::vector<Piece>& pieces) {
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            const Piece& piece = pieces[i];
            if (piece.begins_line) {
                begin_line(pieces, i);
            } else if (piece.comment) {
                lines_.back().comment = piece.text;
                continue;
            } else if (needs_space(pieces[i - 1], piece)) {
                lines_.back().code += ' ';
            }
            place(piece);
        }
        return std::move(lines_);
    }

private:
    struct Bracket {
        bool block = false;
        std::size_t line_indent = 0;
        std::size_t content = kNone;  ///< column of what follows on the bracket's line, if anything does
    };

    void begin_line(const std::vector<Piece>& pieces, std::size_t index) {
        const bool inner_edge = index > 0 && (opens(pieces[index - 1]) || closes(pieces[index]));
        if (pieces[index].blank_before && !inner_edge) lines_.push_back({});
        std::size_t next = index;
        while (next + 1 < pieces.size() && pieces[next].comment) ++next;
        line_indent_ = indent_of(pieces[next], pieces[index].comment);
        if (outside_lists()) base_indent_ = line_indent_;
        lines_.push_back({std::string(line_indent_, ' '), {}});
    }

    bool outside_lists() const { return brackets_.empty() || brackets_.back().block; }

    // A comment is indented like the piece after it, but stays inside a bracket that closes there.
    std::size_t indent_of(const Piece& piece, bool for_comment) const {
        const bool closing = closes(piece) && !for_comment;
        if (!outside_lists()) return indent_in_bracket(brackets_.back(), closing);
        const std::size_t base = kBlockIndent * (closing ? brackets_.size() - 1 : brackets_.size());
        if (piece.start == Start::Clause) return kClauseIndent;
        const bool own = piece.comment || piece.start != Start::None || closes(piece) ||
                         piece.role == Role::BlockOpen || piece.text == "else";
        if (own) return base;
        return brackets_.empty() ? continuation_ : base + kBlockIndent;
    }

    static std::size_t indent_in_bracket(const Bracket& bracket, bool closing) {
        if (bracket.content == kNone) return bracket.line_indent + (closing ? 0 : kBlockIndent);
        return closing ? bracket.content - 1 : bracket.content;
    }

    void place(const Piece& piece) {
        std::string& code = lines_.back().code;
        if (!brackets_.empty() && brackets_.back().content == kNone && !piece.begins_line && !closes(piece)) {
            if (awaits_content_) brackets_.back().content = code.size();
        }
        awaits_content_ = false;
        if (piece.start != Start::None) note_start(piece);
        if (closes(piece)) brackets_.pop_back();
        code += piece.text;
        if (!opens(piece)) return;
        brackets_.push_back({piece.role == Role::BlockOpen, outside_lists() ? base_indent_ : line_indent_, kNone});
        awaits_content_ = true;
    }

    // Outside all brackets lines go on behind the word of a clause or `grid`.
    void note_start(const Piece& piece) {
        const std::size_t indent = piece.start == Start::Clause ? kClauseIndent : 0;
        const bool hangs = piece.start == Start::Clause || piece.start == Start::Phase;
        continuation_ = hangs ? indent + piece.text.size() + 1 : kBlockIndent;
    }

    std::vector<Line> lines_;
    std::vector<Bracket> brackets_;
    std::size_t line_indent_ = 0;
    std::size_t base_indent_ = 0;  // of the last line that did not begin inside a list
    std::size_t continuation_ = kBlockIndent;
    bool awaits_content_ = false;
};

// Trailing comments of neighbouring lines stand below each other.
std::string join_lines(const std::vector<Line>& lines) {
    std::string text;
    for (std::size_t first = 0; first < lines.size();) {
        std::size_t end = first;
        std::size_t width = 0;
        while (end < lines.size() && !lines[end].comment.empty()) width = std::max(width, lines[end++].code.size());
        end = std::max(end, first + 1);
        for (; first < end; ++first) {
            const Line& line = lines[first];
            text += line.code;
            if (!line.comment.empty()) text.append(width + 2 - line.code.size(), ' ').append(line.comment);
            text += '\n';
        }
    }
    return text;
}

}  // namespace

std::string format(const support::SourceMap& sources, std::uint32_t source, support::Diagnostics& diagnostics) {
    const std::size_t errors_before = diagnostics.error_count();
    const std::string_view text = sources.text(source);
    const Ast ast = parse(sources, source, diagnostics);
    if (diagnostics.error_count() > errors_before) return std::string(text);
    support::Diagnostics none;
    const Layout layout = lay_out(sources, source, none);
    const RoleFinder roles(ast, layout.text);
    return join_lines(LineWriter().run(Splitter(layout, text, roles).run()));
}

}  // namespace kiln::dsl
