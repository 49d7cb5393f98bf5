#include "runtime/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ir/semantics.h"
#include "ir/support/diagnostic.h"
#include "runtime/aliasing.h"
#include "runtime/argument_facts.h"

namespace kiln::runtime {

namespace {

Error user_error(const std::string& message) {
    return Error(ErrorKind::user, message);
}

std::size_t parameter_named(const frontend::KernelSignature& signature, std::string_view name) {
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < signature.parameters.size(); ++i) {
        if (signature.parameters[i].name == name) return i;
        names.push_back(signature.parameters[i].name);
    }
    const std::string_view nearest = support::nearest_name(name, names);
    throw user_error(fmt::format("`{}` has no parameter `{}`{}", signature.name, name,
                                 nearest.empty() ? "" : fmt::format("; did you mean `{}`?", nearest)));
}

std::string axes_text(std::size_t rank) {
    return rank == 1 ? "1 axis" : fmt::format("{} axes", rank);
}

void check_form(const frontend::ParameterSignature& parameter, const Argument& argument) {
    const bool is_tensor = std::holds_alternative<Tensor>(argument.value);
    if (parameter.is_tensor && !is_tensor) {
        throw user_error(fmt::format("`{}` is a tensor, and a number was given", parameter.name));
    }
    if (!parameter.is_tensor && is_tensor) {
        throw user_error(
            fmt::format("`{}` is a number ({}), and a tensor was given", parameter.name, parameter.element));
    }
    if (!is_tensor) return;
    const Tensor& tensor = std::get<Tensor>(argument.value);
    if (tensor.sizes.size() != tensor.strides.size()) {
        throw user_error(fmt::format("`{}` was given {} sizes and {} strides", parameter.name, tensor.sizes.size(),
                                     tensor.strides.size()));
    }
    if (tensor.sizes.size() != parameter.sizes.size()) {
        throw user_error(fmt::format("`{}` has {} in the kernel, and a tensor of {} was given", parameter.name,
                                     axes_text(parameter.sizes.size()), axes_text(tensor.sizes.size())));
    }
    for (std::size_t axis = 0; axis < tensor.sizes.size(); ++axis) {
        if (tensor.sizes[axis] < 0) {
            throw user_error(fmt::format("`{}` was given the negative size {}", parameter.name, tensor.sizes[axis]));
        }
    }
}

/// Sizes that deduce a compile-time generic, the others kDynamic.
ir::Shape deducing_sizes(const frontend::KernelSignature& signature, const frontend::ParameterSignature& parameter,
                         const Tensor& tensor) {
    ir::Shape sizes;
    for (std::size_t axis = 0; axis < tensor.sizes.size(); ++axis) {
        const std::string& name = parameter.sizes[axis].name;
        const bool is_generic = std::any_of(signature.generics.begin(), signature.generics.end(),
                                            [&](const auto& generic) { return !name.empty() && generic.name == name; });
        sizes.push_back(is_generic ? tensor.sizes[axis] : ir::kDynamic);
    }
    return sizes;
}

ir::Scalar number_argument(const std::string& name, ir::ScalarType type, const Argument& argument) {
    if (const bool* truth = std::get_if<bool>(&argument.value)) return number_of_type(name, type, *truth);
    if (const auto* integer = std::get_if<std::int64_t>(&argument.value)) return number_of_type(name, type, *integer);
    if (const auto* natural = std::get_if<std::uint64_t>(&argument.value)) return number_of_type(name, type, *natural);
    return number_of_type(name, type, std::get<double>(argument.value));
}

ir::TensorView view_of(const Tensor& tensor) {
    return {to_scalar_type(tensor.dtype), static_cast<std::byte*>(tensor.data),
            ir::Shape(std::span(tensor.sizes.begin(), tensor.sizes.size())),
            ir::Shape(std::span(tensor.strides.begin(), tensor.strides.size()))};
}

void check_overlap(const std::string& written, const std::string& other, Overlap result) {
    if (result == Overlap::None) return;
    if (written == other) {
        throw user_error(fmt::format("elements of `{}` share memory with each other, and it is written", written));
    }
    if (result == Overlap::Some) {
        throw user_error(
            fmt::format("`{}` and `{}` share elements, and `{}` is written: use a kernel with `inout`, or "
                        "separate memory",
                        written, other, written));
    }
    throw user_error(
        fmt::format("`{}` and `{}` lie in one range of memory, `{}` is written, and whether they share "
                    "elements is undecided: use separate memory",
                    written, other, written));
}

Error wrong_kind(const std::string& name, ir::ScalarType type, std::string_view given) {
    return user_error(fmt::format("`{}` is {}, and {} was given", name, ir::name(type), given));
}

Error out_of_range(const std::string& name, ir::ScalarType type, const std::string& value) {
    return user_error(fmt::format("`{}` is {}, which {} cannot hold", name, value, ir::name(type)));
}

}  // namespace

