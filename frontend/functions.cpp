// Calls: every function is inlined. A function of scalars that is called with tiles is lifted: its body is lowered
// once, on tiles of the arguments' common shape.
#include "frontend/lowering.h"
#include "ir/support/internal_error.h"

namespace kiln::frontend {

std::span<const dsl::NodeId> Lowerer::parameters(const FunctionValue& function) const {
    const dsl::Ast& tree = program_.files[function.file].ast;
    return tree.children_of(tree.child(function.node, 1));
}

Value Lowerer::call(const FunctionValue& function, std::vector<CallArgument> arguments, support::Span whole) {
    if (!spend(whole) || !check_recursion(function, whole)) return {};
    const dsl::Node& declared = program_.files[function.file].ast[function.node];
    const Visit visit(*this);
    Frame* const caller = frame_;
    file_ = function.file;
    scope_ = function.scope;
    loop_ = nullptr;
    const std::span<const dsl::NodeId> wanted = parameters(function);
    if (!add_defaults(function, arguments, whole)) return {};
    if (!enter_lift(wanted, arguments, declared.text, whole)) return {};
    if (!bind_signature(function, arguments, whole)) return {};
    Frame frame;
    frame.caller = caller;
    frame.function = function;
    frame.call = whole;
    frame.name = declared.text;
    frame_ = &frame;
    return run_body(function);
}

bool Lowerer::add_defaults(const FunctionValue& function, std::vector<CallArgument>& arguments, support::Span whole) {
    const std::span<const dsl::NodeId> wanted = parameters(function);
    const std::size_t given = arguments.size();
    for (std::size_t i = given; i < wanted.size() && child(wanted[i], 1) != dsl::kNoNode; ++i) {
        arguments.push_back({expression(child(wanted[i], 1)), whole});
    }
    if (arguments.size() == wanted.size()) return true;
    const std::string count = fmt::format("{} {}", wanted.size(), wanted.size() == 1 ? "argument" : "arguments");
    error(diagnostics::kArgumentCount, whole, fmt::format("`{}`", node(function.node).text), count, given)
        .note(node(function.node).name_span, "declared here");
    return false;
}

bool Lowerer::check_recursion(const FunctionValue& function, support::Span whole) {
    for (const Frame* frame = frame_; frame != nullptr; frame = frame->caller) {
        if (frame->function.node != function.node || frame->function.file != function.file) continue;
        error(diagnostics::kRecursion, whole, frame->name);
        return false;
    }
    return true;
}

Value Lowerer::run_body(const FunctionValue& function) {
    const dsl::NodeId result = child(function.node, 2), body = child(function.node, 3);
    if (result != dsl::kNoNode) {
        frame_->result = type_of(result);
        if (frame_->result->form == TypeForm::Poison) return {};
    }
    if (node(body).kind != dsl::NodeKind::Block) {
        const Value value = expression(body);
        if (frame_->result) return returned(value, span(body));
        const Value known = materialise(value, span(body));
        return lift_ == nullptr ? known : broadcast_parts(known, lift_->shape, span(body));
    }
    block(body);
    if (!frame_->result) return Value::none();
    if (frame_->terminated) return frame_->value;
    error(diagnostics::kReturnWithoutValue, node(function.node).name_span, frame_->name);
    return {};
}

void Lowerer::collect_tiles(const Value& value, std::vector<Operand>& tiles, support::Span at) const {
    if (value.is_runtime() && type(value).is_tile()) tiles.push_back({value, at});
    for (const Value& part : value.parts) collect_tiles(part, tiles, at);
}

Value Lowerer::broadcast_parts(const Value& value, const ir::Shape& shape, support::Span at) {
    if (value.is_runtime()) return Value::runtime(builder_.broadcast(value.id, shape));
    if (value.is_constant()) return broadcast_parts(materialise(value, at), shape, at);
    if (value.kind != ValueKind::Tuple) return value;
    std::vector<Value> parts;
    for (const Value& part : value.parts) parts.push_back(broadcast_parts(part, shape, at));
    return Value::tuple(std::move(parts));
}

Lowerer::ParameterForm Lowerer::form_of(dsl::NodeId id) {
    const auto worse = [](ParameterForm form) { return form == ParameterForm::Scalar ? form : ParameterForm::Tile; };
    switch (node(id).kind) {
        case dsl::NodeKind::TensorType:
            return ParameterForm::Tensor;
        case dsl::NodeKind::FunctionType:
            return ParameterForm::Function;
        case dsl::NodeKind::TupleType:
            for (const dsl::NodeId part : children(id)) {
                if (worse(form_of(part)) != ParameterForm::Scalar) return ParameterForm::Tile;
            }
            return ParameterForm::Scalar;
        default:
            break;
    }
    if (child(id, 1) != dsl::kNoNode) return ParameterForm::Tile;
    const Resolved resolved = resolve_path(node(child(id, 0)).text);
    if (resolved.declaration == dsl::kNoNode) return ParameterForm::Scalar;
    const dsl::Ast& tree = program_.files[resolved.file].ast;
    if (tree[resolved.declaration].kind != dsl::NodeKind::TypeAlias) return ParameterForm::Scalar;
    const Visit visit(*this);
    file_ = resolved.file;
    scope_ = nullptr;
    return form_of(child(resolved.declaration, 0));
}

bool Lowerer::enter_lift(std::span<const dsl::NodeId> wanted, std::vector<CallArgument>& arguments,
                         std::string_view name, support::Span whole) {
    std::vector<Operand> tiles;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const ParameterForm form = form_of(child(wanted[i], 0));
        // Such a function is not lifted; a tile for one of its scalars is a mismatch that binding will report.
        if (form == ParameterForm::Tile || form == ParameterForm::Tensor) return true;
        if (form == ParameterForm::Scalar) collect_tiles(arguments[i].value, tiles, arguments[i].span);
    }
    if (tiles.empty()) return true;
    const std::optional<ir::Shape> shape = common_shape(tiles, name, whole);
    if (!shape) return false;
    if (lift_ == nullptr) {
        lifts_.push_back({next_lift_++, *shape});
        lift_ = &lifts_.back();
    }
    builder_.set_span(whole);
    for (CallArgument& argument : arguments) {
        std::vector<Operand> own;
        collect_tiles(argument.value, own, argument.span);
        if (!own.empty()) argument.value = broadcast_parts(argument.value, *shape, argument.span);
    }
    return true;
}

