#include "dsl/state.h"

#include <algorithm>
#include <string>

#include "dsl/diagnostics.h"
#include "ir/support/internal_error.h"

namespace kiln::dsl {

namespace {

// More errors than this in one file help nobody.
constexpr std::size_t kErrorLimit = 100;

std::span<const Item> above(ParseState& state, const Extent& extent) {
    return std::span<const Item>(state.items()).subspan(extent.mark);
}

Node bare_node(const ParseState& state, const Extent& extent) {
    Node node;
    node.kind = extent.kind;
    node.span = state.span(extent.begin, extent.end);
    node.name_span = node.span;
    node.first_child = static_cast<std::uint32_t>(state.ast.children.size());
    return node;
}

void append_child(ParseState& state, Node& node, NodeId child) {
    state.ast.children.push_back(child);
    ++node.child_count;
}

void replace(ParseState& state, const Extent& extent, const Node& node) {
    const NodeId id = state.add_node(node);
    state.drop(extent.mark);
    state.push_node(id, extent.begin, extent.end);
}

void set_text(const ParseState& state, Node& node, const Item& token) {
    node.text = state.text(token.begin, token.end);
    node.name_span = state.span(token.begin, token.end);
}

/// Groups one flat list. Chains open at a time have rising levels, so there are never more than nine; each operand and
/// operator is pushed and popped once.
class ChainGrouper {
public:
    ChainGrouper(ParseState& state, std::span<const Item> items) : state_(state), items_(items) {}

    Item run() {
        operands_.push_back(items_[0]);
        for (std::size_t i = 1; i < items_.size(); i += 2) {
            take_operator(items_[i]);
            operands_.push_back(items_[i + 1]);
        }
        while (!open_.empty()) close();
        return operands_.front();
    }

private:
    struct OpenChain {
        int level;
        std::size_t first_operand;
        std::size_t first_operator;
    };

    void take_operator(const Item& token) {
        const int level = binary_level(state_.text(token.begin, token.end));
        while (!open_.empty() && open_.back().level > level) close();
        if (open_.empty() || open_.back().level < level) {
            open_.push_back({level, operands_.size() - 1, operators_.size()});
        } else if (level == kComparisonLevel) {
            state_.report(kComparisonChain, state_.span(token.begin, token.end)).help("join two with `&&`");
        }
        operators_.push_back(token);
    }

    void close() {
        const OpenChain chain = open_.back();
        open_.pop_back();
        const std::uint32_t begin = operands_[chain.first_operand].begin;
        const std::uint32_t end = operands_.back().end;
        Node node = bare_node(state_, {NodeKind::Chain, 0, begin, end});
        for (std::size_t i = chain.first_operand; i < operands_.size(); ++i)
            append_child(state_, node, operands_[i].node);
        node.first_operator = static_cast<std::uint32_t>(state_.ast.operators.size());
        for (std::size_t i = chain.first_operator; i < operators_.size(); ++i) append_operator(node, operators_[i]);
        operators_.resize(chain.first_operator);
        operands_.resize(chain.first_operand);
        operands_.push_back({Item::Kind::Node, state_.add_node(node), begin, end});
    }

    void append_operator(Node& node, const Item& token) {
        const support::Span span = state_.span(token.begin, token.end);
        ++node.operator_count;
        state_.ast.operators.push_back({state_.text(token.begin, token.end), span});
    }

