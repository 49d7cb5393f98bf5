// Binding a function's signature to the arguments of a call: compile-time parameters, types and sizes that follow from
// the arguments, and the check of every argument against its parameter.
#include "frontend/builtins.h"
#include "frontend/lowering.h"
#include "ir/support/internal_error.h"

namespace kiln::frontend {

bool Lowerer::generic_is_type(dsl::NodeId generic) const {
    const dsl::NodeId type = child(generic, 0);
    if (node(type).kind != dsl::NodeKind::NamedType || child(type, 1) != dsl::kNoNode) return false;
    return is_type_class(node(child(type, 0)).text);
}

Lowerer::Signature Lowerer::read_signature(dsl::NodeId function) {
    Signature signature;
    signature.base = scope_;
    const dsl::NodeId generics = child(function, 0), result = child(function, 2);
    if (generics != dsl::kNoNode) {
        for (const dsl::NodeId generic : children(generics)) {
            (generic_is_type(generic) ? signature.types : signature.generics).insert(node(generic).text);
        }
    }
    signature.values = signature.generics;
    for (const dsl::NodeId parameter : children(child(function, 1))) {
        collect_tile_names(child(parameter, 0), signature.values);
    }
    if (result != dsl::kNoNode) collect_tile_names(result, signature.values);
    return signature;
}

void Lowerer::collect_tile_names(dsl::NodeId type, std::set<std::string_view>& names) {
    switch (node(type).kind) {
        case dsl::NodeKind::TupleType:
        case dsl::NodeKind::FunctionType:
            for (const dsl::NodeId part : children(type)) collect_tile_names(part, names);
            return;
        case dsl::NodeKind::NamedType:
            break;
        default:
            return;
    }
    if (child(type, 1) == dsl::kNoNode) return;
    for (const dsl::NodeId size : children(child(type, 1))) {
        if (node(size).kind == dsl::NodeKind::Name) names.insert(node(size).text);
        const std::optional<Solved> solved = solved_form(size);
        if (solved) names.insert(solved->name);
    }
}

std::optional<Lowerer::Solved> Lowerer::solved_form(dsl::NodeId size) const {
    if (node(size).kind != dsl::NodeKind::Chain || children(size).size() != 2) return std::nullopt;
    const dsl::NodeId name = child(size, 0), constant = child(size, 1);
    const std::string_view operation = ast().operators_of(size)[0].text;
    if (node(name).kind != dsl::NodeKind::Name || !is_compile_time(constant)) return std::nullopt;
    if (operation != "+" && operation != "-" && operation != "*") return std::nullopt;
    return Solved{node(name).text, operation[0], constant};
}

std::optional<Lowerer::Linear> Lowerer::linear(const Solved& solved) {
    const std::optional<std::int64_t> constant = constant_int(solved.constant, "a size");
    if (!constant) return std::nullopt;
    if (solved.operation == '*' && *constant < 1) {
        error(diagnostics::kExtent, span(solved.constant), *constant);
        return std::nullopt;
    }
    switch (solved.operation) {
        case '*':
            return Linear{*constant, 0};
        case '+':
            return Linear{1, *constant};
        default:
            return Linear{1, -*constant};
    }
}

bool Lowerer::is_open(std::string_view name, const Signature& signature) const {
    if (find_since(name, signature.base) != nullptr) return false;
    // A generic is the function's own; any other name may mean something around the function, and then compares.
    return signature.generics.contains(name) || !resolve(name).found();
}

bool Lowerer::bind_signature(const FunctionValue& function, std::vector<CallArgument>& arguments, support::Span whole) {
    const std::span<const dsl::NodeId> wanted = parameters(function);
    Signature signature = read_signature(function.node);
    if (!bind_constants(wanted, arguments, signature)) return false;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (!check_rank(wanted[i], arguments[i])) return false;
    }
    for (const bool tensors : {false, true}) {
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const bool is_tensor = node(child(wanted[i], 0)).kind == dsl::NodeKind::TensorType;
            if (is_tensor == tensors) deduce(child(wanted[i], 0), arguments[i], signature, false);
        }
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) deduce(child(wanted[i], 0), arguments[i], signature, true);
    if (!finish_generics(child(function.node, 0), signature, whole)) return false;
    bool good = true;
    for (std::size_t i = 0; i < wanted.size(); ++i) good &= bind_parameter(wanted[i], arguments[i], signature);
    return good;
}

