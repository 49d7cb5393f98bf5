#include "kernel_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/cpu/target.h"
#include "ir/semantics.h"

namespace kiln::test {

namespace cpu = codegen::cpu;

std::uint64_t GuardedTensor::ir_round(ir::ScalarType type, double value) {
    return ir::round_to(type, value).bits;
}

namespace {

/// The frames of a launch, and the memory they point to.
struct Frames {
    std::vector<ir::TensorView> views;
    std::vector<std::unique_ptr<GuardedTensor>> scratch;
    std::vector<cpu::TensorFrame> tensors;

    Frames(const ir::Kernel& kernel, const ir::Launch& launch, std::span<const ir::Argument> arguments) {
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            const ir::Parameter& parameter = kernel.parameters[i];
            if (parameter.present && !kernel.type(parameter.value).is_tensor()) continue;
            const auto* view = std::get_if<ir::TensorView>(&arguments[i]);
            views.push_back(view != nullptr ? *view : ir::TensorView{});
        }
        for (std::size_t i = 0; i < kernel.scratch.size(); ++i) add_scratch(kernel, launch, i);
        for (const ir::TensorView& view : views) {
            tensors.push_back({view.data, view.sizes.begin(), view.strides.begin()});
        }
    }

    void add_scratch(const ir::Kernel& kernel, const ir::Launch& launch, std::size_t index) {
        const ir::Scratch& declaration = kernel.scratch[index];
        TensorSpec spec;
        spec.element = kernel.type(declaration.value).element;
        spec.sizes = launch.scratch[index];
        scratch.push_back(std::make_unique<GuardedTensor>(spec));
        const GuardedBytes& bytes = scratch.back()->bytes();
        if (declaration.initial) {
            const ir::Scalar initial = launch.values[declaration.initial->index];
            const auto width = static_cast<std::size_t>(ir::byte_width(spec.element));
            for (std::size_t at = 0; at < bytes.size(); at += width)
                std::memcpy(bytes.data() + at, &initial.bits, width);
        }
        views.push_back(scratch.back()->view());
    }
};

void run_phase(const ir::Kernel& kernel, const ir::Launch& launch, const Frames& frames, std::size_t index,
               const cpu::PhaseCode& code, cpu::PhaseFunction function) {
    std::vector<std::uint64_t> values;
    for (const ir::ValueId value : code.values) values.push_back(launch.values[value.index].bits);
    const cpu::LaunchFrame frame{frames.tensors.data(), values.data()};
    const std::int64_t programs = launch.programs(index);
    // Two calls, as two threads would make them, each with scratch memory full of NaN.
    const std::int64_t middle = programs / 3;
    for (const auto& [first, last] : {std::pair{std::int64_t{0}, middle}, std::pair{middle, programs}}) {
        const GuardedBytes scratch((code.scratch_bytes + 63) / 64 * 64);
        function(&frame, launch.grids[index].data(), first, last, scratch.data());
    }
    (void)kernel;
}

double value_at(ir::ScalarType element, const std::byte* at) {
    ir::Scalar scalar{element, 0};
    std::memcpy(&scalar.bits, at, static_cast<std::size_t>(ir::byte_width(element)));
    return scalar.as_double();
}

bool close(double actual, double expected, Tolerance tolerance) {
    if (std::isnan(expected)) return std::isnan(actual);
    if (actual == expected) return true;
    return std::abs(actual - expected) <= tolerance.absolute + tolerance.relative * std::abs(expected);
}

}  // namespace

std::string difference(const GuardedTensor& actual, const GuardedTensor& expected, Tolerance tolerance) {
    const GuardedBytes &a = actual.bytes(), &e = expected.bytes();
    if (!a.untouched_around()) return "memory beyond the tensor was written";
    if (std::memcmp(a.data(), e.data(), a.size()) == 0) return {};
    const ir::ScalarType element = actual.view().element;
    const bool exact = !ir::is_float(element) || (tolerance.relative == 0 && tolerance.absolute == 0);
    const std::size_t width = ir::bit_width(element) < 8 ? 1 : static_cast<std::size_t>(ir::byte_width(element));
    for (std::size_t at = 0; at + width <= a.size(); at += width) {
        if (std::memcmp(a.data() + at, e.data() + at, width) == 0) continue;
        if (ir::bit_width(element) < 8) return "byte " + std::to_string(at);
        const double x = value_at(element, a.data() + at), y = value_at(element, e.data() + at);
        if (!actual.is_element(at / width)) return fmt::format("the gap at {} from the lowest was written", at / width);
        const bool both_nan = std::isnan(x) && std::isnan(y);
        if (both_nan || (!exact && close(x, y, tolerance))) continue;
        return fmt::format("element {} from the lowest is {} instead of {}", at / width, x, y);
    }
    return {};
}

void run_compiled(const ir::Kernel& kernel, std::span<const ir::Argument> arguments, const cpu::Target& target) {
    const auto prepared = ir::prepare_launch(kernel, arguments, 2);
    if (const auto* errors = std::get_if<ir::LaunchErrors>(&prepared)) {
        FAIL(errors->messages.front());
        return;
    }
    const ir::Launch& launch = std::get<ir::Launch>(prepared);
    const cpu::ObjectCode code = cpu::compile(kernel, target);
    std::string reason;
    const auto loaded = cpu::load_object(code.object, reason);
    REQUIRE_MESSAGE(loaded != nullptr, reason);
    const Frames frames(kernel, launch, arguments);
    for (std::size_t i = 0; i < kernel.phases.size(); ++i) {
        const cpu::PhaseFunction function = loaded->find(code.phases[i].symbol);
        REQUIRE((function != nullptr));
        run_phase(kernel, launch, frames, i, code.phases[i], function);
    }
}

void check_same(const ir::Kernel& kernel, const std::vector<ArgumentSpec>& specs, Tolerance tolerance,
                const cpu::Target& target) {
    const Arguments expected(specs), actual(specs);
    const ir::LaunchErrors errors = ir::interpret(kernel, expected.arguments, 2);
    REQUIRE_MESSAGE(errors.messages.empty(), errors.messages.front());
    run_compiled(kernel, actual.arguments, target);
    for (std::size_t i = 0; i < specs.size(); ++i) {
        if (expected.tensors[i] == nullptr) continue;
        const std::string text = difference(*actual.tensors[i], *expected.tensors[i], tolerance);
        CHECK_MESSAGE(text.empty(), kernel.parameters[i].name << ": " << text);
    }
}

}  // namespace kiln::test
