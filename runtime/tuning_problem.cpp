#include "runtime/tuning_problem.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "frontend/schedule.h"
#include "runtime/compiled_kernel.h"
#include "runtime/key.h"

namespace kiln::runtime {

namespace {

/// Reads a choice as the language writes it. Values wrap nowhere: an overflow is "something else".
class UnitsExpression {
public:
    UnitsExpression(std::string_view text, std::int64_t units) : rest_(text), units_(units) {}

    std::optional<std::int64_t> evaluate() {
        const std::optional<std::int64_t> value = sum(0);
        skip_blanks();
        return rest_.empty() ? value : std::nullopt;
    }

private:
    using Value = std::optional<std::int64_t>;
    static constexpr int kDeepest = 64;

    void skip_blanks() {
        while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t' || rest_.front() == '\n'))
            rest_.remove_prefix(1);
    }
    bool take(std::string_view word) {
        skip_blanks();
        if (!rest_.starts_with(word)) return false;
        rest_.remove_prefix(word.size());
        return true;
    }

    Value sum(int depth) {
        Value left = product(depth);
        while (left) {
            const bool plus = take("+");
            if (!plus && !take("-")) return left;
            const Value right = product(depth);
            left = right ? combine(plus ? '+' : '-', *left, *right) : std::nullopt;
        }
        return left;
    }

    Value product(int depth) {
        Value left = term(depth);
        while (left) {
            const char operation = take("*") ? '*' : take("/") ? '/' : take("%") ? '%' : '\0';
            if (operation == '\0') return left;
            const Value right = term(depth);
            left = right ? combine(operation, *left, *right) : std::nullopt;
        }
        return left;
    }

    static Value combine(char operation, std::int64_t left, std::int64_t right) {
        std::int64_t result = 0;
        switch (operation) {
            case '+':
                return __builtin_add_overflow(left, right, &result) ? Value() : result;
            case '-':
                return __builtin_sub_overflow(left, right, &result) ? Value() : result;
            case '*':
                return __builtin_mul_overflow(left, right, &result) ? Value() : result;
            default:
                break;
        }
        if (right == 0 || (right == -1 && left == std::numeric_limits<std::int64_t>::min())) return std::nullopt;
        // The language rounds towards minus infinity; `%` goes with it.
        const std::int64_t quotient = left / right - (left % right != 0 && (left < 0) != (right < 0) ? 1 : 0);
        return operation == '/' ? quotient : left - quotient * right;
    }

    Value term(int depth) {
        if (depth == kDeepest) return std::nullopt;
        if (take("units")) return take("(") && take(")") ? Value(units_) : std::nullopt;
        if (take("min")) return smaller_or_larger(depth, true);
        if (take("max")) return smaller_or_larger(depth, false);
        if (take("(")) {
            const Value value = sum(depth + 1);
            return take(")") ? value : std::nullopt;
        }
        skip_blanks();
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        if (error != std::errc() || rest_.front() == '-') return std::nullopt;
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return value;
    }

    Value smaller_or_larger(int depth, bool smaller) {
        if (!take("(")) return std::nullopt;
        const Value left = sum(depth + 1);
        if (!left || !take(",")) return std::nullopt;
        const Value right = sum(depth + 1);
        if (!right || !take(")")) return std::nullopt;
        return smaller ? std::min(*left, *right) : std::max(*left, *right);
    }

