#include "tools/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <random>

#include "ir/semantics.h"

namespace kiln::tools {

namespace {

/// "NAME=VALUE", or several of them joined by commas, as name and value.
std::vector<std::pair<std::string, std::string>> assignments(const std::vector<std::string>& texts,
                                                             const std::string& option) {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const std::string& text : texts) {
        const std::size_t equals = text.find('=');
        if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
            throw user_error(fmt::format("{} takes NAME=VALUE, and `{}` was given", option, text));
        }
        const std::string name = text.substr(0, equals);
        for (const auto& [earlier, value] : pairs) {
            if (earlier == name) throw user_error(fmt::format("{} gives `{}` twice", option, name));
        }
        pairs.emplace_back(name, text.substr(equals + 1));
    }
    return pairs;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// The values that sizes are written in: generics, tunables and --size.
class SizeValues {
public:
    SizeValues(const frontend::KernelSignature& signature, const frontend::Request& request,
               const KernelOptions& options)
        : signature_(signature) {
        for (const auto& [name, value] : request.generics) add(name, value);
        for (const auto& [name, value] : request.tunables) values_[name] = value.as_int64();
        for (const auto& [name, text] : assignments(options.sizes, "--size")) {
            const std::optional<std::int64_t> value = parse_integer(text);
            if (!value || *value < 0) throw user_error(fmt::format("the size {} is no whole number: `{}`", name, text));
            if (!is_known(name)) throw user_error(fmt::format("`{}` has no size `{}`", signature.name, name));
            values_[name] = *value;
        }
    }

    /// A size as written in the declaration: "M", "12", "N * 4". Nothing if it is a run-time size that was not given.
    std::optional<std::int64_t> evaluate(const std::string& text) const {
        if (const auto value = term(text)) return value;
        for (const char operation : {'*', '+', '-'}) {
            const std::size_t at = text.find(operation);
            if (at == std::string::npos) continue;
            const auto left = term(text.substr(0, at)), right = term(text.substr(at + 1));
            if (left && right) return combined(*left, operation, *right, text);
        }
        return std::nullopt;
    }

private:
    void add(const std::string& name, const frontend::GenericValue& value) {
        const auto* scalar = std::get_if<ir::Scalar>(&value);
        if (scalar != nullptr && ir::is_integer(scalar->type)) values_[name] = scalar->as_int64();
    }

    static std::int64_t combined(std::int64_t left, char operation, std::int64_t right, const std::string& text) {
        std::int64_t result = 0;
        const bool overflows = operation == '*'   ? __builtin_mul_overflow(left, right, &result)
                               : operation == '+' ? __builtin_add_overflow(left, right, &result)
                                                  : __builtin_sub_overflow(left, right, &result);
        if (overflows || result < 0) throw user_error(fmt::format("the size `{}` is no possible size", text));
        return result;
    }

    bool is_known(const std::string& name) const {
        for (const frontend::ParameterSignature& parameter : signature_.parameters) {
            for (const frontend::SizeSignature& size : parameter.sizes) {
                if (size.name == name) return true;
            }
        }
        return std::any_of(signature_.generics.begin(), signature_.generics.end(),
                           [&](const auto& generic) { return generic.name == name; });
    }

    std::optional<std::int64_t> find(const std::string& name) const {
        if (const auto found = values_.find(name); found != values_.end()) return found->second;
        for (const frontend::GenericSignature& generic : signature_.generics) {
            if (generic.name == name && generic.has_default && generic.default_text != name) {
                return term(generic.default_text);
            }
        }
        return std::nullopt;
    }

    std::optional<std::int64_t> term(std::string text) const {
        std::erase(text, ' ');
        if (const auto number = parse_integer(text)) return number;
        return find(text);
    }

