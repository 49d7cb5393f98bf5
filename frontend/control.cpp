// Control flow: loops, branches, their static forms, and `return`, `break` and `continue` inside a branch.
//
// Blocks of the IR are straight lists. A branch that may leave the function or the round of a loop takes what follows
// it into its own blocks (Continuation). In a lifted call, where a condition may differ from element to element, both
// sides are lowered one after the other and selected from; a loop goes on while any element does.
#include "frontend/lowering.h"
#include "ir/support/internal_error.h"

namespace kiln::frontend {

bool Lowerer::leaves(dsl::NodeKind kind) {
    return kind == dsl::NodeKind::Return || kind == dsl::NodeKind::Break || kind == dsl::NodeKind::Continue;
}

bool Lowerer::may_leave(dsl::NodeId id) const {
    const dsl::NodeKind kind = node(id).kind;
    if (leaves(kind)) return true;
    if (kind != dsl::NodeKind::Block && kind != dsl::NodeKind::If && kind != dsl::NodeKind::StaticIf) return false;
    const std::span<const dsl::NodeId> parts = children(id);
    return std::any_of(parts.begin(), parts.end(), [this](dsl::NodeId part) { return may_leave(part); });
}

bool Lowerer::may_break(dsl::NodeId id) const {
    const dsl::NodeKind kind = node(id).kind;
    if (kind == dsl::NodeKind::Break) return true;
    if (kind != dsl::NodeKind::Block && kind != dsl::NodeKind::If && kind != dsl::NodeKind::StaticIf) return false;
    const std::span<const dsl::NodeId> parts = children(id);
    return std::any_of(parts.begin(), parts.end(), [this](dsl::NodeId part) { return may_break(part); });
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
        if (lift_ != nullptr) return value.id;
        error(diagnostics::kTileDecides, at).help("use `any`, `all` or `select`, or a scalar `fn`");
        return std::nullopt;
    }
    return materialise(value, at).id;
}

std::optional<ir::ValueId> Lowerer::loop_bound(const Value& value, support::Span at) {
    return lift_ == nullptr ? index_value(value, at) : as_int(value, at);
}

std::optional<Lowerer::LoopRange> Lowerer::loop_range(dsl::NodeId range) {
    const auto bound = [&](dsl::NodeId id) { return loop_bound(expression(id), span(id)); };
    const std::optional<ir::ValueId> lower = bound(child(range, 0)), upper = bound(child(range, 1));
    if (child(range, 2) == dsl::kNoNode) {
        if (!lower || !upper) return std::nullopt;
        return LoopRange{*lower, *upper, builder_.constant_int(1)};
    }
    const dsl::NodeId by = child(range, 2);
    const Value value = expression(by);
    const std::optional<ir::ValueId> step = loop_bound(value, span(by));
    if (!lower || !upper || !step) return std::nullopt;
    if (value.is_constant() && value.constant.scalar.as_int64() < 1) {
        error(diagnostics::kStep, span(by), value.constant.scalar.as_int64());
        return std::nullopt;
    }
    return LoopRange{*lower, *upper, *step};
}

void Lowerer::loop_body(dsl::NodeId body, Loop& loop) {
    Loop* const outer = loop_;
    loop_ = &loop;
    block(body);
    loop_ = outer;
}

void Lowerer::for_statement(dsl::NodeId id) {
    const dsl::NodeId body = child(id, 1);
    const std::optional<LoopRange> range = loop_range(child(id, 0));
    if (!range) return;
    const auto is_tile = [&](ir::ValueId value) { return builder_.kernel().type(value).is_tile(); };
    const bool differs = is_tile(range->lower) || is_tile(range->upper) || is_tile(range->step);
    if (differs || may_break(body)) return flagged_loop(id, range);
    Loop state{assigned_variables({&body, 1})};
    builder_.set_span(node(id).name_span);
    const ir::OpId loop = builder_.for_loop(range->lower, range->upper, range->step, current(state.carried));
    const ir::BlockId inside = builder_.kernel()[loop].blocks[0], outside = builder_.block();
    const std::vector<ir::ValueId> arguments = builder_.kernel()[inside].arguments;
    set_current(state.carried, std::span(arguments).subspan(1));
    builder_.set_block(inside);
    Binding* const outer = scope_;
    const Value index = Value::runtime(arguments[0]);
    name_value(index, node(id).text);
    declare(node(id).text, index, node(id).name_span);
    loop_body(body, state);
    scope_ = outer;
    builder_.yield(current(state.carried));
    builder_.set_block(outside);
    const std::vector<ir::ValueId> results = builder_.kernel()[loop].results;
    set_current(state.carried, results);
}

