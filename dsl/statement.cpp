// Statements and blocks. A statement is where parsing recovers from an error.

#include "dsl/grammar.h"

namespace kiln::dsl {

KILN_RULE(statement, "a statement")
KILN_RULE(simple_statement, "a statement or `}`")
KILN_RULE(if_branches, "an expression")
KILN_RULE(loop, "a name")
KILN_RULE(binding, "a name")

constexpr auto slot = NameUse{} | Leaf{"_", NodeKind::Discard};

constexpr auto binding_def =
    build(finish_binding, NodeKind::Binding)[slot >> ((Token{":"} > type) | *(Token{","} > slot))];

constexpr auto let_def = build(NodeKind::Let)[Token{"let"} > binding > Token{"="} > expression];

constexpr auto variable = build(NodeKind::Var)[Token{"var"} > binding > Token{"="} > expression];

constexpr auto condition_def =
    build(NodeKind::Condition)[expression >> maybe[Token{","} > Text{"a message"} >> *(Token{","} > expression)]];

constexpr auto if_branches_def = (expression > block) >> *((Token{"else"} >> Token{"if"}) > expression > block) >>
                                 -(Token{"else"} > block);

constexpr auto loop_def = Identifier{} > Token{"in"} > range > block;

constexpr auto static_statement =
    build(finish_static)[Token{"static"} >
                         ((Spelled{"if"} > if_branches) | (Spelled{"for"} > loop) | (Spelled{"assert"} > condition))];

constexpr auto target_statement =
    build(finish_target_statement)[target >> ((+(Token{","} > target) > Spelled{"="} > expression) |
                                              -(AssignmentOperator{} > expression))];

// clang-format off: one alternative a line
constexpr auto simple_statement_def =
    let | variable | build(NodeKind::For)[Token{"for"} > loop] | build(NodeKind::If)[Token{"if"} > if_branches] |
    build(NodeKind::While)[Token{"while"} > expression > block] | static_statement |
    build(NodeKind::Return)[Token{"return"} > maybe[expression]] | build(NodeKind::Break)[Token{"break"}] |
    build(NodeKind::Continue)[Token{"continue"}] | constant | function | target_statement;
// clang-format on

constexpr auto statement_def = recover[(!Token{"}"}) > simple_statement > EndOfStatement{}];

constexpr auto block_def = build(NodeKind::Block)[Token{"{"} > *statement > Token{"}"}];

KILN_DEFINE_RULE(binding)
KILN_DEFINE_RULE(let)
KILN_DEFINE_RULE(condition)
KILN_DEFINE_RULE(if_branches)
KILN_DEFINE_RULE(loop)
KILN_DEFINE_RULE(simple_statement)
KILN_DEFINE_RULE(statement)
KILN_DEFINE_RULE(block)

}  // namespace kiln::dsl