    const frontend::KernelSignature& signature_;
    std::map<std::string, std::int64_t> values_;
};

DType usual_type(const std::string& name, const std::string& type_class) {
    if (type_class == "integer") return i32;
    if (type_class == "float" || type_class == "real" || type_class == "number" || type_class == "any") return f32;
    throw user_error(fmt::format("the type `{}` is not given: add -D {}=...", name, name));
}

/// The element type a parameter is declared with, generics replaced.
DType element_type(const frontend::KernelSignature& signature, const frontend::Request& request,
                   const std::string& element) {
    if (const auto type = ir::scalar_type_named(element)) return runtime::to_dtype(*type);
    if (const auto found = request.generics.find(element); found != request.generics.end()) {
        if (const auto* type = std::get_if<ir::ScalarType>(&found->second)) return runtime::to_dtype(*type);
    }
    for (const frontend::GenericSignature& generic : signature.generics) {
        if (generic.name != element) continue;
        if (generic.has_default && generic.default_text != element) {
            return element_type(signature, request, generic.default_text);
        }
        return usual_type(generic.name, generic.type_text);
    }
    throw user_error(fmt::format("the element type `{}` is not known here", element));
}

ir::Scalar random_scalar(ir::ScalarType type, std::mt19937_64& random) {
    switch (ir::scalar_class(type)) {
        case ir::ScalarClass::Bool:
            return ir::Scalar::boolean(random() % 2 != 0);
        case ir::ScalarClass::Signed:
            return ir::Scalar::integer(type, static_cast<std::int64_t>(random() % 17) - 8);
        case ir::ScalarClass::Unsigned:
            return ir::Scalar::integer(type, static_cast<std::int64_t>(random() % 9));
        case ir::ScalarClass::Float:
        case ir::ScalarClass::Storage:
            break;
    }
    std::normal_distribution<double> normal;
    return ir::convert(ir::OpKind::Convert, ir::Scalar::f64(normal(random)), type);
}

Argument random_number(const std::string& element, std::mt19937_64& random) {
    const auto type = ir::scalar_type_named(element);
    if (type && ir::is_integer(*type)) return Argument(1);
    if (type && *type == ir::ScalarType::Bool) return Argument(true);
    return Argument(std::uniform_real_distribution<double>(0.05, 0.15)(random));
}

Argument given_number(const std::string& name, const std::string& text) {
    if (text == "true" || text == "false") return Argument(text == "true");
    if (const auto integer = parse_integer(text)) return Argument(*integer);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
        throw user_error(fmt::format("`{}` was given `{}`, which is no number", name, text));
    }
    return Argument(value);
}

}  // namespace

void add_kernel_options(CLI::App& command, KernelOptions& options) {
    command.add_option("file", options.file, "a .kiln file; kiln/NAME.kiln is the standard library")->required();
    command.add_option("kernel", options.kernel, "a kernel of the file")->required();
    add_launch_options(command, options);
}

void add_launch_options(CLI::App& command, KernelOptions& options) {
    command.add_option("-D,--define", options.definitions, "a generic or tunable: T=bf16, BM=128, activation=act.gelu")
        ->delimiter(',');
    command.add_option("--size", options.sizes, "a named size: M=97,N=203")->delimiter(',');
    command.add_option("--arg", options.numbers, "a number of the launch: scale=0.1")->delimiter(',');
    command.add_option("--with", options.with, "optional tensors to give: bias,residual")->delimiter(',');
    command.add_option("--seed", options.seed, "of the random tensors (1)");
    command.add_option("--device", options.device, "the device: cpu, cuda:0, hip:0, ... (cpu)");
    command.add_flag("--json", options.json, "print JSON");
}

std::shared_ptr<const runtime::ModuleState> load_module(const std::string& file) {
    return std::make_shared<runtime::ModuleState>(file, runtime::with_standard_library(frontend::read_file));
}

std::shared_ptr<runtime::KernelState> make_kernel(const KernelOptions& options) {
    const auto module = load_module(options.file);
    const frontend::KernelSignature& signature = module->find(options.kernel);
    std::vector<Generic> generics;
    for (const auto& [name, text] : assignments(options.definitions, "-D")) {
        generics.push_back(runtime::parse_generic(*module, options.kernel, name, text));
    }
    for (const frontend::GenericSignature& generic : signature.generics) {
        const bool given = std::any_of(generics.begin(), generics.end(),
                                       [&](const Generic& other) { return other.name == generic.name; });
        if (given || generic.has_default || generic.kind != frontend::GenericKind::Type) continue;
        generics.emplace_back(generic.name, usual_type(generic.name, generic.type_text));
    }
    return std::make_shared<runtime::KernelState>(module, options.kernel, generics);
}

Tensor random_tensor(DType dtype, Extents sizes, std::uint64_t seed, std::vector<char>& memory) {
    const ir::ScalarType type = runtime::to_scalar_type(dtype);
    const auto bits = static_cast<std::size_t>(ir::bit_width(type));
    // Rows of 4-bit elements take whole bytes.
    const Extents given = sizes;
    if (bits < 8 && sizes.size() > 0) sizes[sizes.size() - 1] += sizes[sizes.size() - 1] % 2;
    Tensor result = tensor(dtype, nullptr, sizes);
    result.sizes = given;
    std::int64_t count = 1;
    for (const std::int64_t size : sizes) {
        if (__builtin_mul_overflow(count, size, &count)) throw user_error("the tensor's sizes overflow");
    }
    constexpr std::int64_t kLargestCount = std::int64_t{1} << 34;
    if (count > kLargestCount) throw user_error(fmt::format("a tensor of {} elements is too large to be made", count));
    memory.assign((static_cast<std::size_t>(count) * bits + 7) / 8, 0);
    std::mt19937_64 random(seed);
    for (std::int64_t i = 0; i < count; ++i) {
        const ir::Scalar scalar = random_scalar(type, random);
        const std::size_t at = static_cast<std::size_t>(i) * bits;
        if (bits < 8) {
            memory[at / 8] = static_cast<char>(memory[at / 8] | static_cast<char>(scalar.bits << at % 8));
        } else {
            std::memcpy(memory.data() + at / 8, &scalar.bits, bits / 8);
        }
    }
    result.data = memory.data();
    return result;
}