    ParseState& state_;
    std::span<const Item> items_;
    std::vector<Item> operands_;
    std::vector<Item> operators_;
    std::vector<OpenChain> open_;
};

}  // namespace

ParseState::ParseState(const support::SourceMap& sources, std::uint32_t source, const Layout& layout,
                       support::Diagnostics& diagnostics)
    : source_(source),
      source_text_(sources.text(source)),
      layout_(layout),
      diagnostics_(diagnostics),
      errors_before_(diagnostics.error_count()) {}

void ParseState::count_error(support::Span span) {
    if (diagnostics_.error_count() - errors_before_ < kErrorLimit) return;
    diagnostics_.report(kTooManyErrors, span);
    throw TooManyErrorsReached{};
}

const Lexeme& ParseState::peek(Cursor cursor) {
    if (cursor != peeked_at_) {
        peeked_at_ = cursor;
        peeked_ = next_lexeme(cursor, end());
    }
    return peeked_;
}

void ParseState::push(Item::Kind kind, const Lexeme& lexeme) {
    items_.push_back({kind, kNoNode, offset(lexeme.begin()), offset(lexeme.end())});
}

void ParseState::push_missing() {
    items_.push_back({});
}

void ParseState::push_leaf(NodeKind kind, const Lexeme& lexeme, std::string_view text) {
    Node node;
    node.kind = kind;
    node.span = span(lexeme);
    node.name_span = node.span;
    node.text = text;
    push_node(add_node(node), node.span.begin, node.span.end);
}

void ParseState::push_node(NodeId node, std::uint32_t begin, std::uint32_t end) {
    items_.push_back({Item::Kind::Node, node, begin, end});
}

NodeId ParseState::add_node(const Node& node) {
    ast.nodes.push_back(node);
    return static_cast<NodeId>(ast.nodes.size() - 1);
}

std::string_view ParseState::spell(std::string text) {
    if (!ast.spellings) ast.spellings = std::make_shared<std::deque<std::string>>();
    return ast.spellings->emplace_back(std::move(text));
}

void finish_node(ParseState& state, const Extent& extent) {
    Node node = bare_node(state, extent);
    for (const Item& item : above(state, extent)) {
        switch (item.kind) {
            case Item::Kind::Node:
                append_child(state, node, item.node);
                break;
            case Item::Kind::Token:
                if (node.text.empty()) set_text(state, node, item);
                break;
            case Item::Kind::Flag:
                node.flag = true;
                break;
        }
    }
    replace(state, extent, node);
}

void finish_last_first(ParseState& state, const Extent& extent) {
    auto& items = state.items();
    std::rotate(items.begin() + static_cast<std::ptrdiff_t>(extent.mark), items.end() - 1, items.end());
    finish_node(state, extent);
}

void finish_parenthesised(ParseState& state, const Extent& extent) {
    const auto items = above(state, extent);
    if (items.size() > 1) {
        finish_node(state, extent);
        return;
    }
    const NodeId inner = items[0].node;
    state.drop(extent.mark);
    state.push_node(inner, extent.begin, extent.end);
}

void finish_suffixed(ParseState& state, const Extent& extent) {
    if (above(state, extent).size() > 1) finish_node(state, extent);
}

void finish_chain(ParseState& state, const Extent& extent) {
    const auto items = above(state, extent);
    if (items.size() == 1) return;
    const Item whole = ChainGrouper(state, items).run();
    state.drop(extent.mark);
    state.push_node(whole.node, extent.begin, extent.end);
}

void finish_joined(ParseState& state, const Extent& extent) {
    Node node = bare_node(state, extent);
    std::string joined;
    std::uint32_t begin = extent.end;
    std::uint32_t end = extent.begin;
    for (const Item& item : above(state, extent)) {
        if (item.kind == Item::Kind::Node) {
            append_child(state, node, item.node);
            continue;
        }
        joined += state.text(item.begin, item.end);
        begin = std::min(begin, item.begin);
        end = std::max(end, item.end);
    }
    node.name_span = state.span(begin, end);
    node.text = state.text(begin, end);
    if (node.text != joined) node.text = state.spell(std::move(joined));
    replace(state, extent, node);
}

void finish_index_item(ParseState& state, const Extent& extent) {
    if (above(state, extent).size() == 1) return;
    const Item between = above(state, extent)[1];
    const bool slice = state.text(between.begin, between.end) == ":+";
    state.items().erase(state.items().begin() + static_cast<std::ptrdiff_t>(extent.mark) + 1);
    finish_node(state, {slice ? NodeKind::Slice : NodeKind::Between, extent.mark, extent.begin, extent.end});
}

void finish_binding(ParseState& state, const Extent& extent) {
    const NodeId last = above(state, extent).back().node;
    const NodeKind kind = state.ast[last].kind;
    if (kind == NodeKind::Name || kind == NodeKind::Discard) state.push_missing();
    finish_last_first(state, extent);
}

void finish_static(ParseState& state, const Extent& extent) {
    const Item word = above(state, extent)[0];
    state.items().erase(state.items().begin() + static_cast<std::ptrdiff_t>(extent.mark));
    const std::string_view text = state.text(word.begin, word.end);
    const NodeKind kind = text == "if"    ? NodeKind::StaticIf
                          : text == "for" ? NodeKind::StaticFor
                                          : NodeKind::StaticAssert;
    finish_node(state, {kind, extent.mark, extent.begin, extent.end});
}

void finish_target_statement(ParseState& state, const Extent& extent) {
    const bool assigns = above(state, extent).size() > 1;
    const NodeKind kind = assigns ? NodeKind::Assign : NodeKind::ExpressionStatement;
    finish_node(state, {kind, extent.mark, extent.begin, extent.end});
}

}  // namespace kiln::dsl
