// Builtins but for reductions and dot. Elementwise ones follow from ir/ops.def; the rest have a function each.
#include <algorithm>

#include "frontend/builtins.h"
#include "frontend/lowering.h"
#include "ir/semantics.h"
#include "ir/support/internal_error.h"

namespace kiln::frontend {

namespace {

bool is_reduction_too(std::string_view name) {
    return name == "min" || name == "max" || name == "minimum" || name == "maximum";
}

/// Spacing of the values of a type above 1.
double epsilon_of(ir::ScalarType type) {
    switch (type) {
        case ir::ScalarType::F16:
            return 0x1p-10;
        case ir::ScalarType::BF16:
            return 0x1p-7;
        case ir::ScalarType::F32:
            return 0x1p-23;
        case ir::ScalarType::F64:
            return 0x1p-52;
        case ir::ScalarType::F4E2M1:
            return 0x1p-1;
        case ir::ScalarType::F8E4M3:
            return 0x1p-3;
        case ir::ScalarType::F8E5M2:
            return 0x1p-2;
        case ir::ScalarType::F8E8M0:
            return 1;
        case ir::ScalarType::Bool:
        case ir::ScalarType::I8:
        case ir::ScalarType::I16:
        case ir::ScalarType::I32:
        case ir::ScalarType::I64:
        case ir::ScalarType::U8:
        case ir::ScalarType::U16:
        case ir::ScalarType::U32:
        case ir::ScalarType::U64:
        case ir::ScalarType::I4:
        case ir::ScalarType::U4:
            return 0;
    }
    throw support::InternalError("frontend::epsilon_of", "unknown type");
}

}  // namespace

const std::map<std::string_view, Lowerer::BuiltinFunction>& Lowerer::builtin_functions() {
    static const std::map<std::string_view, BuiltinFunction> functions = {
        {"clamp", &Lowerer::clamp_builtin},
        {"saturate", &Lowerer::convert_builtin},
        {"bitcast", &Lowerer::convert_builtin},
        {"unit", &Lowerer::unit_builtin},
        {"iota", &Lowerer::iota_builtin},
        {"broadcast", &Lowerer::broadcast_builtin},
        {"reshape", &Lowerer::reshape_builtin},
        {"transpose", &Lowerer::transpose_builtin},
        {"permute", &Lowerer::permute_builtin},
        {"split", &Lowerer::split_builtin},
        {"sum", &Lowerer::reduction_builtin},
        {"any", &Lowerer::reduction_builtin},
        {"all", &Lowerer::reduction_builtin},
        {"dot", &Lowerer::dot_builtin},
        {"size", &Lowerer::size_builtin},
        {"present", &Lowerer::present_builtin},
        {"lowest", &Lowerer::lowest_builtin},
        {"epsilon", &Lowerer::epsilon_builtin},
        {"units", &Lowerer::units_builtin},
        {"join", &Lowerer::join_builtin},
        {"stack", &Lowerer::stack_builtin},
        {"reduce", &Lowerer::reduce_builtin},
        {"scan", &Lowerer::scan_builtin},
        {"argmax", &Lowerer::argmax_builtin},
        {"cumsum", &Lowerer::cumsum_builtin},
        {"sort", &Lowerer::sort_builtin},
        {"topk", &Lowerer::topk_builtin},
        {"bincount", &Lowerer::bincount_builtin},
        {"dot_scaled", &Lowerer::dot_scaled_builtin},
        {"philox", &Lowerer::philox_builtin},
        {"random", &Lowerer::random_builtin},
        {"print", &Lowerer::print_builtin},
        {"assert", &Lowerer::assert_builtin},
    };
    return functions;
}

Value Lowerer::builtin(std::string_view name, dsl::NodeId call_node, support::Span whole) {
    Call call{name, whole, {}, {}};
    for (const dsl::NodeId argument : children(call_node)) {
        (node(argument).kind == dsl::NodeKind::Named ? call.options : call.arguments).push_back(argument);
    }
    if (is_reduction_too(name) && call.arguments.size() == 1) return reduction_builtin(call);
    if (find_builtin(name)->kind == BuiltinKind::Atomic) return atomic_builtin(call);
    const auto function = builtin_functions().find(name);
    if (function != builtin_functions().end()) return (this->*function->second)(call);
    return elementwise_builtin(*ir::op_with_surface(name), call);
}

bool Lowerer::check_arguments(const Call& call, std::size_t least, std::size_t most,
                              std::initializer_list<std::string_view> options) {
    const std::size_t count = call.arguments.size();
    if (count < least || count > most) {
        const std::string wanted = most > ir::kMaxRank ? fmt::format("at least {}", least)
                                   : least == most     ? std::to_string(least)
                                                       : fmt::format("{} to {}", least, most);
        error(diagnostics::kArgumentCount, call.span, fmt::format("`{}`", call.name),
              wanted + (wanted == "1" ? " argument" : " arguments"), count);
        return false;
    }
    for (const dsl::NodeId option : call.options) {
        if (std::find(options.begin(), options.end(), node(option).text) != options.end()) continue;
        support::Diagnostic& unknown =
            error(diagnostics::kUnknownOption, node(option).name_span, call.name, node(option).text);
        if (options.size() > 0) unknown.help(fmt::format("it takes `{} = ...`", fmt::join(options, " = ...`, `")));
        return false;
    }
    return true;
}

Lowerer::Operand Lowerer::operand(dsl::NodeId argument) {
    return {expression(argument), span(argument)};
}

std::vector<Lowerer::Operand> Lowerer::operands(const Call& call) {
    std::vector<Operand> operands;
    for (const dsl::NodeId argument : call.arguments) operands.push_back(operand(argument));
    return operands;
}

std::optional<dsl::NodeId> Lowerer::option(const Call& call, std::string_view name) const {
    for (const dsl::NodeId option : call.options) {
        if (node(option).text == name) return child(option, 0);
    }
    return std::nullopt;
}

bool Lowerer::refuse_lifted(std::string_view what, support::Span at) {
    if (lift_ == nullptr) return false;
    error(diagnostics::kNotLifted, at, what)
        .help("each element is a call of its own: pass it scalars, or write a function that takes the tiles");
    return true;
}

std::optional<Value> Lowerer::tile_argument(const Call& call, std::size_t index) {
    if (refuse_lifted(fmt::format("`{}`", call.name), call.span)) return std::nullopt;
    const Value value = expression(call.arguments[index]);
    if (value.poison()) return std::nullopt;
    if (value.is_runtime() && type(value).is_tile()) return value;
    error(diagnostics::kOperandClass, span(call.arguments[index]), fmt::format("`{}`", call.name), "a tile",
          type_text(value));
    return std::nullopt;
}

std::optional<ir::ScalarType> Lowerer::type_argument(const Call& call, std::size_t index) {
    const dsl::NodeId argument = call.arguments[index];
    const std::string path = text(argument);
    if (const std::optional<ir::ScalarType> type = type_named(path)) return type;
    error(diagnostics::kNotAType, span(argument), path, "a value");
    return std::nullopt;
}

const Tensor* Lowerer::tensor_argument(const Call& call, std::size_t index) {
    const Value value = expression(call.arguments[index]);
    if (value.kind == ValueKind::Tensor) return value.tensor;
    if (!value.poison()) {
        error(diagnostics::kOperandClass, span(call.arguments[index]), fmt::format("`{}`", call.name), "a tensor",
              type_text(value));
    }
    return nullptr;
}

std::optional<ir::Shape> Lowerer::sizes_argument(const Call& call, std::size_t first) {
    return tile_shape(std::span(call.arguments).subspan(first));
}

std::optional<std::uint32_t> Lowerer::axis_option(const Call& call, std::size_t rank) {
    const std::optional<dsl::NodeId> given = option(call, "axis");
    if (!given) {
        error(diagnostics::kArgumentCount, call.span, fmt::format("`{}`", call.name), "an `axis = k`", "none");
        return std::nullopt;
    }
    const std::optional<std::int64_t> axis = constant_int(*given, "`axis`");
    if (!axis) return std::nullopt;
    if (*axis >= 0 && static_cast<std::size_t>(*axis) < rank) return static_cast<std::uint32_t>(*axis);
    error(diagnostics::kNoSuchAxis, span(*given), *axis, rank, rank == 1 ? "axis" : "axes");
    return std::nullopt;
}

Value Lowerer::elementwise_builtin(ir::OpKind kind, const Call& call) {
    const std::size_t count = ir::info(kind).operands.size();
    if (!check_arguments(call, count, count, {})) return {};
    return apply(kind, operands(call), call.name, call.span);
}

Value Lowerer::clamp_builtin(const Call& call) {
    if (!check_arguments(call, 3, 3, {})) return {};
    const std::vector<Operand> given = operands(call);
    // Adapts all three to one type first: clamp(0, lo, hi) must not fold apart.
    const Value lowered = apply(ir::OpKind::Max, {given[0], given[1]}, call.name, call.span);
    return apply(ir::OpKind::Min, {{lowered, call.span}, given[2]}, call.name, call.span);
}

Value Lowerer::convert_builtin(const Call& call) {
    if (!check_arguments(call, 2, 2, {})) return {};
    Value value = expression(call.arguments[0]);
    const std::optional<ir::ScalarType> type = type_argument(call, 1);
    if (!type || value.poison()) return {};
    const ir::OpKind kind = *ir::op_with_surface(call.name);
    if (value.untyped() && kind == ir::OpKind::Bitcast) value = materialise(value, call.span);
    builder_.set_span(call.span);
    return convert_value(kind, value, *type, span(call.arguments[0]));
}

Value Lowerer::unit_builtin(const Call& call) {
    if (!check_arguments(call, 1, 1, {})) return {};
    return unit_of(operand(call.arguments[0]), call);
}

Value Lowerer::unit_of(const Operand& bits, const Call& call) {
    const support::Span at = call.span;
    const Value eight = Value::typed(ir::Scalar::integer(ir::ScalarType::U32, 8));
    const Value upper = apply(ir::OpKind::Shr, {bits, {eight, at}}, call.name, at);
    const Value real = convert_value(ir::OpKind::Convert, upper, ir::ScalarType::F32, at);
    return apply(ir::OpKind::Mul, {{real, at}, {Value::typed(ir::Scalar::f32(0x1p-24f)), at}}, call.name, at);
}

Value Lowerer::iota_builtin(const Call& call) {
    if (!check_arguments(call, 1, 1, {}) || refuse_lifted("`iota`", call.span)) return {};
    const std::optional<ir::Shape> shape = sizes_argument(call, 0);
    if (!shape) return {};
    builder_.set_span(call.span);
    return Value::runtime(builder_.iota((*shape)[0]));
}

Value Lowerer::broadcast_builtin(const Call& call) {
    if (!check_arguments(call, 2, ir::kMaxRank + 1, {}) || refuse_lifted("`broadcast`", call.span)) return {};
    const Value value = materialise(expression(call.arguments[0]), span(call.arguments[0]));
    const std::optional<ir::Shape> shape = sizes_argument(call, 1);
    if (value.poison() || !shape) return {};
    if (!value.is_runtime()) {
        error(diagnostics::kOperandClass, span(call.arguments[0]), "`broadcast`", "scalars and tiles",
              type_text(value));
        return {};
    }
    builder_.set_span(call.span);
    return coerce_data(value, ir::Type::tile(element(value), *shape), true, call.span, "the result");
}

Value Lowerer::reshape_builtin(const Call& call) {
    if (!check_arguments(call, 2, ir::kMaxRank + 1, {})) return {};
    const std::optional<Value> tile = tile_argument(call, 0);
    const std::optional<ir::Shape> wanted = sizes_argument(call, 1);
    if (!tile || !wanted) return {};
    if (wanted->count() != shape(*tile).count()) {
        error(diagnostics::kReshape, call.span, type_text(*tile), shape(*tile).count(), ir::to_string(*wanted),
              wanted->count());
        return {};
    }
    builder_.set_span(call.span);
    return Value::runtime(builder_.reshape(tile->id, *wanted));
}

Value Lowerer::transpose_builtin(const Call& call) {
    if (!check_arguments(call, 1, 1, {})) return {};
    const std::optional<Value> tile = tile_argument(call, 0);
    if (!tile) return {};
    const std::size_t rank = shape(*tile).rank();
    if (rank < 2) {
        error(diagnostics::kOperandClass, call.span, "`transpose`", "a tile of two or more axes", type_text(*tile));
        return {};
    }
    ir::Shape axes;
    for (std::size_t axis = 0; axis < rank; ++axis) axes.push_back(static_cast<std::int64_t>(axis));
    std::swap(axes[rank - 2], axes[rank - 1]);
    builder_.set_span(call.span);
    return Value::runtime(builder_.permute(tile->id, axes));
}

Value Lowerer::permute_builtin(const Call& call) {
    if (!check_arguments(call, 2, ir::kMaxRank + 1, {})) return {};
    const std::optional<Value> tile = tile_argument(call, 0);
    if (!tile) return {};
    const std::size_t rank = shape(*tile).rank();
    ir::Shape axes;
    std::vector<bool> seen(rank);
    for (std::size_t i = 1; i < call.arguments.size(); ++i) {
        const std::optional<std::int64_t> axis = constant_int(call.arguments[i], "an axis");
        if (!axis) return {};
        const bool known = *axis >= 0 && static_cast<std::size_t>(*axis) < rank;
        if (!known || seen[static_cast<std::size_t>(*axis)] || call.arguments.size() != rank + 1) {
            error(diagnostics::kPermutation, call.span, rank);
            return {};
        }
        seen[static_cast<std::size_t>(*axis)] = true;
        axes.push_back(*axis);
    }
    builder_.set_span(call.span);
    return Value::runtime(builder_.permute(tile->id, axes));
}

Value Lowerer::split_builtin(const Call& call) {
    if (!check_arguments(call, 2, 2, {"axis"})) return {};
    const std::optional<Value> tile = tile_argument(call, 0);
    if (!tile) return {};
    ir::Shape lengths = shape(*tile);
    const std::optional<std::int64_t> count = constant_int(call.arguments[1], "the number of parts");
    const std::optional<std::uint32_t> axis = axis_option(call, lengths.rank());
    if (!count || !axis) return {};
    if (*count < 2 || lengths[*axis] % *count != 0) {
        error(diagnostics::kSplit, call.span, lengths[*axis], *count);
        return {};
    }
    builder_.set_span(call.span);
    lengths[*axis] /= *count;
    ir::Shape starts = lengths;
    for (std::size_t i = 0; i < starts.rank(); ++i) starts[i] = 0;
    std::vector<Value> parts;
    for (std::int64_t i = 0; i < *count; ++i) {
        starts[*axis] = i * lengths[*axis];
        parts.push_back(Value::runtime(builder_.extract(tile->id, starts, lengths)));
    }
    return Value::tuple(std::move(parts));
}

Value Lowerer::size_builtin(const Call& call) {
    if (!check_arguments(call, 2, 2, {})) return {};
    const Tensor* tensor = tensor_argument(call, 0);
    if (tensor == nullptr) return {};
    const std::optional<std::int64_t> axis = constant_int(call.arguments[1], "the axis");
    if (!axis) return {};
    const ir::Shape& sizes = builder_.kernel().type(tensor->value).shape;
    if (*axis < 0 || static_cast<std::size_t>(*axis) >= sizes.rank()) {
        error(diagnostics::kNoSuchAxis, span(call.arguments[1]), *axis, sizes.rank(),
              sizes.rank() == 1 ? "axis" : "axes");
        return {};
    }
    const auto index = static_cast<std::size_t>(*axis);
    if (sizes[index] != ir::kDynamic) return Value::typed(ir::Scalar::int64(sizes[index]));
    builder_.set_span(call.span);
    return Value::runtime(size_value(*tensor, index));
}

Value Lowerer::present_builtin(const Call& call) {
    if (!check_arguments(call, 1, 1, {})) return {};
    const Binding* binding =
        node(call.arguments[0]).kind == dsl::NodeKind::Name ? find(node(call.arguments[0]).text) : nullptr;
    const bool absent = binding != nullptr && binding->kind == BindingKind::Absent;
    if (absent || (binding != nullptr && binding->value.kind == ValueKind::Tensor)) {
        return Value::typed(ir::Scalar::boolean(!absent));
    }
    error(diagnostics::kOperandClass, span(call.arguments[0]), "`present`", "a tensor parameter",
          fmt::format("`{}`", text(call.arguments[0])));
    return {};
}

Value Lowerer::lowest_builtin(const Call& call) {
    if (!check_arguments(call, 1, 1, {})) return {};
    const std::optional<ir::ScalarType> type = type_argument(call, 0);
    if (!type) return {};
    const bool real = ir::is_float(*type);
    const ir::Scalar least = ir::Scalar::f64(-std::numeric_limits<double>::infinity());
    return Value::typed(ir::convert(real ? ir::OpKind::Convert : ir::OpKind::Saturate, least, *type));
}

Value Lowerer::epsilon_builtin(const Call& call) {
    if (!check_arguments(call, 1, 1, {})) return {};
    const std::optional<ir::ScalarType> type = type_argument(call, 0);
    return type ? Value::typed(ir::Scalar::f64(epsilon_of(*type))) : Value{};
}

Value Lowerer::units_builtin(const Call& call) {
    if (!check_arguments(call, 0, 0, {})) return {};
    return Value::typed(ir::Scalar::int64(request_.units));
}

}  // namespace kiln::frontend