void Lowerer::while_statement(dsl::NodeId id) {
    const dsl::NodeId body = child(id, 1);
    if (lift_ != nullptr || may_break(body)) return flagged_loop(id, std::nullopt);
    Loop state{assigned_variables({&body, 1})};
    const ir::OpId loop = builder_.while_loop(current(state.carried));
    const std::vector<ir::BlockId> blocks = builder_.kernel()[loop].blocks;
    const ir::BlockId outside = builder_.block();
    const auto enter = [&](ir::BlockId inside) {
        const std::vector<ir::ValueId> arguments = builder_.kernel()[inside].arguments;
        set_current(state.carried, arguments);
        builder_.set_block(inside);
    };
    enter(blocks[0]);
    const std::optional<ir::ValueId> test = condition(child(id, 0));
    std::vector<ir::ValueId> yielded = current(state.carried);
    yielded.insert(yielded.begin(), test ? *test : builder_.constant(ir::Scalar::boolean(false)));
    builder_.yield(std::move(yielded));
    enter(blocks[1]);
    loop_body(body, state);
    builder_.yield(current(state.carried));
    builder_.set_block(outside);
    const std::vector<ir::ValueId> results = builder_.kernel()[loop].results;
    set_current(state.carried, results);
}

/// In a lifted call, a tile of its shape.
ir::ValueId Lowerer::spread(ir::ValueId value) {
    return lift_ == nullptr ? value : builder_.broadcast(value, lift_->shape);
}

ir::ValueId Lowerer::spread_op(ir::OpKind kind, ir::ValueId a, ir::ValueId b) {
    return builder_.elementwise(kind, {spread(a), spread(b)});
}

/// Whether another round of a For follows that of `index`: the distance to the bound is taken unsigned, so that it
/// cannot overflow.
ir::ValueId Lowerer::counts_on(const LoopRange& range, ir::ValueId index) {
    const ir::ValueId left = spread_op(ir::OpKind::Sub, range.upper, index);
    const auto bits = [&](ir::ValueId value) {
        return builder_.convert(ir::OpKind::Bitcast, value, ir::ScalarType::U64);
    };
    return spread_op(ir::OpKind::Greater, bits(left), bits(range.step));
}

/// The values that a flagged loop carries: whether it goes on, the index of a For, the variables.
struct Lowerer::FlaggedLoop {
    std::vector<Binding*> variables;
    bool counts = false;

    ir::ValueId live(std::span<const ir::ValueId> values) const { return values[0]; }
    ir::ValueId index(std::span<const ir::ValueId> values) const { return values[1]; }
    std::span<const ir::ValueId> rest(std::span<const ir::ValueId> values) const {
        return values.subspan(counts ? 2 : 1);
    }
};

void Lowerer::flagged_loop(dsl::NodeId id, const std::optional<LoopRange>& range) {
    const dsl::NodeId body = child(id, 1);
    const FlaggedLoop form{assigned_variables({&body, 1}), range.has_value()};
    builder_.set_span(range ? node(id).name_span : span(child(id, 0)));
    ir::ValueId live = spread(builder_.constant(ir::Scalar::boolean(true)));
    if (range) {
        const ir::ValueId some = spread_op(ir::OpKind::Less, range->lower, range->upper);
        live = spread_op(ir::OpKind::LogicalAnd, some,
                         spread_op(ir::OpKind::Greater, range->step, builder_.constant_int(0)));
    }
    if (active_) live = spread_op(ir::OpKind::LogicalAnd, live, *active_);
    std::vector<ir::ValueId> initial{live};
    if (range) initial.push_back(spread(range->lower));
    for (const ir::ValueId value : current(form.variables)) initial.push_back(value);
    const ir::OpId loop = builder_.while_loop(std::move(initial));
    const std::vector<ir::BlockId> blocks = builder_.kernel()[loop].blocks;
    const ir::BlockId outside = builder_.block();
    flagged_condition(id, form, blocks[0]);
    flagged_round(id, form, range, blocks[1]);
    builder_.set_block(outside);
    const std::vector<ir::ValueId> results = builder_.kernel()[loop].results;
    set_current(form.variables, form.rest(results));
}

