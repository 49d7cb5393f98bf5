// What names mean, and what is said about those that mean nothing.
#include <algorithm>
#include <array>

#include "frontend/diagnostics.h"
#include "frontend/name_checker.h"
#include "ir/support/internal_error.h"
#include "ir/type.h"

namespace kiln::frontend {

using dsl::NodeId;
using dsl::NodeKind;
using support::Span;

namespace {

EntityKind kind_of_declaration(NodeKind kind) {
    if (kind == NodeKind::Constant) return EntityKind::FileConstant;
    if (kind == NodeKind::TypeAlias) return EntityKind::TypeAlias;
    if (kind == NodeKind::Function) return EntityKind::Function;
    if (kind == NodeKind::Kernel) return EntityKind::Kernel;
    throw support::InternalError("names", "a declaration of another kind");
}

bool belongs_to_signature(EntityKind kind) {
    return kind >= EntityKind::TypeGeneric && kind <= EntityKind::TensorParameter;
}

bool declares_its_text(NodeKind kind) {
    constexpr auto kKinds =
        std::to_array({NodeKind::For, NodeKind::StaticFor, NodeKind::Constant, NodeKind::Function, NodeKind::Generic,
                       NodeKind::Parameter, NodeKind::Tunable, NodeKind::Scratch, NodeKind::Axis});
    return std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
}

}  // namespace

std::string list_of_names(std::span<const std::string_view> names, std::string_view last) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) text += i + 1 == names.size() ? fmt::format(" {} ", last) : ", ";
        text += fmt::format("`{}`", names[i]);
    }
    return text;
}

void suggest(support::Diagnostic& diagnostic, std::string_view name, const std::vector<std::string_view>& candidates) {
    const std::string_view nearest = support::nearest_name(name, candidates);
    if (!nearest.empty()) diagnostic.help(fmt::format("did you mean `{}`?", nearest));
}

std::string NameChecker::written(Span span) const {
    constexpr std::size_t kLongest = 60;
    const std::string_view source = text(span);
    return source.size() <= kLongest ? std::string(source) : fmt::format("{} ...", source.substr(0, kLongest));
}

void NameChecker::declare(EntityKind kind, std::string_view name, Span span, NodeId node) {
    if (const Entity* earlier = scopes_.find(name)) {
        // A function's own signature may reuse the names around the function.
        const bool reuses = belongs_to_signature(kind) && earlier->function < scopes_.function();
        if (earlier->scope == scopes_.scope()) {
            auto& diagnostic = report(diagnostics::kDuplicate, span, name);
            diagnostic.note(earlier->span, fmt::format("it is first declared here, as {}", describe(earlier->kind)));
            if ((earlier->kind == EntityKind::Size) != (kind == EntityKind::Size)) {
                diagnostic.help("a size is known from the shapes and needs no parameter");
            }
        } else if (!reuses) {
            report(diagnostics::kShadowing, span, name, describe(earlier->kind))
                .help("locals have names of their own: choose another")
                .note(earlier->span, fmt::format("`{}` is declared here", name));
        }
    }
    scopes_.declare(kind, name, span, node);
    note_place(span, span);
}

Meaning NameChecker::declaration_meaning(std::size_t file, NodeId id) const {
    const dsl::Node& declaration = ast(file)[id];
    Meaning meaning;
    meaning.kind = kind_of_declaration(declaration.kind);
    meaning.file = file;
    meaning.node = id;
    meaning.span = declaration.name_span;
    meaning.known = true;
    return meaning;
}

Meaning NameChecker::look_up(std::string_view name) {
    Meaning meaning;
    meaning.file = file_;
    meaning.known = true;
    if (const Entity* entity = scopes_.find(name)) {
        meaning.kind = entity->kind;
        meaning.entity = entity;
        meaning.node = entity->node;
        meaning.span = entity->span;
        return meaning;
    }
    const File& file = files_.files[file_];
    if (const auto found = file.declarations.find(name); found != file.declarations.end()) {
        return declaration_meaning(file_, found->second);
    }
    if (const auto found = file.imports.find(name); found != file.imports.end()) {
        meaning.kind = EntityKind::Module;
        meaning.file = found->second;
        return meaning;
    }
    if (const Builtin* builtin = find_builtin(name)) {
        meaning.builtin = builtin;
        return meaning;
    }
    meaning.kind = EntityKind::BuiltinType;
    meaning.known = ir::scalar_type_named(name).has_value();
    return meaning;
}

