#include "dsl/parse.h"

#include "dsl/grammar.h"
#include "dsl/layout.h"

namespace kiln::dsl {

namespace {

bool is_blank(std::string_view text) {
    return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// One line end and the indentation of the next line.
bool is_line_step(std::string_view text) {
    const std::size_t newline = text.find('\n');
    return newline != std::string_view::npos && text.find('\n', newline + 1) == std::string_view::npos &&
           is_blank(text);
}

class FileParser {
public:
    FileParser(const support::SourceMap& sources, std::uint32_t source, const Layout& layout,
               support::Diagnostics& diagnostics)
        : text_(sources.text(source)), state_(sources, source, layout, diagnostics) {}

    Ast run() {
        Cursor cursor = state_.begin();
        try {
            while (state_.peek(cursor).kind != LexemeKind::End) cursor = parse_declaration(cursor);
        } catch (const TooManyErrorsReached&) {
            state_.drop(0);
        }
        const auto declarations = state_.items();
        finish_node(state_, {NodeKind::File, 0, 0, state_.offset(state_.end())});
        state_.ast.root = state_.items().front().node;
        for (const Item& item : declarations) attach_documentation(item.node);
        return std::move(state_.ast);
    }

private:
    // Returns where the next one begins.
    Cursor parse_declaration(Cursor first) {
        const std::size_t mark = state_.mark();
        const Context context(state_);
        Cursor at = first;
        try {
            if (declaration.parse(at, state_.end(), context, x3::unused, x3::unused)) return at;
            report_unexpected(state_, "a declaration", first);
        } catch (const x3::expectation_failure<Cursor>& failure) {
            report_unexpected(state_, failure.which(), failure.where());
        }
        state_.drop(mark);
        const Cursor begin = state_.peek(first).begin();
        const Cursor next = next_declaration(state_, begin);
        push_error(begin, next);
        return next;
    }

    void push_error(Cursor begin, Cursor end) {
        while (end != begin && (end[-1] == ' ' || end[-1] == '\n')) --end;
        Node node;
        node.span = state_.span(state_.offset(begin), state_.offset(end));
        node.name_span = node.span;
        state_.push_node(state_.add_node(node), node.span.begin, node.span.end);
    }

    // The `///` lines directly above a declaration are one block.
    void attach_documentation(NodeId declaration) {
        const auto& comments = state_.layout().comments;
        std::uint32_t begin = state_.ast[declaration].span.begin;
        support::Span span;
        while (next_comment_ < comments.size() && comments[next_comment_].begin < begin) ++next_comment_;
        for (std::size_t i = next_comment_; i > 0; --i) {
            const Comment& comment = comments[i - 1];
            const std::string_view between = text_.substr(comment.end, begin - comment.end);
            if (!comment.documentation || !comment.own_line || !is_line_step(between)) break;
            begin = comment.begin;
            span = state_.span(begin, span.end == 0 ? comment.end : span.end);
        }
        if (span.end != 0) state_.ast.docs.push_back({declaration, span});
    }

    std::string_view text_;
    ParseState state_;
    std::size_t next_comment_ = 0;
};

}  // namespace

Ast parse(const support::SourceMap& sources, std::uint32_t source, support::Diagnostics& diagnostics) {
    const Layout layout = lay_out(sources, source, diagnostics);
    if (layout.valid) return FileParser(sources, source, layout, diagnostics).run();
    Ast ast;
    Node file;
    file.kind = NodeKind::File;
    file.span = {source, 0, static_cast<std::uint32_t>(sources.text(source).size())};
    file.name_span = file.span;
    ast.nodes.push_back(file);
    ast.root = 0;
    return ast;
}

}  // namespace kiln::dsl
