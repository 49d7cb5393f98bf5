// A kernel around its bodies: parameters, sizes and the checks of them, clauses, host values, phases.
#include <numeric>

#include "frontend/lowering.h"
#include "ir/semantics.h"
#include "ir/support/internal_error.h"
#include "ir/verify.h"

namespace kiln::frontend {

Lowerer::Lowerer(const Program& program, const Request& request, Reporter& reporter, bool checking, Places* places)
    : program_(program),
      request_(request),
      reporter_(reporter),
      checking_(checking),
      places_(places),
      builder_(result_.kernel, result_.kernel.host = result_.kernel.add_block()) {}

bool Lowerer::open_kernel() {
    if (!find_kernel() || !check_request()) return false;
    result_.kernel.name = node(kernel_node_).text;
    result_.kernel.fits_32_bits = request_.fits_32_bits;
    if (!bind_generics()) return false;
    for (const dsl::NodeId parameter : children(part(1))) {
        if (!declare_parameter(parameter)) return false;
    }
    return true;
}

std::optional<Specialisation> Lowerer::run() {
    const std::size_t before = reporter_.errors();
    if (!open_kernel()) return std::nullopt;
    std::optional<ir::Configuration> chosen;
    each_configuration([&](const ir::Configuration& configuration) {
        chosen = configuration;
        return false;
    });
    if (!chosen) {
        report_no_configuration();
        return std::nullopt;
    }
    result_.tunables = chosen->tunables;
    result_.kernel.schedule = chosen->schedule;
    bind_sizes();
    for (const dsl::NodeId clause : children(part(2))) lower_clause(clause);
    check_host_ops(0);
    for (const dsl::NodeId phase : children(part(3))) lower_phase(phase);
    if (reporter_.errors() != before) return std::nullopt;
    ir::verify_or_throw(result_.kernel, "lowering");
    return std::move(result_);
}

void Lowerer::check_host_ops(std::size_t first) {
    const ir::Kernel& kernel = result_.kernel;
    for (std::size_t i = first; i < kernel.ops.size(); ++i) {
        const ir::Op& op = kernel.ops[i];
        const bool tile = !op.results.empty() && !kernel.type(op.result()).is_scalar();
        const ir::OpInfo& row = ir::info(op.kind);
        if (!tile && row.group != ir::OpGroup::Memory && row.effect != ir::Effect::Writes) continue;
        error(diagnostics::kHostScalars, op.span).help("move it into a phase");
        return;
    }
}

bool Lowerer::declare_parameter(dsl::NodeId parameter) {
    const dsl::NodeId type = child(parameter, 0);
    if (node(type).kind != dsl::NodeKind::TensorType) return declare_scalar(parameter, type);
    const auto request = request_.parameters.find(std::string(node(parameter).text));
    const bool present = request == request_.parameters.end() || request->second.present;
    if (!present && child(parameter, 1) == dsl::kNoNode) {
        error(diagnostics::kRequired, span(parameter), node(parameter).text);
        return false;
    }
    return declare_tensor(parameter, type, present);
}

bool Lowerer::declare_tensor(dsl::NodeId parameter, dsl::NodeId type, bool present) {
    const dsl::Node& declared = node(parameter);
    const std::optional<ir::ScalarType> element = scalar_type(node(child(type, 0)).text, span(child(type, 0)));
    if (!element) return false;
    const auto request = request_.parameters.find(std::string(declared.text));
    if (request != request_.parameters.end() && request->second.element && *request->second.element != *element) {
        error(diagnostics::kMismatch, span(parameter), fmt::format("`{}`", declared.text), ir::name(*element),
              ir::name(*request->second.element));
        return false;
    }
    const ir::Access access = node(type).text == "in"    ? ir::Access::In
                              : node(type).text == "out" ? ir::Access::Out
                                                         : ir::Access::InOut;
    const auto index = static_cast<std::uint32_t>(result_.kernel.parameters.size());
    ir::Shape shape;
    for (const dsl::NodeId size : children(child(type, 1))) {
        if (shape.rank() == ir::kMaxRank) {
            error(diagnostics::kTooManyAxes, span(size), ir::kMaxRank);
            return false;
        }
        const auto axis = static_cast<std::uint32_t>(shape.rank());
        shape.push_back(present ? static_size(size).value_or(ir::kDynamic) : ir::kDynamic);
        if (shape.back() < 0 && shape.back() != ir::kDynamic) {
            error(diagnostics::kExtent, span(size), shape.back());
            return false;
        }
        if (node(size).kind == dsl::NodeKind::AnySize) continue;
        (present ? axes_ : absent_axes_).push_back({index, axis, size, shape.back() != ir::kDynamic});
    }
    const ir::ValueId value =
        result_.kernel.add_value(ir::Type::tensor(access, *element, shape), std::string(declared.text));
    const ir::TensorFacts facts = request == request_.parameters.end() ? ir::TensorFacts{} : request->second.facts;
    result_.kernel.parameters.push_back({std::string(declared.text), value, present, declared.name_span, facts});
    parameter_tensors_.push_back(nullptr);
    if (!present) {
        declare(declared.text, {}, declared.name_span, BindingKind::Absent);
        return true;
    }
    Tensor& tensor = tensors_.emplace_back();
    tensor = {value, access, std::vector<std::optional<ir::ValueId>>(shape.rank()), declared.text};
    parameter_tensors_.back() = &tensor;
    declare(declared.text, Value::of(tensor), declared.name_span);
    return true;
}

bool Lowerer::declare_scalar(dsl::NodeId parameter, dsl::NodeId type) {
    const dsl::Node& declared = node(parameter);
    const SurfaceType wanted = type_of(type);
    if (wanted.form == TypeForm::Poison) return false;
    if (wanted.form != TypeForm::Data || !wanted.data.is_scalar()) {
        error(diagnostics::kParameterType, span(type), type_text(wanted))
            .help("a tensor has a direction, as in `in T[N]`");
        return false;
    }
    if (const dsl::NodeId initial = child(parameter, 1); initial != dsl::kNoNode) {
        const Value value = compile_time(initial, type, fmt::format("the default of `{}`", declared.text));
        if (value.poison()) return false;
        result_.defaults[std::string(declared.text)] = value.constant.scalar;
    }
    const ir::ValueId value = result_.kernel.add_value(wanted.data, std::string(declared.text));
    result_.kernel.parameters.push_back({std::string(declared.text), value, true, declared.name_span, {}});
    parameter_tensors_.push_back(nullptr);
    declare(declared.text, Value::runtime(value), declared.name_span);
    return true;
}

std::optional<std::int64_t> Lowerer::static_size(dsl::NodeId size) {
    if (node(size).kind == dsl::NodeKind::AnySize || !is_compile_time(size)) return std::nullopt;
    return constant_int(size, "a size");
}

void Lowerer::bind_sizes() {
    // Plain names bind first, then the solved forms, then the rest is compared.
    for (TensorAxis& axis : axes_) {
        const dsl::Node& size = node(axis.size);
        if (axis.fixed || size.kind != dsl::NodeKind::Name || find(size.text) != nullptr) continue;
        bind_size_to(axis, size.text, {1, 0});
    }
    for (TensorAxis& axis : axes_) {
        const std::optional<Solved> solved = axis.fixed ? std::nullopt : solved_form(axis.size);
        if (!solved || find(solved->name) != nullptr) continue;
        if (const std::optional<Linear> form = linear(*solved)) bind_size_to(axis, solved->name, *form);
    }
    for (const TensorAxis& axis : axes_) {
        if (!axis.bound) check_size(axis);
    }
    for (const TensorAxis& axis : absent_axes_) {
        const std::optional<Solved> solved = solved_form(axis.size);
        const std::string_view name = solved ? solved->name : node(axis.size).text;
        const bool names = solved || node(axis.size).kind == dsl::NodeKind::Name;
        if (names && !resolve(name).found()) declare(name, {}, span(axis.size), BindingKind::Absent);
    }
}

/// What divides a size of which an axis has the extent size * scale + offset.
std::int64_t Lowerer::proven_divisor(const TensorAxis& axis, Linear form) const {
    const auto request = request_.parameters.find(result_.kernel.parameters[axis.parameter].name);
    if (request == request_.parameters.end() || request->second.divisors.rank() <= axis.axis) return 1;
    const std::int64_t of_extent = request->second.divisors[axis.axis];
    const std::int64_t of_product = std::gcd(of_extent, form.offset % of_extent);
    return of_product / std::gcd(of_product, form.scale % of_product);
}

void Lowerer::bind_size_to(TensorAxis& axis, std::string_view name, Linear form) {
    axis.bound = true;
    const ir::ValueId size = result_.kernel.add_value(ir::Type::scalar(ir::kInt), std::string(name));
    result_.kernel.sizes.push_back(
        {std::string(name), size, axis.parameter, axis.axis, form.scale, form.offset, proven_divisor(axis, form)});
    declare(name, Value::runtime(size), span(axis.size));
    if (form.scale == 1 && form.offset == 0) parameter_tensors_[axis.parameter]->sizes[axis.axis] = size;
}

void Lowerer::check_size(const TensorAxis& axis) {
    const std::optional<ir::ValueId> expected = index_value(axis.size);
    if (!expected) return;
    result_.kernel.checks.push_back({axis.parameter, axis.axis, *expected, text(axis.size)});
    parameter_tensors_[axis.parameter]->sizes[axis.axis] = *expected;
}

void Lowerer::lower_clause(dsl::NodeId clause) {
    switch (node(clause).kind) {
        case dsl::NodeKind::Tune:
            for (const dsl::NodeId tunable : children(clause)) declare_tunable(tunable, result_.tunables);
            return;
        case dsl::NodeKind::Where:
            return lower_where(clause);
        case dsl::NodeKind::Require:
            return lower_require(clause);
        case dsl::NodeKind::Allow:
            return lower_allow(clause);
        case dsl::NodeKind::Scratch:
            return lower_scratch(clause);
        case dsl::NodeKind::Reference:
            return lower_reference(clause);
        case dsl::NodeKind::Let:
            return let_statement(clause, BindingKind::Fixed);
        case dsl::NodeKind::Constant:
            return constant_statement(clause);
        case dsl::NodeKind::Schedule:
        case dsl::NodeKind::Error:
            return;
        default:
            throw support::InternalError("frontend::lower_clause", "a node that is no clause: " + text(clause));
    }
}

void Lowerer::lower_where(dsl::NodeId clause) {
    for (const dsl::NodeId id : children(clause)) {
        if (is_compile_time(id)) continue;  // decided when the configuration was chosen
        const std::optional<ir::ValueId> holds = condition(id);
        builder_.set_span(span(id));
        if (holds) builder_.require(*holds, fmt::format("`where {}` does not hold", text(id)), {});
    }
}

Lowerer::Message Lowerer::message_of(dsl::NodeId condition_node, std::string_view what) {
    const std::span<const dsl::NodeId> parts = children(condition_node);
    Message message;
    if (parts.size() < 2 || parts[1] == dsl::kNoNode) {
        message.text = fmt::format("`{}{}{}` does not hold", what, what.empty() ? "" : " ", text(parts[0]));
        return message;
    }
    message.text = dsl::unescape(node(parts[1]).text);
    for (const dsl::NodeId argument : parts.subspan(2))
        message.arguments.push_back({expression(argument), span(argument)});
    return message;
}

std::string Lowerer::formatted(const Message& message) const {
    std::string result = message.text;
    std::size_t from = 0;
    for (const Operand& argument : message.arguments) {
        const std::size_t hole = result.find("{}", from);
        if (hole == std::string::npos) break;
        const bool known = argument.value.is_constant();
        const std::string shown = known ? ir::to_string(argument.value.constant.scalar) : source_text(argument.span);
        result.replace(hole, 2, shown);
        from = hole + shown.size();
    }
    return result;
}

void Lowerer::lower_require(dsl::NodeId clause) {
    const dsl::NodeId condition_node = child(clause, 0), test = child(condition_node, 0);
    const Value value = expression(test);
    if (value.is_constant() && value.constant.scalar.type == ir::ScalarType::Bool) {
        if (value.constant.scalar.as_bool() || checking_) return;
        error(diagnostics::kRequireFails, span(test), formatted(message_of(condition_node, "require")));
        return;
    }
    if (value.poison()) return;
    const std::optional<ir::ValueId> holds = condition_value(value, span(test));
    const Message message = message_of(condition_node, "require");
    std::vector<ir::ValueId> arguments;
    for (const Operand& argument : message.arguments) {
        const Value shown = materialise(argument.value, argument.span);
        if (shown.poison()) return;
        if (!shown.is_runtime()) {
            error(diagnostics::kOperandClass, argument.span, "a message", "scalars", type_text(shown));
            return;
        }
        arguments.push_back(shown.id);
    }
    builder_.set_span(span(test));
    if (holds) builder_.require(*holds, message.text, std::move(arguments));
}

void Lowerer::lower_allow(dsl::NodeId clause) {
    for (const dsl::NodeId name : children(clause)) {
        const std::string_view word = node(name).text;
        ir::Freedoms& freedoms = result_.kernel.freedoms;
        if (word == "flush") freedoms.flush = true;
        if (word == "approx") freedoms.approximate = true;
        if (word == "contract") freedoms.contract = true;
        if (word == "reassociate") freedoms.reassociate = true;
    }
}

void Lowerer::lower_reference(dsl::NodeId clause) {
    const std::span<const dsl::NodeId> parts = children(clause);
    result_.reference = node(parts[0]).text;
    const auto bound = [&](dsl::NodeId id) -> std::optional<double> {
        if (!is_compile_time(id)) {
            unsupported("a bound of `within` that depends on run-time sizes", span(id));
            return std::nullopt;
        }
        const std::optional<ir::Scalar> scalar = constant_scalar(expression(id), span(id), "a bound of `within`");
        if (!scalar) return std::nullopt;
        return scalar->as_double();
    };
    if (parts.size() > 1) result_.relative_bound = bound(parts[1]);
    if (parts.size() > 2) result_.absolute_bound = bound(parts[2]);
}

void Lowerer::lower_scratch(dsl::NodeId clause) {
    const dsl::Node& declared = node(clause);
    const dsl::NodeId type = child(clause, 0), initial = child(clause, 1);
    if (node(type).kind != dsl::NodeKind::NamedType || child(type, 1) == dsl::kNoNode) {
        error(diagnostics::kScratchType, span(type), declared.text);
        return;
    }
    const std::optional<ir::ScalarType> element = scalar_type(node(child(type, 0)).text, span(child(type, 0)));
    ir::Scratch scratch{std::string(declared.text), {}, {}, {}};
    Tensor& tensor = tensors_.emplace_back();
    ir::Shape shape;
    for (const dsl::NodeId size : children(child(type, 1))) {
        const Value value = expression(size);
        const std::optional<ir::ValueId> extent = index_value(value, span(size));
        if (!extent || !element) return;
        if (shape.rank() == ir::kMaxRank) {
            error(diagnostics::kTooManyAxes, span(size), ir::kMaxRank);
            return;
        }
        shape.push_back(value.is_constant() ? value.constant.scalar.as_int64() : ir::kDynamic);
        if (value.is_constant() && shape.back() < 0) {
            error(diagnostics::kExtent, span(size), shape.back());
            return;
        }
        scratch.extents.push_back(*extent);
        tensor.sizes.push_back(*extent);
    }
    if (initial != dsl::kNoNode) {
        const Value value = materialise(coerce(expression(initial), SurfaceType::of(ir::Type::scalar(*element)), false,
                                               span(initial), "the initial value"),
                                        span(initial));
        if (value.poison()) return;
        scratch.initial = value.id;
    }
    tensor.access = ir::Access::InOut;
    tensor.name = declared.text;
    tensor.value =
        result_.kernel.add_value(ir::Type::tensor(tensor.access, *element, shape), std::string(declared.text));
    scratch.value = tensor.value;
    result_.kernel.scratch.push_back(std::move(scratch));
    declare(declared.text, Value::of(tensor), declared.name_span);
}

std::optional<ir::GridAxis> Lowerer::grid_axis(dsl::NodeId axis) {
    const std::optional<LoopRange> range = loop_range(child(axis, 0));
    if (!range) return std::nullopt;
    return ir::GridAxis{std::string(node(axis).text), range->lower, range->upper, range->step};
}

void Lowerer::lower_phase(dsl::NodeId phase) {
    const Visit visit(*this);
    builder_.set_block(result_.kernel.host);
    const std::size_t first_op = result_.kernel.ops.size();
    ir::Phase lowered;
    lowered.span = span(child(phase, 0));
    lowered.block = result_.kernel.add_block();
    for (const dsl::NodeId axis : children(child(phase, 0))) {
        const std::optional<ir::GridAxis> known = grid_axis(axis);
        if (!known) return;
        lowered.axes.push_back(*known);
    }
    check_host_ops(first_op);
    for (const dsl::NodeId axis : children(child(phase, 0))) {
        const dsl::Node& declared = node(axis);
        const ir::ValueId offset =
            result_.kernel.add_argument(lowered.block, ir::Type::scalar(ir::kInt), std::string(declared.text));
        declare(declared.text, Value::runtime(offset), declared.name_span);
    }
    Frame frame;
    frame.name = node(kernel_node_).text;
    frame_ = &frame;
    builder_.set_block(lowered.block);
    block(child(phase, 1));
    builder_.set_block(result_.kernel.host);
    result_.kernel.phases.push_back(std::move(lowered));
}

}  // namespace kiln::frontend
