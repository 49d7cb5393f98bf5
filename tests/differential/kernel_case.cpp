#include "kernel_case.h"

#include "codegen/cpu/target.h"
#include "ir/passes/pipeline.h"
#include "ir/semantics.h"

namespace kiln::test {

namespace cpu = codegen::cpu;

namespace {

std::string path_of(const std::string& text) {
    return text.ends_with(".kiln") ? std::string(KILN_SOURCE_DIR) + "/library/" + text : "case.kiln";
}

/// What a runtime proves about a tensor: an axis of stride 1.
ir::TensorFacts facts_of(const TensorSpec& spec) {
    const ir::Shape strides = spec.strides.empty() ? row_major(spec.sizes) : spec.strides;
    ir::TensorFacts facts;
    for (std::size_t axis = 0; axis < strides.rank(); ++axis) {
        if (strides[axis] == 1) facts.unit_axis = static_cast<int>(axis);
    }
    return facts;
}

/// The case's program, and its specialisations.
class Specialiser {
public:
    explicit Specialiser(const KernelCase& test) : test_(test) {
        support::Diagnostics diagnostics;
        const auto reader = [&](const std::string& path) {
            return path == "case.kiln" ? std::optional(test.text) : frontend::read_file(path);
        };
        program_ = frontend::load_program(path_of(test.text), reader, diagnostics);
        REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(program_.sources));
    }

    frontend::Specialisation specialise(bool with_facts) const {
        frontend::Request request;
        request.kernel = test_.kernel;
        request.generics = test_.generics;
        request.tunables = test_.tunables;
        request.fits_32_bits = with_facts;
        for (const auto& [name, argument] : test_.arguments) {
            frontend::ParameterRequest& parameter = request.parameters[name];
            parameter.present = !std::holds_alternative<std::monostate>(argument);
            const auto* tensor = std::get_if<TensorSpec>(&argument);
            if (tensor == nullptr) continue;
            parameter.element = tensor->element;
            parameter.sizes = tensor->sizes;
            if (with_facts) parameter.facts = facts_of(*tensor);
        }
        support::Diagnostics diagnostics;
        auto result = frontend::specialise(program_, request, diagnostics);
        REQUIRE_MESSAGE(result.has_value(), diagnostics.render(program_.sources));
        return std::move(*result);
    }

private:
    const KernelCase& test_;
    frontend::Program program_;
};

std::byte* address_of(const GuardedTensor& tensor, std::int64_t index) {
    const ir::TensorView& view = tensor.view();
    std::int64_t offset = 0;
    for (std::size_t axis = view.sizes.rank(); axis-- > 0; index /= view.sizes[axis]) {
        offset += index % view.sizes[axis] * view.strides[axis];
    }
    return view.data + offset * ir::byte_width(view.element);
}

std::size_t element_width(const GuardedTensor& tensor) {
    return static_cast<std::size_t>(ir::byte_width(tensor.view().element));
}

std::vector<ArgumentSpec> arguments_of(const KernelCase& test, const frontend::Specialisation& specialisation) {
    std::vector<ArgumentSpec> arguments;
    for (const ir::Parameter& parameter : specialisation.kernel.parameters) {
        const auto given = test.arguments.find(parameter.name);
        const auto by_default = specialisation.defaults.find(parameter.name);
        if (given != test.arguments.end()) {
            arguments.emplace_back(given->second);
        } else if (by_default != specialisation.defaults.end()) {
            arguments.emplace_back(by_default->second);
        } else {
            arguments.emplace_back();
        }
    }
    return arguments;
}

/// One way to compile a case.
struct Variant {
    const char* target;
    bool passes, facts;
    Guard guard;
    std::string_view left_out = {};  ///< a tile pass
};
constexpr Variant kVariants[] = {
    {"cpu", true, true, Guard::Behind},
    {"cpu", false, false, Guard::Before},
    {"x86_64_v2", true, false, Guard::Before},
    {"x86_64_v3", true, true, Guard::Behind},
};

bool runs_here(const cpu::Target& target) {
    return target.triple == cpu::host_target().triple && target.vector_bytes <= cpu::host_target().vector_bytes;
}

class Comparison {
public:
    explicit Comparison(const KernelCase& test)
        : test_(test),
          specialiser_(test),
          reference_(specialiser_.specialise(false)),
          specs_(arguments_of(test, reference_)),
          expected_(specs_) {
        fill(expected_);
        const ir::LaunchErrors errors = ir::interpret(reference_.kernel, expected_.arguments, 2);
        REQUIRE_MESSAGE(errors.messages.empty(), errors.messages.front());
    }

