// Name checking of declarations: what files, signatures and phases declare.
#include "frontend/names.h"

#include <algorithm>

#include "frontend/diagnostics.h"
#include "frontend/name_checker.h"

namespace kiln::frontend {

using dsl::kNoNode;
using dsl::NodeId;
using dsl::NodeKind;
using support::Span;

void check_names(const Program& program, const std::vector<bool>& complete, support::Diagnostics& diagnostics,
                 Places* places) {
    for (std::size_t file = 0; file < program.files.size(); ++file) {
        if (complete[file]) NameChecker(program, complete, file, diagnostics, places).check();
    }
}

NameChecker::NameChecker(const Program& program, const std::vector<bool>& complete, std::size_t file,
                         support::Diagnostics& diagnostics, Places* places)
    : files_(program), complete_(complete), file_(file), diagnostics_(diagnostics), places_(places) {}

void NameChecker::check() {
    for (const NodeId id : children(ast().root)) declaration(id);
    find_cycles();
}

void NameChecker::declaration(NodeId id) {
    declaration_ = id;
    reported_.clear();
    edges_.push_back({id, {}});
    note_place(node(id).name_span, node(id).name_span);
    const NodeKind kind = node(id).kind;
    if (kind == NodeKind::Constant) {
        constant(id, false);
    } else if (kind == NodeKind::TypeAlias) {
        type_alias(id);
    } else if (kind == NodeKind::Function) {
        function(id, false);
    } else if (kind == NodeKind::Kernel) {
        kernel(id);
    }
}

void NameChecker::constant(NodeId id, bool local) {
    const auto parts = children(id);
    if (parts[0] != kNoNode) type(parts[0]);
    expression(parts[1]);
    if (local) declare(EntityKind::Const, node(id).text, node(id).name_span, id);
}

void NameChecker::type_alias(NodeId id) {
    type(children(id)[0]);
}

void NameChecker::function(NodeId id, bool local) {
    const auto parts = children(id);
    if (local) {
        declare(EntityKind::LocalFunction, node(id).text, node(id).name_span, id);
        scopes_.find(node(id).text)->open = true;
    }
    const bool has_block = node(parts[3]).kind == NodeKind::Block;
    bodies_.push_back({false, parts[2] != kNoNode || !has_block, node(id).text, {}});
    scopes_.push_function();
    if (parts[0] != kNoNode) generics(parts[0]);
    parameters(parts[1], false);
    if (parts[2] != kNoNode) type(parts[2]);
    if (has_block) {
        block(parts[3]);
    } else {
        expression(parts[3]);
    }
    scopes_.pop_function();
    bodies_.pop_back();
    if (local) scopes_.find(node(id).text)->open = false;
}

void NameChecker::kernel(NodeId id) {
    const auto parts = children(id);
    bodies_.push_back({true, false, node(id).text, {}});
    scopes_.push_function();
    if (parts[0] != kNoNode) generics(parts[0]);
    parameters(parts[1], true);
    clauses(parts[2], id);
    for (const NodeId each : children(parts[3])) phase(each);
    scopes_.pop_function();
    bodies_.pop_back();
}

void NameChecker::phase(NodeId id) {
    const auto parts = children(id);
    host_ = true;
    for (const NodeId axis : children(parts[0])) range(children(axis)[0]);
    host_ = false;
    scopes_.push();
    for (const NodeId axis : children(parts[0])) {
        declare(EntityKind::GridAxis, node(axis).text, node(axis).name_span, axis);
    }
    block(parts[1]);
    scopes_.pop();
}

void NameChecker::generics(NodeId id) {
    for (const NodeId generic : children(id)) {
        const auto parts = children(generic);
        const TypeRole form = type_role(files_, file_, parts[0]);
        if (form != TypeRole::Class || node(children(parts[0])[0]).text.find('.') != std::string_view::npos) {
            in_generics_ = true;
            type(parts[0]);
            in_generics_ = false;
        }
        if (parts.size() > 1 && parts[1] != kNoNode) expression(parts[1]);
        EntityKind kind = EntityKind::ValueGeneric;
        if (form == TypeRole::Class) kind = EntityKind::TypeGeneric;
        if (form == TypeRole::Function) kind = EntityKind::FunctionGeneric;
        declare(kind, node(generic).text, node(generic).name_span, generic);
    }
}

// Plain sizes bind first, wherever they stand in the signature, then the solved forms; then everything can be read.
void NameChecker::parameters(NodeId id, bool of_kernel) {
    const auto list = children(id);
    for (const NodeId parameter : list) {
        declare_plain_sizes(parameter, of_kernel);
        declare(parameter_kind(parameter), node(parameter).text, node(parameter).name_span, parameter);
    }
    for (const NodeId parameter : list) declare_solved_sizes(parameter, of_kernel);
    for (const NodeId parameter : list) {
        parameter_ = parameter;
        parameter_type(parameter);
        parameter_default(parameter);
    }
    parameter_ = kNoNode;
}

EntityKind NameChecker::parameter_kind(NodeId parameter) const {
    if (node(parameter).flag) return EntityKind::ConstParameter;
    const NodeId written_type = ast().child(parameter, 0);
    if (node(written_type).kind == NodeKind::TensorType) return EntityKind::TensorParameter;
    const bool is_function = type_role(files_, file_, written_type) == TypeRole::Function;
    return is_function ? EntityKind::FunctionParameter : EntityKind::ValueParameter;
}

bool NameChecker::is_optional(NodeId parameter) const {
    const auto parts = ast().children_of(parameter);
    return node(parts[0]).kind == NodeKind::TensorType && parts.size() > 1 && parts[1] != kNoNode;
}

std::vector<NodeId> NameChecker::shape_of(NodeId parameter, bool of_kernel) const {
    std::vector<NodeId> sizes;
    std::vector<NodeId> types = {ast().child(parameter, 0)};
    while (!types.empty()) {
        const NodeId id = types.back();
        types.pop_back();
        const auto parts = ast().children_of(id);
        const NodeKind kind = node(id).kind;
        const bool shaped = kind == NodeKind::TensorType || (kind == NodeKind::NamedType && !of_kernel);
        if (shaped && parts.size() > 1 && parts[1] != kNoNode) {
            const auto list = ast().children_of(parts[1]);
            sizes.insert(sizes.end(), list.begin(), list.end());
        } else if (kind == NodeKind::TupleType) {
            types.insert(types.end(), parts.rbegin(), parts.rend());
        }
    }
    return sizes;
}

void NameChecker::declare_plain_sizes(NodeId parameter, bool of_kernel) {
    for (const NodeId size : shape_of(parameter, of_kernel)) {
        if (node(size).kind == NodeKind::Name) plain_size(size, parameter);
    }
}

void NameChecker::plain_size(NodeId size, NodeId parameter) {
    const Meaning meaning = look_up(node(size).text);
    const bool compile_time = meaning.kind == EntityKind::ValueGeneric || meaning.kind == EntityKind::ConstParameter ||
                              meaning.kind == EntityKind::FileConstant || meaning.kind == EntityKind::Tunable ||
                              meaning.kind == EntityKind::Const;
    if (compile_time) return;
    const bool outer = meaning.entity != nullptr && meaning.entity->scope < scopes_.scope();
    if (outer && meaning.kind == EntityKind::Size) return;  // a local function may name the sizes around it
    bind_size(size, parameter);
}

void NameChecker::bind_size(NodeId size, NodeId parameter) {
    const std::string_view name = node(size).text;
    Entity* entity = scopes_.find(name);
    if (entity == nullptr || entity->scope != scopes_.scope() || entity->kind != EntityKind::Size) {
        const bool taken = entity != nullptr && entity->scope == scopes_.scope();
        declare(EntityKind::Size, name, node(size).span, parameter);
        entity = scopes_.find(name);
        if (taken) entity->required = true;  // reported: say no more about it
    }
    if (is_optional(parameter)) {
        entity->optional_binders.push_back(node(parameter).text);
    } else {
        entity->required = true;
    }
}

void NameChecker::declare_solved_sizes(NodeId parameter, bool of_kernel) {
    for (const NodeId size : shape_of(parameter, of_kernel)) {
        const auto operands = children(size);
        if (node(size).kind != NodeKind::Chain || operands.size() != 2) continue;
        const std::string_view operation = ast().operators_of(size)[0].text;
        const bool solvable = operation == "+" || operation == "-" || operation == "*";
        if (!solvable || node(operands[0]).kind != NodeKind::Name || !is_compile_time(operands[1])) continue;
        const Meaning meaning = look_up(node(operands[0]).text);
        const bool own_size = meaning.kind == EntityKind::Size && meaning.entity->scope == scopes_.scope();
        if (!meaning.known || own_size) bind_size(operands[0], parameter);
    }
}

bool NameChecker::is_compile_time(NodeId id) {
    const NodeKind kind = node(id).kind;
    if (kind == NodeKind::Number) return true;
    if (kind == NodeKind::Name) {
        const EntityKind meaning = look_up(node(id).text).kind;
        return meaning == EntityKind::ValueGeneric || meaning == EntityKind::ConstParameter ||
               meaning == EntityKind::FileConstant || meaning == EntityKind::Const || meaning == EntityKind::Tunable;
    }
    if (kind == NodeKind::Suffixed) {
        const auto parts = children(id);
        return parts.size() == 2 && node(parts[0]).kind == NodeKind::Name &&
               look_up(node(parts[0]).text).kind == EntityKind::Module && node(parts[1]).kind == NodeKind::Member;
    }
    if (kind != NodeKind::Chain && kind != NodeKind::Prefix) return false;
    const auto operands = children(id);
    return std::all_of(operands.begin(), operands.end(), [this](NodeId operand) { return is_compile_time(operand); });
}

void NameChecker::parameter_type(NodeId parameter) {
    const NodeId id = children(parameter)[0];
    any_guard_ = is_optional(parameter);
    if (node(id).kind == NodeKind::TensorType) {
        type_path(children(id)[0]);
        size_list(children(id)[1], Sizes::Parameter);
    } else {
        type(id, Sizes::Parameter);
    }
    any_guard_ = false;
}

void NameChecker::parameter_default(NodeId parameter) {
    const auto parts = children(parameter);
    if (parts.size() < 2 || parts[1] == kNoNode) return;
    const dsl::Node& value = node(parts[1]);
    if (node(parts[0]).kind != NodeKind::TensorType) {
        expression(parts[1]);
        return;
    }
    const bool none = value.kind == NodeKind::Name && value.text == "none" && look_up("none").builtin != nullptr;
    if (none || value.kind == NodeKind::Error) return;
    report(diagnostics::kTensorDefault, value.span).help("`= none` makes it optional");
}

void NameChecker::find_cycles() {
    std::map<NodeId, std::size_t> index;
    for (std::size_t i = 0; i < edges_.size(); ++i) index.emplace(edges_[i].first, i);
    std::vector<char> colours(edges_.size(), 0);
    for (std::size_t start = 0; start < edges_.size(); ++start) find_cycles_from(start, colours, index);
}

void NameChecker::find_cycles_from(std::size_t start, std::vector<char>& colours,
                                   const std::map<NodeId, std::size_t>& index) {
    enum : char { Untouched, OnPath, Done };
    struct Step {
        std::size_t declaration;
        std::size_t next;
    };
    if (colours[start] != Untouched) return;
    std::vector<Step> steps = {{start, 0}};
    std::vector<Edge> path = {{edges_[start].first, {}}};
    colours[start] = OnPath;
    while (!steps.empty()) {
        Step& step = steps.back();
        const auto& uses = edges_[step.declaration].second;
        if (step.next == uses.size()) {
            colours[step.declaration] = Done;
            steps.pop_back();
            path.pop_back();
            continue;
        }
        const Edge edge = uses[step.next++];
        const std::size_t target = index.at(edge.target);
        if (colours[target] == Untouched) {
            colours[target] = OnPath;
            steps.push_back({target, 0});
            path.push_back(edge);
        } else if (colours[target] == OnPath) {
            const auto first = std::find_if(path.begin(), path.end(),
                                            [&edge](const Edge& each) { return each.target == edge.target; });
            std::vector<Edge> cycle(first, path.end());
            cycle.push_back(edge);
            report_cycle(cycle);
            colours[target] = Done;  // one message for each name that leads to itself
        }
    }
}

// `path` begins with the declaration itself and ends with the use that leads back to it.
void NameChecker::report_cycle(std::span<const Edge> path) {
    const bool calls = std::all_of(path.begin(), path.end(),
                                   [this](const Edge& edge) { return node(edge.target).kind == NodeKind::Function; });
    const auto& kind = calls ? diagnostics::kRecursion : diagnostics::kCyclicDefinition;
    auto& diagnostic = report(kind, path.back().use, node(path.back().target).text);
    if (calls) diagnostic.help("functions are inlined, so they cannot recurse: write a loop");
    constexpr std::size_t kMostNotes = 8;
    for (std::size_t i = 1; i + 1 < path.size() && i <= kMostNotes; ++i) {
        diagnostic.note(path[i].use,
                        fmt::format("`{}` uses `{}` here", node(path[i - 1].target).text, node(path[i].target).text));
    }
}

}  // namespace kiln::frontend
