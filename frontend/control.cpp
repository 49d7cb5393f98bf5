// Control flow: loops, branches, their static forms, and `return` inside a branch.
#include "frontend/lowering.h"
#include "ir/support/internal_error.h"

namespace kiln::frontend {

bool Lowerer::contains_return(dsl::NodeId id) const {
    switch (node(id).kind) {
        case dsl::NodeKind::Return:
            return true;
        case dsl::NodeKind::Block:
        case dsl::NodeKind::If:
        case dsl::NodeKind::StaticIf:
            for (const dsl::NodeId part : children(id)) {
                if (contains_return(part)) return true;
            }
            return false;
        default:
            return false;
    }
}

void Lowerer::collect_assigned(dsl::NodeId id, std::vector<Binding*>& found) {
    const auto add = [&](dsl::NodeId target) {
        if (node(target).kind != dsl::NodeKind::Name) return;
        Binding* variable = find(node(target).text);
        if (variable == nullptr || variable->kind != BindingKind::Variable || variable->value.poison()) return;
        if (std::find(found.begin(), found.end(), variable) == found.end()) found.push_back(variable);
    };
    const std::span<const dsl::NodeId> parts = children(id);
    switch (node(id).kind) {
        case dsl::NodeKind::Assign:
            for (const dsl::NodeId target : parts.first(parts.size() - 1)) add(target);
            return;
        case dsl::NodeKind::Block:
        case dsl::NodeKind::If:
        case dsl::NodeKind::StaticIf:
        case dsl::NodeKind::For:
        case dsl::NodeKind::StaticFor:
        case dsl::NodeKind::While:
            for (const dsl::NodeId part : parts) collect_assigned(part, found);
            return;
        default:
            return;
    }
}

std::vector<Binding*> Lowerer::assigned_variables(std::span<const dsl::NodeId> blocks) {
    std::vector<Binding*> found;
    for (const dsl::NodeId part : blocks) collect_assigned(part, found);
    return found;
}

void Lowerer::flatten(const Value& value, std::vector<ir::ValueId>& ids) const {
    if (value.is_runtime()) ids.push_back(value.id);
    for (const Value& part : value.parts) flatten(part, ids);
}

Value Lowerer::rebuild(const Value& like, std::span<const ir::ValueId>& ids) const {
    if (like.kind == ValueKind::Tuple) {
        std::vector<Value> parts;
        for (const Value& part : like.parts) parts.push_back(rebuild(part, ids));
        return Value::tuple(std::move(parts));
    }
    if (!like.is_runtime()) return like;
    const ir::ValueId id = ids.front();
    ids = ids.subspan(1);
    return Value::runtime(id);
}

std::vector<ir::ValueId> Lowerer::current(const std::vector<Binding*>& variables) const {
    std::vector<ir::ValueId> ids;
    for (const Binding* variable : variables) flatten(variable->value, ids);
    return ids;
}

void Lowerer::set_current(const std::vector<Binding*>& variables, std::span<const ir::ValueId> ids) {
    for (Binding* variable : variables) {
        variable->value = rebuild(variable->value, ids);
        name_value(variable->value, variable->name);
    }
}

std::vector<ir::Type> Lowerer::types_of(const std::vector<ir::ValueId>& ids) const {
    std::vector<ir::Type> types;
    for (const ir::ValueId id : ids) types.push_back(builder_.kernel().type(id));
    return types;
}

void Lowerer::flatten_type(const SurfaceType& type, std::vector<ir::Type>& types) const {
    if (type.form == TypeForm::Data) {
        types.push_back(lift_ == nullptr ? type.data : ir::Type::tile(type.data.element, lift_->shape));
    }
    if (type.form != TypeForm::Tuple) return;
    for (const SurfaceType& part : type.parts) flatten_type(part, types);
}

Value Lowerer::rebuild_type(const SurfaceType& type, std::span<const ir::ValueId>& ids) const {
    if (type.form == TypeForm::Tuple) {
        std::vector<Value> parts;
        for (const SurfaceType& part : type.parts) parts.push_back(rebuild_type(part, ids));
        return Value::tuple(std::move(parts));
    }
    if (type.form != TypeForm::Data) return {};
    const ir::ValueId id = ids.front();
    ids = ids.subspan(1);
    return Value::runtime(id);
}

std::optional<ir::ValueId> Lowerer::condition(dsl::NodeId id) {
    return condition_value(expression(id), span(id));
}

std::optional<ir::ValueId> Lowerer::condition_value(const Value& value, support::Span at) {
    if (value.poison()) return std::nullopt;
    const bool data = value.is_constant() || value.is_runtime();
    if (!data || element(value) != ir::ScalarType::Bool) {
        error(diagnostics::kConditionType, at, type_text(value));
        return std::nullopt;
    }
    if (value.is_runtime() && type(value).is_tile()) {
        if (refuse_lifted("`if` and `while` on a value of each element", at)) return std::nullopt;
        error(diagnostics::kTileDecides, at).help("use `any`, `all` or `select`, or a scalar `fn`");
        return std::nullopt;
    }
    return materialise(value, at).id;
}

std::optional<Lowerer::LoopRange> Lowerer::loop_range(dsl::NodeId range) {
    const std::optional<ir::ValueId> lower = index_value(child(range, 0)), upper = index_value(child(range, 1));
    if (child(range, 2) == dsl::kNoNode) {
        if (!lower || !upper) return std::nullopt;
        return LoopRange{*lower, *upper, builder_.constant_int(1)};
    }
    const dsl::NodeId by = child(range, 2);
    const Value value = expression(by);
    const std::optional<ir::ValueId> step = index_value(value, span(by));
    if (!lower || !upper || !step) return std::nullopt;
    if (value.is_constant() && value.constant.scalar.as_int64() < 1) {
        error(diagnostics::kStep, span(by), value.constant.scalar.as_int64());
        return std::nullopt;
    }
    return LoopRange{*lower, *upper, *step};
}

void Lowerer::for_statement(dsl::NodeId id) {
    const dsl::NodeId body = child(id, 1);
    const std::optional<LoopRange> range = loop_range(child(id, 0));
    if (!range) return;
    const std::vector<Binding*> carried = assigned_variables({&body, 1});
    builder_.set_span(node(id).name_span);
    const ir::OpId loop = builder_.for_loop(range->lower, range->upper, range->step, current(carried));
    const ir::BlockId inside = builder_.kernel()[loop].blocks[0], outside = builder_.block();
    const std::vector<ir::ValueId> arguments = builder_.kernel()[inside].arguments;
    set_current(carried, std::span(arguments).subspan(1));
    builder_.set_block(inside);
    Binding* const outer = scope_;
    const Value index = Value::runtime(arguments[0]);
    name_value(index, node(id).text);
    declare(node(id).text, index, node(id).name_span);
    ++frame_->loops;
    block(body);
    --frame_->loops;
    scope_ = outer;
    builder_.yield(current(carried));
    builder_.set_block(outside);
    const std::vector<ir::ValueId> results = builder_.kernel()[loop].results;
    set_current(carried, results);
}

void Lowerer::while_statement(dsl::NodeId id) {
    const dsl::NodeId body = child(id, 1);
    const std::vector<Binding*> carried = assigned_variables({&body, 1});
    const ir::OpId loop = builder_.while_loop(current(carried));
    const std::vector<ir::BlockId> blocks = builder_.kernel()[loop].blocks;
    const ir::BlockId outside = builder_.block();
    const auto enter = [&](ir::BlockId inside) {
        const std::vector<ir::ValueId> arguments = builder_.kernel()[inside].arguments;
        set_current(carried, arguments);
        builder_.set_block(inside);
    };
    enter(blocks[0]);
    const std::optional<ir::ValueId> test = condition(child(id, 0));
    std::vector<ir::ValueId> yielded = current(carried);
    yielded.insert(yielded.begin(), test ? *test : builder_.constant(ir::Scalar::boolean(false)));
    builder_.yield(std::move(yielded));
    enter(blocks[1]);
    ++frame_->loops;
    block(body);
    --frame_->loops;
    builder_.yield(current(carried));
    builder_.set_block(outside);
    const std::vector<ir::ValueId> results = builder_.kernel()[loop].results;
    set_current(carried, results);
}

namespace {

/// Branches nest in the IR, so that a chain has to end somewhere.
constexpr std::size_t kMostBranches = 128;

}  // namespace

bool Lowerer::check_branches(std::span<const dsl::NodeId> parts) {
    if (parts.size() <= 2 * kMostBranches) return true;
    unsupported(fmt::format("a chain of more than {} branches", kMostBranches), span(parts[2 * kMostBranches]));
    return false;
}

void Lowerer::if_statement(dsl::NodeId id) {
    const std::span<const dsl::NodeId> parts = children(id);
    if (check_branches(parts)) if_branches(parts, assigned_variables(parts));
}

void Lowerer::if_branches(std::span<const dsl::NodeId> parts, const std::vector<Binding*>& carried) {
    const std::optional<ir::ValueId> test = condition(parts[0]);
    const std::vector<ir::ValueId> before = current(carried);
    builder_.set_span(span(parts[0]));
    const ir::OpId branch =
        builder_.if_else(test ? *test : builder_.constant(ir::Scalar::boolean(true)), types_of(before));
    const std::vector<ir::BlockId> blocks = builder_.kernel()[branch].blocks;
    const ir::BlockId outside = builder_.block();
    builder_.set_block(blocks[0]);
    block(parts[1]);
    builder_.yield(current(carried));
    set_current(carried, before);
    builder_.set_block(blocks[1]);
    if (parts.size() == 3) block(parts[2]);
    if (parts.size() > 3) if_branches(parts.subspan(2), carried);
    builder_.yield(current(carried));
    builder_.set_block(outside);
    const std::vector<ir::ValueId> results = builder_.kernel()[branch].results;
    set_current(carried, results);
}

std::vector<ir::ValueId> Lowerer::take_returned(support::Span at) {
    std::vector<ir::ValueId> ids;
    if (frame_->result && !frame_->terminated) {
        error(diagnostics::kReturnWithoutValue, at, frame_->name);
    }
    flatten(frame_->value, ids);
    frame_->value = Value::none();
    frame_->terminated = false;
    return ids;
}

void Lowerer::if_with_return(std::span<const dsl::NodeId> parts, const Continuation& rest) {
    frame_->terminated = true;
    if (!check_branches(parts)) return;
    frame_->terminated = false;
    const std::optional<ir::ValueId> test = condition(parts[0]);
    std::vector<std::pair<Binding*, Value>> before;
    for (Binding* binding = scope_; binding != nullptr; binding = binding->outer) {
        if (binding->kind == BindingKind::Variable) before.push_back({binding, binding->value});
    }
    std::vector<ir::Type> types;
    if (frame_->result) flatten_type(*frame_->result, types);
    builder_.set_span(span(parts[0]));
    const ir::OpId branch = builder_.if_else(test ? *test : builder_.constant(ir::Scalar::boolean(true)), types);
    const std::vector<ir::BlockId> blocks = builder_.kernel()[branch].blocks;
    const ir::BlockId outside = builder_.block();
    Binding* const scope = scope_;
    builder_.set_block(blocks[0]);
    block(parts[1], &rest);
    builder_.yield(take_returned(span(parts[1])));
    for (auto& [binding, value] : before) binding->value = value;
    scope_ = scope;
    builder_.set_block(blocks[1]);
    if (parts.size() == 2) follow(&rest);
    if (parts.size() == 3) block(parts[2], &rest);
    if (parts.size() > 3) if_with_return(parts.subspan(2), rest);
    builder_.yield(take_returned(span(parts[0])));
    builder_.set_block(outside);
    const std::vector<ir::ValueId> results = builder_.kernel()[branch].results;
    std::span<const ir::ValueId> ids(results);
    if (frame_->result) frame_->value = rebuild_type(*frame_->result, ids);
    frame_->terminated = true;
}

void Lowerer::static_if(dsl::NodeId id, const Continuation* rest) {
    const std::span<const dsl::NodeId> parts = children(id);
    for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
        const std::optional<bool> test = constant_bool(parts[i], "the condition of `static if`");
        if (!test) return follow(rest);
        if (*test) return block(parts[i + 1], rest);
    }
    if (parts.size() % 2 == 1) return block(parts.back(), rest);
    follow(rest);
}

