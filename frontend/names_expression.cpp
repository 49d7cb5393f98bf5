// Names in expressions.
#include <algorithm>

#include "frontend/diagnostics.h"
#include "frontend/name_checker.h"

namespace kiln::frontend {

using dsl::kNoNode;
using dsl::NodeId;
using dsl::NodeKind;
using support::Span;

namespace {

/// Entities that no call can be made of. Of the rest, only types tell.
bool never_callable(EntityKind kind) {
    switch (kind) {
        case EntityKind::Size:
        case EntityKind::Tunable:
        case EntityKind::TensorParameter:
        case EntityKind::ValueParameter:
        case EntityKind::ConstParameter:
        case EntityKind::Scratch:
        case EntityKind::GridAxis:
        case EntityKind::LoopVariable:
        case EntityKind::Var:
        case EntityKind::ValueGeneric:
            return true;
        case EntityKind::Module:
        case EntityKind::FileConstant:
        case EntityKind::TypeAlias:
        case EntityKind::Function:
        case EntityKind::Kernel:
        case EntityKind::TypeGeneric:
        case EntityKind::FunctionGeneric:
        case EntityKind::FunctionParameter:
        case EntityKind::Let:
        case EntityKind::Const:
        case EntityKind::LocalFunction:
        case EntityKind::Builtin:
        case EntityKind::BuiltinType:
            return false;
    }
    return false;
}

}  // namespace

void NameChecker::range(NodeId id) {
    expressions(children(id));
}

void NameChecker::expressions(std::span<const NodeId> ids) {
    for (const NodeId id : ids) {
        if (id != kNoNode) expression(id);
    }
}

void NameChecker::expression(NodeId id) {
    const NodeKind kind = node(id).kind;
    if (kind == NodeKind::Name) {
        value_name(id);
    } else if (kind == NodeKind::Suffixed) {
        suffixed(id, Use::Read);
    } else if (kind == NodeKind::Chain || kind == NodeKind::Prefix || kind == NodeKind::Tuple) {
        expressions(children(id));
    }
    // The rest has no names: literals, and errors that the parser has reported.
}

void NameChecker::value_name(NodeId id) {
    const std::string_view name = node(id).text;
    const Span span = node(id).span;
    const Meaning meaning = resolve(name, span);
    if (!meaning.known) return;
    if (meaning.kind == EntityKind::Module) {
        report(diagnostics::kModuleAsValue, span, name)
            .help(fmt::format("name something of it, as in `{}.name`", name));
    } else if (meaning.kind == EntityKind::Kernel) {
        report(diagnostics::kKernelAsValue, span, name)
            .help("put what both need into a `fn`")
            .note(meaning.span, fmt::format("`{}` is declared here", name));
    } else if (meaning.builtin != nullptr && name == "none") {
        report(diagnostics::kNoneOutsideDefault, span).help("whether a tensor was given is told by `present(x)`");
    }
}

Meaning NameChecker::primary(NodeId id, std::size_t& next) {
    const auto parts = children(id);
    const dsl::Node& first = node(parts[0]);
    if (first.kind != NodeKind::Name) {
        expression(parts[0]);
        return {};
    }
    const Meaning meaning = look_up(first.text);
    const bool has_member = node(parts[1]).kind == NodeKind::Member;
    if (!meaning.known || meaning.kind != EntityKind::Module || !has_member) {
        const bool plain = meaning.known && meaning.kind != EntityKind::Module && meaning.kind != EntityKind::Kernel;
        if (plain) return resolve(first.text, first.span);
        value_name(parts[0]);
        return {};
    }
    next = 2;
    Meaning found = member(meaning.file, node(parts[1]).text, first.text, node(parts[1]).name_span);
    if (found.known && found.kind == EntityKind::Kernel) {
        report(diagnostics::kKernelAsValue, node(parts[1]).name_span, node(parts[1]).text)
            .help("put what both need into a `fn`")
            .note(found.span, fmt::format("`{}` is declared here", node(parts[1]).text));
        found.known = false;
    }
    return found;
}

Meaning NameChecker::suffixed(NodeId id, Use use) {
    std::size_t next = 1;
    const Meaning first = primary(id, next);
    const auto parts = children(id);
    const Span first_span = support::join(node(parts[0]).span, node(parts[next - 1]).name_span);
    if (first.known) tensor_access(first, id, next, use);
    Meaning callee;
    for (std::size_t i = next; i < parts.size(); ++i) {
        const dsl::Node& suffix = node(parts[i]);
        callee = i == next ? first : Meaning{};
        if (suffix.kind == NodeKind::Member) {
            report(diagnostics::kMemberOfValue, suffix.name_span, suffix.text);
        } else if (suffix.kind == NodeKind::Call) {
            call(callee, text(first_span), first_span, parts[i]);
            if (never_callable(callee.kind)) callee.known = false;
        } else if (suffix.kind == NodeKind::Index) {
            index(parts[i], use != Use::Read && i + 1 == parts.size());
        }
    }
    return node(parts.back()).kind == NodeKind::Call ? callee : Meaning{};
}

bool NameChecker::reads_elements(const Meaning& tensor, std::span<const NodeId> suffixes) const {
    const auto parameter = children(tensor.node);
    std::size_t rank = children(children(parameter[0])[1]).size();
    for (const NodeId suffix : suffixes) {
        if (node(suffix).kind != NodeKind::Index) return false;
        std::size_t entries = 0, ranges = 0;
        bool rest = false;
        for (const NodeId item : children(suffix)) {
            const NodeKind kind = node(item).kind;
            rest = rest || kind == NodeKind::Rest;
            if (kind == NodeKind::Between) ++ranges;
            if (kind != NodeKind::Rest && kind != NodeKind::NewAxis && kind != NodeKind::Named) ++entries;
        }
        if (entries > rank) return false;  // for the specialiser to refuse
        if (entries == rank && ranges == 0 && !rest) return true;
        rank -= entries - ranges;
    }
    return false;
}

void NameChecker::tensor_access(const Meaning& tensor, NodeId id, std::size_t first, Use use) {
    const bool parameter = tensor.kind == EntityKind::TensorParameter;
    if (!parameter && tensor.kind != EntityKind::Scratch) return;
    const auto suffixes = children(id).subspan(first);
    if (suffixes.empty() || node(suffixes[0]).kind != NodeKind::Index) return;
    const std::string_view name = tensor.entity->name;
    const Span span = node(children(id)[0]).span;
    const auto declared_here = fmt::format("`{}` is declared here", name);
    if (host_) {
        report(diagnostics::kHostRead, span, name)
            .help("host expressions are arithmetic over sizes, value parameters, generics and tunables");
        return;
    }
    if (!parameter || node(children(tensor.node)[0]).kind != NodeKind::TensorType) return;
    const std::string_view access = node(children(tensor.node)[0]).text;
    if (use == Use::Read && access == "out" && reads_elements(tensor, suffixes)) {
        report(diagnostics::kOutRead, span, name).help("declare it `inout`").note(tensor.span, declared_here);
    } else if (use != Use::Read && access == "in") {
        report(diagnostics::kInWritten, span, name)
            .help("declare it `out`, or `inout` if it is read as well")
            .note(tensor.span, declared_here);
    }
}

void NameChecker::call(const Meaning& callee, std::string_view name, Span span, NodeId id) {
    if (callee.known && never_callable(callee.kind)) {
        auto& diagnostic = report(diagnostics::kNotCallable, span, name, describe(callee.kind));
        diagnostic.note(callee.span, fmt::format("`{}` is declared here", name));
        if (find_builtin(name) != nullptr) diagnostic.help(fmt::format("it hides the builtin `{}` here", name));
    }
    const bool constant = callee.builtin != nullptr && callee.builtin->kind == BuiltinKind::Constant;
    if (callee.known && constant) report(diagnostics::kNotCallable, span, name, "a constant");
    const auto arguments = children(id);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const dsl::Node& argument = node(arguments[i]);
        const bool place = i == 0 && callee.builtin != nullptr && callee.builtin->kind == BuiltinKind::Atomic;
        if (argument.kind == NodeKind::Named) {
            named_argument(callee, name, arguments[i]);
        } else if (place && argument.kind == NodeKind::Suffixed) {
            suffixed(arguments[i], Use::Place);
        } else {
            expression(arguments[i]);
        }
    }
}

