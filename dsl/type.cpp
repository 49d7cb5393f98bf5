// Types. A function type cannot stand in another one without a name of its own, so types recurse through brackets only.

#include "dsl/grammar.h"

namespace kiln::dsl {

KILN_RULE(sizes, "`[`")

constexpr auto path_def = build(finish_joined, NodeKind::Path)[Identifier{} >> -(Spelled{"."} > Identifier{})];

constexpr auto size = Leaf{"_", NodeKind::AnySize} | expression;

constexpr auto sizes_def = build(NodeKind::Sizes)[Token{"["} > list_of(size) > Token{"]"}];

constexpr auto value_type_def =
    build(NodeKind::NamedType)[path >> maybe[sizes]] |
    build(finish_parenthesised, NodeKind::TupleType)[Token{"("} > list_of(value_type) > Token{")"}];

constexpr auto function_type = build(
    finish_last_first,
    NodeKind::FunctionType)[Token{"fn"} > Token{"("} > -list_of(value_type) > Token{")"} > Token{"->"} > value_type];

constexpr auto type_def = function_type | build(NodeKind::TensorType)[Direction{} > path > sizes] | value_type;

KILN_DEFINE_RULE(path)
KILN_DEFINE_RULE(sizes)
KILN_DEFINE_RULE(value_type)
KILN_DEFINE_RULE(type)

}  // namespace kiln::dsl