void Lowerer::check_function(dsl::NodeId function) {
    file_ = 0;
    builder_.set_block(result_.kernel.add_block());
    Frame root;
    root.name = node(function).text;
    frame_ = &root;
    std::vector<CallArgument> arguments;
    const std::span<const dsl::NodeId> wanted = children(child(function, 1));
    if (declare_representatives(function)) {
        for (const dsl::NodeId parameter : wanted) {
            arguments.push_back({representative_argument(parameter), span(parameter)});
            if (arguments.back().value.poison()) break;
        }
    }
    scope_ = nullptr;
    const bool whole = arguments.size() == wanted.size() && (wanted.empty() || !arguments.back().value.poison());
    if (whole) call(FunctionValue{0, function, nullptr}, std::move(arguments), node(function).name_span);
    frame_ = nullptr;
}

bool Lowerer::declare_representatives(dsl::NodeId function) {
    const dsl::NodeId generics = child(function, 0);
    if (generics != dsl::kNoNode) {
        for (const dsl::NodeId generic : children(generics)) {
            const std::optional<Value> value = representative(generic);
            if (!value) return false;
        }
    }
    for (const dsl::NodeId parameter : children(child(function, 1))) {
        if (!node(parameter).flag) continue;
        const Value value = representative_argument(parameter);
        if (value.poison()) return false;
        declare(node(parameter).text, value, node(parameter).name_span);
    }
    Signature signature = read_signature(function);
    for (const std::string_view name : signature.values) {
        if (find(name) == nullptr) declare(name, Value::typed(ir::Scalar::int64(kRepresentativeSize)), span(function));
    }
    return true;
}

Value Lowerer::representative_argument(dsl::NodeId parameter) {
    const dsl::NodeId type = child(parameter, 0);
    if (node(type).kind == dsl::NodeKind::TensorType) {
        const std::optional<ir::ScalarType> element = scalar_type(node(child(type, 0)).text, span(type));
        if (!element) return {};
        ir::Shape shape;
        for (const dsl::NodeId size : children(child(type, 1))) {
            const bool fixed = node(size).kind != dsl::NodeKind::AnySize && is_compile_time(size);
            shape.push_back(fixed ? constant_int(size, "a size").value_or(1) : ir::kDynamic);
        }
        Tensor& tensor = tensors_.emplace_back();
        tensor.access = ir::Access::InOut;
        tensor.value = result_.kernel.add_value(ir::Type::tensor(tensor.access, *element, shape));
        tensor.sizes.resize(shape.rank());
        tensor.name = node(parameter).text;
        return Value::of(tensor);
    }
    const ParameterForm form = form_of(type);
    if (form == ParameterForm::Function) return {};
    const SurfaceType wanted = type_of(type);
    if (node(parameter).flag) {
        const bool data = wanted.form == TypeForm::Data && wanted.data.is_scalar();
        if (!data || wanted.data.element == ir::ScalarType::Bool) return Value::typed(ir::Scalar::boolean(true));
        return coerce(Value::untyped_int(kRepresentativeSize), wanted, false, span(parameter), "the representative");
    }
    std::vector<ir::Type> types;
    flatten_type(wanted, types);
    std::vector<ir::ValueId> ids;
    for (const ir::Type& each : types) ids.push_back(result_.kernel.add_value(each));
    std::span<const ir::ValueId> rest(ids);
    return rebuild_type(wanted, rest);
}

}  // namespace kiln::frontend
