// Type expressions, type names in messages, and bringing a value to a wanted type.
#include "frontend/lowering.h"
#include "ir/support/internal_error.h"

namespace kiln::frontend {

namespace {

/// A tile above this many elements is a slip: no target holds it.
constexpr std::int64_t kMaxTileElements = std::int64_t{1} << 28;

std::string_view surface_name(ir::ScalarType type) {
    return type == ir::kInt ? "int" : ir::name(type);
}

std::string data_text(const ir::Type& type) {
    std::string text{surface_name(type.element)};
    return type.shape.empty() ? text : text + ir::to_string(type.shape);
}

}  // namespace

bool broadcasts_to(const ir::Shape& from, const ir::Shape& to) {
    if (from.empty()) return true;
    if (from.rank() != to.rank()) return false;
    for (std::size_t axis = 0; axis < from.rank(); ++axis) {
        if (from[axis] != 1 && from[axis] != to[axis]) return false;
    }
    return true;
}

SurfaceType Lowerer::type_of(dsl::NodeId id) {
    const dsl::Node& type = node(id);
    switch (type.kind) {
        case dsl::NodeKind::TupleType:
        case dsl::NodeKind::FunctionType: {
            const bool tuple = type.kind == dsl::NodeKind::TupleType;
            SurfaceType result{tuple ? TypeForm::Tuple : TypeForm::Function, {}, {}};
            for (const dsl::NodeId part : children(id)) result.parts.push_back(type_of(part));
            return result;
        }
        case dsl::NodeKind::NamedType:
            break;
        default:
            error(diagnostics::kNotAType, type.span, text(id), "a value");
            return {};
    }
    const dsl::NodeId path = child(id, 0), sizes = child(id, 1);
    SurfaceType named = named_type(node(path).text, node(path).span);
    if (sizes == dsl::kNoNode || named.form == TypeForm::Poison) return named;
    if (named.form != TypeForm::Data || !named.data.is_scalar()) {
        error(diagnostics::kSizedType, type.span, node(path).text);
        return {};
    }
    if (lift_ != nullptr) {
        refuse_lifted("a tile", type.span);
        return {};
    }
    const std::optional<ir::Shape> shape = tile_shape(children(sizes));
    if (!shape) return {};
    return SurfaceType::of(ir::Type::tile(named.data.element, *shape));
}

SurfaceType Lowerer::named_type(std::string_view path, support::Span at) {
    const Resolved resolved = resolve_path(path);
    if (resolved.binding != nullptr) {
        if (resolved.binding->kind == BindingKind::Type) {
            return SurfaceType::of(ir::Type::scalar(resolved.binding->type));
        }
        error(diagnostics::kNotAType, at, path, "a value");
        return {};
    }
    if (resolved.declaration != dsl::kNoNode) {
        const dsl::Ast& tree = program_.files[resolved.file].ast;
        if (tree[resolved.declaration].kind == dsl::NodeKind::TypeAlias) {
            const Visit visit(*this);
            file_ = resolved.file;
            scope_ = nullptr;
            return type_of(child(resolved.declaration, 0));
        }
    } else if (const auto scalar = ir::scalar_type_named(path)) {
        return SurfaceType::of(ir::Type::scalar(*scalar));
    }
    error(diagnostics::kNotAType, at, path, "a value");
    return {};
}

std::optional<ir::ScalarType> Lowerer::scalar_type(std::string_view path, support::Span at) {
    const SurfaceType type = named_type(path, at);
    if (type.form == TypeForm::Poison) return std::nullopt;
    if (type.form == TypeForm::Data && type.data.is_scalar()) return type.data.element;
    error(diagnostics::kNotAType, at, path, "a value");
    return std::nullopt;
}

std::optional<ir::ScalarType> Lowerer::type_named(std::string_view path) const {
    const Resolved resolved = resolve_path(path);
    if (resolved.binding != nullptr) {
        if (resolved.binding->kind == BindingKind::Type) return resolved.binding->type;
        return std::nullopt;
    }
    if (resolved.declaration == dsl::kNoNode) return ir::scalar_type_named(path);
    // An alias of a scalar type; a chain of aliases cannot be endless, since names come before their use.
    const dsl::Ast& tree = program_.files[resolved.file].ast;
    if (tree[resolved.declaration].kind != dsl::NodeKind::TypeAlias) return std::nullopt;
    const dsl::NodeId type = tree.child(resolved.declaration, 0);
    if (tree[type].kind != dsl::NodeKind::NamedType || tree.child(type, 1) != dsl::kNoNode) return std::nullopt;
    return ir::scalar_type_named(tree[tree.child(type, 0)].text);
}

std::optional<ir::Shape> Lowerer::tile_shape(std::span<const dsl::NodeId> sizes) {
    ir::Shape shape;
    for (const dsl::NodeId size : sizes) {
        if (node(size).kind == dsl::NodeKind::AnySize) {
            error(diagnostics::kNotCompileTime, span(size), "the extent of a tile");
            return std::nullopt;
        }
        const std::optional<std::int64_t> extent = constant_int(size, "the extent of a tile");
        if (!extent) return std::nullopt;
        if (*extent < 1) {
            error(diagnostics::kExtent, span(size), *extent);
            return std::nullopt;
        }
        if (shape.rank() == ir::kMaxRank) {
            error(diagnostics::kTooManyAxes, span(size), ir::kMaxRank);
            return std::nullopt;
        }
        shape.push_back(*extent);
    }
    if (!check_shape(shape, support::join(span(sizes.front()), span(sizes.back())))) return std::nullopt;
    return shape;
}

bool Lowerer::check_shape(const ir::Shape& shape, support::Span at) {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) {
        if (extent <= kMaxTileElements / count) {
            count *= extent;
            continue;
        }
        error(diagnostics::kTileTooLarge, at, ir::to_string(shape));
        return false;
    }
    return true;
}

