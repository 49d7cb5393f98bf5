// A caller's arguments against a kernel's parameters: matching by place and name, what a specialisation needs to know of
// them, and their final form.
#pragma once

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

/// One entry a parameter, in the order of the declaration; null if it was left out. Throws Error(user) for an unknown
/// or doubled name, too many arguments, a number for a tensor or a tensor for a number, a missing argument.
std::vector<const Argument*> match_arguments(const frontend::KernelSignature& signature,
                                             std::span<const Argument> arguments);

/// What the specialisation depends on: presence, element types, the sizes that generics are deduced from (others are
/// kDynamic), and the axis of stride 1. Pointers are not looked at.
std::map<std::string, frontend::ParameterRequest> describe_arguments(const frontend::KernelSignature& signature,
                                                                     std::span<const Argument* const> matched);

/// Text that is equal exactly when describe_arguments gives the same; the key of the in-memory look-up.
std::string argument_key(const frontend::KernelSignature& signature, std::span<const Argument* const> matched);

/// Equal for launches that have the same argument_key() and the same sizes: what a configuration is chosen by.
Checksum launch_key(const frontend::KernelSignature& signature, std::span<const Argument* const> matched);

/// Arguments in the form a launch takes: numbers converted to the parameter's type (an integer must be in range; a
/// number left out takes its default), and outputs checked against sharing an element with another argument or with
/// themselves. Throws Error(user).
std::vector<ir::Argument> bind_arguments(const frontend::Specialisation& specialisation,
                                         std::span<const Argument* const> matched);

}  // namespace kiln::runtime
