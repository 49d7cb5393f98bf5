// Builtins that combine, order or count the elements of tiles, and dot_scaled.
#include "frontend/lowering.h"
#include "ir/support/internal_error.h"

namespace kiln::frontend {

namespace {

/// The axis behind all of a shape's, as a shape with one more axis of length 1 in a place.
ir::Shape with_axis(const ir::Shape& shape, std::uint32_t axis, std::int64_t length) {
    ir::Shape result = shape;
    result.insert(axis, length);
    return result;
}

ir::Shape only_axis(const ir::Shape& shape, std::uint32_t axis) {
    ir::Shape result = shape;
    for (std::size_t i = 0; i < result.rank(); ++i) result[i] = i == axis ? shape[axis] : 1;
    return result;
}

bool is_narrow(ir::ScalarType type) {
    return type == ir::ScalarType::F16 || type == ir::ScalarType::BF16;
}

}  // namespace

std::optional<bool> Lowerer::flag_option(const Call& call, std::string_view name) {
    const std::optional<dsl::NodeId> given = option(call, name);
    if (!given) return false;
    return constant_bool(*given, fmt::format("`{}`", name));
}

std::optional<std::vector<ir::ValueId>> Lowerer::joined_parts(const Call& call, bool scalars) {
    if (!check_arguments(call, 2, 1 + ir::kMaxRank * 8, {"axis"})) return std::nullopt;
    if (refuse_lifted(fmt::format("`{}`", call.name), call.span)) return std::nullopt;
    std::vector<Operand> parts = operands(call);
    std::vector<Operand*> group;
    for (Operand& part : parts) {
        if (part.value.poison()) return std::nullopt;
        const bool scalar = part.value.is_constant() || (part.value.is_runtime() && type(part.value).is_scalar());
        if (scalar ? !scalars : !part.value.is_runtime()) {
            error(diagnostics::kOperandClass, part.span, fmt::format("`{}`", call.name),
                  scalars ? "scalars and tiles" : "tiles", type_text(part.value));
            return std::nullopt;
        }
        group.push_back(&part);
    }
    if (!unify(group, call.name, call.span)) return std::nullopt;
    std::vector<ir::ValueId> ids;
    for (const Operand& part : parts) {
        const Value value = materialise(part.value, part.span);
        if (value.poison()) return std::nullopt;
        ids.push_back(value.id);
    }
    return ids;
}

Value Lowerer::stack_builtin(const Call& call) {
    const std::optional<std::vector<ir::ValueId>> parts = joined_parts(call, true);
    if (!parts) return {};
    const ir::Shape shape = builder_.kernel().type(parts->front()).shape;
    const std::optional<std::uint32_t> axis = axis_option(call, shape.rank() + 1);
    if (!axis) return {};
    if (!check_shape(with_axis(shape, *axis, static_cast<std::int64_t>(parts->size())), call.span)) return {};
    builder_.set_span(call.span);
    std::vector<ir::ValueId> widened;
    for (std::size_t i = 0; i < parts->size(); ++i) {
        const Value part = Value::runtime((*parts)[i]);
        if (this->shape(part) != shape) {
            error(diagnostics::kOperandClass, span(call.arguments[i]), "`stack`", "tiles of one shape",
                  type_text(part));
            return {};
        }
        widened.push_back(builder_.reshape(part.id, with_axis(shape, *axis, 1)));
    }
    return Value::runtime(builder_.join(std::move(widened), *axis));
}

Value Lowerer::join_builtin(const Call& call) {
    std::optional<std::vector<ir::ValueId>> parts = joined_parts(call, false);
    if (!parts) return {};
    const ir::Shape first = builder_.kernel().type(parts->front()).shape;
    const std::optional<std::uint32_t> axis = axis_option(call, first.rank());
    if (!axis) return {};
    ir::Shape joined = first;
    for (std::size_t i = 1; i < parts->size(); ++i) {
        const Value part = Value::runtime((*parts)[i]);
        ir::Shape others = shape(part);
        if (others.rank() == first.rank()) {
            joined[*axis] += others[*axis];
            others[*axis] = first[*axis];
        }
        if (others == first) continue;
        error(diagnostics::kOperandClass, span(call.arguments[i]), "`join`", "tiles that differ along one axis at most",
              type_text(part));
        return {};
    }
    if (!check_shape(joined, call.span)) return {};
    builder_.set_span(call.span);
    return Value::runtime(builder_.join(std::move(*parts), *axis));
}

Value Lowerer::reduce_builtin(const Call& call) {
    return combine_tiles(ir::OpKind::Fold, call);
}

Value Lowerer::scan_builtin(const Call& call) {
    return combine_tiles(ir::OpKind::Scan, call);
}

Value Lowerer::combine_tiles(ir::OpKind kind, const Call& call) {
    if (!check_arguments(call, 2, 2, {"axis"})) return {};
    if (refuse_lifted(fmt::format("`{}`", call.name), call.span)) return {};
    const support::Span at = span(call.arguments[0]), by = span(call.arguments[1]);
    const Value given = materialise(expression(call.arguments[0]), at), function = expression(call.arguments[1]);
    if (given.poison() || function.poison()) return {};
    if (function.kind != ValueKind::Function) {
        error(diagnostics::kOperandClass, by, fmt::format("`{}`", call.name), "a function", type_text(function));
        return {};
    }
    std::vector<ir::ValueId> tiles;
    flatten(given, tiles);
    for (const ir::ValueId tile : tiles) {
        const ir::Type& type = builder_.kernel().type(tile);
        if (type.is_tile() && type.shape == builder_.kernel().type(tiles[0]).shape) continue;
        tiles.clear();
        break;
    }
    if (tiles.empty()) {
        error(diagnostics::kOperandClass, at, fmt::format("`{}`", call.name), "tiles of one shape", type_text(given));
        return {};
    }
    const ir::Shape shape = builder_.kernel().type(tiles[0]).shape;
    std::uint32_t axis = 0;
    if (option(call, "axis") || kind == ir::OpKind::Scan) {
        const std::optional<std::uint32_t> wanted = axis_option(call, shape.rank());
        if (!wanted) return {};
        axis = *wanted;
    } else {
        builder_.set_span(call.span);
        for (ir::ValueId& tile : tiles) tile = builder_.reshape(tile, ir::Shape{shape.count()});
    }
    return combine_with(kind, given, function.function, std::move(tiles), axis, call);
}

Value Lowerer::combine_with(ir::OpKind kind, const Value& given, const FunctionValue& function,
                            std::vector<ir::ValueId> tiles, std::uint32_t axis, const Call& call) {
    builder_.set_span(call.span);
    const ir::OpId op = builder_.combine_elements(kind, std::move(tiles), axis);
    const ir::BlockId inside = builder_.kernel()[op].blocks[0], outside = builder_.block();
    const std::vector<ir::ValueId> arguments = builder_.kernel()[inside].arguments;
    std::vector<CallArgument> sides;
    std::vector<ir::Type> elements;
    std::span<const ir::ValueId> rest(arguments);
    for (int side = 0; side < 2; ++side) sides.push_back({rebuild(given, rest), call.span});
    for (std::size_t i = 0; i < arguments.size() / 2; ++i) elements.push_back(builder_.kernel().type(arguments[i]));
    const std::string wanted = type_text(sides[0].value);
    builder_.set_block(inside);
    const std::size_t first = builder_.kernel().ops.size();
    const Value combined = materialise(this->call(function, std::move(sides), call.span), call.span);
    std::vector<ir::ValueId> yielded;
    flatten(combined, yielded);
    const bool fits = types_of(yielded) == elements;
    if (!fits) {
        if (!combined.poison()) {
            error(diagnostics::kMismatch, span(call.arguments[1]), "what the function gives", wanted,
                  type_text(combined));
        }
        yielded.assign(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(elements.size()));
    }
    builder_.yield(std::move(yielded));
    builder_.set_block(outside);
    if (!fits || !check_combiner(first, call)) return {};
    const std::vector<ir::ValueId> results = builder_.kernel()[op].results;
    std::span<const ir::ValueId> ids(results);
    return rebuild(given, ids);
}

bool Lowerer::check_combiner(std::size_t first, const Call& call) {
    const ir::Kernel& kernel = builder_.kernel();
    for (std::size_t i = first; i < kernel.ops.size(); ++i) {
        const ir::Op& op = kernel.ops[i];
        const bool tile = !op.results.empty() && kernel.type(op.result()).is_tile();
        if (!tile && ir::info(op.kind).effect != ir::Effect::Writes) continue;
        unsupported(fmt::format("a tile or a write in what `{}` combines with", call.name), op.span);
        return false;
    }
    return true;
}

std::optional<ir::ValueId> Lowerer::number_tile(const Call& call, bool bools) {
    const std::optional<Value> tile = tile_argument(call, 0);
    if (!tile) return std::nullopt;
    const ir::ScalarClass found = ir::scalar_class(element(*tile));
    const bool fits = found == ir::ScalarClass::Bool ? bools : found != ir::ScalarClass::Storage;
    if (fits) return tile->id;
    error(diagnostics::kOperandClass, span(call.arguments[0]), fmt::format("`{}`", call.name),
          bools ? "numbers or bools" : "numbers", type_text(*tile));
    return std::nullopt;
}

/// 0, 1, ... along an axis of a shape, the same along the others.
ir::ValueId Lowerer::counted_along(const ir::Shape& shape, std::uint32_t axis) {
    const ir::ValueId count = builder_.iota(shape[axis]);
    return builder_.broadcast(builder_.reshape(count, only_axis(shape, axis)), shape);
}

Value Lowerer::argmax_builtin(const Call& call) {
    if (!check_arguments(call, 1, 1, {"axis"})) return {};
    std::optional<ir::ValueId> tile = number_tile(call, true);
    if (!tile) return {};
    std::uint32_t axis = 0;
    if (option(call, "axis")) {
        const std::optional<std::uint32_t> wanted = axis_option(call, builder_.kernel().type(*tile).shape.rank());
        if (!wanted) return {};
        axis = *wanted;
    }
    builder_.set_span(call.span);
    if (builder_.kernel().type(*tile).element == ir::ScalarType::Bool) {
        tile = builder_.convert(ir::OpKind::Convert, *tile, ir::ScalarType::U8);
    }
    if (!option(call, "axis")) {
        tile = builder_.reshape(*tile, ir::Shape{builder_.kernel().type(*tile).shape.count()});
    }
    const ir::ValueId places = counted_along(builder_.kernel().type(*tile).shape, axis);
    const ir::OpId op = builder_.combine_elements(ir::OpKind::Fold, {*tile, places}, axis);
    const ir::BlockId inside = builder_.kernel()[op].blocks[0], outside = builder_.block();
    const std::vector<ir::ValueId> arguments = builder_.kernel()[inside].arguments;
    const ir::ValueId a = arguments[0], at_a = arguments[1], b = arguments[2], at_b = arguments[3];
    builder_.set_block(inside);
    const auto op2 = [&](ir::OpKind kind, ir::ValueId x, ir::ValueId y) { return builder_.elementwise(kind, {x, y}); };
    // b goes first if it is greater, or alone NaN, or equal and nearer to the beginning.
    const ir::ValueId a_nan = builder_.elementwise(ir::OpKind::IsNan, {a});
    const ir::ValueId b_nan = builder_.elementwise(ir::OpKind::IsNan, {b});
    const ir::ValueId only_b =
        op2(ir::OpKind::LogicalAnd, b_nan, builder_.elementwise(ir::OpKind::LogicalNot, {a_nan}));
    const ir::ValueId tie =
        op2(ir::OpKind::LogicalOr, op2(ir::OpKind::Equal, a, b), op2(ir::OpKind::LogicalAnd, a_nan, b_nan));
    const ir::ValueId nearer = op2(ir::OpKind::LogicalAnd, tie, op2(ir::OpKind::Less, at_b, at_a));
    const ir::ValueId greater = op2(ir::OpKind::LogicalOr, op2(ir::OpKind::Greater, b, a), only_b);
    const ir::ValueId take_b = op2(ir::OpKind::LogicalOr, greater, nearer);
    builder_.yield({builder_.elementwise(ir::OpKind::Select, {take_b, b, a}),
                    builder_.elementwise(ir::OpKind::Select, {take_b, at_b, at_a})});
    builder_.set_block(outside);
    return Value::runtime(builder_.kernel()[op].results[1]);
}

Value Lowerer::cumsum_builtin(const Call& call) {
    if (!check_arguments(call, 1, 1, {"axis", "exclusive"})) return {};
    const std::optional<ir::ValueId> tile = number_tile(call, false);
    const std::optional<bool> exclusive = flag_option(call, "exclusive");
    if (!tile || !exclusive) return {};
    const ir::Type type = builder_.kernel().type(*tile);
    const std::optional<std::uint32_t> axis = axis_option(call, type.shape.rank());
    if (!axis) return {};
    builder_.set_span(call.span);
    const ir::ScalarType carrier = is_narrow(type.element) ? ir::ScalarType::F32 : type.element;
    const ir::ValueId wide = builder_.convert(ir::OpKind::Convert, *tile, carrier);
    const ir::OpId op = builder_.combine_elements(ir::OpKind::Scan, {wide}, *axis);
    const ir::BlockId inside = builder_.kernel()[op].blocks[0], outside = builder_.block();
    const std::vector<ir::ValueId> arguments = builder_.kernel()[inside].arguments;
    builder_.set_block(inside);
    builder_.yield({builder_.elementwise(ir::OpKind::Add, {arguments[0], arguments[1]})});
    builder_.set_block(outside);
    ir::ValueId sums = builder_.convert(ir::OpKind::Convert, builder_.kernel()[op].results[0], type.element);
    if (!*exclusive) return Value::runtime(sums);
    ir::Shape starts = type.shape, first = type.shape, rest = type.shape;
    for (std::size_t i = 0; i < starts.rank(); ++i) starts[i] = 0;
    first[*axis] = 1;
    rest[*axis] -= 1;
    const ir::ValueId zero = builder_.splat(ir::Scalar{type.element, 0}, ir::Type::tile(type.element, first));
    if (rest[*axis] == 0) return Value::runtime(zero);
    return Value::runtime(builder_.join({zero, builder_.extract(sums, starts, rest)}, *axis));
}

Value Lowerer::sort_builtin(const Call& call) {
    if (!check_arguments(call, 1, 1, {"axis", "descending"})) return {};
    const std::optional<ir::ValueId> tile = number_tile(call, false);
    const std::optional<bool> descending = flag_option(call, "descending");
    if (!tile || !descending) return {};
    const std::optional<std::uint32_t> axis = axis_option(call, builder_.kernel().type(*tile).shape.rank());
    if (!axis) return {};
    builder_.set_span(call.span);
    const ir::OpId op = builder_.sort(*tile, {*axis, *descending});
    return Value::runtime(builder_.kernel()[op].results[0]);
}

Value Lowerer::topk_builtin(const Call& call) {
    if (!check_arguments(call, 2, 2, {})) return {};
    const std::optional<ir::ValueId> tile = number_tile(call, false);
    const std::optional<std::int64_t> count = constant_int(call.arguments[1], "the number of elements");
    if (!tile || !count) return {};
    ir::Shape lengths = builder_.kernel().type(*tile).shape;
    const auto axis = static_cast<std::uint32_t>(lengths.rank() - 1);
    if (*count < 1 || *count > lengths[axis]) {
        error(diagnostics::kOperandClass, span(call.arguments[1]), "`topk`",
              fmt::format("1 to {} elements here", lengths[axis]), *count);
        return {};
    }
    ir::Shape starts = lengths;
    for (std::size_t i = 0; i < starts.rank(); ++i) starts[i] = 0;
    lengths[axis] = *count;
    builder_.set_span(call.span);
    const ir::OpId op = builder_.sort(*tile, {axis, true});
    std::vector<Value> parts;
    const std::vector<ir::ValueId> results = builder_.kernel()[op].results;
    for (const ir::ValueId result : results) parts.push_back(Value::runtime(builder_.extract(result, starts, lengths)));
    return Value::tuple(std::move(parts));
}

Value Lowerer::bincount_builtin(const Call& call) {
    if (!check_arguments(call, 2, 2, {"mask"})) return {};
    const std::optional<Value> tile = tile_argument(call, 0);
    const std::optional<ir::Shape> bins = tile ? sizes_argument(call, 1) : std::nullopt;
    if (!bins) return {};
    if (!ir::is_integer(element(*tile))) {
        error(diagnostics::kOperandClass, span(call.arguments[0]), "`bincount`", "integers", type_text(*tile));
        return {};
    }
    std::optional<ir::ValueId> mask;
    if (const std::optional<dsl::NodeId> given = option(call, "mask")) {
        const SurfaceType wanted = SurfaceType::of(ir::Type::tile(ir::ScalarType::Bool, shape(*tile)));
        const Value value = materialise(coerce(expression(*given), wanted, true, span(*given), "`mask`"), span(*given));
        if (value.poison()) return {};
        mask = value.id;
    }
    builder_.set_span(call.span);
    return Value::runtime(builder_.bincount(tile->id, (*bins)[0], mask));
}

bool Lowerer::check_scaled(const Call& call, const std::vector<Value>& tiles, std::int64_t block) {
    using enum ir::ScalarType;
    for (std::size_t i = 0; i < tiles.size(); ++i) {
        const ir::ScalarType type = element(tiles[i]);
        const bool scale = i % 2 == 1;
        const bool fits = scale ? type == F8E8M0 || type == F8E4M3 : type == F4E2M1 || type == F8E4M3 || type == F8E5M2;
        if (fits || (checking_ && type == kRepresentativeType)) continue;
        error(diagnostics::kOperandClass, span(call.arguments[i]), "`dot_scaled`",
              scale ? "scales of f8e8m0 or f8e4m3" : "f4e2m1 or fp8", type_text(tiles[i]));
        return false;
    }
    const ir::Shape a = shape(tiles[0]), sa = shape(tiles[1]), b = shape(tiles[2]), sb = shape(tiles[3]);
    const bool matrices = a.rank() == 2 && sa.rank() == 2 && b.rank() == 2 && sb.rank() == 2;
    const bool fits = matrices && a[1] == b[0] && block > 0 && a[1] % block == 0 &&
                      sa == ir::Shape{a[0], a[1] / block} && sb == ir::Shape{b[0] / block, b[1]};
    if (fits) return true;
    const std::string left = type_text(tiles[0]) + " with " + type_text(tiles[1]);
    const std::string right = type_text(tiles[2]) + " with " + type_text(tiles[3]);
    error(diagnostics::kDotShapes, call.span, left, right)
        .help("it takes [M, K] with [M, K / block] and [K, N] with [K / block, N]");
    return false;
}

ir::ValueId Lowerer::scaled_operand(const Value& tile, const Value& scales, std::uint32_t axis, std::int64_t block) {
    const ir::Shape given = shape(scales), wanted = shape(tile);
    const ir::ValueId wide = builder_.convert(ir::OpKind::Convert, scales.id, ir::ScalarType::F32);
    const ir::ValueId column = builder_.reshape(wide, with_axis(given, axis + 1, 1));
    const ir::ValueId repeated = builder_.broadcast(column, with_axis(given, axis + 1, block));
    const ir::ValueId value = builder_.convert(ir::OpKind::Convert, tile.id, ir::ScalarType::F32);
    return builder_.elementwise(ir::OpKind::Mul, {value, builder_.reshape(repeated, wanted)});
}

Value Lowerer::dot_scaled_builtin(const Call& call) {
    if (!check_arguments(call, 4, 4, {"block"})) return {};
    std::vector<Value> tiles;
    for (std::size_t i = 0; i < 4; ++i) {
        const std::optional<Value> tile = tile_argument(call, i);
        if (!tile) return {};
        tiles.push_back(*tile);
    }
    const std::optional<dsl::NodeId> given = option(call, "block");
    if (!given) {
        error(diagnostics::kArgumentCount, call.span, "`dot_scaled`", "a `block = n`", "none");
        return {};
    }
    const std::optional<std::int64_t> block = constant_int(*given, "`block`");
    if (!block || !check_scaled(call, tiles, *block)) return {};
    builder_.set_span(call.span);
    // The products with the scales are exact: at most 4 + 4 bits of significand.
    const ir::ValueId a = scaled_operand(tiles[0], tiles[1], 1, *block);
    const ir::ValueId b = scaled_operand(tiles[2], tiles[3], 0, *block);
    const ir::Shape result{shape(tiles[0])[0], shape(tiles[2])[1]};
    const ir::ValueId zero = builder_.splat(ir::Scalar::f32(0), ir::Type::tile(ir::ScalarType::F32, result));
    return Value::runtime(builder_.dot(a, b, zero, ir::DotPrecision::Default));
}

}  // namespace kiln::frontend