void Lowerer::static_for(dsl::NodeId id) {
    const dsl::Node& loop = node(id);
    const dsl::NodeId range = child(id, 0), by = child(range, 2);
    const auto lower = constant_int(child(range, 0), "a bound of `static for`");
    const auto upper = constant_int(child(range, 1), "a bound of `static for`");
    const auto step =
        by == dsl::kNoNode ? std::optional<std::int64_t>(1) : constant_int(by, "the step of `static for`");
    if (!lower || !upper || !step) return;
    if (*step < 1) {
        error(diagnostics::kStep, span(by), *step);
        return;
    }
    ++frame_->loops;
    for (std::int64_t i = *lower; i < *upper; i += *step) {
        if (!spend(loop.name_span)) break;
        Binding* const outer = scope_;
        declare(loop.text, Value::typed(ir::Scalar::int64(i)), loop.name_span);
        block(child(id, 1));
        scope_ = outer;
        if (*step > *upper - i) break;
    }
    --frame_->loops;
}

void Lowerer::static_assert_statement(dsl::NodeId id) {
    const dsl::NodeId condition_node = child(id, 0);
    const std::optional<bool> holds = constant_bool(child(condition_node, 0), "the condition of `static assert`");
    if (!holds || *holds || checking_) return;
    error(diagnostics::kStaticAssert, span(child(condition_node, 0)),
          formatted(message_of(condition_node, "static assert")));
}

}  // namespace kiln::frontend
