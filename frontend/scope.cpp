// Names: scopes, files, and what a name means as a value.
#include "frontend/builtins.h"
#include "frontend/lowering.h"
#include "ir/support/internal_error.h"

namespace kiln::frontend {

Binding* Lowerer::declare(std::string_view name, Value value, support::Span span, BindingKind kind) {
    bindings_.push_back(
        {name, scope_, kind, std::move(value), ir::ScalarType::F32, span, lift_ == nullptr ? 0 : lift_->id});
    scope_ = &bindings_.back();
    // In a lifted call, where a scalar may be a tile, the types are not those of the text.
    if (places_ != nullptr && lift_ == nullptr) places_->describe(span, description(*scope_));
    return scope_;
}

std::string Lowerer::description(const Binding& binding) const {
    const Value& value = binding.value;
    if (binding.kind == BindingKind::Absent || value.poison()) return {};
    if (value.is_constant()) {
        return fmt::format("{} = {}", type_text(value), ir::to_string(value.constant.scalar));
    }
    if (value.kind != ValueKind::Tensor) return type_text(value);
    const ir::Type& tensor = builder_.kernel().type(value.tensor->value);
    std::string text;
    for (const std::int64_t size : tensor.shape) {
        text += (text.empty() ? "" : ", ") + (size == ir::kDynamic ? std::string("_") : std::to_string(size));
    }
    return fmt::format("{} {}[{}]", ir::name(tensor.access), ir::name(tensor.element), text);
}

void Lowerer::declare_type(std::string_view name, ir::ScalarType type, support::Span span) {
    declare(name, {}, span, BindingKind::Type)->type = type;
}

Binding* Lowerer::find(std::string_view name) const {
    return find_since(name, nullptr);
}

Binding* Lowerer::find_since(std::string_view name, const Binding* base) const {
    for (Binding* binding = scope_; binding != base && binding != nullptr; binding = binding->outer) {
        if (binding->name == name) return binding;
    }
    return nullptr;
}

Resolved Lowerer::resolve(std::string_view name) const {
    if (Binding* binding = find(name)) return {binding, file_, dsl::kNoNode};
    const auto& declarations = program_.files[file_].declarations;
    const auto found = declarations.find(name);
    return {nullptr, file_, found == declarations.end() ? dsl::kNoNode : found->second};
}

Resolved Lowerer::resolve_path(std::string_view path) const {
    const std::size_t dot = path.find('.');
    if (dot == std::string_view::npos) return resolve(path);
    const auto& imports = program_.files[file_].imports;
    const auto module = imports.find(path.substr(0, dot));
    if (module == imports.end()) return {};
    const auto& declarations = program_.files[module->second].declarations;
    const auto found = declarations.find(path.substr(dot + 1));
    if (found == declarations.end()) return {};
    return {nullptr, module->second, found->second};
}

Value Lowerer::value_of(const Resolved& resolved, std::string_view name, support::Span span) {
    if (resolved.binding != nullptr) return binding_value(*resolved.binding, span);
    if (resolved.declaration != dsl::kNoNode) return declaration_value(resolved.file, resolved.declaration, span);
    error(diagnostics::kNotAValue, span, name);
    return {};
}

namespace {

bool contains_tile(const Value& value, const ir::Kernel& kernel) {
    if (value.is_runtime()) return kernel.type(value.id).is_tile();
    for (const Value& part : value.parts) {
        if (contains_tile(part, kernel)) return true;
    }
    return false;
}

}  // namespace

Value Lowerer::binding_value(const Binding& binding, support::Span span) {
    if (binding.kind == BindingKind::Type) {
        error(diagnostics::kNotAValue, span, binding.name);
        return {};
    }
    if (binding.kind == BindingKind::Absent) {
        error(diagnostics::kAbsent, span, binding.name)
            .help(fmt::format("use it under `static if present({})`", binding.name))
            .note(binding.span, "declared here");
        return {};
    }
    // In a lifted body a tile stands for scalars, one an element; a tile from outside would be taken for such.
    if (lift_ != nullptr && binding.lift != lift_->id && contains_tile(binding.value, builder_.kernel())) {
        refuse_lifted(fmt::format("the tile `{}`", binding.name), span);
        return {};
    }
    return binding.value;
}

Value Lowerer::declaration_value(std::size_t file, dsl::NodeId declaration, support::Span span) {
    const dsl::Node& declared = program_.files[file].ast[declaration];
    if (declared.kind == dsl::NodeKind::Function) return Value::of(FunctionValue{file, declaration, nullptr});
    if (declared.kind != dsl::NodeKind::Constant) {
        error(diagnostics::kNotAValue, span, declared.text).note(declared.name_span, "declared here");
        return {};
    }
    const auto [known, fresh] = file_constants_.try_emplace({file, declaration}, std::nullopt);
    if (!fresh) {
        if (!known->second) error(diagnostics::kCyclicDefinition, span, declared.text);
        return known->second.value_or(Value{});
    }
    const Visit visit(*this);
    file_ = file;
    scope_ = nullptr;
    lift_ = nullptr;
    Value value = compile_time(child(declaration, 1), child(declaration, 0), fmt::format("`{}`", declared.text));
    return *(file_constants_[{file, declaration}] = std::move(value));
}

/// Names that no program declares: builtins, types, and words such as `inf`.
bool Lowerer::known_outside(std::string_view name) const {
    return is_builtin(name) || type_named(name).has_value() || program_.files[file_].imports.contains(name);
}

bool Lowerer::is_compile_time(dsl::NodeId id) const {
    const dsl::Node& expression = node(id);
    if (expression.kind == dsl::NodeKind::Name) {
        const Resolved resolved = resolve(expression.text);
        if (!resolved.found()) return known_outside(expression.text);
        if (resolved.binding == nullptr) return true;
        const Value& value = resolved.binding->value;
        return resolved.binding->kind == BindingKind::Type || value.is_constant() || value.kind == ValueKind::Function;
    }
    std::span<const dsl::NodeId> parts = children(id);
    if (expression.kind == dsl::NodeKind::Suffixed && node(parts[0]).kind == dsl::NodeKind::Name &&
        node(parts[0]).text == "present") {
        return true;
    }
    for (const dsl::NodeId part : parts) {
        if (part != dsl::kNoNode && !is_compile_time(part)) return false;
    }
    return true;
}

void Lowerer::add_call_notes(support::Diagnostic& diagnostic) const {
    constexpr int kShown = 3;
    int shown = 0;
    for (const Frame* frame = frame_; frame != nullptr && frame->caller != nullptr && shown < kShown;
         frame = frame->caller, ++shown) {
        if (frame->caller->name == frame->name) return;  // nobody calls it: check_function does
        diagnostic.note(frame->call, fmt::format("in this call of `{}`", frame->name));
    }
}

Value Lowerer::unsupported(std::string_view what, support::Span span) {
    error(diagnostics::kNotSupported, span, what);
    return {};
}

}  // namespace kiln::frontend
