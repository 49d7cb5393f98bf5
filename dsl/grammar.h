// The rules that more than one file of the grammar uses. Bodies stand in expression.cpp, type.cpp, statement.cpp and
// declaration.cpp; each is instantiated there once, for one iterator and one context, which keeps each file quick to
// compile. A rule's text is what "expected ..." calls it.
#pragma once

#include "dsl/build.h"

#define KILN_RULE(name, text)                         \
    constexpr x3::rule<struct name##_tag> name{text}; \
    BOOST_SPIRIT_DECLARE(decltype(name))

#define KILN_DEFINE_RULE(name) \
    BOOST_SPIRIT_DEFINE(name)  \
    BOOST_SPIRIT_INSTANTIATE(decltype(name), Cursor, Context)

namespace kiln::dsl {

// expression.cpp
KILN_RULE(expression, "an expression")
KILN_RULE(arithmetic, "an expression")  // without `||`, `&&` and comparisons
KILN_RULE(target, "a target")           // what may stand left of `=`
KILN_RULE(range, "a range")

// type.cpp
KILN_RULE(type, "a type")
KILN_RULE(value_type, "a type")
KILN_RULE(path, "a name")

// statement.cpp
KILN_RULE(block, "`{`")
KILN_RULE(let, "`let`")
KILN_RULE(condition, "an expression")

// declaration.cpp
KILN_RULE(constant, "`const`")
KILN_RULE(function, "`fn`")
KILN_RULE(declaration, "a declaration")

}  // namespace kiln::dsl