bool Lowerer::bind_constants(std::span<const dsl::NodeId> wanted, std::span<CallArgument> arguments,
                             Signature& signature) {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const dsl::Node& parameter = node(wanted[i]);
        if (!parameter.flag) continue;
        const std::string what = fmt::format("the argument `{}`", parameter.text);
        const Value& value = arguments[i].value;
        if (!value.is_constant() && value.kind != ValueKind::Function) {
            error(diagnostics::kNotCompileTime, arguments[i].span, what);
            return false;
        }
        deduce(child(wanted[i], 0), arguments[i], signature, false);
        Value constant = coerce(value, type_of(child(wanted[i], 0)), false, arguments[i].span, what);
        if (constant.poison()) return false;
        declare(parameter.text, std::move(constant), parameter.name_span);
    }
    return true;
}

void Lowerer::deduce(dsl::NodeId type, const CallArgument& argument, Signature& signature, bool last) {
    const Value& value = argument.value;
    switch (node(type).kind) {
        case dsl::NodeKind::TupleType:
            if (value.kind != ValueKind::Tuple || value.parts.size() != children(type).size()) return;
            for (std::size_t i = 0; i < value.parts.size(); ++i) {
                deduce(child(type, i), {value.parts[i], argument.span}, signature, last);
            }
            return;
        case dsl::NodeKind::NamedType:
        case dsl::NodeKind::TensorType:
            break;
        default:
            return;
    }
    const bool tensor = node(type).kind == dsl::NodeKind::TensorType;
    if (tensor ? value.kind != ValueKind::Tensor : !value.is_constant() && !value.is_runtime()) return;
    deduce_element(type, value, signature, last);
    if (child(type, 1) == dsl::kNoNode || value.is_constant()) return;
    const ir::Shape shape =
        tensor ? builder_.kernel().type(value.tensor->value).shape : builder_.kernel().type(value.id).shape;
    const std::span<const dsl::NodeId> sizes = children(child(type, 1));
    if (sizes.size() != shape.rank()) return;
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
        deduce_size(sizes[axis], argument, axis, shape[axis], signature, last);
    }
}

void Lowerer::deduce_element(dsl::NodeId type, const Value& value, Signature& signature, bool last) {
    const dsl::Node& path = node(child(type, 0));
    if (!signature.types.contains(path.text) || find_since(path.text, signature.base) != nullptr) return;
    if (value.untyped()) {
        const bool real = value.constant.scalar.type == ir::ScalarType::F64;
        if (last) declare_type(path.text, real ? ir::ScalarType::F32 : ir::kInt, path.span);
        return;
    }
    const bool tensor = value.kind == ValueKind::Tensor;
    declare_type(path.text, tensor ? builder_.kernel().type(value.tensor->value).element : element(value), path.span);
}

void Lowerer::deduce_size(dsl::NodeId size, const CallArgument& argument, std::size_t axis, std::int64_t extent,
                          Signature& signature, bool last) {
    if (node(size).kind == dsl::NodeKind::Name) {
        const std::string_view name = node(size).text;
        if (last || !is_open(name, signature)) return;
        bind_size(name, argument, axis, extent, signature, {1, 0}, span(size));
        return;
    }
    const std::optional<Solved> solved = last ? solved_form(size) : std::nullopt;
    if (!solved || !is_open(solved->name, signature)) return;
    const std::optional<Linear> form = linear(*solved);
    if (form) bind_size(solved->name, argument, axis, extent, signature, *form, span(size));
}

