// The syntax tree of one .kiln file.
//
// Nodes live in one vector and name each other by index: small, fast to build, and free of recursive destructors, so a
// 10 MB chain `1 + a + a ...` is one flat node and not a deep tree. Depth is bounded by the layout pass (64 open
// brackets); passes over the tree may recurse into children but must loop over the children of Chain, Prefix, Suffixed
// and If, whose lists have no bound.
//
// A missing optional child is kNoNode. Example: `c[i, j] += f(x) * 2` is
//     Assign "+=" ( Suffixed( Name "c", Index( Name "i", Name "j" ) ),
//                   Chain "*" ( Suffixed( Name "f", Call( Name "x" ) ), Number "2" ) )
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/support/span.h"

namespace kiln::dsl {

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = std::numeric_limits<NodeId>::max();

enum class NodeKind : std::uint8_t {
    // Kind         text                children
    File,        // -                 declarations
    Import,      // alias             [String path]
    Constant,    // name              [type?, expression]
    TypeAlias,   // name              [type]
    Function,    // name              [Generics?, Parameters, result type?, body: Block or expression]
    Kernel,      // name              [Generics?, Parameters, Clauses, Phases]
    Generics,    // -                 Generic...
    Generic,     // name              [type, default expression?]
    Parameters,  // -                 Parameter...
    Parameter,   // name              [type, default expression?]; `flag`: declared `const`
    Clauses,     // -                 Tune, Where, Require, Allow, Schedule, Scratch, Reference, Let, Constant ...
    Tune,        // -                 Tunable...
    Tunable,     // name              expression...  the choices
    Where,       // -                 expression...
    Require,     // -                 [Condition]
    Allow,       // -                 Name...
    Schedule,    // target            Setting...
    Setting,     // key               expression...; `flag`: written `in { }` (choices), otherwise one value
    Scratch,     // name              [type, initial expression?]
    Reference,   // -                 [Path, within expression...]  (none, one or two)
    Condition,   // -                 [expression, String message?, argument expression...]
    Phases,      // -                 Phase...
    Phase,       // -                 [Axes, Block]
    Axes,        // -                 Axis...
    Axis,        // name              [Range]
    Range,       // -                 [lo, hi, step?]

    Path,          // "name" or "module.name", exactly as spelled without blanks
    NamedType,     // -                [Path, Sizes?]            f32, f32[BM, BN], ScoreMod
    TensorType,    // in | out | inout [Path, Sizes]
    TupleType,     // -                value types...
    FunctionType,  // -                [result value type, parameter value type...]
    Sizes,         // -                expression or AnySize ...
    AnySize,       // _                -

    Block,         // -                statements
    Let,           // -                [Binding, expression]
    Var,           // -                [Binding, expression]
    Binding,       // -                [type?, slot...]  a slot is Name or Discard; a type only with one slot
    For,           // name             [Range, Block]
    StaticFor,     // name             [Range, Block]
    While,         // -                [expression, Block]
    If,            // -                condition, Block, condition, Block, ... [, else Block]; odd count: has an else
    StaticIf,      // -                as If
    StaticAssert,  // -                [Condition]
    Return,        // -                [expression?]
    Break,         // -                -
    Continue,      // -                -
    Assign,        // = += -= ...      targets..., value; a target is Name, Suffixed or Discard
    ExpressionStatement,  // -          [expression]

    Number,    // as spelled       -
    String,    // contents between the quotes, escapes unprocessed   -
    Boolean,   // true | false     -
    Name,      // name             -
    Discard,   // _                -    as target, slot
    Tuple,     // -                two or more expressions; `(x)` is x itself
    Prefix,    // operators outermost first, e.g. "-!"   [operand]
    Chain,     // -                operands; `operators` between them, all of one precedence level, left to right
    Suffixed,  // -                [primary, suffix...]; a suffix is Call, Index or Member
    Call,      // -                arguments: expression or Named
    Index,     // -                items: expression, Slice, Between, All, NewAxis, Rest or Named
    Member,    // name             -
    Named,     // name             [expression]              axis = 1, fill = v, mask = m
    Slice,     // -                [start, length]           i :+ L
    Between,   // -                [lo, hi]                  lo .. hi
    All,       // :                -
    NewAxis,   // _                -
    Rest,      // ..               -
    Error,     // -                -    where the parser recovered; a diagnostic has been reported
};

struct Node {
    NodeKind kind = NodeKind::Error;
    bool flag = false;
    support::Span span;                                    ///< the whole construct
    support::Span name_span;                               ///< where `text` stands; equals `span` for leaves
    std::string_view text;                                 ///< views into the source text, which outlives the tree
    std::uint32_t first_child = 0, child_count = 0;        ///< in Ast::children
    std::uint32_t first_operator = 0, operator_count = 0;  ///< in Ast::operators; Chain only
};

/// An operator of a Chain with its place.
struct Operator {
    std::string_view text;
    support::Span span;
};

/// A `///` comment block that stands directly above a declaration.
struct DocComment {
    NodeId declaration;
    support::Span span;
};

struct Ast {
    std::vector<Node> nodes;
    std::vector<NodeId> children;
    std::vector<Operator> operators;
    std::vector<DocComment> docs;
    /// Texts that stand nowhere in one piece, such as the operators of `- -x`; null if there are none.
    std::shared_ptr<std::deque<std::string>> spellings;
    NodeId root = kNoNode;

    const Node& operator[](NodeId id) const { return nodes[id]; }
    std::span<const NodeId> children_of(NodeId id) const {
        return {children.data() + nodes[id].first_child, nodes[id].child_count};
    }
    NodeId child(NodeId id, std::size_t index) const { return children_of(id)[index]; }
    std::span<const Operator> operators_of(NodeId id) const {
        return {operators.data() + nodes[id].first_operator, nodes[id].operator_count};
    }
};

/// The value of a String node's text: the escapes `\"`, `\\`, `\n` and `\t` replaced.
std::string unescape(std::string_view contents);

}  // namespace kiln::dsl
