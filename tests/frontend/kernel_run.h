// Specialises kernels of a program and runs them in the interpreter on tensors that a test fills.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "frontend/specialise.h"
#include "ir/interpret.h"
#include "ir/semantics.h"

namespace kiln::test {

/// A dense tensor in host memory, of whole-byte elements.
class HostTensor {
public:
    HostTensor() = default;
    HostTensor(ir::ScalarType element, ir::Shape sizes, const std::function<double(std::int64_t)>& value)
        : element_(element), sizes_(sizes), bytes_(static_cast<std::size_t>(sizes.count() * width())) {
        for (std::int64_t i = 0; i < sizes.count(); ++i) {
            const ir::Scalar scalar = ir::convert(ir::OpKind::Convert, ir::Scalar::f64(value(i)), element);
            for (int byte = 0; byte < width(); ++byte) {
                bytes_[static_cast<std::size_t>(i * width() + byte)] =
                    static_cast<std::byte>(scalar.bits >> (8 * byte));
            }
        }
    }
    /// Values between -1 and 1 that look random and are the same each time.
    static HostTensor noise(ir::ScalarType element, ir::Shape sizes, std::uint64_t seed) {
        return {element, sizes, [seed](std::int64_t i) {
                    std::uint64_t x =
                        (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15u + seed * 0xbf58476d1ce4e5b9u;
                    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
                    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
                    return static_cast<double>(static_cast<std::int64_t>(x ^ (x >> 31))) * 0x1p-63;
                }};
    }
    static HostTensor filled(ir::ScalarType element, ir::Shape sizes, double value) {
        return {element, sizes, [value](std::int64_t) { return value; }};
    }

    double operator[](std::int64_t index) const {
        std::uint64_t bits = 0;
        for (int byte = 0; byte < width(); ++byte) {
            bits |= std::to_integer<std::uint64_t>(bytes_[static_cast<std::size_t>(index * width() + byte)])
                    << (8 * byte);
        }
        return ir::Scalar{element_, bits}.as_double();
    }
    std::int64_t count() const { return sizes_.count(); }
    ir::ScalarType element() const { return element_; }
    const ir::Shape& sizes() const { return sizes_; }
    ir::TensorView view() {
        ir::Shape strides = sizes_;
        std::int64_t stride = 1;
        for (std::size_t axis = sizes_.rank(); axis-- > 0;) {
            strides[axis] = stride;
            stride *= sizes_[axis];
        }
        return {element_, bytes_.data(), sizes_, strides};
    }

private:
    int width() const { return ir::byte_width(element_); }

    ir::ScalarType element_ = ir::ScalarType::F32;
    ir::Shape sizes_;
    std::vector<std::byte> bytes_;
};

/// Everything a launch needs. A parameter of the kernel that is in neither map is left out, or takes its default.
struct Launch {
    std::map<std::string, HostTensor> tensors;
    std::map<std::string, ir::Scalar> scalars;
    std::map<std::string, frontend::GenericValue> generics;
    std::map<std::string, ir::Scalar> tunables;
};

inline frontend::Program load_checked(const std::string& path,
                                      const frontend::FileReader& reader = frontend::read_file) {
    support::Diagnostics diagnostics;
    frontend::Program program = frontend::load_program(path, reader, diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(program.sources));
    return program;
}

inline frontend::Program load_text(const std::string& text) {
    return load_checked("test.kiln", [text](const std::string&) { return std::optional(text); });
}

inline frontend::Program load_library(const std::string& name) {
    return load_checked(std::string(KILN_SOURCE_DIR) + "/library/" + name);
}

inline frontend::Request request_for(const frontend::Program& program, const std::string& kernel,
                                     const Launch& launch) {
    frontend::Request request;
    request.kernel = kernel;
    request.generics = launch.generics;
    request.tunables = launch.tunables;
    for (const auto& [name, tensor] : launch.tensors) {
        request.parameters[name].element = tensor.element();
        request.parameters[name].sizes = tensor.sizes();
    }
    const dsl::Ast& ast = program.files[0].ast;
    for (const dsl::NodeId parameter : ast.children_of(ast.child(program.files[0].declarations.at(kernel), 1))) {
        const bool tensor = ast[ast.child(parameter, 0)].kind == dsl::NodeKind::TensorType;
        const std::string name{ast[parameter].text};
        if (tensor && !launch.tensors.contains(name)) request.parameters[name].present = false;
    }
    return request;
}

inline frontend::Specialisation specialised(const frontend::Program& program, const frontend::Request& request) {
    support::Diagnostics diagnostics;
    auto result = frontend::specialise(program, request, diagnostics);
    REQUIRE_MESSAGE(result.has_value(), diagnostics.render(program.sources));
    return std::move(*result);
}

/// Runs a specialised kernel; the tensors of `launch` hold the results.
inline ir::LaunchErrors run(const frontend::Specialisation& specialisation, Launch& launch) {
    std::vector<ir::Argument> arguments;
    for (const ir::Parameter& parameter : specialisation.kernel.parameters) {
        if (const auto tensor = launch.tensors.find(parameter.name); tensor != launch.tensors.end()) {
            arguments.push_back(tensor->second.view());
        } else if (const auto scalar = launch.scalars.find(parameter.name); scalar != launch.scalars.end()) {
            arguments.push_back(scalar->second);
        } else if (const auto value = specialisation.defaults.find(parameter.name);
                   value != specialisation.defaults.end()) {
            arguments.push_back(value->second);
        } else {
            arguments.push_back(std::monostate{});
        }
    }
    return ir::interpret(specialisation.kernel, arguments);
}

/// Specialises for the launch and runs.
inline void run_kernel(const frontend::Program& program, const std::string& kernel, Launch& launch) {
    const ir::LaunchErrors errors = run(specialised(program, request_for(program, kernel, launch)), launch);
    REQUIRE_MESSAGE(errors.messages.empty(), fmt::format("{}", fmt::join(errors.messages, "\n")));
}

/// The greatest |x - r| - relative * |r| over all elements; equal infinities and NaN with NaN count as equal.
inline double worst_excess(const HostTensor& tensor, const std::function<double(std::int64_t)>& reference,
                           double relative) {
    double worst = -1;
    for (std::int64_t i = 0; i < tensor.count(); ++i) {
        const double x = tensor[i], r = reference(i);
        if (x == r || (std::isnan(x) && std::isnan(r))) continue;
        const double excess = std::abs(x - r) - relative * std::abs(r);
        worst = std::isnan(excess) ? INFINITY : std::max(worst, excess);
    }
    return worst;
}

}  // namespace kiln::test