void Lowerer::flagged_condition(dsl::NodeId id, const FlaggedLoop& form, ir::BlockId inside) {
    std::vector<ir::ValueId> values = builder_.kernel()[inside].arguments;
    builder_.set_block(inside);
    set_current(form.variables, form.rest(values));
    if (!form.counts) {
        const std::optional<ir::ValueId> test = condition(child(id, 0));
        if (test) values[0] = spread_op(ir::OpKind::LogicalAnd, values[0], *test);
    }
    ir::ValueId any = values[0];
    if (lift_ != nullptr) {
        const ir::Shape flat{lift_->shape.count()};
        any = builder_.reduce(ir::ReduceKind::Any, builder_.reshape(values[0], flat), 0);
    }
    values.insert(values.begin(), any);
    builder_.yield(std::move(values));
}

void Lowerer::flagged_round(dsl::NodeId id, const FlaggedLoop& form, const std::optional<LoopRange>& range,
                            ir::BlockId inside) {
    const std::vector<ir::ValueId> arguments = builder_.kernel()[inside].arguments;
    const ir::ValueId live = form.live(arguments);
    builder_.set_block(inside);
    set_current(form.variables, form.rest(arguments));
    Binding* const outer = scope_;
    const std::optional<ir::ValueId> active = active_;
    if (lift_ != nullptr) active_ = live;
    if (range) {
        const Value index = Value::runtime(form.index(arguments));
        name_value(index, node(id).text);
        declare(node(id).text, index, node(id).name_span);
    }
    Loop state{form.variables, spread(builder_.constant(ir::Scalar::boolean(false)))};
    loop_body(child(id, 1), state);
    active_ = active;
    scope_ = outer;
    const ir::ValueId stays = builder_.elementwise(ir::OpKind::LogicalNot, {*state.left});
    std::vector<ir::ValueId> next{spread_op(ir::OpKind::LogicalAnd, live, stays)};
    if (range) {
        next[0] = spread_op(ir::OpKind::LogicalAnd, next[0], counts_on(*range, form.index(arguments)));
        next.push_back(spread_op(ir::OpKind::Add, form.index(arguments), range->step));
    }
    const std::vector<ir::ValueId> after = current(form.variables);
    for (std::size_t i = 0; i < after.size(); ++i) {
        const ir::ValueId before = form.rest(arguments)[i];
        next.push_back(lift_ == nullptr ? after[i]
                                        : builder_.elementwise(ir::OpKind::Select, {live, after[i], before}));
    }
    builder_.yield(std::move(next));
}

