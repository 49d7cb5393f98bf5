// Names in statements, and where statements may stand.
#include "frontend/diagnostics.h"
#include "frontend/name_checker.h"

namespace kiln::frontend {

using dsl::kNoNode;
using dsl::NodeId;
using dsl::NodeKind;
using support::Span;

namespace {

bool leaves(NodeKind kind) {
    return kind == NodeKind::Return || kind == NodeKind::Break || kind == NodeKind::Continue;
}

std::string_view word_of(NodeKind kind) {
    if (kind == NodeKind::Return) return "return";
    return kind == NodeKind::Break ? "break" : "continue";
}

/// A `let` may be a view: types tell.
bool may_be_tensor(EntityKind kind) {
    return kind == EntityKind::TensorParameter || kind == EntityKind::Scratch || kind == EntityKind::Let;
}

}  // namespace

void NameChecker::block(NodeId id) {
    scopes_.push();
    statements(id);
    scopes_.pop();
}

void NameChecker::statements(NodeId id) {
    const auto list = children(id);
    for (std::size_t i = 0; i < list.size(); ++i) {
        const bool last = i + 1 == list.size();
        // Of `return` and a value on the next line only the newline is wrong: say so once.
        const bool split = !last && node(list[i]).kind == NodeKind::Return && !has_value(list[i]) &&
                           node(list[i + 1]).kind == NodeKind::ExpressionStatement;
        if (!split) statement(list[i]);
        if (last || !leaves(node(list[i]).kind)) continue;
        unreachable(list[i], list[i + 1]);
        if (split) ++i;
    }
}

void NameChecker::unreachable(NodeId leaving, NodeId next) {
    const std::string_view word = word_of(node(leaving).kind);
    auto& diagnostic = report(diagnostics::kUnreachableCode, node(next).span, word);
    diagnostic.note(node(leaving).span, fmt::format("`{}` stands here", word));
    if (node(next).kind == NodeKind::ExpressionStatement && word == "return") {
        diagnostic.help("a newline ends `return`: put its value on the same line");
    }
}

void NameChecker::statement(NodeId id) {
    const NodeKind kind = node(id).kind;
    const auto parts = children(id);
    if (kind == NodeKind::Let || kind == NodeKind::Var) {
        if (parts[1] != kNoNode) expression(parts[1]);
        binding(parts[0], kind == NodeKind::Let ? EntityKind::Let : EntityKind::Var);
    } else if (kind == NodeKind::Constant) {
        constant(id, true);
    } else if (kind == NodeKind::Function) {
        function(id, true);
    } else if (kind == NodeKind::For || kind == NodeKind::StaticFor || kind == NodeKind::While) {
        loop(id);
    } else if (kind == NodeKind::If) {
        branches(id);
    } else if (kind == NodeKind::StaticIf) {
        static_branches(id);
    } else if (kind == NodeKind::StaticAssert) {
        condition(parts[0]);
    } else if (kind == NodeKind::Return) {
        return_statement(id);
    } else if (kind == NodeKind::Break || kind == NodeKind::Continue) {
        leave_loop(id, word_of(kind));
    } else if (kind == NodeKind::Assign) {
        assign(id);
    } else if (kind == NodeKind::ExpressionStatement) {
        expression_statement(id);
    }
}

void NameChecker::binding(NodeId id, EntityKind kind) {
    const auto parts = children(id);
    if (parts[0] != kNoNode) type(parts[0]);
    for (const NodeId slot : parts.subspan(1)) {
        if (node(slot).kind == NodeKind::Name) declare(kind, node(slot).text, node(slot).span, id);
    }
}

void NameChecker::loop(NodeId id) {
    const auto parts = children(id);
    const bool counts = node(id).kind != NodeKind::While;
    if (counts) {
        range(parts[0]);
    } else {
        expression(parts[0]);
    }
    scopes_.push();
    if (counts) declare(EntityKind::LoopVariable, node(id).text, node(id).name_span, id);
    bodies_.back().loops.push_back(id);
    block(parts[1]);
    bodies_.back().loops.pop_back();
    scopes_.pop();
}

void NameChecker::branches(NodeId id) {
    const auto parts = children(id);
    std::size_t i = 0;
    for (; i + 1 < parts.size(); i += 2) {
        expression(parts[i]);
        block(parts[i + 1]);
    }
    if (i < parts.size()) block(parts[i]);
}

void NameChecker::static_branches(NodeId id) {
    const auto parts = children(id);
    const std::size_t outer = guards_.size();
    std::size_t i = 0;
    for (; i + 1 < parts.size(); i += 2) {
        expression(parts[i]);
        const std::size_t before = guards_.size();
        collect_guards(parts[i], true, guards_);
        block(parts[i + 1]);
        guards_.resize(before);
        // The branches that follow run only if this condition is false.
        collect_guards(parts[i], false, guards_);
    }
    if (i < parts.size()) block(parts[i]);
    guards_.resize(outer);
}

bool NameChecker::has_value(NodeId return_node) const {
    const auto parts = children(return_node);
    return !parts.empty() && parts[0] != kNoNode;
}

void NameChecker::return_statement(NodeId id) {
    const Body& body = bodies_.back();
    const auto parts = children(id);
    const bool valued = has_value(id);
    if (valued) expression(parts[0]);
    if (!body.loops.empty()) {
        report(diagnostics::kReturnInLoop, node(id).span)
            .help("leave it with `break`, then `return`")
            .note(node(body.loops.back()).span, "the loop begins here");
        return;
    }
    if (valued && !body.returns_value) {
        auto& diagnostic = report(diagnostics::kReturnWithValue, node(parts[0]).span, body.name);
        diagnostic.help(body.kernel ? "a kernel writes its results into `out` tensors"
                                    : "give its result type: `fn name(...) -> type`");
    } else if (!valued && body.returns_value) {
        report(diagnostics::kReturnWithoutValue, node(id).span, body.name);
    }
}

void NameChecker::leave_loop(NodeId id, std::string_view word) {
    const auto& loops = bodies_.back().loops;
    if (loops.empty()) {
        report(diagnostics::kOutsideLoop, node(id).span, word);
    } else if (node(loops.back()).kind == NodeKind::StaticFor) {
        report(diagnostics::kLeavesStaticFor, node(id).span, word)
            .help("write `for`, or put the rest under `static if`")
            .note(node(loops.back()).span, "the loop begins here");
    }
}

void NameChecker::assign(NodeId id) {
    const auto parts = children(id);
    const std::string_view operation = node(id).text;
    if (parts.back() != kNoNode) expression(parts.back());
    const auto targets = parts.first(parts.size() - 1);
    const bool updates = operation != "=";
    if (updates && node(targets[0]).kind == NodeKind::Discard) {
        report(diagnostics::kUpdateTarget, node(targets[0]).span, operation).help("write `_ = value`");
    }
    for (const NodeId part : targets) {
        if (updates && node(part).kind == NodeKind::Suffixed && may_be_element(part)) {
            element_update(part, id);
        } else {
            target(part, operation);
        }
    }
}

bool NameChecker::binds_tighter(NodeId chain, std::string_view sign) const {
    const std::string_view inner = ast().operators_of(chain)[0].text;
    return (sign == "+" || sign == "-") && (inner == "*" || inner == "/" || inner == "%");
}

bool NameChecker::may_be_element(NodeId part) {
    const auto parts = children(part);
    if (node(parts.back()).kind != NodeKind::Index || node(parts[0]).kind != NodeKind::Name) return false;
    const Meaning meaning = look_up(node(parts[0]).text);
    return meaning.known && may_be_tensor(meaning.kind);
}

void NameChecker::element_update(NodeId part, NodeId assign) {
    suffixed(part, Use::Target);
    const std::string_view operation = node(assign).text;
    const std::string element = written(node(part).span);
    const NodeId value_node = children(assign).back();
    const std::string value = written(node(value_node).span);
    const std::string_view sign = operation.substr(0, operation.size() - 1);
    const bool joins = node(value_node).kind == NodeKind::Chain && !binds_tighter(value_node, sign);
    std::string help = fmt::format("write `{} = {} {} {}`", element, element, sign, joins ? "(" + value + ")" : value);
    if (operation == "+=") help += fmt::format(", or `atomic_add({}, {})`", element, value);
    report(diagnostics::kElementUpdate, node(assign).name_span, operation).help(help);
}

void NameChecker::target(NodeId part, std::string_view operation) {
    const dsl::Node& place = node(part);
    if (place.kind == NodeKind::Discard || place.kind == NodeKind::Error) return;
    const bool name_only = place.kind == NodeKind::Name;
    const dsl::Node& name = name_only ? place : node(children(part)[0]);
    if (!name_only) {
        suffixed(part, Use::Target);
        if (node(children(part).back()).kind != NodeKind::Index) {
            report(diagnostics::kUpdateTarget, place.span, operation).help("the target is a `var` or a tensor element");
            return;
        }
        if (name.kind != NodeKind::Name) return;
    }
    const Meaning meaning = name_only ? resolve(name.text, name.span) : look_up(name.text);
    if (!meaning.known || (name_only && meaning.kind == EntityKind::Var)) return;
    if (!name_only && may_be_tensor(meaning.kind)) return;
    if (!name_only && (meaning.kind == EntityKind::Module || meaning.kind == EntityKind::Kernel)) return;  // reported
    auto& diagnostic = report(name_only ? diagnostics::kFixedTarget : diagnostics::kWrittenValue, name.span, name.text,
                              describe(meaning.kind));
    if (meaning.span.end > 0) diagnostic.note(meaning.span, fmt::format("`{}` is declared here", name.text));
    if (!name_only) {
        diagnostic.help("tiles are values: build a new one, as by `select`");
    } else if (meaning.kind == EntityKind::Let) {
        diagnostic.help("declare it `var`");
    } else if (may_be_tensor(meaning.kind)) {
        diagnostic.help(fmt::format("name its elements, as in `{}[:] {} ...`", name.text, operation));
    } else if (meaning.entity != nullptr) {
        diagnostic.help("copy it into a `var` of another name");
    }
}

void NameChecker::expression_statement(NodeId id) {
    const NodeId value = children(id)[0];
    const NodeKind kind = node(value).kind;
    if (kind != NodeKind::Suffixed) {
        if (kind == NodeKind::Error) return;
        report(diagnostics::kUselessStatement, node(value).span, kind == NodeKind::Name ? "a name" : "a value");
        return;
    }
    const Meaning callee = suffixed(value, Use::Read);
    if (node(children(value).back()).kind == NodeKind::Call) {
        if (callee.known) unused_result(callee, value);
        return;
    }
    report(diagnostics::kUselessStatement, node(value).span, "a value").help("assign it, or call something");
}

void NameChecker::unused_result(const Meaning& callee, NodeId value) {
    const NodeId call = children(value).back();
    const Span name{node(value).span.source, node(value).span.begin, node(call).span.begin};
    bool has_result = true;
    if (callee.builtin != nullptr) {
        has_result = callee.builtin->kind == BuiltinKind::Value;
    } else if (callee.kind == EntityKind::Function || callee.kind == EntityKind::LocalFunction) {
        const auto parts = ast(callee.file).children_of(callee.node);
        has_result = parts[2] != kNoNode || ast(callee.file)[parts[3]].kind != NodeKind::Block;
    } else if (callee.kind == EntityKind::Let || callee.kind == EntityKind::Const ||
               callee.kind == EntityKind::FileConstant) {
        return;  // what they call, types tell
    }
    if (!has_result) return;
    report(diagnostics::kUnusedResult, node(value).span, text(name)).help("bind it with `let`, or drop it with `_ =`");
}

}  // namespace kiln::frontend
