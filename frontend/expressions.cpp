// Expressions but for operators: names, suffixes, calls, conversions, tuples.
#include <limits>

#include "frontend/builtins.h"
#include "frontend/lowering.h"
#include "ir/semantics.h"
#include "ir/support/internal_error.h"

namespace kiln::frontend {

Value Lowerer::expression(dsl::NodeId id) {
    const dsl::Node& tree = node(id);
    builder_.set_span(tree.span);
    switch (tree.kind) {
        case dsl::NodeKind::Number:
            return number(id);
        case dsl::NodeKind::Boolean:
            return Value::typed(ir::Scalar::boolean(tree.text == "true"));
        case dsl::NodeKind::Name:
            return name(id);
        case dsl::NodeKind::Prefix:
            return prefix(id);
        case dsl::NodeKind::Chain:
            return chain(id);
        case dsl::NodeKind::Suffixed:
            return suffixed(id);
        case dsl::NodeKind::Tuple:
            return tuple(id);
        case dsl::NodeKind::Error:
            return {};
        default:
            error(diagnostics::kNotAValue, tree.span, text(id));
            return {};
    }
}

Value Lowerer::name(dsl::NodeId id) {
    const dsl::Node& tree = node(id);
    const Resolved resolved = resolve(tree.text);
    if (!resolved.found() && tree.text == "inf") return Value::untyped_float(std::numeric_limits<double>::infinity());
    if (!resolved.found() && tree.text == "nan") return Value::untyped_float(std::numeric_limits<double>::quiet_NaN());
    return value_of(resolved, tree.text, tree.span);
}

Value Lowerer::tuple(dsl::NodeId id) {
    std::vector<Value> parts;
    bool poison = false;
    for (const dsl::NodeId part : children(id)) {
        parts.push_back(expression(part));
        const ValueKind kind = parts.back().kind;
        poison |= kind == ValueKind::Poison;
        if (kind == ValueKind::Tensor || kind == ValueKind::Function || kind == ValueKind::None) {
            error(diagnostics::kOperandClass, span(part), "a tuple", "scalars and tiles", type_text(parts.back()));
            poison = true;
        }
    }
    return poison ? Value{} : Value::tuple(std::move(parts));
}

Value Lowerer::suffixed(dsl::NodeId id, std::size_t end) {
    const std::span<const dsl::NodeId> parts = children(id).first(end);
    std::size_t next = 1;
    Value value = primary(parts, next);
    for (; next < parts.size() && !value.poison(); ++next) {
        const dsl::NodeId suffix = parts[next];
        const support::Span whole = support::join(span(parts[0]), span(suffix));
        switch (node(suffix).kind) {
            case dsl::NodeKind::Call:
                value = call_value(value, suffix, whole);
                break;
            case dsl::NodeKind::Index:
                value = index(value, suffix, whole);
                break;
            default:
                error(diagnostics::kNotAValue, whole, source_text(whole));
                return {};
        }
    }
    return value;
}

Value Lowerer::primary(std::span<const dsl::NodeId> parts, std::size_t& next) {
    const dsl::Node& head = node(parts[0]);
    if (head.kind != dsl::NodeKind::Name) return expression(parts[0]);
    std::string path{head.text};
    support::Span at = head.span;
    if (!resolve(head.text).found() && parts.size() > 1 && node(parts[1]).kind == dsl::NodeKind::Member) {
        path += "." + std::string(node(parts[1]).text);
        at = support::join(at, span(parts[1]));
        next = 2;
    }
    const auto is = [&](std::size_t i, dsl::NodeKind kind) { return i < parts.size() && node(parts[i]).kind == kind; };
    const Resolved resolved = resolve_path(path);
    if (const std::optional<ir::ScalarType> type = type_named(path)) {
        const bool sized = is(next, dsl::NodeKind::Index);
        const std::size_t call = next + (sized ? 1 : 0);
        if (is(call, dsl::NodeKind::Call)) {
            const dsl::NodeId sizes = sized ? parts[next] : dsl::kNoNode;
            next = call + 1;
            return convert_call(*type, sizes, parts[call], support::join(at, span(parts[call])));
        }
    }
    if (!resolved.found() && is_builtin(path) && is(next, dsl::NodeKind::Call)) {
        const dsl::NodeId call = parts[next++];
        return builtin(head.text, call, support::join(at, span(call)));
    }
    return resolved.found() ? value_of(resolved, path, at) : name(parts[0]);
}

Value Lowerer::call_value(const Value& callee, dsl::NodeId call_node, support::Span whole) {
    std::vector<CallArgument> arguments;
    bool poison = false;
    for (const dsl::NodeId argument : children(call_node)) {
        if (node(argument).kind == dsl::NodeKind::Named) {
            error(diagnostics::kNamedArgument, span(argument), node(argument).text);
            return {};
        }
        arguments.push_back({expression(argument), span(argument)});
        poison |= arguments.back().value.poison();
    }
    if (callee.kind != ValueKind::Function) {
        error(diagnostics::kNotCallable, whole, source_text(whole), type_text(callee));
        return {};
    }
    return poison ? Value{} : call(callee.function, std::move(arguments), whole);
}

Value Lowerer::convert_call(ir::ScalarType type, dsl::NodeId sizes, dsl::NodeId call_node, support::Span whole) {
    const std::span<const dsl::NodeId> arguments = children(call_node);
    if (arguments.size() != 1 || node(arguments[0]).kind == dsl::NodeKind::Named) {
        error(diagnostics::kArgumentCount, whole, "a conversion", "1 argument", arguments.size());
        return {};
    }
    const Value value = expression(arguments[0]);
    builder_.set_span(whole);
    const Value converted = convert_value(ir::OpKind::Convert, value, type, span(arguments[0]));
    if (converted.poison() || sizes == dsl::kNoNode) return converted;
    if (refuse_lifted("a tile", whole)) return {};
    const std::optional<ir::Shape> shape = tile_shape(children(sizes));
    if (!shape) return {};
    return coerce_data(converted, ir::Type::tile(type, *shape), true, span(arguments[0]), "the result");
}

Value Lowerer::convert_value(ir::OpKind kind, const Value& value, ir::ScalarType target, support::Span at) {
    if (value.poison()) return {};
    if (!value.is_constant() && !value.is_runtime()) {
        error(diagnostics::kOperandClass, at, "a conversion", "scalars and tiles", type_text(value));
        return {};
    }
    const ir::ScalarType from = element(value);
    const std::string wanted = type_text(SurfaceType::of(ir::Type::scalar(target)));
    if (kind == ir::OpKind::Bitcast && (value.untyped() || ir::bit_width(from) != ir::bit_width(target))) {
        error(diagnostics::kBitcast, at, type_text(value), wanted);
        return {};
    }
    const bool to_bool = target == ir::ScalarType::Bool && from != ir::ScalarType::Bool;
    const bool bool_to_storage = from == ir::ScalarType::Bool && ir::scalar_class(target) == ir::ScalarClass::Storage;
    if (kind != ir::OpKind::Bitcast && (to_bool || bool_to_storage)) {
        error(diagnostics::kConversion, at, type_text(value), wanted)
            .help(to_bool ? "write `x != 0`" : "convert it to a number first");
        return {};
    }
    if (value.is_constant()) {
        // A lone literal is rounded once, from its text.
        const bool literal = value.untyped() && !value.constant.literal.empty() && ir::is_float(target);
        if (literal && from == ir::ScalarType::F64 && kind == ir::OpKind::Convert) {
            const std::optional<ir::Scalar> scalar = adapt(value.constant, target, at);
            return scalar ? Value::typed(*scalar) : Value{};
        }
        return Value::typed(ir::convert(kind, value.constant.scalar, target));
    }
    Value converted = Value::runtime(builder_.convert(kind, value.id, target));
    converted.zero_outside = value.zero_outside;
    return converted;
}

}  // namespace kiln::frontend
