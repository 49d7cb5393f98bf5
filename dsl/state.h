// What a parse carries along: the text, the tree so far and a stack of parsed items.
//
// The grammar's parsers have no X3 attributes. Instead terminals and finished nodes push items onto one stack, and
// `build` (build.h) turns what its subject pushed into a node. That keeps spans and recovery exact and spares the
// compiler every Fusion attribute. It asks one thing of the grammar: outside `build`, whatever fails softly must not
// have pushed anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "dsl/ast.h"
#include "dsl/layout.h"
#include "dsl/lexical.h"
#include "ir/support/diagnostic.h"

namespace kiln::dsl {

/// One parsed piece of an unfinished construct, with the text it covers (parentheses included).
struct Item {
    enum class Kind : std::uint8_t { Node, Token, Flag };

    Kind kind = Kind::Node;
    NodeId node = kNoNode;  ///< Kind::Node; kNoNode is an optional part that is missing
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
};

/// Thrown when a file has more errors than anyone reads; ends the parse.
struct TooManyErrorsReached {};

class ParseState {
public:
    ParseState(const support::SourceMap& sources, std::uint32_t source, const Layout& layout,
               support::Diagnostics& diagnostics);

    Cursor begin() const { return layout_.text.data(); }
    Cursor end() const { return layout_.text.data() + layout_.text.size(); }
    const Layout& layout() const { return layout_; }
    /// As Diagnostics::report; ends the parse by TooManyErrorsReached if nobody would read another error.
    template <class... Arguments>
    support::Diagnostic& report(const support::DiagnosticKind& kind, support::Span span,
                                const Arguments&... arguments) {
        count_error(span);
        return diagnostics_.report(kind, span, arguments...);
    }

    /// The lexeme at or behind the blanks at `cursor`. The last answer is kept, so that trying many terminals at one
    /// place costs one scan, however long the comment there is.
    const Lexeme& peek(Cursor cursor);

    std::uint32_t offset(Cursor cursor) const { return static_cast<std::uint32_t>(cursor - begin()); }
    support::Span span(std::uint32_t begin, std::uint32_t end) const { return {source_, begin, end}; }
    support::Span span(const Lexeme& lexeme) const { return span(offset(lexeme.begin()), offset(lexeme.end())); }
    /// Text of the source, which outlives the layout.
    std::string_view text(std::uint32_t begin, std::uint32_t end) const {
        return source_text_.substr(begin, end - begin);
    }

    void push(Item::Kind kind, const Lexeme& lexeme);
    void push_missing();
    /// Adds a node without children whose text is `text`, and pushes it.
    void push_leaf(NodeKind kind, const Lexeme& lexeme, std::string_view text);
    void push_node(NodeId node, std::uint32_t begin, std::uint32_t end);

    /// Height of the stack, to be given to `drop` or a finisher.
    std::size_t mark() const { return items_.size(); }
    void drop(std::size_t mark) { items_.resize(mark); }
    std::vector<Item>& items() { return items_; }

    NodeId add_node(const Node& node);
    /// Keeps a text that stands nowhere in one piece, such as the operators of `- -x`.
    std::string_view spell(std::string text);

    Ast ast;

private:
    void count_error(support::Span span);

    std::uint32_t source_;
    std::string_view source_text_;
    const Layout& layout_;
    support::Diagnostics& diagnostics_;
    std::vector<Item> items_;
    std::size_t errors_before_;
    Cursor peeked_at_ = nullptr;
    Lexeme peeked_;
};

/// What `build` hands to a finisher: the items above `mark` are the construct's, and its text is [begin, end).
struct Extent {
    NodeKind kind = NodeKind::Error;
    std::size_t mark = 0;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
};

/// Replaces the items above the mark by what they make together.
using Finisher = void (*)(ParseState&, const Extent&);

/// A node of the extent's kind: its text is the first token, its flag whether a flag was seen, its children the nodes.
void finish_node(ParseState& state, const Extent& extent);
/// The same, but the last child comes first: a function type's result, a binding's type.
void finish_last_first(ParseState& state, const Extent& extent);
/// A construct that is its only part, in parentheses: `(x)`. With more parts, a node of the extent's kind.
void finish_parenthesised(ParseState& state, const Extent& extent);
/// A primary without suffixes is itself.
void finish_suffixed(ParseState& state, const Extent& extent);
/// Groups operands and operators by precedence into Chain nodes, in one pass.
void finish_chain(ParseState& state, const Extent& extent);
/// A node whose text is all its tokens, without the blanks between them: prefix operators, paths.
void finish_joined(ParseState& state, const Extent& extent);
/// One entry of an index list: an expression, a Slice or a Between.
void finish_index_item(ParseState& state, const Extent& extent);
/// Slots and an optional type.
void finish_binding(ParseState& state, const Extent& extent);
/// StaticIf, StaticFor or StaticAssert, by the word after `static`.
void finish_static(ParseState& state, const Extent& extent);
/// Assign, or ExpressionStatement if nothing is assigned.
void finish_target_statement(ParseState& state, const Extent& extent);

}  // namespace kiln::dsl