    std::string_view rest_;
    std::int64_t units_;
};

/// The value of a generic that tensors give: an element type or a plain size.
std::optional<std::string> deduced(const frontend::KernelSignature& signature, const std::string& generic,
                                   std::span<const Argument* const> matched) {
    for (std::size_t i = 0; i < matched.size(); ++i) {
        const frontend::ParameterSignature& parameter = signature.parameters[i];
        if (!parameter.is_tensor || matched[i] == nullptr) continue;
        const Tensor& tensor = std::get<Tensor>(matched[i]->value);
        if (parameter.element == generic) return std::string(name(tensor.dtype));
        for (std::size_t axis = 0; axis < parameter.sizes.size(); ++axis) {
            if (parameter.sizes[axis].text == generic) return std::to_string(tensor.sizes[axis]);
        }
    }
    return std::nullopt;
}

std::map<std::string, std::string> all_generics(const frontend::KernelSignature& signature,
                                                const frontend::Request& request,
                                                std::span<const Argument* const> matched) {
    std::map<std::string, std::string> texts;
    for (const frontend::GenericSignature& generic : signature.generics) {
        if (const auto given = request.generics.find(generic.name); given != request.generics.end()) {
            texts[generic.name] = to_string(given->second);
        } else if (const auto value = deduced(signature, generic.name, matched)) {
            texts[generic.name] = *value;
        } else if (const auto other = texts.find(generic.default_text); other != texts.end()) {
            texts[generic.name] = other->second;  // `Out: float = T`
        } else {
            texts[generic.name] = generic.default_text;
        }
    }
    return texts;
}

/// "f32", "f32@0", "f32@-": the element type, and which axis is contiguous.
std::string tensor_text(const Tensor& tensor) {
    std::string text(name(tensor.dtype));
    const std::size_t rank = tensor.sizes.size();
    for (std::size_t axis = rank; axis-- > 0;) {
        if (tensor.strides[axis] != 1) continue;
        return axis + 1 == rank ? text : fmt::format("{}@{}", text, axis);
    }
    return rank == 0 ? text : text + "@-";
}

bool is_literal(const std::string& text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string kernel_identity(const frontend::Program& program, const std::string& kernel) {
    KeyBuilder key;
    key.add("kernel");
    for (const frontend::File& file : program.files) key.add(program.sources.text(file.source));
    key.add(kernel);
    return key.finish();
}

TuningDevice describe_device(const DeviceBackend& backend) {
    return {backend.name(), backend.description(), backend.fingerprint(), backend.schedule_names(), backend.units()};
}

TuningProblem describe_problem(const frontend::Program& program, const frontend::KernelSignature& signature,
                               const frontend::Request& request, std::span<const Argument* const> matched) {
    TuningProblem problem;
    problem.kernel = kernel_identity(program, signature.name);
    problem.name = signature.name;
    problem.file = program.files[0].path;
    problem.generics = all_generics(signature, request, matched);
    for (std::size_t i = 0; i < matched.size(); ++i) {
        const frontend::ParameterSignature& parameter = signature.parameters[i];
        if (!parameter.is_tensor || matched[i] == nullptr) continue;
        const Tensor& tensor = std::get<Tensor>(matched[i]->value);
        problem.arguments[parameter.name] = tensor_text(tensor);
        for (std::size_t axis = 0; axis < parameter.sizes.size(); ++axis) {
            const std::string& text = parameter.sizes[axis].text;
            if (is_literal(text)) continue;
            problem.sizes.emplace(text == "_" ? fmt::format("{}.{}", parameter.name, axis) : text, tensor.sizes[axis]);
        }
    }
    return problem;
}

std::optional<std::int64_t> evaluate_units(std::string_view expression, std::int64_t units) {
    return UnitsExpression(expression, units).evaluate();
}

TunedValue to_tuned_value(const frontend::TunableSignature& tunable, const ir::Scalar& value, std::int64_t units) {
    TunedValue tuned{ir::to_string(value), ""};
    if (value.type == ir::ScalarType::Bool) return tuned;
    for (const std::string& choice : tunable.choices) {
        if (choice.find("units") == std::string::npos || evaluate_units(choice, units) != value.as_int64()) continue;
        tuned.expression = choice;
        break;
    }
    return tuned;
}

Configuration to_configuration(const frontend::KernelSignature& signature, const ir::Configuration& configuration,
                               std::int64_t units) {
    Configuration stored;
    for (const frontend::TunableSignature& tunable : signature.tunables) {
        const auto found = configuration.tunables.find(tunable.name);
        if (found != configuration.tunables.end()) {
            stored[tunable.name] = to_tuned_value(tunable, found->second, units);
        }
    }
    for (const auto& [key, value] : configuration.schedule) stored[key] = {ir::to_string(value), ""};
    return stored;
}

namespace {

std::optional<ir::Scalar> tunable_value(const TunedValue& choice, std::int64_t units) {
    if (choice.value == "true" || choice.value == "false") return ir::Scalar::boolean(choice.value == "true");
    const auto value = evaluate_units(choice.expression.empty() ? choice.value : choice.expression, units);
    if (!value) return std::nullopt;
    return ir::Scalar::integer(ir::kInt, *value);
}

}  // namespace

std::optional<ir::Configuration> parse_configuration(const frontend::KernelSignature& signature,
                                                     const Configuration& stored, std::int64_t units,
                                                     std::string& reason) {
    ir::Configuration configuration;
    for (const auto& [name, choice] : stored) {
        const bool is_tunable = std::any_of(signature.tunables.begin(), signature.tunables.end(),
                                            [&](const auto& tunable) { return tunable.name == name; });
        if (is_tunable) {
            if (const auto value = tunable_value(choice, units)) {
                configuration.tunables[name] = *value;
                continue;
            }
            reason = fmt::format("`{}` is no value of the tunable `{}`", choice.value, name);
        } else if (frontend::find_schedule_key(name) != nullptr) {
            if (auto value = ir::parse_schedule_value(choice.value)) {
                configuration.schedule[name] = std::move(*value);
                continue;
            }
            reason = fmt::format("`{}` is no value of the schedule key `{}`", choice.value, name);
        } else {
            reason = fmt::format("`{}` has no tunable `{}`", signature.name, name);
        }
        return std::nullopt;
    }
    for (const frontend::TunableSignature& tunable : signature.tunables) {
        if (configuration.tunables.contains(tunable.name)) continue;
        reason = fmt::format("the tunable `{}` has no value", tunable.name);
        return std::nullopt;
    }
    return configuration;
}

}  // namespace kiln::runtime
