// Names in the clauses of a kernel.
#include <algorithm>

#include "frontend/diagnostics.h"
#include "frontend/name_checker.h"

namespace kiln::frontend {

using dsl::kNoNode;
using dsl::NodeId;
using dsl::NodeKind;
using support::Span;

namespace {

const std::vector<std::string_view> kFreedoms = {"flush", "approx", "contract", "reassociate"};

std::vector<std::string_view> words_for(const ScheduleKey& key, std::string_view target) {
    std::vector<std::string_view> words;
    for (const ScheduleWord& word : key.words) {
        if (admits_target(word.targets, target)) words.push_back(word.name);
    }
    return words;
}

}  // namespace

void NameChecker::clauses(NodeId id, NodeId kernel) {
    clauses_seen_.clear();
    host_ = true;
    for (const NodeId each : children(id)) clause(each, kernel);
    host_ = false;
}

void NameChecker::clause(NodeId id, NodeId kernel) {
    const NodeKind kind = node(id).kind;
    if (kind == NodeKind::Tune) {
        tune(id);
    } else if (kind == NodeKind::Where) {
        expressions(children(id));
    } else if (kind == NodeKind::Require) {
        condition(children(id)[0]);
    } else if (kind == NodeKind::Allow) {
        allow(id);
    } else if (kind == NodeKind::Schedule) {
        schedule(id);
    } else if (kind == NodeKind::Scratch) {
        scratch(id);
    } else if (kind == NodeKind::Reference) {
        reference(id, kernel);
    } else {
        statement(id);  // `let` and `const`
    }
}

void NameChecker::stands_once(const std::string& what, Span span) {
    const auto [earlier, first] = clauses_seen_.emplace(what, span);
    if (!first) report(diagnostics::kRepeatedClause, span, what).note(earlier->second, "it stands here already");
}

void NameChecker::tune(NodeId id) {
    for (const NodeId tunable : children(id)) {
        expressions(children(tunable));
        declare(EntityKind::Tunable, node(tunable).text, node(tunable).name_span, tunable);
    }
}

void NameChecker::allow(NodeId id) {
    for (const NodeId freedom : children(id)) {
        const std::string_view name = node(freedom).text;
        if (std::find(kFreedoms.begin(), kFreedoms.end(), name) != kFreedoms.end()) {
            stands_once(fmt::format("allow {}", name), node(freedom).span);
            continue;
        }
        auto& diagnostic = report(diagnostics::kUnknownFreedom, node(freedom).span, name);
        diagnostic.help(fmt::format("there are {}", list_of_names(kFreedoms, "and")));
        suggest(diagnostic, name, kFreedoms);
    }
}

void NameChecker::schedule(NodeId id) {
    const std::string_view target = node(id).text;
    const auto& targets = schedule_targets();
    if (std::find(targets.begin(), targets.end(), target) == targets.end()) {
        auto& diagnostic = report(diagnostics::kUnknownTarget, node(id).name_span, target);
        diagnostic.help("there are `cpu`, `gpu`, `nvidia`, `amd` and the architectures, such as `sm_90a` or `gfx942`");
        suggest(diagnostic, target, targets);
        return;
    }
    stands_once(fmt::format("schedule {}", target), node(id).name_span);
    std::map<std::string_view, Span> keys;
    for (const NodeId each : children(id)) {
        const auto [earlier, first] = keys.emplace(node(each).text, node(each).name_span);
        if (!first) {
            report(diagnostics::kRepeatedClause, node(each).name_span, node(each).text)
                .note(earlier->second, "it stands here already");
        }
        setting(each, target);
    }
}

void NameChecker::setting(NodeId id, std::string_view target) {
    const std::string_view name = node(id).text;
    const Entity* entity = scopes_.find(name);
    if (entity != nullptr && entity->kind == EntityKind::Tunable) {
        expressions(children(id));
        return;
    }
    const ScheduleKey* key = find_schedule_key(name);
    if (key == nullptr || !admits_target(key->targets, target)) {
        unknown_key(id, target);
        return;
    }
    for (const NodeId value : children(id)) schedule_value(value, *key, target);
}

void NameChecker::unknown_key(NodeId id, std::string_view target) {
    const std::string_view name = node(id).text;
    auto& diagnostic = report(diagnostics::kUnknownScheduleKey, node(id).name_span, target, name);
    if (const ScheduleKey* key = find_schedule_key(name)) {
        diagnostic.help(fmt::format("only {} has it", list_of_names(key->targets)));
        return;
    }
    std::vector<std::string_view> candidates;
    for (const ScheduleKey& key : schedule_keys()) {
        if (admits_target(key.targets, target)) candidates.push_back(key.name);
    }
    for (const Entity& entity : scopes_.all()) {
        if (entity.kind == EntityKind::Tunable) candidates.push_back(entity.name);
    }
    const Hidden hidden = hidden_declaration(name, node(id).name_span);
    if (hidden.why == Hidden::Later) {
        diagnostic.help("declare a name before its use")
            .note(hidden.span, fmt::format("`{}` is declared only here", name));
    } else {
        suggest(diagnostic, name, candidates);
    }
}

void NameChecker::schedule_value(NodeId id, const ScheduleKey& key, std::string_view target) {
    if (key.words.empty()) {
        expression(id);
        return;
    }
    const dsl::Node& value = node(id);
    std::string_view name = value.text;
    std::span<const NodeId> arguments;
    bool is_word = value.kind == NodeKind::Name || value.kind == NodeKind::Boolean;
    if (value.kind == NodeKind::Suffixed && children(id).size() == 2 && node(children(id)[1]).kind == NodeKind::Call) {
        name = node(children(id)[0]).text;
        arguments = children(children(id)[1]);
        is_word = node(children(id)[0]).kind == NodeKind::Name;
    }
    const auto word = std::find_if(key.words.begin(), key.words.end(),
                                   [&](const ScheduleWord& row) { return is_word && row.name == name; });
    const bool known = word != key.words.end();
    const bool admitted = known && admits_target(word->targets, target);
    if (admitted && word->arguments == arguments.size()) {
        expressions(arguments);
        return;
    }
    const auto words = words_for(key, target);
    auto& diagnostic = report(diagnostics::kScheduleValue, value.span, key.name, list_of_names(words));
    if (known && !admitted) {
        diagnostic.help(fmt::format("only {} has `{}`", list_of_names(word->targets), name));
    } else if (known) {
        diagnostic.help(
            fmt::format("`{}` takes {} argument{}", name, word->arguments, word->arguments == 1 ? "" : "s"));
    } else if (is_word) {
        suggest(diagnostic, name, words);
    }
}

void NameChecker::scratch(NodeId id) {
    const auto parts = children(id);
    type(parts[0]);
    if (parts.size() > 1 && parts[1] != kNoNode) expression(parts[1]);
    declare(EntityKind::Scratch, node(id).text, node(id).name_span, id);
}

void NameChecker::condition(NodeId id) {
    for (const NodeId part : children(id)) {
        if (part != kNoNode) expression(part);  // the message is a literal and has no names
    }
}

void NameChecker::reference(NodeId id, NodeId kernel) {
    stands_once("reference", node(id).name_span.begin == node(id).name_span.end ? node(id).span : node(id).name_span);
    const auto parts = children(id);
    const auto bounds = parts.subspan(1);
    expressions(bounds);
    if (bounds.size() > 2) report(diagnostics::kTooManyBounds, node(bounds[2]).span);

    const std::string_view path = node(parts[0]).text;
    const Span span = node(parts[0]).span;
    const std::size_t point = path.find('.');
    if (point != std::string_view::npos) {
        const Meaning meaning = resolve_path(path, span);
        if (!meaning.known) return;
        if (meaning.kind == EntityKind::Kernel) return reference_parameters(parts[0], kernel, meaning);
        report(diagnostics::kUnknownReference, span, path)
            .note(meaning.span, fmt::format("it is {}", describe(meaning.kind)));
        return;
    }
    const auto& declarations = files_.files[file_].declarations;
    const auto found = declarations.find(path);
    if (found != declarations.end() && found->second == kernel) {
        report(diagnostics::kOwnReference, span, path).help("name a plain kernel that defines the result");
    } else if (found != declarations.end() && node(found->second).kind == NodeKind::Kernel) {
        reference_parameters(parts[0], kernel, declaration_meaning(file_, found->second));
    } else {
        std::vector<std::string_view> kernels;
        for (const NodeId each : children(ast().root)) {
            if (node(each).kind == NodeKind::Kernel && each != kernel) kernels.push_back(node(each).text);
        }
        auto& diagnostic = report(diagnostics::kUnknownReference, span, path);
        suggest(diagnostic, path, kernels);
    }
}

void NameChecker::reference_parameters(NodeId path, NodeId kernel, const Meaning& reference) {
    std::set<std::string_view> given;
    for (const NodeId parameter : children(children(kernel)[1])) given.insert(node(parameter).text);
    const dsl::Ast& tree = ast(reference.file);
    for (const NodeId parameter : tree.children_of(tree.child(reference.node, 1))) {
        const auto parts = tree.children_of(parameter);
        const bool has_default = parts.size() > 1 && parts[1] != kNoNode;
        if (has_default || given.contains(tree[parameter].text)) continue;
        report(diagnostics::kReferenceParameter, node(path).span, node(kernel).text, tree[parameter].text)
            .help("parameters match by name")
            .note(tree[parameter].name_span, "the reference declares it here");
    }
}

}  // namespace kiln::frontend
