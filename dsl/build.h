// Own parsers and directives for Spirit X3; only the grammar's .cpp files include this.
//
//     build(NodeKind::While)[Token{"while"} > expression > block]
//
// reads as the grammar does. Every terminal, and every composite that may stand right of `>`, has a name in get_info
// below: that name is what "expected ..." prints, and X3's own default would be a mangled C++ type.
#pragma once

#define BOOST_SPIRIT_X3_NO_RTTI
#include <boost/spirit/home/x3.hpp>
#include <string>

#include "dsl/lexical.h"
#include "dsl/messages.h"
#include "dsl/recovery.h"
#include "dsl/state.h"

namespace kiln::dsl {

namespace x3 = boost::spirit::x3;

struct StateTag;
/// The one context of all rules: X3's skipper is not used, since terminals skip blanks themselves.
using Context = x3::context<StateTag, ParseState>;

template <class AnyContext>
ParseState& state_of(const AnyContext& context) {
    return x3::get<StateTag>(context);
}

/// A terminal is one function on the lexeme at hand, which pushes what it keeps and says whether it matched.
template <class Derived>
struct Terminal : x3::parser<Derived> {
    using attribute_type = x3::unused_type;
    static constexpr bool has_attribute = false;

    template <class AnyContext, class RuleContext, class Attribute>
    bool parse(Cursor& first, const Cursor&, const AnyContext& context, RuleContext&, Attribute&) const {
        ParseState& state = state_of(context);
        const Lexeme lexeme = state.peek(first);
        if (!this->derived().match(state, lexeme)) return false;
        first = lexeme.end();
        return true;
    }
};

inline bool is_token(const Lexeme& lexeme, std::string_view text) {
    return lexeme.text == text && lexeme.kind != LexemeKind::String;
}

/// Exactly this word or symbol.
struct Token : Terminal<Token> {
    constexpr explicit Token(std::string_view text) : text(text) {}
    bool match(ParseState&, const Lexeme& lexeme) const { return is_token(lexeme, text); }
    std::string info() const { return "`" + std::string(text) + "`"; }
    std::string_view text;
};

/// The same, kept as the text of the node.
struct Spelled : Terminal<Spelled> {
    constexpr explicit Spelled(std::string_view text) : text(text) {}
    bool match(ParseState& state, const Lexeme& lexeme) const {
        if (!is_token(lexeme, text)) return false;
        state.push(Item::Kind::Token, lexeme);
        return true;
    }
    std::string info() const { return "`" + std::string(text) + "`"; }
    std::string_view text;
};

/// The same, kept as the flag of the node.
struct Flagged : Terminal<Flagged> {
    constexpr explicit Flagged(std::string_view text) : text(text) {}
    bool match(ParseState& state, const Lexeme& lexeme) const {
        if (!is_token(lexeme, text)) return false;
        state.push(Item::Kind::Flag, lexeme);
        return true;
    }
    std::string info() const { return "`" + std::string(text) + "`"; }
    std::string_view text;
};

/// The same, as a node of its own: `_`, `:`, `..`.
struct Leaf : Terminal<Leaf> {
    constexpr Leaf(std::string_view text, NodeKind kind) : text(text), kind(kind) {}
    bool match(ParseState& state, const Lexeme& lexeme) const;
    std::string info() const { return "`" + std::string(text) + "`"; }
    std::string_view text;
    NodeKind kind;
};

/// A name, kept as the text of the node.
struct Identifier : Terminal<Identifier> {
    bool match(ParseState& state, const Lexeme& lexeme) const;
    std::string info() const { return "a name"; }
};

/// A name as a Name node.
struct NameUse : Terminal<NameUse> {
    bool match(ParseState& state, const Lexeme& lexeme) const;
    std::string info() const { return "a name"; }
};

/// A number, string, `true`, `false` or name as a node.
struct Atom : Terminal<Atom> {
    bool match(ParseState& state, const Lexeme& lexeme) const;
    std::string info() const { return "an operand"; }
};

/// A string as a node; messages call it by `name`.
struct Text : Terminal<Text> {
    constexpr explicit Text(std::string_view name) : name(name) {}
    bool match(ParseState& state, const Lexeme& lexeme) const;
    std::string info() const { return std::string(name); }
    std::string_view name;
};

/// `name =` in an argument or index list, kept as the text of the node.
struct Label : Terminal<Label> {
    template <class AnyContext, class RuleContext, class Attribute>
    bool parse(Cursor& first, const Cursor&, const AnyContext& context, RuleContext&, Attribute&) const {
        return parse_label(state_of(context), first);
    }
    static bool parse_label(ParseState& state, Cursor& first);
    std::string info() const { return "a name"; }
};

/// `in`, `inout`, or `out` before a name (`out` may itself be a name), kept as the text of the node.
struct Direction : Terminal<Direction> {
    bool match(ParseState& state, const Lexeme& lexeme) const;
    std::string info() const { return "a direction"; }
};

/// A binary operator of at least this precedence, kept as a token.
struct BinaryOperator : Terminal<BinaryOperator> {
    constexpr explicit BinaryOperator(int level) : level(level) {}
    bool match(ParseState& state, const Lexeme& lexeme) const;
    std::string info() const { return "an operator"; }
    int level;
};

struct PrefixOperator : Terminal<PrefixOperator> {
    bool match(ParseState& state, const Lexeme& lexeme) const;
    std::string info() const { return "a prefix operator"; }
};

struct AssignmentOperator : Terminal<AssignmentOperator> {
    bool match(ParseState& state, const Lexeme& lexeme) const;
    std::string info() const { return "`=`"; }
};

/// A newline, `;`, or nothing before `}`.
struct EndOfStatement : Terminal<EndOfStatement> {
    template <class AnyContext, class RuleContext, class Attribute>
    bool parse(Cursor& first, const Cursor&, const AnyContext& context, RuleContext&, Attribute&) const {
        return parse_end(state_of(context), first);
    }
    static bool parse_end(ParseState& state, Cursor& first);
    std::string info() const { return "the end of the statement"; }
};

/// Parses its subject and lets `finisher` make one item of what it pushed.
template <class Subject>
struct Build : x3::unary_parser<Subject, Build<Subject>> {
    using attribute_type = x3::unused_type;
    static constexpr bool has_attribute = false;

