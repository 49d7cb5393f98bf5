// Names in types.
#include "frontend/diagnostics.h"
#include "frontend/name_checker.h"
#include "ir/type.h"

namespace kiln::frontend {

using dsl::kNoNode;
using dsl::NodeId;
using dsl::NodeKind;

namespace {

/// The alias that a path of `file` names, with its file; kNoNode if it names none.
std::pair<std::size_t, NodeId> alias_named(const Program& program, std::size_t file, std::string_view path) {
    const std::size_t point = path.find('.');
    std::string_view name = path;
    if (point != std::string_view::npos) {
        const auto& imports = program.files[file].imports;
        const auto import = imports.find(path.substr(0, point));
        if (import == imports.end()) return {file, kNoNode};
        file = import->second;
        name = path.substr(point + 1);
    }
    const File& owner = program.files[file];
    const auto found = owner.declarations.find(name);
    if (found == owner.declarations.end() || owner.ast[found->second].kind != NodeKind::TypeAlias) {
        return {file, kNoNode};
    }
    return {file, found->second};
}

}  // namespace

TypeRole type_role(const Program& program, std::size_t file, NodeId type) {
    // Aliases may be cyclic, which is an error of its own: following them ends somewhere.
    constexpr int kLongestAliasChain = 1000;
    for (int step = 0; step < kLongestAliasChain; ++step) {
        const dsl::Ast& ast = program.files[file].ast;
        const dsl::Node& node = ast[type];
        if (node.kind == NodeKind::FunctionType) return TypeRole::Function;
        if (node.kind == NodeKind::TensorType) return TypeRole::Tensor;
        if (node.kind != NodeKind::NamedType) return TypeRole::Value;
        const std::string_view path = ast[ast.child(type, 0)].text;
        const auto [owner, alias] = alias_named(program, file, path);
        if (alias == kNoNode) return is_type_class(path) ? TypeRole::Class : TypeRole::Value;
        file = owner;
        type = program.files[owner].ast.child(alias, 0);
    }
    return TypeRole::Value;
}

void NameChecker::type(NodeId id, Sizes sizes) {
    const NodeKind kind = node(id).kind;
    if (kind == NodeKind::TensorType) {
        report(diagnostics::kMisplacedTensorType, node(id).span)
            .help("elsewhere a tensor is seen through a parameter or a view");
    } else if (kind == NodeKind::NamedType) {
        const auto parts = children(id);
        type_path(parts[0]);
        if (parts.size() > 1 && parts[1] != kNoNode) size_list(parts[1], sizes);
    } else if (kind == NodeKind::TupleType) {
        for (const NodeId part : children(id)) type(part, sizes);
    } else if (kind == NodeKind::FunctionType) {
        for (const NodeId part : children(id)) {
            if (part != kNoNode) type(part);
        }
    }
}

void NameChecker::type_path(NodeId path) {
    const std::string_view name = node(path).text;
    const support::Span span = node(path).span;
    const bool dotted = name.find('.') != std::string_view::npos;
    const Meaning meaning = dotted ? resolve_path(name, span) : look_up(name);
    if (dotted && !meaning.known) return;
    if (meaning.known && is_type(meaning.kind)) {
        if (!dotted) resolve(name, span);
        return;
    }
    // Names of element types are names of types wherever a type is expected, whatever else is called so.
    if (ir::scalar_type_named(name).has_value()) return;
    if (is_type_class(name)) {
        report(diagnostics::kClassOutsideGenerics, span, name).help("name a type, or a generic of this class");
    } else if (meaning.known) {
        auto& diagnostic = report(diagnostics::kNotAType, span, name, describe(meaning.kind));
        if (meaning.span.end > 0) diagnostic.note(meaning.span, fmt::format("`{}` is declared here", name));
    } else {
        unknown(name, span, true);
    }
}

void NameChecker::size_list(NodeId id, Sizes sizes) {
    for (const NodeId size : children(id)) {
        if (node(size).kind != NodeKind::AnySize) {
            expression(size);
        } else if (sizes == Sizes::Plain) {
            report(diagnostics::kAnySizeOutsideParameter, node(size).span).help("give the size");
        }
    }
}

}  // namespace kiln::frontend
