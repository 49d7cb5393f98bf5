// Declarations of a file. The words of clauses are known only where a clause may begin and may be names elsewhere.

#include "dsl/grammar.h"

namespace kiln::dsl {

KILN_RULE(generics, "`<`")
KILN_RULE(choices, "`{`")
KILN_RULE(clauses, "a clause or `grid`")
KILN_RULE(phases, "a clause or `grid`")
KILN_RULE(kernel, "`kernel`")

// import, const, type

constexpr auto import = build(NodeKind::Import)[Token{"import"} > Text{"a string"} > Token{"as"} > Identifier{}];

constexpr auto constant_def =
    build(NodeKind::Constant)[Token{"const"} > Identifier{} > maybe[Token{":"} > type] > Token{"="} > expression];

constexpr auto alias = build(NodeKind::TypeAlias)[Token{"type"} > Identifier{} > Token{"="} > type];

// functions

constexpr auto generic = build(NodeKind::Generic)[Identifier{} > Token{":"} > type > maybe[Token{"="} > arithmetic]];

constexpr auto generics_def = build(NodeKind::Generics)[Token{"<"} > list_of(generic) > Token{">"}];

constexpr auto typed = Token{":"} > type > maybe[Token{"="} > expression];

constexpr auto parameter = build(NodeKind::Parameter)[Identifier{} > typed];

constexpr auto function_parameter =
    build(NodeKind::Parameter)[((Flagged{"const"} > Identifier{}) | Identifier{}) > typed];

constexpr auto function_parameters =
    build(NodeKind::Parameters)[Token{"("} > -list_of(function_parameter) > Token{")"}];

constexpr auto function_def =
    build(NodeKind::Function)[Token{"fn"} > Identifier{} > maybe[generics] > function_parameters >
                              maybe[Token{"->"} > value_type] > ((Token{"="} > expression) | block)];

// kernels

constexpr auto choices_def = Token{"{"} > list_of(expression) > Token{"}"};

constexpr auto tunable = build(NodeKind::Tunable)[Identifier{} > Token{"in"} > choices];

constexpr auto setting =
    build(NodeKind::Setting)[Identifier{} > ((Flagged{"in"} > choices) | (Token{"="} > expression))];

// clang-format off: one alternative a line
constexpr auto clause =
    build(NodeKind::Tune)[Token{"tune"} > list_of(tunable)] |
    build(NodeKind::Where)[Token{"where"} > list_of(expression)] |
    build(NodeKind::Require)[Token{"require"} > condition] |
    build(NodeKind::Allow)[Token{"allow"} > list_of(NameUse{})] |
    build(NodeKind::Schedule)[Token{"schedule"} > Identifier{} > Token{"{"} > list_of(setting) > Token{"}"}] |
    build(NodeKind::Scratch)[Token{"scratch"} > Identifier{} > typed] |
    build(NodeKind::Reference)[Token{"reference"} > path > -(Token{"within"} > list_of(expression))] | let | constant;
// clang-format on

constexpr auto clauses_def = build(NodeKind::Clauses)[*clause];

constexpr auto axis = build(NodeKind::Axis)[Identifier{} > Token{"in"} > range];

constexpr auto axes = build(NodeKind::Axes)[list_of(axis)];

constexpr auto phases_def = build(NodeKind::Phases)[+build(NodeKind::Phase)[Token{"grid"} > axes > block]];

constexpr auto parameters = build(NodeKind::Parameters)[Token{"("} > -list_of(parameter) > Token{")"}];

constexpr auto kernel_def =
    build(NodeKind::Kernel)[Token{"kernel"} > Identifier{} > maybe[generics] > parameters > clauses > phases];

constexpr auto declaration_def = function | kernel | constant | alias | import;

KILN_DEFINE_RULE(constant)
KILN_DEFINE_RULE(generics)
KILN_DEFINE_RULE(function)
KILN_DEFINE_RULE(choices)
KILN_DEFINE_RULE(clauses)
KILN_DEFINE_RULE(phases)
KILN_DEFINE_RULE(kernel)
KILN_DEFINE_RULE(declaration)

}  // namespace kiln::dsl
