// The names that are visible at a place inside a declaration.
#pragma once

#include <deque>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dsl/ast.h"
#include "ir/support/span.h"

namespace kiln::frontend {

enum class EntityKind : std::uint8_t {
    // declared by a file
    Module,
    FileConstant,
    TypeAlias,
    Function,
    Kernel,
    // declared by a signature
    TypeGeneric,
    ValueGeneric,
    FunctionGeneric,
    Size,
    ConstParameter,
    ValueParameter,
    FunctionParameter,
    TensorParameter,
    // declared by clauses and phases
    Tunable,
    Scratch,
    GridAxis,
    // declared by statements
    Let,
    Var,
    Const,
    LoopVariable,
    LocalFunction,
    // known without a declaration
    Builtin,
    BuiltinType,
};

/// With an article, as a message names it: "a `let`", "a grid axis".
std::string_view describe(EntityKind kind);
bool is_type(EntityKind kind);

struct Entity {
    EntityKind kind = EntityKind::Let;
    std::string_view name;
    support::Span span;                              ///< where the name stands
    dsl::NodeId node = 0;                            ///< its declaration, in the tree of the file that is checked
    std::uint32_t function = 0;                      ///< how many functions enclose the one that declares it
    std::uint32_t scope = 0;                         ///< how many scopes enclose the one that declares it
    bool open = false;                               ///< LocalFunction: its body is being checked
    bool required = false;                           ///< Size: a parameter that is always there gives it
    std::vector<std::string_view> optional_binders;  ///< Size: the optional tensors that give it
};

/// A stack of scopes. Inner names hide outer ones; whether they may is for the caller to say.
class Scopes {
public:
    void push() { marks_.push_back(entities_.size()); }
    void pop();
    /// A scope that belongs to a function of its own.
    void push_function();
    void pop_function();

    std::uint32_t function() const { return function_; }
    std::uint32_t scope() const { return static_cast<std::uint32_t>(marks_.size()); }

    Entity* find(std::string_view name);
    /// Declares in the innermost scope. The reference lives as long as that scope.
    Entity& declare(EntityKind kind, std::string_view name, support::Span span, dsl::NodeId node);
    const std::deque<Entity>& all() const { return entities_; }

private:
    std::deque<Entity> entities_;
    std::vector<std::size_t> marks_;
    std::unordered_map<std::string_view, std::vector<std::size_t>> visible_;
    std::uint32_t function_ = 0;
};

}  // namespace kiln::frontend
