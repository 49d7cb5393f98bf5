// Statements. A `var` is a name whose value changes: loops and branches carry the values of the variables that their
// blocks assign.
#include "frontend/lowering.h"
#include "ir/support/internal_error.h"

namespace kiln::frontend {

void Lowerer::block(dsl::NodeId id, const Continuation* next) {
    Binding* const outer = scope_;
    statements(children(id), next);
    scope_ = outer;
}

void Lowerer::statements(std::span<const dsl::NodeId> list, const Continuation* next) {
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (may_leave(list[i]) && !leaves(node(list[i]).kind)) {
            const Continuation rest{list.subspan(i + 1), scope_, next};
            if (node(list[i]).kind == dsl::NodeKind::StaticIf) return static_if(list[i], &rest);
            return leaving_if(children(list[i]), rest);
        }
        statement(list[i]);
        if (has_left()) return;
    }
    follow(next);
}

void Lowerer::follow(const Continuation* next) {
    if (next == nullptr) return;
    scope_ = next->scope;
    statements(next->statements, next->next);
}

void Lowerer::statement(dsl::NodeId id) {
    if (!spend(span(id))) return;
    builder_.set_span(span(id));
    switch (node(id).kind) {
        case dsl::NodeKind::Let:
            return let_statement(id, BindingKind::Fixed);
        case dsl::NodeKind::Var:
            return let_statement(id, BindingKind::Variable);
        case dsl::NodeKind::Constant:
            return constant_statement(id);
        case dsl::NodeKind::Function:
            return local_function(id);
        case dsl::NodeKind::For:
            return for_statement(id);
        case dsl::NodeKind::While:
            return while_statement(id);
        case dsl::NodeKind::If:
            return if_statement(id);
        case dsl::NodeKind::StaticIf:
            return static_if(id, nullptr);
        case dsl::NodeKind::StaticFor:
            return static_for(id);
        case dsl::NodeKind::StaticAssert:
            return static_assert_statement(id);
        case dsl::NodeKind::Return:
            return return_statement(id);
        case dsl::NodeKind::Assign:
            return assign_statement(id);
        case dsl::NodeKind::ExpressionStatement:
            return expression_statement(id);
        case dsl::NodeKind::Break:
        case dsl::NodeKind::Continue:
            return leave_loop(id);
        case dsl::NodeKind::Error:
            return;
        default:
            throw support::InternalError("frontend::statement", "a node that is no statement: " + text(id));
    }
}

bool Lowerer::spend(support::Span at) {
    constexpr std::size_t kMostSteps = 1'000'000;
    if (++steps_ <= kMostSteps) return true;
    const bool first = steps_ == kMostSteps + 1;
    if (first) error(diagnostics::kTooMuch, at).help("unroll less, or call fewer functions");
    return false;
}

void Lowerer::let_statement(dsl::NodeId id, BindingKind kind) {
    const dsl::NodeId binding = child(id, 0), initial = child(id, 1), type = child(binding, 0);
    Value value = expression(initial);
    const bool data = value.is_constant() || value.is_runtime() || value.kind == ValueKind::Tuple;
    const bool view = kind == BindingKind::Fixed && value.kind == ValueKind::Tensor;
    if (!data && !view && !value.poison()) {
        error(diagnostics::kOperandClass, span(initial), kind == BindingKind::Fixed ? "`let`" : "`var`",
              "scalars, tiles and tuples", type_text(value));
        value = {};
    }
    if (type != dsl::kNoNode) {
        const std::string what = fmt::format("`{}`", node(child(binding, 1)).text);
        value = coerce(value, type_of(type), true, span(initial), what);
    }
    builder_.set_span(span(initial));
    value = materialise(value, span(initial));
    value.zero_outside = value.may_drop = false;
    // Each element of a lifted call may get a value of its own later.
    if (kind == BindingKind::Variable && lift_ != nullptr) value = broadcast_parts(value, lift_->shape, span(initial));
    bind_slots(binding, value, span(initial), kind);
}

void Lowerer::bind_slots(dsl::NodeId binding, const Value& value, support::Span value_span, BindingKind kind) {
    const std::span<const dsl::NodeId> slots = children(binding).subspan(1);
    const auto bind = [&](dsl::NodeId slot, const Value& part) {
        if (node(slot).kind == dsl::NodeKind::Discard) return;
        name_value(part, node(slot).text);
        declare(node(slot).text, part, span(slot), kind);
    };
    if (slots.size() == 1) return bind(slots[0], value);
    const bool fits = value.kind == ValueKind::Tuple && value.parts.size() == slots.size();
    if (!fits && !value.poison()) error(diagnostics::kTupleParts, value_span, slots.size(), type_text(value));
    for (std::size_t i = 0; i < slots.size(); ++i) bind(slots[i], fits ? value.parts[i] : Value{});
}

void Lowerer::name_value(const Value& value, std::string_view name) {
    if (!value.is_runtime()) return;
    ir::Value& named = builder_.kernel()[value.id];
    if (named.name.empty()) named.name = name;
}

void Lowerer::constant_statement(dsl::NodeId id) {
    const dsl::Node& constant = node(id);
    Value value = compile_time(child(id, 1), child(id, 0), fmt::format("`{}`", constant.text));
    declare(constant.text, std::move(value), constant.name_span);
}