void Lowerer::bind_size(std::string_view name, const CallArgument& argument, std::size_t axis, std::int64_t extent,
                        const Signature& signature, Linear form, support::Span at) {
    if (extent != ir::kDynamic) {
        const std::int64_t scaled = extent - form.offset;
        if (scaled < 0 || scaled % form.scale != 0) {
            error(diagnostics::kSizeSolve, argument.span, extent, source_text(at)).note(at, "declared here");
            declare(name, {}, at);
            return;
        }
        const ir::Scalar size = ir::Scalar::int64(scaled / form.scale);
        const bool fixed = signature.values.contains(name);
        declare(name, fixed ? Value::typed(size) : Value::runtime(builder_.constant(size)), at);
        return;
    }
    if (signature.values.contains(name)) {
        error(diagnostics::kNotCompileTime, argument.span, fmt::format("the size `{}`", name))
            .help(fmt::format("declare it in `<...>` of the kernel, as in `<{}: int>`", name))
            .note(at, "asked for here");
        declare(name, {}, at);
        return;
    }
    ir::ValueId size = size_value(*argument.value.tensor, axis);
    if (form.offset != 0) size = builder_.elementwise(ir::OpKind::Sub, {size, builder_.constant_int(form.offset)});
    if (form.scale != 1) size = builder_.elementwise(ir::OpKind::Div, {size, builder_.constant_int(form.scale)});
    declare(name, Value::runtime(size), at);
}

bool Lowerer::finish_generics(dsl::NodeId generics, const Signature& signature, support::Span whole) {
    if (generics == dsl::kNoNode) return true;
    for (const dsl::NodeId generic : children(generics)) {
        const dsl::Node& declared = node(generic);
        const dsl::NodeId type = child(generic, 0), initial = child(generic, 1);
        Binding* binding = find_since(declared.text, signature.base);
        if (binding == nullptr && initial == dsl::kNoNode) {
            error(diagnostics::kGenericMissing, whole, declared.text)
                .help("an argument's type or size has to give it")
                .note(declared.span, "declared here");
            return false;
        }
        if (generic_is_type(generic)) {
            const auto known =
                binding != nullptr ? std::optional(binding->type) : scalar_type(node(initial).text, span(initial));
            if (!known || !check_class(generic, *known, whole)) return false;
            if (binding == nullptr) declare_type(declared.text, *known, declared.name_span);
            continue;
        }
        if (binding == nullptr) {
            Value value = compile_time(initial, type, fmt::format("`{}`", declared.text));
            if (value.poison()) return false;
            declare(declared.text, std::move(value), declared.name_span);
        } else if (binding->value.poison()) {
            return false;
        }
    }
    return true;
}

bool Lowerer::check_class(dsl::NodeId generic, ir::ScalarType type, support::Span at) {
    const std::string_view wanted = node(child(child(generic, 0), 0)).text;
    if (admits(wanted, type)) return true;
    error(diagnostics::kClassMismatch, at, node(generic).text, wanted,
          type_text(SurfaceType::of(ir::Type::scalar(type))))
        .note(span(generic), "declared here");
    return false;
}

bool Lowerer::bind_parameter(dsl::NodeId parameter, const CallArgument& argument, const Signature& signature) {
    const dsl::Node& declared = node(parameter);
    const dsl::NodeId type = child(parameter, 0);
    if (declared.flag) return true;
    if (node(type).kind == dsl::NodeKind::TensorType) return bind_tensor(parameter, argument, signature);
    const std::string what = fmt::format("the argument `{}`", declared.text);
    Value value = coerce(argument.value, type_of(type), false, argument.span, what);
    builder_.set_span(argument.span);
    value = materialise(value, argument.span);
    value.zero_outside = false;
    const bool good = !value.poison();
    declare(declared.text, std::move(value), declared.name_span);
    return good;
}

bool Lowerer::check_rank(dsl::NodeId parameter, const CallArgument& argument) {
    const dsl::NodeId type = child(parameter, 0);
    if (node(type).kind != dsl::NodeKind::TensorType) return true;
    const auto describe = [](std::size_t axes) {
        return fmt::format("a tensor with {} {}", axes, axes == 1 ? "axis" : "axes");
    };
    const std::size_t wanted = children(child(type, 1)).size();
    const bool tensor = argument.value.kind == ValueKind::Tensor;
    const std::size_t rank = tensor ? builder_.kernel().type(argument.value.tensor->value).shape.rank() : 0;
    if (tensor && rank == wanted) return true;
    error(diagnostics::kMismatch, argument.span, fmt::format("the argument `{}`", node(parameter).text),
          describe(wanted), tensor ? describe(rank) : type_text(argument.value));
    return false;
}

