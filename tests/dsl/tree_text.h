// The syntax tree as text, for tests: one S-expression, without places.
#pragma once

#include <string>

#include "dsl/ast.h"

namespace kiln::dsl {

inline std::string_view kind_name(NodeKind kind) {
    static constexpr std::string_view kNames[] = {
        "File",         "Import",    "Constant",   "TypeAlias", "Function",   "Kernel",
        "Generics",     "Generic",   "Parameters", "Parameter", "Clauses",    "Tune",
        "Tunable",      "Where",     "Require",    "Allow",     "Schedule",   "Setting",
        "Scratch",      "Reference", "Condition",  "Phases",    "Phase",      "Axes",
        "Axis",         "Range",     "Path",       "NamedType", "TensorType", "TupleType",
        "FunctionType", "Sizes",     "AnySize",    "Block",     "Let",        "Var",
        "Binding",      "For",       "StaticFor",  "While",     "If",         "StaticIf",
        "StaticAssert", "Return",    "Break",      "Continue",  "Assign",     "ExpressionStatement",
        "Number",       "String",    "Boolean",    "Name",      "Discard",    "Tuple",
        "Prefix",       "Chain",     "Suffixed",   "Call",      "Index",      "Member",
        "Named",        "Slice",     "Between",    "All",       "NewAxis",    "Rest",
        "Error",
    };
    static_assert(std::size(kNames) == static_cast<std::size_t>(NodeKind::Error) + 1);
    return kNames[static_cast<std::size_t>(kind)];
}

inline void write_tree(const Ast& ast, NodeId id, std::string& text) {
    if (id == kNoNode) {
        text += "-";
        return;
    }
    const Node& node = ast[id];
    text += "(";
    text += kind_name(node.kind);
    if (node.flag) text += "!";
    if (!node.text.empty()) text += " `" + std::string(node.text) + "`";
    for (const Operator& op : ast.operators_of(id)) text += " " + std::string(op.text);
    for (const NodeId child : ast.children_of(id)) {
        text += " ";
        write_tree(ast, child, text);
    }
    text += ")";
}

inline std::string tree_text(const Ast& ast) {
    std::string text;
    write_tree(ast, ast.root, text);
    return text;
}

}  // namespace kiln::dsl
