// A caller's arguments against a kernel's parameters: matching by place and name, what a specialisation needs to know
// of them, and their final form.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "frontend/signature.h"
#include "frontend/specialise.h"
#include "ir/launch.h"
#include "kiln/tensor.hpp"
#include "runtime/key.h"

namespace kiln::runtime {

ir::ScalarType to_scalar_type(DType dtype);
DType to_dtype(ir::ScalarType type);

/// The axis whose stride is 1, the last one that says so, or -1. An axis of one element has any stride, so it counts
/// only where it says 1, which is free.
int unit_axis(const Tensor& tensor);

/// One entry a parameter, in the order of the declaration; null if it was left out. Throws Error(user) for an unknown
/// or doubled name, too many arguments, a number for a tensor or a tensor for a number, a missing argument.
std::vector<const Argument*> match_arguments(const frontend::KernelSignature& signature,
                                             std::span<const Argument> arguments);

/// Throws Error(user), naming both places, if a tensor's element type is not the declared one, not the one the host
/// gave its generic, or not that of an earlier tensor with the same generic.
void check_elements(const frontend::KernelSignature& signature,
                    const std::map<std::string, frontend::GenericValue>& generics,
                    std::span<const Argument* const> matched);

/// What every specialisation depends on: presence, element types, the sizes that generics are deduced from (others are
/// kDynamic), and the axis of stride 1. Pointers are not looked at (argument_facts.h).
std::map<std::string, frontend::ParameterRequest> describe_arguments(const frontend::KernelSignature& signature,
                                                                     std::span<const Argument* const> matched);

/// Text that is equal exactly when describe_arguments gives the same; the key of the in-memory look-up.
std::string argument_key(const frontend::KernelSignature& signature, std::span<const Argument* const> matched);

/// Equal for launches that have the same argument_key(), the same sizes and the same answer of all_fit_32_bits(),
/// with_facts also the same fact_key(): what a configuration is chosen by.
Checksum launch_key(const frontend::KernelSignature& signature, std::span<const Argument* const> matched,
                    bool with_facts);

/// A host's number as a value of the type that parameter or generic `name` declares: floats take any number but a bool,
/// integers an integer in range, bools a bool. Throws Error(user).
ir::Scalar number_of_type(const std::string& name, ir::ScalarType type, bool value);
ir::Scalar number_of_type(const std::string& name, ir::ScalarType type, std::int64_t value);
ir::Scalar number_of_type(const std::string& name, ir::ScalarType type, std::uint64_t value);
ir::Scalar number_of_type(const std::string& name, ir::ScalarType type, double value);

/// Arguments in the form a launch takes: numbers converted to the parameter's type; one left out takes its default.
/// Throws Error(user).
std::vector<ir::Argument> bind_arguments(const frontend::Specialisation& specialisation,
                                         std::span<const Argument* const> matched);

/// The memory of a tensor's elements and all between them.
struct TensorSpan {
    std::int64_t before = 0;  ///< bytes from its start to element [0, 0, ...]
    std::size_t bytes = 0;    ///< 0 for a tensor without elements
};
TensorSpan span_of(const Tensor& tensor);

/// Throws Error(user) if an output shares an element with another argument or with itself, or if that is undecided.
/// The arguments must have passed ir::prepare_launch.
void check_aliasing(const ir::Kernel& kernel, std::span<const ir::Argument> arguments);

}  // namespace kiln::runtime