std::string Lowerer::type_text(const SurfaceType& type) const {
    switch (type.form) {
        case TypeForm::Poison:
            return "an unknown type";
        case TypeForm::Data:
            return data_text(type.data);
        case TypeForm::Tuple:
        case TypeForm::Function:
            break;
    }
    const bool tuple = type.form == TypeForm::Tuple;
    std::string text = tuple ? "(" : "fn(";
    for (std::size_t i = tuple ? 0 : 1; i < type.parts.size(); ++i) {
        text += (i > (tuple ? 0u : 1u) ? ", " : "") + type_text(type.parts[i]);
    }
    return tuple ? text + ")" : text + ") -> " + type_text(type.parts[0]);
}

std::string Lowerer::type_text(const Value& value) const {
    switch (value.kind) {
        case ValueKind::Poison:
            return "an unknown value";
        case ValueKind::None:
            return "no value";
        case ValueKind::Constant:
            if (value.constant.typed) return std::string(surface_name(value.constant.scalar.type));
            return value.constant.scalar.type == ir::ScalarType::F64 ? "a number with a fraction" : "a whole number";
        case ValueKind::Runtime:
            return data_text(type(value));
        case ValueKind::Tensor:
            return "a tensor";
        case ValueKind::Function:
            return "a function";
        case ValueKind::Tuple:
            break;
    }
    std::string text = "(";
    for (const Value& part : value.parts) text += (text.size() > 1 ? ", " : "") + type_text(part);
    return text + ")";
}

Value Lowerer::coerce(const Value& value, const SurfaceType& wanted, bool broadcasts, support::Span at,
                      const std::string& what) {
    if (value.poison() || wanted.form == TypeForm::Poison) return {};
    const auto mismatch = [&] {
        error(diagnostics::kMismatch, at, what, type_text(wanted), type_text(value));
        return Value{};
    };
    switch (wanted.form) {
        case TypeForm::Data:
            if (!value.is_constant() && !value.is_runtime()) return mismatch();
            return coerce_data(value, wanted.data, broadcasts, at, what);
        case TypeForm::Tuple: {
            if (value.kind != ValueKind::Tuple || value.parts.size() != wanted.parts.size()) return mismatch();
            std::vector<Value> parts;
            for (std::size_t i = 0; i < wanted.parts.size(); ++i) {
                parts.push_back(
                    coerce(value.parts[i], wanted.parts[i], broadcasts, at, fmt::format("part {} of {}", i + 1, what)));
                if (parts.back().poison()) return {};
            }
            return Value::tuple(std::move(parts));
        }
        case TypeForm::Function:
            if (value.kind != ValueKind::Function) return mismatch();
            return check_function_type(wanted, value.function, at) ? value : Value{};
        case TypeForm::Poison:
            break;
    }
    throw support::InternalError("frontend::coerce", "unknown form of type");
}

Value Lowerer::coerce_data(const Value& value, const ir::Type& wanted, bool broadcasts, support::Span at,
                           const std::string& what) {
    Value adapted = value;
    if (value.untyped()) {
        const std::optional<ir::Scalar> scalar = adapt(value.constant, wanted.element, at);
        if (!scalar) return {};
        adapted = Value::typed(*scalar);
    }
    const auto mismatch = [&] {
        error(diagnostics::kMismatch, at, what, data_text(wanted), type_text(value));
        return Value{};
    };
    if (element(adapted) != wanted.element) return mismatch();
    const ir::Shape have = shape(adapted);
    if (have == wanted.shape) return adapted;
    if (wanted.is_scalar() && lift_ != nullptr && have == lift_->shape) return adapted;
    if (!broadcasts || !broadcasts_to(have, wanted.shape)) return mismatch();
    return Value::runtime(builder_.broadcast(materialise(adapted, at).id, wanted.shape));
}

SurfaceType Lowerer::surface_type(const Value& value) const {
    if (value.is_runtime()) return SurfaceType::of(type(value));
    if (value.is_constant()) return SurfaceType::of(ir::Type::scalar(value.constant.scalar.type));
    SurfaceType result{value.kind == ValueKind::Tuple ? TypeForm::Tuple : TypeForm::Poison, {}, {}};
    for (const Value& part : value.parts) result.parts.push_back(surface_type(part));
    return result;
}

bool Lowerer::admits(std::string_view scalar_class, ir::ScalarType type) const {
    const ir::ScalarClass kind = ir::scalar_class(type);
    const bool integer = ir::is_integer(type), real = kind == ir::ScalarClass::Float;
    if (scalar_class == "float") return real && type != ir::ScalarType::F64;
    if (scalar_class == "real") return real;
    if (scalar_class == "integer") return integer;
    if (scalar_class == "number") return integer || real;
    return scalar_class == "any";
}

}  // namespace kiln::frontend
