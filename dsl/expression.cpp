// Expressions: one flat list of operands and operators, grouped by precedence when it is complete, since a ladder of
// one rule a level costs three times the stack. Common beginnings are parsed once (`a`, `a :+ b`, `a .. b`), since a
// retry would be exponential in the nesting.

#include "dsl/grammar.h"

namespace kiln::dsl {

KILN_RULE(operand, "an operand")
KILN_RULE(postfix, "an operand")
KILN_RULE(suffixes, "a suffix")
KILN_RULE(index_item, "an index")

constexpr auto expression_def = build(finish_chain)[operand >> *(BinaryOperator{1} > operand)];

constexpr auto arithmetic_def = build(finish_chain)[operand >> *(BinaryOperator{kArithmeticLevel} > operand)];

constexpr auto operand_def = build(finish_joined, NodeKind::Prefix)[+PrefixOperator{} > postfix] | postfix;

constexpr auto parenthesised =
    build(finish_parenthesised, NodeKind::Tuple)[Token{"("} > list_of(expression) > Token{")"}];

constexpr auto postfix_def = build(finish_suffixed, NodeKind::Suffixed)[(Atom{} | parenthesised) >> suffixes];

constexpr auto argument = build(NodeKind::Named)[Label{} > expression] | expression;

constexpr auto call = build(NodeKind::Call)[Token{"("} > -list_of(argument) > Token{")"}];
constexpr auto index = build(NodeKind::Index)[Token{"["} > list_of(index_item) > Token{"]"}];
constexpr auto member = build(NodeKind::Member)[Token{"."} > Identifier{}];

constexpr auto suffixes_def = *(call | index | member);

// clang-format off: one alternative a line
constexpr auto index_item_def = build(NodeKind::Named)[Label{} > expression] | Leaf{":", NodeKind::All} |
                                Leaf{"_", NodeKind::NewAxis} | Leaf{"..", NodeKind::Rest} |
                                build(finish_index_item)[expression >> -((Spelled{":+"} | Spelled{".."}) > expression)];
// clang-format on

constexpr auto target_def =
    Leaf{"_", NodeKind::Discard} | build(finish_suffixed, NodeKind::Suffixed)[NameUse{} >> suffixes];

constexpr auto range_def =
    build(NodeKind::Range)[expression > Token{".."} > expression > maybe[Token{"by"} > expression]];

KILN_DEFINE_RULE(expression)
KILN_DEFINE_RULE(arithmetic)
KILN_DEFINE_RULE(operand)
KILN_DEFINE_RULE(postfix)
KILN_DEFINE_RULE(suffixes)
KILN_DEFINE_RULE(index_item)
KILN_DEFINE_RULE(target)
KILN_DEFINE_RULE(range)

}  // namespace kiln::dsl