ir::ScalarType to_scalar_type(DType dtype) {
    return static_cast<ir::ScalarType>(dtype);
}
DType to_dtype(ir::ScalarType type) {
    return static_cast<DType>(type);
}

int unit_axis(const Tensor& tensor) {
    for (std::size_t axis = tensor.sizes.size(); axis-- > 0;) {
        if (tensor.strides[axis] == 1) return static_cast<int>(axis);
    }
    return -1;
}

TensorSpan span_of(const Tensor& tensor) {
    std::int64_t first = 0, last = 0;
    for (std::size_t axis = 0; axis < tensor.sizes.size(); ++axis) {
        if (tensor.sizes[axis] == 0) return {};
        const std::int64_t reach = (tensor.sizes[axis] - 1) * tensor.strides[axis];
        (reach < 0 ? first : last) += reach;
    }
    const int bits = ir::bit_width(to_scalar_type(tensor.dtype));
    return {-first * bits / 8, static_cast<std::size_t>(((last - first + 1) * bits + 7) / 8)};
}

ir::Scalar number_of_type(const std::string& name, ir::ScalarType type, bool value) {
    if (type != ir::ScalarType::Bool) throw wrong_kind(name, type, "a bool");
    return ir::Scalar::boolean(value);
}

ir::Scalar number_of_type(const std::string& name, ir::ScalarType type, std::int64_t value) {
    if (ir::is_float(type)) return ir::convert(ir::OpKind::Convert, ir::Scalar::int64(value), type);
    if (!ir::is_integer(type)) throw wrong_kind(name, type, "an integer");
    const ir::Scalar wrapped = ir::Scalar::integer(type, value);
    const bool fits =
        wrapped.as_int64() == value && !(value < 0 && ir::scalar_class(type) == ir::ScalarClass::Unsigned);
    if (!fits) throw out_of_range(name, type, fmt::format("{}", value));
    return wrapped;
}

ir::Scalar number_of_type(const std::string& name, ir::ScalarType type, std::uint64_t value) {
    if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        return number_of_type(name, type, static_cast<std::int64_t>(value));
    }
    const ir::Scalar whole{ir::ScalarType::U64, value};
    if (type == ir::ScalarType::U64) return whole;
    if (ir::is_float(type)) return ir::convert(ir::OpKind::Convert, whole, type);
    if (!ir::is_integer(type)) throw wrong_kind(name, type, "an integer");
    throw out_of_range(name, type, fmt::format("{}", value));
}

ir::Scalar number_of_type(const std::string& name, ir::ScalarType type, double value) {
    if (!ir::is_float(type)) throw wrong_kind(name, type, "a floating-point number");
    return ir::round_to(type, value);
}

std::vector<const Argument*> match_arguments(const frontend::KernelSignature& signature,
                                             std::span<const Argument> arguments) {
    std::vector<const Argument*> matched(signature.parameters.size(), nullptr);
    std::size_t place = 0;
    bool named = false;
    for (const Argument& argument : arguments) {
        if (argument.name.empty() && named) {
            throw user_error(
                fmt::format("an argument by position follows one by name in the launch of `{}`", signature.name));
        }
        named |= !argument.name.empty();
        const std::size_t index = named ? parameter_named(signature, argument.name) : place++;
        if (index >= matched.size()) {
            throw user_error(fmt::format("`{}` takes {} arguments, and {} were given", signature.name, matched.size(),
                                         arguments.size()));
        }
        if (matched[index] != nullptr) {
            throw user_error(fmt::format("`{}` was given twice", signature.parameters[index].name));
        }
        matched[index] = &argument;
    }
    for (std::size_t i = 0; i < matched.size(); ++i) {
        const frontend::ParameterSignature& parameter = signature.parameters[i];
        if (matched[i] != nullptr && std::holds_alternative<None>(matched[i]->value)) matched[i] = nullptr;
        if (matched[i] != nullptr) check_form(parameter, *matched[i]);
        if (matched[i] == nullptr && !parameter.optional) {
            throw user_error(fmt::format("`{}` of `{}` was not given", parameter.name, signature.name));
        }
    }
    return matched;
}

void check_elements(const frontend::KernelSignature& signature,
                    const std::map<std::string, frontend::GenericValue>& generics,
                    std::span<const Argument* const> matched) {
    /// What a generic type was found to be, and where: "`a` has f32 (T)".
    struct Known {
        ir::ScalarType type;
        std::string text;
    };
    std::map<std::string, Known> known;
    for (const auto& [name, value] : generics) {
        const auto* type = std::get_if<ir::ScalarType>(&value);
        if (type != nullptr) known.emplace(name, Known{*type, fmt::format("{} is {}", name, ir::name(*type))});
    }
    for (std::size_t i = 0; i < matched.size(); ++i) {
        const frontend::ParameterSignature& parameter = signature.parameters[i];
        if (matched[i] == nullptr || !parameter.is_tensor) continue;
        const ir::ScalarType given = to_scalar_type(std::get<Tensor>(matched[i]->value).dtype);
        const auto declared = ir::scalar_type_named(parameter.element);
        const Known expected =
            declared
                ? Known{*declared, fmt::format("the kernel takes {}", ir::name(*declared))}
                : known
                      .try_emplace(parameter.element, Known{given, fmt::format("`{}` has {} ({})", parameter.name,
                                                                               ir::name(given), parameter.element)})
                      .first->second;
        if (given == expected.type) continue;
        throw user_error(
            fmt::format("`{}` has elements of type {} where {}", parameter.name, ir::name(given), expected.text));
    }
}