void NameChecker::named_argument(const Meaning& callee, std::string_view name, NodeId id) {
    const dsl::Node& argument = node(id);
    const NodeId value = children(id)[0];
    if (callee.builtin == nullptr) {
        report(diagnostics::kNamedArgument, argument.name_span, argument.text)
            .help("the arguments of a `fn` are given in order");
        expression(value);
        return;
    }
    const auto options = callee.builtin->options;
    const auto option = std::find_if(options.begin(), options.end(),
                                     [&argument](const BuiltinOption& row) { return row.name == argument.text; });
    if (option == options.end()) {
        std::vector<std::string_view> names;
        for (const BuiltinOption& row : options) names.push_back(row.name);
        auto& diagnostic = report(diagnostics::kUnknownOption, argument.name_span, name, argument.text);
        if (!names.empty()) diagnostic.help(fmt::format("it has {}", list_of_names(names)));
        expression(value);
        return;
    }
    if (option->words.empty()) {
        expression(value);
        return;
    }
    const bool is_word = node(value).kind == NodeKind::Name &&
                         std::find(option->words.begin(), option->words.end(), node(value).text) != option->words.end();
    if (is_word) return;
    auto& diagnostic = report(diagnostics::kOptionValue, node(value).span, option->name, list_of_names(option->words));
    if (node(value).kind != NodeKind::Name) return;
    suggest(diagnostic, node(value).text, {option->words.begin(), option->words.end()});
}

void NameChecker::index(NodeId id, bool written) {
    for (const NodeId item : children(id)) {
        const dsl::Node& entry = node(item);
        if (entry.kind == NodeKind::Named) {
            if (!is_index_option(entry.text)) {
                report(diagnostics::kUnknownIndexOption, entry.name_span, entry.text).help("it has `fill` and `mask`");
            }
            expressions(children(item));
        } else if (entry.kind == NodeKind::Slice || entry.kind == NodeKind::Between) {
            expressions(children(item));
        } else if (entry.kind == NodeKind::NewAxis && written) {
            report(diagnostics::kNewAxisWritten, entry.span).help("name only the axes of the tensor");
        } else {
            expression(item);
        }
    }
}

}  // namespace kiln::frontend
