#include "runtime/state.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/schedule.h"
#include "runtime/argument_facts.h"
#include "runtime/standard_library.h"

namespace kiln::runtime {

namespace {

template <class Items>
Error unknown_name(const std::string& what, const std::string& name, const Items& known) {
    const std::vector<std::string_view> names(known.begin(), known.end());
    const std::string_view nearest = support::nearest_name(name, names);
    const std::string hint = nearest.empty() ? "" : fmt::format("; did you mean `{}`?", nearest);
    return Error(ErrorKind::user, fmt::format("{} `{}`{}", what, name, hint));
}

/// A host's value as a scalar of the type a generic declares (`int`, `bool`, `f32`, ...).
ir::Scalar to_scalar(const std::string& name, const std::string& type_text, const GenericValue& value) {
    const ir::ScalarType type = ir::scalar_type_named(type_text).value_or(ir::kInt);
    if (const bool* truth = std::get_if<bool>(&value)) return number_of_type(name, type, *truth);
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return number_of_type(name, type, *integer);
    if (const auto* natural = std::get_if<std::uint64_t>(&value)) return number_of_type(name, type, *natural);
    if (const double* real = std::get_if<double>(&value)) return number_of_type(name, type, *real);
    throw Error(ErrorKind::user, fmt::format("`{}` takes a number ({})", name, type_text));
}

}  // namespace

frontend::FileReader with_standard_library(frontend::FileReader reader) {
    return [reader = std::move(reader)](const std::string& path) -> std::optional<std::string> {
        if (const auto text = standard_library_text(path)) return std::string(*text);
        return reader(path);
    };
}

Generic parse_generic(const ModuleState& module, const std::string& kernel, const std::string& name,
                      const std::string& text) {
    if (const auto value = frontend::parse_generic(module.program(), kernel, name, text)) {
        return to_generic(name, *value);
    }
    if (frontend::find_schedule_key(name) != nullptr) return {name, text};
    throw Error(ErrorKind::user, fmt::format("`{}` of `{}` cannot be `{}`", name, kernel, text));
}

Generic to_generic(const std::string& name, const frontend::GenericValue& value) {
    if (const auto* type = std::get_if<ir::ScalarType>(&value)) return {name, to_dtype(*type)};
    if (const auto* function = std::get_if<frontend::FunctionName>(&value)) return {name, function->path};
    const ir::Scalar scalar = std::get<ir::Scalar>(value);
    if (scalar.type == ir::ScalarType::Bool) return {name, scalar.as_bool()};
    if (ir::is_float(scalar.type)) return {name, scalar.as_double()};
    return {name, scalar.as_int64()};
}

ModuleState::ModuleState(const std::string& path, const frontend::FileReader& reader)
    : cache_(KernelCache::default_folder()) {
    support::Diagnostics diagnostics;
    program_ = frontend::load_program(path, reader, diagnostics);
    if (diagnostics.has_errors()) throw Error(ErrorKind::user, diagnostics.render(program_.sources));
    signatures_ = frontend::signatures(program_);
}

const frontend::KernelSignature& ModuleState::find(const std::string& kernel) const {
    std::vector<std::string_view> names;
    for (const frontend::KernelSignature& signature : signatures_) {
        if (signature.name == kernel) return signature;
        names.push_back(signature.name);
    }
    throw unknown_name("there is no kernel", kernel, names);
}

PreparedState::PreparedState(std::shared_ptr<const CompiledKernel> compiled, LaunchOrigin origin, ir::Launch launch,
                             std::vector<ir::Argument> arguments, const std::shared_ptr<DeviceStream>& stream)
    : compiled_(std::move(compiled)),
      origin_(std::move(origin)),
      launch_(std::move(launch)),
      arguments_(std::move(arguments)),
      bound_(compiled_->code->bind(compiled_->kernel(), launch_, arguments_, stream)) {}

const LaunchInfo& PreparedState::info() {
    if (!info_) {
        info_ = compiled_->info;
        if (!origin_.was_cold) {
            info_->source = LaunchInfo::Source::memory;
            info_->seconds = 0;
        }
        info_->choice = origin_.choice;
        info_->chosen_from = origin_.chosen_from;
    }
    return *info_;
}

KernelState::KernelState(std::shared_ptr<const ModuleState> module, const std::string& name,
                         const std::vector<Generic>& generics)
    : module_(std::move(module)), signature_(&module_->find(name)) {
    for (const Generic& generic : generics) add_generic(generic);
}

namespace {

ir::ScheduleValue to_schedule_value(const Generic& given) {
    if (const auto* number = std::get_if<std::int64_t>(&given.value)) return ir::ScheduleValue::number(*number);
    if (const bool* truth = std::get_if<bool>(&given.value)) return {*truth ? "true" : "false", {}};
    const auto* text = std::get_if<std::string>(&given.value);
    if (auto value = text == nullptr ? std::nullopt : ir::parse_schedule_value(*text)) return std::move(*value);
    throw Error(ErrorKind::user, fmt::format("`{}` takes a number, or a word of the schedule", given.name));
}

}  // namespace

void KernelState::add_generic(const Generic& given) {
    std::vector<std::string_view> names;
    for (const frontend::GenericSignature& generic : signature_->generics) {
        names.push_back(generic.name);
        if (generic.name != given.name) continue;
        const auto* dtype = std::get_if<DType>(&given.value);
        const auto* text = std::get_if<std::string>(&given.value);
        switch (generic.kind) {
            case frontend::GenericKind::Type:
                if (dtype == nullptr)
                    throw Error(ErrorKind::user, fmt::format("`{}` takes an element type", given.name));
                generics_[given.name] = to_scalar_type(*dtype);
                return;
            case frontend::GenericKind::Function:
                if (text == nullptr)
                    throw Error(ErrorKind::user, fmt::format("`{}` takes a function's name", given.name));
                generics_[given.name] = frontend::FunctionName{*text};
                return;
            case frontend::GenericKind::Value:
                generics_[given.name] = to_scalar(given.name, generic.type_text, given.value);
                return;
        }
    }
    for (const frontend::TunableSignature& tunable : signature_->tunables) {
        names.push_back(tunable.name);
        if (tunable.name != given.name) continue;
        const bool is_truth = std::holds_alternative<bool>(given.value);
        given_.tunables[given.name] = to_scalar(given.name, is_truth ? "bool" : "int", given.value);
        return;
    }
    if (frontend::find_schedule_key(given.name) != nullptr) {
        given_.schedule[given.name] = to_schedule_value(given);
        return;
    }
    throw unknown_name(fmt::format("`{}` has no generic or tunable", signature_->name), given.name, names);
}

frontend::Request KernelState::base_request() const {
    frontend::Request request;
    request.kernel = signature_->name;
    request.generics = generics_;
    request.tunables = given_.tunables;
    request.schedule = given_.schedule;
    return request;
}

frontend::Request KernelState::request(const DeviceBackend& backend, std::span<const Argument* const> matched) const {
    check_elements(*signature_, generics_, matched);
    frontend::Request request = base_request();
    request.parameters = describe_arguments(*signature_, matched);
    if (backend.uses_facts()) add_facts(request, *signature_, matched);
    request.targets = backend.schedule_names();
    request.units = backend.units();
    request.fits_32_bits = all_fit_32_bits(matched);
    return request;
}

KernelState::Compiled KernelState::find_or_compile(const LaunchPlace& place, Matched matched,
                                                   const ConfigurationChoice& choice, bool& was_cold) {
    const DeviceBackend& backend = place.backend;
    std::string key = backend.name() + "/" + argument_key(*signature_, matched);
    key += all_fit_32_bits(matched) ? ";32" : ";64";
    if (backend.uses_facts()) key += fact_key(*signature_, matched);
    key += ";" + ir::to_string(choice.configuration);
    std::promise<Compiled> promise;
    {
        std::unique_lock lock(mutex_);
        if (const auto found = compiled_.find(key); found != compiled_.end()) {
            const std::shared_future<Compiled> future = found->second;
            lock.unlock();
            return future.get();
        }
        compiled_.emplace(key, promise.get_future().share());
    }
    was_cold = true;
    try {
        place.stream->check_may_load(name());
        frontend::Request asked = request(backend, matched);
        if (!choice.configuration.empty()) {
            asked.tunables = choice.configuration.tunables;
            asked.schedule = choice.configuration.schedule;
        }
        Compiled compiled = compile_kernel(module_->program(), asked, backend, module_->cache());
        promise.set_value(compiled);
        return compiled;
    } catch (...) {
        promise.set_exception(std::current_exception());
        const std::lock_guard lock(mutex_);
        compiled_.erase(key);
        throw;
    }
}

std::shared_ptr<PreparedState> KernelState::bind(const Selection& selection, const LaunchPlace& place, Matched matched,
                                                 bool was_cold) const {
    const ir::Kernel& kernel = selection.compiled->kernel();
    std::vector<ir::Argument> bound = bind_arguments(selection.compiled->specialisation, matched);
    auto launch = ir::prepare_launch(kernel, bound, place.backend.units());
    if (const auto* errors = std::get_if<ir::LaunchErrors>(&launch)) {
        throw Error(ErrorKind::user, fmt::format("{}", fmt::join(errors->messages, "\n")));
    }
    check_aliasing(kernel, bound);
    for (std::size_t i = 0; i < matched.size(); ++i) {
        const Tensor* tensor = matched[i] == nullptr ? nullptr : std::get_if<Tensor>(&matched[i]->value);
        if (tensor != nullptr) place.backend.check_memory(signature_->parameters[i].name, *tensor);
    }
    return std::make_shared<PreparedState>(selection.compiled, LaunchOrigin{was_cold, selection.choice, selection.from},
                                           std::move(std::get<ir::Launch>(launch)), std::move(bound), place.stream);
}

std::shared_ptr<PreparedState> KernelState::prepare(const LaunchPlace& place, std::span<const Argument> arguments) {
    const std::vector<const Argument*> matched = match_arguments(*signature_, arguments);
    Checksum key = launch_key(*signature_, matched, place.backend.uses_facts());
    key.high ^= reinterpret_cast<std::uintptr_t>(&place.backend);  // backends are made once a process
    if (const auto selection = selections_.find(key, tuning_generation())) {
        try {
            return bind(*selection, place, matched, false);
        } catch (const Error&) {
            // Numbers, too, may decide whether a configuration is legal: what was chosen for others is not insisted on.
            if (selection->choice == LaunchInfo::Choice::given || selection->choice == LaunchInfo::Choice::by_default)
                throw;
        }
    }
    return choose_and_prepare(key, place, matched);
}

}  // namespace kiln::runtime
