// `print` and `assert`: the interpreter carries them out.
#include "frontend/lowering.h"

namespace kiln::frontend {

std::optional<std::string> Lowerer::message_text(const Call& call, std::size_t index) {
    const dsl::NodeId given = call.arguments[index];
    if (node(given).kind == dsl::NodeKind::String) return dsl::unescape(node(given).text);
    error(diagnostics::kOperandClass, span(given), fmt::format("`{}`", call.name), "a text in quotes",
          fmt::format("`{}`", text(given)));
    return std::nullopt;
}

std::optional<std::vector<ir::ValueId>> Lowerer::message_arguments(const Call& call, std::size_t first) {
    std::vector<ir::ValueId> ids;
    for (std::size_t i = first; i < call.arguments.size(); ++i) {
        const support::Span at = span(call.arguments[i]);
        const Value value = materialise(expression(call.arguments[i]), at);
        if (value.poison()) return std::nullopt;
        if (!value.is_runtime()) {
            error(diagnostics::kOperandClass, at, "a message", "scalars and tiles", type_text(value));
            return std::nullopt;
        }
        ids.push_back(value.id);
    }
    return ids;
}

Value Lowerer::print_builtin(const Call& call) {
    constexpr std::size_t kMost = 1 + ir::kMaxRank * 4;
    if (!check_arguments(call, 1, kMost, {}) || refuse_lifted("`print`", call.span)) return {};
    std::optional<std::string> message = message_text(call, 0);
    std::optional<std::vector<ir::ValueId>> arguments = message_arguments(call, 1);
    if (!message || !arguments) return {};
    builder_.set_span(call.span);
    builder_.print(std::move(*message), std::move(*arguments));
    return Value::none();
}

Value Lowerer::assert_builtin(const Call& call) {
    constexpr std::size_t kMost = 2 + ir::kMaxRank * 4;
    if (!check_arguments(call, 1, kMost, {})) return {};
    std::optional<ir::ValueId> holds = condition(call.arguments[0]);
    std::optional<std::string> message = fmt::format("`assert({})` does not hold", text(call.arguments[0]));
    if (call.arguments.size() > 1) message = message_text(call, 1);
    std::optional<std::vector<ir::ValueId>> arguments = message_arguments(call, 2);
    if (!holds || !message || !arguments) return {};
    builder_.set_span(call.span);
    if (lift_ != nullptr) {
        // Only the elements that come here are asked.
        ir::ValueId each = spread(*holds);
        if (active_) {
            const ir::ValueId away = builder_.elementwise(ir::OpKind::LogicalNot, {*active_});
            each = builder_.elementwise(ir::OpKind::LogicalOr, {each, away});
        }
        holds = builder_.reduce(ir::ReduceKind::All, builder_.reshape(each, ir::Shape{lift_->shape.count()}), 0);
    }
    builder_.check(*holds, std::move(*message), std::move(*arguments));
    return Value::none();
}

}  // namespace kiln::frontend