    void check(const Variant& variant) const {
        const cpu::Target* target = cpu::target_named(variant.target);
        REQUIRE(target != nullptr);
        if (!runs_here(*target)) return;
        CAPTURE(variant.target);
        CAPTURE(variant.passes);
        CAPTURE(variant.left_out);
        ir::Kernel kernel = specialiser_.specialise(variant.facts).kernel;
        if (variant.passes) ir::run_tile_passes(kernel, variant.left_out);
        const Arguments actual(specs_, variant.guard);
        fill(actual);
        run_compiled(kernel, actual.arguments, *target);
        for (std::size_t i = 0; i < specs_.size(); ++i) {
            if (expected_.tensors[i] == nullptr) continue;
            const std::string& name = kernel.parameters[i].name;
            const auto tolerance = test_.tolerances.find(name);
            const std::string text = difference(*actual.tensors[i], *expected_.tensors[i],
                                                tolerance == test_.tolerances.end() ? Tolerance{} : tolerance->second);
            CHECK_MESSAGE(text.empty(), name << ": " << text << "\n" << test_.text);
        }
    }

    std::map<std::string, std::unique_ptr<GuardedTensor>> take_expected() {
        std::map<std::string, std::unique_ptr<GuardedTensor>> tensors;
        for (std::size_t i = 0; i < specs_.size(); ++i) {
            if (expected_.tensors[i] == nullptr) continue;
            tensors.emplace(reference_.kernel.parameters[i].name, std::move(expected_.tensors[i]));
        }
        return tensors;
    }

private:
    void fill(const Arguments& arguments) const {
        for (std::size_t i = 0; i < specs_.size(); ++i) {
            const auto contents = test_.contents.find(reference_.kernel.parameters[i].name);
            if (arguments.tensors[i] == nullptr || contents == test_.contents.end()) continue;
            const GuardedTensor& tensor = *arguments.tensors[i];
            for (std::int64_t index = 0; index < tensor.view().sizes.count(); ++index) {
                const ir::Scalar scalar = contents->second(index);
                std::memcpy(address_of(tensor, index), &scalar.bits, element_width(tensor));
            }
        }
    }

    const KernelCase& test_;
    Specialiser specialiser_;
    frontend::Specialisation reference_;
    std::vector<ArgumentSpec> specs_;
    Arguments expected_;
};

}  // namespace

void check_case(const KernelCase& test, Variants variants, std::uint32_t seed) {
    const Comparison comparison(test);
    switch (variants) {
        case Variants::All:
            for (const Variant& variant : kVariants) comparison.check(variant);
            break;
        case Variants::EachPass:
            for (const Variant& variant : kVariants) comparison.check(variant);
            for (const std::string_view pass : ir::tile_pass_names()) {
                comparison.check({"cpu", true, true, Guard::Behind, pass});
            }
            break;
        case Variants::Two:
            comparison.check(kVariants[0]);
            comparison.check(kVariants[1 + seed % (std::size(kVariants) - 1)]);
            break;
        case Variants::One:
            comparison.check(kVariants[seed % std::size(kVariants)]);
            break;
    }
}

ir::Kernel specialised_kernel(const KernelCase& test) {
    ir::Kernel kernel = Specialiser(test).specialise(false).kernel;
    ir::run_tile_passes(kernel);
    return kernel;
}

std::map<std::string, std::unique_ptr<GuardedTensor>> interpreted(const KernelCase& test) {
    return Comparison(test).take_expected();
}

void check_same_meaning(const KernelCase& test, const KernelCase& other) {
    const auto expected = interpreted(test), found = interpreted(other);
    for (const auto& [name, tensor] : expected) {
        const std::string text = difference(*found.at(name), *tensor, Tolerance{});
        CHECK_MESSAGE(text.empty(), name << ": " << text << "\n" << test.text << "\n" << other.text);
    }
}

ir::Scalar element_of(const GuardedTensor& tensor, std::int64_t index) {
    ir::Scalar scalar{tensor.view().element, 0};
    std::memcpy(&scalar.bits, address_of(tensor, index), element_width(tensor));
    return scalar;
}

TensorSpec tensor(ir::ScalarType element, const ir::Shape& sizes, std::uint32_t seed, double scale) {
    return {element, sizes, {}, seed, scale};
}

Contents listed(ir::ScalarType element, std::vector<double> list) {
    return [element, list = std::move(list)](std::int64_t index) {
        const double value = list[std::min(static_cast<std::size_t>(index), list.size() - 1)];
        if (element == ir::ScalarType::Bool) return ir::Scalar::boolean(value != 0);
        return ir::convert(ir::OpKind::Convert, ir::Scalar::f64(value), element);
    };
}

TensorSpec strided(TensorSpec spec, const ir::Shape& strides) {
    spec.strides = strides;
    return spec;
}

std::vector<ir::Shape> matrix_strides(std::int64_t rows, std::int64_t columns, bool out) {
    std::vector<ir::Shape> all = {{columns, 1},         {columns + 3, 1}, {1, rows},        {1, rows + 5},
                                  {2 * columns + 1, 2}, {-columns, 1},    {columns + 1, -1}};
    if (!out) {
        all.push_back({0, 1});
        all.push_back({1, 0});
        all.push_back({1, 1});
    }
    return all;
}

}  // namespace kiln::test
