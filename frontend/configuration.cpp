// Which kernel, which generics, which tunables: everything a specialisation is chosen by.
#include "frontend/lowering.h"
#include "ir/semantics.h"
#include "ir/support/internal_error.h"

namespace kiln::frontend {

bool Lowerer::find_kernel() {
    file_ = 0;
    const Resolved resolved = resolve_path(request_.kernel);
    const bool found = resolved.declaration != dsl::kNoNode &&
                       program_.files[resolved.file].ast[resolved.declaration].kind == dsl::NodeKind::Kernel;
    if (found) {
        file_ = resolved.file;
        kernel_node_ = resolved.declaration;
        return true;
    }
    std::vector<std::string_view> kernels;
    for (const auto& [name, declaration] : program_.files[0].declarations) {
        if (node(declaration).kind == dsl::NodeKind::Kernel) kernels.push_back(name);
    }
    const std::string_view near = support::nearest_name(request_.kernel, kernels);
    support::Diagnostic& unknown = error(diagnostics::kUnknownKernel, support::Span{program_.files[0].source, 0, 0},
                                         program_.files[0].path, request_.kernel);
    if (!near.empty()) unknown.help(fmt::format("did you mean `{}`?", near));
    return false;
}

bool Lowerer::check_request() {
    const auto declared = [&](std::string_view name, std::size_t which, bool tunables) {
        if (part(which) == dsl::kNoNode) return false;
        for (const dsl::NodeId entry : children(part(which))) {
            if (!tunables && node(entry).text == name) return true;
            if (!tunables || node(entry).kind != dsl::NodeKind::Tune) continue;
            for (const dsl::NodeId tunable : children(entry)) {
                if (node(tunable).text == name) return true;
            }
        }
        return false;
    };
    const auto check = [&](const auto& given, std::string_view what, std::size_t which, bool tunables) {
        for (const auto& [name, value] : given) {
            if (declared(name, which, tunables)) continue;
            error(diagnostics::kUnknownRequest, node(kernel_node_).name_span, request_.kernel, what, name);
            return false;
        }
        return true;
    };
    return check(request_.generics, "generic", 0, false) && check(request_.parameters, "parameter", 1, false) &&
           check(request_.tunables, "tunable", 2, true) && check_requested_schedule();
}

bool Lowerer::bind_generics() {
    if (part(0) == dsl::kNoNode) return true;
    for (const dsl::NodeId generic : children(part(0))) {
        if (!bind_generic(generic)) return false;
    }
    return true;
}

bool Lowerer::bind_generic(dsl::NodeId generic) {
    const std::string name{node(generic).text};
    const bool is_type = generic_is_type(generic);
    std::optional<GenericValue> given;
    const auto asked = request_.generics.find(name);
    if (asked != request_.generics.end()) given = asked->second;
    if (!given) given = deduce_generic(name, is_type);
    if (given) return declare_generic(generic, *given);
    const dsl::NodeId initial = child(generic, 1);
    if (initial == dsl::kNoNode) {
        if (checking_) return representative(generic).has_value();
        error(diagnostics::kGenericMissing, span(generic), name).help("pass it when asking for the kernel");
        return false;
    }
    if (is_type) {
        const std::optional<ir::ScalarType> type = scalar_type(text(initial), span(initial));
        return type && declare_generic(generic, *type);
    }
    Value value = compile_time(initial, child(generic, 0), fmt::format("`{}`", name));
    if (value.poison()) return false;
    result_.generics[name] = recorded(value);
    declare(node(generic).text, std::move(value), node(generic).name_span);
    return true;
}

bool Lowerer::declare_generic(dsl::NodeId generic, const GenericValue& given) {
    const dsl::Node& declared = node(generic);
    const auto* type = std::get_if<ir::ScalarType>(&given);
    if (generic_is_type(generic) != (type != nullptr)) {
        error(diagnostics::kGenericKind, span(generic), declared.text, generic_is_type(generic) ? "a type" : "a value");
        return false;
    }
    if (type != nullptr) {
        if (!check_class(generic, *type, span(generic))) return false;
        declare_type(declared.text, *type, declared.name_span);
    } else {
        Value value = given_value(generic, given);
        if (value.poison()) return false;
        declare(declared.text, std::move(value), declared.name_span);
    }
    result_.generics[std::string(declared.text)] = given;
    return true;
}

Value Lowerer::given_value(dsl::NodeId generic, const GenericValue& given) {
    const SurfaceType wanted = type_of(child(generic, 0));
    const std::string what = fmt::format("`{}`", node(generic).text);
    if (const auto* scalar = std::get_if<ir::Scalar>(&given)) {
        return coerce(Value::typed(*scalar), wanted, false, span(generic), what);
    }
    const std::string& path = std::get<FunctionName>(given).path;
    Resolved resolved;
    {
        const Visit visit(*this);
        file_ = 0;
        scope_ = nullptr;
        resolved = resolve_path(path);
    }
    const bool function = resolved.declaration != dsl::kNoNode &&
                          program_.files[resolved.file].ast[resolved.declaration].kind == dsl::NodeKind::Function;
    if (!function) {
        error(diagnostics::kGenericKind, span(generic), node(generic).text, "a function that the file can name");
        return {};
    }
    return coerce(Value::of(FunctionValue{resolved.file, resolved.declaration, nullptr}), wanted, false, span(generic),
                  what);
}

std::optional<GenericValue> Lowerer::deduce_generic(std::string_view name, bool is_type) {
    std::optional<GenericValue> solved;
    for (const dsl::NodeId parameter : children(part(1))) {
        const dsl::NodeId type = child(parameter, 0);
        const auto request = request_.parameters.find(std::string(node(parameter).text));
        if (request == request_.parameters.end() || !request->second.present) continue;
        if (is_type) {
            const bool plain = node(type).kind == dsl::NodeKind::TensorType ||
                               (node(type).kind == dsl::NodeKind::NamedType && child(type, 1) == dsl::kNoNode);
            if (plain && request->second.element && node(child(type, 0)).text == name) return *request->second.element;
            continue;
        }
        if (node(type).kind != dsl::NodeKind::TensorType || !request->second.sizes) continue;
        const std::span<const dsl::NodeId> sizes = children(child(type, 1));
        for (std::size_t axis = 0; axis < sizes.size() && axis < request->second.sizes->rank(); ++axis) {
            const std::int64_t extent = (*request->second.sizes)[axis];
            if (extent == ir::kDynamic) continue;
            if (node(sizes[axis]).kind == dsl::NodeKind::Name && node(sizes[axis]).text == name) {
                return ir::Scalar::int64(extent);
            }
            if (!solved) solved = deduce_from_size(sizes[axis], name, extent);
        }
    }
    return solved;
}

std::optional<GenericValue> Lowerer::deduce_from_size(dsl::NodeId size, std::string_view name, std::int64_t extent) {
    const std::optional<Solved> form = solved_form(size);
    if (!form || form->name != name) return std::nullopt;
    const std::optional<Linear> factors = linear(*form);
    if (!factors) return std::nullopt;
    const std::int64_t scaled = extent - factors->offset;
    // What does not solve is left open here; the launch compares the size and names both places.
    if (scaled < 0 || scaled % factors->scale != 0) return std::nullopt;
    return ir::Scalar::int64(scaled / factors->scale);
}

std::optional<Value> Lowerer::representative(dsl::NodeId generic) {
    const dsl::Node& declared = node(generic);
    if (generic_is_type(generic)) {
        const std::string_view wanted = node(child(child(generic, 0), 0)).text;
        const ir::ScalarType type = admits(wanted, kRepresentativeType) ? kRepresentativeType : ir::ScalarType::I32;
        declare_type(declared.text, type, declared.name_span);
        return Value{};
    }
    const SurfaceType wanted = type_of(child(generic, 0));
    if (wanted.form != TypeForm::Data || !wanted.data.is_scalar()) return std::nullopt;
    const bool flag = wanted.data.element == ir::ScalarType::Bool;
    Value value = flag ? Value::typed(ir::Scalar::boolean(true))
                       : coerce(Value::untyped_int(kRepresentativeSize), wanted, false, span(generic), "the generic");
    if (value.poison()) return std::nullopt;
    declare(declared.text, value, declared.name_span);
    return value;
}

GenericValue Lowerer::recorded(const Value& value) const {
    if (value.is_constant()) return value.constant.scalar;
    if (value.kind != ValueKind::Function) throw support::InternalError("frontend::recorded", "no value of a generic");
    const std::string name{program_.files[value.function.file].ast[value.function.node].text};
    if (value.function.file == 0) return FunctionName{name};
    for (const auto& [alias, file] : program_.files[0].imports) {
        if (file == value.function.file) return FunctionName{std::string(alias) + "." + name};
    }
    return FunctionName{program_.files[value.function.file].path + ":" + name};
}

std::optional<ir::Scalar> Lowerer::tunable_value(dsl::NodeId choice) {
    if (!is_compile_time(choice)) {
        error(diagnostics::kNotCompileTime, span(choice), "a choice of a tunable");
        return std::nullopt;
    }
    const Value value = expression(choice);
    const std::optional<ir::Scalar> scalar = constant_scalar(value, span(choice), "a choice of a tunable");
    if (!scalar || scalar->type == ir::ScalarType::I64 || scalar->type == ir::ScalarType::Bool) return scalar;
    error(diagnostics::kOperandClass, span(choice), "a tunable", "int or bool", type_text(value));
    return std::nullopt;
}

Lowerer::Choices Lowerer::all_choices() {
    Choices all;
    Binding* const outer = scope_;
    for (const dsl::NodeId clause : children(part(2))) {
        if (node(clause).kind == dsl::NodeKind::Constant && is_compile_time(child(clause, 1))) {
            constant_statement(clause);
        }
        if (node(clause).kind != dsl::NodeKind::Tune) continue;
        for (const dsl::NodeId tunable : children(clause)) {
            TunableChoices choices{node(tunable).text, {}};
            const auto asked = request_.tunables.find(std::string(choices.name));
            std::span<const dsl::NodeId> written = scheduled_choices(choices.name);
            if (written.empty()) written = children(tunable);
            if (asked != request_.tunables.end()) {
                choices.choices.push_back(asked->second);
                written = {};
            }
            for (const dsl::NodeId choice : written) {
                if (const auto value = tunable_value(choice)) choices.choices.push_back(*value);
            }
            all.tunables.push_back(std::move(choices));
        }
    }
    if (checking_) check_schedules();
    all.keys = key_choices();
    scope_ = outer;
    return all;
}

void Lowerer::each_configuration(const std::function<bool(const ir::Configuration&)>& take) {
    const Choices choices = all_choices();
    std::vector<std::size_t> counts;
    for (const TunableChoices& tunable : choices.tunables) counts.push_back(tunable.choices.size());
    for (const KeyChoices& key : choices.keys) counts.push_back(key.choices.size());
    if (std::find(counts.begin(), counts.end(), 0) != counts.end()) return;
    std::vector<std::size_t> at(counts.size(), 0);
    while (true) {
        const ir::Configuration configuration = choices.at(at);
        if ((checking_ || is_legal(configuration)) && !take(configuration)) return;
        std::size_t i = counts.size();
        while (i > 0 && ++at[i - 1] == counts[i - 1]) at[--i] = 0;
        if (i == 0) return;
    }
}

ir::Configuration Lowerer::Choices::at(std::span<const std::size_t> places) const {
    ir::Configuration configuration;
    for (std::size_t i = 0; i < tunables.size(); ++i) {
        configuration.tunables[std::string(tunables[i].name)] = tunables[i].choices[places[i]];
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
        configuration.schedule[std::string(keys[i].key)] = keys[i].choices[places[tunables.size() + i]];
    }
    return configuration;
}

bool Lowerer::is_legal(const ir::Configuration& configuration) {
    // A ring's stages take a slot each.
    const std::int64_t stages = ir::schedule_number(configuration.schedule, "stages", 1);
    if (ir::schedule_number(configuration.schedule, "slots", stages) < stages) {
        too_few_slots_ = true;
        return false;
    }
    Binding* const outer = scope_;
    bool legal = true;
    for (const dsl::NodeId clause : children(part(2))) {
        switch (node(clause).kind) {
            case dsl::NodeKind::Tune:
                for (const dsl::NodeId tunable : children(clause)) declare_tunable(tunable, configuration.tunables);
                break;
            case dsl::NodeKind::Constant:
                if (is_compile_time(child(clause, 1))) constant_statement(clause);
                break;
            case dsl::NodeKind::Where:
                for (const dsl::NodeId condition_node : children(clause)) {
                    if (!legal || !is_compile_time(condition_node)) continue;
                    const std::optional<bool> holds = constant_bool(condition_node, "the condition of `where`");
                    legal = holds.value_or(false);
                    if (!legal) ++rejections_[condition_node];
                }
                break;
            default:
                break;
        }
    }
    scope_ = outer;
    return legal;
}

void Lowerer::declare_tunable(dsl::NodeId tunable, const std::map<std::string, ir::Scalar>& values) {
    const dsl::Node& declared = node(tunable);
    declare(declared.text, Value::typed(values.at(std::string(declared.text))), declared.name_span);
}

void Lowerer::report_no_configuration() {
    dsl::NodeId worst = dsl::kNoNode;
    for (const auto& [where, count] : rejections_) {
        if (worst == dsl::kNoNode || count > rejections_[worst]) worst = where;
    }
    if (worst == dsl::kNoNode) {  // a choice was wrong, which has been said, or:
        if (too_few_slots_) error(diagnostics::kTooFewSlots, node(kernel_node_).name_span);
        return;
    }
    std::string known;
    list_constants(worst, known);
    error(diagnostics::kNoConfiguration, span(worst), text(worst), known.empty() ? known : " (" + known + ")");
}

void Lowerer::list_constants(dsl::NodeId id, std::string& list) const {
    if (node(id).kind == dsl::NodeKind::Name) {
        const Binding* binding = find(node(id).text);
        if (binding == nullptr || !binding->value.is_constant()) return;
        const std::string entry = fmt::format("{} is {}", binding->name, ir::to_string(binding->value.constant.scalar));
        if (list.find(entry) == std::string::npos) list += (list.empty() ? "" : ", ") + entry;
        return;
    }
    for (const dsl::NodeId inner : children(id)) {
        if (inner != dsl::kNoNode) list_constants(inner, list);
    }
}

std::vector<ir::Configuration> Lowerer::all_configurations() {
    std::vector<ir::Configuration> all;
    if (!open_kernel()) return all;
    each_configuration([&](const ir::Configuration& configuration) {
        all.push_back(configuration);
        return true;
    });
    if (all.empty()) report_no_configuration();
    return all;
}

}  // namespace kiln::frontend