Meaning NameChecker::resolve(std::string_view name, Span span) {
    Meaning meaning = look_up(name);
    // Inside a signature, a parameter that stands further on cannot be seen yet.
    const bool later = meaning.entity != nullptr && meaning.kind != EntityKind::Size &&
                       (meaning.span.begin > span.begin || (meaning.node == parameter_ && parameter_ != dsl::kNoNode));
    if (later || !meaning.known) {
        meaning.known = false;
        if (!later && is_type_class(name)) {
            report(diagnostics::kClassOutsideGenerics, span, name).help("name a type, or a generic of this class");
        } else {
            unknown(name, span, false);
        }
        return meaning;
    }
    if (meaning.kind == EntityKind::Module) note_place(span, {files_.files[meaning.file].source, 0, 0});
    if (meaning.span.end > meaning.span.begin) note_place(span, meaning.span);
    if (meaning.entity != nullptr) check_entity(*meaning.entity, span);
    const bool own = meaning.entity == nullptr && meaning.file == file_ && meaning.node != dsl::kNoNode;
    if (own && meaning.kind != EntityKind::Kernel && !edges_.empty())
        edges_.back().second.push_back({meaning.node, span});
    return meaning;
}

void NameChecker::check_entity(const Entity& entity, Span span) {
    if (entity.kind == EntityKind::Var && entity.function < scopes_.function()) {
        report(diagnostics::kCapturedVar, span, entity.name)
            .help("copy it with `let`, or pass it")
            .note(entity.span, fmt::format("`{}` is declared here", entity.name));
    }
    if (entity.kind == EntityKind::LocalFunction && entity.open) {
        report(diagnostics::kRecursion, span, entity.name)
            .help("functions are inlined, so they cannot recurse: write a loop")
            .note(entity.span, fmt::format("`{}` is declared here", entity.name));
    }
    if (entity.kind != EntityKind::Size || entity.required || any_guard_) return;
    for (const std::string_view binder : entity.optional_binders) {
        if (std::find(guards_.begin(), guards_.end(), binder) != guards_.end()) return;
    }
    const std::string_view binder = entity.optional_binders.front();
    report(diagnostics::kSizeNeedsPresent, span, entity.name, binder)
        .help(fmt::format("use it under `static if present({})`", binder))
        .note(entity.span, fmt::format("only here is `{}` bound", entity.name));
}

Meaning NameChecker::member(std::size_t module, std::string_view name, std::string_view alias, Span span) {
    const File& file = files_.files[module];
    if (const auto found = file.declarations.find(name); found != file.declarations.end()) {
        const Meaning meaning = declaration_meaning(module, found->second);
        note_place(span, meaning.span);
        return meaning;
    }
    Meaning meaning;
    meaning.file = module;
    if (!complete_[module]) return meaning;
    std::vector<std::string_view> candidates;
    for (const auto& declaration : file.declarations) candidates.push_back(declaration.first);
    std::sort(candidates.begin(), candidates.end());
    auto& diagnostic = report(diagnostics::kUnknownMember, span, alias, name);
    suggest(diagnostic, name, candidates);
    return meaning;
}

Meaning NameChecker::resolve_path(std::string_view path, Span span) {
    const std::size_t point = path.find('.');
    if (point == std::string_view::npos) return resolve(path, span);
    const std::string_view alias = path.substr(0, point);
    const std::string_view name = path.substr(point + 1);
    const Span alias_span{span.source, span.begin, span.begin + static_cast<std::uint32_t>(alias.size())};
    const Span name_span{span.source, span.end - static_cast<std::uint32_t>(name.size()), span.end};
    Meaning meaning = resolve(alias, alias_span);
    if (!meaning.known) return meaning;
    if (meaning.kind != EntityKind::Module) {
        report(diagnostics::kMemberOfValue, name_span, name);
        meaning.known = false;
        return meaning;
    }
    return member(meaning.file, name, alias, name_span);
}