bool Lowerer::bind_tensor(dsl::NodeId parameter, const CallArgument& argument, const Signature& signature) {
    const dsl::Node& declared = node(parameter);
    const dsl::NodeId type = child(parameter, 0), sizes = child(type, 1);
    const std::string what = fmt::format("the argument `{}`", declared.text);
    const Tensor& given = *argument.value.tensor;
    const ir::Type& have = builder_.kernel().type(given.value);
    const std::optional<ir::ScalarType> element = scalar_type(node(child(type, 0)).text, span(child(type, 0)));
    if (!element) return false;
    if (have.element != *element) {
        const auto describe = [&](ir::ScalarType of) {
            return fmt::format("a tensor of {}", type_text(SurfaceType::of(ir::Type::scalar(of))));
        };
        error(diagnostics::kMismatch, argument.span, what, describe(*element), describe(have.element));
        return false;
    }
    const ir::Access access = node(type).text == "in"    ? ir::Access::In
                              : node(type).text == "out" ? ir::Access::Out
                                                         : ir::Access::InOut;
    if (given.access != access && given.access != ir::Access::InOut) {
        error(diagnostics::kDirection, argument.span, what, ir::name(access), given.name, ir::name(given.access));
        return false;
    }
    if (!check_tensor_sizes(sizes, given, argument.span, declared.text, signature)) return false;
    Tensor& bound = tensors_.emplace_back(given);
    bound.access = access;
    bound.name = declared.text;
    declare(declared.text, Value::of(bound), declared.name_span);
    return true;
}

bool Lowerer::check_tensor_sizes(dsl::NodeId sizes, const Tensor& tensor, support::Span at, std::string_view parameter,
                                 const Signature& signature) {
    const ir::Shape shape = builder_.kernel().type(tensor.value).shape;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        const dsl::NodeId size = child(sizes, axis);
        if (node(size).kind == dsl::NodeKind::AnySize) continue;
        const bool named = node(size).kind == dsl::NodeKind::Name;
        if (shape[axis] == ir::kDynamic) {
            if (!named || !signature.values.contains(node(size).text)) continue;
            error(diagnostics::kNotCompileTime, at, fmt::format("the size `{}`", node(size).text))
                .note(span(size), "asked for here");
            return false;
        }
        const Value wanted = expression(size);
        if (wanted.poison()) return false;
        // A size that only has to agree may be known as well.
        const std::optional<ir::Scalar> known = wanted.is_constant()  ? std::optional(wanted.constant.scalar)
                                                : wanted.is_runtime() ? builder_.kernel().constant(wanted.id)
                                                                      : std::nullopt;
        if (!known || known->as_int64() == shape[axis]) continue;
        error(diagnostics::kSizeDiffers, at, parameter, shape[axis], axis, text(size), known->as_int64())
            .note(span(size), "declared here");
        return false;
    }
    return true;
}

bool Lowerer::check_function_type(const SurfaceType& wanted, const FunctionValue& function, support::Span at) {
    const dsl::Ast& tree = program_.files[function.file].ast;
    const dsl::Node declared = tree[function.node];
    const std::span<const dsl::NodeId> own = parameters(function);
    bool fits = own.size() + 1 == wanted.parts.size();
    {
        const Visit visit(*this);
        file_ = function.file;
        scope_ = function.scope;
        lift_ = nullptr;
        const bool generic = child(function.node, 0) != dsl::kNoNode;
        // The types of a generic function, and sizes that a call deduces, are known only when it is called.
        const auto same = [&](dsl::NodeId type, const SurfaceType& part) {
            if (generic || form_of(type) != ParameterForm::Scalar)
                return form_of(type) == ParameterForm::Tile || generic;
            return type_of(type) == part;
        };
        for (std::size_t i = 0; fits && i < own.size(); ++i) fits = same(child(own[i], 0), wanted.parts[i + 1]);
        const dsl::NodeId result = child(function.node, 2);
        if (fits && result != dsl::kNoNode) fits = same(result, wanted.parts[0]);
    }
    if (fits) return true;
    error(diagnostics::kFunctionType, at, declared.text, type_text(wanted)).note(declared.name_span, "declared here");
    return false;
}

}  // namespace kiln::frontend