    constexpr Build(const Subject& subject, Finisher finisher, NodeKind kind)
        : x3::unary_parser<Subject, Build<Subject>>(subject), finisher(finisher), kind(kind) {}

    template <class RuleContext, class Attribute>
    bool parse(Cursor& first, const Cursor& last, const Context& context, RuleContext& rule_context, Attribute&) const {
        ParseState& state = state_of(context);
        const std::size_t mark = state.mark();
        const std::uint32_t begin = state.offset(state.peek(first).begin());
        Cursor at = first;
        if (!this->subject.parse(at, last, context, rule_context, x3::unused)) {
            state.drop(mark);
            return false;
        }
        const std::uint32_t end = state.offset(at);
        finisher(state, {kind, mark, at == first ? end : begin, end});
        first = at;
        return true;
    }

    Finisher finisher;
    NodeKind kind;
};

struct BuildMaker {
    template <class Subject>
    constexpr auto operator[](const Subject& subject) const {
        return Build<typename x3::extension::as_parser<Subject>::value_type>(x3::as_parser(subject), finisher, kind);
    }
    Finisher finisher;
    NodeKind kind;
};

constexpr BuildMaker build(NodeKind kind) {
    return {finish_node, kind};
}
constexpr BuildMaker build(Finisher finisher, NodeKind kind = NodeKind::Error) {
    return {finisher, kind};
}

/// An optional part: if it is absent, a missing child stands for it.
template <class Subject>
struct Maybe : x3::unary_parser<Subject, Maybe<Subject>> {
    using attribute_type = x3::unused_type;
    static constexpr bool has_attribute = false;

    constexpr explicit Maybe(const Subject& subject) : x3::unary_parser<Subject, Maybe<Subject>>(subject) {}

    template <class RuleContext, class Attribute>
    bool parse(Cursor& first, const Cursor& last, const Context& context, RuleContext& rule_context, Attribute&) const {
        if (!this->subject.parse(first, last, context, rule_context, x3::unused)) state_of(context).push_missing();
        return true;
    }
};

struct MaybeMaker {
    template <class Subject>
    constexpr auto operator[](const Subject& subject) const {
        return Maybe<typename x3::extension::as_parser<Subject>::value_type>(x3::as_parser(subject));
    }
};
inline constexpr MaybeMaker maybe;

/// A statement in which an error is reported, becomes an Error node and does not end the block.
template <class Subject>
struct Recover : x3::unary_parser<Subject, Recover<Subject>> {
    using attribute_type = x3::unused_type;
    static constexpr bool has_attribute = false;

    constexpr explicit Recover(const Subject& subject) : x3::unary_parser<Subject, Recover<Subject>>(subject) {}

    template <class RuleContext, class Attribute>
    bool parse(Cursor& first, const Cursor& last, const Context& context, RuleContext& rule_context, Attribute&) const {
        ParseState& state = state_of(context);
        const std::size_t mark = state.mark();
        Cursor at = first;
        try {
            const bool matched = this->subject.parse(at, last, context, rule_context, x3::unused);
            if (matched) first = at;
            return matched;
        } catch (const x3::expectation_failure<Cursor>& failure) {
            state.drop(mark);
            report_unexpected(state, failure.which(), failure.where());
            first = skip_statement(state, first, failure.where());
            return true;
        }
    }
};

struct RecoverMaker {
    template <class Subject>
    constexpr auto operator[](const Subject& subject) const {
        return Recover<typename x3::extension::as_parser<Subject>::value_type>(x3::as_parser(subject));
    }
};
inline constexpr RecoverMaker recover;

/// item, item, ...: at least one, none missing.
template <class Item>
constexpr auto list_of(const Item& item) {
    return item >> *(Token{","} > item);
}

}  // namespace kiln::dsl

namespace boost::spirit::x3 {

template <class Parser>
requires std::is_base_of_v<kiln::dsl::Terminal<Parser>, Parser>
struct get_info<Parser> {
    using result_type = std::string;
    std::string operator()(const Parser& parser) const { return parser.info(); }
};

template <class Subject>
struct get_info<kiln::dsl::Build<Subject>> {
    using result_type = std::string;
    std::string operator()(const kiln::dsl::Build<Subject>& parser) const { return what(parser.subject); }
};

template <class Left, class Right>
struct get_info<sequence<Left, Right>> {
    using result_type = std::string;
    std::string operator()(const sequence<Left, Right>& parser) const { return what(parser.left); }
};

template <class Left, class Right>
struct get_info<alternative<Left, Right>> {
    using result_type = std::string;
    std::string operator()(const alternative<Left, Right>& parser) const {
        std::string left = what(parser.left);
        const std::size_t at = left.find(" or ");
        if (at != std::string::npos) left.replace(at, 4, ", ");
        return left + " or " + what(parser.right);
    }
};

}  // namespace boost::spirit::x3