void Lowerer::leave_loop(dsl::NodeId id) {
    if (loop_ == nullptr) throw support::InternalError("frontend::leave_loop", "`" + text(id) + "` in no loop");
    if (node(id).kind == dsl::NodeKind::Break) loop_->left = spread(builder_.constant(ir::Scalar::boolean(true)));
    loop_->ended = true;
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

template <class Then, class Otherwise>
std::vector<ir::ValueId> Lowerer::select_branches(ir::ValueId test, Then then, Otherwise otherwise) {
    const std::optional<ir::ValueId> around = active_;
    const auto within = [&](ir::ValueId taken) {
        return around ? spread_op(ir::OpKind::LogicalAnd, *around, taken) : taken;
    };
    active_ = within(test);
    const std::vector<ir::ValueId> first = then();
    active_ = within(builder_.elementwise(ir::OpKind::LogicalNot, {test}));
    const std::vector<ir::ValueId> second = otherwise();
    active_ = around;
    std::vector<ir::ValueId> selected;
    if (first.size() != second.size()) return selected;  // after an error
    for (std::size_t i = 0; i < first.size(); ++i) {
        selected.push_back(builder_.elementwise(ir::OpKind::Select, {test, spread(first[i]), spread(second[i])}));
    }
    return selected;
}

void Lowerer::if_branches(std::span<const dsl::NodeId> parts, const std::vector<Binding*>& carried) {
    const std::optional<ir::ValueId> test = condition(parts[0]);
    const std::vector<ir::ValueId> before = current(carried);
    const auto then = [&] {
        block(parts[1]);
        return current(carried);
    };
    const auto otherwise = [&] {
        set_current(carried, before);
        if (parts.size() == 3) block(parts[2]);
        if (parts.size() > 3) if_branches(parts.subspan(2), carried);
        return current(carried);
    };
    builder_.set_span(span(parts[0]));
    if (test && builder_.kernel().type(*test).is_tile()) {
        return set_current(carried, select_branches(spread(*test), then, otherwise));
    }
    const ir::OpId branch =
        builder_.if_else(test ? *test : builder_.constant(ir::Scalar::boolean(true)), types_of(before));
    const std::vector<ir::BlockId> blocks = builder_.kernel()[branch].blocks;
    const ir::BlockId outside = builder_.block();
    builder_.set_block(blocks[0]);
    builder_.yield(then());
    builder_.set_block(blocks[1]);
    builder_.yield(otherwise());
    builder_.set_block(outside);
    const std::vector<ir::ValueId> results = builder_.kernel()[branch].results;
    set_current(carried, results);
}

std::vector<ir::Type> Lowerer::leaving_types() const {
    std::vector<ir::Type> types;
    if (loop_ == nullptr) {
        if (frame_->result) flatten_type(*frame_->result, types);
        return types;
    }
    if (loop_->left) types.push_back(builder_.kernel().type(*loop_->left));
    for (const ir::Type& type : types_of(current(loop_->carried))) types.push_back(type);
    return types;
}

std::vector<ir::ValueId> Lowerer::take_leaving(support::Span at) {
    if (loop_ == nullptr) return take_returned(at);
    std::vector<ir::ValueId> ids = current(loop_->carried);
    if (loop_->left) ids.insert(ids.begin(), *loop_->left);
    loop_->ended = false;
    return ids;
}

void Lowerer::set_leaving(std::span<const ir::ValueId> ids) {
    if (loop_ == nullptr) {
        if (frame_->result) frame_->value = rebuild_type(*frame_->result, ids);
        frame_->terminated = true;
        return;
    }
    if (loop_->left) {
        loop_->left = ids.front();
        ids = ids.subspan(1);
    }
    set_current(loop_->carried, ids);
    loop_->ended = true;
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

void Lowerer::leaving_if(std::span<const dsl::NodeId> parts, const Continuation& rest) {
    if (!check_branches(parts)) {
        (loop_ != nullptr ? loop_->ended : frame_->terminated) = true;
        return;
    }
    const std::optional<ir::ValueId> test = condition(parts[0]);
    std::vector<std::pair<Binding*, Value>> before;
    for (Binding* binding = scope_; binding != nullptr; binding = binding->outer) {
        if (binding->kind == BindingKind::Variable) before.push_back({binding, binding->value});
    }
    const std::optional<ir::ValueId> left = loop_ != nullptr ? loop_->left : std::nullopt;
    Binding* const scope = scope_;
    const auto then = [&] {
        block(parts[1], &rest);
        return take_leaving(span(parts[1]));
    };
    const auto otherwise = [&] {
        for (auto& [binding, value] : before) binding->value = value;
        if (loop_ != nullptr) loop_->left = left;
        scope_ = scope;
        if (parts.size() == 2) follow(&rest);
        if (parts.size() == 3) block(parts[2], &rest);
        if (parts.size() > 3) leaving_if(parts.subspan(2), rest);
        return take_leaving(span(parts[0]));
    };
    builder_.set_span(span(parts[0]));
    if (test && builder_.kernel().type(*test).is_tile()) {
        const std::vector<ir::ValueId> selected = select_branches(spread(*test), then, otherwise);
        if (selected.size() == leaving_types().size()) return set_leaving(selected);
        (loop_ != nullptr ? loop_->ended : frame_->terminated) = true;
        return;
    }
    const ir::OpId branch =
        builder_.if_else(test ? *test : builder_.constant(ir::Scalar::boolean(true)), leaving_types());
    const std::vector<ir::BlockId> blocks = builder_.kernel()[branch].blocks;
    const ir::BlockId outside = builder_.block();
    builder_.set_block(blocks[0]);
    builder_.yield(then());
    builder_.set_block(blocks[1]);
    builder_.yield(otherwise());
    builder_.set_block(outside);
    const std::vector<ir::ValueId> results = builder_.kernel()[branch].results;
    set_leaving(results);
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
    for (std::int64_t i = *lower; i < *upper; i += *step) {
        if (!spend(loop.name_span)) break;
        Binding* const outer = scope_;
        declare(loop.text, Value::typed(ir::Scalar::int64(i)), loop.name_span);
        block(child(id, 1));
        scope_ = outer;
        if (*step > *upper - i) break;
    }
}

void Lowerer::static_assert_statement(dsl::NodeId id) {
    const dsl::NodeId condition_node = child(id, 0);
    const std::optional<bool> holds = constant_bool(child(condition_node, 0), "the condition of `static assert`");
    if (!holds || *holds || checking_) return;
    error(diagnostics::kStaticAssert, span(child(condition_node, 0)), formatted(message_of(condition_node, "")));
}

}  // namespace kiln::frontend
