#include "frontend/name_scopes.h"

#include "ir/support/internal_error.h"

namespace kiln::frontend {

std::string_view describe(EntityKind kind) {
    switch (kind) {
        case EntityKind::Module:
            return "an import";
        case EntityKind::FileConstant:
        case EntityKind::Const:
            return "a `const`";
        case EntityKind::TypeAlias:
        case EntityKind::TypeGeneric:
        case EntityKind::BuiltinType:
            return "a type";
        case EntityKind::Function:
        case EntityKind::LocalFunction:
            return "a function";
        case EntityKind::Kernel:
            return "a kernel";
        case EntityKind::ValueGeneric:
            return "a generic value";
        case EntityKind::FunctionGeneric:
            return "a generic function";
        case EntityKind::Size:
            return "a size";
        case EntityKind::ConstParameter:
        case EntityKind::ValueParameter:
            return "a parameter";
        case EntityKind::FunctionParameter:
            return "a function parameter";
        case EntityKind::TensorParameter:
            return "a tensor parameter";
        case EntityKind::Tunable:
            return "a tunable";
        case EntityKind::Scratch:
            return "a `scratch` tensor";
        case EntityKind::GridAxis:
            return "a grid axis";
        case EntityKind::Let:
            return "a `let`";
        case EntityKind::Var:
            return "a `var`";
        case EntityKind::LoopVariable:
            return "a loop variable";
        case EntityKind::Builtin:
            return "a builtin";
    }
    throw support::InternalError("names", "an entity kind without a description");
}

bool is_type(EntityKind kind) {
    return kind == EntityKind::TypeAlias || kind == EntityKind::TypeGeneric || kind == EntityKind::BuiltinType;
}

void Scopes::pop() {
    while (entities_.size() > marks_.back()) {
        visible_[entities_.back().name].pop_back();
        entities_.pop_back();
    }
    marks_.pop_back();
}

void Scopes::push_function() {
    ++function_;
    push();
}

void Scopes::pop_function() {
    pop();
    --function_;
}

Entity* Scopes::find(std::string_view name) {
    const auto found = visible_.find(name);
    if (found == visible_.end() || found->second.empty()) return nullptr;
    return &entities_[found->second.back()];
}

Entity& Scopes::declare(EntityKind kind, std::string_view name, support::Span span, dsl::NodeId node) {
    visible_[name].push_back(entities_.size());
    Entity& entity = entities_.emplace_back();
    entity.kind = kind;
    entity.name = name;
    entity.span = span;
    entity.node = node;
    entity.function = function_;
    entity.scope = scope();
    return entity;
}

}  // namespace kiln::frontend