std::map<std::string, frontend::ParameterRequest> describe_arguments(const frontend::KernelSignature& signature,
                                                                     std::span<const Argument* const> matched) {
    std::map<std::string, frontend::ParameterRequest> requests;
    for (std::size_t i = 0; i < matched.size(); ++i) {
        const frontend::ParameterSignature& parameter = signature.parameters[i];
        frontend::ParameterRequest& request = requests[parameter.name];
        if (!parameter.is_tensor) continue;
        request.present = matched[i] != nullptr;
        if (!request.present) continue;
        const Tensor& tensor = std::get<Tensor>(matched[i]->value);
        request.element = to_scalar_type(tensor.dtype);
        request.sizes = deducing_sizes(signature, parameter, tensor);
        request.facts.unit_axis = unit_axis(tensor);
    }
    return requests;
}

std::string argument_key(const frontend::KernelSignature& signature, std::span<const Argument* const> matched) {
    std::string key;
    for (std::size_t i = 0; i < matched.size(); ++i) {
        const frontend::ParameterSignature& parameter = signature.parameters[i];
        if (!parameter.is_tensor) continue;
        if (matched[i] == nullptr) {
            key += '-';
            continue;
        }
        const Tensor& tensor = std::get<Tensor>(matched[i]->value);
        key += static_cast<char>('A' + static_cast<int>(tensor.dtype));
        key += static_cast<char>('0' + unit_axis(tensor) + 1);
        for (const std::int64_t size : deducing_sizes(signature, parameter, tensor)) {
            if (size != ir::kDynamic) key.append(reinterpret_cast<const char*>(&size), sizeof size);
        }
    }
    return key;
}

void check_aliasing(const ir::Kernel& kernel, std::span<const ir::Argument> arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const auto* written = std::get_if<ir::TensorView>(&arguments[i]);
        if (written == nullptr || kernel.type(kernel.parameters[i].value).access == ir::Access::In) continue;
        check_overlap(kernel.parameters[i].name, kernel.parameters[i].name, self_overlap(*written));
        for (std::size_t j = 0; j < arguments.size(); ++j) {
            const auto* other = std::get_if<ir::TensorView>(&arguments[j]);
            if (i == j || other == nullptr) continue;
            check_overlap(kernel.parameters[i].name, kernel.parameters[j].name, overlap(*written, *other));
        }
    }
}

Checksum launch_key(const frontend::KernelSignature& signature, std::span<const Argument* const> matched,
                    bool with_facts) {
    std::vector<std::int64_t> words;
    for (std::size_t i = 0; i < matched.size(); ++i) {
        if (!signature.parameters[i].is_tensor) continue;
        if (matched[i] == nullptr) {
            words.push_back(-1);
            continue;
        }
        const Tensor& tensor = std::get<Tensor>(matched[i]->value);
        words.push_back(static_cast<std::int64_t>(tensor.dtype) * 16 + unit_axis(tensor) + 1);
        words.insert(words.end(), tensor.sizes.begin(), tensor.sizes.end());
        if (with_facts) words.push_back(proven_alignment(tensor));
    }
    words.push_back(all_fit_32_bits(matched) ? 1 : 0);
    return checksum({reinterpret_cast<const char*>(words.data()), words.size() * sizeof words[0]});
}

std::vector<ir::Argument> bind_arguments(const frontend::Specialisation& specialisation,
                                         std::span<const Argument* const> matched) {
    const ir::Kernel& kernel = specialisation.kernel;
    std::vector<ir::Argument> arguments;
    for (std::size_t i = 0; i < matched.size(); ++i) {
        const ir::Parameter& parameter = kernel.parameters[i];
        const ir::Type& type = kernel.type(parameter.value);
        if (matched[i] != nullptr && type.is_tensor()) {
            arguments.emplace_back(view_of(std::get<Tensor>(matched[i]->value)));
        } else if (matched[i] != nullptr) {
            arguments.emplace_back(number_argument(parameter.name, type.element, *matched[i]));
        } else if (const auto found = specialisation.defaults.find(parameter.name);
                   found != specialisation.defaults.end()) {
            arguments.emplace_back(found->second);
        } else {
            arguments.emplace_back(std::monostate{});
        }
    }
    return arguments;
}

}  // namespace kiln::runtime