void NameChecker::unknown(std::string_view name, Span span, bool as_type) {
    if (!reported_.emplace(name).second) return;
    auto& diagnostic = report(diagnostics::kUnknownName, span, name);
    if (errors_ > kErrorLimit) return;
    const Hidden hidden = hidden_declaration(name, span);
    if (hidden.why == Hidden::None) {
        suggest(diagnostic, name, visible_names(name, as_type));
    } else if (hidden.why == Hidden::Later) {
        diagnostic.help("declare a name before its use")
            .note(hidden.span, fmt::format("`{}` is declared only here", name));
    } else if (hidden.why == Hidden::Elsewhere) {
        diagnostic.note(hidden.span, fmt::format("this `{}` cannot be seen there", name));
    } else {
        diagnostic.help("declare it outside the block, as a `var` if it changes")
            .note(hidden.span, fmt::format("this `{}` ends with the block that declares it", name));
    }
}

NameChecker::Hidden NameChecker::hidden_declaration(std::string_view name, Span use) const {
    const Span whole = node(declaration_).span;
    for (NodeId id = 0; id < ast().nodes.size(); ++id) {
        const dsl::Node& candidate = node(id);
        if (candidate.span.begin < whole.begin || candidate.span.end > whole.end || id == declaration_) continue;
        const Span found = declared_span(id, name);
        if (found.begin == found.end) continue;
        const NodeKind kind = candidate.kind;
        const bool initialises = kind == NodeKind::Let || kind == NodeKind::Var || kind == NodeKind::Constant;
        const bool around = candidate.span.begin <= use.begin && use.end <= candidate.span.end;
        if (found.begin > use.begin || (initialises && around)) return {Hidden::Later, found};
        const bool of_block =
            initialises || kind == NodeKind::For || kind == NodeKind::StaticFor || kind == NodeKind::Function;
        return {of_block ? Hidden::Ended : Hidden::Elsewhere, found};
    }
    return {};
}

Span NameChecker::declared_span(NodeId id, std::string_view name) const {
    const NodeKind kind = node(id).kind;
    if (declares_its_text(kind) && node(id).text == name) return node(id).name_span;
    if (kind != NodeKind::Let && kind != NodeKind::Var) return {};
    for (const NodeId slot : children(children(id)[0])) {
        if (slot == dsl::kNoNode || node(slot).kind != NodeKind::Name) continue;
        if (node(slot).text == name) return node(slot).span;
    }
    return {};
}

std::vector<std::string_view> NameChecker::visible_names(std::string_view like, bool types) {
    std::vector<std::string_view> names;
    // Names of other lengths are no slip of the pen, and generated text may have very many names.
    const auto add = [&](std::string_view name) {
        constexpr std::size_t kSlip = 4, kMost = 2000;
        const bool near = name.size() <= like.size() + kSlip && like.size() <= name.size() + kSlip;
        if (near && names.size() < kMost && (!types || is_type(look_up(name).kind))) names.push_back(name);
    };
    for (const Entity& entity : scopes_.all()) add(entity.name);
    const File& file = files_.files[file_];
    std::vector<std::string_view> outer;
    for (const auto& declaration : file.declarations) outer.push_back(declaration.first);
    for (const auto& import : file.imports) outer.push_back(import.first);
    std::sort(outer.begin(), outer.end());  // the maps have no order; messages must have one
    for (const std::string_view name : outer) add(name);
    for (const Builtin& builtin : builtins()) add(builtin.name);
    for (const std::string_view name : builtin_type_names()) add(name);
    if (in_generics_) names.insert(names.end(), type_classes().begin(), type_classes().end());
    return names;
}

void NameChecker::collect_guards(NodeId condition, bool truth, std::vector<std::string_view>& guards) const {
    const dsl::Node& test = node(condition);
    if (test.kind == NodeKind::Prefix) {
        const bool inverts = test.text.size() % 2 == 1;
        if (test.text.find_first_not_of('!') == std::string_view::npos) {
            collect_guards(ast().child(condition, 0), truth != inverts, guards);
        }
    } else if (test.kind == NodeKind::Chain) {
        const std::string_view joint = truth ? "&&" : "||";
        if (ast().operators_of(condition).front().text != joint) return;
        for (const NodeId operand : children(condition)) collect_guards(operand, truth, guards);
    } else if (test.kind == NodeKind::Suffixed && truth) {
        const auto parts = children(condition);
        const bool calls = parts.size() == 2 && node(parts[0]).kind == NodeKind::Name &&
                           node(parts[0]).text == "present" && node(parts[1]).kind == NodeKind::Call;
        if (!calls || children(parts[1]).size() != 1) return;
        const dsl::Node& argument = node(children(parts[1])[0]);
        if (argument.kind == NodeKind::Name) guards.push_back(argument.text);
    }
}

}  // namespace kiln::frontend