void Lowerer::local_function(dsl::NodeId id) {
    declare(node(id).text, Value::of(FunctionValue{file_, id, scope_}), node(id).name_span);
}

void Lowerer::assign_statement(dsl::NodeId id) {
    const std::span<const dsl::NodeId> parts = children(id);
    const dsl::NodeId given = parts.back();
    if (node(id).text != "=") return update(parts[0], node(id), given);
    const Value value = expression(given);
    if (parts.size() == 2) return assign(parts[0], value, span(given));
    const std::size_t targets = parts.size() - 1;
    if (value.poison()) return;
    if (value.kind != ValueKind::Tuple || value.parts.size() != targets) {
        error(diagnostics::kTupleParts, span(given), targets, type_text(value));
        return;
    }
    for (std::size_t i = 0; i < targets; ++i) assign(parts[i], value.parts[i], span(given));
}

void Lowerer::assign(dsl::NodeId target, const Value& value, support::Span value_span) {
    switch (node(target).kind) {
        case dsl::NodeKind::Discard:
            return;
        case dsl::NodeKind::Name: {
            Binding* variable = find(node(target).text);
            if (variable != nullptr && variable->kind == BindingKind::Variable) {
                return assign_variable(*variable, value, span(target), value_span);
            }
            break;
        }
        case dsl::NodeKind::Suffixed: {
            const dsl::NodeId list = children(target).back();
            if (node(list).kind != dsl::NodeKind::Index) break;
            const Value place = suffixed(target, children(target).size() - 1);
            if (place.poison()) return;
            if (place.kind == ValueKind::Tensor) {
                return store(*place.tensor, list, value, value_span, span(target));
            }
            error(diagnostics::kWrittenValue, span(target), source_text(span(child(target, 0))), type_text(place))
                .help("build a new tile, as by `select`");
            return;
        }
        default:
            break;
    }
    error(diagnostics::kFixedTarget, span(target), text(target), "no `var`");
}

namespace {

/// `a op= b` without the `=`.
std::string_view operation_of(std::string_view assign) {
    return assign.substr(0, assign.size() - 1);
}

}  // namespace

void Lowerer::update(dsl::NodeId target, const dsl::Node& statement, dsl::NodeId given) {
    const std::string_view operation = operation_of(statement.text);
    if (node(target).kind == dsl::NodeKind::Suffixed) {
        const std::string place = text(target);
        std::string hint = fmt::format("write `{} = {} {} {}`", place, place, operation, text(given));
        if (operation == "+") hint += fmt::format(", or `atomic_add({}, {})`", place, text(given));
        error(diagnostics::kElementUpdate, span(target), statement.text).help(hint);
        return;
    }
    Binding* variable = find(node(target).text);
    if (variable == nullptr || variable->kind != BindingKind::Variable) {
        error(diagnostics::kFixedTarget, span(target), text(target), "no `var`");
        return;
    }
    const Operand right{expression(given), span(given)};
    const Value value = binary(operation, {variable->value, span(target)}, right, statement.name_span);
    assign_variable(*variable, value, span(target), span(given));
}

void Lowerer::assign_variable(Binding& variable, const Value& value, support::Span target, support::Span value_span) {
    if (value.poison() || variable.value.poison()) return;
    const SurfaceType wanted = surface_type(variable.value);
    if (value.is_runtime() && wanted.form == TypeForm::Data && element(value) == wanted.data.element &&
        !broadcasts_to(shape(value), wanted.data.shape)) {
        error(diagnostics::kVariableShape, target, variable.name, type_text(wanted), type_text(value))
            .help("give its shape where it is declared")
            .note(variable.span, "declared here");
        return;
    }
    builder_.set_span(value_span);
    Value stored = coerce(value, wanted, true, value_span, fmt::format("`{}`", variable.name));
    stored = materialise(stored, value_span);
    if (stored.poison()) return;
    if (lift_ != nullptr) stored = broadcast_parts(stored, lift_->shape, value_span);
    stored.zero_outside = false;
    name_value(stored, variable.name);
    variable.value = std::move(stored);
}

void Lowerer::expression_statement(dsl::NodeId id) {
    const Value value = expression(child(id, 0));
    if (value.kind == ValueKind::None || value.poison() || value.may_drop) return;
    error(diagnostics::kUnusedResult, span(id), text(id));
}

void Lowerer::return_statement(dsl::NodeId id) {
    frame_->terminated = true;
    const dsl::NodeId given = children(id).empty() ? dsl::kNoNode : child(id, 0);
    if (given == dsl::kNoNode) {
        if (frame_->result) error(diagnostics::kReturnWithoutValue, span(id), frame_->name);
        if (frame_->result) frame_->value = {};
        return;
    }
    const Value value = expression(given);
    if (!frame_->result) {
        error(diagnostics::kReturnWithValue, span(given), frame_->name).help("declare the result with `-> T`");
        return;
    }
    frame_->value = returned(value, span(given));
}

Value Lowerer::returned(const Value& value, support::Span at) {
    const std::string what = fmt::format("the result of `{}`", frame_->name);
    builder_.set_span(at);
    Value result = materialise(coerce(value, *frame_->result, false, at, what), at);
    return lift_ == nullptr ? result : broadcast_parts(result, lift_->shape, at);
}

}  // namespace kiln::frontend