namespace {

/// The sizes of a tensor parameter. For shapes alone a run-time size that is not given is 1, and `all_given` is
/// cleared.
Extents tensor_sizes(const frontend::KernelSignature& signature, const frontend::ParameterSignature& parameter,
                     const SizeValues& values, Memory memory, bool& all_given) {
    Extents sizes;
    for (const frontend::SizeSignature& size : parameter.sizes) {
        const std::optional<std::int64_t> value = values.evaluate(size.text);
        const bool is_generic = std::any_of(signature.generics.begin(), signature.generics.end(),
                                            [&](const auto& generic) { return generic.name == size.name; });
        if (!value && size.name.empty() && memory != Memory::None) {
            throw user_error(
                fmt::format("`{}` has the size `{}`, for which no value can be given here", parameter.name, size.text));
        }
        if (!value && (is_generic || memory != Memory::None)) {
            throw user_error(fmt::format("the size `{}` of `{}` is not given: add --size {}=...", size.text,
                                         parameter.name, size.name));
        }
        all_given = all_given && value;
        sizes.push_back(value.value_or(1));
    }
    return sizes;
}

/// Refuses --arg and --with for what the kernel does not take.
void check_names(const frontend::KernelSignature& signature, const KernelOptions& options) {
    const auto takes = [&](const std::string& name, bool tensor) {
        return std::any_of(signature.parameters.begin(), signature.parameters.end(), [&](const auto& parameter) {
            return parameter.name == name && parameter.is_tensor == tensor;
        });
    };
    for (const auto& [name, text] : assignments(options.numbers, "--arg")) {
        if (!takes(name, false)) throw user_error(fmt::format("`{}` takes no number `{}`", signature.name, name));
    }
    for (const std::string& name : options.with) {
        if (!takes(name, true)) throw user_error(fmt::format("`{}` takes no tensor `{}`", signature.name, name));
    }
}

}  // namespace

RunArguments::RunArguments(const runtime::KernelState& kernel, const KernelOptions& options, Memory memory) {
    const frontend::KernelSignature& signature = kernel.signature();
    const frontend::Request request = kernel.base_request();
    const SizeValues values(signature, request, options);
    const auto numbers = assignments(options.numbers, "--arg");
    check_names(signature, options);
    std::mt19937_64 random(options.seed);
    names_.reserve(signature.parameters.size());
    for (const frontend::ParameterSignature& parameter : signature.parameters) {
        names_.push_back(parameter.name);
        const std::uint64_t seed = random();
        if (parameter.is_tensor) {
            const bool wanted =
                std::find(options.with.begin(), options.with.end(), parameter.name) != options.with.end();
            if (parameter.optional && !wanted) continue;
            const Extents sizes = tensor_sizes(signature, parameter, values, memory, has_all_sizes_);
            const DType element = element_type(signature, request, parameter.element);
            memory_.emplace_back();
            arguments_.push_back(arg(names_.back(), memory == Memory::Filled
                                                        ? random_tensor(element, sizes, seed, memory_.back())
                                                        : tensor(element, nullptr, sizes)));
            continue;
        }
        const auto given = std::find_if(numbers.begin(), numbers.end(),
                                        [&](const auto& number) { return number.first == parameter.name; });
        if (given != numbers.end()) {
            arguments_.push_back(arg(names_.back(), given_number(parameter.name, given->second)));
        } else if (!parameter.optional) {
            arguments_.push_back(arg(names_.back(), random_number(parameter.element, random)));
        }
    }
}

runtime::CapturedLaunch launch_of(const KernelOptions& options) {
    const auto kernel = make_kernel(options);
    const RunArguments made(*kernel, options, Memory::Sizes);
    return kernel->captured(*Device::open(options.device).stream().backend(), made.arguments());
}

DeviceArguments::DeviceArguments(const Device& device, std::span<const Argument> host) {
    for (const Argument& argument : host) {
        arguments_.push_back(argument);
        auto* tensor = std::get_if<Tensor>(&arguments_.back().value);
        if (tensor == nullptr || tensor->data == nullptr || !device.stream().backend()->has_own_memory()) continue;
        const runtime::TensorSpan span = runtime::span_of(*tensor);
        buffers_.push_back(device.allocate(span.bytes));
        const Stream stream = device.stream();
        stream.copy_to_device(buffers_.back().data(), static_cast<const char*>(tensor->data) - span.before, span.bytes);
        tensor->data = static_cast<char*>(buffers_.back().data()) + span.before;
    }
}

std::uint64_t RunArguments::bytes() const {
    std::uint64_t total = 0;
    for (const std::vector<char>& memory : memory_) total += memory.size();
    return total;
}

}  // namespace kiln::tools
